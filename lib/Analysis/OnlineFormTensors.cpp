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

void OnlineForms::visitLinalg(linalg::LinalgOp op) {
  unsigned loops = op.getNumLoops();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool hasReduction = llvm::is_contained(iterators, utils::IteratorType::reduction);
  // Dimensions of length 1 that an operand fixes at 0 are units; those of its type, too.
  Block *body = op.getBlock();
  SmallVector<const ValueForm *> all;
  for (Value operand : op->getOperands()) {
    get(operand); // may move what `forms` holds
  }
  for (OpOperand &operand : op->getOpOperands()) {
    OperandDims dims = getOperandDims(op.getMatchingIndexingMap(&operand));
    const ValueForm &form = get(operand.get());
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!argument)
      continue;
    ValueForm inside = remap(form, dims.toLoops, keepFree(dims.toLoops, loops));
    ValueForm passed = inside;
    bool lostFactor = (form.factor && !inside.factor) || (form.shifted && !inside.shifted);
    if ((!dims.isKnown && !form.isInvariant() && !form.isZero()) || lostFactor)
      inside = makeFailure(op, {&form},
                           "reads what depends on the parameter by an index map "
                           "that is no permutation");
    inside.touched = passed.touched;
    inside.touchesMore = passed.touchesMore;
    // A state stays itself only where it is written back to its own place.
    if (inside.whenFalse.kind == WhenFalse::State &&
        (!op.isDpsInit(&operand) &&
         op.getMatchingIndexingMap(&operand) != op.getMatchingIndexingMap(op.getDpsInitOperand(0))))
      inside.whenFalse = {WhenFalse::Unknown};
    if (inside.whenFalse.kind == WhenFalse::State && !op.isDpsInit(&operand) && hasReduction)
      inside.whenFalse = {WhenFalse::Unknown};
    forms[argument] = inside;
  }
  unsigned outerLoops = std::exchange(numLoops, loops);
  for (Operation &inner : body->without_terminator()) {
    SmallVector<ValueForm, 0> copies;
    for (Value operand : inner.getOperands())
      copies.push_back(get(operand));
    all.clear();
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
      continue;
    }
    if (inner.getNumOperands() == 0) {
      get(inner.getResult(0)); // a constant or an index
      continue;
    }
    ValueForm form = evaluate(&inner, all);
    forms[inner.getResult(0)] = form;
  }

  for (auto [i, yielded] : llvm::enumerate(body->getTerminator()->getOperands())) {
    if (i >= op->getNumResults())
      break;
    Value result = op->getResult(i);
    OpOperand *init = op.getDpsInitOperand(i);
    BlockArgument out = op.getMatchingBlockArgument(init);
    ValueForm form = get(yielded);
    // Loops to the result's dimensions; loops that a bound ranges over are free ones after them.
    AffineMap map = op.getMatchingIndexingMap(init);
    SmallVector<int64_t> toResult(loops, lost), toBound(loops, lost);
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    bool known = true;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        toResult[dim.getPosition()] = toBound[dim.getPosition()] = d;
      else
        known = false;
    }
    for (int64_t &d : toBound)
      if (d == lost)
        d = rank++;
    bool fold = hasReduction && isFold(yielded, out);
    ValueForm outside = remap(form, toResult, keepFree(toBound, rank));
    bool lostFactor = (form.factor && !form.factor->empty() && !outside.factor) ||
                      (form.shifted && !outside.shifted);
    if (hasReduction) {
      if (!fold)
        outside.bounds.clear();
      outside.linear.reset();
      outside.constant.reset();
      // A sum of equal constants.
      const ValueForm &start = get(init->get());
      Operation *combiner = yielded.getDefiningOp();
      if (fold && isa<arith::AddFOp>(combiner) && start.isZero() && !start.unknownState) {
        Value term = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
        if (std::optional<double> each = get(term).constant) {
          double count = 1;
          for (auto [l, size] : llvm::enumerate(op.getStaticLoopRanges()))
            if (toResult[l] == lost)
              count *= static_cast<double>(size);
          if (!llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
            outside.constant = *each * count;
        }
      }
      // What the comparisons leave unchanged, a reduction leaves unchanged.
      if (!fold && outside.whenFalse.kind != WhenFalse::Invariant)
        outside.whenFalse = {WhenFalse::Unknown};
    }
    if (form.isInvariant()) {
      bool isNamed = outside.linear && llvm::all_of(outside.linear->terms, [&](const auto &term) {
                       return isa<RankedTensorType>(roots[term.first.root].getType());
                     });
      ValueForm named = makeInvariant(result);
      if (isNamed && known)
        named.linear = outside.linear;
      named.bounds = outside.bounds;
      named.constant = outside.constant;
      named.whenFalse = outside.whenFalse;
      if (!known)
        named.bounds.clear();
      forms[result] = named;
      continue;
    }
    if (!known || lostFactor || (hasReduction && !fold)) {
      ValueForm failed = makeFailure(op, {&form},
                                     lostFactor ? "the correction varies along what it reduces"
                                                : "reduces by something else than a sum, a "
                                                  "maximum or a minimum");
      failed.whenFalse = outside.whenFalse;
      failed.touch(outside);
      forms[result] = failed;
      continue;
    }
    if (form.square) {
      // Each element of the sum must hold one element of the parameter.
      for (auto [from, coefficient] : getParameterTerms(form.squared)) {
        ElementAtom atom = from;
        if (!remap(atom, toResult)) {
          outside = makeFailure(op, {}, "the correction varies along what it reduces");
          outside.touchesMore = true;
        } else if (outside.square) {
          // Only the parameter's place is still needed, and the form of its terms.
          Combination kept;
          kept.terms[atom] = coefficient;
          if (!hasReduction && remap(form.squared, toResult))
            kept = *remap(form.squared, toResult);
          outside.squared = kept;
        }
      }
    }
    if (hasReduction && !fold)
      outside.shifted.reset();
    if (hasReduction && !outside.isKnown() && !outside.culprit) {
      outside.culprit = op;
      outside.reason = "sums what the parameter shifts";
    }
    forms[result] = outside;
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
