//===- ReadPlan.cpp - schedules as plans ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a plan off the loops of a schedule, or says which loop a CPU can't run, and why. That the loops keep all dependences the
// validator proves; that units wait where they have to says CheckSyncs.cpp, too.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/Analysis/LeafColumns.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/Analysis/RefuseLoop.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::IterationMapping;
using etdg::LoopAttr;
using etdg::LoopKind;
using etdg::LoopLevel;
using etdg::ScheduleAttr;
using etdg::SyncKind;

static StringRef nameOfLoop(BlockOp front, ScheduleAttr schedule, LoopAttr loop) {
  if (schedule.isOverColumns(loop))
    return "the columns";
  return front.getDimNames()[front.getNumAncestors() + loop.getDimension()].getValue();
}

InFlightDiagnostic schedule::refuseLoop(BlockOp front, ScheduleAttr schedule, LoopAttr loop, StringRef engine) {
  InFlightDiagnostic diag = front.emitError("the ") << engine << " engine can't run the schedule's loop over ";
  diag << nameOfLoop(front, schedule, loop);
  if (loop.getLevel() != LoopLevel::None)
    diag << " (level " << etdg::stringifyLoopLevel(loop.getLevel()) << ")";
  diag << ": ";
  return diag;
}

InFlightDiagnostic schedule::refusePlacement(BlockOp front, ScheduleAttr schedule, etdg::PlacementAttr placement, StringRef engine) {
  InFlightDiagnostic diag = front.emitError("the ") << engine << " engine can't run the schedule's placement of read " << placement.getRead();
  if (size_t(placement.getLoop()) < schedule.getLoops().size())
    diag << " at the loop over " << nameOfLoop(front, schedule, schedule.getLoops()[placement.getLoop()]);
  diag << " (level " << etdg::stringifyMemoryLevel(placement.getLevel()) << "): ";
  return diag;
}

LogicalResult schedule::refuseCpuPlacements(ArrayRef<BlockOp> nest) {
  ScheduleAttr schedule = scheduleOf(nest);
  if (!schedule || schedule.getPlacements().empty())
    return success();
  return refusePlacement(nest.front(), schedule, schedule.getPlacements().front(), "CPU")
         << "expected copies in its place (etdg-apply-placements makes them)";
}

LogicalResult schedule::refuseMoreThanOrder(ArrayRef<BlockOp> nest, StringRef engine) {
  ScheduleAttr schedule = scheduleOf(nest);
  for (LoopAttr loop : schedule ? schedule.getLoops() : ArrayRef<LoopAttr>())
    if (loop.getKind() != LoopKind::Sequential && loop.getKind() != LoopKind::Parallel)
      return refuseLoop(nest.front(), schedule, loop, engine)
             << "where levels are left open, loops are sequential or parallel, found " << etdg::stringifyLoopKind(loop.getKind());
  if (schedule && schedule.getBefore() != SyncKind::None)
    return BlockOp(nest.front()).emitError("the ")
           << engine << " engine can't run the schedule: where levels are left open, so is who waits, expected no 'before', found "
           << etdg::stringifySyncKind(schedule.getBefore());
  return success();
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
  LogicalResult checkWhole();
  LogicalResult takeFixed(LoopAttr loop);
  LogicalResult takeSequential(LoopAttr loop);
  LogicalResult takeInner(LoopAttr loop);
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
  SmallVector<LoopAttr> rowLoops;
  SmallVector<LoopAttr> outside; // loops in order outside of all parallel ones
  std::optional<IterationMapping> mapping;
  std::optional<LoopAttr> dealtLoop;   // the first that cores share
  std::optional<LoopAttr> columnLoop;
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
    outside.push_back(loop);
    return success();
  }
  if (!rows.empty())
    return refuse(loop) << "rows of a leaf stand inside of all other loops";
  if (loop.getSync() != SyncKind::None)
    return refuse(loop) << "cores can't wait inside of a loop whose iterations they share";
  return takeInner(loop);
}

