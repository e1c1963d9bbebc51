//===- Dimensions.h - questions about a nest's dimensions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions of a nest may be moved, which may be the rows of its leaves,
// and between which bounds they run where others are known.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_DIMENSIONS_H
#define FT_SCHEDULE_ANALYSIS_DIMENSIONS_H

#include "ft/Machine/Machine.h"
#include "ft/Schedule/CPU/Plan.h"

#include "llvm/ADT/SmallBitVector.h"

namespace mlir::ft::schedule {

//===----------------------------------------------------------------------===//
// Rows.cpp: questions about dimensions
//===----------------------------------------------------------------------===//

/// The leaves inside a block, itself if it is one.
SmallVector<BlockOp> leavesOf(BlockOp block);
/// Whether iterations that differ in dimension `dim` of the nest are independent, and its range is
/// the same for all blocks and all other dimensions: such a dimension can be moved anywhere.
bool isFreeDimension(ArrayRef<BlockOp> nest, unsigned dim);
/// Bytes that the rows of a leaf touch, and bytes of arguments and constants that vary along a dimension.
int64_t bytesOf(RankedTensorType type);
int64_t varyingInputBytes(ArrayRef<BlockOp> nest, unsigned dim);
/// Most rows at once, so that what varies stays within the budget.
int64_t chooseMaxRows(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, const Machine &machine);

using etdg::RowUse;

/// The most rows of a leaf that its accesses allow to be computed together.
struct RowLimit {
  RowUse use = RowUse::AtOnce;
  /// The access that allows no more, and what it does along the rows.
  bool isWrite = false;
  unsigned number = 0;
  StringRef why = "";
  std::string describe() const;
};
/// `planesOf` gives the planes kept of a buffer's dimension (0: all); `strided`: elements may lie with gaps (Boxes.h). `onGpu`: a number that
/// counts iterations is computed from the first row's by one step, so that the rows need even ones.
RowLimit findRowLimit(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf, bool strided = true, bool onGpu = false);

inline bool isRowUniform(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  return findRowLimit(leaf, dim, planesOf, /*strided=*/true, /*onGpu=*/true).use == RowUse::AtOnce;
}
/// Which free dimension serves best as rows: the one along which the fewest read bytes vary.
std::optional<unsigned> chooseRowDimension(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free);

/// `expr` as c * dim + rest with a constant c ≠ 0 and a rest of symbols only.
bool dependsOnlyOn(AffineExpr expr, unsigned dim, unsigned numDims);
/// The expression with the block's symbols replaced by unique numbers of the names, so that
/// expressions of different blocks compare.
AffineExpr withNames(AffineExpr expr, BlockOp block, SmallVectorImpl<StringAttr> &names);
/// Whether the expression is c * dim + rest, c constant along dim.
bool isLinearIn(AffineExpr expr, unsigned dim, unsigned numDims, unsigned numSymbols);

//===----------------------------------------------------------------------===//
// LeafRows.cpp: which rows one call computes
//===----------------------------------------------------------------------===//

/// The dimension of a leaf whose iterations are the rows of its calls, and whether each row is put into a list (`listed_rows`).
struct RowsOfLeaf {
  unsigned dim = 0;
  bool listed = false;
};
/// What the schedules around a leaf say of its rows; none where it has one.
std::optional<RowsOfLeaf> findRowsOf(BlockOp leaf);

/// How rows are computed by what is written: as `etdg.rows` says; without it at once where accesses allow that, else one by one. An error where
/// they don't allow what it says, or there are no rows. `planesOf` as in `findRowLimit`.
FailureOr<RowUse> readRowUse(BlockOp leaf, std::optional<RowsOfLeaf> rows, llvm::function_ref<int64_t(Value, unsigned)> planesOf);

//===----------------------------------------------------------------------===//
// RowGroups.cpp: rows from several dimensions
//===----------------------------------------------------------------------===//

/// The reads of a leaf of which the right-hand sides of its products are made.
llvm::SmallBitVector rightHandSides(BlockOp leaf);
/// Whether a read's source may differ between points that differ in one of `dims`.
bool variesAlong(BlockOp leaf, unsigned read, ArrayRef<unsigned> dims);
/// Regions whose points may be rows of one call: equal bodies, and right-hand sides that are the
/// same wherever they don't vary along the rows.
struct RowGroup {
  SmallVector<BlockOp> regions;
  SmallVector<bool> varies; // by read: between rows
};
SmallVector<RowGroup> groupRegions(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims);

//===----------------------------------------------------------------------===//
// Bounds.cpp
//===----------------------------------------------------------------------===//

/// The constant by which `expr` grows with `dim`, if there is one.
std::optional<int64_t> stepAlong(AffineExpr expr, unsigned dim, unsigned numDims, unsigned numSymbols);
/// Adds what `expr ≥ 0` (or = 0) says of `dim`, others given; false where it is no bound of it.
bool addBound(DimBounds &bounds, AffineExpr expr, bool equality, unsigned dim, IntegerSet set);
DimBounds boundsOf(BlockOp block, unsigned dim, llvm::function_ref<bool(unsigned)> known);
/// The same where loops run in the order of the dimensions.
inline DimBounds boundsOf(BlockOp block, unsigned dim) {
  return boundsOf(block, dim, [&](unsigned d) { return d < dim; });
}
/// Whether each block of a nest bounds `dim` by the dimensions that are `known`. Planners, readers of plans and the emitter make no other loop.
bool hasLoopBounds(ArrayRef<BlockOp> nest, unsigned dim, llvm::function_ref<bool(unsigned)> known);
/// Of dimensions that thread blocks share as one, in this order: those on which the ranges of later ones depend. Loops over `known` ones are outside.
llvm::SmallBitVector findAsked(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dealt, llvm::SmallBitVector known);
/// Whether the range of `dim` is the same for all blocks and mentions no other dimension.
bool isRectangular(ArrayRef<BlockOp> nest, unsigned dim);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_DIMENSIONS_H
