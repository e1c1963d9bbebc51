//===- Waits.cpp - do units wait between two iterations? ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units (cores, thread blocks) share the iterations of dealt loops. What one of them has written another sees when both have
// waited: after an iteration of a loop with `sync`, or where a nest says `before`. Of two iterations that differ first in some
// step, units share what is dealt further in; what is dealt outside of it has given both to the same unit.
//
//===----------------------------------------------------------------------===//
#include "Order.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

/// Whether all units of a level have waited where those of `sync` have.
static bool isEnough(SyncKind sync, LoopLevel level) {
  switch (level) {
  case LoopLevel::Core:
    return sync == SyncKind::Cores || sync == SyncKind::Kernel;
  case LoopLevel::Grid:
    return sync == SyncKind::Grid || sync == SyncKind::Kernel;
  case LoopLevel::Cluster:
    return sync == SyncKind::Cluster || isEnough(sync, LoopLevel::Grid);
  default:
    return sync == SyncKind::Block || isEnough(sync, LoopLevel::Cluster);
  }
}

namespace {
/// What of a path stands further in than step `at`.
struct Inside {
  Inside(const Leaf &leaf, size_t at) : leaf(leaf), at(at) {
    dealt = leaf.dealt;
    while (!dealt.empty() && dealt.front().step <= at)
      dealt = dealt.drop_front();
  }
  /// The steps that all units take together: up to the first that is dealt.
  ArrayRef<Step> together() const {
    size_t end = dealt.empty() ? leaf.path.size() : dealt.front().step;
    return ArrayRef<Step>(leaf.path).slice(at + 1, std::max(end, at + 1) - (at + 1));
  }
  const Leaf &leaf;
  size_t at;
  ArrayRef<Dealt> dealt;
};

/// Whether units wait between x and y at all levels that run them.
class Waits {
public:
  Waits(const Inside &x, const Inside &y) : x(x), y(y) {
    for (const Inside *inside : {&x, &y})
      for (const Dealt &dealt : inside->dealt)
        levels.push_back(dealt.level);
  }
  bool areThere() const {
    const Step &stepX = x.leaf.path[x.at], &stepY = y.leaf.path[y.at];
    if (stepX.kind == Step::Key ? isWait(stepX.sync) && isWait(stepY.sync) : isBetween(stepX, stepX.position, stepY.position))
      return true;
    // After x: iterations of loops that end, what follows it in a body. In front of y: what stands before it there.
    auto isBehind = [&](const Step &step) {
      return step.kind == Step::Key ? isWait(step.sync) : isBetween(step, step.position, step.waits ? step.waits->size() - 1 : 0);
    };
    auto isInFront = [&](const Step &step) { return step.kind == Step::Text && isBetween(step, -1, step.position); };
    return llvm::any_of(x.together(), isBehind) || llvm::any_of(y.together(), isInFront);
  }

private:
  bool isWait(SyncKind sync) const {
    return llvm::all_of(levels, [&](LoopLevel level) { return isEnough(sync, level); });
  }
  /// Whether units wait after operation number `from` of a body and in front of number `to`.
  bool isBetween(const Step &body, int64_t from, int64_t to) const {
    bool onCpu = llvm::all_of(levels, [](LoopLevel level) { return level == LoopLevel::Core; });
    if (from >= 0 && from < to && (body.launches == Step::OfAll || (body.launches == Step::OfCpus && onCpu)))
      return true;
    for (int64_t i = from + 1; body.waits && i <= to; ++i)
      if (isWait((*body.waits)[i]))
        return true;
    return false;
  }

  const Inside &x, &y;
  SmallVector<LoopLevel> levels;
};
} // namespace

Unwaited etdg::validator::findUnwaited(const Leaf &x, const Leaf &y, size_t at) {
  Inside insideX(x, at), insideY(y, at);
  Unwaited result;
  // What is not dealt the first unit runs.
  if ((insideX.dealt.empty() && insideY.dealt.empty()) || Waits(insideX, insideY).areThere())
    return result;
  result.level = (insideX.dealt.empty() ? insideY : insideX).dealt.front().level;
  if (insideX.dealt.size() != insideY.dealt.size())
    return result;
  for (auto [dealtX, dealtY] : llvm::zip_equal(insideX.dealt, insideY.dealt)) {
    if (!dealtX.isFixed || !dealtY.isFixed || dealtX.loop != dealtY.loop) {
      result.keys.clear();
      return result;
    }
    result.keys.push_back(dealtX.key);
  }
  return result;
}
