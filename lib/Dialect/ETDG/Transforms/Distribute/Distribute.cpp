//===- Distribute.cpp - the ways in which a nest can be divided -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which divisions a nest has, tried on copies, and the pass etdg-distribute.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGDISTRIBUTE
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

/// Where this is set, reorder leaves the items of a body in it.
SmallVector<Operation *> etdg::getTopItems(GraphOp graph) {
  SmallVector<Operation *> items;
  for (Operation &op : graph.getBody().front())
    if (isa<NestOp, BlockOp>(op))
      items.push_back(&op);
  return items;
}

/// Everything in the item gets its order anew.
static void dropOrders(Operation *item) {
  item->walk([](Operation *op) {
    op->removeAttr(etdg::names::candidates);
    op->removeAttr(etdg::names::divisions);
    if (isa<ScheduledOpInterface>(op))
      setSchedule(op, nullptr);
  });
}

static unsigned countBlocks(GraphOp graph) {
  unsigned count = 0;
  graph.walk([&](BlockOp) { ++count; });
  return count;
}

OwningOpRef<GraphOp> etdg::makeDivided(GraphOp graph, unsigned number, const Division &division,
                                       SmallVectorImpl<Operation *> &own, Between &between) {
  OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone());
  SmallVector<Operation *> items = getTopItems(*copy);
  dropOrders(items[number]);
  std::optional<DividedNest> parts = division.apart ? takeApart(*copy, items[number]) : divideNest(*copy, items[number], division);
  if (!parts)
    return {};
  between.times = parts->times;
  for (BufferOp buffer : parts->buffers)
    between.buffers.push_back(buffer.getResult().getType());
  // What stands beside keeps what it has: its order is no question here.
  llvm::SmallPtrSet<Operation *, 8> others;
  SmallVector<Operation *> marked;
  for (auto [i, item] : llvm::enumerate(items))
    if (i != number) {
      others.insert(item);
      marked.push_back(item);
    }
  if (!division.lags)
    llvm::append_range(marked, parts->around);
  for (Operation *item : marked)
    item->setAttr(etdg::names::keptTogether, UnitAttr::get(graph.getContext()));
  unsigned before = countBlocks(*copy);
  reorderGraph(*copy);
  // Lagging, both parts are regions of one nest, without the block around; where reorder refused that, this is the
  // other form again.
  if (division.lags && countBlocks(*copy) >= before)
    return {};
  for (Operation &op : (*copy).getBody().front()) {
    if (isa<NestOp, BlockOp>(op) && !others.contains(&op))
      own.push_back(&op);
    // A kernel of what was divided and what was not is priced by nothing.
    if (auto kernel = dyn_cast<KernelOp>(op))
      for (Operation &inner : kernel.getBody().front())
        if (!others.contains(&inner))
          return {};
  }
  return copy;
}

/// Operations of the blocks that write the buffers: what two divisions differ in.
static int64_t countMoved(const DividedNest &divided) {
  int64_t moved = 0;
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (BufferOp buffer : divided.buffers)
    for (Operation *user : buffer.getResult().getUsers()) {
      auto block = cast<BlockOp>(user);
      bool writes = llvm::any_of(block.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
        return block.getBuffers()[write.getOperand()] == buffer.getResult();
      });
      if (writes && seen.insert(block).second)
        moved += llvm::count_if(block.getBody().front(), [](Operation &op) { return isa<linalg::LinalgOp>(op); });
    }
  return moved;
}

