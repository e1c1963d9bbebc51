//===- TransformedDomain.cpp - domains under a schedule -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier–Motzkin elimination from the innermost transformed dimension outwards,
// then, from the outermost inwards, only those bounds that say something new.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/TransformedDomain.h"
#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/Inequalities.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "mlir/Analysis/Presburger/Fraction.h"
#include "mlir/Analysis/Presburger/Matrix.h"
#include <numeric>

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Inverse
//===----------------------------------------------------------------------===//

FailureOr<AffineMap> etdg::getInverseSchedule(AffineMap schedule) {
  unsigned n = schedule.getNumDims();
  MLIRContext *context = schedule.getContext();
  if (schedule.getNumResults() != n || schedule.getNumSymbols() != 0)
    return failure();
  presburger::FracMatrix matrix(n, n);
  SmallVector<int64_t> offsets;
  for (auto [r, result] : llvm::enumerate(schedule.getResults())) {
    LinearForm form = LinearForm::of(result);
    for (auto [atom, coefficient] : form.terms) {
      auto dim = dyn_cast<AffineDimExpr>(atom);
      if (!dim)
        return failure();
      matrix(r, dim.getPosition()) = presburger::Fraction(coefficient, 1);
    }
    offsets.push_back(form.constant);
  }
  if (n == 0)
    return AffineMap::get(0, 0, {}, context);
  presburger::FracMatrix inverse(n, n);
  presburger::Fraction determinant = matrix.determinant(&inverse);
  if (determinant != presburger::Fraction(1, 1) && determinant != presburger::Fraction(-1, 1))
    return failure();
  SmallVector<AffineExpr> results;
  for (unsigned d = 0; d < n; ++d) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (unsigned r = 0; r < n; ++r) {
      presburger::Fraction f = inverse(d, r);
      llvm::DynamicAPInt value = f.getAsInteger();
      // Offsets and coefficients of schedules are small; what is not is refused.
      if (value > (int64_t(1) << 31) || value < -(int64_t(1) << 31) ||
          std::abs(offsets[r]) > (int64_t(1) << 31))
        return failure();
      sum = sum + (getAffineDimExpr(r, context) - offsets[r]) * int64_t(value);
    }
    results.push_back(canonicalizeExpr(sum, n, 0));
  }
  return AffineMap::get(n, 0, results, context);
}

//===----------------------------------------------------------------------===//
// Fourier–Motzkin
//===----------------------------------------------------------------------===//

namespace {
/// `form ≥ 0`: linear in the transformed dimensions.
using Inequality = LinearForm;

class Eliminator {
public:
  Eliminator(BlockOp block, const SymbolSpace &space)
      : block(block), space(space), symbols(block.getSymbolNames()), context(block.getContext()),
        numAncestors(block.getNumAncestors()), numDims(block.getNumDims()) {}

  FailureOr<IntegerSet> run(IntegerSet domain);

private:
  /// Bounds of each dimension, innermost first.
  FailureOr<SmallVector<SmallVector<Inequality>>> project(SmallVector<Inequality> current, ArrayRef<Inequality> parameters);
  bool isLinear(const LinearForm &form) const;
  int64_t coefficient(const LinearForm &form, unsigned dim) const {
    return form.coefficient(getAffineDimExpr(dim, context));
  }
  /// The facts, what holds around the block, and `outer`; none where that can't be said.
  std::optional<SetBuilder> makeOuter(ArrayRef<Inequality> outer);
  /// Whether `outer` and `others` imply `form ≥ 0`.
  bool isImplied(const Inequality &form, const SetBuilder &outer, ArrayRef<Inequality> others);
  LogicalResult addTo(SetBuilder &builder, const LinearForm &form, bool isEq);
  void dropImplied(SmallVectorImpl<Inequality> &forms, ArrayRef<Inequality> outer);

  BlockOp block;
  const SymbolSpace &space;
  SmallVector<StringAttr> symbols;
  MLIRContext *context;
  unsigned numAncestors, numDims;
};
} // namespace

bool Eliminator::isLinear(const LinearForm &form) const {
  for (unsigned d = numAncestors; d < numDims; ++d)
    if (!form.isLinearIn(d))
      for (auto &term : form.terms)
        if (term.first.isFunctionOfDim(d))
          return false;
  return true;
}

LogicalResult Eliminator::addTo(SetBuilder &builder, const LinearForm &form, bool isEq) {
  LinearExpr sum;
  sum.constant = form.constant;
  for (auto [atom, coefficient] : form.terms) {
    std::optional<LinearExpr> term = builder.flatten(atom, symbols);
    if (!term)
      return failure();
    *term *= coefficient;
    sum += *term;
  }
  if (!sum.isSmall())
    return failure();
  builder.add(std::move(sum), isEq);
  return success();
}

