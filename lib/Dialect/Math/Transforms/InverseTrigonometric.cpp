//===- InverseTrigonometric.cpp - asin, acos, atan2 -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Coefficients.h"
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::math_tables;

// pi / 2 in two parts: a difference from it is not rounded to the first alone.
static constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;

/// base * pi / 2 - y.
static Value fromHalfPi(const MathBuilder &m, double base, Value y) {
  double high = m.isSingle() ? static_cast<float>(halfPi) : halfPi;
  double low = m.isSingle() ? halfPi - high : halfPiLow;
  return m.add(m.sub(m.c(base * high), y), m.c(base * low));
}

namespace {
/// asin of the argument itself where that is at most 1/2, else of sqrt((1 - |x|) / 2), whose arc is
/// half of what is missing to a right angle.
struct Arc {
  Value near, asin;
};
} // namespace

static Arc reduce(const MathBuilder &m, Value a) {
  Value near = m.cmp(arith::CmpFPredicate::OLE, a, m.c(0.5));
  Value half = m.mul(m.c(0.5), m.sub(m.c(1), a)); // exact beyond 1/2; negative, so NaN, beyond 1
  Value t = m.select(near, a, m.sqrt(half));
  Value z = m.select(near, m.mul(a, a), half);
  return {near, m.fma(m.mul(t, z), m.polynomial(z, asinTailF32, asinTailF64), t)};
}

Value mlir::ft::buildAsin(const MathBuilder &m, Value x) {
  Arc arc = reduce(m, m.abs(x));
  Value far = fromHalfPi(m, 1, m.add(arc.asin, arc.asin));
  return m.copySign(m.select(arc.near, arc.asin, far), x);
}

Value mlir::ft::buildAcos(const MathBuilder &m, Value x) {
  Arc arc = reduce(m, m.abs(x));
  Value twice = m.add(arc.asin, arc.asin);
  Value far = m.select(m.less(x, m.c(0)), fromHalfPi(m, 2, twice), twice);
  return m.select(arc.near, fromHalfPi(m, 1, m.copySign(arc.asin, x)), far);
}

Value mlir::ft::buildAtan2(const MathBuilder &m, Value y, Value x) {
  // The angle in the first octant, of the smaller to the larger, then mirrored into place.
  Value b = m.abs(y), a = m.abs(x);
  Value steep = m.less(a, b);
  Value numerator = m.select(steep, a, b), denominator = m.select(steep, b, a);
  // 0 / 0 is 0 here, and infinite / infinite 1; NaN stays in the numerator or makes the quotient NaN.
  denominator = m.select(m.equal(denominator, m.c(0)), m.c(1), denominator);
  Value quotient = m.div(numerator, denominator);
  quotient = m.select(m.equal(numerator, m.infinity()), m.c(1), quotient);
  Value angle = buildAtan(m, quotient);
  angle = m.select(steep, fromHalfPi(m, 1, angle), angle);
  Value left = m.less(m.copySign(m.c(1), x), m.c(0)); // also -0
  angle = m.select(left, fromHalfPi(m, 2, angle), angle);
  Value undefined = m.cmp(arith::CmpFPredicate::UNO, x, y);
  return m.select(undefined, m.nan(), m.copySign(angle, y));
}
