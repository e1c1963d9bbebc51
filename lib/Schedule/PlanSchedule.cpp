//===- PlanSchedule.cpp - plans as schedules ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is written into the IR as a schedule, which the validator proves and from
// which the emitter reads the plan again:
//
//   team    sequential loops outside, the last one with `sync = cores`
//   shared  parallel loops of level `core`
//   row     a tile loop of level `core`, and inside of all a loop of level `rows`
//           (`listed_rows`: one for each dimension whose points are listed)
//   inner   sequential loops between them
//   columns a tile loop of level `core` over the dimension behind the nest's own
//
// Inside what one thread runs there are no cores: the same loops without a level.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/Dimensions.h"
#include "ft/Schedule/LeafColumns.h"
#include "ft/Schedule/Plan.h"
#include "ft/Schedule/RefuseLoop.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::Dealing;
using etdg::LoopAttr;
using etdg::LoopKind;
using etdg::LoopLevel;
using etdg::ScheduleAttr;
using etdg::SyncKind;

ScheduleAttr schedule::scheduleOf(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  etdg::NestOp parent = front.getNest();
  return parent && parent.getScheduleAttr() ? parent.getScheduleAttr() : front.getScheduleAttr();
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
                                  LoopLevel::None, Dealing::None,
                                  sync ? SyncKind::Cores : SyncKind::None));
  }
  /// Dealt to the cores, where they are there.
  void shared(unsigned dim, int64_t tile = 1, int64_t most = 0) {
    bool cores = place == PlanPlace::Cores;
    loops.push_back(LoopAttr::get(context, dim - ancestors, tile, most, 1, LoopKind::Parallel,
                                  cores ? LoopLevel::Core : LoopLevel::None,
                                  !cores        ? Dealing::None
                                  : plan.inTurn ? Dealing::Turn
                                                : Dealing::Shares,
                                  SyncKind::None));
  }
  /// The dimension behind the nest's own.
  void columns(unsigned dim) {
    loops.push_back(LoopAttr::get(context, dim, plan.columnTile, 0, 1, LoopKind::Parallel, LoopLevel::Core,
                                  plan.inTurn ? Dealing::Turn : Dealing::Shares, SyncKind::None));
  }
  void row(unsigned dim, bool last) {
    loops.push_back(LoopAttr::get(context, dim - ancestors, 1, last ? plan.maxRows : 0,
                                  last && plan.listed ? plan.rowUnit : 1, LoopKind::Parallel,
                                  plan.listed ? LoopLevel::ListedRows : LoopLevel::Rows,
                                  Dealing::None, SyncKind::None));
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
  if (plan.row && (cores || !plan.listed))
    for (unsigned dim : rows)
      writer.shared(dim, LoopAttr::anyTile, dim == rows.back() ? plan.maxRows : 0);
  if (plan.columns)
    writer.columns(front.getNumOwnDims());
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

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

InFlightDiagnostic schedule::refuseLoop(BlockOp front, ScheduleAttr schedule, LoopAttr loop, StringRef engine) {
  InFlightDiagnostic diag = front.emitError("the ") << engine << " engine can't run the schedule's loop over ";
  unsigned dim = front.getNumAncestors() + loop.getDimension();
  diag << (schedule.isOverColumns(loop) ? StringRef("the columns") : front.getDimNames()[dim].getValue());
  if (loop.getLevel() != LoopLevel::None)
    diag << " (level " << etdg::stringifyLoopLevel(loop.getLevel()) << ")";
  diag << ": ";
  return diag;
}

namespace {
/// Reads a plan off the loops of a schedule, or says which loop this engine can't run.
class PlanReader {
public:
  PlanReader(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed, PlanPlace place, bool hasRows)
      : nest(nest), front(nest.front()), fixed(fixed), place(place), hasRows(hasRows),
        schedule(scheduleOf(nest)) {}
  FailureOr<NestPlan> read();

private:
  unsigned dimOf(LoopAttr loop) { return front.getNumAncestors() + loop.getDimension(); }
  InFlightDiagnostic refuse(LoopAttr loop) { return refuseLoop(front, schedule, loop, "CPU"); }
  LogicalResult take(LoopAttr loop);
  LogicalResult takeSequential(LoopAttr loop);
  void takeInner(LoopAttr loop);
  LogicalResult takeRow(LoopAttr loop);
  LogicalResult takeShared(LoopAttr loop);
  LogicalResult takeColumns(LoopAttr loop);
  LogicalResult checkColumns();
  LogicalResult checkRows();
  LogicalResult finish();
  bool isRow(unsigned dim) {
    return llvm::any_of(schedule.getPointLoops(), [&](LoopAttr loop) {
      return dimOf(loop) == dim && (loop.getLevel() == LoopLevel::Rows ||
                                    loop.getLevel() == LoopLevel::ListedRows);
    });
  }

  ArrayRef<BlockOp> nest;
  BlockOp front;
  ArrayRef<unsigned> fixed;
  PlanPlace place;
  bool hasRows;
  ScheduleAttr schedule;

  NestPlan plan;
  SmallVector<unsigned> rows;
  SmallVector<LoopAttr> before; // sequential loops outside of all parallel ones
  std::optional<Dealing> dealing;
  std::optional<LoopAttr> rowTileLoop; // where it says how many rows it takes
  bool anyParallel = false;
};
} // namespace

LogicalResult PlanReader::takeSequential(LoopAttr loop) {
  if (loop.getTile() != 1 && loop.getSync() != SyncKind::None)
    return refuse(loop) << "cores wait after points, found tile = " << loop.getTile();
  if (loop.getSync() != SyncKind::None &&
      (loop.getSync() != SyncKind::Cores || place == PlanPlace::Thread))
    return refuse(loop) << "expected sync = cores"
                        << (place == PlanPlace::Thread ? " outside of what one core runs" : "")
                        << ", found " << etdg::stringifySyncKind(loop.getSync());
  if (!anyParallel) {
    before.push_back(loop);
    return success();
  }
  if (!rows.empty())
    return refuse(loop) << "rows of a leaf stand inside of all other loops";
  if (loop.getSync() != SyncKind::None)
    return refuse(loop) << "cores can't wait inside of a loop whose iterations they share";
  takeInner(loop);
  return success();
}

/// A loop of one thread. Loops over tiles have their points further in: the verifier asks for falling tiles.
void PlanReader::takeInner(LoopAttr loop) {
  plan.tiled.push_back({dimOf(loop), loop.getTile()});
  if (loop.isOverPoints())
    plan.inner.push_back(dimOf(loop));
}

LogicalResult PlanReader::takeRow(LoopAttr loop) {
  bool listed = loop.getLevel() == LoopLevel::ListedRows;
  if (!rows.empty() && listed != plan.listed)
    return refuse(loop) << "rows are listed or they are not";
  if (!rows.empty() && !listed)
    return refuse(loop) << "a leaf has rows of one dimension, more must be listed";
  if (hasRows)
    return refuse(loop) << "the block around it computes rows already";
  if (loop.getTile() != 1)
    return refuse(loop) << "rows are points, found a tile";
  if (loop.getMost() > mostCallRows)
    return refuse(loop) << "a call has at most " << mostCallRows << " rows, found most = "
                        << loop.getMost();
  plan.listed = listed;
  rows.push_back(dimOf(loop));
  plan.maxRows = std::max<int64_t>(loop.getMost(), 1);
  plan.rowUnit = loop.getUnit();
  return success();
}

LogicalResult PlanReader::takeShared(LoopAttr loop) {
  if (loop.getLevel() != LoopLevel::None && loop.getLevel() != LoopLevel::Core)
    return refuse(loop) << "it has the levels core, rows and listed_rows";
  if (loop.getLevel() == LoopLevel::Core && place == PlanPlace::Thread)
    return refuse(loop) << "one core runs the block around it";
  if (loop.getLevel() == LoopLevel::None && place == PlanPlace::Cores)
    return refuse(loop) << "expected level = core, since all cores are here";
  if (!plan.inner.empty() || !rows.empty())
    return refuse(loop) << "it stands inside of what one core runs in order";
  if (place == PlanPlace::Cores) {
    if (loop.getDealing() == Dealing::Fixed)
      return refuse(loop) << "expected dealing = turn or shares, found fixed";
    Dealing own = loop.getDealing() == Dealing::None ? Dealing::Shares : loop.getDealing();
    if (dealing && *dealing != own)
      return refuse(loop) << "neighbouring loops are dealt as one, these in two ways";
    dealing = own;
  }
  unsigned dim = dimOf(loop);
  if (isRow(dim)) {
    if (loop.isOverPoints())
      return refuse(loop) << "a loop over points leaves no rows inside, expected a tile";
    if (!loop.hasAnyTile())
      return refuse(loop) << "cores cut rows where they like, up to most = ..., expected tile = ?, found " << loop.getTile();
    if (loop.getMost() != 0)
      rowTileLoop = loop;
    return success(); // the loop of the rows says the rest
  }
  if (!loop.isOverPoints())
    return refuse(loop) << "tiles are built for rows alone";
  plan.shared.push_back(dim);
  return success();
}

LogicalResult PlanReader::takeColumns(LoopAttr loop) {
  if (loop.getKind() != LoopKind::Parallel || loop.getLevel() != LoopLevel::Core || place != PlanPlace::Cores)
    return refuse(loop) << "the cores share columns: expected kind = parallel, level = core, at the top of a graph";
  if (loop.hasAnyTile())
    return refuse(loop) << "a call's columns are a number, found tile = ?";
  if (plan.columns || !rows.empty())
    return refuse(loop) << "one loop over columns stands outside of the rows of a leaf";
  plan.columns = schedule.getColumns();
  plan.columnTile = std::min(loop.getTile(), plan.columns);
  anyParallel = true;
  dealing = dealing.value_or(loop.getDealing() == Dealing::None ? Dealing::Turn : loop.getDealing());
  return success();
}

LogicalResult PlanReader::checkColumns() {
  if (!plan.columns)
    return success();
  bool inSteps = !plan.team.empty() || !fixed.empty();
  if (plan.inTurn == inSteps || !canShareColumns(nest, plan))
    return front.emitError("the CPU engine can't run the schedule: tasks share the columns of one leaf, dealt in turn, where "
                           "no core waits and no loop stands inside; or cores share them at each step, dealt in shares");
  if (findLeafColumns(front, batchedReads(front, plan.row), plan.columns, inSteps).count != plan.columns)
    return front.emitError("the CPU engine can't run the schedule: column c of what the leaf computes does not depend on "
                           "column c alone, or it doesn't have the columns; found columns = ")
           << plan.columns;
  return success();
}

LogicalResult PlanReader::take(LoopAttr loop) {
  if (schedule.isOverColumns(loop))
    return takeColumns(loop);
  if (loop.getKind() == LoopKind::Sequential || loop.getKind() == LoopKind::Unroll)
    return takeSequential(loop);
  if (loop.getKind() == LoopKind::Associative)
    return refuse(loop) << "its shares and their join are to be nests of their own (etdg-cut-reductions)";
  anyParallel = true;
  if (loop.getLevel() == LoopLevel::Rows || loop.getLevel() == LoopLevel::ListedRows)
    return takeRow(loop);
  return takeShared(loop);
}

LogicalResult PlanReader::checkRows() {
  if (rowTileLoop && rows.empty())
    return refuse(*rowTileLoop) << "a tile leaves rows inside, found none";
  if (rowTileLoop && rowTileLoop->getMost() != plan.maxRows)
    return refuse(*rowTileLoop) << "the rows inside have room for most = " << plan.maxRows << ", found most = "
                                << rowTileLoop->getMost();
  if (rows.empty())
    return success();
  plan.row = rows.back();
  plan.lines.assign(rows.begin(), rows.end() - 1);
  for (unsigned dim : rows)
    if (!canBeRow(nest, dim, plan.inner))
      return front.emitError("the CPU engine can't run the schedule: points of ")
             << front.getDimNames()[dim].getValue() << " can't be rows, their range or a child's depends on "
             << "inner dimensions or on the row itself";
  if (plan.listed && llvm::any_of(nest, [](BlockOp block) { return !block.isLeaf(); }))
    return front.emitError("the CPU engine can't run the schedule: rows are listed for leaves "
                           "alone, and this block has a body of blocks");
  return success();
}

/// What only all loops together say.
LogicalResult PlanReader::finish() {
  // Sequential loops outside: of the team, up to the last one after which the cores wait.
  size_t team = 0;
  for (auto [i, loop] : llvm::enumerate(before))
    if (loop.getSync() == SyncKind::Cores)
      team = i + 1;
  if (anyParallel && place == PlanPlace::Thread)
    team = before.size();
  if (anyParallel && team < before.size())
    return refuse(before.back())
           << "the cores share loops inside, and don't wait after its iterations (sync = cores)";
  SmallVector<unsigned> points = std::exchange(plan.inner, {});
  SmallVector<TileLoop> tiled = std::exchange(plan.tiled, {});
  for (auto [i, loop] : llvm::enumerate(before))
    if (i >= team)
      takeInner(loop);
    else if (loop.isOverPoints())
      plan.team.push_back(dimOf(loop));
    else
      return refuse(loop) << "tiles are built for loops of one thread, found tile = " << loop.getTile()
                          << (place == PlanPlace::Cores ? " outside of a loop after which cores wait" : " outside of a parallel loop");
  plan.inner.append(points);
  plan.tiled.append(tiled);
  for (TileLoop loop : plan.tiled)
    if (!llvm::is_contained(plan.inner, loop.dim))
      return front.emitError("the CPU engine can't run the schedule's loop over ")
             << front.getDimNames()[loop.dim].getValue() << ": it is over tiles of " << loop.tile
             << ", and no loop further in over their points";
  if (plan.tiled.size() == plan.inner.size())
    plan.tiled.clear();
  if (failed(checkRows()))
    return failure();
  plan.rectangular = plan.team.empty();
  for (unsigned dim : plan.shared)
    plan.rectangular &= isRectangular(nest, dim);
  if (plan.row)
    plan.rectangular &= isRectangular(nest, *plan.row);
  plan.inTurn = dealing == Dealing::Turn;
  if (plan.inTurn && (!plan.team.empty() || plan.listed || !plan.rectangular))
    return front.emitError("the CPU engine can't run the schedule: iterations are dealt in turn "
                           "where they are a box and no core waits; expected dealing = shares");
  if (!schedule.getWeights().empty() && schedule.getWeights().size() != nest.size())
    return front.emitError("the schedule has ")
           << schedule.getWeights().size() << " weights for " << nest.size() << " regions";
  plan.weights.assign(schedule.getWeights().begin(), schedule.getWeights().end());
  return checkColumns();
}

FailureOr<NestPlan> PlanReader::read() {
  if (front.getNumOwnDims() == 0 && !isBinding(schedule))
    return plan;
  if (!isBinding(schedule))
    return front.emitError("has no binding schedule (etdg-schedule-for-cpu writes one)");
  if (schedule.getTarget() && schedule.getTarget().getValue() != "cpu")
    return front.emitError("the schedule is for ")
           << schedule.getTarget() << ", the engine for \"cpu\"";
  if (!schedule.getMap().getValue().isIdentity())
    return front.emitError("the schedule is not applied (run etdg-apply-schedule)");
  for (LoopAttr loop : schedule.getLoops()) {
    if (!schedule.isOverColumns(loop) && llvm::is_contained(fixed, dimOf(loop))) {
      if (!loop.isOverPoints())
        return refuse(loop) << "the kernel's nests share its points, found tile = " << loop.getTile();
      continue;
    }
    if (failed(take(loop)))
      return failure();
  }
  if (failed(finish()))
    return failure();
  return plan;
}

FailureOr<NestPlan> schedule::readPlan(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed,
                                    PlanPlace place, bool hasRows) {
  return PlanReader(nest, fixed, place, hasRows).read();
}
