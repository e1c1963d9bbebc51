//===- CutReductions.h - shares of a reduction, and their join --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dimension that may be re-associated (`reduce`, `fold`) may be cut at any iteration:
// a cut restarts from `identity`, and partial states join in order by `combine`
// (docs/etdg.md). Here a cut is written into the graph, as two nests: the shares,
// which depends on nothing, and the join of their states.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_CUTREDUCTIONS_H
#define FT_DIALECT_ETDG_TRANSFORMS_CUTREDUCTIONS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace mlir::etdg {

/// A leaf whose iterations along one dimension may be cut into shares.
struct Reduction {
  BlockOp leaf;
  /// The dimension, of all of the leaf's; and of each state's buffer the index that follows it.
  unsigned dim = 0;
  SmallVector<unsigned> positions;
  /// Which read brings each state in; states are in the order of the writes.
  SmallVector<unsigned> stateReads;
  /// Its range, [lower, upper), over the other dimensions.
  AffineExpr lower, upper;
  /// What the dimension's value is in each state's index: index = dimension + offset.
  SmallVector<int64_t> offsets;
  /// Each state is a result, not the last one alone.
  bool isScan = false;

  /// How long the dimension is at most.
  ft::LengthAttr getLength() const;
};

/// What an operation on two elements is as one that others may be joined by; nothing where order or grouping matters.
std::optional<arith::AtomicRMWKind> getCombinerKind(Operation *op);

/// How a value grows out of a state that nothing else sees, where that has a neutral element and may be re-associated.
std::optional<arith::AtomicRMWKind> getCombiner(Value value, BlockArgument state);

/// Gives a reduction without `combine` one, and identities, where each of its states grows by one operation that has a neutral
/// element (a sum, a product, a maximum, bits). False where it does not, or has one.
bool deriveCombine(BlockOp leaf);
/// Takes it away again.
void dropCombine(BlockOp leaf);

/// The leaf as a reduction that can be cut; nothing, and why, where it is none. With `goesOn` others may go on with its states, after its last one
/// (iterations that no joined one holds), also as other regions of its nest, and it may be a scan.
std::optional<Reduction> findReduction(BlockOp leaf, std::string &why, bool goesOn = false);

/// The nests that stand for a leaf: its shares, and their join; of a scan also the shares again, each from what those before it come to.
struct CutNests {
  BlockOp shares;
  NestOp join;
};

/// Cuts a reduction into shares of `tile` iterations, which begin at the multiples of it. The leaf, and a nest that holds
/// it alone, is gone then; other regions of its nest stand after the join. `schedule`, if any, is that of the shares. States of two shares lie at least `lineBytes` apart, where
/// not 0: cores that write to one line of memory wait for each other.
CutNests cutReduction(const Reduction &reduction, int64_t tile, ScheduleAttr schedule, int64_t lineBytes = 0);

/// A schedule with the loops of the shares: a loop that is associative is over shares, and parallel. `own` is the number of
/// the cut dimension among the block's own.
ScheduleAttr scheduleOfShares(ScheduleAttr schedule, int64_t own);

/// A schedule without shares: points that an associative loop would cut are in order.
ScheduleAttr scheduleInOrder(ScheduleAttr schedule);

/// Cuts each nest whose schedule has an associative loop, by its tile. An error at a nest that can't be cut.
LogicalResult cutReductions(GraphOp graph, int64_t lineBytes = 0);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_CUTREDUCTIONS_H
