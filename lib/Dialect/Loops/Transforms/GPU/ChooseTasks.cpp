//===- ChooseTasks.cpp - tasks of thread blocks, said in the loops ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long the chunks are that thread blocks take, and how many blocks there are where the host can't count the tasks, is decided
// here, and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::ChunkLengthAttr;
using loops::ChunksOp;

/// Calls `take` for each loop of level grid that stands in no other one, in their order.
static LogicalResult eachDealt(func::FuncOp kernel, llvm::function_ref<LogicalResult(const DealtLoops &)> take) {
  WalkResult walked = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    loops::LevelAttr level = loops::levelOf(op);
    if (!level || level.getLevel() != etdg::LoopLevel::Grid)
      return WalkResult::advance();
    FailureOr<DealtLoops> dealt = readDealt(op);
    return failed(dealt) || failed(take(*dealt)) ? WalkResult::interrupt() : WalkResult::skip();
  });
  return failure(walked.wasInterrupted());
}

/// The other loops that are dealt with one.
static SmallVector<Operation *> besides(ArrayRef<Operation *> flat, ChunksOp chunks) {
  SmallVector<Operation *> rest;
  llvm::copy_if(flat, std::back_inserter(rest), [&](Operation *loop) { return loop != chunks.getOperation(); });
  return rest;
}

bool togpu::hasWaits(func::FuncOp kernel) {
  return kernel
      .walk([](loops::SyncOp sync) { return sync.getKind() == etdg::SyncKind::Grid ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool togpu::countsTasks(const DealtLoops &dealt, const HostCounts &counts) {
  if (!dealt.outer.empty())
    return false;
  // Of rows whose chunks the host cuts it knows how many there are.
  for (Operation *loop : dealt.flat)
    if (auto chunks = dyn_cast<ChunksOp>(loop); chunks && chunks.getLengthAttr() && chunks.getLengthAttr().getTasks())
      return true;
  return counts.tasksOf(dealt.flat).has_value();
}

/// Whether the host can cut a loop into chunks: it knows all iterations, and no thread block has to wait for others.
static bool canHostCut(ChunksOp chunks, const DealtLoops &dealt, const HostCounts &counts, bool isWaiting) {
  return !isWaiting && dealt.outer.empty() && counts.iterationsOf(chunks) && counts.tasksOf(besides(dealt.flat, chunks));
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

static void chooseLengths(const DealtLoops &dealt, const HostCounts &counts, bool isWaiting, const GpuScheduleOptions &options) {
  MLIRContext *context = dealt.flat.front()->getContext();
  auto chunks = llvm::map_range(llvm::make_filter_range(dealt.flat, llvm::IsaPred<ChunksOp>),
                                [](Operation *loop) { return cast<ChunksOp>(loop); });
  // Lengths that nothing chooses first: others are cut by how many tasks these leave.
  for (ChunksOp loop : chunks)
    if (!loop.getLengthAttr() && loop.getUnit() && *loop.getUnit() == loop.getMost())
      loop.setLengthAttr(ChunkLengthAttr::get(context, loop.getMost(), 0, 0));
  const Machine::GpuPlanning &planning = options.getMachine().gpu;
  for (ChunksOp loop : chunks) {
    if (loop.getLengthAttr())
      continue;
    // Columns are shared while there are thread blocks left; rows wherever the host can't say better.
    bool isHosts = !loop.getUnit() && canHostCut(loop, dealt, counts, isWaiting);
    loop.setLengthAttr(isHosts ? ChunkLengthAttr::get(context, 0, options.getMultiprocessors() * planning.tasksPerUnit, planning.rowTile)
                               : ChunkLengthAttr::get(context, 0, 0, 0));
  }
}

/// Thread blocks that wait for each other all run at once, one for each SM; of those that count tasks themselves there
/// are some for each.
static void chooseBlocks(func::FuncOp kernel, bool isWaiting, bool isCounted, const GpuScheduleOptions &options) {
  loops::GridAttr grid = loops::gridOf(kernel);
  if (grid.getMost() || (isCounted && !isWaiting))
    return;
  int64_t perUnit = isWaiting ? 1 : options.getMachine().gpu.stepBlocksPerUnit;
  kernel->setAttr(loops::names::grid, loops::GridAttr::get(kernel.getContext(), grid.getBlock(), options.getMultiprocessors() * perUnit));
}

static LogicalResult chooseTasks(func::FuncOp kernel, loops::LaunchOp launch, const GpuScheduleOptions &options) {
  HostCounts counts(kernel, launch);
  bool isWaiting = hasWaits(kernel), isCounted = true;
  LogicalResult chosen = eachDealt(kernel, [&](const DealtLoops &dealt) {
    chooseLengths(dealt, counts, isWaiting, options);
    isCounted &= countsTasks(dealt, counts); // of several nests all
    return success();
  });
  if (succeeded(chosen))
    chooseBlocks(kernel, isWaiting, isCounted, options);
  return chosen;
}

LogicalResult mlir::ft::chooseKernelTasks(loops::ProgramOp program, const GpuScheduleOptions &options) {
  // (What another launch does not know as well its own check refuses.)
  return eachKernel(program, options.getMachine(), [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
    return chooseTasks(kernel, launches.front(), options);
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult checkLength(ChunksOp chunks, const DealtLoops &dealt, const HostCounts &counts, bool isWaiting) {
  ChunkLengthAttr length = chunks.getLengthAttr();
  if (!length)
    return chunks.emitError("the GPU engine can't run a loop over chunks without a length: loops-choose-tasks says how long they are");
  if (!length.getTasks() || canHostCut(chunks, dealt, counts, isWaiting))
    return success();
  return chunks.emitError("the GPU engine can't run the loops: the host can't cut a loop into ")
         << length.getTasks() << " tasks " << (isWaiting ? "whose thread blocks wait for each other" : "that it can't count")
         << ": expected each or blocks, found " << length;
}

LogicalResult togpu::checkTasks(func::FuncOp kernel, loops::LaunchOp launch) {
  HostCounts counts(kernel, launch);
  bool isWaiting = hasWaits(kernel), isCounted = true;
  LogicalResult checked = eachDealt(kernel, [&](const DealtLoops &dealt) -> LogicalResult {
    for (Operation *loop : dealt.flat)
      if (auto chunks = dyn_cast<ChunksOp>(loop); chunks && failed(checkLength(chunks, dealt, counts, isWaiting)))
        return failure();
    isCounted &= countsTasks(dealt, counts); // of several nests all
    return success();
  });
  if (failed(checked) || loops::gridOf(kernel).getMost() || (isCounted && !isWaiting))
    return checked;
  return kernel.emitError("the GPU engine can't run the loops: expected how many thread blocks there are (most in loops.grid), as ")
         << (isWaiting ? "they wait for each other" : "the host can't count the tasks") << "; loops-choose-tasks says it";
}
