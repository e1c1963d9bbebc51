//===- Constraints.cpp - exact questions about piece conditions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emptiness and implication of constraints, exact by Presburger sets.
//
//===----------------------------------------------------------------------===//

#include "View.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

IntegerSet toetdg::makeSet(const Names &names, unsigned numDims, ArrayRef<Constraint> constraints) {
  if (constraints.empty())
    return etdg::getUniverse(names.context, numDims, names.names.size());
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> equalities;
  for (const Constraint &c : constraints) {
    exprs.push_back(c.expr);
    equalities.push_back(c.isEquality);
  }
  return IntegerSet::get(numDims, names.names.size(), exprs, equalities);
}

bool ConstraintSystem::isEmpty(unsigned numDims, ArrayRef<Constraint> all) const {
  SmallVector<Constraint> system(all);
  for (unsigned i = 0, e = names.names.size(); i < e; ++i)
    system.push_back({getAffineSymbolExpr(i, names.context)});
  if (bounds)
    for (LengthAttr bound : bounds.getNonNegative())
      system.push_back({names.length(bound)});
  for (const Constraint &c : system) {
    // A product of names is no Presburger term: nothing is known of it.
    if (!c.expr.isPureAffine())
      return false;
    if (auto constant = dyn_cast<AffineConstantExpr>(c.expr))
      if (c.isEquality ? constant.getValue() != 0 : constant.getValue() < 0)
        return true;
  }
  if (system.empty())
    return false;
  FlatLinearValueConstraints flat(makeSet(names, numDims, system));
  return flat.isIntegerEmpty();
}

std::optional<SmallVector<Constraint>> ConstraintSystem::simplify(unsigned numDims, ArrayRef<Constraint> candidate,
                                                                  ArrayRef<Constraint> context) const {
  SmallVector<Constraint> system(context);
  system.append(candidate.begin(), candidate.end());
  if (isEmpty(numDims, system))
    return std::nullopt;
  SmallVector<Constraint> kept;
  for (const Constraint &c : candidate) {
    if (isa<AffineConstantExpr>(c.expr))
      continue;
    // c is implied when context and kept leave no point outside it.
    SmallVector<Constraint> outside(context);
    outside.append(kept.begin(), kept.end());
    outside.push_back({-c.expr - 1});
    bool implied = isEmpty(numDims, outside);
    if (implied && c.isEquality) {
      outside.back() = {c.expr - 1};
      implied = isEmpty(numDims, outside);
    }
    if (!implied)
      kept.push_back(c);
  }
  return kept;
}
