//===- OnlineFormTensors.cpp - forms of operations on whole tensors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries forms through loops of `linalg` operations: into iteration dimensions,
// through the scalar body, and out, where a reduction must leave the parameter's
// dimensions alone.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/OnlineForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;

/// In a renumbering of dimensions: the only index of a dimension of length 1, and none.
static constexpr int64_t unit = -1, lost = -2;

static bool remap(ElementAtom &atom, ArrayRef<int64_t> dims) {
  for (SmallVector<int64_t, 4> *places : {&atom.dims, &atom.scaleDims})
    for (int64_t &d : *places) {
      if (d >= 0)
        d = d < static_cast<int64_t>(dims.size()) ? dims[d] : lost;
      if (d == lost)
        return false;
    }
  return true;
}

static std::optional<Combination> remap(const Combination &form, ArrayRef<int64_t> dims) {
  Combination result;
  result.constant = form.constant;
  for (const auto &[from, coefficient] : form.terms) {
    ElementAtom atom = from;
    if (!remap(atom, dims))
      return std::nullopt;
    Combination term;
    term.terms[atom] = coefficient;
    result.add(term, 1);
  }
  return result;
}

static std::optional<ParameterFactor> remap(const ParameterFactor &factor, ArrayRef<int64_t> dims) {
  ParameterFactor result;
  for (const auto &[from, exponent] : factor.exponents) {
    ElementAtom atom = from;
    if (!remap(atom, dims))
      return std::nullopt;
    result.exponents[atom] += exponent;
  }
  for (const auto &[from, power] : factor.powers) {
    ElementAtom atom = from;
    if (!remap(atom, dims))
      return std::nullopt;
    result.powers[atom] += power;
  }
  std::erase_if(result.exponents, [](const auto &term) { return term.second == 0; });
  std::erase_if(result.powers, [](const auto &term) { return term.second == 0; });
  return result;
}

/// The parameters must survive, the rest is what a sum runs over.
static std::optional<ShiftedProduct> remap(const ShiftedProduct &product, ArrayRef<int64_t> dims) {
  ShiftedProduct result;
  std::optional<ParameterFactor> factor = remap(product.factor, dims);
  if (!factor)
    return std::nullopt;
  result.factor = *factor;
  for (const ShiftedForm &form : product.forms) {
    ShiftedForm moved;
    moved.power = form.power;
    for (auto [to, terms] : {std::pair(&moved.parameters, &form.parameters),
                             std::pair(&moved.logarithms, &form.logarithms)})
      for (const auto &[from, coefficient] : *terms) {
        ElementAtom atom = from;
        if (!remap(atom, dims))
          return std::nullopt;
        (*to)[atom] += coefficient;
      }
    if (form.rest)
      moved.rest = remap(*form.rest, dims);
    result.forms.push_back(moved);
  }
  return result;
}

/// The form over other dimensions. What holds of no element of the new ones is dropped.
static ValueForm remap(const ValueForm &form, ArrayRef<int64_t> dims, ArrayRef<int64_t> boundDims) {
  ValueForm result = form;
  result.bounds.clear();
  result.touched.clear();
  for (ElementAtom atom : form.touched) {
    if (remap(atom, dims))
      result.touched.push_back(atom);
    else
      result.touchesMore = true;
  }
  for (const ElementBound &bound : form.bounds)
    if (std::optional<Combination> moved = remap(bound.form, boundDims))
      result.bounds.push_back({bound.upper, *moved});
  if (form.linear)
    result.linear = remap(*form.linear, dims);
  if (form.factor)
    result.factor = remap(*form.factor, dims);
  if (form.shifted)
    result.shifted = remap(*form.shifted, dims);
  if (form.square) {
    // The parameter's part must survive, the rest is what the sum runs over.
    std::optional<Combination> moved = remap(form.squared, dims);
    if (moved)
      result.squared = *moved;
  }
  return result;
}

