//===- MaskedStates.cpp - what iterations leave that a mask hides -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An online softmax multiplies what it has by e^(m - m'), and adds terms e^(s - m').
// Where a mask gives s a number far below m', these terms are zero in every type.
// The loop's body is computed of ranges: no form of softmax is matched.
//
//===----------------------------------------------------------------------===//
#include "MaskedStates.h"

#include "MaskForm.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tile;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// What is known of a row's values.
struct Bounds {
  double least = -infinity, greatest = infinity;
  int state = -1;       // it is what the loop carries under this number
  bool isOld = true;    // states have part in it
  bool isChosen = false; // the mask has chosen it: some of a row's elements are scores

  static Bounds of(double value) { return {value, value, -1, false, false}; }
  bool is(double value) const { return least == value && greatest == value; }
};

/// The body of a loop in one iteration.
class Iteration {
public:
  /// `hidden`: a row has no score. Else it has some, and the states are what iterations without a score have left.
  Iteration(scf::ForOp loop, const Masked &masked, std::optional<unsigned> maximum, double least, bool hidden)
      : loop(loop), masked(masked), maximum(maximum), least(least), hidden(hidden) {}
  Bounds of(Value value);

private:
  Bounds compute(Value value);
  Bounds ofArgument(BlockArgument argument);
  Bounds ofElement(Operation *op);
  Bounds ofSelect(arith::SelectOp select);
  Bounds ofReduce(ReduceOp reduce);
  Bounds exponential(Bounds x, double base) const;

  scf::ForOp loop;
  const Masked &masked;
  std::optional<unsigned> maximum;
  double least;
  bool hidden;
  llvm::DenseMap<Value, Bounds> known;
};
} // namespace

std::optional<double> mlir::tile::constantOf(Value value) {
  value = tileOfElement(value);
  Operation *op = value.getDefiningOp();
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant))) {
    bool lost = false;
    constant.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return constant.convertToDouble();
  }
  if (auto map = dyn_cast_or_null<MapOp>(op))
    return constantOf(map.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
  if (isa_and_nonnull<SplatOp, BroadcastOp, RowValuesOp, arith::ExtFOp>(op))
    return constantOf(op->getOperand(0));
  return std::nullopt;
}

static const llvm::fltSemantics &semanticsOf(Type type) { return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics(); }

/// All numbers of a type are those of another one, too.
static bool holds(Type wide, Type narrow) { return APFloat::isRepresentableBy(semanticsOf(narrow), semanticsOf(wide)); }

static bool isExact(double number, Type type) {
  APFloat rounded(number);
  bool lost = false;
  rounded.convert(semanticsOf(type), APFloat::rmNearestTiesToEven, &lost);
  return !lost;
}

/// Where a number of a range is once it is rounded to a type. Beyond the greatest one of the type it may become infinite.
static Bounds rounded(Bounds range, Type type) {
  if (std::isnan(range.least) || std::isnan(range.greatest)) {
    range.least = -infinity, range.greatest = infinity;
    return range;
  }
  if (range.least == range.greatest && isExact(range.least, type))
    return range;
  const llvm::fltSemantics &semantics = semanticsOf(type);
  const double slack = std::ldexp(1.0, 1 - int(APFloat::semanticsPrecision(semantics)));
  const double most = APFloat::getLargest(semantics).convertToDouble(), tiny = APFloat::getSmallestNormalized(semantics).convertToDouble();
  auto roundDown = [&](double number) {
    const double lower = std::min(number, most) - std::abs(number) * slack - tiny;
    return lower < -most ? -infinity : lower;
  };
  range.least = range.least == infinity ? most : roundDown(range.least);
  range.greatest = range.greatest == -infinity ? -most : -roundDown(-range.greatest);
  return range;
}

static Type carriedElement(Type type) {
  auto rows = dyn_cast<RowVectorType>(type);
  return rows ? rows.getElementType() : tile::elementOf(type);
}

Bounds Iteration::of(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Bounds range = compute(value);
  return known[value] = range;
}

