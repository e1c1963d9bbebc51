//===- Guards.cpp - branches of a launch plan -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LaunchPlan/Guards.h"

#include "ft/Conversion/LaunchPlan/Entry.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

rt::Expr mlir::ft::getHostGuard(etdg::GuardAttr guard, ArrayRef<StringAttr> symbols) {
  std::optional<rt::Expr> least;
  for (ArrayAttr factors : guard.getProducts()) {
    rt::Expr product = 1;
    for (auto length : factors.getAsRange<LengthAttr>())
      product = product * rt::Expr::binary(rt::Expr::max, toHostExpr(length.getExpr(), length.getNames(), symbols), 0);
    least = least ? rt::Expr::binary(rt::Expr::min, *least, product) : product;
  }
  return rt::Expr(guard.getLimit() - 1) - *least;
}
