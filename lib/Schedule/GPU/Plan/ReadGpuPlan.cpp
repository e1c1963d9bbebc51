//===- ReadGpuPlan.cpp - schedules as plans for a GPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a plan off the loops of a schedule, or says which loop a GPU of this
// machine can't run, and why. That the loops keep all dependences the validator
// proves; here stands what it does not know: levels, sizes, barriers, and the
// order in which ranges become known.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/Analysis/RefuseLoop.h"
#include "ft/Schedule/GPU/Plan/StagedReads.h"
#include "ft/Schedule/Analysis/Syncs.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::IterationMapping;
using etdg::LoopAttr;
using etdg::LoopKind;
using etdg::LoopLevel;
using etdg::ScheduleAttr;
using etdg::SyncKind;

namespace {
class PlanReader {
public:
  PlanReader(ArrayRef<BlockOp> nest, const GpuPlace &place, const GpuScheduleOptions &options)
      : nest(nest), front(nest.front()), place(place), options(options), machine(options.getMachine()),
        schedule(scheduleOf(nest)) {}
  FailureOr<GpuPlan> read();

private:
  unsigned dimOf(LoopAttr loop) { return front.getNumAncestors() + loop.getDimension(); }
  InFlightDiagnostic refuse(LoopAttr loop) { return refuseLoop(front, schedule, loop, "GPU"); }
  InFlightDiagnostic refuse() { return front.emitError("the GPU engine can't run the schedule: "); }
  LogicalResult take(LoopAttr loop);
  LogicalResult takeSequential(LoopAttr loop);
  LogicalResult takeDealt(LoopAttr loop);
  LogicalResult takeColumns(LoopAttr loop);
  LogicalResult takeInBlock(LoopAttr loop);
  LogicalResult takeRow(LoopAttr loop);
  LogicalResult takeLift(LoopAttr loop);
  LogicalResult checkBlock();
  LogicalResult checkRow();
  LogicalResult checkSteps();
  LogicalResult checkRanges();
  LogicalResult checkPlacements();
  LogicalResult finish();
  /// Whether the next loop is one that nests inside of a block share.
  bool isSharedInside() { return !place.isGrid && plan.inner.empty() && plan.steps.size() < place.shared; }
  /// The loop over a dimension's points.
  LoopAttr loopOver(unsigned dim) {
    return *llvm::find_if(schedule.getLoops(), [&](LoopAttr loop) {
      return !schedule.isOverColumns(loop) && dimOf(loop) == dim && loop.isOverPoints();
    });
  }
  bool isRow(unsigned dim) {
    return llvm::any_of(schedule.getLoops(), [&](LoopAttr loop) {
      return !schedule.isOverColumns(loop) && dimOf(loop) == dim && loop.getLevel() == LoopLevel::Rows;
    });
  }

  ArrayRef<BlockOp> nest;
  BlockOp front;
  const GpuPlace &place;
  const GpuScheduleOptions &options;
  const Machine &machine;
  ScheduleAttr schedule;