Bounds Iteration::ofArgument(BlockArgument argument) {
  if (Value tile = tileOfElement(argument); tile != argument)
    return of(tile);
  Bounds range;
  if (argument.getOwner() != loop.getBody() || argument.getArgNumber() == 0) {
    range.isOld = false;
    return range;
  }
  range.state = int(argument.getArgNumber()) - 1;
  if (maximum && unsigned(range.state) == *maximum)
    (hidden ? range.least : range.greatest) = hidden ? least : masked.low;
  return range;
}

Bounds Iteration::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  if (!loop->isAncestor(op)) {
    std::optional<double> constant = constantOf(value);
    Bounds range = Bounds::of(constant.value_or(0));
    if (!constant)
      range.least = -infinity, range.greatest = infinity;
    return range;
  }
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case([&](MapOp map) { return of(map.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber())); })
      .Case<SplatOp, BroadcastOp, RowValuesOp>([&](Operation *same) { return of(same->getOperand(0)); })
      .Case([&](ReduceOp reduce) { return ofReduce(reduce); })
      .Case([&](MmaOp product) {
        Bounds left = isa<RegistersType>(product.getLhs().getType()) ? of(product.getLhs()) : Bounds{-infinity, infinity, -1, false, false};
        Bounds sums = of(product.getAccumulator());
        return left.is(0) ? sums : Bounds{-infinity, infinity, -1, left.isOld || sums.isOld, false};
      })
      .Default([&](Operation *other) { return ofElement(other); });
}

Bounds Iteration::ofSelect(arith::SelectOp select) {
  if (select != masked.select) {
    Bounds range, one = of(select.getTrueValue()), other = of(select.getFalseValue()), condition = of(select.getCondition());
    range = {std::min(one.least, other.least), std::max(one.greatest, other.greatest), one.state == other.state ? one.state : -1,
             one.isOld || other.isOld || condition.isOld, one.isChosen && other.isChosen};
    return range;
  }
  if (hidden)
    return Bounds::of(masked.low);
  Bounds range = of(masked.scores());
  range.least = -infinity;
  range.greatest = std::max(range.greatest, masked.low);
  range.isChosen = true;
  return range;
}

/// The greatest of a row with scores is at least what the least of them is taken to be.
Bounds Iteration::ofReduce(ReduceOp reduce) {
  Bounds terms = of(reduce.getInput());
  Operation *yielded = reduce.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(yielded)) {
    terms.state = -1;
    if (terms.isChosen)
      terms.least = std::max(terms.least, least);
    terms.isChosen = false;
    return terms;
  }
  bool isZero = isa_and_nonnull<arith::AddFOp>(yielded) && terms.is(0);
  return isZero ? Bounds::of(0) : Bounds{-infinity, infinity, -1, terms.isOld, false};
}

/// Far enough below zero a power rounds to zero, in all types.
Bounds Iteration::exponential(Bounds x, double base) const {
  const double bits = std::log2(base);
  constexpr double leastBits = 150; // of f32
  if (x.greatest * bits < -leastBits)
    return Bounds::of(0);
  if (x.is(0))
    return Bounds::of(1);
  return {0, infinity, -1, x.isOld, false};
}

