//===- ScheduledOrder.h - the order that schedules give ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of two iterations runs first when schedules are obeyed: nests in textual
// order, kernels in step, the loops of a schedule outermost first, iterations of
// parallel loops in no order.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_SCHEDULEDORDER_H
#define FT_ANALYSIS_SCHEDULEDORDER_H

#include "ft/Analysis/Sets.h"

namespace mlir::etdg {

/// How an iteration x of one block and an iteration y of another (or the same)
/// stand to each other.
enum class Order { Before, After, Unordered, Same };

/// One case of the order of two iterations: where all of `equal` agree and
/// `decides` says so, they stand as `order` says. Expressions range over the
/// iteration vectors of the two blocks.
struct OrderCase {
  using Pair = std::pair<AffineExpr, AffineExpr>; // of x, of y
  SmallVector<Pair> equal;
  /// The loop that decides: x's value is less than y's, or greater.
  std::optional<Pair> decides;
  bool isLess = false;
  Order order;
};

/// All cases; they are disjoint and cover all pairs of iterations of the two
/// blocks, which are leaves. A dimension of an unscheduled block is sequential,
/// or unordered where its operator is `map` and `mapIsUnordered`: engines run
/// those in parallel.
SmallVector<OrderCase> getOrderCases(BlockOp x, BlockOp y, bool mapIsUnordered = true);

/// The cases for iterations that agree in their first `numShared` dimensions, as those that touch one plane of a buffer
/// agree in its owner's: what such dimensions alone would decide is left out, and that they are equal is not said again.
SmallVector<OrderCase> getCasesWithin(unsigned numShared, ArrayRef<OrderCase> cases);

/// Adds a case to a set that holds both iteration vectors.
LogicalResult addOrderCase(SetBuilder &builder, const OrderCase &orderCase, unsigned offsetX,
                           unsigned offsetY);

/// The dimensions of a block's iteration vector that a schedule for a GPU deals to all thread blocks: their
/// iterations run side by side.
SmallVector<unsigned> getDealtDims(BlockOp block);

/// The sequential rows of the loops around a block's iterations, over its iteration vector.
SmallVector<AffineExpr> getSequentialRows(BlockOp block);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SCHEDULEDORDER_H
