//===- Logarithm.cpp - log, log2, log10, log1p, pow -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Coefficients.h"
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::math_tables;

namespace {
/// x = 2^e (1 + f), log(1 + f) = f - correction.
struct Parts {
  Value e, f, correction;
};
} // namespace

static Parts split(const MathBuilder &m, Value x) {
  // Denormals become normal first.
  int bits = m.mantissaBits();
  double smallest = m.isSingle() ? 0x1p-126 : 0x1p-1022, up = m.isSingle() ? 0x1p23 : 0x1p52;
  Value tiny = m.less(x, m.c(smallest));
  Value normal = m.select(tiny, m.mul(x, m.c(up)), x);
  Value biased = m.select(tiny, m.ci(-bits), m.ci(0));
  // 1 + f in [sqrt(1/2), sqrt(2)).
  Value raw = m.bitsOf(normal);
  Value e = m.shiftRight(m.subI(raw, m.bitsOf(m.c(0x1.6a09e667f3bcdp-1))), bits);
  Value f = m.sub(m.fromBits(m.subI(raw, m.shiftLeft(e, bits))), m.c(1));
  // log(1 + f) = 2 atanh(s), s = f / (2 + f).
  Value s = m.div(f, m.add(f, m.c(2)));
  Value z = m.mul(s, s);
  Value half = m.mul(m.c(0.5), m.mul(f, f));
  Value rest = m.mul(z, m.polynomial(z, logTailF32, logTailF64));
  Value correction = m.sub(half, m.mul(s, m.add(half, rest)));
  return {m.toFloat(m.addI(e, biased)), f, correction};
}

/// The values that are not those of the formula.
static Value special(const MathBuilder &m, Value x, Value y) {
  y = m.select(m.equal(x, m.infinity()), x, y);
  Value outside = m.select(m.equal(x, m.c(0)), m.infinity(true), m.nan());
  return m.select(m.less(m.c(0), x), y, outside);
}

static Value plainLog(const MathBuilder &m, Value x) {
  Parts parts = split(m, x);
  double high = m.isSingle() ? 0x1.62e4p-1 : 0x1.62e42ffp-1;
  double low = m.isSingle() ? 0x1.7f7d1cf79abcap-20 : -0x1.718432a1b0e26p-35;
  Value small = m.sub(m.mul(parts.e, m.c(low)), parts.correction);
  return m.fma(parts.e, m.c(high), m.add(parts.f, small));
}

Value mlir::ft::buildLog(const MathBuilder &m, Value x) { return special(m, x, plainLog(m, x)); }

/// e * perTwo + log(1 + f) * factor, with `factor` in two parts.
static Value otherBase(const MathBuilder &m, Value x, double perTwoHigh, double perTwoLow,
                       double factor, double factorLow) {
  Parts parts = split(m, x);
  Value log = m.sub(parts.f, parts.correction);
  // What rounding took from f - correction.
  Value lost = m.sub(m.sub(parts.f, log), parts.correction);
  Value low = m.fma(lost, m.c(factor), m.mul(log, m.c(factorLow)));
  low = m.fma(parts.e, m.c(perTwoLow), low);
  return special(m, x, m.fma(parts.e, m.c(perTwoHigh), m.fma(log, m.c(factor), low)));
}

Value mlir::ft::buildLog2(const MathBuilder &m, Value x) {
  double factor = 0x1.71547652b82fep+0;
  if (m.isSingle())
    return otherBase(m, x, 1, 0, float(factor), factor - float(factor));
  return otherBase(m, x, 1, 0, factor, 0x1.777d0ffda0d24p-56);
}

Value mlir::ft::buildLog10(const MathBuilder &m, Value x) {
  double perTwo = 0x1.34413509f79ffp-2, factor = 0x1.bcb7b1526e50ep-2;
  if (m.isSingle()) {
    double high = 0x1.344p-2;
    return otherBase(m, x, high, perTwo - high, float(factor), factor - float(factor));
  }
  return otherBase(m, x, 0x1.34413509f8p-2, -0x1.80433b83b532ap-44, factor, 0x1.95355baaafad3p-57);
}

