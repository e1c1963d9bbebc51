//===- ConstraintSets.cpp - questions about conditions on points ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between affine expressions and MLIR's Presburger library, both ways.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/GraphWriter/ConstraintSets.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::graphwriter;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

ConstraintSets::Size ConstraintSets::sizeOf(ArrayRef<Constraint> all) const {
  Size size;
  for (const Constraint &c : all)
    c.expr.walk([&](AffineExpr e) {
      if (auto d = dyn_cast<AffineDimExpr>(e))
        size.dims = std::max(size.dims, d.getPosition() + 1);
      if (auto s = dyn_cast<AffineSymbolExpr>(e); s && s.getPosition() >= names.size())
        size.cells = std::max<unsigned>(size.cells, s.getPosition() - names.size() + 1);
    });
  return size;
}

LogicalResult ConstraintSets::build(etdg::SetBuilder &builder, ArrayRef<Constraint> all, unsigned numFixed,
                          unsigned numCells) const {
  unsigned total = builder.getNumDims();
  SmallVector<AffineExpr> dims, symbols;
  for (unsigned d = 0; d < total - numCells; ++d)
    dims.push_back(dim(d < numFixed ? d : d + numCells));
  for (unsigned i = 0, e = names.size(); i < e; ++i)
    symbols.push_back(name(i));
  for (unsigned c = 0; c < numCells; ++c)
    symbols.push_back(dim(numFixed + c));
  if (bounds)
    for (LengthAttr bound : bounds.getNonNegative())
      // A product of names is no Presburger term: such a bound is left out, the others are known all the same.
      (void)builder.add(bound.getExpr(), false, bound.getNames());
  for (const Constraint &c : all)
    if (failed(builder.add(c.expr.replaceDimsAndSymbols(dims, symbols), c.isEquality, names)))
      return failure();
  return success();
}

bool ConstraintSets::isEmpty(ArrayRef<Constraint> all) const {
  for (const Constraint &c : all)
    if (auto constant = dyn_cast<AffineConstantExpr>(c.expr))
      if (c.isEquality ? constant.getValue() != 0 : constant.getValue() < 0)
        return true;
  Size size = sizeOf(all);
  etdg::SetBuilder builder(space, size.dims + size.cells);
  if (failed(build(builder, all, size.dims, size.cells)))
    return false;
  return etdg::isEmpty(builder.get());
}

bool ConstraintSets::isEmpty(ArrayRef<Constraint> a, ArrayRef<Constraint> b) const {
  Conjunction all(a);
  all.append(b.begin(), b.end());
  return isEmpty(all);
}

bool ConstraintSets::isImplied(ArrayRef<Constraint> context, Constraint c) const {
  if (llvm::is_contained(context, c))
    return true;
  if (!isEmpty(context, {{-c.expr - 1}}))
    return false;
  return !c.isEquality || isEmpty(context, {{c.expr - 1}});
}

std::optional<Conjunction> ConstraintSets::withoutImplied(ArrayRef<Constraint> candidate, ArrayRef<Constraint> context) const {
  if (isEmpty(candidate, context))
    return std::nullopt;
  Conjunction kept;
  for (const Constraint &c : candidate) {
    Conjunction known(context);
    known.append(kept.begin(), kept.end());
    if (!isImplied(known, c))
      kept.push_back(c);
  }
  return kept;
}

std::optional<Conjunction> ConstraintSets::simplify(ArrayRef<Constraint> candidate, ArrayRef<Constraint> context) const {
  // Later constraints are dropped in favour of earlier ones; equalities say most.
  Conjunction ordered;
  for (bool equalities : {true, false})
    for (const Constraint &c : candidate)
      if (c.isEquality == equalities)
        ordered.push_back(c);
  std::optional<Conjunction> needed = withoutImplied(ordered, context);
  if (!needed)
    return std::nullopt;
  Conjunction kept = std::move(*needed);
  // What came first may follow from what came later.
  for (unsigned i = 0; i < kept.size() && kept.size() > 1;) {
    Conjunction others(context);
    for (unsigned j = 0; j < kept.size(); ++j)
      if (j != i)
        others.push_back(kept[j]);
    if (isImplied(others, kept[i]))
      kept.erase(kept.begin() + i);
    else
      ++i;
  }
  // `i <= 0` where i is not negative is `i = 0`.
  for (unsigned i = 0; i < kept.size(); ++i) {
    if (kept[i].isEquality)
      continue;
    Conjunction others(context);
    for (unsigned j = 0; j < kept.size(); ++j)
      if (j != i)
        others.push_back(kept[j]);
    kept[i].isEquality = isEmpty(others, {{kept[i].expr - 1}});
  }
  return kept;
}

