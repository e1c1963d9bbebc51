//===- ScheduledOrder.cpp - the order that schedules give -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/ScheduledOrder.h"
#include "ft/Analysis/Accesses.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// A loop around a block: an expression over its iteration vector.
struct Row {
  AffineExpr expr;
  bool parallel;
};
} // namespace

/// The loops that run the block's own dimensions, outermost first.
static SmallVector<Row> getRows(BlockOp block, bool mapIsUnordered) {
  MLIRContext *context = block.getContext();
  ScheduleAttr schedule = block.getEffectiveSchedule();
  unsigned first = block.getNumAncestors(), numOwn = block.getNumOwnDims();
  SmallVector<Row> rows;
  SmallVector<AffineExpr> own;
  for (unsigned d = 0; d < numOwn; ++d)
    own.push_back(getAffineDimExpr(first + d, context));
  if (!schedule) {
    SmallVector<BlockOp> blocks = blocksOf(block.getScheduledOp());
    for (unsigned d = 0; d < numOwn; ++d)
      rows.push_back({own[d], mapIsUnordered && llvm::all_of(blocks, [&](BlockOp b) {
                                return b.getOperator(d) == ft::OperatorKind::Map;
                              })});
    return rows;
  }
  AffineMap map = schedule.getMap().getValue();
  llvm::SmallBitVector seen(map.getNumResults());
  for (LoopAttr loop : schedule.getPointLoops()) {
    AffineExpr row = map.getResult(loop.getDimension()).replaceDims(own);
    if (loop.getProvenTile() > 1)
      row = row.floorDiv(loop.getProvenTile());
    else
      seen.set(loop.getDimension());
    rows.push_back({row, loop.isParallel()});
  }
  for (unsigned r = 0; r < map.getNumResults(); ++r)
    if (!seen.test(r))
      rows.push_back({map.getResult(r).replaceDims(own), false});
  return rows;
}

namespace {
class Cases {
public:
  SmallVector<OrderCase> all;
  void decide(Order order) { all.push_back({equal, std::nullopt, false, order}); }
  void compare(const Row &x, const Row &y) {
    bool parallel = x.parallel && y.parallel;
    OrderCase::Pair pair{x.expr, y.expr};
    all.push_back({equal, pair, true, parallel ? Order::Unordered : Order::Before});
    all.push_back({equal, pair, false, parallel ? Order::Unordered : Order::After});
    equal.push_back(pair);
  }

private:
  SmallVector<OrderCase::Pair> equal;
};
} // namespace

/// Whether thread blocks run two nests of a kernel side by side: in an iteration of what these share the points of each are dealt, and nothing waits in
/// between.
static bool areSideBySide(Operation *first, Operation *last, unsigned shared) {
  if (!isTextuallyBefore(first, last))
    std::swap(first, last);
  auto hasOwn = [&](Operation *item, auto holds) {
    ScheduleAttr schedule = scheduleOf(item);
    return schedule && llvm::any_of(schedule.getLoops(), [&](LoopAttr loop) { return loop.getDimension() >= int64_t(shared) && holds(loop); });
  };
  auto isDealt = [](LoopAttr loop) { return loop.getLevel() == LoopLevel::Grid; };
  // (Steps of its own end in a wait each.)
  if (!hasOwn(first, isDealt) || !hasOwn(last, isDealt) || hasOwn(first, [](LoopAttr loop) { return loop.getSync() != SyncKind::None; }))
    return false;
  for (Operation *item = first->getNextNode(); item; item = item->getNextNode()) {
    if (ScheduleAttr schedule = scheduleOf(item); schedule && schedule.getBefore() != SyncKind::None)
      return false;
    if (item == last)
      return true;
  }
  return false;
}

SmallVector<OrderCase> etdg::getOrderCases(BlockOp x, BlockOp y, bool mapIsUnordered) {
  Cases cases;
  for (auto [a, b] : llvm::zip(getBlockChain(x), getBlockChain(y))) {
    Operation *itemA = getItem(a), *itemB = getItem(b);
    SmallVector<Row> rowsA = getRows(a, mapIsUnordered), rowsB = getRows(b, mapIsUnordered);
    if (itemA != itemB) {
      auto kernel = dyn_cast<KernelOp>(itemA->getParentOp());
      const bool together = kernel && kernel == itemB->getParentOp();
      for (unsigned r = 0; together && r < kernel.getShared() && r < rowsA.size() && r < rowsB.size(); ++r)
        cases.compare(rowsA[r], rowsB[r]);
      cases.decide(together && areSideBySide(itemA, itemB, unsigned(kernel.getShared())) ? Order::Unordered : isTextuallyBefore(itemA, itemB) ? Order::Before : Order::After);
      return cases.all;
    }
    for (auto [rowA, rowB] : llvm::zip(rowsA, rowsB))
      cases.compare(rowA, rowB);
    if (a != b)
      return cases.all; // regions of a nest are disjoint: never the same point
  }
  cases.decide(Order::Same);
  return cases.all;
}

SmallVector<OrderCase> etdg::getCasesWithin(unsigned numShared, ArrayRef<OrderCase> cases) {
  auto agrees = [&](const OrderCase::Pair &pair) {
    bool isShared = pair.first == pair.second;
    pair.first.walk([&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      isShared &= !dim || dim.getPosition() < numShared;
    });
    return isShared;
  };
  SmallVector<OrderCase> within;
  for (const OrderCase &one : cases) {
    if (one.decides && agrees(*one.decides))
      continue;
    within.push_back(one);
    llvm::erase_if(within.back().equal, agrees);
  }
  return within;
}

LogicalResult etdg::addOrderCase(SetBuilder &builder, const OrderCase &orderCase, unsigned offsetX,
                                 unsigned offsetY) {
  auto difference = [&](const OrderCase::Pair &pair) -> std::optional<LinearExpr> {
    std::optional<LinearExpr> x = builder.flatten(pair.first, {}, offsetX);
    std::optional<LinearExpr> y = builder.flatten(pair.second, {}, offsetY);
    if (!x || !y)
      return std::nullopt;
    *x *= -1;
    *x += *y;
    return x;
  };
  for (const OrderCase::Pair &pair : orderCase.equal) {
    std::optional<LinearExpr> zero = difference(pair);
    if (!zero)
      return failure();
    builder.add(*zero, /*isEq=*/true);
  }
  if (orderCase.decides) {
    std::optional<LinearExpr> gap = difference(*orderCase.decides);
    if (!gap)
      return failure();
    if (!orderCase.isLess)
      *gap *= -1;
    gap->constant -= 1;
    builder.add(*gap, /*isEq=*/false);
  }
  return success();
}

SmallVector<AffineExpr> etdg::getSequentialRows(BlockOp block) {
  SmallVector<AffineExpr> rows;
  for (BlockOp b : getBlockChain(block))
    for (const Row &row : getRows(b, /*mapIsUnordered=*/true))
      if (!row.parallel)
        rows.push_back(row.expr);
  return rows;
}

SmallVector<unsigned> etdg::getDealtDims(BlockOp block) {
  SmallVector<unsigned> dims;
  for (BlockOp b : getBlockChain(block)) {
    ScheduleAttr schedule = b.getEffectiveSchedule();
    if (!schedule || !schedule.getMap().getValue().isIdentity())
      continue;
    for (LoopAttr loop : schedule.getPointLoops())
      if (loop.getLevel() == LoopLevel::Grid)
        dims.push_back(b.getNumAncestors() + loop.getDimension());
  }
  return dims;
}