/// A loop of one thread. Loops over tiles have their points further in: the verifier asks for falling tiles.
LogicalResult PlanReader::takeInner(LoopAttr loop) {
  plan.tiled.push_back({dimOf(loop), loop.getTile()});
  if (loop.isOverPoints())
    plan.inner.push_back(dimOf(loop));
  if (loop.getKind() != LoopKind::Unroll)
    return success();
  if (!loop.isOverPoints())
    return refuse(loop) << "loops over points are unrolled, found tile = " << loop.getTile();
  plan.unrolled.push_back(dimOf(loop));
  return success();
}

/// A loop that the nests of a kernel share: all run it together, and wait after the iterations of the innermost.
LogicalResult PlanReader::takeFixed(LoopAttr loop) {
  if (!loop.isOverPoints())
    return refuse(loop) << "the kernel's nests share its points, found tile = " << loop.getTile();
  if (loop.getKind() != LoopKind::Sequential)
    return refuse(loop) << "the kernel's nests share it in order, expected kind = sequential, found "
                        << etdg::stringifyLoopKind(loop.getKind());
  SyncKind expected = place == PlanPlace::Cores && dimOf(loop) == fixed.back() ? SyncKind::Cores : SyncKind::None;
  if (loop.getSync() != expected)
    return refuse(loop) << "the kernel's nests share it, "
                        << (place == PlanPlace::Thread      ? "one core runs them"
                            : expected == SyncKind::Cores   ? "and the cores wait after its iterations"
                                                            : "and the cores wait after a loop inside")
                        << ": expected sync = " << etdg::stringifySyncKind(expected) << ", found "
                        << etdg::stringifySyncKind(loop.getSync());
  return success();
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
  if (!listed && loop.getUnit() != 1)
    return refuse(loop) << "a call has any number of rows that are no list, expected unit = 1, found " << loop.getUnit();
  plan.listed = listed;
  rows.push_back(dimOf(loop));
  rowLoops.push_back(loop);
  plan.maxRows = std::max<int64_t>(loop.getMost(), 1);
  plan.rowUnit = loop.getUnit();
  return success();
}

