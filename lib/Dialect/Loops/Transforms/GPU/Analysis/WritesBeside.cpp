//===- WritesBeside.cpp - writes between grid barriers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks between two barriers of the grid depend on each other in no order, since any
// thread block may have any of them. What is left are the leaves of one task, which
// one thread block runs in order.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/WritesBeside.h"

#include "ft/Dialect/Loops/Transforms/GPU/ChooseCopies.h"
#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

static bool isGridBarrier(Operation *op) {
  auto sync = dyn_cast<loops::SyncOp>(op);
  return sync && sync.getKind() == etdg::SyncKind::Grid;
}

static bool isOfGrid(Operation *op) {
  loops::LevelAttr level = loops::levelOf(op);
  return level && level.getLevel() == etdg::LoopLevel::Grid;
}

/// The block with barriers of the grid around a leaf, and what of it has the leaf; null: there is none.
static std::pair<Block *, Operation *> findSegment(loops::LeafOp leaf, func::FuncOp kernel) {
  for (Operation *op = leaf; op != kernel; op = op->getParentOp())
    if (llvm::any_of(*op->getBlock(), [](Operation &beside) { return isGridBarrier(&beside); }))
      return {op->getBlock(), op};
  return {nullptr, nullptr};
}

/// What runs before the next barrier or after the last one: across the end of a loop's iteration, too.
static SmallVector<Operation *> findBeside(Block *block, Operation *own) {
  SmallVector<SmallVector<Operation *>> segments(1);
  size_t number = 0;
  for (Operation &op : *block) {
    if (isGridBarrier(&op))
      segments.emplace_back();
    else
      segments.back().push_back(&op);
    if (&op == own)
      number = segments.size() - 1;
  }
  const bool repeats = isa<LoopLikeOpInterface>(block->getParentOp());
  if (repeats && (number == 0 || number + 1 == segments.size())) {
    SmallVector<Operation *> both(segments.front());
    llvm::append_range(both, segments.back());
    return both;
  }
  return segments[number];
}

/// Whether all loops from the segment to the leaf deal tasks to thread blocks.
static bool isOneTask(loops::LeafOp leaf, Operation *own) {
  bool isDealt = false;
  for (Operation *op = leaf->getParentOp(); op != own->getParentOp(); op = op->getParentOp()) {
    if (isa<scf::IfOp>(op))
      continue;
    loops::LevelAttr level = loops::levelOf(op);
    if (!isOfGrid(op) || level.getMapping() == etdg::IterationMapping::Static)
      return false;
    isDealt = true;
  }
  return isDealt;
}

/// Whether two operations stand in different branches of one condition.
static bool areExclusive(Operation *one, Operation *other) {
  for (Operation *op = one; op; op = op->getParentOp())
    if (auto branch = dyn_cast_or_null<scf::IfOp>(op->getParentOp()); branch && branch->isAncestor(other))
      return op->getParentRegion() != nullptr && !op->getParentRegion()->isAncestor(other->getParentRegion());
  return false;
}

static bool writes(Operation *op, Value memory) {
  if (auto leaf = dyn_cast<loops::LeafOp>(op))
    return llvm::any_of(leaf.getOutputs(), [&](Value view) { return memoryOf(view) == memory; });
  auto store = dyn_cast<memref::StoreOp>(op);
  return store && store.getMemRef() == memory;
}

bool togpu::isWrittenBeside(BlockArgument memory, loops::LeafOp leaf, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
  if (!isWritten(memory, kernel, launches))
    return false;
  auto [block, own] = findSegment(leaf, kernel);
  if (!block || isGivenTwice(memory, launches) || !isOneTask(leaf, own))
    return true;
  for (Operation *beside : findBeside(block, own)) {
    WalkResult walked = beside->walk([&](Operation *op) {
      if (!writes(op, memory))
        return WalkResult::advance();
      if (op == leaf)
        return loops::hasOverlaps(leaf) ? WalkResult::interrupt() : WalkResult::advance();
      // (Another nest has tasks of its own.)
      const bool isFree = beside != own ? isOfGrid(beside) && loops::levelOf(beside).getMapping() != etdg::IterationMapping::Static : areExclusive(leaf, op);
      return isFree ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return true;
  }
  return false;
}
