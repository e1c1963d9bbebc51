//===- Guards.cpp - branches of a launch plan -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LaunchPlan/Guards.h"

#include "ft/Conversion/LaunchPlan/Entry.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

/// Not negative where the bound is kept: the least of the products is below it, or the greatest reaches it.
static rt::Expr getHostBound(etdg::BoundAttr bound, ArrayRef<StringAttr> symbols) {
  std::optional<rt::Expr> decides;
  for (ArrayAttr factors : bound.getProducts()) {
    rt::Expr product = 1;
    for (auto length : factors.getAsRange<LengthAttr>())
      product = product * rt::Expr::binary(rt::Expr::max, toHostExpr(length.getExpr(), length.getNames(), symbols), 0);
    decides = decides ? rt::Expr::binary(bound.getIsBelow() ? rt::Expr::min : rt::Expr::max, *decides, product) : product;
  }
  return bound.getIsBelow() ? rt::Expr(bound.getLimit() - 1) - *decides : *decides - rt::Expr(bound.getLimit());
}

rt::Expr mlir::ft::getHostGuard(etdg::GuardAttr guard, ArrayRef<StringAttr> symbols) {
  std::optional<rt::Expr> all;
  for (etdg::BoundAttr bound : guard.getBounds()) {
    rt::Expr one = getHostBound(bound, symbols);
    all = all ? rt::Expr::binary(rt::Expr::min, *all, one) : one;
  }
  return *all;
}