/// The renumbering for bounds: dimensions that only they range over stay free, after `rank`.
static SmallVector<int64_t> keepFree(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> all(dims);
  for (unsigned i = 0; i < 8; ++i)
    all.push_back(rank++);
  return all;
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

namespace {
/// How an operand's dimensions run with the loops.
struct OperandDims {
  SmallVector<int64_t> toLoops;
  bool isKnown = true;
};
} // namespace

static OperandDims getOperandDims(AffineMap map) {
  OperandDims dims;
  for (AffineExpr result : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      dims.toLoops.push_back(dim.getPosition());
    } else if (auto constant = dyn_cast<AffineConstantExpr>(result);
               constant && constant.getValue() == 0) {
      dims.toLoops.push_back(unit);
    } else {
      dims.isKnown = false;
      dims.toLoops.push_back(lost);
    }
  }
  return dims;
}

/// Whether forms may pass through a sum or an extremum over the loops that `out` lacks: the
/// body combines the old value of the result, once, with something.
static bool isFold(Value yielded, BlockArgument out) {
  Operation *op = yielded.getDefiningOp();
  return op && out.hasOneUse() &&
         isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
             op) &&
         llvm::is_contained(op->getOperands(), out);
}

static bool hasReduction(linalg::LinalgOp op) { return op.getNumReductionLoops() > 0; }

/// What the body sees of an operand: its form over the loops.
ValueForm OnlineForms::seenInside(linalg::LinalgOp op, OpOperand &operand) {
  OperandDims dims = getOperandDims(op.getMatchingIndexingMap(&operand));
  const ValueForm &form = get(operand.get());
  ValueForm inside = remap(form, dims.toLoops, keepFree(dims.toLoops, op.getNumLoops()));
  ValueForm passed = inside;
  bool lostFactor = (form.factor && !inside.factor) || (form.shifted && !inside.shifted);
  if ((!dims.isKnown && !form.isInvariant() && !form.isZero()) || lostFactor)
    inside = makeFailure(op, {&form},
                         "reads what depends on the parameter by an index map "
                         "that is no permutation");
  inside.touched = passed.touched;
  inside.touchesMore = passed.touchesMore;
  // A state stays itself only where it is written back to its own place.
  if (inside.whenFalse.kind == WhenFalse::State && !op.isDpsInit(&operand) &&
      (hasReduction(op) ||
       op.getMatchingIndexingMap(&operand) != op.getMatchingIndexingMap(op.getDpsInitOperand(0))))
    inside.whenFalse = {WhenFalse::Unknown};
  return inside;
}

/// An operation of a body, over forms of its operands.
void OnlineForms::visitScalar(Operation &inner) {
  SmallVector<ValueForm, 0> copies;
  for (Value operand : inner.getOperands())
    copies.push_back(get(operand));
  SmallVector<const ValueForm *> all;
  for (const ValueForm &form : copies)
    all.push_back(&form);
  if (inner.getNumRegions() || inner.getNumResults() != 1) {
    bool invariant = llvm::all_of(all, [](const ValueForm *f) { return f->isInvariant(); });
    for (Value result : inner.getResults()) {
      forms[result] = invariant && !inner.getNumRegions()
                          ? makeInvariant(result)
                          : makeFailure(&inner, all, "no rule says how it follows the parameter");
      forms[result].touchesMore |= !forms[result].isInvariant();
    }
    return;
  }
  if (inner.getNumOperands() == 0) {
    get(inner.getResult(0)); // a constant or an index
    return;
  }
  ValueForm form = evaluate(&inner, all);
  forms[inner.getResult(0)] = form;
}

/// How a result of an operation runs with its loops, and what the body yields for it.
struct OnlineForms::LinalgResult {
  linalg::LinalgOp op;
  OpOperand *init;
  Value result, yielded;
  SmallVector<int64_t> toResult, toBound; // of each loop; free dimensions after the result's
  int64_t rank;
  bool isKnown = true; // by dimensions alone
  bool isFold = false;