LogicalResult PlanReader::takeShared(LoopAttr loop) {
  if (loop.getLevel() != LoopLevel::None && loop.getLevel() != LoopLevel::Core)
    return refuse(loop) << "it has the levels core, rows and listed_rows";
  if (loop.getLevel() == LoopLevel::Core && place == PlanPlace::Thread)
    return refuse(loop) << "one core runs the block around it";
  // After the columns that the cores share in a step, rows are those of each core.
  bool ofColumns = plan.columns && isRow(dimOf(loop));
  if (ofColumns && loop.getLevel() != LoopLevel::None)
    return refuse(loop) << "the cores share the columns outside of it, expected no level";
  if (loop.getLevel() == LoopLevel::None && place == PlanPlace::Cores && !ofColumns)
    return refuse(loop) << "expected level = core, since all cores are here";
  if (!plan.inner.empty() || !rows.empty())
    return refuse(loop) << "it stands inside of what one core runs in order";
  plan.columnsFirst |= ofColumns;
  if (place == PlanPlace::Cores && !ofColumns) {
    if (loop.getMapping() == IterationMapping::Static)
      return refuse(loop) << "expected mapping = dynamic or block, found static";
    IterationMapping own = loop.getMapping() == IterationMapping::None ? IterationMapping::Block : loop.getMapping();
    if (mapping && *mapping != own)
      return refuse(loop) << "neighbouring loops are dealt as one, these in two ways";
    mapping = own;
    dealtLoop = dealtLoop.value_or(loop);
  }
  unsigned dim = dimOf(loop);
  if (isRow(dim)) {
    if (loop.isOverPoints())
      return refuse(loop) << "a loop over points leaves no rows inside, expected a tile";
    if (!loop.hasAnyTile())
      return refuse(loop) << "cores cut rows where they like, up to most = ..., expected tile = ?, found " << loop.getTile();
    if (loop.getUnit() != 1)
      return refuse(loop) << "cores cut rows where they like, expected unit = 1, found " << loop.getUnit();
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
  columnLoop = loop;
  dealtLoop = dealtLoop.value_or(loop);
  anyParallel = true;
  mapping = mapping.value_or(loop.getMapping() == IterationMapping::None ? IterationMapping::Dynamic : loop.getMapping());
  return success();
}

LogicalResult PlanReader::checkColumns() {
  if (!plan.columns && schedule.getColumns())
    return front.emitError("the CPU engine can't run the schedule: it has ") << schedule.getColumns() << " columns and no loop over them";
  if (!plan.columns)
    return success();
  bool inSteps = !plan.team.empty() || !fixed.empty();
  if (plan.inTurn == inSteps || !canShareColumns(nest, plan))
    return refuse(*columnLoop) << "tasks share the columns of one leaf by the mapping dynamic, without waits and loops inside; or cores "
                                  "share them at each step by the mapping block, outside of rows";
  for (BlockOp leaf : nest)
    if (findLeafColumns(leaf, batchedReads(leaf, plan.row), plan.columns, inSteps).count != plan.columns)
      return refuse(*columnLoop) << "column c of what the leaf computes does not depend on column c alone, or it doesn't have the "
                                    "columns; found columns = "
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
  if (loop.getKind() == LoopKind::Vector)
    return refuse(loop) << "layouts of leaves say what one core takes at once, expected kind = parallel, found vector";
  anyParallel = true;
  if (loop.getLevel() == LoopLevel::Rows || loop.getLevel() == LoopLevel::ListedRows)
    return takeRow(loop);
  return takeShared(loop);
}

LogicalResult PlanReader::checkRows() {
  if (rowTileLoop && rows.empty())
    return refuse(*rowTileLoop) << "a tile leaves rows inside, found none";
  if (!rows.empty() && rowLoops.back().getMost() == 0)
    return refuse(rowLoops.back()) << "it does not say for how many rows there is room (most = ...)";
  if (rowTileLoop && rowTileLoop->getMost() != plan.maxRows)
    return refuse(*rowTileLoop) << "the rows inside have room for most = " << plan.maxRows << ", found most = "
                                << rowTileLoop->getMost();
  if (rows.empty())
    return success();
  plan.row = rows.back();
  plan.lines.assign(rows.begin(), rows.end() - 1);
  for (LoopAttr loop : rowLoops)
    if (!canBeRow(nest, dimOf(loop), plan.inner))
      return refuse(loop) << "its points can't be rows, their range or a child's depends on inner dimensions or on the row itself";
  if (plan.listed && llvm::any_of(nest, [](BlockOp block) { return !block.isLeaf(); }))
    return refuse(rowLoops.front()) << "rows are listed for leaves alone, and this block has a body of blocks";
  return success();
}

/// What a schedule says beside its loops.
LogicalResult PlanReader::checkWhole() {
  if (failed(refuseCpuPlacements(nest)))
    return failure();
  StringRef wrong = schedule.getBlock() ? "cores are no thread blocks, expected no 'block'" : "";
  SyncKind before = schedule.getBefore();
  if (place == PlanPlace::Thread && before != SyncKind::None)
    wrong = "one core runs the block around it, expected no 'before'";
  else if (before != SyncKind::None && before != SyncKind::Cores)
    wrong = "expected before = cores";
  if (wrong.empty())
    return success();
  InFlightDiagnostic diag = front.emitError("the CPU engine can't run the schedule: ") << wrong;
  if (before != SyncKind::None && !schedule.getBlock())
    diag << ", found " << etdg::stringifySyncKind(before);
  return diag;
}

/// What only all loops together say.
LogicalResult PlanReader::finish() {
  // Sequential loops outside: of the team, up to the last one after which the cores wait.
  size_t team = 0;
  for (auto [i, loop] : llvm::enumerate(outside))
    if (loop.getSync() == SyncKind::Cores)
      team = i + 1;
  if (anyParallel && place == PlanPlace::Thread)
    team = outside.size();
  if (anyParallel && team < outside.size())
    return refuse(outside.back())
           << "the cores share loops inside, and don't wait after its iterations (sync = cores)";
  SmallVector<unsigned> points = std::exchange(plan.inner, {});
  SmallVector<TileLoop> tiled = std::exchange(plan.tiled, {});
  for (auto [i, loop] : llvm::enumerate(outside)) {
    StringRef where = place == PlanPlace::Cores ? " outside of a loop after which cores wait" : " outside of a parallel loop";
    if (i >= team) {
      if (failed(takeInner(loop)))
        return failure();
    } else if (!loop.isOverPoints())
      return refuse(loop) << "tiles are built for loops of one thread, found tile = " << loop.getTile() << where;
    else if (loop.getKind() == LoopKind::Unroll)
      return refuse(loop) << "iterations of one thread are unrolled, expected kind = sequential, found unroll" << where;
    else
      plan.team.push_back(dimOf(loop));
  }
  plan.inner.append(points);
  plan.tiled.append(tiled);
  for (LoopAttr loop : schedule.getPointLoops())
    for (TileLoop tile : plan.tiled)
      if (tile.dim == dimOf(loop) && tile.tile == loop.getTile() && !llvm::is_contained(plan.inner, tile.dim))
        return refuse(loop) << "it is over tiles of " << tile.tile << ", and no loop further in over their points";
  if (plan.tiled.size() == plan.inner.size())
    plan.tiled.clear();
  if (failed(checkRows()))
    return failure();
  plan.rectangular = plan.team.empty();
  for (unsigned dim : plan.shared)
    plan.rectangular &= isRectangular(nest, dim);
  if (plan.row)
    plan.rectangular &= isRectangular(nest, *plan.row);
  plan.inTurn = mapping == IterationMapping::Dynamic;
  if (plan.inTurn && (!plan.team.empty() || plan.listed || !plan.rectangular))
    return refuse(*dealtLoop) << "iterations are mapped dynamically where they are a box and no core waits; expected mapping = block";
  if (!schedule.getWeights().empty() && schedule.getWeights().size() != nest.size())
    return front.emitError("the schedule has ")
           << schedule.getWeights().size() << " weights for " << nest.size() << " regions";
  if (!schedule.getWeights().empty() && place == PlanPlace::Cores && (!dealtLoop || plan.inTurn))
    return refuse(dealtLoop.value_or(schedule.getLoops().front()))
           << "weights are for shares of the cores: expected mapping = block, or no weights";
  plan.weights.assign(schedule.getWeights().begin(), schedule.getWeights().end());
  return checkColumns();
}

FailureOr<NestPlan> PlanReader::read() {
  if (front.getNumOwnDims() == 0 && !schedule)
    return plan;
  if (front.getNumOwnDims() > 0 && !isBinding(schedule))
    return front.emitError("has no binding schedule (etdg-schedule-for-cpu writes one)");
  if (schedule.getTarget() && schedule.getTarget().getValue() != "cpu")
    return front.emitError("the schedule is for ")
           << schedule.getTarget() << ", the engine for \"cpu\"";
  if (!schedule.getMap().getValue().isIdentity())
    return front.emitError("the schedule is not applied (run etdg-apply-schedule)");
  if (failed(checkWhole()))
    return failure();
  for (LoopAttr loop : schedule.getLoops()) {
    bool isFixed = !schedule.isOverColumns(loop) && llvm::is_contained(fixed, dimOf(loop));
    if (failed(isFixed ? takeFixed(loop) : take(loop)))
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
