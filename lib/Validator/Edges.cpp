//===- Edges.cpp - does each edge between nests wait enough? --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T14. A graph that is cut into kernels says of each edge who waits for whom
// (`etdg.edges` of kernels). Nests of one kernel are dealt to thread blocks each by
// itself: what one hands on to another needs a barrier of the grid. Nests of two
// kernels need the boundary between these.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"


using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

namespace {
/// The nests of kernels by number, and the kinds of edges that the kernels declare.
class DeclaredEdges {
public:
  using Report = llvm::function_ref<void(Operation *, const Twine &)>;
  /// False where no kernel declares an edge.
  bool read(GraphOp graph, Report report);
  /// The nest, or the block that stands alone, that a leaf is inside of; null where it is in no kernel.
  Operation *itemOf(BlockOp leaf) const;
  /// How strong the declared wait between two nests is.
  SyncKind kindOf(Operation *from, Operation *to) const;
  std::optional<int64_t> numberOf(Operation *item) const {
    auto number = item->getAttrOfType<IntegerAttr>(etdg::names::number);
    return number ? std::optional(number.getInt()) : std::nullopt;
  }

private:
  void readEdge(KernelOp kernel, EdgeAttr edge, Report report);

  llvm::DenseMap<int64_t, Operation *> items;
  llvm::DenseMap<std::pair<Operation *, Operation *>, SyncKind> kinds;
};
} // namespace

/// Kinds of edges, by how much they wait for.
static std::optional<unsigned> strengthOf(SyncKind kind) {
  constexpr SyncKind kinds[] = {SyncKind::None, SyncKind::Block, SyncKind::Grid, SyncKind::Kernel};
  const auto *found = llvm::find(kinds, kind);
  return found == std::end(kinds) ? std::nullopt : std::optional(unsigned(found - std::begin(kinds)));
}

static bool isTopKernel(KernelOp kernel) { return isa<GraphOp, VariantsOp>(kernel->getParentOp()); }

void DeclaredEdges::readEdge(KernelOp kernel, EdgeAttr edge, Report report) {
  Operation *reader = items.lookup(edge.getTo()), *writer = items.lookup(edge.getFrom());
  if (!writer && reader && reader->getParentOp() == kernel)
    return; // (in another one of several variants)
  if (!reader || reader->getParentOp() != kernel)
    return report(kernel, "an edge leads to nest " + Twine(edge.getTo()) + ", which the kernel has not");
  if (edge.getKind() == SyncKind::Kernel && writer->getParentOp() == kernel)
    return report(reader, "an edge from nest " + Twine(edge.getFrom()) + " of the same kernel is no boundary between kernels; expected none, block or grid");
  kinds[{writer, reader}] = edge.getKind();
}

bool DeclaredEdges::read(GraphOp graph, Report report) {
  SmallVector<KernelOp> kernels;
  graph.walk([&](KernelOp kernel) {
    if (isTopKernel(kernel) && kernel->hasAttr(etdg::names::edges))
      kernels.push_back(kernel);
  });
  if (kernels.empty())
    return false;
  graph.walk([&](KernelOp kernel) {
    for (Operation &item : kernel.getBody().front())
      if (std::optional<int64_t> number = isTopKernel(kernel) ? numberOf(&item) : std::nullopt; number && !items.try_emplace(*number, &item).second)
        report(&item, "two nests have the number " + Twine(*number));
  });
  for (KernelOp kernel : kernels) {
    auto edges = kernel->getAttrOfType<ArrayAttr>(etdg::names::edges);
    for (EdgeAttr edge : edges.getAsRange<EdgeAttr>())
      readEdge(kernel, edge, report);
  }
  return true;
}

Operation *DeclaredEdges::itemOf(BlockOp leaf) const {
  for (Operation *op = leaf; op; op = op->getParentOp())
    if (auto kernel = dyn_cast_or_null<KernelOp>(op->getParentOp()); kernel && isTopKernel(kernel))
      return op;
  return nullptr;
}

SyncKind DeclaredEdges::kindOf(Operation *from, Operation *to) const {
  auto found = kinds.find({from, to});
  return found == kinds.end() ? SyncKind::None : found->second;
}

void Checks::checkEdges() {
  DeclaredEdges edges;
  if (!edges.read(graph, [&](Operation *op, const Twine &message) { report({op, "T14", message.str(), "", std::nullopt, ""}); }))
    return;
  auto ask = [&](const Access &write, const Access &read) {
    Operation *from = edges.itemOf(write.leaf->block), *to = edges.itemOf(read.leaf->block);
    if (!from || !to || from == to)
      return;
    SyncKind needed = from->getParentOp() == to->getParentOp() ? SyncKind::Grid : SyncKind::Kernel, said = edges.kindOf(from, to);
    if (*strengthOf(said) >= *strengthOf(needed))
      return;
    Image image = model.getImage(write);
    Conjunction pair = read.set;
    Placed place = model.place(image, read.cell, pair);
    if (pair.isFalse())
      return;
    expectEmpty(pair, opOf(read), [&] {
      Shown shown = show(pair, read);
      showPoint(shown, write, place.point);
      report({opOf(read), "T14",
              (read.describe() + " reads an element of " + describeBuffer(read.buffer) + " that another nest writes, and the edge between them is '" +
               stringifySyncKind(said) + "'; expected " + (needed == SyncKind::Kernel ? "'kernel'" : "'grid'"))
                  .str(),
              sample(shown), write.leaf->block->getLoc(), "it is written here, " + whose(write)});
    });
  };
  for (Value buffer : model.getBuffers())
    for (const std::unique_ptr<Access> &write : model.getWrites(buffer))
      for (const std::unique_ptr<Access> &read : model.getReads(buffer))
        if (!isDone())
          ask(*write, *read);
}
