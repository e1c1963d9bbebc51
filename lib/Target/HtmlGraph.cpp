//===- HtmlGraph.cpp - blocks and buffers as a drawing --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in textual order, which is a legal order: buffers beside each other, the
// blocks of a nest beside each other, children inside their block.
//
//===----------------------------------------------------------------------===//
#include "HtmlPage.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::html;

namespace {
constexpr int lineHeight = 15, charWidth = 7, padding = 8, gapX = 24, gapY = 46;

struct Box {
  int x = 0, y = 0, width = 0, height = 0;
  std::string kind; // buffer, leaf, graph, nest, kernel
  SmallVector<std::string, 4> lines;
  std::string title;
  std::vector<Box> children;
  const void *key = nullptr;

  void shift(int dx, int dy) {
    x += dx;
    y += dy;
    for (Box &child : children)
      child.shift(dx, dy);
  }
};

class Drawing {
public:
  explicit Drawing(GraphOp graph) : graph(graph) {}
  void write(llvm::raw_ostream &os);

private:
  Box textBox(StringRef kind, SmallVector<std::string, 4> lines);
  Box bufferBox(Value buffer);
  Box blockBox(BlockOp block);
  Box regionBox(StringRef kind, SmallVector<std::string, 4> header, Region &region, bool inRow);
  /// Rows of boxes below a header, inside a frame.
  Box frame(StringRef kind, SmallVector<std::string, 4> header, std::vector<std::vector<Box>> rows);
  void collect(const Box &box);
  void writeBox(const Box &box, llvm::raw_ostream &os);
  void writeEdge(const void *from, const void *to, StringRef label, bool dashed, unsigned number, llvm::raw_ostream &os);
  void writeEdges(BlockOp block, llvm::raw_ostream &os);

  GraphOp graph;
  llvm::DenseMap<const void *, Box> placed;
  unsigned numEdges = 0;
};
} // namespace

static std::string shorten(std::string text, size_t limit) {
  if (text.size() <= limit)
    return text;
  return text.substr(0, limit - 1) + "…";
}

Box Drawing::textBox(StringRef kind, SmallVector<std::string, 4> lines) {
  Box box;
  box.kind = kind;
  size_t longest = 6;
  for (std::string &line : lines) {
    box.title += (box.title.empty() ? "" : "\n") + line;
    line = shorten(line, 64);
    longest = std::max(longest, line.size());
  }
  box.lines = std::move(lines);
  box.width = static_cast<int>(longest) * charWidth + 2 * padding;
  box.height = static_cast<int>(box.lines.size()) * lineHeight + 2 * padding;
  return box;
}

Box Drawing::bufferBox(Value buffer) {
  std::string type;
  llvm::raw_string_ostream(type) << cast<BufferType>(buffer.getType());
  std::string name = describeBuffer(buffer);
  SmallVector<std::string, 4> lines;
  if (!StringRef(name).contains(type))
    lines.push_back(name);
  else
    lines.push_back(buffer.getDefiningOp<ConstantOp>() ? "constant" : "buffer");
  lines.push_back(StringRef(type).drop_front(StringRef("!etdg.buffer").size()).str());
  if (auto op = buffer.getDefiningOp<BufferOp>(); op && !op.keepsAllPlanes()) {
    std::string live = "live";
    for (int64_t planes : *op.getLive())
      live += planes < 0 ? " all" : " " + std::to_string(planes);
    lines.push_back(live);
  }
  Box box = textBox("buffer", lines);
  box.key = buffer.getAsOpaquePointer();
  return box;
}

Box Drawing::frame(StringRef kind, SmallVector<std::string, 4> header, std::vector<std::vector<Box>> rows) {
  Box box = textBox(kind, std::move(header));
  int top = box.height, width = box.width;
  for (std::vector<Box> &row : rows) {
    int x = padding, height = 0;
    for (Box &child : row) {
      child.shift(x - child.x, top - child.y);
      x += child.width + gapX;
      height = std::max(height, child.height);
    }
    width = std::max(width, x - gapX + padding);
    top += height + gapY;
    for (Box &child : row)
      box.children.push_back(std::move(child));
  }
  box.width = width;
  box.height = rows.empty() ? box.height : top - gapY + padding;
  return box;
}

Box Drawing::blockBox(BlockOp block) {
  SmallVector<std::string, 4> lines = {describeHeader(block), describeDomain(block)};
  if (!block.isLeaf()) {
    Box box = regionBox("graph", lines, block.getBody(), false);
    box.key = block.getOperation();
    return box;
  }
  std::string ops;
  for (const OperationNode &node : getOperationNodes(block))
    ops += (ops.empty() ? "" : ", ") + node.op->getName().getStringRef().str();
  lines.push_back(isCopyBlock(block) ? "copy" : ops);
  Box box = textBox("leaf", lines);
  box.key = block.getOperation();
  return box;
}

