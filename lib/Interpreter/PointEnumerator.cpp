//===- PointEnumerator.cpp - The integer points of a set ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds of each dimension come from Fourier–Motzkin elimination of the later
// ones; exactness from asking the set at every point found.
//
//===----------------------------------------------------------------------===//
#include "PointEnumerator.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft::interp;

int64_t mlir::ft::interp::evaluateExpr(AffineExpr expr, ArrayRef<int64_t> dims,
                                       ArrayRef<int64_t> symbols) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue();
  case AffineExprKind::DimId:
    return dims[cast<AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return symbols[cast<AffineSymbolExpr>(expr).getPosition()];
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluateExpr(binary.getLHS(), dims, symbols);
  int64_t rhs = evaluateExpr(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return rhs > 0 ? llvm::divideFloorSigned(lhs, rhs) : 0;
  case AffineExprKind::CeilDiv:
    return rhs > 0 ? llvm::divideCeilSigned(lhs, rhs) : 0;
  default:
    return rhs > 0 ? llvm::mod(lhs, rhs) : 0;
  }
}

bool mlir::ft::interp::containsPoint(IntegerSet set, ArrayRef<int64_t> dims,
                                     ArrayRef<int64_t> symbols) {
  for (auto [i, constraint] : llvm::enumerate(set.getConstraints())) {
    int64_t value = evaluateExpr(constraint, dims, symbols);
    if (set.isEq(i) ? value != 0 : value < 0)
      return false;
  }
  return true;
}

PointEnumerator::PointEnumerator(IntegerSet set, ArrayRef<int64_t> symbols)
    : set(set), symbols(symbols) {
  MLIRContext *context = set.getContext();
  SmallVector<AffineExpr> dims, values;
  for (unsigned i = 0; i < set.getNumDims(); ++i)
    dims.push_back(getAffineDimExpr(i, context));
  for (int64_t symbol : symbols)
    values.push_back(getAffineConstantExpr(symbol, context));
  // With numbers for symbols every product is linear.
  IntegerSet fixed = set.replaceDimsAndSymbols(dims, values, dims.size(), 0);
  FlatLinearValueConstraints constraints(fixed);
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    presburger::IntegerPolyhedron shadow(constraints);
    shadow.projectOut(dim + 1, shadow.getNumVars() - dim - 1);
    auto &rows = bounds.emplace_back();
    auto isConstant = [](const Row &row) {
      return llvm::all_of(ArrayRef(row).drop_back(), [](int64_t entry) { return entry == 0; });
    };
    for (unsigned i = 0; i < shadow.getNumInequalities(); ++i) {
      Row row(shadow.getInequality64(i));
      isEmpty |= isConstant(row) && row.back() < 0;
      if (row[dim] != 0)
        rows.push_back(std::move(row));
    }
    for (unsigned i = 0; i < shadow.getNumEqualities(); ++i) {
      Row row(shadow.getEquality64(i));
      isEmpty |= isConstant(row) && row.back() != 0;
      if (row[dim] == 0)
        continue;
      rows.push_back(row);
      for (int64_t &entry : row)
        entry = -entry;
      rows.push_back(std::move(row));
    }
  }
}

LogicalResult PointEnumerator::walk(SmallVectorImpl<int64_t> &point,
                                    llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> fn) {
  unsigned dim = point.size();
  if (dim == bounds.size())
    return containsPoint(set, point, symbols) ? fn(point) : success();
  std::optional<int64_t> lower, upper;
  for (const Row &row : bounds[dim]) {
    int64_t rest = row.back();
    for (unsigned i = 0; i < dim; ++i)
      rest += row[i] * point[i];
    if (row[dim] > 0) {
      int64_t bound = llvm::divideCeilSigned(-rest, row[dim]);
      lower = lower ? std::max(*lower, bound) : bound;
    } else {
      int64_t bound = llvm::divideFloorSigned(rest, -row[dim]);
      upper = upper ? std::min(*upper, bound) : bound;
    }
  }
  if (!lower || !upper) {
    unboundedDim = dim;
    return failure();
  }
  for (int64_t value = *lower; value <= *upper; ++value) {
    point.push_back(value);
    LogicalResult result = walk(point, fn);
    point.pop_back();
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult PointEnumerator::forEach(ArrayRef<int64_t> prefix,
                                       llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> fn) {
  unboundedDim.reset();
  if (isEmpty)
    return success();
  SmallVector<int64_t> point(prefix);
  return walk(point, fn);
}
