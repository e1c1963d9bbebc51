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
//   inner   loops inside one such point; with `tiled`, some of them stand for tiles, with points further in
//   columns the leaf's columns after the bar (LeafColumns.h), `columnTile` of which are a task
//
// A nest has as many such plans as it has cuts of its sequential loops and
// candidates for the row; the cost model (CostModel.h) picks one.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_CPU_PLAN_H
#define FT_SCHEDULE_CPU_PLAN_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include <optional>
#include <vector>

namespace mlir::ft::schedule {

using etdg::BlockOp;

/// Rows of one call, at most: a bound of what a schedule may say, whatever the machine, so that lists of addresses and private memory stay
/// small. (How many pay on one say `most_rows` and `row_bytes`.)
inline constexpr int64_t mostCallRows = int64_t(1) << 16;

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
struct NestGroup {
  SmallVector<SmallVector<BlockOp>> nests;
  /// For each nest the sequential dimensions whose loops are common to all, outermost first.
  SmallVector<SmallVector<unsigned>> common;
  Operation *op = nullptr; // the kernel, or the nest's first block
};

/// The groups of a body in textual order.
SmallVector<NestGroup> getGroups(Region &body);

/// A loop of one thread: over points, or over tiles of a dimension whose points a loop further in runs. Tiles begin at
/// multiples of their size, wherever the range does.
struct TileLoop {
  unsigned dim;
  int64_t tile = 1;
};

struct NestPlan {
  SmallVector<unsigned> team, shared, inner;
  /// The loops of `inner`, outermost first, where some are over tiles; empty: one over the points of each.
  SmallVector<TileLoop> tiled;
  /// Those of `inner` that are unrolled.
  SmallVector<unsigned> unrolled;
  std::optional<unsigned> row;
  /// Rows are points of `lines` and `row`, listed before each call of a leaf (RowLists.cpp).
  bool listed = false;
  SmallVector<unsigned> lines;
  /// The shared dimensions and the row span a box that no team loop moves.
  bool rectangular = true;
  /// Threads take tasks as they become free, and don't wait for each other; else each has a share.
  bool inTurn = false;
  /// Most rows of a leaf's call (0: not chosen yet); a list has full tiles of `rowUnit`.
  int64_t maxRows = 0, rowUnit = 1;
  /// Columns of the leaf that tasks share, and how many of them one has; 0: a task computes all.
  int64_t columns = 0, columnTile = 0;
  /// In steps: cores share the columns, and each has all rows of its own (else they share both, rows outside).
  bool columnsFirst = false;
  /// How much work a point of each region is, where shares go by that.
  SmallVector<int64_t> weights;

  SmallVector<unsigned> rowDims() const {
    SmallVector<unsigned> dims(lines);
    if (row)
      dims.push_back(*row);
    return dims;
  }
  bool isParallel() const { return row || !shared.empty() || columns; }
};

/// `team t, shared j, rows i, inner k`, by the names of the nest's dimensions.
std::string describe(ArrayRef<BlockOp> nest, const NestPlan &plan);

/// The loops of a nest by its schedule, where one with an identity map is given, else by its
/// operators: what is `map` in every block is parallel at equal values of the loops outside.
/// Dimensions that are `fixed` outside are left out.
NestLoops getLoops(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed = {});

/// Where a nest stands: inside what one thread runs, or all threads are there.
enum class PlanPlace { Thread, Cores };

/// What is specified for a nest: its own schedule, or that of the `etdg.nest` around it.
etdg::ScheduleAttr scheduleOf(ArrayRef<BlockOp> nest);
/// The tile of a parallel dimension in a schedule that leaves the rest open; 0 if it says nothing: so many of its
/// iterations are one task, the rows of one call.
int64_t openTile(ArrayRef<BlockOp> nest, unsigned dim);
/// Whether a schedule leaves nothing of a nest's loops open.
bool isBinding(etdg::ScheduleAttr schedule);
/// A plan as a schedule (PlanSchedule.cpp); loops over `fixed` dimensions, which the nests of a
/// kernel share, stand outside.
etdg::ScheduleAttr toSchedule(ArrayRef<BlockOp> nest, const NestPlan &plan,
                              ArrayRef<unsigned> fixed, PlanPlace place, etdg::SyncKind before);
/// The plan that a binding schedule is. An error at the nest where it is none that this engine
/// runs. `hasRows`: a dimension outside already serves as rows.
FailureOr<NestPlan> readPlan(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed, PlanPlace place,
                             bool hasRows);
/// Cores read what caches hold: an error where a schedule stages a read.
LogicalResult refuseCpuPlacements(ArrayRef<BlockOp> nest);
/// Of a schedule that leaves levels open, the order is obeyed: an error where it says more of how loops run.
LogicalResult refuseMoreThanOrder(ArrayRef<BlockOp> nest, StringRef engine);
/// Whether rows along `dim` are a range in each block once all but `inner` dimensions are fixed,
/// the same range for all points of the inner ones, and no child asks which row it is in.
bool canBeRow(ArrayRef<BlockOp> nest, unsigned dim, ArrayRef<unsigned> inner);

/// Whether tasks may share the columns of a nest's leaf in this plan: points and rows are all that it shares, and no
/// point waits for another one; or the team's threads share the columns at each step, of leaves that have the same ones.
/// Rows of such a step are those of each thread (`columnsFirst`).
bool canShareColumns(ArrayRef<BlockOp> nest, const NestPlan &plan);

/// All plans of a nest, best guesses first: fewest team loops first. `withTeam`: whether threads
/// may share steps of sequential loops; `fixedRow`: a dimension outside already serves as rows;
/// `anyLists`: rows are also listed where no product gains from it (for tests).
std::vector<NestPlan> enumeratePlans(ArrayRef<BlockOp> nest, bool withTeam, bool fixedRow,
                                     ArrayRef<unsigned> fixed = {}, bool anyLists = false);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_CPU_PLAN_H
