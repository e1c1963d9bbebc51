//===- AccessMatrix.cpp - M·i + o of an access map ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads coefficients off affine expressions; null spaces of their matrices.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/AccessMatrix.h"

using namespace mlir;
using namespace mlir::etdg;

bool AccessRow::isConstant() const {
  return isLinear && llvm::all_of(dims, [](int64_t c) { return c == 0; });
}

bool AccessMatrix::isLinear() const {
  return llvm::all_of(rows, [](const AccessRow &row) { return row.isLinear; });
}

IntegerMatrix AccessMatrix::getLinearPart(unsigned from, unsigned count) const {
  IntegerMatrix result(0, count);
  for (const AccessRow &row : rows)
    result.appendRow(ArrayRef(row.dims).slice(from, count));
  return result;
}

/// Adds factor · expr; returns whether it is linear and fits.
static bool addLinear(AccessRow &row, AffineExpr expr, int64_t factor,
                      ArrayRef<StringAttr> symbolNames, const SymbolSpace &space) {
  auto addTo = [&](int64_t &to, int64_t value) { return !llvm::AddOverflow(to, value, to); };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    int64_t product;
    return !llvm::MulOverflow(factor, constant.getValue(), product) && addTo(row.offset, product);
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < row.dims.size() && addTo(row.dims[dim.getPosition()], factor);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    if (symbol.getPosition() >= symbolNames.size())
      return false;
    std::optional<unsigned> index = space.find(symbolNames[symbol.getPosition()].getValue());
    return index && addTo(row.symbols[*index], factor);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(row, binary.getLHS(), factor, symbolNames, space) &&
           addLinear(row, binary.getRHS(), factor, symbolNames, space);
  if (expr.getKind() != AffineExprKind::Mul)
    return false;
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (isa<AffineConstantExpr>(lhs))
    std::swap(lhs, rhs);
  auto constant = dyn_cast<AffineConstantExpr>(rhs);
  int64_t product;
  return constant && !llvm::MulOverflow(factor, constant.getValue(), product) &&
         addLinear(row, lhs, product, symbolNames, space);
}

/// Which variables occur, for a row that is not linear.
static void markOccurring(AccessRow &row, AffineExpr expr) {
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      if (dim.getPosition() < row.dims.size())
        row.dims[dim.getPosition()] = 1;
  });
}

AccessRow etdg::getAccessRow(AffineExpr expr, unsigned numPoint, ArrayRef<StringAttr> symbolNames,
                             const SymbolSpace &space) {
  AccessRow row;
  row.dims.assign(numPoint, 0);
  row.symbols.assign(space.size(), 0);
  if (addLinear(row, expr, 1, symbolNames, space))
    return row;
  row.dims.assign(numPoint, 0);
  row.symbols.assign(space.size(), 0);
  row.offset = 0;
  row.isLinear = false;
  markOccurring(row, expr);
  return row;
}

AccessMatrix etdg::getAccessMatrix(Access &access, const SymbolSpace &space) {
  AccessMatrix matrix;
  matrix.depth = access.getBufferType().getDepth();
  SmallVector<StringAttr> symbols = access.block.getSymbolNames();
  unsigned numPoint = access.getPointSize();
  for (auto [i, result] : llvm::enumerate(access.map.getResults())) {
    const GatherAttr *gather = access.getGather(i);
    if (!gather) {
      matrix.rows.push_back(getAccessRow(result, numPoint, symbols, space));
      continue;
    }
    // The index is data, found at the place that the gather's own map says.
    AccessRow row;
    row.dims.assign(numPoint, 0);
    row.symbols.assign(space.size(), 0);
    row.isLinear = false;
    for (AffineExpr expr : gather->getMap().getValue().getResults())
      markOccurring(row, expr);
    matrix.rows.push_back(std::move(row));
  }
  return matrix;
}

std::optional<IntegerMatrix> etdg::getNullSpace(const AccessMatrix &matrix, unsigned from,
                                                unsigned count) {
  IntegerMatrix rows(0, count);
  for (const AccessRow &row : matrix.rows) {
    ArrayRef<int64_t> part = ArrayRef(row.dims).slice(from, count);
    if (row.isLinear) {
      rows.appendRow(part);
      continue;
    }
    for (unsigned d = 0; d < count; ++d)
      if (part[d]) {
        SmallVector<int64_t> unit(count, 0);
        unit[d] = 1;
        rows.appendRow(unit);
      }
  }
  return computeNullSpace(rows);
}

DimRelation etdg::relateDimension(const GraphAccesses &accesses, BlockOp block, unsigned dim,
                                  Value buffer, const SymbolSpace &space) {
  DimRelation relation = DimRelation::NonAccess;
  // A buffer that is private to an iteration of the dimension is another one in each.
  if (getNumOwnerDims(buffer) > dim)
    return DimRelation::Access;
  for (ArrayRef<Access> list : {accesses.getWrites(buffer), accesses.getReads(buffer)})
    for (Access access : list) {
      if (access.block != block && !block->isProperAncestor(access.block))
        continue;
      relation = DimRelation::Invariant;
      for (const AccessRow &row : getAccessMatrix(access, space).rows)
        if (row.dims[dim])
          return DimRelation::Access;
    }
  return relation;
}
