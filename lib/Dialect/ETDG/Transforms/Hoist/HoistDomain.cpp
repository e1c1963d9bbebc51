//===- HoistDomain.cpp - domains without some of their dimensions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HoistDomain.h"
#include "ft/Analysis/Inequalities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;
using ft::LengthAttr;

//===----------------------------------------------------------------------===//
// Projection
//===----------------------------------------------------------------------===//

void Domain::add(LinearForm form) {
  if (!tightenInequality(form))
    return;
  // Equal but for the constant: the stronger one remains.
  for (LinearForm &other : forms)
    if (hasSameTerms(form, other)) {
      other.constant = std::min(other.constant, form.constant);
      return;
    }
  forms.push_back(std::move(form));
}

static LinearForm negate(LinearForm form) {
  for (auto &term : form.terms)
    term.second = -term.second;
  form.constant = -form.constant;
  return form;
}

void Domain::add(AffineExpr constraint, bool isEq) {
  LinearForm form = LinearForm::of(constraint);
  if (isEq)
    add(negate(form));
  add(std::move(form));
}

/// Whether the dimension occurs, and not only as a term of its own.
static bool isHidden(const LinearForm &form, unsigned dim) {
  return !form.isLinearIn(dim) &&
         llvm::any_of(form.terms, [&](auto &term) { return term.first.isFunctionOfDim(dim); });
}

