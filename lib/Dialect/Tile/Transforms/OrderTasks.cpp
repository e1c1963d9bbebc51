//===- OrderTasks.cpp - long tasks first ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thread blocks take tasks in turn: task t is (t / n, t mod n), where those with a
// great t mod n take long. The long ones of many t / n come first, so that what is
// left at the end is short. Every second turn goes backwards through the blocks, as
// who got the longest of one turn gets the shortest of the next. What the tasks of so
// many t / n read in common stays in the cache meanwhile.
//
//===----------------------------------------------------------------------===//
#include "OrderTasks.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"


using namespace mlir;
using namespace mlir::tile;

namespace {
/// The loop over a thread block's tasks, with the digits of their numbers.
struct Tasks {
  scf::ForOp loop;
  arith::RemUIOp inner; // t mod n
  arith::DivUIOp outer; // t / n
  Value count;          // of outer ones

  bool find(scf::ForOp around, Value longer);
  void order();
};
} // namespace

static bool isGridSize(Value value) {
  auto extended = value.getDefiningOp<arith::ExtUIOp>();
  return extended && extended.getIn().getDefiningOp<NVVM::GridDimXOp>();
}

bool Tasks::find(scf::ForOp around, Value longer) {
  if (auto product = longer.getDefiningOp<arith::MulIOp>())
    return find(around, product.getLhs()) || find(around, product.getRhs());
  inner = longer.getDefiningOp<arith::RemUIOp>();
  auto argument = inner ? dyn_cast<BlockArgument>(inner.getLhs()) : BlockArgument();
  loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || !loop->hasAttr(tile::names::inTurn) || loop.getInductionVar() != argument || !loop->isAncestor(around) || !isGridSize(loop.getStep()))
    return false;
  for (Operation *user : argument.getUsers()) {
    auto quotient = dyn_cast<arith::DivUIOp>(user);
    if (quotient && quotient.getLhs() == argument && quotient.getRhs() == inner.getRhs() && !outer)
      outer = quotient;
    else if (user != inner)
      return false;
  }
  auto total = loop.getUpperBound().getDefiningOp<arith::MulIOp>();
  if (!total || !outer)
    return false;
  count = total.getRhs() == inner.getRhs() ? total.getLhs() : total.getLhs() == inner.getRhs() ? total.getRhs() : Value();
  return bool(count);
}

/// How many turns of all blocks a group of tasks is: the fewest of these, an even number, that whole groups of `length` fill. Else each group would begin
/// with other blocks, and some get more long tasks than others.
static Value turnsOf(ImplicitLocOpBuilder &b, Value blocks, Value length) {
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 64); };
  constexpr int64_t counts[] = {2, 4, 8, 16}, otherwise = 8;
  SmallVector<Value> rests = {arith::RemUIOp::create(b, arith::MulIOp::create(b, blocks, number(counts[0])), length)};
  while (rests.size() < std::size(counts)) { // (twice as many turns leave twice the rest)
    Value twice = arith::AddIOp::create(b, rests.back(), rests.back()), less = arith::SubIOp::create(b, twice, length);
    rests.push_back(arith::SelectOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::uge, twice, length), less, twice));
  }
  Value turns = number(otherwise);
  for (auto [count, rest] : llvm::reverse(llvm::zip_equal(counts, rests)))
    turns = arith::SelectOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, number(0)), number(count), turns);
  return turns;
}

void Tasks::order() {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 64); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, x, y); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubIOp::create(b, x, y); };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, x, y); };
  auto div = [&](Value x, Value y) -> Value { return arith::DivUIOp::create(b, x, y); };
  auto least = [&](Value x, Value y) -> Value { return arith::MinSIOp::create(b, x, y); };
  Value blocks = loop.getStep(), own = loop.getLowerBound(), length = inner.getRhs(), one = number(1);
  Value some = arith::MaxSIOp::create(b, length, one), wanted = div(add(mul(blocks, turnsOf(b, blocks, some)), sub(some, one)), some);
  Value group = arith::MaxSIOp::create(b, least(wanted, count), one), ofGroup = mul(group, some);
  b.setInsertionPointToStart(loop.getBody());
  Value turn = div(sub(loop.getInductionVar(), own), blocks), first = mul(turn, blocks);
  Value size = least(blocks, sub(loop.getUpperBound(), first));
  Value isBack = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, turn, one), number(0));
  Value place = add(first, arith::SelectOp::create(b, isBack, sub(sub(size, one), own), own));
  Value before = div(place, ofGroup), begin = mul(before, group), here = least(group, sub(count, begin));
  Value within = sub(place, mul(before, ofGroup));
  Value high = sub(sub(length, one), div(within, here)), low = add(begin, arith::RemUIOp::create(b, within, here));
  inner.replaceAllUsesWith(high);
  outer.replaceAllUsesWith(low);
  inner.erase();
  outer.erase();
}

bool mlir::tile::orderTasks(scf::ForOp loop, Value longer) {
  Tasks tasks;
  if (!tasks.find(loop, longer))
    return false;
  tasks.order();
  return true;
}
