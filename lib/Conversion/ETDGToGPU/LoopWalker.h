//===- LoopWalker.h - kernels of structured loops, for a GPU ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that `convert-etdg-to-loops` made becomes what each thread runs: LoopPrograms.cpp binds
// what a program gives its kernels, LoopWalker.cpp takes control and arithmetic, LoopDealing.cpp
// loops that blocks of threads share, LoopLeaves.cpp leaves and memory, LoopAlignment.cpp how wide accesses may be.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOGPU_LOOPWALKER_H
#define FT_LIB_CONVERSION_ETDGTOGPU_LOOPWALKER_H

#include "KernelBuilder.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Schedule/GpuPlan.h"

namespace mlir::ft::togpu {

/// The kernel that a launch runs, if blocks of threads of the machine can: a located error where its threads, memory or an
/// operation in it are beyond them (LoopChecks.cpp).
FailureOr<func::FuncOp> kernelOf(loops::LaunchOp launch, const KernelBuilder &e);

class LoopWalker {
public:
  LoopWalker(KernelBuilder &e, const Interface &code, loops::LaunchOp launch, func::FuncOp source)
      : e(e), b(e.b), code(code), launch(launch), source(source) {}
  /// Emits the kernel, and the step of the plan that launches it.
  LogicalResult run(StringRef name);

private:
  /// Memory of rows: where the first lies, and elements from one to the next.
  struct RowsAt {
    Value pointer, stride;
  };
  /// What was converted; values of a region are forgotten behind it.
  struct Known {
    llvm::DenseMap<Value, Value> values;
    llvm::DenseMap<Value, RowsAt> rows;
  };

  // LoopPrograms.cpp
  LogicalResult bindArguments();
  Value bindBuffer(loops::BufferOp buffer);
  /// A value of the kernel in the host's words; nothing where it is none.
  std::optional<HostExpr> onHost(Value value);
  std::optional<HostExpr> onHost(OpFoldResult value);

  // LoopWalker.cpp
  Type threadType(Type type);
  /// The value for a thread; what nothing but values is computed where it is first asked for.
  Value valueOf(Value value);
  Value valueOf(OpFoldResult value);
  LogicalResult takeBlock(Block &block);
  LogicalResult takeRegion(Block &block, Block *into, ValueRange arguments);
  LogicalResult takeOperation(Operation *op);
  LogicalResult takePlain(Operation *op);
  LogicalResult takeFor(scf::ForOp loop);
  LogicalResult takeIf(scf::IfOp branch);
  LogicalResult takeWhile(scf::WhileOp loop);
  /// A parallel loop that one block of threads runs.
  LogicalResult takeInOrder(Operation *loop);
  SmallVector<Value> yielded(Operation *terminator, TypeRange types);

  // LoopDealing.cpp
  struct Flat {
    SmallVector<Value> lowers, counts, tiles, uppers; // by loop; tiles: of chunks alone
    Value total;
  };
  LogicalResult takeDealt(Operation *outermost);
  LogicalResult takeOuter(ArrayRef<Operation *> outer, ArrayRef<Operation *> flat, Value before, Value &after);
  LogicalResult dealFlat(ArrayRef<Operation *> flat, Value before, Value &after);
  Flat countFlat(ArrayRef<Operation *> flat);
  /// How many columns and rows a task has, and so how many tasks there are.
  void cutChunks(ArrayRef<Operation *> flat, Flat &counted, Value points);
  Value columnsOf(loops::ChunksOp chunks, Value columns, Value parts);
  Value rowsOfTask(loops::ChunksOp chunks, ArrayRef<Operation *> flat, Value rows, Value others);
  void enterFlat(ArrayRef<Operation *> flat, const Flat &counted, Value number);

  // LoopLeaves.cpp
  LogicalResult takeLeaf(loops::LeafOp leaf);
  LogicalResult makeForm(loops::LeafOp leaf, LeafForm &form, bool rowWise);
  LogicalResult bindOperands(loops::LeafOp leaf, LeafEmitter &emitter);
  LogicalResult bindColumns(loops::LeafOp leaf, LeafForm &form, LeafEmitter &emitter);
  LogicalResult chooseThreads(loops::LeafOp leaf, const LeafForm &form, LeafEmitter &emitter, bool rowWise);
  RowsAt rowsOf(Value view);

  // LoopAlignment.cpp
  /// Whether what a leaf's view has begins, in each row, where accesses as wide as its elements allow may.
  bool isAligned(Value view, bool rowWise);

  // LoopLeaves.cpp
  LogicalResult takeAlloc(memref::AllocOp alloc);
  LogicalResult takeLoad(memref::LoadOp load);
  LogicalResult takeStore(memref::StoreOp store);
  LogicalResult takeBounded(loops::BoundedOp bounded);
  Value isFirstThread();

  KernelBuilder &e;
  Code &b;
  const Interface &code; // what callers see
  loops::LaunchOp launch;
  func::FuncOp source;
  Known known;
  std::optional<RowPlan> rowPlan;
  HostExpr tasks = 1;        // of the kernel's grid loops
  bool isInside = false;     // of loops of level grid
  bool hasStored = false;    // what leaves may read, since all threads of the block have waited
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_ETDGTOGPU_LOOPWALKER_H
