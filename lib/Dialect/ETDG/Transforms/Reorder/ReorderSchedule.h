//===- ReorderSchedule.h - orders of a nest ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What etdg-reorder knows of a nest and the orders that it may run in.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSCHEDULE_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSCHEDULE_H

#include "ft/Analysis/Hyperplane.h"
#include "ft/Analysis/OuterExtents.h"
#include "ft/Analysis/Reuse.h"

namespace mlir::etdg::reorder {

/// A unimodular T, its rows being loops, outermost first.
struct Order {
  IntegerMatrix rows;
  SmallVector<bool> parallel;

  bool operator==(const Order &other) const {
    return rows == other.rows && parallel == other.parallel;
  }
  bool isIdentity() const { return rows == IntegerMatrix::identity(rows.getNumRows()); }
  SmallVector<OrderLoop> getLoops() const;
  /// With `offset` added to the first row.
  ScheduleAttr toSchedule(MLIRContext *context, int64_t offset = 0) const;
  /// `(j + k) sequential, (j) parallel, (i) parallel`.
  std::string str(ArrayRef<StringAttr> dims) const;
};

/// A nest (or a block that stands alone) and what was found.
struct Nest {
  Operation *op;
  SmallVector<BlockOp> blocks;
  unsigned numOwn = 0;
  SmallVector<OuterRange> ranges;
  SmallVector<int64_t> extents;
  SmallVector<Dependence> carried; // one for each distance
  Distances distances;
  /// Why the nest stays as it is, where something is in the way.
  std::string refusal, sample;
  std::optional<Dependence> culprit;
  /// Best first; empty where nothing is to be said.
  SmallVector<Order> candidates;
  /// The order with one sequential loop, outermost; the one that a kernel can share.
  std::optional<Order> wavefront;

  bool isRefused() const { return !refusal.empty(); }
  bool isSequential() const { return !distances.empty(); }
  SmallVector<StringAttr> getOwnNames() const;
  /// The order that needs no schedule: dimensions as they stand, `map` in parallel.
  Order getDeclared() const;
  /// Iterations one after the other as declared, and by the order's sequential
  /// rows; null where a length is no expression.
  ft::LengthAttr getDeclaredSteps() const;
  ft::LengthAttr getSteps(const Order &order) const;
  /// Of one row: Σ |row_i| (length_i − 1) + 1.
  ft::LengthAttr getSteps(ArrayRef<int64_t> row) const;
  int64_t getTypicalSteps(ArrayRef<int64_t> row) const;
  /// Typically: steps as declared and of an order, and all iterations.
  double getTypicalDeclaredSteps() const;
  double getTypicalSteps(const Order &order) const;
  double getTypicalIterations() const;
};

/// Dependences, ranges and candidates of a nest.
Nest analyzeNest(Operation *op, DependenceAnalysis &analysis, const TypicalLengths &lengths);

/// Whether someone has given the nest or block a schedule already.
bool isScheduled(Operation *item);

/// Whether the graph around is a copy that stands in no module: what is tried out there says nothing.
bool isOnTrial(Operation *op);

} // namespace mlir::etdg::reorder

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSCHEDULE_H