/// Whether a product's right-hand side stays the same along the loops before `first`, and not along that one: then all
/// iterations of those loops may share it.
static bool keepsWeights(const DivisionSite &site, unsigned first) {
  if (first >= site.sequential.size())
    return false;
  auto keeps = [&](BlockOp leaf, ReadAttr read) {
    unsigned ancestors = blocksOf(site.op).front().getNumAncestors();
    return llvm::any_of(read.getPieces(), [&](PieceAttr piece) {
      AffineMap map = piece.getMap().getValue();
      return piece.getKind() == SourceKind::Buffer && map.isFunctionOfDim(ancestors + site.sequential[first]) &&
             llvm::none_of(ArrayRef(site.sequential).take_front(first),
                           [&](unsigned d) { return map.isFunctionOfDim(ancestors + d); });
    });
  };
  return site.op
      ->walk([&](linalg::LinalgOp op) {
        auto leaf = dyn_cast<BlockOp>(op->getParentOp());
        auto right = leaf && linalg::isaContractionOpInterface(op) ? dyn_cast<BlockArgument>(op->getOperand(1)) : BlockArgument();
        bool isKept = right && right.getOwner() == &leaf.getBody().front() && keeps(leaf, leaf.getRead(right.getArgNumber()));
        return isKept ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<Division> etdg::findDivisions(GraphOp graph, Operation *item) {
  SmallVector<Division> found;
  if (mayBeTakenApart(graph, item))
    found.push_back({0, 0, false, /*apart=*/true});
  if (!mayBeDivided(item))
    return found;
  SmallVector<Operation *> items = getTopItems(graph);
  unsigned number = llvm::find(items, item) - items.begin();
  unsigned dims = countSequentialDims(item);
  for (unsigned first = 0; first < dims; ++first) {
    auto keeps = [&](const DivisionSite &site) { return keepsWeights(site, first); };
    if (first > 0 && (!llvm::any_of(getDivisionSites(item), keeps) || !mayComeFirst(graph, item, first)))
      continue;
    int64_t most = 0;
    for (unsigned outer = first > 0; outer < dims; ++outer) {
      OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone());
      Operation *own = getTopItems(*copy)[number];
      dropOrders(own);
      std::optional<DividedNest> divided = divideNest(*copy, own, {outer, first});
      int64_t moved = divided ? countMoved(*divided) : 0;
      if (moved <= most)
        continue;
      most = moved;
      found.push_back({outer, first, false});
      if (outer > 0)
        found.push_back({outer, first, true});
    }
  }
  return found;
}

void etdg::setDivisions(Operation *item, ArrayRef<Division> divisions) {
  if (divisions.empty())
    return;
  Builder builder(item->getContext());
  SmallVector<Attribute> all;
  for (const Division &division : divisions) {
    DivisionKind kind = division.apart ? DivisionKind::Apart : division.lags ? DivisionKind::Lagging : DivisionKind::Ahead;
    all.push_back(DivisionAttr::get(item->getContext(), kind, division.outer, division.first));
  }
  item->setAttr(etdg::names::divisions, builder.getArrayAttr(all));
}

SmallVector<Division> etdg::getDivisions(Operation *item) {
  SmallVector<Division> divisions;
  if (auto all = item->getAttrOfType<ArrayAttr>(etdg::names::divisions))
    for (DivisionAttr entry : all.getAsRange<DivisionAttr>())
      divisions.push_back({unsigned(entry.getOuter()), unsigned(entry.getFirst()), entry.getKind() == DivisionKind::Lagging,
                           entry.getKind() == DivisionKind::Apart});
  return divisions;
}

namespace {
struct ETDGDistribute : etdg::impl::ETDGDistributeBase<ETDGDistribute> {
  using ETDGDistributeBase::ETDGDistributeBase;
  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    // From the last one on: a divided item becomes several.
    for (unsigned number = getTopItems(graph).size(); number > 0; --number)
      divide(graph, number - 1);
  }

private:
  /// Divides an item where that takes anything out of it; a copy tells.
  void divide(GraphOp graph, unsigned number) {
    Operation *item = getTopItems(graph)[number];
    if (!mayBeDivided(item))
      return;
    Division division{outer, first};
    if (first > 0 && !mayComeFirst(graph, item, first)) {
      remark::missed(item->getLoc(), remark::RemarkOpts::name("distribute").category("reorder"))
          << remark::reason("sequential dimension {0} can't come first: a dependence would point back", first.getValue());
      return;
    }
    OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone());
    if (!divideNest(*copy, getTopItems(*copy)[number], division)) {
      remark::missed(item->getLoc(), remark::RemarkOpts::name("distribute").category("reorder"))
          << remark::reason("each product waits for an iteration of the same nest, with {0} dimensions around both",
                            outer.getValue());
      return;
    }
    divideNest(graph, item, division);
  }
};
} // namespace