Box Drawing::regionBox(StringRef kind, SmallVector<std::string, 4> header, Region &region, bool inRow) {
  std::vector<std::vector<Box>> rows;
  bool buffers = false;
  auto add = [&](Box box, bool isBuffer) {
    // Buffers that follow each other share a row, four at most.
    bool together = (isBuffer && buffers && rows.back().size() < 4) || (inRow && !rows.empty() && rows.back().size() < 4);
    if (!together)
      rows.emplace_back();
    rows.back().push_back(std::move(box));
    buffers = isBuffer;
  };
  if (region.getParentOp() == graph)
    for (BlockArgument argument : graph.getArguments())
      add(bufferBox(argument), true);
  for (Operation &op : region.front()) {
    if (auto block = dyn_cast<BlockOp>(op))
      add(blockBox(block), false);
    else if (auto nest = dyn_cast<NestOp>(op)) {
      bool scheduled = static_cast<bool>(nest.getScheduleAttr());
      add(regionBox("nest", {scheduled ? "nest, scheduled" : "nest"}, nest.getBody(), true), false);
    } else if (isa<KernelOp>(op))
      add(regionBox("kernel", {"kernel"}, op.getRegion(0), false), false);
    else
      for (Value result : op.getResults())
        if (isa<BufferType>(result.getType()))
          add(bufferBox(result), true);
  }
  return frame(kind, std::move(header), std::move(rows));
}

void Drawing::collect(const Box &box) {
  if (box.key)
    placed[box.key] = box;
  for (const Box &child : box.children)
    collect(child);
}

void Drawing::writeBox(const Box &box, llvm::raw_ostream &os) {
  os << "<g class=\"node " << box.kind << "\"><title>" << escape(box.title) << "</title><rect x=\"" << box.x << "\" y=\""
     << box.y << "\" width=\"" << box.width << "\" height=\"" << box.height << "\" rx=\""
     << (box.kind == "buffer" ? 9 : 2) << "\"/>";
  for (auto [i, line] : llvm::enumerate(box.lines))
    os << "<text x=\"" << box.x + padding << "\" y=\"" << box.y + padding + 11 + static_cast<int>(i) * lineHeight << "\""
       << (i == 0 ? " class=\"head\"" : "") << ">" << escape(line) << "</text>";
  os << "</g>\n";
  for (const Box &child : box.children)
    writeBox(child, os);
}

void Drawing::writeEdge(const void *from, const void *to, StringRef label, bool dashed, unsigned number,
                        llvm::raw_ostream &os) {
  auto a = placed.find(from), b = placed.find(to);
  if (a == placed.end() || b == placed.end())
    return;
  const Box &source = a->second, &target = b->second;
  // Ends spread over the box, so that edges of one pair do not coincide.
  auto spread = [&](const Box &box, unsigned salt) { return box.x + box.width * (1 + static_cast<int>((number + salt) % 7)) / 8; };
  bool down = source.y <= target.y;
  int x1 = spread(source, 0), y1 = down ? source.y + source.height : source.y;
  int x2 = spread(target, 3), y2 = down ? target.y : target.y + target.height;
  int bend = down ? 24 : -24;
  os << "<g class=\"edge\"><title>" << escape(label) << "</title><path d=\"M" << x1 << " " << y1 << " C" << x1 << " "
     << y1 + bend << " " << x2 << " " << y2 - bend << " " << x2 << " " << y2 << "\"" << (dashed ? " class=\"dashed\"" : "")
     << " marker-end=\"url(#arrow)\"/><text x=\"" << (x1 + 3 * x2) / 4 + 3 << "\" y=\"" << (y1 + 3 * y2) / 4 << "\">"
     << escape(shorten(label.str(), 40)) << "</text></g>\n";
  ++numEdges;
}

void Drawing::writeEdges(BlockOp block, llvm::raw_ostream &os) {
  if (!block.isLeaf())
    return;
  SmallVector<StringAttr> dims = block.getDimNames(), symbols = block.getSymbolNames();
  const void *node = block.getOperation();
  unsigned number = 0;
  for (ReadAttr read : block.getReads().getAsRange<ReadAttr>()) {
    SmallVector<StringAttr> names = dims;
    for (int64_t i = 0; i < read.getElementRank(); ++i)
      names.push_back(StringAttr::get(block.getContext(), "e" + std::to_string(i)));
    for (PieceAttr piece : read.getPieces()) {
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      std::string label = describeMap(piece.getMap().getValue(), names, symbols, piece.getGathers());
      if (read.getPieces().size() > 1)
        label = conditionsToString(piece.getSet().getValue(), names, symbols) + ": " + label;
      writeEdge(block.getBuffers()[piece.getOperand()].getAsOpaquePointer(), node, label, false, number++, os);
      for (GatherAttr gather : piece.getGathers())
        writeEdge(block.getBuffers()[gather.getOperand()].getAsOpaquePointer(), node,
                  "index " + describeMap(gather.getMap().getValue(), names, symbols), true, number++, os);
    }
  }
  for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
    writeEdge(node, block.getBuffers()[write.getOperand()].getAsOpaquePointer(),
              describeMap(write.getMap().getValue(), dims, symbols), false, number++, os);
}

void Drawing::write(llvm::raw_ostream &os) {
  Box box = regionBox("frame", {"@" + graph.getSymName().str()}, graph.getBody(), false);
  collect(box);
  os << "<svg class=\"graph\" xmlns=\"http://www.w3.org/2000/svg\" width=\"" << box.width + 2 << "\" height=\""
     << box.height + 2 << "\" viewBox=\"-1 -1 " << box.width + 2 << " " << box.height + 2 << "\">\n"
     << "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n";
  writeBox(box, os);
  graph.getBody().walk<WalkOrder::PreOrder>([&](BlockOp block) { writeEdges(block, os); });
  os << "</svg>\n";
}

void html::drawGraph(GraphOp graph, llvm::raw_ostream &os) { Drawing(graph).write(os); }
