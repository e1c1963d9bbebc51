//===- WindowAdjoint.cpp - the transpose of windows -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows with a boundary are windows without one of the list with a part before and after it. What such a list gets
// back is a sum of shifted lists, one for each place of a window; then the parts give theirs to the ends of the list.
//
//===----------------------------------------------------------------------===//
#include "WindowAdjoint.h"

#include "ft/Dialect/FT/IR/FTForms.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

static LengthAttr number(Writer &w, int64_t value) { return LengthAttr::get(w.b.getContext(), value); }

Value derivatives::spreadBy(Writer &w, Value list, int64_t step) {
  if (step == 1)
    return list;
  ListType type = listOf(list);
  Value spread = w.map(list, [&](Writer &inner, ValueRange v) {
    Value one = RepeatOp::create(inner.b, w.loc, v[0], number(inner, 1));
    return inner.surround(one, number(inner, 0), number(inner, step - 1));
  });
  (void)type;
  return FlattenOp::create(w.b, w.loc, spread);
}

/// What the list of `length` elements gets back whose windows of `size` places, without boundary, are `windows`:
/// `size` is a constant.
static Value addPlaces(Writer &w, Value windows, int64_t size, int64_t step, LengthAttr dilation, LengthAttr length) {
  Type peeled = cast<ListType>(listOf(windows).getPeeled()).getPeeled();
  ListType whole = ListType::wrap(length, peeled);
  LengthAttr numWindows = listOf(windows).getLength();
  Value sum;
  for (int64_t place = 0; place < size; ++place) {
    LengthAttr before = dilation * number(w, place);
    Value column = w.map(windows, [&](Writer &inner, ValueRange v) -> Value {
      return AtOp::create(inner.b, w.loc, v[0], number(inner, place));
    });
    Value spread = spreadBy(w, column, step);
    // Beyond the list there are only the zeros that follow the last window.
    LengthAttr after = dilation * number(w, size - 1 - place);
    Value part = w.surround(spread, before, after);
    LengthAttr end = numWindows * number(w, step) + dilation * number(w, size - 1);
    if (step != 1 || end != length)
      part = SliceOp::create(w.b, w.loc, part, number(w, 0), length);
    sum = buildSum(w.b, w.loc, sum, w.cast(part, whole));
  }
  return sum ? sum : buildZero(w.b, w.loc, whole);
}

/// The same for a size that is known at the call: element j of the list is place p of window i where
/// i · step + p · dilation = j.
static Value findPlaces(Writer &w, Value windows, int64_t step, LengthAttr dilation, LengthAttr length) {
  Type index = w.b.getI64Type();
  auto scalar = RankedTensorType::get({}, index);
  auto constant = [&](Writer &at, int64_t value) -> Value {
    return arith::ConstantOp::create(at.b, w.loc, DenseElementsAttr::get(scalar, at.b.getI64IntegerAttr(value)));
  };
  auto valueOf = [&](LengthAttr n) -> Value {
    if (std::optional<int64_t> known = n.getConstant())
      return constant(w, *known);
    Value last = LastOp::create(w.b, w.loc, w.iota(n, index), constant(w, -1));
    return arith::AddIOp::create(w.b, w.loc, last, constant(w, 1));
  };
  ListType type = listOf(windows), inner = cast<ListType>(type.getPeeled());
  Value columns = TransposeOp::create(w.b, w.loc, windows, ArrayRef<int64_t>{1, 0});
  Value count = valueOf(type.getLength()), spacing = valueOf(dilation);
  Value places = w.iota(inner.getLength(), index), zero = constant(w, 0), pace = constant(w, step);
  return w.map(w.iota(length, index), [&](Writer &outer, ValueRange j) {
    Value parts = outer.map({places, columns}, [&](Writer &at, ValueRange v) -> Value {
      Value distance = arith::SubIOp::create(at.b, w.loc, j[0], arith::MulIOp::create(at.b, w.loc, v[0], spacing));
      Value window = arith::FloorDivSIOp::create(at.b, w.loc, distance, pace);
      Value exact = arith::CmpIOp::create(at.b, w.loc, arith::CmpIPredicate::eq, distance,
                                          arith::MulIOp::create(at.b, w.loc, window, pace));
      Value low = arith::CmpIOp::create(at.b, w.loc, arith::CmpIPredicate::sge, window, zero);
      Value high = arith::CmpIOp::create(at.b, w.loc, arith::CmpIPredicate::slt, window, count);
      Value both = arith::AndIOp::create(at.b, w.loc, arith::AndIOp::create(at.b, w.loc, low, high), exact);
      // One element more, a zero, stands for all windows that there are not.
      Value more = at.surround(v[1], number(at, 0), number(at, 1));
      Value taken = arith::SelectOp::create(at.b, w.loc, both, window, count);
      return GatherOp::create(at.b, w.loc, more, taken);
    });
    return outer.sumOf(parts);
  });
}

/// To the list itself, what the parts before and after it got.
static Value returnBoundary(WindowOp op, Writer &w, Value padded, LengthAttr low, LengthAttr high) {
  ListType type = op.getInput().getType();
  LengthAttr length = type.getLength(), zero = number(w, 0);
  Value own = w.cast(w.slice(padded, low, low + length), type);
  Value before = w.slice(padded, zero, low), after = w.slice(padded, low + length, low + length + high);
  auto place = [&](Value part, LengthAttr lo, LengthAttr hi) {
    return w.cast(w.surround(part, lo, length - hi), type);
  };
  auto one = [&](Value value) -> Value { return RepeatOp::create(w.b, w.loc, value, number(w, 1)); };
  Value first, last;
  switch (op.getBoundary()) {
  case Boundary::Clamp:
    first = place(one(w.sumOf(before)), zero, number(w, 1));
    last = place(one(w.sumOf(after)), length - 1, length);
    break;
  case Boundary::Mirror:
    first = place(ReverseOp::create(w.b, w.loc, before), number(w, 1), low + 1);
    last = place(ReverseOp::create(w.b, w.loc, after), length - high - 1, length - 1);
    break;
  case Boundary::Wrap:
    first = place(before, length - low, length);
    last = place(after, zero, high);
    break;
  default:
    return own;
  }
  if (low.getConstant() != 0)
    own = buildSum(w.b, w.loc, own, first);
  return high.getConstant() != 0 ? buildSum(w.b, w.loc, own, last) : own;
}

// Windows of more places than this are found by place, in one loop, and not unrolled.
static constexpr int64_t maxUnrolledPlaces = 64;

Value derivatives::transposeWindow(WindowOp op, Writer &w, Value g) {
  LengthAttr length = op.getInput().getType().getLength(), zero = number(w, 0);
  LengthAttr low = zero, high = zero, dilation = op.getDilationOrOne();
  if (op.getBoundary() != Boundary::None) {
    low = op.getOverhangLow();
    high = op.getExtent() - low;
  }
  LengthAttr whole = low + length + high;
  std::optional<int64_t> size = op.getSize().getConstant();
  Value padded = size && *size <= maxUnrolledPlaces ? addPlaces(w, g, *size, op.getStep(), dilation, whole)
                                                    : findPlaces(w, g, op.getStep(), dilation, whole);
  return returnBoundary(op, w, padded, low, high);
}
