//===- WriteGpuPlan.cpp - plans for a GPU as schedules --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Plan/GpuPlan.h"
#include "ft/Schedule/CPU/Plan.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::IterationMapping;
using etdg::LoopAttr;
using etdg::LoopKind;
using etdg::LoopLevel;
using etdg::ScheduleAttr;
using etdg::SyncKind;

void schedule::setSchedule(ArrayRef<BlockOp> nest, ScheduleAttr schedule) {
  BlockOp(nest.front()).getScheduledOp().setScheduleAttr(schedule);
}

namespace {
/// Collects the loops of a plan, outermost first.
class LoopWriter {
public:
  LoopWriter(BlockOp front, const GpuPlan &plan)
      : plan(plan), context(front.getContext()), ancestors(front.getNumAncestors()) {}

  void sequential(unsigned dim, bool waits = false) {
    add(dim - ancestors, 1, 0, 1, LoopKind::Sequential, LoopLevel::None, IterationMapping::None,
        waits ? SyncKind::Grid : SyncKind::None);
  }
  void dealt(unsigned dim, int64_t tile = 1, int64_t most = 0) { onGrid(dim - ancestors, tile, most, 1); }
  void columns(unsigned numOwn) {
    onGrid(numOwn, plan.columnTile ? plan.columnTile : LoopAttr::anyTile, 0, plan.unit);
  }
  void inBlock(unsigned dim, int64_t tile, int64_t most, LoopLevel level) {
    add(dim - ancestors, tile, most, 1, LoopKind::Parallel, level, IterationMapping::None, SyncKind::None);
  }
  SmallVector<LoopAttr> loops;

private:
  void onGrid(int64_t dim, int64_t tile, int64_t most, int64_t unit) {
    add(dim, tile, most, unit, LoopKind::Parallel, LoopLevel::Grid, plan.mapping, SyncKind::None);
  }
  void add(int64_t dim, int64_t tile, int64_t most, int64_t unit, LoopKind kind, LoopLevel level, IterationMapping mapping,
           SyncKind sync) {
    loops.push_back(LoopAttr::get(context, dim, tile, most, unit, kind, level, mapping, sync));
  }

  const GpuPlan &plan;
  MLIRContext *context;
  unsigned ancestors;
};
} // namespace

/// The dimensions whose iterations have no order by the nest's schedule so far, or by its operators.
static llvm::SmallBitVector unorderedDims(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  unsigned ancestors = front.getNumAncestors();
  llvm::SmallBitVector unordered(front.getNumDims(), true);
  ScheduleAttr schedule = scheduleOf(nest);
  bool isApplied = schedule && schedule.getMap().getValue().isIdentity();
  if (isApplied && !schedule.getLoops().empty()) {
    for (LoopAttr loop : schedule.getPointLoops())
      if (!loop.isParallel())
        unordered.reset(ancestors + loop.getDimension());
    return unordered;
  }
  for (BlockOp block : nest)
    for (unsigned d = 0; d < front.getNumOwnDims(); ++d)
      if (schedule || block.getOperator(d) != OperatorKind::Map)
        unordered.reset(ancestors + d);
  return unordered;
}

ScheduleAttr schedule::toGpuSchedule(ArrayRef<BlockOp> nest, const GpuPlan &plan, const GpuPlace &place,
                                     StringRef target) {
  BlockOp front = nest.front();
  MLIRContext *context = front.getContext();
  LoopWriter writer(front, plan);
  llvm::SmallBitVector unordered = unorderedDims(nest);
  auto inOrder = [&](unsigned dim) {
    if (unordered.test(dim))
      writer.inBlock(dim, 1, 0, LoopLevel::None);
    else
      writer.sequential(dim);
  };
  for (auto [dim, waits] : llvm::zip_equal(plan.steps, plan.waits)) {
    if (place.isGrid)
      writer.sequential(dim, waits);
    else
      inOrder(dim);
  }
  if (place.isGrid) {
    for (unsigned dim : plan.outer)
      writer.dealt(dim);
    for (unsigned dim : plan.flat)
      writer.dealt(dim);
    if (plan.columns)
      writer.columns(front.getNumOwnDims());
    if (plan.row)
      writer.dealt(*plan.row, plan.rowTile ? plan.rowTile : LoopAttr::anyTile, plan.rowTile ? 0 : plan.maxRows);
  } else if (plan.row) {
    writer.inBlock(*plan.row, plan.maxRows, 0, LoopLevel::None);
  }
  llvm::for_each(plan.inner, inOrder);
  if (plan.row)
    writer.inBlock(*plan.row, 1, plan.maxRows, LoopLevel::Rows);
  if (plan.lift)
    writer.inBlock(*plan.lift, 1, 0, LoopLevel::Lifted);
  ScheduleAttr old = scheduleOf(nest);
  auto map = AffineMap::getMultiDimIdentityMap(front.getNumOwnDims(), context);
  return ScheduleAttr::get(context, AffineMapAttr::get(map), writer.loops,
                           plan.placements.empty() && old ? old.getPlacements() : ArrayRef(plan.placements),
                           plan.waitsBefore ? SyncKind::Grid : SyncKind::None, {}, plan.block, plan.columns,
                           StringAttr::get(context, target));
}
