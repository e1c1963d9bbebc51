//===- AffineEval.h - values of affine expressions, for enumerations ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests enumerate with. It calls nothing of the code that they judge.
//
//===----------------------------------------------------------------------===//
#ifndef FTTEST_AFFINEEVAL_H
#define FTTEST_AFFINEEVAL_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"

namespace mlir::ft::test {

inline int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

inline int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), dims, symbols),
          b = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return floorDiv(a, b);
  case AffineExprKind::CeilDiv:
    return -floorDiv(-a, b);
  default:
    return a - b * floorDiv(a, b);
  }
}

inline bool contains(IntegerSet set, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    int64_t value = evaluate(set.getConstraint(i), dims, symbols);
    if (set.isEq(i) ? value != 0 : value < 0)
      return false;
  }
  return true;
}

} // namespace mlir::ft::test

#endif // FTTEST_AFFINEEVAL_H