  LinalgResult(linalg::LinalgOp op, unsigned i, Value yielded)
      : op(op), init(op.getDpsInitOperand(i)), result(op->getResult(i)), yielded(yielded),
        toResult(op.getNumLoops(), lost), toBound(op.getNumLoops(), lost),
        rank(cast<RankedTensorType>(result.getType()).getRank()) {
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(init).getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        toResult[dim.getPosition()] = toBound[dim.getPosition()] = d;
      else
        isKnown = false;
    }
    for (int64_t &d : toBound)
      if (d == lost)
        d = rank++;
    isFold = hasReduction(op) && ::isFold(yielded, op.getMatchingBlockArgument(init));
  }
};

/// A sum of equal constants, if that is what the reduction is.
std::optional<double> OnlineForms::sumOfConstants(const LinalgResult &of) {
  linalg::LinalgOp op = of.op;
  const ValueForm &start = get(of.init->get());
  Operation *combiner = of.yielded.getDefiningOp();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!of.isFold || !isa<arith::AddFOp>(combiner) || !start.isZero() || start.unknownState ||
      llvm::any_of(ranges, ShapedType::isDynamic))
    return std::nullopt;
  bool outIsFirst = combiner->getOperand(0) == op.getMatchingBlockArgument(of.init);
  std::optional<double> each = get(combiner->getOperand(outIsFirst ? 1 : 0)).constant;
  if (!each)
    return std::nullopt;
  double count = 1;
  for (auto [l, size] : llvm::enumerate(ranges))
    if (of.toResult[l] == lost)
      count *= static_cast<double>(size);
  return *each * count;
}

/// What a reduction leaves of what its body yields.
void OnlineForms::reduceForm(ValueForm &outside, const LinalgResult &of) {
  if (!of.isFold)
    outside.bounds.clear();
  outside.linear.reset();
  outside.constant = sumOfConstants(of);
  // What the comparisons leave unchanged, a reduction leaves unchanged.
  if (!of.isFold && outside.whenFalse.kind != WhenFalse::Invariant)
    outside.whenFalse = {WhenFalse::Unknown};
}

/// A result that does not depend on the parameter, with what else is known of it.
ValueForm OnlineForms::invariantResult(const ValueForm &outside, const LinalgResult &of) {
  bool isNamed = outside.linear && llvm::all_of(outside.linear->terms, [&](const auto &term) {
                   return isa<RankedTensorType>(roots[term.first.root].getType());
                 });
  ValueForm named = makeInvariant(of.result);
  if (isNamed && of.isKnown)
    named.linear = outside.linear;
  if (of.isKnown)
    named.bounds = outside.bounds;
  named.constant = outside.constant;
  named.whenFalse = outside.whenFalse;
  return named;
}

/// A sum of squares: each element of the sum must hold one element of the parameter.
void OnlineForms::keepSquares(ValueForm &outside, const ValueForm &form, const LinalgResult &of) {
  linalg::LinalgOp op = of.op;
  for (auto [from, coefficient] : getParameterTerms(form.squared)) {
    ElementAtom atom = from;
    if (!remap(atom, of.toResult)) {
      outside = makeFailure(op, {}, "the correction varies along what it reduces");
      outside.touchesMore = true;
    } else if (outside.square) {
      // Only the parameter's place is still needed, and the form of its terms.
      Combination kept;
      kept.terms[atom] = coefficient;
      if (std::optional<Combination> whole = remap(form.squared, of.toResult); whole && !hasReduction(op))
        kept = *whole;
      outside.squared = kept;
    }
  }
}

ValueForm OnlineForms::seenOutside(const LinalgResult &of) {
  linalg::LinalgOp op = of.op;
  ValueForm form = get(of.yielded);
  ValueForm outside = remap(form, of.toResult, keepFree(of.toBound, of.rank));
  bool lostFactor =
      (form.factor && !form.factor->empty() && !outside.factor) || (form.shifted && !outside.shifted);
  if (hasReduction(op))
    reduceForm(outside, of);
  if (form.isInvariant())
    return invariantResult(outside, of);
  if (!of.isKnown || lostFactor || (hasReduction(op) && !of.isFold)) {
    ValueForm failed = makeFailure(op, {&form},
                                   lostFactor ? "the correction varies along what it reduces"
                                              : "reduces by something else than a sum, a "
                                                "maximum or a minimum");
    failed.whenFalse = outside.whenFalse;
    failed.touch(outside);
    return failed;
  }
  if (form.square)
    keepSquares(outside, form, of);
  if (hasReduction(op) && !outside.isKnown() && !outside.culprit) {
    outside.culprit = op;
    outside.reason = "sums what the parameter shifts";
  }
  return outside;
}

