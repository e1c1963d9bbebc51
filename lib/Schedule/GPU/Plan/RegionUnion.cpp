//===- RegionUnion.cpp - the union of two domains as one domain -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constraints of one set that hold in the other, too, hold in the union. Where they are all that the union needs, which is asked exactly, they are
// its domain.
//
//===----------------------------------------------------------------------===//
#include "RegionUnion.h"

#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::LinearForm;
using etdg::SetBuilder;
using etdg::SymbolSpace;

namespace {
/// An expression that is at least 0, or 0.
struct Constraint {
  AffineExpr expr;
  bool isEq;
  bool operator==(const Constraint &o) const { return expr == o.expr && isEq == o.isEq; }
  /// The last dimension that it says something of; -1: it is one of lengths.
  int getLastDim() const { return LinearForm::of(expr).getLastDim(); }
};
using Constraints = SmallVector<Constraint>;

/// Asks sets over some dimensions and symbols what follows from what.
class Reasoner {
public:
  Reasoner(unsigned numDims, ArrayRef<StringAttr> symbols, const SymbolSpace &space, MLIRContext *context)
      : numDims(numDims), symbols(symbols), space(space), context(context) {}

  static Constraints constraintsOf(IntegerSet set) {
    Constraints constraints;
    for (auto [expr, isEq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
      constraints.push_back({expr, isEq});
    return constraints;
  }
  IntegerSet toSet(ArrayRef<Constraint> constraints) const;
  /// Whether all points of the set meet the constraint. False, too, where it can't be asked.
  bool implies(ArrayRef<Constraint> set, const Constraint &constraint) const;
  Constraints commonOf(ArrayRef<Constraint> one, ArrayRef<Constraint> other) const;
  void dropImplied(Constraints &set) const;
  Constraints distinguish(ArrayRef<Constraint> part, ArrayRef<Constraint> whole) const;
  bool isExact(ArrayRef<Constraint> whole, IntegerSet one, IntegerSet other) const;
  bool isBounded(ArrayRef<Constraint> set, unsigned numAncestors) const;

private:
  unsigned numDims;
  ArrayRef<StringAttr> symbols;
  const SymbolSpace &space;
  MLIRContext *context;
};
} // namespace

IntegerSet Reasoner::toSet(ArrayRef<Constraint> constraints) const {
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> eqs;
  for (const Constraint &constraint : constraints) {
    exprs.push_back(constraint.expr);
    eqs.push_back(constraint.isEq);
  }
  if (exprs.empty()) // no set is written without a constraint
    return etdg::getUniverse(context, numDims, unsigned(symbols.size()));
  return etdg::canonicalizeSet(IntegerSet::get(numDims, unsigned(symbols.size()), exprs, eqs));
}

bool Reasoner::implies(ArrayRef<Constraint> set, const Constraint &constraint) const {
  auto isOutside = [&](AffineExpr outside) {
    SetBuilder points(space, numDims);
    for (const Constraint &one : set)
      if (failed(points.add(one.expr, one.isEq, symbols)))
        return false;
    return succeeded(points.add(outside, /*isEq=*/false, symbols)) && etdg::isEmpty(points.get());
  };
  // Of whole numbers, below 0 is at most -1.
  return isOutside(-constraint.expr - 1) && (!constraint.isEq || isOutside(constraint.expr - 1));
}

/// Constraints of one set that the other one meets, an equality as its two halves where one of them holds alone.
Constraints Reasoner::commonOf(ArrayRef<Constraint> one, ArrayRef<Constraint> other) const {
  Constraints common;
  for (const Constraint &constraint : one) {
    if (implies(other, constraint))
      common.push_back(constraint);
    else if (constraint.isEq)
      for (AffineExpr half : {constraint.expr, -constraint.expr})
        if (implies(other, {half, false}))
          common.push_back({half, false});
  }
  return common;
}

/// Leaves out what follows from the rest, but not the bounds of a dimension that follow from dimensions after it alone: loops begin and end by them.
void Reasoner::dropImplied(Constraints &set) const {
  for (size_t i = set.size(); i-- > 0;) {
    int last = set[i].getLastDim();
    Constraints rest;
    for (auto [k, constraint] : llvm::enumerate(set))
      if (k != i && (last < 0 || constraint.getLastDim() <= last))
        rest.push_back(constraint);
    if (implies(rest, set[i]))
      set.erase(set.begin() + ptrdiff_t(i));
  }
}

/// As few constraints of a part as tell its points from others of the whole.
Constraints Reasoner::distinguish(ArrayRef<Constraint> part, ArrayRef<Constraint> whole) const {
  Constraints own;
  for (const Constraint &constraint : part)
    if (!implies(whole, constraint))
      own.push_back(constraint);
  for (size_t i = own.size(); i-- > 0;) {
    Constraints rest(whole);
    for (auto [k, constraint] : llvm::enumerate(own))
      if (k != i)
        rest.push_back(constraint);
    if (implies(rest, own[i]))
      own.erase(own.begin() + ptrdiff_t(i));
  }
  return own;
}

bool Reasoner::isExact(ArrayRef<Constraint> whole, IntegerSet one, IntegerSet other) const {
  SetBuilder all(space, numDims);
  for (const Constraint &constraint : whole)
    if (failed(all.add(constraint.expr, constraint.isEq, symbols)))
      return false;
  FailureOr<presburger::IntegerPolyhedron> a = etdg::toPolyhedron(one, symbols, space), b = etdg::toPolyhedron(other, symbols, space);
  return succeeded(a) && succeeded(b) && etdg::isCovered(all.get(), {*a, *b});
}

bool Reasoner::isBounded(ArrayRef<Constraint> set, unsigned numAncestors) const {
  for (auto dim = int(numAncestors); dim < int(numDims); ++dim) {
    bool hasLower = false, hasUpper = false;
    for (const Constraint &constraint : set) {
      etdg::BoundClass bound = constraint.getLastDim() == dim ? etdg::classifyConstraint(constraint.expr, constraint.isEq, dim) : etdg::BoundClass::Other;
      hasLower |= bound == etdg::BoundClass::Lower || bound == etdg::BoundClass::Equal;
      hasUpper |= bound == etdg::BoundClass::Upper || bound == etdg::BoundClass::Equal;
    }
    if (!hasLower || !hasUpper)
      return false;
  }
  return true;
}

std::optional<RegionUnion> schedule::uniteRegions(IntegerSet first, IntegerSet second, unsigned numAncestors, ArrayRef<StringAttr> symbols,
                                                  const SymbolSpace &space) {
  Reasoner reasoner(first.getNumDims(), symbols, space, first.getContext());
  Constraints one = Reasoner::constraintsOf(first), other = Reasoner::constraintsOf(second);
  Constraints whole = reasoner.commonOf(one, other);
  for (const Constraint &constraint : reasoner.commonOf(other, one))
    if (!llvm::is_contained(whole, constraint))
      whole.push_back(constraint);
  if (!reasoner.isExact(whole, first, second))
    return std::nullopt;
  reasoner.dropImplied(whole);
  if (!reasoner.isBounded(whole, numAncestors))
    return std::nullopt;
  return RegionUnion{reasoner.toSet(whole), reasoner.toSet(reasoner.distinguish(one, whole)), reasoner.toSet(reasoner.distinguish(other, whole))};
}
