//===- IntegerMatrix.h - exact integer linear algebra -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small integer matrices: Hermite normal form, null spaces with integer bases,
// unimodular inverses and completion (FT §5.2). 64-bit entries; what does not
// fit is answered by "none", never by a wrong number.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_INTEGERMATRIX_H
#define FT_ANALYSIS_INTEGERMATRIX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::etdg {

class IntegerMatrix {
public:
  IntegerMatrix(unsigned numRows, unsigned numColumns)
      : numRows(numRows), numColumns(numColumns), entries(numRows * numColumns, 0) {}
  static IntegerMatrix identity(unsigned size);
  /// Every row has `numColumns` entries.
  static IntegerMatrix fromRows(llvm::ArrayRef<llvm::SmallVector<int64_t>> rows,
                                unsigned numColumns);

  unsigned getNumRows() const { return numRows; }
  unsigned getNumColumns() const { return numColumns; }
  int64_t &at(unsigned row, unsigned column) { return entries[row * numColumns + column]; }
  int64_t at(unsigned row, unsigned column) const { return entries[row * numColumns + column]; }
  llvm::ArrayRef<int64_t> getRow(unsigned row) const {
    return llvm::ArrayRef(entries).slice(row * numColumns, numColumns);
  }
  llvm::SmallVector<int64_t> getColumn(unsigned column) const;
  void appendRow(llvm::ArrayRef<int64_t> row);
  IntegerMatrix transpose() const;
  bool operator==(const IntegerMatrix &other) const {
    return numRows == other.numRows && numColumns == other.numColumns && entries == other.entries;
  }

  /// This times `other`, or times a column vector; none on overflow. The sizes must fit.
  std::optional<IntegerMatrix> multiply(const IntegerMatrix &other) const;
  std::optional<llvm::SmallVector<int64_t>> apply(llvm::ArrayRef<int64_t> vector) const;

  /// Of a square matrix; none on overflow.
  std::optional<int64_t> determinant() const;
  /// Square, of determinant 1 or -1.
  bool isUnimodular() const;
  /// The inverse, which is an integer matrix; none when this is not unimodular, or on overflow.
  std::optional<IntegerMatrix> inverse() const;

  /// `[[0, 1, 1], [0, 1, 0], [1, 0, 0]]`.
  std::string str() const;

private:
  unsigned numRows, numColumns;
  llvm::SmallVector<int64_t, 16> entries;
};

/// `a · unimodular = form`: column echelon form with positive pivots, the entries
/// left of a pivot in [0, pivot). The first `rank` columns of `form` are not zero.
struct HermiteForm {
  IntegerMatrix form, unimodular;
  unsigned rank;
};
std::optional<HermiteForm> computeHermiteForm(const IntegerMatrix &a);

/// A basis, as rows, of the integer vectors v with a·v = 0; canonical (its own
/// echelon form), so that equal null spaces have equal bases.
std::optional<IntegerMatrix> computeNullSpace(const IntegerMatrix &a);

/// Whether the rows are part of a basis of all integer vectors.
bool isPrimitive(const IntegerMatrix &rows);

/// A unimodular matrix whose first rows are `rows`. The others are unit vectors,
/// in the order of `preferred`, as long as some fit; general ones after that.
/// None when the rows are not primitive, or on overflow.
std::optional<IntegerMatrix> completeUnimodular(const IntegerMatrix &rows,
                                                llvm::ArrayRef<unsigned> preferred);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_INTEGERMATRIX_H
