//===- Trigonometric.cpp - sin, cos, tan, atan ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Coefficients.h"
#include "MathBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::math_tables;

namespace {
/// x = quadrant * pi / 2 + r; sin and cos of r.
struct Circle {
  Value quadrant, sin, cos;
};
} // namespace

/// From here on products of x and pi / 2 in two parts are no longer exact, nor is the rounding.
static constexpr double hugeAngle = 0x1p51;
static constexpr double halfPi = 0x1.921fb54442d18p+0;

/// Bits of 1 / (4 pi): those of 2 / pi after three zeros, so that the first window begins at bit 0.
static constexpr uint64_t turnBits[] = {
    0x145f306dc9c882a5, 0x3f84eafa3ea69bb8, 0x1b6c52b327887208, 0x3fca2c757bd778ac,
    0x36e48dc74849ba5c, 0x00c925dd413a3243, 0x9fc3bd63962534e7, 0xdd1046bea5d76890,
    0x9d338e04d68befc8, 0x27323ac7306a673e, 0x93908bf177bf2507, 0x63ff12fffbc0b301,
    0xfde5e2316b414da3, 0xeda6cfd9e4f96136, 0xe9e8c7ecd3cbfd45, 0xaea4f758fd7cbe2f,
    0x67a0e73ef14a525d, 0x4d7f6bf623f1aba1, 0x0ac06608df8f6d75};

/// The upper half of the product of two unsigned integers of 64 bits.
static Value upperHalf(const MathBuilder &m, Value x, Value y) {
  auto up = [&](Value v) { return arith::ShRUIOp::create(m.b, v, m.ci(32)); };
  auto low = [&](Value v) { return m.andI(v, m.ci(0xffffffff)); };
  auto times = [&](Value v, Value w) { return arith::MulIOp::create(m.b, v, w); };
  Value first = up(times(low(x), low(y)));
  Value second = m.addI(times(up(x), low(y)), first);
  Value third = m.addI(times(low(x), up(y)), low(second));
  return m.addI(m.addI(times(up(x), up(y)), up(second)), up(third));
}

/// Words of 64 bits of the table from bit `start` on.
static SmallVector<Value> bitsFrom(const MathBuilder &m, Value start, unsigned count, int64_t last) {
  Value index = m.shiftRight(start, 6), shift = m.andI(start, m.ci(63));
  SmallVector<Value> words;
  for (unsigned j = 0; j <= count; ++j) {
    Value word = m.ci(int64_t(turnBits[j]));
    for (int64_t i = 1; i <= last / 64; ++i) {
      Value here = arith::CmpIOp::create(m.b, arith::CmpIPredicate::eq, index, m.ci(i));
      word = m.select(here, m.ci(int64_t(turnBits[i + j])), word);
    }
    words.push_back(word);
  }
  Value back = m.subI(m.ci(63), shift);
  for (unsigned j = 0; j < count; ++j) {
    Value upper = arith::ShLIOp::create(m.b, words[j], shift);
    Value half = arith::ShRUIOp::create(m.b, words[j + 1], m.ci(1));
    words[j] = arith::OrIOp::create(m.b, upper, arith::ShRUIOp::create(m.b, half, back));
  }
  words.pop_back();
  return words;
}

/// The quadrant and the remainder of a huge angle: its mantissa times those bits of 2 / pi that are no
/// multiples of four (Payne and Hanek, 1983). `single`: it comes from an f32.
static std::pair<Value, Value> reduceHuge(const MathBuilder &m, Value x, bool single) {
  Value bits = m.bitsOf(m.abs(x));
  Value mantissa = arith::OrIOp::create(m.b, m.andI(bits, m.ci((int64_t(1) << 52) - 1)), m.ci(int64_t(1) << 52));
  // 2^51 begins at bit 0; the largest numbers of both types end the range.
  int64_t last = single ? 127 - 51 : 1023 - 51;
  Value start = m.subI(arith::ShRUIOp::create(m.b, bits, m.ci(52)), m.ci(1023 + 51));
  start = arith::MinSIOp::create(m.b, arith::MaxSIOp::create(m.b, start, m.ci(0)), m.ci(last));
  SmallVector<Value> window = bitsFrom(m, start, single ? 2 : 3, last);
  auto times = [&](Value w) { return arith::MulIOp::create(m.b, mantissa, w); };
  Value whole = m.addI(times(window[0]), upperHalf(m, mantissa, window[1])), rest;
  if (!single) {
    Value middle = times(window[1]);
    rest = m.addI(middle, upperHalf(m, mantissa, window[2]));
    Value carries = arith::CmpIOp::create(m.b, arith::CmpIPredicate::ult, rest, middle);
    whole = m.addI(whole, m.select(carries, m.ci(1), m.ci(0)));
  }
  // Two bits of whole quadrants, then the fraction; the nearest quadrant leaves a signed one.
  Value quadrant = arith::ShRUIOp::create(m.b, m.addI(whole, m.ci(int64_t(1) << 61)), m.ci(62));
  Value r = m.mul(m.toFloat(m.subI(whole, m.shiftLeft(quadrant, 62))), m.c(0x1p-62));
  if (rest)
    r = m.fma(arith::UIToFPOp::create(m.b, m.floatType(), rest), m.c(0x1p-126), r);
  r = m.mul(r, m.c(halfPi));
  Value isNegative = m.less(x, m.c(0));
  r = m.select(isNegative, m.neg(r), r);
  quadrant = m.select(isNegative, m.subI(m.ci(0), quadrant), quadrant);
  // Infinity has no sine.
  return {m.add(r, m.sub(x, x)), quadrant};
}

/// Whether any lane holds; of vectors of several dimensions it is not asked.
static Value anyOf(const MathBuilder &m, Value truths) {
  auto vector = dyn_cast<VectorType>(truths.getType());
  if (!vector)
    return truths;
  if (vector.getRank() == 1)
    return vector::ReductionOp::create(m.b, vector::CombiningKind::OR, truths);
  return arith::ConstantOp::create(m.b, m.b.getBoolAttr(true));
}

static Circle reduce(const MathBuilder &m, Value x) {
  // f32 is reduced in f64.
  MathBuilder wide(m.b, m.b.getLoc(), m.like(m.b.getF64Type()));
  bool single = m.isSingle();
  if (single)
    x = arith::ExtFOp::create(m.b, wide.floatType(), x);
  MathBuilder::Rounded n = wide.round(wide.mul(x, wide.c(0x1.45f306dc9c883p-1)));
  Value r = wide.fma(n.value, wide.c(-halfPi), x);
  r = wide.fma(n.value, wide.c(-0x1.1a62633145c07p-54), r);
  Value quadrant = n.integer;
  Value isHuge = wide.cmp(arith::CmpFPredicate::OGE, wide.abs(x), wide.c(hugeAngle));
  auto parts = scf::IfOp::create(
      m.b, anyOf(wide, isHuge),
      [&](OpBuilder &b, Location loc) {
        MathBuilder inner(b, loc, wide.floatType());
        auto [huge, turned] = reduceHuge(inner, x, single);
        scf::YieldOp::create(inner.b, ValueRange{inner.select(isHuge, huge, r), inner.select(isHuge, turned, quadrant)});
      },
      [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, ValueRange{r, quadrant}); });
  r = parts.getResult(0);
  quadrant = parts.getResult(1);
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
