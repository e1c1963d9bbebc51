//===- HtmlGraph.cpp - blocks and buffers as a drawing --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in textual order, which is a legal order: buffers beside each other, the
// blocks of a nest beside each other, children inside their block.
//
//===----------------------------------------------------------------------===//
#include "BlockEdges.h"
#include "HtmlPage.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::html;

namespace {
constexpr int lineHeight = 15, charWidth = 7, padding = 8, gapX = 28, gapY = 58;

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
  /// The edge number `slot` of `slots` of its block.
  void writeEdge(const void *from, const void *to, StringRef label, EdgeKind kind, unsigned slot,
                 unsigned slots, llvm::raw_ostream &os);
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

/// Lines of a condition, broken before `and`.
static void addWrapped(SmallVectorImpl<std::string> &lines, StringRef text) {
  constexpr size_t width = 40;
  std::string line;
  for (StringRef rest = text; !rest.empty();) {
    auto [part, next] = rest.split(" and ");
    if (!line.empty() && line.size() + part.size() > width) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? (lines.size() > 1 ? "  and " : "") : " and ") + part.str();
    rest = next;
  }
  if (!line.empty())
    lines.push_back(line);
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
    for (int64_t planes : op.getLiveAttr().asArrayRef())
      live += planes < 0 ? " all" : " " + std::to_string(planes);
    lines.push_back(live);
  }
  Box box = textBox("buffer", lines);
  box.key = buffer.getAsOpaquePointer();
  return box;
}

Box Drawing::frame(StringRef kind, SmallVector<std::string, 4> header,
                   std::vector<std::vector<Box>> rows) {
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

/// Accesses that are drawn as edges.
static int countEdges(BlockOp block) {
  int count = static_cast<int>(block.getNumWrites());
  for (ReadAttr read : block.getReads().getAsRange<ReadAttr>())
    for (PieceAttr piece : read.getPieces())
      if (piece.getKind() == SourceKind::Buffer)
        count += 1 + static_cast<int>(piece.getGathers().size());
  return count;
}

Box Drawing::blockBox(BlockOp block) {
  SmallVector<std::string, 4> lines = {describeHeader(block)};
  addWrapped(lines, describeDomain(block));
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
  box.width = std::max(box.width, (countEdges(block) + 1) * 44);
  box.key = block.getOperation();
  return box;
}

Box Drawing::regionBox(StringRef kind, SmallVector<std::string, 4> header, Region &region,
                       bool inRow) {
  std::vector<std::vector<Box>> rows;
  bool buffers = false;
  auto add = [&](Box box, bool isBuffer) {
    // Buffers that follow each other share a row, four at most.
    bool together = (isBuffer && buffers && rows.back().size() < 4) ||
                    (inRow && !rows.empty() && rows.back().size() < 4);
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
  os << "<g class=\"node " << box.kind << "\"><title>" << escape(box.title) << "</title><rect x=\""
     << box.x << "\" y=\"" << box.y << "\" width=\"" << box.width << "\" height=\"" << box.height
     << "\" rx=\"" << (box.kind == "buffer" ? 9 : 2) << "\"/>";
  for (auto [i, line] : llvm::enumerate(box.lines))
    os << "<text x=\"" << box.x + padding << "\" y=\""
       << box.y + padding + 11 + static_cast<int>(i) * lineHeight << "\""
       << (i == 0 ? " class=\"head\"" : "") << ">" << escape(line) << "</text>";
  os << "</g>\n";
  for (const Box &child : box.children)
    writeBox(child, os);
}

void Drawing::writeEdge(const void *from, const void *to, StringRef label, EdgeKind kind,
                        unsigned slot, unsigned slots, llvm::raw_ostream &os) {
  auto a = placed.find(from), b = placed.find(to);
  if (a == placed.end() || b == placed.end())
    return;
  const Box &source = a->second, &target = b->second;
  // At the block each edge has a place of its own, at the buffer they spread.
  bool atTarget = kind != EdgeKind::Write, down = source.y <= target.y;
  auto atBlock = [&](const Box &box) {
    return box.x + box.width * static_cast<int>(slot + 1) / static_cast<int>(slots + 1);
  };
  auto atBuffer = [&](const Box &box) {
    return box.x + box.width * (1 + static_cast<int>(numEdges % 7)) / 8;
  };
  int x1 = atTarget ? atBuffer(source) : atBlock(source),
      y1 = down ? source.y + source.height : source.y;
  int x2 = atTarget ? atBlock(target) : atBuffer(target),
      y2 = down ? target.y : target.y + target.height;
  int bend = down ? 40 : -40;
  // The map stands at the block, on two levels, so that neighbours do not meet.
  int labelX = (atTarget ? x2 : x1) + 3;
  int away = 8 + 11 * static_cast<int>(slot % 2);
  int labelY = atTarget ? (down ? y2 - away : y2 + away + 6) : (down ? y1 + away + 6 : y1 - away);
  os << "<g class=\"edge" << (kind == EdgeKind::Write ? " write" : "") << "\"><title>" << escape(label)
     << "</title><path d=\"M" << x1 << " " << y1 << " C" << x1 << " " << y1 + bend << " " << x2
     << " " << y2 - bend << " " << x2 << " " << y2 << "\""
     << (kind == EdgeKind::Index ? " class=\"dashed\"" : "") << " marker-end=\"url(#arrow)\"/><text x=\""
     << labelX << "\" y=\"" << labelY << "\">" << escape(shorten(label.str(), 40))
     << "</text></g>\n";
  ++numEdges;
}

void Drawing::writeEdges(BlockOp block, llvm::raw_ostream &os) {
  const void *node = block.getOperation();
  unsigned number = 0, slots = block.isLeaf() ? countEdges(block) : 0;
  for (const BlockEdge &edge : getEdges(block)) {
    const void *buffer = edge.buffer.getAsOpaquePointer();
    bool isWrite = edge.kind == EdgeKind::Write;
    writeEdge(isWrite ? node : buffer, isWrite ? buffer : node, (edge.kind == EdgeKind::Index ? "index " : "") + edge.label,
              edge.kind, number++, slots, os);
  }
}

void Drawing::write(llvm::raw_ostream &os) {
  Box box = regionBox("frame", {"@" + graph.getSymName().str()}, graph.getBody(), false);
  collect(box);
  os << "<svg class=\"graph\" xmlns=\"http://www.w3.org/2000/svg\" width=\"" << box.width + 2
     << "\" height=\"" << box.height + 2 << "\" viewBox=\"-1 -1 " << box.width + 2 << " "
     << box.height + 2 << "\">\n"
     << "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n";
  writeBox(box, os);
  graph.getBody().walk<WalkOrder::PreOrder>([&](BlockOp block) { writeEdges(block, os); });
  os << "</svg>\n";
}

void html::drawGraph(GraphOp graph, llvm::raw_ostream &os) { Drawing(graph).write(os); }
