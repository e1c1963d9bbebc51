//===- Order.cpp - which of two iterations runs first ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first step in which two paths differ decides: a textual step by position,
// a sequential loop by its key; a parallel loop leaves them without an order, and
// so do units that do not wait for each other (Waits.cpp).
//
//===----------------------------------------------------------------------===//
#include "Order.h"

using namespace mlir;
using mlir::etdg::LoopLevel;
using namespace mlir::etdg::validator;

namespace {
using Visit = llvm::function_ref<bool(const NotBefore &)>;

bool visitSet(Conjunction set, const Step *step, bool unordered, Visit visit, LoopLevel unwaited = LoopLevel::None) {
  if (set.isProvedEmpty())
    return true;
  NotBefore found;
  found.set = std::move(set);
  found.at = step;
  found.unordered = unordered;
  found.unwaited = unwaited;
  return visit(found);
}

/// x runs before y on `set`, by step number `at`: the iterations that units run which do not wait.
bool visitUnwaited(const Conjunction &set, const Iteration &x, const Iteration &y, size_t at, Visit visit) {
  Unwaited unwaited = findUnwaited(*x.leaf, *y.leaf, at);
  if (unwaited.level == LoopLevel::None)
    return true;
  const Step *step = &x.leaf->path[at];
  if (unwaited.keys.empty())
    return visitSet(set, step, false, visit, unwaited.level);
  for (unsigned key : unwaited.keys) {
    Row distance = y.keys[key].minus(x.keys[key]);
    for (const Row &way : {distance, distance.negated()}) {
      Conjunction apart = set;
      apart.addNegated(way);
      if (!visitSet(std::move(apart), step, false, visit, unwaited.level))
        return false;
    }
  }
  return true;
}
} // namespace

bool etdg::validator::forEachNotBefore(const Conjunction &base, const Iteration &x,
                                       const Iteration &y, Visit visit) {
  Conjunction set = base; // they agree in all steps so far
  size_t at = 0;
  for (auto [stepX, stepY] : llvm::zip(x.leaf->path, y.leaf->path)) {
    size_t here = at++;
    if (stepX.kind == Step::Text) {
      if (stepX.position == stepY.position)
        continue;
      if (stepX.unordered)
        return visitSet(set, &stepX, true, visit);
      return stepX.position < stepY.position ? visitUnwaited(set, x, y, here, visit) : visitSet(set, &stepX, false, visit);
    }
    Row distance = y.keys[stepY.key].minus(x.keys[stepX.key]);
    if (distance.isConstant() && !distance.overflow) {
      if (distance.constant == 0)
        continue;
      if (stepX.unordered)
        return visitSet(set, &stepX, true, visit);
      return distance.constant > 0 ? visitUnwaited(set, x, y, here, visit) : visitSet(set, &stepX, false, visit);
    }
    Conjunction less = set;
    less.addNegated(distance);
    if (!visitSet(std::move(less), &stepX, stepX.unordered, visit))
      return false;
    if (stepX.unordered || findUnwaited(*x.leaf, *y.leaf, here).level != LoopLevel::None) {
      Conjunction more = set;
      more.addNegated(distance.negated());
      if (!(stepX.unordered ? visitSet(std::move(more), &stepX, true, visit) : visitUnwaited(more, x, y, here, visit)))
        return false;
    }
    set.addEq(distance);
    if (set.isFalse())
      return true;
  }
  return visitSet(std::move(set), nullptr, false, visit);
}