std::optional<SetBuilder> Eliminator::makeOuter(ArrayRef<Inequality> outer) {
  SetBuilder builder(space, numDims);
  if (BlockOp parent = block.getParentBlock(); parent && failed(addDomain(builder, parent)))
    return std::nullopt;
  for (const Inequality &form : outer)
    if (failed(addTo(builder, form, /*isEq=*/false)))
      return std::nullopt;
  return builder;
}

bool Eliminator::isImplied(const Inequality &form, const SetBuilder &outer, ArrayRef<Inequality> others) {
  SetBuilder builder = outer;
  for (const Inequality &other : others)
    if (failed(addTo(builder, other, /*isEq=*/false)))
      return false;
  // Its negation, -form - 1 ≥ 0, has no point.
  LinearForm negation = form;
  for (auto &term : negation.terms)
    term.second = -term.second;
  negation.constant = -form.constant - 1;
  if (failed(addTo(builder, negation, /*isEq=*/false)))
    return false;
  return isEmpty(builder.get());
}

/// Leaves out what the rest implies; of several choices the longer ones go.
void Eliminator::dropImplied(SmallVectorImpl<Inequality> &forms, ArrayRef<Inequality> outer) {
  // Equal but for the constant: the stronger one remains.
  SmallVector<Inequality> kept;
  for (Inequality &form : forms) {
    auto *it = llvm::find_if(kept, [&](const Inequality &other) { return hasSameTerms(form, other); });
    if (it == kept.end())
      kept.push_back(form);
    else
      it->constant = std::min(it->constant, form.constant);
  }
  std::optional<SetBuilder> around = kept.empty() ? std::nullopt : makeOuter(outer);
  // Where nothing is, everything is implied: a loop would have no bound.
  if (around) {
    SetBuilder all = *around;
    bool isKnown = llvm::all_of(kept, [&](const Inequality &form) { return succeeded(addTo(all, form, /*isEq=*/false)); });
    if (!isKnown || isEmpty(all.get()))
      around.reset();
  }
  forms = keepNeeded<Inequality>(kept, [&](const Inequality &form, ArrayRef<Inequality> others) {
    return around && isImplied(form, *around, others);
  });
}

FailureOr<SmallVector<SmallVector<Inequality>>> Eliminator::project(SmallVector<Inequality> current,
                                                                     ArrayRef<Inequality> parameters) {
  SmallVector<SmallVector<Inequality>> bounds(numDims);
  for (unsigned d = numDims; d-- > numAncestors;) {
    SmallVector<Inequality> lowers, uppers, rest;
    for (Inequality &form : current) {
      int64_t c = coefficient(form, d);
      (c > 0 ? lowers : c < 0 ? uppers : rest).push_back(form);
    }
    llvm::append_range(bounds[d], lowers);
    llvm::append_range(bounds[d], uppers);
    for (const Inequality &lower : lowers)
      for (const Inequality &upper : uppers) {
        int64_t a = coefficient(lower, d), b = -coefficient(upper, d);
        int64_t g = std::gcd(a, b);
        std::optional<LinearForm> sum = addScaled(lower, b / g, upper, a / g);
        if (!sum)
          return failure();
        if (tightenInequality(*sum))
          rest.push_back(*sum);
      }
    // Without this the number of inequalities may grow doubly exponentially.
    SmallVector<Inequality> withOuter, onlyParameters;
    for (Inequality &form : rest) {
      bool inner = llvm::any_of(form.terms, [&](auto &term) {
        auto dim = dyn_cast<AffineDimExpr>(term.first);
        return dim && dim.getPosition() >= numAncestors;
      });
      (inner ? withOuter : onlyParameters).push_back(form);
    }
    // Lengths and ancestors alone: whether there is any point; the bounds say it again.
    dropImplied(withOuter, parameters);
    current = std::move(withOuter);
  }
  return bounds;
}