Value mlir::ft::buildLog1p(const MathBuilder &m, Value x) {
  // log(u) for u = 1 + x rounded, and what the rounding took.
  Value u = m.add(x, m.c(1));
  Value lost = m.div(m.sub(x, m.sub(u, m.c(1))), u);
  // For a large u the loss is that of the 1.
  Value large = m.less(m.c(m.isSingle() ? 0x1p25 : 0x1p54), u);
  Value log = m.add(plainLog(m, u), m.select(large, m.c(0), lost));
  log = special(m, u, log);
  return m.select(m.equal(x, m.c(0)), x, log);
}

/// x^y for f64: exp(y log(x)), with log(x) in two parts.
static Value powDouble(const MathBuilder &m, Value x, Value y) {
  Value a = m.abs(x);
  Parts parts = split(m, a);
  Value high = m.c(0x1.62e42ffp-1), low = m.c(-0x1.718432a1b0e26p-35);
  // log = e ln(2) + f - correction, summed with its rounding errors.
  Value exact = m.mul(parts.e, high); // few bits: exact
  Value sum = m.add(exact, parts.f);
  Value error = m.sub(parts.f, m.sub(sum, exact));
  Value rest = m.fma(parts.e, low, m.sub(error, parts.correction));
  Value log = m.add(sum, rest);
  Value logLow = m.sub(rest, m.sub(log, sum));
  Value product = m.mul(log, y);
  Value productLow = m.fma(log, y, m.neg(product));
  productLow = m.fma(logLow, y, productLow);
  Value finite = m.less(m.abs(product), m.c(800));
  productLow = m.select(finite, productLow, m.c(0));
  product = m.select(m.equal(a, m.c(0)), m.mul(m.infinity(true), y), product);
  product = m.select(m.equal(a, m.infinity()), m.mul(a, y), product);
  // exp(p + l) = exp(p) (1 + l).
  Value power = buildExp(m, product);
  Value corrected = m.fma(power, productLow, power);
  return m.select(m.both(finite, m.less(power, m.infinity())), corrected, power);
}

Value mlir::ft::buildPowF(const MathBuilder &m, Value x, Value y) {
  Value power;
  if (m.isSingle()) {
    // f64 has the bits that the product with y needs.
    MathBuilder twice(m.b, m.b.getLoc(), m.like(m.b.getF64Type()));
    Value a = arith::ExtFOp::create(m.b, twice.floatType(), m.abs(x));
    Value exponent = arith::ExtFOp::create(m.b, twice.floatType(), y);
    Value wide = buildExp(twice, twice.mul(exponent, buildLog(twice, a)));
    power = arith::TruncFOp::create(m.b, m.floatType(), wide);
  } else {
    power = powDouble(m, x, y);
  }
  Value one = m.c(1), zero = m.c(0);
  power = m.select(m.equal(m.abs(x), one), one, power); // also to the infinite
  // A negative base: only to integers, and odd ones give its sign.
  Value isInteger = m.equal(m.floor(y), y);
  Value halved = m.mul(y, m.c(0.5));
  Value isOdd = m.both(isInteger, m.less(m.floor(halved), halved));
  power = m.select(isOdd, m.copySign(power, x), power);
  Value negative = m.both(m.less(x, zero), m.less(m.infinity(true), x));
  Value undefined = m.both(negative, m.less(m.floor(y), y));
  power = m.select(undefined, m.nan(), power);
  // What is 1 whatever the other is.
  power = m.select(m.cmp(arith::CmpFPredicate::UNO, x, y), m.nan(), power);
  power = m.select(m.equal(x, one), one, power);
  return m.select(m.equal(y, zero), one, power);
}
