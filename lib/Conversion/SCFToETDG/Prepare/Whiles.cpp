//===- Whiles.cpp - loops that end on data, as loops of known length ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An iteration domain can't depend on data. A `scf.while` whose condition also bounds a
// counter (`going and i < n`) has at most so many iterations: it becomes a `scf.for` over
// them that carries whether it is still going on, and whose body stands under that flag.
// Simplify.cpp makes selections of the flag, so that what was carried stays as it is.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

namespace {
/// A number that grows by `step` in each iteration: at iteration t, `init + t * step`.
struct Counter {
  Value init;
  int64_t step = 0;
};

/// `value`, or its negation, holds.
struct Conjunct {
  Value value;
  bool negated;
};

/// `init + offset + t * step` at iteration t.
struct Progress {
  Counter counter;
  int64_t offset;
};

class WhileBounder {
public:
  explicit WhileBounder(scf::WhileOp loop)
      : loop(loop), before(loop.getBeforeBody()), after(loop.getAfterBody()), builder(loop) {}

  /// Replaces the loop; false where nothing bounds it.
  bool replace();

private:
  void findCounters();
  std::optional<int64_t> stepOf(Value next, BlockArgument arg, ArrayRef<Conjunct> flags, unsigned depth = 0);
  bool meets(const Progress &progress, Value end);
  Value findBound();
  void addBounds(ArrayRef<Conjunct> conjuncts, bool ofNext, SmallVectorImpl<Value> &bounds);
  std::optional<Progress> progressOf(Value value);
  Value countOf(const Progress &progress, Value end, bool inclusive, bool ofNext);
  bool isOutside(Value value) { return !loop->isAncestor(value.getParentBlock()->getParentOp()); }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loop.getLoc(), builder.getIntegerAttr(type, value));
  }
  /// Clones a region's operations; the operands of its terminator.
  SmallVector<Value> clone(Block *block, ValueRange arguments);

  scf::WhileOp loop;
  Block *before, *after;
  OpBuilder builder;
  llvm::DenseMap<Value, Counter> counters; // arguments of both regions
};
} // namespace

static bool isConstant(Value value, bool truth) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.getBoolValue() == truth;
}

/// What must hold where `value` does: the parts of conjunctions, also where control flow spells them.
static void collectConjuncts(Conjunct one, SmallVectorImpl<Conjunct> &found, unsigned depth = 0) {
  found.push_back(one);
  Operation *op = one.value.getDefiningOp();
  if (!op || depth > 16)
    return;
  auto add = [&](Value value, bool negated) { collectConjuncts({value, negated}, found, depth + 1); };
  // `c ? yes : no` holds: where one side never does, it is the other one.
  auto choose = [&](Value condition, Value yes, Value no) {
    if (isConstant(no, one.negated)) {
      add(condition, false);
      add(yes, one.negated);
    } else if (isConstant(yes, one.negated)) {
      add(condition, true);
      add(no, one.negated);
    }
  };
  if (auto all = dyn_cast<arith::AndIOp>(op); all && !one.negated) {
    add(all.getLhs(), false);
    add(all.getRhs(), false);
  } else if (auto any = dyn_cast<arith::OrIOp>(op); any && one.negated) {
    add(any.getLhs(), true);
    add(any.getRhs(), true);
  } else if (auto flip = dyn_cast<arith::XOrIOp>(op)) {
    if (isConstant(flip.getRhs(), true))
      add(flip.getLhs(), !one.negated);
    else if (isConstant(flip.getLhs(), true))
      add(flip.getRhs(), !one.negated);
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    choose(select.getCondition(), select.getTrueValue(), select.getFalseValue());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(one.value).getResultNumber();
    choose(branch.getCondition(), branch.thenYield().getOperand(number), branch.elseYield().getOperand(number));
  }
}

/// By how much a counter grows in an iteration after which there is another one. `flags` are values of which each must hold for that:
/// `if n == last: break`, then `n += 1` under a condition, adds 1 wherever the loop goes on.
std::optional<int64_t> WhileBounder::stepOf(Value next, BlockArgument arg, ArrayRef<Conjunct> flags, unsigned depth) {
  if (std::optional<int64_t> step = inductionStep(next, arg))
    return step;
  auto branch = next.getDefiningOp<scf::IfOp>();
  if (!branch || depth > 16)
    return std::nullopt;
  std::optional<int64_t> found;
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    auto valueOf = [&](Value v) { return v.getDefiningOp() == branch ? yield.getOperand(cast<OpResult>(v).getResultNumber()) : v; };
    SmallVector<Conjunct> here, holds;
    for (Conjunct flag : flags)
      here.push_back({valueOf(flag.value), flag.negated});
    collectConjuncts({branch.getCondition(), yield == branch.elseYield()}, holds);
    // The loop ends on this side: what its counter is then does not count.
    auto fails = [&](Conjunct flag) {
      return isConstant(flag.value, flag.negated) || llvm::any_of(holds, [&](Conjunct held) {
               return held.value == flag.value && held.negated != flag.negated;
             });
    };
    if (llvm::any_of(here, fails))
      continue;
    std::optional<int64_t> step = stepOf(valueOf(next), arg, here, depth + 1);
    if (!step || (found && found != step))
      return std::nullopt;
    found = step;
  }
  return found;
}