AffineExpr graphwriter::toExpr(ArrayRef<DynamicAPInt> row, ArrayRef<AffineExpr> variables,
                         MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(int64_t(row.back()), context);
  for (auto [coefficient, variable] : llvm::zip(row.drop_back(), variables))
    if (coefficient != 0)
      sum = sum + variable * int64_t(coefficient);
  return sum;
}

bool graphwriter::addDivisions(const DivisionRepr &divisions, SmallVectorImpl<AffineExpr> &variables,
                         MLIRContext *context) {
  for (unsigned i = 0; i < divisions.getNumDivs(); ++i) {
    if (!divisions.hasRepr(i))
      return false;
    ArrayRef<DynamicAPInt> dividend = divisions.getDividend(i);
    // Later divisions may not occur in earlier ones.
    for (unsigned v = variables.size(); v + 1 < dividend.size(); ++v)
      if (dividend[v] != 0)
        return false;
    variables.push_back(
        toExpr(dividend, variables, context).floorDiv(int64_t(divisions.getDenom(i))));
  }
  return true;
}

LogicalResult ConstraintSets::toConjunctions(const PresburgerSet &set, unsigned numDims, unsigned numCells,
                                   SmallVectorImpl<Conjunction> &result) const {
  SmallVector<AffineExpr> variables;
  for (unsigned d = 0; d < numDims; ++d)
    variables.push_back(dim(d));
  for (unsigned c = 0; c < numCells; ++c)
    variables.push_back(cell(c));
  for (unsigned i = 0, e = names.size(); i < e; ++i)
    variables.push_back(name(i));
  PresburgerRelation explicitSet =
      set.hasOnlyDivLocals()
          ? PresburgerRelation(set)
          : static_cast<const PresburgerRelation &>(set).computeReprWithOnlyDivLocals();
  for (const IntegerRelation &disjunct : explicitSet.getAllDisjuncts()) {
    SmallVector<AffineExpr> all(variables);
    if (!addDivisions(disjunct.getLocalReprs(), all, context))
      return failure();
    Conjunction conjunction;
    auto add = [&](ArrayRef<DynamicAPInt> row, bool isEquality) {
      AffineExpr expr = toExpr(row, all, context);
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        if (isEquality ? constant.getValue() == 0 : constant.getValue() >= 0)
          return;
      conjunction.push_back({expr, isEquality});
    };
    for (unsigned i = 0; i < disjunct.getNumEqualities(); ++i)
      add(disjunct.getEquality(i), true);
    for (unsigned i = 0; i < disjunct.getNumInequalities(); ++i)
      add(disjunct.getInequality(i), false);
    result.push_back(std::move(conjunction));
  }
  return success();
}

FailureOr<SmallVector<Conjunction>> ConstraintSets::subtract(ArrayRef<Constraint> set,
                                                   ArrayRef<Conjunction> minus) const {
  if (minus.empty())
    return SmallVector<Conjunction>{Conjunction(set)};
  Size size = sizeOf(set);
  for (const Conjunction &m : minus) {
    Size other = sizeOf(m);
    size = {std::max(size.dims, other.dims), std::max(size.cells, other.cells)};
  }
  auto toPoly = [&](ArrayRef<Constraint> all) -> FailureOr<IntegerPolyhedron> {
    etdg::SetBuilder builder(space, size.dims + size.cells);
    if (failed(build(builder, all, size.dims, size.cells)))
      return failure();
    return builder.get();
  };
  FailureOr<IntegerPolyhedron> base = toPoly(set);
  if (failed(base))
    return failure();
  SmallVector<IntegerPolyhedron, 0> cover;
  for (const Conjunction &m : minus) {
    FailureOr<IntegerPolyhedron> poly = toPoly(m);
    if (failed(poly))
      return failure();
    cover.push_back(*poly);
  }
  SmallVector<Conjunction> rest, result;
  if (etdg::isCovered(*base, cover))
    return result;
  if (failed(toConjunctions(etdg::subtract(*base, cover), size.dims, size.cells, rest)))
    return failure();
  for (Conjunction &r : rest)
    if (!isEmpty(r))
      result.push_back(std::move(r));
  return result;
}
