//===- AccessMatrix.h - M·i + o of an access map ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The access matrix and offset of FT §4.4 for one access, the null space that
// shows reuse, and the relation of a dimension to a buffer (FT §5.1).
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_ACCESSMATRIX_H
#define FT_ANALYSIS_ACCESSMATRIX_H

#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/IntegerMatrix.h"

namespace mlir::etdg {

/// One result of a map as a sum over the point's variables and a space's symbols.
struct AccessRow {
  SmallVector<int64_t> dims;    // one for each variable of the point
  SmallVector<int64_t> symbols; // one for each symbol of the space
  int64_t offset = 0;
  /// Not so for quotients, remainders, products of symbols, and gathered results:
  /// then the coefficients say only which variables occur (1) and which do not (0).
  bool isLinear = true;

  /// Linear, and no variable of the point occurs.
  bool isConstant() const;
};

/// Rows of the buffer's programmable dimensions, then, for an access that ranges
/// over the element's dimensions, of the element's.
struct AccessMatrix {
  SmallVector<AccessRow> rows;
  unsigned depth = 0; // rows of programmable dimensions

  bool isLinear() const;
  /// The linear part, of the columns [from, from + count).
  IntegerMatrix getLinearPart(unsigned from, unsigned count) const;
};

/// The result as a row; `numPoint` is the size of the access's point.
AccessRow getAccessRow(AffineExpr expr, unsigned numPoint, ArrayRef<StringAttr> symbolNames,
                       const SymbolSpace &space);
AccessMatrix getAccessMatrix(Access &access, const SymbolSpace &space);

/// The directions in the variables [from, from + count) of the point in which the
/// access stays at one place, as rows of a basis (FT §5.2). Where a row is not
/// linear, the directions in which none of its variables change. None on overflow.
std::optional<IntegerMatrix> getNullSpace(const AccessMatrix &matrix, unsigned from,
                                          unsigned count);

/// How a dimension meets a buffer (FT §5.1, depth-wise coarsening).
enum class DimRelation {
  Access,    ///< the place depends on the dimension
  Invariant, ///< the buffer is accessed inside the dimension, the place is the same
  NonAccess  ///< nothing inside the dimension accesses the buffer
};
/// Of dimension `dim` (ancestors count) of a block, by the accesses of the block
/// and all that it holds.
DimRelation relateDimension(const GraphAccesses &accesses, BlockOp block, unsigned dim,
                            Value buffer, const SymbolSpace &space);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_ACCESSMATRIX_H
