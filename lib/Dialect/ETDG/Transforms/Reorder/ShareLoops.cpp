//===- ShareLoops.cpp - a body of nests as nests that share loops ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block whose dimensions run in order and whose body holds nests is run by one unit,
// which runs all of them. As an `etdg.kernel` whose nests share these dimensions all
// units take each nest together, and wait in between. Order and results are the same.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ReorderSplit.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGSHARELOOPS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;

/// Whether each of the block's own dimensions has to run in its order, and its body holds several nests, and what they need.
static bool mayBeShared(BlockOp around) {
  if (around.isLeaf() || around.getNumOwnDims() == 0 || around.getScheduleAttr() || around->hasAttr(etdg::names::cut))
    return false;
  for (unsigned d = 0; d < around.getNumOwnDims(); ++d)
    if (around.getOperator(d) == ft::OperatorKind::Map)
      return false;
  return getItems(around.getBody()).size() > 1 && llvm::all_of(around.getBody().front(), [](Operation &op) {
    return isa<NestOp, BlockOp, BufferOp, ConstantOp, YieldOp>(op);
  });
}

static ScheduleAttr takeOrder(Operation *item) {
  ScheduleAttr order = scheduleOf(item);
  setSchedule(item, nullptr);
  item->removeAttr(etdg::names::candidates);
  item->removeAttr(etdg::names::divisions);
  return order;
}

/// The order of a nest inside of `shared` more loops.
static ScheduleAttr insideOf(ScheduleAttr order, unsigned shared) {
  MLIRContext *context = order.getContext();
  AffineMap map = order.getMap().getValue();
  SmallVector<AffineExpr> results;
  for (unsigned d = 0; d < shared; ++d)
    results.push_back(getAffineDimExpr(d, context));
  for (AffineExpr result : map.getResults())
    results.push_back(result.shiftDims(map.getNumDims(), shared));
  SmallVector<LoopAttr> loops;
  for (unsigned d = 0; d < shared; ++d)
    loops.push_back(LoopAttr::get(context, d, 1, LoopKind::Sequential));
  for (LoopAttr loop : order.getLoops())
    loops.push_back(loop.withDimension(loop.getDimension() + shared));
  return ScheduleAttr::get(context, AffineMapAttr::get(AffineMap::get(map.getNumDims() + shared, 0, results, context)), loops);
}

/// Whether an order says no more than that: levels and placements are of loops by number.
static bool isOrderAlone(ScheduleAttr order) {
  return !order || (order.getPlacements().empty() && !order.hasLevels() && !order.getBlock() && !order.getTarget());
}

KernelOp etdg::shareLoops(GraphOp graph, BlockOp around) {
  Site site{around, Distribution::Each};
  SymbolSpace space(graph);
  SmallVector<Operation *> inside = mayBeShared(around) ? getItems(around.getBody()) : SmallVector<Operation *>();
  if (inside.empty() || !canDistribute(site, space) || !llvm::all_of(inside, [](Operation *item) { return isOrderAlone(scheduleOf(item)); }))
    return {};
  unsigned shared = around.getNumOwnDims();
  SmallVector<ScheduleAttr> orders = llvm::map_to_vector(inside, takeOrder);
  Location loc = around.getLoc();
  SmallVector<Operation *> items = distribute(site, space);
  OpBuilder builder(items.front());
  auto kernel = KernelOp::create(builder, loc, shared);
  Block &body = kernel.getBody().empty() ? kernel.getBody().emplaceBlock() : kernel.getBody().front();
  for (auto [item, order] : llvm::zip_equal(items, orders)) {
    item->moveBefore(&body, body.end());
    if (order)
      setSchedule(item, insideOf(order, shared));
  }
  return kernel;
}

namespace {
struct ETDGShareLoops : etdg::impl::ETDGShareLoopsBase<ETDGShareLoops> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    for (Operation *item : getTopItems(graph))
      if (auto block = dyn_cast<BlockOp>(item))
        shareLoops(graph, block);
  }
};
} // namespace
