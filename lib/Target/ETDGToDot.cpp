//===- ETDGToDot.cpp - graphs for Graphviz --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As FT Fig. 4 draws them: blocks with operators and domain, buffers as boxes,
// an edge for each access with its map.
//
//===----------------------------------------------------------------------===//
#include "BlockEdges.h"
#include "SourceNames.h"
#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class DotWriter {
public:
  DotWriter(GraphOp graph, llvm::raw_ostream &os, unsigned number)
      : graph(graph), os(os), prefix("g" + std::to_string(number) + "_") {}
  void write();

private:
  void writeRegion(Region &region, unsigned indent);
  void writeBlock(BlockOp block, unsigned indent);
  void writeBuffer(Value buffer, unsigned indent);
  void writeEdges(BlockOp block);
  std::string id(const void *key, StringRef kind) {
    auto [it, isNew] = ids.insert({key, ids.size()});
    return (prefix + kind + std::to_string(it->second)).str();
  }
  std::string bufferId(Value buffer) { return id(buffer.getAsOpaquePointer(), "b"); }

  GraphOp graph;
  llvm::raw_ostream &os;
  std::string prefix;
  llvm::DenseMap<const void *, unsigned> ids;
  unsigned nextCluster = 0;
};
} // namespace

static std::string escape(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result;
}

static std::string header(BlockOp block) {
  return describeHeader(block) + "\n" +
         conditionsToString(block.getDomainSet(), block.getDimNames(), block.getSymbolNames());
}

void DotWriter::writeBuffer(Value buffer, unsigned indent) {
  std::string label = withArgumentNames(describeBuffer(buffer), graph), type;
  llvm::raw_string_ostream(type) << buffer.getType();
  if (!StringRef(label).contains(type))
    label += "\n" + type;
  os.indent(indent) << bufferId(buffer) << " [shape=box, style=rounded, label=\"" << escape(label)
                    << "\"];\n";
}

void DotWriter::writeBlock(BlockOp block, unsigned indent) {
  if (block.isLeaf()) {
    std::string label = header(block);
    for (const OperationNode &node : getOperationNodes(block))
      label += "\n" + node.op->getName().getStringRef().str();
    if (isCopyBlock(block))
      label += "\ncopy";
    os.indent(indent) << id(block.getOperation(), "n") << " [shape=ellipse, label=\""
                      << escape(label) << "\"];\n";
    return;
  }
  os.indent(indent) << "subgraph cluster_" << prefix << nextCluster++ << " {\n";
  os.indent(indent + 2) << "label=\"" << escape(header(block)) << "\";\n";
  writeRegion(block.getBody(), indent + 2);
  os.indent(indent) << "}\n";
}

void DotWriter::writeRegion(Region &region, unsigned indent) {
  for (Operation &op : region.front()) {
    for (Value result : op.getResults())
      if (isa<BufferType>(result.getType()))
        writeBuffer(result, indent);
    if (auto block = dyn_cast<BlockOp>(op)) {
      writeBlock(block, indent);
    } else if (isa<NestOp, KernelOp>(op)) {
      os.indent(indent) << "subgraph cluster_" << prefix << nextCluster++ << " {\n";
      os.indent(indent + 2) << "label=\"" << (isa<NestOp>(op) ? "nest" : "kernel")
                            << "\"; style=" << (isa<NestOp>(op) ? "dashed" : "bold") << ";\n";
      writeRegion(op.getRegion(0), indent + 2);
      os.indent(indent) << "}\n";
    }
  }
}

void DotWriter::writeEdges(BlockOp block) {
  if (!block.isLeaf())
    return;
  std::string node = id(block.getOperation(), "n");
  for (const BlockEdge &edge : getEdges(block)) {
    std::string buffer = bufferId(edge.buffer);
    bool isWrite = edge.kind == EdgeKind::Write;
    os << "  " << (isWrite ? node : buffer) << " -> " << (isWrite ? buffer : node) << " ["
       << (edge.kind == EdgeKind::Index ? "style=dashed, " : "") << "label=\"" << escape(edge.label) << "\"];\n";
  }
}

void DotWriter::write() {
  os << "digraph \"" << escape(graph.getSymName()) << "\" {\n  compound=true; fontname=Helvetica;\n"
     << "  node [fontname=Helvetica]; edge [fontname=Helvetica, fontsize=10];\n";
  for (BlockArgument argument : graph.getArguments())
    writeBuffer(argument, 2);
  writeRegion(graph.getBody(), 2);
  graph.getBody().walk<WalkOrder::PreOrder>([&](BlockOp block) { writeEdges(block); });
  os << "}\n";
}

void etdg::writeDot(ModuleOp module, llvm::raw_ostream &os) {
  unsigned number = 0;
  for (GraphOp graph : module.getOps<GraphOp>())
    if (!graph.isExternal()) // (of variants the first)
      DotWriter(*chooseVariants(graph, 0), os, number++).write();
}
