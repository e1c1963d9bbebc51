//===- IntegerMatrix.cpp - exact integer linear algebra -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column operations by the Euclidean algorithm; every product and sum is checked.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/IntegerMatrix.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace mlir::etdg;
using llvm::ArrayRef;
using llvm::SmallVector;

IntegerMatrix IntegerMatrix::identity(unsigned size) {
  IntegerMatrix result(size, size);
  for (unsigned i = 0; i < size; ++i)
    result.at(i, i) = 1;
  return result;
}

IntegerMatrix IntegerMatrix::fromRows(ArrayRef<SmallVector<int64_t>> rows, unsigned numColumns) {
  IntegerMatrix result(0, numColumns);
  for (ArrayRef<int64_t> row : rows)
    result.appendRow(row);
  return result;
}

SmallVector<int64_t> IntegerMatrix::getColumn(unsigned column) const {
  SmallVector<int64_t> result;
  for (unsigned r = 0; r < numRows; ++r)
    result.push_back(at(r, column));
  return result;
}

void IntegerMatrix::appendRow(ArrayRef<int64_t> row) {
  assert(row.size() == numColumns);
  entries.append(row.begin(), row.end());
  ++numRows;
}

IntegerMatrix IntegerMatrix::transpose() const {
  IntegerMatrix result(numColumns, numRows);
  for (unsigned r = 0; r < numRows; ++r)
    for (unsigned c = 0; c < numColumns; ++c)
      result.at(c, r) = at(r, c);
  return result;
}

/// to += factor · value; returns whether it fits, and its negative too.
static bool addProduct(int64_t &to, int64_t factor, int64_t value) {
  int64_t product;
  return !llvm::MulOverflow(factor, value, product) && !llvm::AddOverflow(to, product, to) &&
         to != std::numeric_limits<int64_t>::min();
}

std::optional<IntegerMatrix> IntegerMatrix::multiply(const IntegerMatrix &other) const {
  assert(numColumns == other.numRows);
  IntegerMatrix result(numRows, other.numColumns);
  for (unsigned r = 0; r < numRows; ++r)
    for (unsigned c = 0; c < other.numColumns; ++c)
      for (unsigned k = 0; k < numColumns; ++k)
        if (!addProduct(result.at(r, c), at(r, k), other.at(k, c)))
          return std::nullopt;
  return result;
}

std::optional<SmallVector<int64_t>> IntegerMatrix::apply(ArrayRef<int64_t> vector) const {
  assert(vector.size() == numColumns);
  SmallVector<int64_t> result(numRows, 0);
  for (unsigned r = 0; r < numRows; ++r)
    for (unsigned c = 0; c < numColumns; ++c)
      if (!addProduct(result[r], at(r, c), vector[c]))
        return std::nullopt;
  return result;
}

std::string IntegerMatrix::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  for (unsigned r = 0; r < numRows; ++r) {
    os << (r ? ", [" : "[");
    llvm::interleaveComma(getRow(r), os);
    os << "]";
  }
  os << "]";
  return text;
}

//===----------------------------------------------------------------------===//
// Hermite form
//===----------------------------------------------------------------------===//

namespace {
/// Column operations on a matrix and, alike, on the transformation. `sign` is
/// the determinant of what was done so far.
struct Columns {
  IntegerMatrix a, u;
  int sign = 1;

  void swap(unsigned x, unsigned y) {
    if (x == y)
      return;
    for (IntegerMatrix *m : {&a, &u})
      for (unsigned r = 0; r < m->getNumRows(); ++r)
        std::swap(m->at(r, x), m->at(r, y));
    sign = -sign;
  }
  bool negate(unsigned x) {
    sign = -sign;
    for (IntegerMatrix *m : {&a, &u})
      for (unsigned r = 0; r < m->getNumRows(); ++r)
        if (llvm::SubOverflow(int64_t(0), m->at(r, x), m->at(r, x)))
          return false;
    return true;
  }
  /// Column x += factor · column y.
  bool add(unsigned x, int64_t factor, unsigned y) {
    for (IntegerMatrix *m : {&a, &u})
      for (unsigned r = 0; r < m->getNumRows(); ++r)
        if (!addProduct(m->at(r, x), factor, m->at(r, y)))
          return false;
    return true;
  }
};
} // namespace

