//===- SingleThread.cpp - what the first thread does alone ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All threads of a team walk through a kernel. Arithmetic is everybody's; what writes
// memory outside of dealt loops is done once, by the first of them.
//
//===----------------------------------------------------------------------===//

#include "Spmd.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

/// Memory of each thread, and what several threads may do without harm.
static bool isEverybodys(Operation *op) {
  return isa<memref::AllocOp, memref::DeallocOp, loops::BoundedOp>(op);
}

/// Whether an operation, with what stands in it, reads memory at most.
static bool readsAtMost(Operation *op) {
  return !op->walk([](Operation *inner) {
              bool nests = inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
              bool isPlain = nests || isMemoryEffectFree(inner) || hasSingleEffect<MemoryEffects::Read>(inner);
              return isPlain ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Operations between two that all threads are at together.
static LogicalResult guardRun(ArrayRef<Operation *> run, Value isFirst) {
  if (llvm::all_of(run, [](Operation *op) {
        return isEverybodys(op) || readsAtMost(op);
      }))
    return success();
  llvm::SetVector<Operation *> own(run.begin(), run.end());
  Block *block = run.front()->getBlock();
  // What others use, and what that is made of, everybody computes.
  SmallVector<Operation *> needed;
  llvm::DenseSet<Operation *> kept;
  auto keep = [&](Operation *op) {
    if (op && own.contains(op) && kept.insert(op).second)
      needed.push_back(op);
  };
  for (Operation *op : run)
    if (isEverybodys(op) || llvm::any_of(op->getUsers(), [&](Operation *user) {
          return !own.contains(block->findAncestorOpInBlock(*user));
        }))
      keep(op);
  while (!needed.empty()) {
    Operation *op = needed.pop_back_val();
    if (!isEverybodys(op) && !readsAtMost(op))
      return op->emitError("all threads need what only one of them may do here");
    if (!isa<memref::DeallocOp>(op))
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          keep(operand.getDefiningOp());
      });
  }
  OpBuilder builder(run.back()->getContext());
  builder.setInsertionPointAfter(run.back());
  auto branch = scf::IfOp::create(builder, run.front()->getLoc(), isFirst, /*withElseRegion=*/false);
  for (Operation *op : run)
    if (!kept.contains(op))
      op->moveBefore(branch.thenBlock()->getTerminator());
  // (Memory is freed after its last use.)
  for (Operation *op : run)
    if (isa<memref::DeallocOp>(op))
      op->moveAfter(branch);
  return success();
}

LogicalResult tocpu::guardWrites(Block &block, Value isFirst) {
  SmallVector<SmallVector<Operation *>> runs(1);
  // (Which thread one is, in front of all else, everybody asks.)
  bool isAhead = isFirst.getParentBlock() == &block;
  for (Operation &op : block.without_terminator()) {
    if (isAhead) {
      isAhead = &op != isFirst.getDefiningOp();
      continue;
    }
    if (!isTogether(&op) && !isa<loops::WeightOp>(op)) {
      runs.back().push_back(&op);
      continue;
    }
    runs.emplace_back();
    if (isDealt(&op))
      continue;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (failed(guardWrites(inner, isFirst)))
          return failure();
  }
  for (ArrayRef<Operation *> run : runs)
    if (!run.empty() && failed(guardRun(run, isFirst)))
      return failure();
  return success();
}