FailureOr<IntegerSet> Eliminator::run(IntegerSet domain) {
  SmallVector<Inequality> current, parameters;
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> equalities;
  auto keep = [&](AffineExpr expr, bool isEq) {
    constraints.push_back(expr);
    equalities.push_back(isEq);
  };
  for (auto [expr, isEq] : llvm::zip_equal(domain.getConstraints(), domain.getEqFlags())) {
    LinearForm form = LinearForm::of(expr);
    bool own = false;
    for (unsigned d = numAncestors; d < numDims; ++d)
      own |= expr.isFunctionOfDim(d);
    if (!own || !isLinear(form)) {
      keep(expr, isEq);
      if (!own && !isEq)
        parameters.push_back(form);
      if (!own && isEq) {
        parameters.push_back(form);
        parameters.push_back(*addScaled(form, -1, LinearForm(), 0));
      }
      continue;
    }
    if (tightenInequality(form))
      current.push_back(form);
    if (isEq) {
      std::optional<LinearForm> negative = addScaled(form, -1, LinearForm(), 0);
      if (negative && tightenInequality(*negative))
        current.push_back(*negative);
    }
  }

  FailureOr<SmallVector<SmallVector<Inequality>>> projected = project(std::move(current), parameters);
  if (failed(projected))
    return failure();
  SmallVector<SmallVector<Inequality>> &bounds = *projected;
  SmallVector<Inequality> outer = parameters;
  for (unsigned d = numAncestors; d < numDims; ++d) {
    dropImplied(bounds[d], outer);
    for (const Inequality &form : bounds[d]) {
      outer.push_back(form);
      // Two inequalities that say one equality are put together again.
      std::optional<LinearForm> negative = addScaled(form, -1, LinearForm(), 0);
      AffineExpr expr = form.toExpr(context), other = negative->toExpr(context);
      auto *it = llvm::find(constraints, other);
      if (it != constraints.end() && !equalities[it - constraints.begin()])
        equalities[it - constraints.begin()] = true;
      else
        keep(expr, false);
    }
  }
  if (constraints.empty())
    return getUniverse(context, numDims, symbols.size());
  return canonicalizeSet(IntegerSet::get(numDims, symbols.size(), constraints, equalities));
}

FailureOr<IntegerSet> etdg::getTransformedDomain(BlockOp block, AffineMap schedule,
                                                 const SymbolSpace &space) {
  FailureOr<AffineMap> inverse = getInverseSchedule(schedule);
  if (failed(inverse) || schedule.getNumDims() != block.getNumOwnDims())
    return failure();
  MLIRContext *context = block.getContext();
  unsigned numAncestors = block.getNumAncestors();
  SmallVector<AffineExpr> shifted, replacement;
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    (d < numAncestors ? replacement : shifted).push_back(getAffineDimExpr(d, context));
  for (AffineExpr expr : inverse->getResults())
    replacement.push_back(expr.replaceDims(shifted));
  IntegerSet domain = block.getDomainSet();
  if (isUniverse(domain))
    return domain;
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : domain.getConstraints())
    constraints.push_back(canonicalizeExpr(constraint.replaceDims(replacement),
                                           domain.getNumDims(), domain.getNumSymbols()));
  return Eliminator(block, space)
      .run(IntegerSet::get(domain.getNumDims(), domain.getNumSymbols(), constraints,
                           domain.getEqFlags()));
}

FailureOr<IntegerSet> TransformedDomains::get(BlockOp block, AffineMap schedule, const SymbolSpace &space) {
  SmallVector<Attribute> asked = {AffineMapAttr::get(schedule)};
  for (BlockOp around = block; around; around = around.getParentBlock())
    asked.append({around.getDomainAttr(), around.getSymbolsAttr()});
  auto [it, isNew] = known.try_emplace(ArrayAttr::get(block.getContext(), asked));
  if (isNew)
    if (FailureOr<IntegerSet> found = getTransformedDomain(block, schedule, space); succeeded(found))
      it->second = IntegerSetAttr::get(*found);
  if (!it->second)
    return failure();
  return it->second.getValue();
}

//===----------------------------------------------------------------------===//
// Loop bounds
//===----------------------------------------------------------------------===//

LoopBounds etdg::getLoopBounds(IntegerSet set, unsigned dim) {
  LoopBounds bounds;
  MLIRContext *context = set.getContext();
  for (auto [expr, isEq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    LinearForm form = LinearForm::of(expr);
    if (form.getLastDim() != static_cast<int>(dim) || !form.isLinearIn(dim))
      continue;
    AffineExpr d = getAffineDimExpr(dim, context);
    int64_t c = form.coefficient(d);
    if (c == 0)
      continue;
    llvm::erase_if(form.terms, [&](auto &term) { return term.first == d; });
    auto times = [&](int64_t factor) {
      LinearForm scaled = form;
      for (auto &term : scaled.terms)
        term.second *= factor;
      scaled.constant *= factor;
      return canonicalizeExpr(scaled.toExpr(context), set.getNumDims(), set.getNumSymbols());
    };
    // c·d + rest ≥ 0.
    if (c > 0 || isEq)
      bounds.lowers.push_back(c > 0 ? (c == 1 ? times(-1) : times(-1).ceilDiv(c))
                                    : (c == -1 ? times(1) : times(1).ceilDiv(-c)));
    if (c < 0 || isEq)
      bounds.uppers.push_back((c < 0 ? (c == -1 ? times(1) : times(1).floorDiv(-c))
                                     : (c == 1 ? times(-1) : times(-1).floorDiv(c))) +
                              1);
  }
  return bounds;
}