static int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// The Hermite form; in `sign`, the determinant of the column operations.
static std::optional<HermiteForm> compute(const IntegerMatrix &given, int &sign) {
  unsigned numColumns = given.getNumColumns();
  Columns columns{given, IntegerMatrix::identity(numColumns)};
  IntegerMatrix &a = columns.a;
  for (int64_t r = 0; r < given.getNumRows(); ++r)
    for (int64_t entry : given.getRow(r))
      if (entry == std::numeric_limits<int64_t>::min())
        return std::nullopt;
  unsigned rank = 0;
  for (unsigned r = 0; r < a.getNumRows() && rank < numColumns; ++r) {
    // Euclid among columns [rank, …) until one entry of the row is left.
    while (true) {
      unsigned pivot = numColumns, others = 0;
      for (unsigned c = rank; c < numColumns; ++c) {
        if (a.at(r, c) == 0)
          continue;
        ++others;
        if (pivot == numColumns || std::abs(a.at(r, c)) < std::abs(a.at(r, pivot)))
          pivot = c;
      }
      if (pivot == numColumns)
        break;
      columns.swap(rank, pivot);
      if (a.at(r, rank) < 0 && !columns.negate(rank))
        return std::nullopt;
      if (others == 1)
        break;
      for (unsigned c = rank + 1; c < numColumns; ++c)
        if (a.at(r, c) != 0 && !columns.add(c, -floorDiv(a.at(r, c), a.at(r, rank)), rank))
          return std::nullopt;
    }
    if (a.at(r, rank) == 0)
      continue;
    for (unsigned c = 0; c < rank; ++c)
      if (int64_t q = floorDiv(a.at(r, c), a.at(r, rank)); q != 0 && !columns.add(c, -q, rank))
        return std::nullopt;
    ++rank;
  }
  sign = columns.sign;
  return HermiteForm{columns.a, columns.u, rank};
}

std::optional<HermiteForm> mlir::etdg::computeHermiteForm(const IntegerMatrix &a) {
  int sign;
  return compute(a, sign);
}

std::optional<int64_t> IntegerMatrix::determinant() const {
  assert(numRows == numColumns);
  int sign = 1;
  std::optional<HermiteForm> hermite = compute(*this, sign);
  if (!hermite)
    return std::nullopt;
  if (hermite->rank < numRows)
    return 0;
  int64_t result = sign;
  for (unsigned i = 0; i < numRows; ++i)
    if (llvm::MulOverflow(result, hermite->form.at(i, i), result))
      return std::nullopt;
  return result;
}

bool IntegerMatrix::isUnimodular() const {
  if (numRows != numColumns)
    return false;
  std::optional<int64_t> d = determinant();
  return d && (*d == 1 || *d == -1);
}

std::optional<IntegerMatrix> IntegerMatrix::inverse() const {
  if (numRows != numColumns)
    return std::nullopt;
  // The form of a unimodular matrix is the identity: a · u = 1.
  std::optional<HermiteForm> hermite = computeHermiteForm(*this);
  if (!hermite || !(hermite->form == identity(numRows)))
    return std::nullopt;
  return hermite->unimodular;
}

std::optional<IntegerMatrix> mlir::etdg::computeNullSpace(const IntegerMatrix &a) {
  std::optional<HermiteForm> hermite = computeHermiteForm(a);
  if (!hermite)
    return std::nullopt;
  // The columns that became zero; an integer basis because `unimodular` is one.
  unsigned n = a.getNumColumns();
  IntegerMatrix basis(0, n);
  for (unsigned c = hermite->rank; c < n; ++c)
    basis.appendRow(hermite->unimodular.getColumn(c));
  std::optional<HermiteForm> canonical = computeHermiteForm(basis.transpose());
  if (!canonical)
    return std::nullopt;
  return canonical->form.transpose();
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

bool mlir::etdg::isPrimitive(const IntegerMatrix &rows) {
  std::optional<HermiteForm> hermite = computeHermiteForm(rows);
  if (!hermite || hermite->rank < rows.getNumRows())
    return false;
  for (unsigned i = 0; i < rows.getNumRows(); ++i)
    if (hermite->form.at(i, i) != 1)
      return false;
  return true;
}

std::optional<IntegerMatrix> mlir::etdg::completeUnimodular(const IntegerMatrix &given,
                                                            ArrayRef<unsigned> preferred) {
  if (!isPrimitive(given))
    return std::nullopt;
  IntegerMatrix rows = given;
  unsigned n = given.getNumColumns();
  for (unsigned d : preferred) {
    if (rows.getNumRows() == n)
      return rows;
    SmallVector<int64_t> unit(n, 0);
    unit[d] = 1;
    IntegerMatrix with = rows;
    with.appendRow(unit);
    if (isPrimitive(with))
      rows = with;
  }
  if (rows.getNumRows() == n)
    return rows;
  // rows · u = [1 0], so the inverse of u begins with the rows.
  std::optional<HermiteForm> hermite = computeHermiteForm(rows);
  if (!hermite)
    return std::nullopt;
  return hermite->unimodular.inverse();
}
