//===- LoopWalker.h - kernels of structured loops, for a GPU ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that `convert-etdg-to-loops` made becomes what each thread runs: LoopPrograms.cpp binds
// what a program gives its kernels, LoopWalker.cpp takes control and arithmetic, LoopTasks.cpp
// loops that thread blocks share, LoopThreads.cpp those that threads do, LoopChoices.cpp memory that is chosen at run time
// and values in its place, LoopLifts.cpp iterations that a leaf computes at once, LoopLeaves.cpp leaves and memory.
// What leaves and lifted loops are LeafInBlock.cpp tells, what the host can count HostCounts.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_LOOPWALKER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_LOOPWALKER_H

#include "KernelBuilder.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"

namespace mlir::ft::togpu {

class LoopWalker {
public:
  LoopWalker(KernelBuilder &e, const Interface &code, loops::LaunchOp launch, func::FuncOp source)
      : e(e), b(e.b), code(code), launch(launch), source(source), counts(source, launch) {}
  /// Emits the kernel, and the step of the plan that launches it.
  LogicalResult run(StringRef name);

private:
  /// One value for all elements of row r, `value + r * step`, where `holds`; `lift` is added for each lifted iteration.
  struct ValueAt {
    Value holds, value, step, lift; // i1; of the element or i64; i64 or null
    Value each;                     // i64 or null
  };
  /// Memory of rows: where the first lies, elements from one to the next, and from one lifted iteration to the next.
  struct RowsAt {
    Value pointer, stride, lift;
    std::optional<ValueAt> value;
  };
  /// What was converted; values of a region are forgotten after it.
  struct Known {
    llvm::DenseMap<Value, Value> values;
    llvm::DenseMap<Value, ValueAt> splats; // by memory that may be a value
    llvm::DenseMap<Value, Value> growth;   // with each lifted iteration
  };
  /// What memory may be that is chosen at run time, and where it lies.
  struct PlacedForm : MemoryForm {
    std::optional<unsigned> space;
    Type value; // i64 where some of them count
  };

  // LoopPrograms.cpp
  LogicalResult bindArguments();
  Value bindBuffer(loops::BufferOp buffer);

  // LoopWalker.cpp
  Type threadType(Type type);
  /// The value for a thread; what nothing but values is computed where it is first asked for.
  Value ofArgument(Value value);
  Value valueOf(Value value);
  Value valueOf(OpFoldResult value);
  LogicalResult takeBlock(Block &block);
  LogicalResult takeRegion(Block &block, Block *into, ValueRange arguments);
  LogicalResult takeOperation(Operation *op);
  LogicalResult takePlain(Operation *op);
  LogicalResult takeFor(scf::ForOp loop);
  LogicalResult takeWhile(scf::WhileOp loop);
  /// A parallel loop that one thread block, or one of its threads, runs.
  LogicalResult takeInOrder(Operation *loop);
  SmallVector<Value> yielded(Operation *terminator, TypeRange types);

  // LoopChoices.cpp
  LogicalResult takeSplat(loops::SplatOp splat);
  PlacedForm formOf(Value memory);
  void place(Value memory, PlacedForm &form);
  static bool isInMemory(const PlacedForm &form);
  void addTypes(OpResult result, SmallVectorImpl<Type> &types);
  /// What a branch yields, in the form of all of them.
  void yieldResult(OpResult result, Value yielded, SmallVectorImpl<Value> &values);
  void bindResult(OpResult result, ValueRange &values);
  LogicalResult takeIf(scf::IfOp branch);

  // LoopThreads.cpp
  LogicalResult takeThreads(scf::ForallOp outermost);

  // LoopLifts.cpp
  LogicalResult takeLifted(scf::ForallOp loop);
  /// How much a value grows with each lifted iteration, i64; null: not at all.
  Value growthOf(Value value);
  Value growthOf(affine::AffineApplyOp apply);

