//===- Spmd.h - parts of the conversion to what a thread runs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOCPU_SPMD_H
#define FT_LIB_CONVERSION_LOOPSTOCPU_SPMD_H

#include "ft/Conversion/LoopsToCPU/Environment.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::ft::tocpu {

/// Loads a slot of the environment, the function's first argument, where `builder` stands.
Value loadSlot(OpBuilder &builder, Location loc, Value environment, unsigned slot, Type type);

/// Whether an operation is a parallel loop that is dealt to the cores.
bool isDealt(Operation *op);
/// Whether all threads of a team go into an operation: it is or has a dealt loop or a sync.
bool isTogether(Operation *op);

/// What is known of values that a conversion makes: none is greater than its bound.
using Bounds = llvm::DenseMap<Value, OpFoldResult>;

//===----------------------------------------------------------------------===//
// DealtLoops.cpp
//===----------------------------------------------------------------------===//

/// Parallel loops that are dealt as one: each but the last has nothing beside the next one but arithmetic.
struct Chain {
  SmallVector<Operation *> loops;
  Value weight; // of an iteration of the last loop; none: 1
  loops::WeightOp says; // that
};
/// The chain that begins with `outermost`. An error where a loop is none that a CPU runs.
FailureOr<Chain> getChain(Operation *outermost);
/// Whether no range of its loops depends on another one.
bool isBox(const Chain &chain);

/// A box of iterations that are mapped dynamically.
struct Tasks {
  SmallVector<Value> lowers, counts; // by loop
  Value tile;                        // iterations of chunks in one task
  Value upper;                       // of chunks
  Value total;
};
/// Computes the tasks of a chain at `builder`, in the chain's function, or in another one into
/// which what the bounds need is copied by `mapping`.
Tasks emitTasks(OpBuilder &builder, const Chain &chain, Value threads, IRMapping *mapping = nullptr);
/// Replaces the chain by a loop over the tasks from `begin` to `end`.
void dealInTurn(const Chain &chain, const Tasks &tasks, Value begin, Value end, Bounds &bounds);
/// Replaces the chain by the share of thread `tid` of `threads`.
void dealInShares(const Chain &chain, Value tid, Value threads, Bounds &bounds);
/// Replaces a loop that one thread runs.
void makeSequential(Operation *loop, Bounds &bounds);

//===----------------------------------------------------------------------===//
// LowerLeaves.cpp
//===----------------------------------------------------------------------===//

/// A leaf's computation as a private function `leaf` of tensors, at the end of its module.
func::FuncOp outlineLeaf(OpBuilder &builder, loops::LeafOp leaf);

//===----------------------------------------------------------------------===//
// SingleThread.cpp
//===----------------------------------------------------------------------===//

/// Lets what stands outside of dealt loops run where `isFirst` holds, if it writes.
LogicalResult guardWrites(Block &block, Value isFirst);

//===----------------------------------------------------------------------===//
// ThreadMemory.cpp
//===----------------------------------------------------------------------===//

/// Refuses memory that stands outside of dealt loops and is used inside: each thread would have its own.
LogicalResult checkShared(func::FuncOp kernel);
/// Memory of iterations becomes memory of the function, as large as the largest.
void hoistMemory(func::FuncOp kernel, const Bounds &bounds);
/// Fills memory with ones where an iteration begins to use it.
void poisonMemory(func::FuncOp kernel);

} // namespace mlir::ft::tocpu

#endif // FT_LIB_CONVERSION_LOOPSTOCPU_SPMD_H