Bounds Iteration::ofElement(Operation *op) {
  if (auto constant = constantOf(op->getResult(0)))
    return Bounds::of(*constant);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return ofSelect(select);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !(isMemoryEffectFree(op) || isa<LoadOp>(op)))
    return Bounds();
  SmallVector<Bounds, 3> x = llvm::map_to_vector<3>(op->getOperands(), [&](Value operand) { return of(operand); });
  const bool isOld = llvm::any_of(x, [](const Bounds &range) { return range.isOld; });
  const Bounds unknown{-infinity, infinity, -1, isOld, false};
  auto scaled = [&](const Bounds &range, double factor) {
    if (factor <= 0)
      return unknown;
    if (factor == 1)
      return Bounds{range.least, range.greatest, range.state, range.isOld, false};
    return rounded({range.least * factor, range.greatest * factor, -1, range.isOld, false}, op->getResult(0).getType());
  };
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case([&](arith::ExtFOp) { return x[0]; })
      .Case([&](arith::TruncFOp truncated) {
        Bounds range = x[0];
        if (range.state >= 0 && !holds(truncated.getType(), carriedElement(loop.getRegionIterArg(unsigned(range.state)).getType())))
          range.state = -1;
        return rounded(range, truncated.getType());
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](Operation *) {
        for (unsigned i : {0u, 1u})
          if (x[i].least >= x[1 - i].greatest)
            return x[i];
        return Bounds{std::max(x[0].least, x[1].least), std::max(x[0].greatest, x[1].greatest), -1, isOld, x[0].isChosen || x[1].isChosen};
      })
      .Case([&](arith::SubFOp) {
        if (x[0].state >= 0 && x[0].state == x[1].state)
          return Bounds::of(0);
        return rounded({x[0].least - x[1].greatest, x[0].greatest - x[1].least, -1, isOld, false}, op->getResult(0).getType());
      })
      .Case([&](arith::AddFOp) {
        for (unsigned i : {0u, 1u})
          if (x[i].is(0))
            return x[1 - i];
        return rounded({x[0].least + x[1].least, x[0].greatest + x[1].greatest, -1, isOld, false}, op->getResult(0).getType());
      })
      .Case([&](arith::MulFOp) {
        for (unsigned i : {0u, 1u}) {
          if (x[i].is(0))
            return Bounds::of(0);
          if (x[i].least == x[i].greatest)
            return scaled(x[1 - i], x[i].least);
        }
        return unknown;
      })
      .Case([&](arith::DivFOp) { return x[1].least == x[1].greatest && x[1].least != 0 ? scaled(x[0], 1 / x[1].least) : unknown; })
      .Case([&](math::ExpOp) { return exponential(x[0], std::exp(1.0)); })
      .Case([&](math::Exp2Op) { return exponential(x[0], 2); })
      .Default([&](Operation *) { return unknown; });
}

/// The carried value that grows as a maximum with what the mask has chosen.
static std::optional<unsigned> findMaximum(scf::ForOp loop, const Masked &masked) {
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    if (!isa<RowVectorType>(loop.getRegionIterArg(i).getType()))
      continue;
    Bounds range = Iteration(loop, masked, i, masked.low, /*hidden=*/true).of(loop.getYieldedValues()[i]);
    if (range.state == int(i) && range.least == masked.low)
      return i;
  }
  return std::nullopt;
}

/// Whether the states are as they were after an iteration that shows nothing.
static bool isIdle(scf::ForOp loop, const Masked &masked, std::optional<unsigned> maximum, double least) {
  Iteration idle(loop, masked, maximum, least, /*hidden=*/true);
  return llvm::all_of(llvm::enumerate(loop.getYieldedValues()), [&](auto yielded) { return idle.of(yielded.value()).state == int(yielded.index()); });
}

/// Whether nothing that such iterations leave has part in the states after one that shows something.
static bool isNew(scf::ForOp loop, const Masked &masked, unsigned maximum, double least) {
  Iteration first(loop, masked, maximum, least, /*hidden=*/false);
  return llvm::none_of(loop.getYieldedValues(), [&](Value value) { return first.of(value).isOld; });
}

std::optional<IdleWhen> mlir::tile::findIdle(scf::ForOp loop, const Masked &masked) {
  if (isIdle(loop, masked, std::nullopt, 0))
    return IdleWhen();
  std::optional<unsigned> maximum = findMaximum(loop, masked);
  if (!maximum)
    return std::nullopt;
  const double most = std::isinf(masked.low) ? std::numeric_limits<float>::max() : std::abs(masked.low);
  constexpr double usual = 256, share = 1024; // (so far above that f32 tells them apart)
  for (double above = std::max(usual, most / share); above < most; above *= 2)
    if (double least = std::isinf(masked.low) ? -most : masked.low + above; isIdle(loop, masked, maximum, least) && isNew(loop, masked, *maximum, least))
      return IdleWhen{maximum, least};
  return std::nullopt;
}