  // LoopTasks.cpp
  struct Flat {
    SmallVector<Value> lowers, counts, tiles, uppers; // by loop; tiles: of chunks alone
    Value total;
  };
  LogicalResult takeDealt(Operation *outermost);
  Value countPoints(ArrayRef<Operation *> outer, ArrayRef<Operation *> flat, Value before);
  LogicalResult takeOuter(ArrayRef<Operation *> outer, ArrayRef<Operation *> flat, Value before, Value &after);
  LogicalResult dealFlat(ArrayRef<Operation *> flat, Value before, Value &after);
  Flat countFlat(ArrayRef<Operation *> flat);
  /// How many columns and rows a task has, and so how many tasks there are.
  void cutChunks(ArrayRef<Operation *> flat, Flat &counted, Value points);
  Value columnsOf(loops::ChunksOp chunks, Value columns, Value parts);
  Value rowsOfTask(loops::ChunksOp chunks, ArrayRef<Operation *> flat, Value rows, Value others);
  void enterFlat(ArrayRef<Operation *> flat, const Flat &counted, Value number);

  // LoopKeeping.cpp
  LogicalResult takeKeeping(scf::ForOp loop);
  LogicalResult takeKept(scf::ForOp loop, Value lower, Value upper, SmallVectorImpl<std::pair<Value, Value>> &left);
  LogicalResult loadKept(loops::LeafOp leaf, SmallVectorImpl<Value> &tiles);
  /// `left`: adds what stays in registers, by the memory in whose place.
  LogicalResult storeKept(loops::LeafOp leaf, SmallVectorImpl<std::pair<Value, Value>> &left);
  void giveKept(ArrayRef<KeptSum> sums, loops::LeafOp leaf, LeafEmitter &emitter);
  void takeNext(loops::LeafOp leaf, LeafEmitter &emitter);
  Value handedOf(Value memory) const;
  void bindHanded(loops::LeafOp leaf, LeafEmitter &emitter);
  void handOn(scf::IfOp some, ArrayRef<std::pair<Value, Value>> made);

  // LoopLeaves.cpp
  /// A leaf with all that it says, and its emitter, in which no operand is bound yet.
  struct LeafHere {
    PlacedLeaf placed;
    KeptSums kept;
    std::optional<LeafEmitter> emitter;
  };
  FailureOr<std::unique_ptr<LeafHere>> readHere(loops::LeafOp leaf);
  LogicalResult readAccesses(loops::LeafOp leaf, LeafHere &here);
  LogicalResult takeLeaf(loops::LeafOp leaf);
  using IsBound = llvm::function_ref<bool(int buffer)>;
  void bindOperands(loops::LeafOp leaf, LeafEmitter &emitter, IsBound isBound);
  void setTiling(loops::LeafOp leaf, LeafTiling tiling, LeafEmitter &emitter);
  /// What products read lies in memory; what is a value alone has none.
  void bindValues(loops::LeafOp leaf, LeafEmitter &emitter);
  RowsAt rowsOf(Value view);

  // LoopLeaves.cpp
  Value firstPartOf(Value own, int64_t bytes);
  LogicalResult takeAlloc(loops::AllocOp alloc);
  LogicalResult takeLoad(memref::LoadOp load);
  LogicalResult takeStore(memref::StoreOp store);
  LogicalResult takeBounded(loops::BoundedOp bounded);
  Value isFirstThread();

  KernelBuilder &e;
  Code &b;
  const Interface &code; // what callers see
  loops::LaunchOp launch;
  func::FuncOp source;
  HostCounts counts;
  Known known;
  std::optional<RowPlan> rowPlan;
  std::optional<schedule::ChainPlan> chain;
  llvm::DenseMap<Value, Value> handed; // by memory: what loops have left in registers in its place
  std::optional<HostExpr> tasks = 1; // most of the kernel's grid loops, if the host knows them
  bool hasDealt = false;             // some grid loops
  llvm::DenseMap<Value, Value> ofArguments; // what was computed at the kernel's begin
  Value dealtBefore;         // tasks, but for whole turns of all thread blocks, that loops before have dealt since these waited; null: none
  Value allPoints;           // of the loops being dealt, where others around them decide how many they have
  bool isInside = false;     // of loops of level grid
  bool waitsNext = false;    // the threads of a block, before the operation that is next
  bool isAlone = false;      // a thread, in loops that threads share
  llvm::DenseMap<Operation *, SmallVector<Value>> keptTiles; // by leaf: what stays in registers, now
  Lift lift;                 // of the loop around, where a leaf computes its iterations at once
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_LOOPWALKER_H
