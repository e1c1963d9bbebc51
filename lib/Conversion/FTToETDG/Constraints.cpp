//===- Constraints.cpp - exact questions about piece conditions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emptiness and implication of constraints, exact by Presburger sets.
//
//===----------------------------------------------------------------------===//

#include "View.h"

#include "ft/Analysis/Sets.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

/// The names that occur in an expression.
static void collectNames(AffineExpr expr, llvm::SmallSetVector<unsigned, 8> &used) {
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      used.insert(symbol.getPosition());
  });
}

/// Numbering that occur in the constraints, or that bounds tie to these: others change nothing.
static SmallVector<Constraint> withKnownOfNames(const Numbering &names, BoundsAttr bounds,
                                                ArrayRef<Constraint> all,
                                                llvm::SmallSetVector<unsigned, 8> &used) {
  SmallVector<Constraint> system(all);
  for (const Constraint &c : all)
    collectNames(c.expr, used);
  SmallVector<AffineExpr> open;
  if (bounds)
    for (LengthAttr bound : bounds.getNonNegative())
      open.push_back(names.length(bound));
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (AffineExpr &expr : open) {
      llvm::SmallSetVector<unsigned, 8> own;
      if (!expr)
        continue;
      collectNames(expr, own);
      if (!own.empty() && llvm::none_of(own, [&](unsigned name) { return used.contains(name); }))
        continue;
      system.push_back({expr});
      used.insert_range(own);
      expr = AffineExpr();
      isNew = true;
    }
  }
  for (unsigned i : used)
    system.push_back({getAffineSymbolExpr(i, names.context)});
  return system;
}

bool ConstraintSystem::isEmpty(unsigned numDims, ArrayRef<Constraint> all) const {
  llvm::SmallSetVector<unsigned, 8> used;
  SmallVector<Constraint> system = withKnownOfNames(names, bounds, all, used);
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
  SmallVector<AffineExpr> renumbered(names.names.size(), getAffineConstantExpr(0, names.context));
  for (auto [i, name] : llvm::enumerate(used))
    if (name < renumbered.size())
      renumbered[name] = getAffineSymbolExpr(i, names.context);
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> equalities;
  for (const Constraint &c : system) {
    exprs.push_back(c.expr.replaceSymbols(renumbered));
    equalities.push_back(c.isEquality);
  }
  FlatLinearValueConstraints flat(IntegerSet::get(numDims, used.size(), exprs, equalities));
  // Parts that share no variable, as most loops around a block are, are taken apart.
  return etdg::isEmpty(presburger::IntegerPolyhedron(flat));
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
