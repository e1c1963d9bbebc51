//===- Exponential.cpp - exp, exp2, expm1, tanh ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Coefficients.h"
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::math_tables;

namespace {
/// x = n ln(2) + r.
struct Reduced {
  Value n, r;
};
} // namespace

static Reduced reduce(const MathBuilder &m, Value x) {
  MathBuilder::Rounded n = m.round(m.mul(x, m.c(0x1.71547652b82fep+0)));
  // ln(2) in two parts, the first of so few bits that n times it is exact.
  double high = m.isSingle() ? 0x1.62e4p-1 : 0x1.62e42ffp-1;
  double low = m.isSingle() ? 0x1.7f7d1cf79abcap-20 : -0x1.718432a1b0e26p-35;
  Value r = m.fma(n.value, m.c(-high), x);
  return {n.integer, m.fma(n.value, m.c(-low), r)};
}

/// exp(r) - 1 for a reduced r.
static Value tail(const MathBuilder &m, Value r) {
  return m.fma(m.polynomial(r, expTailF32, expTailF64), m.mul(r, r), r);
}

Value mlir::ft::buildExp(const MathBuilder &m, Value x) {
  // Outside, the result has long been 0 or infinite.
  x = m.isSingle() ? m.clamp(x, -104.5, 89) : m.clamp(x, -746, 710);
  Reduced reduced = reduce(m, x);
  return m.scale(m.add(tail(m, reduced.r), m.c(1)), reduced.n);
}

Value mlir::ft::buildExp2(const MathBuilder &m, Value x) {
  x = m.isSingle() ? m.clamp(x, -151, 129) : m.clamp(x, -1076, 1025);
  MathBuilder::Rounded n = m.round(x);
  Value r = m.mul(m.sub(x, n.value), m.c(0x1.62e42fefa39efp-1));
  return m.scale(m.add(tail(m, r), m.c(1)), n.integer);
}

Value mlir::ft::buildExpM1(const MathBuilder &m, Value x) {
  Value clamped = m.isSingle() ? m.clamp(x, -26, 89) : m.clamp(x, -56, 710);
  Reduced reduced = reduce(m, clamped);
  // 2^n (e + 1) - 1 = 2 (2^(n-1) e + (2^(n-1) - 1/2)): 2^n may be infinite.
  Value half = m.powerOfTwo(m.subI(reduced.n, m.ci(1)));
  Value y = m.fma(half, tail(m, reduced.r), m.sub(half, m.c(0.5)));
  y = m.add(y, y);
  return m.select(m.equal(x, m.c(0)), x, y); // the sign of -0
}

Value mlir::ft::buildTanh(const MathBuilder &m, Value x) {
  // tanh(a) = -t / (2 + t) with t = exp(-2a) - 1, accurate also for small a.
  Value a = m.clamp(m.abs(x), 0, m.isSingle() ? 10 : 20);
  Reduced reduced = reduce(m, m.mul(a, m.c(-2)));
  Value scale = m.powerOfTwo(reduced.n);
  Value t = m.fma(scale, tail(m, reduced.r), m.sub(scale, m.c(1)));
  return m.copySign(m.div(m.neg(t), m.add(t, m.c(2))), x);
}
