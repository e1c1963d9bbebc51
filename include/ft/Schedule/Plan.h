//===- Plan.h - how a nest's loops share the threads ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest's own dimensions in the order in which its schedule (or its operators)
// runs them fall into four groups:
//
//   team    sequential loops that all threads run together, a barrier after each step
//   shared  parallel dimensions whose points the threads divide among them
//   row     one more parallel dimension, the rows of the leaves; with `listed`, points
//           of several (`lines` outside of `row`), whose addresses a thread lists
//   inner   loops inside one such point
//
// A nest has as many such plans as it has cuts of its sequential loops and
// candidates for the row; the cost model (CostModel.h) picks one.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_PLAN_H
#define FT_SCHEDULE_PLAN_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include <optional>
#include <vector>

namespace mlir::ft::schedule {

using etdg::BlockOp;

/// What may be done with a nest's own dimensions.
struct NestLoops {
  struct Loop {
    unsigned dim;
    bool parallel;
    /// Its range is the same everywhere and no dependence crosses it: it can be moved anywhere.
    bool free;
    /// It runs in order by the schedule, and is parallel because it is free.
    bool moved = false;
    /// How many sequential loops have to stay outside of a parallel one.
    unsigned outside = 0;
  };
  SmallVector<Loop> loops; // outermost first
};

/// Bounds of a dimension in one block: expressions d ≥ lower, d < upper over known dimensions and symbols.
struct DimBounds {
  SmallVector<AffineExpr> lowers, uppers;
};

/// Nests that run as one: under their first `shared` loops in textual order inside a step
/// (`etdg.kernel`), or one nest alone.
struct Group {
  SmallVector<SmallVector<BlockOp>> nests;
  /// For each nest the sequential dimensions whose loops are common to all, outermost first.
  SmallVector<SmallVector<unsigned>> common;
  Operation *op = nullptr; // the kernel, or the nest's first block
};

/// The groups of a body in textual order.
SmallVector<Group> getGroups(Region &body);

struct NestPlan {
  SmallVector<unsigned> team, shared, inner;
  std::optional<unsigned> row;
  /// Rows are points of `lines` and `row`, listed before each call of a leaf (RowLists.cpp).
  bool listed = false;
  SmallVector<unsigned> lines;
  /// The shared dimensions and the row span a box that no team loop moves.
  bool rectangular = true;

  SmallVector<unsigned> rowDims() const {
    SmallVector<unsigned> dims(lines);
    if (row)
      dims.push_back(*row);
    return dims;
  }
  bool isParallel() const { return row || !shared.empty(); }
};

/// `team t, shared j, rows i, inner k`, by the names of the nest's dimensions.
std::string describe(ArrayRef<BlockOp> nest, const NestPlan &plan);

/// The loops of a nest by its schedule, where one with an identity map is given, else by its
/// operators: what is `map` in every block is parallel at equal values of the loops outside.
/// Dimensions that are `fixed` outside are left out.
NestLoops getLoops(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed = {});

/// All plans of a nest, best guesses first: fewest team loops first. `withTeam`: whether threads
/// may share steps of sequential loops; `fixedRow`: a dimension outside already serves as rows;
/// `anyLists`: rows are also listed where no product gains from it (for tests).
std::vector<NestPlan> enumeratePlans(ArrayRef<BlockOp> nest, bool withTeam, bool fixedRow,
                                     ArrayRef<unsigned> fixed = {}, bool anyLists = false);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_PLAN_H
