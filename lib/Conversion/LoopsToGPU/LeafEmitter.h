//===- LeafEmitter.h - the nests of a leaf on a thread block ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf comes as loop nests over buffers (ft/Engine: LeafGraph). Each nest is
// computed by all threads of a block, nests follow each other with a barrier
// between them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_LEAFEMITTER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_LEAFEMITTER_H

#include "ft/Analysis/LeafGraph/BodyEvaluator.h"
#include "Code.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "ft/Dialect/Loops/Transforms/GPU/KeepSums.h"
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

#include <functional>

namespace mlir::ft::togpu {

/// Where a leaf's operand lies, or which value it is. A leaf is computed for all
/// rows and, where a dimension around it was lifted into it, for all lifts at once.
struct Memory {
  Value pointer;   // to row 0; null if it is a value always
  Value rowStride; // elements; null: all rows are one
  /// Not null: where this holds, all elements of row r are `value + r * valueStep`.
  Value isValue;
  Value value, valueStep;
  Value each; // of chains: how much more an element is than the one before; null: nothing
  bool aligned = false; // rows begin at multiples of 16 bytes
  bool swizzled = false; // pieces of lines have changed places (#loops.memory)
  Value liftStride;     // elements; null: all lifts are one
  Value liftStep;       // of `value`
};

/// The row and the lift of an access, i64 both.
struct At {
  Value row, lift;
};

/// A sum that stays in registers through a loop, in one iteration: its tiles before, and what becomes of them (KeepSums.h).
struct KeptTiles {
  KeptSum sum;
  SmallVector<Value> before, next;
};

using schedule::RowNest;
using schedule::RowPlan;
using schedule::Tiles;

/// The columns of this thread block: a multiple of `unit`, like `begin`.
struct Columns {
  Value begin, count; // i64
  int64_t unit = 1;
};

class OperandMap;

/// What a leaf needs to know about its thread block.
struct Threads {
  int64_t count = 0;
  Value id; // i32
  /// Pointer to shared memory for partial results of 8 reductions, 8 bytes a warp each.
  Value scratch;
  /// Pointer to shared memory for what slices of sums leave each other, which nests use one after the other.
  std::function<Value()> partials;
};

class LeafEmitter {
public:
  LeafEmitter(Code &b, leaf::LeafGraph &graph, const Threads &threads)
      : b(b), graph(graph), threads(threads) {}

  Code &b;
  leaf::LeafGraph &graph;
  const Threads &threads;
  SmallVector<Memory> memories; // by buffer
  Value rows;                   // i64
  int64_t maxRows = 1;
  int64_t lifts = 1;
  SmallVector<bool> lifted; // by buffer: differs from lift to lift
  std::optional<Columns> columns;
  SmallVector<Tiles> tiles;      // by nest, without `rowPlan`
  std::vector<LeafNest> nests;   // by nest; those that threads compute point by point
  const RowPlan *rowPlan = nullptr; // rows stay in registers
  const schedule::ChainPlan *chain = nullptr; // tiles of products do
  SmallVector<Value> handed; // by buffer of such a leaf: what a loop before has left of it in registers, or null
  tile::RowAccessesAttr rowAccesses; // and in which accesses they come and go
  std::vector<KeptTiles> kept;
  SmallVector<bool> syncs;       // by nest: the threads of a block wait after it
  Value staging;                    // shared memory for operands of products, where a nest is one in tiles

  /// An index of data, i64, or 0 where it is not in [0, bound), which is noted for the host then.
  std::function<Value(Value index, int64_t bound, Operation *op)> checkIndex;

  /// The leaf in its kernel, which this launch runs; a value of the loops around it, and a tensor of the call as boxes.
  loops::LeafOp leaf;
  loops::LaunchOp launch;
  std::function<Value(OpFoldResult)> valueOf;
  std::function<Value(const OperandMap &)> tensorMap;

  LogicalResult emit();
  /// Goes on where a flag says so, for all threads of the block or none.
  void beginGuard(tile::FlagAttr flag);

  /// The element of a view at `offset`, or the value that it is.
  Value loadOne(const leaf::ElementView &view, Value offset, At at);
  /// Offset at which a view begins, its run-time terms included.
  Value beginOf(const leaf::ElementView &view, At at);
  /// `offset`, moved to a row and a lift of a buffer in memory.
  Value offsetAt(const Memory &memory, Value offset, At at);
};

/// The body of a member, which reads what the leaf's buffers are at a row and a lift.
class LeafBody : public leaf::BodyEvaluator {
public:
  LeafBody(LeafEmitter &emitter, const leaf::NestMember &member, At at) : BodyEvaluator(emitter.b, member), e(emitter), at(at) {}

private:
  LeafEmitter &e;
  At at;

  Value loadCaptured(const leaf::ElementView &view) override;
  Value evaluateExtract(tensor::ExtractOp extract, const leaf::ElementView &view) override;
};

LogicalResult emitNest(LeafEmitter &emitter, const LeafNest &nest);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_LEAFEMITTER_H
