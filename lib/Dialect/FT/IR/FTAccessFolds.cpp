//===- FTAccessFolds.cpp - rewrites of access operators -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds and canonicalisations. Every rewrite keeps the result's type, and its
// new lengths and positions follow from the bounds again: a rewrite that cannot
// show this does not happen.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;

static LengthAttr lengthOf(Value list) { return cast<ListType>(list.getType()).getLength(); }

/// Provably a ≤ b at `op`.
static bool isAtMost(Operation *op, LengthAttr a, LengthAttr b) {
  LengthAttr difference = a && b ? b - a : LengthAttr();
  return difference && isProvablyNonNegative(op, difference);
}

/// The same SSA value, or equal constants.
static bool isSameValue(Value a, Value b) {
  if (a == b)
    return true;
  Attribute x, y;
  return matchPattern(a, m_Constant(&x)) && matchPattern(b, m_Constant(&y)) && x == y;
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

OpFoldResult ShiftOp::fold(FoldAdaptor) {
  LengthAttr offset = getOffset(), zero = LengthAttr::get(getContext(), 0);
  if (offset == zero)
    return getInput();
  auto inner = getInput().getDefiningOp<ShiftOp>();
  if (!inner || !isSameValue(inner.getFill(), getFill()))
    return {};
  // Shifts in opposite directions lose elements between them.
  LengthAttr first = inner.getOffset(), sum = first + offset;
  bool forwards = isAtMost(*this, zero, first) && isAtMost(*this, zero, offset);
  bool backwards = isAtMost(*this, first, zero) && isAtMost(*this, offset, zero);
  if (!sum || (!forwards && !backwards))
    return {};
  setOffsetAttr(sum);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  if (auto inner = getInput().getDefiningOp<ReverseOp>())
    return inner.getInput();
  if (getInput().getDefiningOp<RepeatOp>())
    return getInput();
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // 0 ≤ lo ≤ hi ≤ n: of the same length means the whole.
  if (getInput().getType() == getResult().getType())
    return getInput();
  auto inner = getInput().getDefiningOp<SliceOp>();
  if (!inner)
    return {};
  LengthAttr n = lengthOf(getInput());
  LengthAttr start = resolveIndex(inner.getLo(), lengthOf(inner.getInput()));
  LengthAttr lo = start + resolveIndex(getLo(), n), hi = start + resolveIndex(getHi(), n);
  setLoAttr(lo);
  setHiAttr(hi);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult StrideOp::fold(FoldAdaptor) {
  if (getStart() == 0 && getStep() == 1)
    return getInput();
  auto inner = getInput().getDefiningOp<StrideOp>();
  int64_t start, step;
  if (!inner ||
      llvm::MulOverflow(static_cast<int64_t>(getStep()), static_cast<int64_t>(inner.getStep()),
                        step) ||
      llvm::MulOverflow(static_cast<int64_t>(getStart()), static_cast<int64_t>(inner.getStep()),
                        start) ||
      llvm::AddOverflow(start, static_cast<int64_t>(inner.getStart()), start))
    return {};
  // The last element that the inner one skips may lie beyond the end: D2 holds
  // of both and yet not of their composition.
  LengthAttr rest = lengthOf(inner.getInput()) - start;
  if (!rest || !isProvablyNonNegative(*this, rest) || rest.ceilDiv(step) != lengthOf(getResult()))
    return {};
  setStart(start);
  setStep(step);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult GetOp::fold(FoldAdaptor) {
  if (auto zip = getInput().getDefiningOp<ZipOp>())
    if (Value member = zip.getInputs()[getIndex()]; member.getType() == getType())
      return member;
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  SmallVector<Value> pieces;
  for (Value input : getInputs()) {
    if (auto inner = input.getDefiningOp<ConcatOp>())
      llvm::append_range(pieces, inner.getInputs());
    else if (lengthOf(input).getConstant() != 0)
      pieces.push_back(input);
  }
  if (pieces.empty() || llvm::equal(pieces, getInputs()))
    return {};
  getInputsMutable().assign(pieces);
  return getResult();
}

OpFoldResult FlattenOp::fold(FoldAdaptor) {
  if (auto split = getInput().getDefiningOp<SplitOp>();
      split && split.getInput().getType() == getType())
    return split.getInput();
  return {};
}

OpFoldResult SplitOp::fold(FoldAdaptor) {
  if (auto flatten = getInput().getDefiningOp<FlattenOp>();
      flatten && flatten.getInput().getType() == getType())
    return flatten.getInput();
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  SmallVector<int64_t> permutation(getPermutation());
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (inner) {
    // Dimension d of the result is dimension p(q(d)) of the inner input.
    ArrayRef<int64_t> p = inner.getPermutation();
    while (permutation.size() < p.size())
      permutation.push_back(permutation.size());
    for (int64_t &dim : permutation)
      dim = dim < static_cast<int64_t>(p.size()) ? p[dim] : dim;
  }
  while (!permutation.empty() && permutation.back() == static_cast<int64_t>(permutation.size()) - 1)
    permutation.pop_back();
  if (permutation.empty())
    return inner ? inner.getInput() : getInput();
  if (!inner && permutation.size() == getPermutation().size())
    return {};
  if (inner)
    getInputMutable().assign(inner.getInput());
  setPermutation(permutation);
  return getResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// A shift by the whole length or more leaves nothing but the fill.
static LogicalResult shiftOut(ShiftOp op, PatternRewriter &rewriter) {
  LengthAttr n = lengthOf(op.getInput());
  LengthAttr offset = op.getOffset(), zero = LengthAttr::get(op.getContext(), 0);
  if (n.getRagged() || (!isAtMost(op, n, offset) && !isAtMost(op, n, zero - offset)))
    return failure();
  rewriter.replaceOpWithNewOp<RepeatOp>(op, op.getFill(), n);
  return success();
}

/// Some of the windows of a list are the windows of a part of it.
static LogicalResult sliceOfWindow(SliceOp op, PatternRewriter &rewriter) {
  auto window = op.getInput().getDefiningOp<WindowOp>();
  if (!window || window.getBoundary() != Boundary::None)
    return failure();
  LengthAttr n = lengthOf(op.getInput());
  LengthAttr lo = resolveIndex(op.getLo(), n), hi = resolveIndex(op.getHi(), n);
  LengthAttr one = LengthAttr::get(op.getContext(), 1);
  LengthAttr step = LengthAttr::get(op.getContext(), window.getStep());
  // Without any window left there is no part that one fits.
  if (!isAtMost(op, lo + one, hi))
    return failure();
  LengthAttr first = lo * step, end = (hi - one) * step + window.getExtent() + one;
  if (!isAtMost(op, end, lengthOf(window.getInput())))
    return failure();
  Value part = SliceOp::create(rewriter, op.getLoc(), window.getInput(), first, end);
  auto result =
      WindowOp::create(rewriter, op.getLoc(), part, window.getSizeAttr(), window.getStepAttr(),
                       window.getDilationAttr(), window.getBoundaryAttr());
  if (result.getType() != op.getType()) {
    rewriter.eraseOp(result);
    rewriter.eraseOp(part.getDefiningOp());
    return failure();
  }
  rewriter.replaceOp(op, result);
  return success();
}

static LogicalResult sliceOfRepeat(SliceOp op, PatternRewriter &rewriter) {
  auto repeat = op.getInput().getDefiningOp<RepeatOp>();
  if (!repeat)
    return failure();
  rewriter.replaceOpWithNewOp<RepeatOp>(op, repeat.getValue(), lengthOf(op.getResult()));
  return success();
}

/// Reads element `index` of `list`, which is known to have it, from where it comes.
static Value readThrough(AtOp op, Value list, LengthAttr index, PatternRewriter &rewriter) {
  Operation *def = list.getDefiningOp();
  if (!def)
    return nullptr;
  MLIRContext *context = op.getContext();
  LengthAttr n = lengthOf(list);
  auto at = [&](Value from, LengthAttr position) -> Value {
    return AtOp::create(rewriter, op.getLoc(), from, position);
  };
  // A rewrite that moves the position shows again that it is in bounds.
  auto atChecked = [&](Value from, LengthAttr position) -> Value {
    if (!position || !isProvablyNonNegative(op, position) ||
        !isAtMost(op, position + 1, lengthOf(from)))
      return nullptr;
    return at(from, position);
  };

  if (auto slice = dyn_cast<SliceOp>(def))
    return at(slice.getInput(), resolveIndex(slice.getLo(), lengthOf(slice.getInput())) + index);
  if (auto reverse = dyn_cast<ReverseOp>(def))
    return at(reverse.getInput(), n - index - 1);
  if (auto stride = dyn_cast<StrideOp>(def))
    return atChecked(stride.getInput(),
                     index * LengthAttr::get(context, stride.getStep()) + stride.getStart());
  if (auto repeat = dyn_cast<RepeatOp>(def))
    return repeat.getValue();
  if (auto cast_ = dyn_cast<CastOp>(def)) {
    if (cast<ListType>(cast_.getInput().getType()).getPeeled() != op.getType())
      return nullptr;
    return atChecked(cast_.getInput(), index);
  }
  if (auto shift = dyn_cast<ShiftOp>(def)) {
    LengthAttr position = index - shift.getOffset();
    if (isAtMost(op, position + 1, LengthAttr::get(context, 0)) || isAtMost(op, n, position))
      return shift.getFill();
    return atChecked(shift.getInput(), position);
  }
  if (auto concat = dyn_cast<ConcatOp>(def)) {
    for (Value piece : concat.getInputs()) {
      LengthAttr length = lengthOf(piece);
      if (isAtMost(op, index + 1, length))
        return at(piece, index);
      if (!isAtMost(op, length, index))
        return nullptr;
      index = index - length;
    }
    return nullptr;
  }
  if (isa<IotaOp>(def)) {
    auto tensor = cast<RankedTensorType>(op.getType());
    std::optional<int64_t> value = index.getConstant();
    unsigned width = tensor.getElementType().isIndex() ? 64 : tensor.getElementTypeBitWidth();
    if (!value || !llvm::isUIntN(width, *value))
      return nullptr;
    auto constant = DenseElementsAttr::get(tensor, APInt(width, *value));
    return arith::ConstantOp::create(rewriter, op.getLoc(), tensor, constant);
  }
  return nullptr;
}

static LogicalResult atOfAccess(AtOp op, PatternRewriter &rewriter) {
  LengthAttr n = lengthOf(op.getInput());
  if (n.getRagged())
    return failure();
  Value element = readThrough(op, op.getInput(), resolveIndex(op.getIndex(), n), rewriter);
  if (!element)
    return failure();
  rewriter.replaceOp(op, element);
  return success();
}

/// Members are taken before the access, so that `zip` and `get` meet and go.
static LogicalResult getOfAccess(GetOp op, PatternRewriter &rewriter) {
  Operation *def = op.getInput().getDefiningOp();
  if (!def || !isa<AtOp, SliceOp, ReverseOp, StrideOp, WindowOp, GatherOp, ConcatOp, FlattenOp,
                   SplitOp, TransposeOp, RepeatOp, ShiftOp, CastOp>(def))
    return failure();
  IRMapping mapping;
  auto take = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, GetOp::create(rewriter, op.getLoc(), value, op.getIndexAttr()));
  };
  // The indices of a gather are no tuples.
  if (auto gather = dyn_cast<GatherOp>(def))
    take(gather.getInput());
  else
    for (Value operand : def->getOperands())
      take(operand);
  Operation *moved = rewriter.clone(*def, mapping);
  rewriter.modifyOpInPlace(moved, [&] { moved->getResult(0).setType(op.getType()); });
  rewriter.replaceOp(op, moved->getResults());
  return success();
}

void ShiftOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(shiftOut);
}
void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(sliceOfWindow);
  patterns.add(sliceOfRepeat);
}
void AtOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(atOfAccess);
}
void GetOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(getOfAccess);
}
