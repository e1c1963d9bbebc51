//===- Trigonometric.cpp - sin, cos, tan, atan ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Coefficients.h"
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::math_tables;

namespace {
/// x = quadrant * pi / 2 + r; sin and cos of r.
struct Circle {
  Value quadrant, sin, cos;
};
} // namespace

static Circle reduce(const MathBuilder &m, Value x) {
  // f32 is reduced in f64, which is exact enough for every |x| below 1e9.
  MathBuilder wide(m.b, m.b.getLoc(), m.like(m.b.getF64Type()));
  bool single = m.isSingle();
  if (single)
    x = arith::ExtFOp::create(m.b, wide.floatType(), x);
  MathBuilder::Rounded n = wide.round(wide.mul(x, wide.c(0x1.45f306dc9c883p-1)));
  Value r = wide.fma(n.value, wide.c(-0x1.921fb54442d18p+0), x);
  r = wide.fma(n.value, wide.c(-0x1.1a62633145c07p-54), r);
  Value quadrant = n.integer;
  if (single) {
    r = arith::TruncFOp::create(m.b, m.floatType(), r);
    quadrant = arith::TruncIOp::create(m.b, m.intType(), quadrant);
  }
  Value z = m.mul(r, r);
  Value sin = m.fma(m.mul(r, z), m.polynomial(z, sinTailF32, sinTailF64), r);
  Value cos =
      m.fma(m.mul(z, z), m.polynomial(z, cosTailF32, cosTailF64), m.fma(z, m.c(-0.5), m.c(1)));
  return {quadrant, sin, cos};
}

/// The sine in a quadrant, from the sine and cosine of the remainder.
static Value pick(const MathBuilder &m, Value quadrant, Value sin, Value cos) {
  Value odd =
      arith::CmpIOp::create(m.b, arith::CmpIPredicate::ne, m.andI(quadrant, m.ci(1)), m.ci(0));
  Value y = m.select(odd, cos, sin);
  Value sign = m.shiftLeft(m.andI(quadrant, m.ci(2)), m.isSingle() ? 30 : 62);
  return m.fromBits(m.xorI(m.bitsOf(y), sign));
}

Value mlir::ft::buildSin(const MathBuilder &m, Value x) {
  Circle circle = reduce(m, x);
  return pick(m, circle.quadrant, circle.sin, circle.cos);
}

Value mlir::ft::buildCos(const MathBuilder &m, Value x) {
  Circle circle = reduce(m, x);
  return pick(m, m.addI(circle.quadrant, m.ci(1)), circle.sin, circle.cos);
}

Value mlir::ft::buildTan(const MathBuilder &m, Value x) {
  Circle circle = reduce(m, x);
  Value sin = pick(m, circle.quadrant, circle.sin, circle.cos);
  Value cos = pick(m, m.addI(circle.quadrant, m.ci(1)), circle.sin, circle.cos);
  return m.div(sin, cos);
}

Value mlir::ft::buildAtan(const MathBuilder &m, Value x) {
  // atan(a) = base + atan(t), |t| <= tan(pi/8).
  Value a = m.abs(x);
  Value middle = m.less(m.c(0x1.a827999fcef32p-2), a), large = m.less(m.c(0x1.3504f333f9de6p+1), a);
  Value one = m.c(1);
  Value numerator = m.select(large, m.c(-1), m.select(middle, m.sub(a, one), a));
  Value denominator = m.select(large, a, m.select(middle, m.add(a, one), one));
  Value base = m.select(large, m.c(0x1.921fb54442d18p+0),
                        m.select(middle, m.c(0x1.921fb54442d18p-1), m.c(0)));
  Value t = m.div(numerator, denominator);
  Value z = m.mul(t, t);
  Value y = m.fma(m.mul(t, z), m.polynomial(z, atanTailF32, atanTailF64), t);
  return m.copySign(m.add(base, y), x);
}