void WhileBounder::findCounters() {
  SmallVector<Conjunct> now, flags;
  collectConjuncts({loop.getConditionOp().getCondition(), false}, now);
  for (Conjunct conjunct : now)
    if (auto arg = dyn_cast<BlockArgument>(conjunct.value); arg && arg.getOwner() == before)
      flags.push_back({loop.getYieldOp().getOperand(arg.getArgNumber()), conjunct.negated});
  auto forwarded = loop.getConditionOp().getArgs();
  for (auto [k, value] : llvm::enumerate(forwarded)) {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || arg.getOwner() != before || !arg.getType().isIntOrIndex() || arg.getType().isInteger(1))
      continue;
    Value next = loop.getYieldOp().getOperand(arg.getArgNumber());
    if (std::optional<int64_t> step = stepOf(next, after->getArgument(k), flags); step && *step != 0) {
      Counter counter{loop.getInits()[arg.getArgNumber()], *step};
      counters[arg] = counters[after->getArgument(k)] = counter;
    }
  }
}

std::optional<Progress> WhileBounder::progressOf(Value value) {
  int64_t offset = 0;
  while (true) {
    if (auto found = counters.find(value); found != counters.end())
      return Progress{found->second, offset};
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
      value = cast.getIn();
      continue;
    }
    auto sum = value.getDefiningOp<arith::AddIOp>();
    if (!sum)
      return std::nullopt;
    std::optional<int64_t> more = getConstantIntValue(sum.getRhs());
    value = more ? sum.getLhs() : sum.getRhs();
    if (!more)
      more = getConstantIntValue(sum.getLhs());
    if (!more)
      return std::nullopt;
    offset += *more;
  }
}

/// How many iterations there are at most where each needs `init + offset + t * step` to be before `end`.
Value WhileBounder::countOf(const Progress &progress, Value end, bool inclusive, bool ofNext) {
  Location loc = loop.getLoc();
  auto toIndex = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  };
  Type type = builder.getIndexType();
  bool up = progress.counter.step > 0;
  Value first = toIndex(progress.counter.init), last = toIndex(end);
  std::optional<int64_t> firstNumber = getConstantIntValue(progress.counter.init), lastNumber = getConstantIntValue(end);
  int64_t step = std::abs(progress.counter.step), more = (up ? -progress.offset : progress.offset) + inclusive;
  if (firstNumber && lastNumber) {
    int64_t distance = (up ? *lastNumber - *firstNumber : *firstNumber - *lastNumber) + more;
    return constant(type, std::max<int64_t>(0, llvm::divideCeilSigned(distance, step)) + ofNext);
  }
  Value distance = up ? arith::SubIOp::create(builder, loc, last, first).getResult()
                      : arith::SubIOp::create(builder, loc, first, last).getResult();
  distance = arith::AddIOp::create(builder, loc, distance, constant(type, more));
  if (step != 1)
    distance = arith::CeilDivSIOp::create(builder, loc, distance, constant(type, step));
  if (!ofNext)
    return distance;
  distance = arith::MaxSIOp::create(builder, loc, distance, constant(type, 0));
  return arith::AddIOp::create(builder, loc, distance, constant(type, 1));
}

/// Whether a number that begins before `end`, or at it, is `end` at some time: then to be another one is to be before it.
bool WhileBounder::meets(const Progress &progress, Value end) {
  int64_t step = progress.counter.step;
  std::optional<int64_t> init = getConstantIntValue(progress.counter.init), last = getConstantIntValue(end);
  if (!init)
    return false;
  int64_t distance = last ? *last - *init - progress.offset : 0;
  if (last)
    return distance % step == 0 && distance / step >= 0;
  // A size is at least 0.
  return end.getDefiningOp<tensor::DimOp>() && step == 1 && *init + progress.offset <= 0;
}

void WhileBounder::addBounds(ArrayRef<Conjunct> conjuncts, bool ofNext, SmallVectorImpl<Value> &bounds) {
  using Predicate = arith::CmpIPredicate;
  for (Conjunct conjunct : conjuncts) {
    auto compare = conjunct.value.getDefiningOp<arith::CmpIOp>();
    if (!compare)
      continue;
    Predicate predicate = conjunct.negated ? arith::invertPredicate(compare.getPredicate()) : compare.getPredicate();
    Value end = compare.getRhs();
    std::optional<Progress> progress = progressOf(compare.getLhs());
    if (!progress) {
      progress = progressOf(compare.getRhs());
      end = compare.getLhs();
      bool known = true;
      switch (predicate) {
      case Predicate::slt: predicate = Predicate::sgt; break;
      case Predicate::sle: predicate = Predicate::sge; break;
      case Predicate::sgt: predicate = Predicate::slt; break;
      case Predicate::sge: predicate = Predicate::sle; break;
      case Predicate::ne: break;
      default: known = false;
      }
      if (!known)
        continue;
    }
    // A constant inside of the loop is one outside, too.
    if (std::optional<int64_t> number = getConstantIntValue(end); number && !isOutside(end))
      end = constant(end.getType(), *number);
    if (!progress || !isOutside(end))
      continue;
    bool up = progress->counter.step > 0;
    if (predicate == Predicate::ne && meets(*progress, end))
      predicate = up ? Predicate::slt : Predicate::sgt;
    if (predicate == (up ? Predicate::slt : Predicate::sgt))
      bounds.push_back(countOf(*progress, end, false, ofNext));
    else if (predicate == (up ? Predicate::sle : Predicate::sge))
      bounds.push_back(countOf(*progress, end, true, ofNext));
  }
}