  GpuPlan plan;
  SmallVector<unsigned> dealt; // in the order of their loops, without the row
  std::optional<LoopAttr> rowLoop, rowTileLoop, lastStep;
  std::optional<IterationMapping> mapping;
  bool anyDealt = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult PlanReader::takeSequential(LoopAttr loop) {
  if (loop.getTile() != 1)
    return refuse(loop) << "tiles of sequential loops are not built, found tile = " << loop.getTile();
  bool waits = loop.getSync() == SyncKind::Grid;
  if (loop.getSync() != SyncKind::None && !(waits && place.isGrid))
    return refuse(loop) << (place.isGrid ? "expected sync = grid" : "one thread block runs it, expected no sync")
                        << ", found " << etdg::stringifySyncKind(loop.getSync());
  if (rowLoop || plan.lift)
    return refuse(loop) << "rows and lifted iterations of a leaf stand inside of all other loops";
  if (place.isGrid && !anyDealt && plan.inner.empty()) {
    plan.steps.push_back(dimOf(loop));
    plan.waits.push_back(waits);
    lastStep = loop;
    return success();
  }
  if (isSharedInside()) {
    plan.steps.push_back(dimOf(loop));
    plan.waits.push_back(false);
    return success();
  }
  if (waits)
    return refuse(loop) << "thread blocks can't wait inside of a loop whose iterations they share";
  plan.inner.push_back(dimOf(loop));
  return success();
}

LogicalResult PlanReader::takeDealt(LoopAttr loop) {
  if (!place.isGrid)
    return refuse(loop) << "one thread block runs the block around it";
  if (!plan.inner.empty() || rowLoop || plan.lift)
    return refuse(loop) << "it stands inside of what one thread block runs in order";
  anyDealt = true;
  IterationMapping own = loop.getMapping() == IterationMapping::None ? IterationMapping::Cyclic : loop.getMapping();
  if (mapping && *mapping != own)
    return refuse(loop) << "neighbouring loops are dealt as one, these in two ways: "
                        << etdg::stringifyIterationMapping(*mapping) << " and " << etdg::stringifyIterationMapping(own);
  mapping = own;
  if (schedule.isOverColumns(loop))
    return takeColumns(loop);
  unsigned dim = dimOf(loop);
  if (isRow(dim)) {
    if (loop.isOverPoints())
      return refuse(loop) << "a loop over points leaves no rows inside, expected a tile";
    if (loop.getUnit() != 1)
      return refuse(loop) << "tasks have any number of rows, expected unit = 1, found " << loop.getUnit();
    rowTileLoop = loop;
    plan.rowTile = loop.hasAnyTile() ? 0 : loop.getTile();
    return success();
  }
  if (!loop.isOverPoints())
    return refuse(loop) << "tiles are built for rows and columns alone";
  dealt.push_back(dim);
  return success();
}

LogicalResult PlanReader::takeColumns(LoopAttr loop) {
  if (loop.getMost() != 0)
    return refuse(loop) << "thread blocks share all columns, in units: expected no most, found " << loop.getMost();
  plan.unit = loop.getUnit();
  plan.columnTile = loop.hasAnyTile() ? 0 : loop.getTile();
  if (schedule.getColumns() % plan.unit != 0 || plan.columnTile % plan.unit != 0)
    return refuse(loop) << "unit = " << plan.unit << " divides neither the " << schedule.getColumns()
                        << " columns nor a tile, or not both";
  plan.columns = schedule.getColumns();
  return success();
}

/// A parallel loop of no level: one thread block runs its iterations, in order.
LogicalResult PlanReader::takeInBlock(LoopAttr loop) {
  if (rowLoop || plan.lift)
    return refuse(loop) << "rows and lifted iterations of a leaf stand inside of all other loops";
  unsigned dim = dimOf(loop);
  if (isRow(dim) && !loop.isOverPoints()) {
    if (place.isGrid)
      return refuse(loop) << "expected level = grid, since all thread blocks are here";
    if (loop.hasAnyTile())
      return refuse(loop) << "nothing decides inside of a thread block, expected a tile that is a number";
    rowTileLoop = loop;
    plan.rowTile = loop.getTile();
    return success();
  }
  if (!loop.isOverPoints())
    return refuse(loop) << "tiles are built for rows and columns alone";
  if (isSharedInside()) {
    plan.steps.push_back(dim);
    plan.waits.push_back(false);
    return success();
  }
  plan.inner.push_back(dim);
  return success();
}

LogicalResult PlanReader::takeRow(LoopAttr loop) {
  if (rowLoop)
    return refuse(loop) << "a leaf has rows of one dimension";
  if (place.hasRows)
    return refuse(loop) << "the block around it computes rows already";
  if (loop.getTile() != 1)
    return refuse(loop) << "rows are points, found a tile";
  if (loop.getUnit() != 1)
    return refuse(loop) << "a task has any number of rows, expected unit = 1, found " << loop.getUnit();
  if (loop.getMost() == 0)
    return refuse(loop) << "it does not say for how many rows there is room (most = ...)";
  if (loop.getMost() > mostTaskRows)
    return refuse(loop) << "a task has at most " << mostTaskRows << " rows, found most = " << loop.getMost();
  if (!rowTileLoop)
    return refuse(loop) << "no loop outside says how many rows are computed at a time";
  rowLoop = loop;
  plan.row = dimOf(loop);
  plan.maxRows = loop.getMost();
  if (plan.rowTile > plan.maxRows)
    return refuse(loop) << "there is room for most = " << plan.maxRows << " rows, the loop outside takes "
                        << plan.rowTile;
  return success();
}

LogicalResult PlanReader::takeLift(LoopAttr loop) {
  if (plan.lift)
    return refuse(loop) << "a leaf computes the iterations of one dimension at once";
  if (loop.getTile() != 1)
    return refuse(loop) << "a leaf computes all iterations at once, found a tile";
  if (place.isGrid || !canLift(nest, dimOf(loop), noPlanes))
    return refuse(loop) << "expected a dimension of a leaf inside a body, with constant bounds, along which accesses "
                           "step evenly and no dependence runs";
  plan.lift = dimOf(loop);
  return success();
}

LogicalResult PlanReader::take(LoopAttr loop) {
  if (schedule.isOverColumns(loop) && (loop.getLevel() != LoopLevel::Grid || !loop.isParallel()))
    return refuse(loop) << "columns are dealt to thread blocks, expected kind = parallel, level = grid";
  if (loop.getKind() == LoopKind::Unroll || loop.getKind() == LoopKind::Vector)
    return refuse(loop) << "layouts of leaves say what a thread unrolls and takes at once, expected kind = "
                        << (loop.getKind() == LoopKind::Unroll ? "sequential, found unroll" : "parallel, found vector");
  if (loop.getKind() == LoopKind::Sequential)
    return takeSequential(loop);
  if (loop.getKind() == LoopKind::Associative)
    return refuse(loop) << "its shares and their join are to be nests of their own (etdg-cut-reductions)";
  switch (loop.getLevel()) {
  case LoopLevel::Grid:
    return takeDealt(loop);
  case LoopLevel::None:
    return takeInBlock(loop);
  case LoopLevel::Rows:
    return takeRow(loop);
  case LoopLevel::Lifted:
    return takeLift(loop);
  default:
    return refuse(loop) << "it has the levels grid, rows and lifted";
  }
}

//===----------------------------------------------------------------------===//
// What only all loops together say
//===----------------------------------------------------------------------===//

std::string schedule::describeBeyond(etdg::ThreadBlockAttr block, const Machine &machine) {
  const Machine::Occupancy &limits = machine.occupancy;
  int64_t threads = block.getThreads(), shared = block.getShared(), resident = block.getResident();
  int64_t least = threads / limits.warp * mostSlots * 8; // (what warps leave for each other)
  std::string text;
  llvm::raw_string_ostream out(text);
  if (threads % limits.warp != 0 || threads > limits.threadsPerBlock)
    out << "block: threads are a multiple of " << limits.warp << ", at most " << limits.threadsPerBlock << " on "
        << machine.name << ", found " << threads;
  else if (shared > limits.sharedBytesPerBlock)
    out << "block: a block has at most " << limits.sharedBytesPerBlock << " bytes of shared memory on " << machine.name
        << ", found " << shared;
  else if (shared < least)
    out << "block: " << threads << " threads use " << least << " bytes of shared memory to join sums, found " << shared;
  else if (resident > limits.threadsPerUnit / threads)
    out << "block: an SM has at most " << limits.threadsPerUnit << " threads on " << machine.name
        << ", found resident = " << resident << " with " << threads << " threads each";
  return text;
}

LogicalResult PlanReader::checkBlock() {
  if (!place.isGrid) {
    if (schedule.getBlock())
      return refuse() << "the thread blocks are those of the nest around this one";
    return success();
  }
  plan.block = schedule.getBlock();
  if (!plan.block)
    return refuse() << "it does not say which thread blocks run it (block = <threads = ...>)";
  if (std::string beyond = describeBeyond(plan.block, machine); !beyond.empty())
    return refuse() << beyond;
  return success();
}

LogicalResult PlanReader::checkRow() {
  if (rowTileLoop && !rowLoop)
    return refuse(*rowTileLoop) << "a tile leaves rows inside, found none";
  if (!plan.row)
    return success();
  if (rowTileLoop->getMost() != 0 && rowTileLoop->getMost() != plan.maxRows)
    return refuse(*rowTileLoop) << "the rows inside have room for most = " << plan.maxRows << ", found most = "
                                << rowTileLoop->getMost();
  if (!isRectangular(nest, *plan.row))
    return refuse(*rowLoop) << "the range of rows is the same for all blocks and all other dimensions";
  if (!canBeRow(nest, *plan.row, {}))
    return refuse(*rowLoop) << "rows are computed together, expected loops of the body that are the same for all of them";
  if (!place.isGrid && plan.rowTile != plan.maxRows)
    return refuse(*rowLoop) << "inside of a thread block there is room for as many rows as are computed, expected most = "
                            << plan.rowTile << ", found " << plan.maxRows;
  return success();
}

/// Thread blocks that share loops inside of a sequential one wait after its iterations, or their
/// work is that of several launches.
LogicalResult PlanReader::checkSteps() {
  if (place.isGrid && !anyDealt) { // one thread block runs all
    size_t shared = std::min<size_t>(place.shared, plan.steps.size());
    if (!llvm::is_contained(ArrayRef(plan.waits).drop_front(shared), true)) {
      plan.inner.insert(plan.inner.begin(), plan.steps.begin() + shared, plan.steps.end());
      plan.steps.resize(shared);
      plan.waits.resize(shared);
    }
  }
  if (place.isGrid && plan.steps.size() > place.shared && !plan.waits.back())
    return refuse(*lastStep) << "thread blocks share loops inside, and don't wait after its iterations (sync = grid)";
  if (plan.steps.size() < place.shared)
    return refuse() << "the kernel's nests share " << place.shared << " loops, of which this one runs "
                    << plan.steps.size() << " in order outside of what thread blocks share";
  for (unsigned s = 0; s < place.shared; ++s)
    if (plan.steps[s] != front.getNumAncestors() + s)
      return refuse(loopOver(plan.steps[s])) << "the kernel's nests share their first " << place.shared
                                             << " dimensions in order, this is loop " << s;
  return success();
}

/// Each range is known where its loop begins, in the order in which the emitter makes loops.
LogicalResult PlanReader::checkRanges() {
  llvm::SmallBitVector known(front.getNumDims());
  known.set(0, front.getNumAncestors());
  auto enter = [&](ArrayRef<unsigned> dims) -> LogicalResult {
    std::optional<unsigned> unbounded = findUnbounded(nest, dims, known);
    if (unbounded)
      return refuse(loopOver(*unbounded)) << "the loops outside of it don't bound its range";
    return success();
  };
  if (failed(enter(plan.steps)))
    return failure();
  // Of the dealt ones those are outer on which other ranges depend.
  llvm::SmallBitVector asked = findAsked(nest, dealt, known);
  for (unsigned dim : dealt)
    (asked[dim] ? plan.outer : plan.flat).push_back(dim);
  if (failed(enter(plan.outer)) || failed(enter(plan.flat)))
    return failure();
  if (plan.row && failed(enter(*plan.row)))
    return failure();
  return enter(plan.inner);
}

LogicalResult PlanReader::checkPlacements() {
  plan.placements = llvm::to_vector(schedule.getPlacements());
  for (etdg::PlacementAttr placement : plan.placements) {
    if (!place.isGrid)
      return refuse() << "a placement stands at the nest that all thread blocks run, found one inside of a block";
    std::string wrong = describeUnstaged(nest, plan, placement, options.getMultiprocessors());
    if (!wrong.empty())
      return refuse() << "it can't stage read " << placement.getRead() << ": " << wrong;
  }
  return success();
}

LogicalResult PlanReader::finish() {
  if (failed(checkBlock()) || failed(checkRow()) || failed(checkSteps()) || failed(checkRanges()))
    return failure();
  if (!schedule.getWeights().empty())
    return refuse() << "shares of thread blocks go by the number of points, expected no weights";
  if (schedule.getColumns() && !plan.columns)
    return refuse() << "it has " << schedule.getColumns() << " columns and no loop over them";
  if (plan.columns && !place.isGrid)
    return refuse() << "columns are shared by thread blocks, one runs the block around it";
  if (plan.columns && readsColumnsOfOthers(nest, plan))
    return refuse() << "a task reads what its loop over " << front.getDimNames()[plan.inner.front()].getValue() << " has left in columns of other tasks, expected no columns";
  plan.waitsBefore = schedule.getBefore() == SyncKind::Grid;
  if (schedule.getBefore() != SyncKind::None && !(plan.waitsBefore && place.isGrouped))
    return refuse() << (place.isGrouped ? "expected before = grid"
                                        : "nothing of its kernel stands before the nest, expected no 'before'")
                    << ", found " << etdg::stringifySyncKind(schedule.getBefore());
  plan.mapping = mapping.value_or(IterationMapping::Cyclic);
  return checkPlacements();
}

FailureOr<GpuPlan> PlanReader::read() {
  if (front.getNumOwnDims() == 0 && !schedule && !place.isGrid)
    return plan;
  if (!isBinding(schedule))
    return front.emitError("has no binding schedule (etdg-schedule-for-gpu writes one)");
  if (schedule.getTarget() && schedule.getTarget().getValue() != options.target)
    return front.emitError("the schedule is for ") << schedule.getTarget() << ", the engine for \"" << options.target << "\"";
  if (!schedule.getMap().getValue().isIdentity())
    return front.emitError("the schedule is not applied (run etdg-apply-schedule)");
  if (place.isGrid && front.getNumAncestors() > 0)
    return front.emitError("is no nest of a kernel");
  for (LoopAttr loop : schedule.getLoops())
    if (failed(take(loop)))
      return failure();
  if (failed(finish()))
    return failure();
  return plan;
}

FailureOr<GpuPlan> schedule::readGpuPlan(ArrayRef<BlockOp> nest, const GpuPlace &place,
                                         const GpuScheduleOptions &options) {
  return PlanReader(nest, place, options).read();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

GridWaits schedule::findGridWaits(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<bool> hasOwnSteps, unsigned shared) {
  GridWaits result;
  PendingAccesses pending(shared);
  for (auto [nest, own] : llvm::zip_equal(nests, hasOwnSteps)) {
    bool waits = pending.meets(nest);
    result.before.push_back(waits);
    if (waits)
      pending.clear();
    // Own steps end in a barrier each. (Where there is none of them, what was pending still is.)
    if (!own)
      pending.add(nest);
  }
  result.atEnd = shared > 0 && !pending.empty();
  return result;
}

/// What thread blocks keep from the kernel's begin on, nothing writes while it runs.
static LogicalResult checkStaged(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<GpuPlan> plans) {
  for (auto [nest, plan] : llvm::zip_equal(nests, plans))
    for (etdg::PlacementAttr placement : plan.placements) {
      BlockOp front = nest.front();
      Value buffer = front.getBuffers()[front.getRead(unsigned(placement.getRead())).getPieces().front().getOperand()];
      BlockOp writer = findWriter(nests, buffer);
      if (!writer)
        continue;
      InFlightDiagnostic diag = front.emitError("the GPU engine can't run the schedule: it can't stage read ")
                                << placement.getRead() << ": the kernel writes what is read, while it keeps a copy";
      diag.attachNote(writer.getLoc()) << "it is written here";
      return diag;
    }
  return success();
}

LogicalResult schedule::checkGpuKernel(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<GpuPlan> plans,
                                       const GpuPlace &place) {
  if (failed(checkStaged(nests, plans)))
    return failure();
  if (!place.isGrouped)
    return success();
  // (Without a wait after an iteration of the loops that they share, nests would meet in several of them.)
  const bool waitsInSteps = place.shared > 0 && llvm::all_of(plans, [&](const GpuPlan &plan) { return plan.waits[place.shared - 1]; });
  PendingAccesses pending(waitsInSteps ? place.shared : 0);
  bool waitsAtEnd = true;
  for (auto [i, nest] : llvm::enumerate(nests)) {
    const GpuPlan &plan = plans[i];
    BlockOp front = nest.front();
    if (plan.block != plans.front().block) {
      InFlightDiagnostic diag = front.emitError("the GPU engine can't run the schedule: the nests of a kernel have the same "
                                                "block, found ")
                                << plan.block;
      diag.attachNote(BlockOp(nests.front().front()).getLoc()) << "the first nest's is " << plans.front().block;
      return diag;
    }
    if (plan.waitsBefore)
      pending.clear();
    if (BlockOp met = pending.findMeeting(nest))
      return refuseMeeting(nest, met, "GPU", "thread blocks", SyncKind::Grid);
    if (plan.steps.size() <= place.shared)
      pending.add(nest);
    bool waits = place.shared > 0 && plan.waits[place.shared - 1];
    if (i > 0 && waits != waitsAtEnd)
      return front.emitError("the GPU engine can't run the schedule: the nests of a kernel agree on who waits after an "
                             "iteration of the loops that they share");
    waitsAtEnd = waits;
    for (unsigned s = 0; s + 1 < place.shared; ++s)
      if (plan.waits[s])
        return front.emitError("the GPU engine can't run the schedule: of the loops that nests of a kernel share, thread "
                               "blocks wait after the innermost, found sync = grid on loop ")
               << s;
  }
  if (place.shared == 0 || waitsAtEnd || pending.empty())
    return success();
  InFlightDiagnostic diag =
      BlockOp(nests.front().front())
          .emitError("the GPU engine can't run the schedule: no wait ends an iteration of the loops that its nests share; expected "
                     "sync = grid on loop ")
      << place.shared - 1;
  diag.attachNote(pending.getAny().getLoc()) << "the next iteration would have to wait for this block";
  return diag;
}
