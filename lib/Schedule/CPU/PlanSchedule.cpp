//===- PlanSchedule.cpp - plans as schedules ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is written into the IR as a schedule, which the validator proves and from
// which the emitter reads the plan again (ReadPlan.cpp):
//
//   team    sequential loops outside, the last one with `sync = cores`
//   shared  parallel loops of level `core`
//   row     a tile loop of level `core`, and inside of all a loop of level `rows`
//           (`listed_rows`: one for each dimension whose points are listed)
//   inner   sequential loops between them
//   columns a tile loop of level `core` over the dimension after the nest's own; in steps it stands outside of
//           the tile loop of the rows, which then has no level
//
// Inside what one thread runs there are no cores: the same loops without a level.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/CPU/Plan.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::IterationMapping;
using etdg::LoopAttr;
using etdg::LoopKind;
using etdg::LoopLevel;
using etdg::ScheduleAttr;
using etdg::SyncKind;

ScheduleAttr schedule::scheduleOf(ArrayRef<BlockOp> nest) {
  return BlockOp(nest.front()).getEffectiveSchedule();
}

bool schedule::isBinding(ScheduleAttr schedule) {
  return schedule && (schedule.getTarget() || schedule.getBlock() || schedule.hasLevels());
}

int64_t schedule::openTile(ArrayRef<BlockOp> nest, unsigned dim) {
  ScheduleAttr schedule = scheduleOf(nest);
  if (!schedule || isBinding(schedule) || !schedule.getMap().getValue().isIdentity())
    return 0;
  const int64_t own = int64_t(dim) - BlockOp(nest.front()).getNumAncestors();
  for (LoopAttr loop : schedule.getLoops())
    if (loop.getDimension() == own && loop.isParallel() && !loop.hasAnyTile() && loop.getTile() > 1)
      return loop.getTile();
  return 0;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Collects the loops of a plan, outermost first.
class LoopWriter {
public:
  LoopWriter(ArrayRef<BlockOp> nest, const NestPlan &plan, PlanPlace place)
      : plan(plan), place(place), context(BlockOp(nest.front()).getContext()),
        ancestors(BlockOp(nest.front()).getNumAncestors()) {}

  void sequential(unsigned dim, bool sync = false, int64_t tile = 1) {
    loops.push_back(LoopAttr::get(context, dim - ancestors, tile, 0, 1, LoopKind::Sequential,
                                  LoopLevel::None, IterationMapping::None,
                                  sync ? SyncKind::Cores : SyncKind::None));
  }
  /// Dealt to the cores, where they are there.
  void shared(unsigned dim, int64_t tile = 1, int64_t most = 0) {
    bool cores = place == PlanPlace::Cores;
    loops.push_back(LoopAttr::get(context, dim - ancestors, tile, most, 1, LoopKind::Parallel,
                                  cores ? LoopLevel::Core : LoopLevel::None,
                                  !cores        ? IterationMapping::None
                                  : plan.inTurn ? IterationMapping::Dynamic
                                                : IterationMapping::Block,
                                  SyncKind::None));
  }
  /// Tiles of rows that one core has after each other.
  void rowsOfColumns(unsigned dim, int64_t most) {
    loops.push_back(LoopAttr::get(context, dim - ancestors, LoopAttr::anyTile, most, 1, LoopKind::Parallel, LoopLevel::None, IterationMapping::None,
                                  SyncKind::None));
  }
  /// The dimension after the nest's own.
  void columns(unsigned dim) {
    loops.push_back(LoopAttr::get(context, dim, plan.columnTile, 0, 1, LoopKind::Parallel, LoopLevel::Core,
                                  plan.inTurn ? IterationMapping::Dynamic : IterationMapping::Block, SyncKind::None));
  }
  void row(unsigned dim, bool last) {
    loops.push_back(LoopAttr::get(context, dim - ancestors, 1, last ? plan.maxRows : 0,
                                  last && plan.listed ? plan.rowUnit : 1, LoopKind::Parallel,
                                  plan.listed ? LoopLevel::ListedRows : LoopLevel::Rows,
                                  IterationMapping::None, SyncKind::None));
  }
  SmallVector<LoopAttr> loops;

private:
  const NestPlan &plan;
  PlanPlace place;
  MLIRContext *context;
  unsigned ancestors;
};
} // namespace

ScheduleAttr schedule::toSchedule(ArrayRef<BlockOp> nest, const NestPlan &plan,
                               ArrayRef<unsigned> fixed, PlanPlace place, SyncKind before) {
  BlockOp front = nest.front();
  MLIRContext *context = front.getContext();
  LoopWriter writer(nest, plan, place);
  bool cores = place == PlanPlace::Cores;
  for (unsigned dim : fixed)
    writer.sequential(dim, cores && dim == fixed.back());
  for (unsigned dim : plan.team)
    writer.sequential(dim, cores && dim == plan.team.back());
  for (unsigned dim : plan.shared)
    writer.shared(dim);
  SmallVector<unsigned> rows = plan.rowDims();
  if (plan.row && !plan.columnsFirst && (cores || !plan.listed))
    for (unsigned dim : rows)
      writer.shared(dim, LoopAttr::anyTile, dim == rows.back() ? plan.maxRows : 0);
  if (plan.columns)
    writer.columns(front.getNumOwnDims());
  if (plan.columnsFirst)
    writer.rowsOfColumns(*plan.row, plan.maxRows);
  if (plan.tiled.empty())
    for (unsigned dim : plan.inner)
      writer.sequential(dim);
  for (TileLoop loop : plan.tiled)
    writer.sequential(loop.dim, /*sync=*/false, loop.tile);
  for (unsigned dim : rows)
    writer.row(dim, dim == rows.back());
  auto map = AffineMap::getMultiDimIdentityMap(front.getNumOwnDims(), context);
  ScheduleAttr old = scheduleOf(nest);
  return ScheduleAttr::get(context, AffineMapAttr::get(map), writer.loops,
                           old ? old.getPlacements() : ArrayRef<etdg::PlacementAttr>(), before,
                           plan.weights, etdg::ThreadBlockAttr(), plan.columns, StringAttr::get(context, "cpu"));
}
