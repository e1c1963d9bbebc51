//===- Order.cpp - which of two iterations runs first ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first step in which two paths differ decides: a textual step by position,
// a sequential loop by its key; a parallel loop leaves them without an order.
//
//===----------------------------------------------------------------------===//
#include "Order.h"

using namespace mlir;
using namespace mlir::etdg::validator;

bool etdg::validator::forEachNotBefore(const Conjunction &base, const Iteration &x,
                                       const Iteration &y,
                                       llvm::function_ref<bool(const NotBefore &)> visit) {
  Conjunction set = base; // they agree in all steps so far
  auto visitSet = [&](Conjunction at, const Step *step, bool unordered) {
    if (at.isProvedEmpty())
      return true;
    NotBefore found;
    found.set = std::move(at);
    found.at = step;
    found.unordered = unordered;
    return visit(found);
  };
  ArrayRef<Step> stepsX = x.leaf->path, stepsY = y.leaf->path;
  for (auto [stepX, stepY] : llvm::zip(stepsX, stepsY)) {
    if (stepX.kind == Step::Text) {
      if (stepX.position == stepY.position)
        continue;
      if (stepX.unordered)
        return visitSet(set, &stepX, true);
      return stepX.position < stepY.position || visitSet(set, &stepX, false);
    }
    Row distance = y.keys[stepY.key].minus(x.keys[stepX.key]);
    if (distance.isConstant() && !distance.overflow) {
      if (distance.constant == 0)
        continue;
      if (stepX.unordered)
        return visitSet(set, &stepX, true);
      return distance.constant > 0 || visitSet(set, &stepX, false);
    }
    Conjunction less = set;
    less.addNegated(distance);
    if (!visitSet(std::move(less), &stepX, stepX.unordered))
      return false;
    if (stepX.unordered) {
      Conjunction more = set;
      more.addNegated(distance.negated());
      if (!visitSet(std::move(more), &stepX, true))
        return false;
    }
    set.addEq(distance);
    if (set.isFalse())
      return true;
  }
  return visitSet(std::move(set), nullptr, false);
}
