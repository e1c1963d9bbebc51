//===- Bounds.cpp - bounds of one dimension from those fixed before -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A domain's constraints become the bounds of a loop wherever the dimension
// stands: constraints on dimensions that later loops fix are projected away
// (Fourier–Motzkin, over the rationals: a loop may run a little too far, the
// loops and guards inside leave those points out).
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/Analysis/Dimensions.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

std::optional<int64_t> schedule::stepAlong(AffineExpr expr, unsigned dim, unsigned numDims,
                                        unsigned numSymbols) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  AffineExpr d = getAffineDimExpr(dim, expr.getContext());
  auto step = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(expr.replace(d, d + 1) - expr, numDims, numSymbols));
  return step ? std::optional<int64_t>(step.getValue()) : std::nullopt;
}

/// `step * d + rest ≥ 0` as a bound of d, `rest` free of d.
static void addLinear(DimBounds &bounds, int64_t step, AffineExpr rest, bool equality) {
  if (step > 0 || equality) {
    AffineExpr lower = step > 0 ? (-rest).ceilDiv(step) : rest.ceilDiv(-step);
    bounds.lowers.push_back(lower);
  }
  if (step < 0 || equality) {
    AffineExpr upper = step < 0 ? rest.floorDiv(-step) : (-rest).floorDiv(step);
    bounds.uppers.push_back(upper + 1);
  }
}

bool schedule::addBound(DimBounds &bounds, AffineExpr expr, bool equality, unsigned dim,
                     IntegerSet set) {
  std::optional<int64_t> step = stepAlong(expr, dim, set.getNumDims(), set.getNumSymbols());
  if (!step || *step == 0)
    return false;
  AffineExpr zero = getAffineConstantExpr(0, set.getContext());
  addLinear(bounds, *step, expr.replace(getAffineDimExpr(dim, set.getContext()), zero), equality);
  return true;
}

/// What the domain says of `dim` when the dimensions that are not `known` may be anything it
/// allows.
static DimBounds projectedBounds(IntegerSet set, unsigned dim,
                                 llvm::function_ref<bool(unsigned)> known) {
  MLIRContext *context = set.getContext();
  // A product of names or of a dimension and a name is not linear: the guard asks it.
  SmallVector<AffineExpr> linear;
  SmallVector<bool> equalities;
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    if (expr.isPureAffine()) {
      linear.push_back(expr);
      equalities.push_back(equality);
    }
  if (linear.empty())
    return {};
  FlatLinearValueConstraints space(
      IntegerSet::get(set.getNumDims(), set.getNumSymbols(), linear, equalities));
  unsigned numDims = set.getNumDims(), numSymbols = set.getNumSymbols();
  SmallVector<unsigned> kept;
  for (unsigned d = 0; d < numDims; ++d)
    if (d == dim || known(d))
      kept.push_back(d);
  for (unsigned d = numDims; d-- > 0;)
    if (!llvm::is_contained(kept, d))
      space.projectOut(d);
  unsigned own = llvm::find(kept, dim) - kept.begin();
  DimBounds bounds;
  auto visit = [&](ArrayRef<int64_t> row, bool equality) {
    int64_t step = row[own];
    if (step == 0)
      return;
    AffineExpr rest = getAffineConstantExpr(row.back(), context);
    for (auto [i, d] : llvm::enumerate(kept))
      if (d != dim)
        rest = rest + getAffineDimExpr(d, context) * row[i];
    for (unsigned s = 0; s < numSymbols; ++s)
      rest = rest + getAffineSymbolExpr(s, context) * row[kept.size() + s];
    // What divisions stand for has no name here.
    for (unsigned local = kept.size() + numSymbols; local + 1 < row.size(); ++local)
      if (row[local] != 0)
        return;
    addLinear(bounds, step, rest, equality);
  };
  auto visitAll = [&] {
    for (unsigned i = 0; i < space.getNumInequalities(); ++i)
      visit(space.getInequality64(i), false);
    for (unsigned i = 0; i < space.getNumEqualities(); ++i)
      visit(space.getEquality64(i), true);
  };
  visitAll();
  // Without the divisions there are looser bounds: they serve where there is no other.
  if ((bounds.lowers.empty() || bounds.uppers.empty()) && space.getNumLocalVars() > 0) {
    space.projectOut(kept.size() + numSymbols, space.getNumLocalVars());
    bounds = {};
    visitAll();
  }
  return bounds;
}

DimBounds schedule::boundsOf(BlockOp block, unsigned dim, llvm::function_ref<bool(unsigned)> known) {
  DimBounds bounds;
  IntegerSet set = block.getDomainSet();
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    bool open = false;
    for (unsigned other = 0; other < set.getNumDims(); ++other)
      open |= other != dim && !known(other) && expr.isFunctionOfDim(other);
    // Other constraints stay in the guard.
    if (!open)
      addBound(bounds, expr, equality, dim, set);
  }
  if (bounds.lowers.empty() || bounds.uppers.empty()) {
    DimBounds projected = projectedBounds(set, dim, known);
    bounds.lowers.append(projected.lowers);
    bounds.uppers.append(projected.uppers);
  }
  return bounds;
}

bool schedule::hasLoopBounds(ArrayRef<BlockOp> nest, unsigned dim, llvm::function_ref<bool(unsigned)> known) {
  return llvm::all_of(nest, [&](BlockOp block) {
    DimBounds bounds = boundsOf(block, dim, known);
    return !bounds.lowers.empty() && !bounds.uppers.empty();
  });
}

llvm::SmallBitVector schedule::findAsked(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dealt, llvm::SmallBitVector known) {
  llvm::SmallBitVector asked(known.size());
  for (auto [number, dim] : llvm::enumerate(dealt)) {
    for (BlockOp block : nest) {
      DimBounds bounds = boundsOf(block, dim, [&](unsigned d) { return known[d]; });
      for (unsigned before : dealt.take_front(number)) {
        auto mentions = [&](AffineExpr e) { return e.isFunctionOfDim(before); };
        if (llvm::any_of(bounds.lowers, mentions) || llvm::any_of(bounds.uppers, mentions))
          asked.set(before);
      }
    }
    known.set(dim);
  }
  return asked;
}

bool schedule::isRectangular(ArrayRef<BlockOp> nest, unsigned dim) {
  SmallVector<StringAttr> names;
  std::optional<SmallVector<AffineExpr>> range;
  for (BlockOp block : nest) {
    SmallVector<AffineExpr> found;
    IntegerSet set = block.getDomainSet();
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      if (!expr.isFunctionOfDim(dim))
        continue;
      if (!dependsOnlyOn(expr, dim, set.getNumDims()))
        return false;
      found.push_back(withNames(expr, block, names));
      if (equality) // one iteration: a range of both conditions
        found.push_back(withNames(-expr, block, names));
    }
    if (range && *range != found)
      return false;
    range = std::move(found);
  }
  return true;
}