void OnlineForms::visitLinalg(linalg::LinalgOp op) {
  for (Value operand : op->getOperands())
    get(operand); // may move what `forms` holds
  for (OpOperand &operand : op->getOpOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(&operand)) {
      ValueForm inside = seenInside(op, operand);
      forms[argument] = inside;
    }
  unsigned outerLoops = std::exchange(numLoops, op.getNumLoops());
  Block *body = op.getBlock();
  for (Operation &inner : body->without_terminator())
    visitScalar(inner);
  for (auto [i, yielded] : llvm::enumerate(body->getTerminator()->getOperands())) {
    if (i >= op->getNumResults())
      break;
    ValueForm outside = seenOutside(LinalgResult(op, i, yielded));
    forms[op->getResult(i)] = outside;
  }
  numLoops = outerLoops;
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

/// Reshapes that add or drop dimensions of length 1.
void OnlineForms::visitReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  ValueForm form = get(source);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  auto groups = expand ? expand.getReassociationIndices() : collapse.getReassociationIndices();
  auto longer = cast<RankedTensorType>(expand ? result.getType() : source.getType());
  SmallVector<int64_t> toResult(cast<RankedTensorType>(source.getType()).getRank(), unit);
  bool known = longer.hasStaticShape();
  for (auto [shortDim, group] : llvm::enumerate(groups)) {
    int64_t place = unit;
    for (int64_t d : group)
      if (known && longer.getDimSize(d) != 1) {
        known &= place == unit;
        place = d;
      }
    if (expand)
      toResult[shortDim] = place;
    else if (place != unit)
      toResult[place] = shortDim;
  }
  if (!known) {
    bool invariant = form.isInvariant();
    ValueForm whole = invariant
                          ? makeInvariant(result)
                          : makeFailure(op, {&form}, "reshapes what depends on the parameter");
    whole.touchesMore = form.touchesMore || !form.touched.empty();
    forms[result] = whole;
    return;
  }
  // An only index stays one: a dimension of length 1 is never lost.
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  ValueForm moved = remap(form, toResult, keepFree(toResult, rank));
  if (moved.whenFalse.kind == WhenFalse::State)
    moved.whenFalse = {WhenFalse::Unknown};
  forms[result] = moved;
}

void OnlineForms::visit(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op);
      structured && structured.hasPureTensorSemantics()) {
    visitLinalg(structured);
    return;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    visitReshape(op);
    return;
  }
  if (op->getNumOperands() == 0 && op->getNumRegions() == 0) {
    for (Value result : op->getResults())
      get(result);
    return;
  }
  SmallVector<ValueForm, 0> copies;
  for (Value operand : op->getOperands())
    copies.push_back(get(operand));
  SmallVector<const ValueForm *> operands;
  for (const ValueForm &form : copies)
    operands.push_back(&form);
  bool isElementwise = OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
                       llvm::all_of(op->getOperands(), [&](Value operand) {
                         return !isa<RankedTensorType>(operand.getType()) ||
                                cast<RankedTensorType>(operand.getType()).getShape() ==
                                    cast<RankedTensorType>(op->getResult(0).getType()).getShape();
                       });
  // A region may read values from outside.
  bool captures = op->getNumRegions() != 0;
  for (Value result : op->getResults()) {
    if (isElementwise && isa<RankedTensorType>(result.getType()))
      forms[result] = evaluate(op, operands);
    else if (!captures &&
             llvm::all_of(operands, [](const ValueForm *f) { return f->isInvariant(); }))
      forms[result] = makeInvariant(result);
    else {
      ValueForm failed = makeFailure(op, operands, "no rule says how it follows the parameter");
      for (const ValueForm *operand : operands)
        failed.touchesMore |= operand->touchesMore || !operand->touched.empty();
      failed.touchesMore |= captures;
      forms[result] = failed;
    }
  }
}