bool Domain::project(unsigned dim) {
  bool isExact = true;
  SmallVector<LinearForm> lowers, uppers;
  SmallVector<LinearForm> old = std::move(forms);
  forms.clear();
  auto coefficientOf = [&](const LinearForm &form) {
    for (auto [atom, coefficient] : form.terms)
      if (auto d = dyn_cast<AffineDimExpr>(atom); d && d.getPosition() == dim)
        return coefficient;
    return int64_t(0);
  };
  for (LinearForm &form : old) {
    if (isHidden(form, dim)) {
      isExact = false;
      continue;
    }
    int64_t c = coefficientOf(form);
    if (c == 0)
      add(std::move(form));
    else
      (c > 0 ? lowers : uppers).push_back(std::move(form));
  }
  for (const LinearForm &lower : lowers)
    for (const LinearForm &upper : uppers) {
      int64_t a = coefficientOf(lower), b = -coefficientOf(upper);
      isExact &= a == 1 || b == 1;
      int64_t g = std::gcd(a, b);
      if (std::optional<LinearForm> sum = addScaled(lower, b / g, upper, a / g))
        add(std::move(*sum));
      else
        isExact = false;
    }
  return isExact;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

FailureOr<presburger::IntegerPolyhedron>
DomainSolver::toPolyhedron(ArrayRef<const Domain *> domains, const LinearForm *negated) {
  SetBuilder builder(space, numDims);
  for (const Domain *domain : domains)
    for (const LinearForm &form : domain->getForms())
      if (failed(builder.add(form.toExpr(context), /*isEq=*/false, names)))
        return failure();
  if (negated)
    if (failed(builder.add(negate(*negated).toExpr(context) - 1, /*isEq=*/false, names)))
      return failure();
  return builder.get();
}

bool DomainSolver::implies(ArrayRef<const Domain *> domains, const LinearForm &form) {
  // Most are there as they stand, or stronger.
  for (const Domain *domain : domains)
    for (const LinearForm &known : domain->getForms())
      if (known.constant <= form.constant && hasSameTerms(form, known))
        return true;
  FailureOr<presburger::IntegerPolyhedron> beyond = toPolyhedron(domains, &form);
  return succeeded(beyond) && isEmpty(*beyond);
}

Domain DomainSolver::simplify(const Domain &domain, const Domain &outer) {
  Domain result;
  for (LinearForm &form : keepNeeded<LinearForm>(
           domain.getForms(), [&](const LinearForm &form, ArrayRef<LinearForm> rest) {
             Domain others;
             for (const LinearForm &other : rest)
               others.add(other);
             return implies({&outer, &others}, form);
           }))
    result.add(std::move(form));
  return result;
}

std::optional<SmallVector<Domain>> DomainSolver::unite(ArrayRef<Domain> parts,
                                                       const Domain &outer) {
  SmallVector<presburger::IntegerPolyhedron, 0> sets;
  for (const Domain &part : parts) {
    FailureOr<presburger::IntegerPolyhedron> set = toPolyhedron({&outer, &part});
    if (failed(set))
      return std::nullopt;
    sets.push_back(*set);
  }
  if (parts.size() == 1)
    return SmallVector<Domain>{simplify(parts.front(), outer)};
  // What holds in all parts; the union, if it has no other points.
  Domain hull;
  for (auto [i, part] : llvm::enumerate(parts))
    for (const LinearForm &form : part.getForms()) {
      bool holds = !llvm::any_of(hull.getForms(), [&](const LinearForm &known) {
        return known.constant <= form.constant && hasSameTerms(form, known);
      });
      for (unsigned j = 0; j < parts.size() && holds; ++j)
        holds = j == i || implies({&outer, &parts[j]}, form);
      if (holds)
        hull.add(form);
    }
  FailureOr<presburger::IntegerPolyhedron> all = toPolyhedron({&outer, &hull});
  if (succeeded(all) && isCovered(*all, sets))
    return SmallVector<Domain>{simplify(hull, outer)};
  // Else the parts that others don't cover, if they have nothing in common.
  SmallVector<unsigned> kept(sets.size());
  std::iota(kept.begin(), kept.end(), 0);
  for (unsigned i = 0; i < sets.size(); ++i) {
    SmallVector<presburger::IntegerPolyhedron, 0> others;
    for (unsigned j : kept)
      if (j != i)
        others.push_back(sets[j]);
    if (!others.empty() && isCovered(sets[i], others))
      llvm::erase(kept, i);
  }
  SmallVector<Domain> result;
  for (unsigned i : kept) {
    for (unsigned j : kept) {
      if (j >= i)
        break;
      FailureOr<presburger::IntegerPolyhedron> both = toPolyhedron({&outer, &parts[i], &parts[j]});
      if (failed(both) || !isEmpty(*both))
        return std::nullopt;
    }
    result.push_back(simplify(parts[i], outer));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Domain DomainSolver::onto(Domain domain, unsigned dim) {
  for (unsigned d = 0; d < numDims; ++d)
    if (d != dim)
      domain.project(d);
  return domain;
}

/// c·dim + rest ≥ 0 with rest over symbols alone: rest, or null.
static LengthAttr getSymbolicRest(const LinearForm &form, AffineExpr dim,
                                  ArrayRef<StringAttr> names) {
  LinearForm rest = form;
  llvm::erase_if(rest.terms, [&](auto &term) { return term.first == dim; });
  AffineExpr expr = rest.toExpr(dim.getContext());
  return expr.isSymbolicOrConstant() ? LengthAttr::get(dim.getContext(), names, expr)
                                     : LengthAttr();
}

int64_t DomainSolver::getTypicalExtent(const Domain &domain, unsigned dim) {
  Domain line = onto(domain, dim);
  AffineExpr x = getAffineDimExpr(dim, context);
  std::optional<int64_t> lower, upper;
  for (const LinearForm &form : line.getForms()) {
    int64_t c = form.coefficient(x);
    LengthAttr rest = c ? getSymbolicRest(form, x, names) : LengthAttr();
    if (!rest)
      continue;
    auto value = rest.evaluate([&](StringAttr name) { return std::optional(lengths.get(name)); });
    if (!value)
      continue;
    if (c > 0)
      lower = std::max(lower.value_or(INT64_MIN), llvm::divideCeilSigned(-*value, c));
    else
      upper = std::min(upper.value_or(INT64_MAX), llvm::divideFloorSigned(*value, -c));
  }
  if (!lower || !upper)
    return lengths.evaluate({});
  return std::max<int64_t>(*upper - *lower + 1, 0);
}

LengthAttr DomainSolver::getLength(ArrayRef<Domain> domains, unsigned dim, const Domain &outer) {
  AffineExpr x = getAffineDimExpr(dim, context);
  LinearForm isNonNegative = LinearForm::of(x);
  SmallVector<LengthAttr> candidates;
  for (const Domain &domain : domains) {
    if (!implies({&outer, &domain}, isNonNegative))
      return {};
    Domain whole = outer;
    for (const LinearForm &form : domain.getForms())
      whole.add(form);
    Domain line = onto(whole, dim);
    for (const LinearForm &form : line.getForms()) {
      int64_t c = form.coefficient(x);
      LengthAttr rest = c < 0 ? getSymbolicRest(form, x, names) : LengthAttr();
      if (LengthAttr length = rest ? (c == -1 ? rest : rest.floorDiv(-c)) + 1 : LengthAttr())
        candidates.push_back(length);
    }
  }
  // A length is at least 0 also where nothing is computed.
  Domain nothing;
  LengthAttr best;
  for (LengthAttr length : candidates)
    for (int64_t more = 0; more < 4; ++more) {
      LengthAttr longer = length + more;
      if (!longer || (best && lengths.evaluate(longer) >= lengths.evaluate(best)))
        break;
      SmallVector<AffineExpr> symbols;
      SmallVector<StringAttr> all(names);
      bool known = llvm::all_of(longer.getNames(),
                                [&](StringAttr name) { return llvm::is_contained(all, name); });
      if (!known)
        break;
      AffineExpr expr = longer.exprOver(all);
      if (!implies({&nothing}, LinearForm::of(expr)))
        continue;
      bool bounds = llvm::all_of(domains, [&](const Domain &domain) {
        return implies({&outer, &domain}, LinearForm::of(expr - x - 1));
      });
      if (bounds)
        best = longer;
      break;
    }
  return best;
}

IntegerSet DomainSolver::toSet(const Domain &domain, ArrayRef<AffineExpr> replacement,
                               unsigned newDims) {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs;
  SmallVector<bool> done(domain.getForms().size());
  for (auto [i, form] : llvm::enumerate(domain.getForms())) {
    if (done[i])
      continue;
    // Two inequalities that say one equality are put together again.
    bool isEq = false;
    for (unsigned j = i + 1; j < done.size() && !isEq; ++j) {
      const LinearForm &other = domain.getForms()[j];
      isEq = other.constant == -form.constant && hasSameTerms(form, other, -1);
      done[j] = done[j] || isEq;
    }
    constraints.push_back(form.toExpr(context).replaceDims(replacement));
    eqs.push_back(isEq);
  }
  if (constraints.empty())
    return getUniverse(context, newDims, names.size());
  return canonicalizeSet(IntegerSet::get(newDims, names.size(), constraints, eqs));
}