/// The least number of iterations that the condition allows; null where it allows any.
Value WhileBounder::findBound() {
  SmallVector<Conjunct> now;
  SmallVector<Value> bounds;
  collectConjuncts({loop.getConditionOp().getCondition(), false}, now);
  addBounds(now, /*ofNext=*/false, bounds);
  for (Conjunct conjunct : now) {
    // A flag that is carried: the iteration before made it.
    auto arg = dyn_cast<BlockArgument>(conjunct.value);
    if (!arg || arg.getOwner() != before)
      continue;
    SmallVector<Conjunct> made;
    collectConjuncts({loop.getYieldOp().getOperand(arg.getArgNumber()), conjunct.negated}, made);
    addBounds(made, /*ofNext=*/true, bounds);
  }
  if (bounds.empty())
    return Value();
  Value least = bounds.front();
  for (Value bound : ArrayRef(bounds).drop_front()) {
    std::optional<int64_t> a = getConstantIntValue(least), b = getConstantIntValue(bound);
    if (a && b)
      least = *b < *a ? bound : least;
    else
      least = arith::MinSIOp::create(builder, loop.getLoc(), least, bound);
  }
  return least;
}

SmallVector<Value> WhileBounder::clone(Block *block, ValueRange arguments) {
  IRMapping map;
  map.map(block->getArguments(), arguments);
  for (Operation &op : block->without_terminator())
    builder.clone(op, map);
  return llvm::map_to_vector(block->getTerminator()->getOperands(), [&](Value v) { return map.lookupOrDefault(v); });
}

bool WhileBounder::replace() {
  findCounters();
  Value bound = findBound();
  if (!bound)
    return false;
  Location loc = loop.getLoc();
  // The condition and what it passes on, before the first iteration.
  SmallVector<Value> state = clone(before, loop.getInits());
  // What nothing reads is not carried, but for the flag.
  SmallVector<unsigned> carried;
  for (unsigned k = 0; k < loop.getNumResults(); ++k) {
    bool counts = counters.contains(after->getArgument(k));
    if (!loop.getResult(k).use_empty() || (!counts && !after->getArgument(k).use_empty()))
      carried.push_back(k);
  }
  SmallVector<Value> inits = {state.front()};
  for (unsigned k : carried)
    inits.push_back(state[k + 1]);
  Value zero = constant(builder.getIndexType(), 0), one = constant(builder.getIndexType(), 1);
  auto counted = scf::ForOp::create(builder, loc, zero, bound, one, inits);
  builder.setInsertionPointToStart(counted.getBody());
  auto branch = scf::IfOp::create(builder, loc, ValueRange(inits).getTypes(), counted.getRegionIterArg(0), /*withElseRegion=*/true);
  scf::YieldOp::create(builder, loc, branch.getResults());

  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> kept(counted.getRegionIterArgs());
  kept.front() = constant(builder.getI1Type(), 0);
  scf::YieldOp::create(builder, loc, kept);

  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> arguments(loop.getNumResults());
  for (auto [position, k] : llvm::enumerate(carried))
    arguments[k] = counted.getRegionIterArg(position + 1);
  for (unsigned k = 0; k < loop.getNumResults(); ++k) {
    auto found = counters.find(after->getArgument(k));
    if (found != counters.end())
      arguments[k] = advanceInduction(builder, loc, found->second.init, counted.getInductionVar(), found->second.step);
    else if (!arguments[k])
      arguments[k] = state[k + 1]; // without uses
  }
  SmallVector<Value> next = clone(before, clone(after, arguments));
  SmallVector<Value> yielded = {next.front()};
  for (unsigned k : carried)
    yielded.push_back(next[k + 1]);
  scf::YieldOp::create(builder, loc, yielded);

  for (auto [position, k] : llvm::enumerate(carried))
    loop.getResult(k).replaceAllUsesWith(counted.getResult(position + 1));
  loop.erase();
  return true;
}

LogicalResult mlir::ft::raising::boundWhiles(func::FuncOp function, Refusal &refusal) {
  SmallVector<scf::WhileOp> loops;
  function.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  for (scf::WhileOp loop : loops)
    if (!WhileBounder(loop).replace())
      return refusal.refuse(loop.getLoc(), "the loop ends on data, and its condition bounds no counter that grows by a constant in each iteration");
  return success();
}
