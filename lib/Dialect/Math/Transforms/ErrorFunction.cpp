//===- ErrorFunction.cpp - erf, erfc --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Coefficients.h"
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::math_tables;

Value mlir::ft::buildErf(const MathBuilder &m, Value x) {
  bool single = m.isSingle();
  Value a = m.abs(x);
  Value z = m.mul(a, a);
  Value small = m.mul(a, m.polynomial(z, erfSmallF32, erfSmallF64));
  // 1 - exp(log(erfc(a))): the logarithm is smooth where erfc is not.
  Value clamped = m.clamp(a, 1, single ? 4 : 6);
  Value u = m.sub(clamped, m.c(single ? 2.5 : 3.5));
  Value log = single ? m.polynomial(u, erfcLogSingleF32) : m.polynomial(u, erfcLogDoubleF64);
  Value large = m.sub(m.c(1), buildExp(m, log));
  Value isSmall = m.less(a, m.c(1));
  return m.copySign(m.select(isSmall, small, large), x);
}

Value mlir::ft::buildErfc(const MathBuilder &m, Value x) {
  bool single = m.isSingle();
  // Near 0 what is missing to 1; further out exp(-a^2) times what falls like 1 / (1 + 2a).
  Value z = m.mul(x, x);
  Value small = m.sub(m.c(1), m.mul(x, m.polynomial(z, erfSmallF32, erfSmallF64)));
  Value a = m.clamp(m.abs(x), 0.5, single ? 10.5 : 27.5);
  Value t = m.div(m.sub(a, m.c(3)), m.add(a, m.c(3)));
  Value scaled = single ? m.polynomial(t, erfcScaledSingleF32) : m.polynomial(t, erfcScaledDoubleF64);
  scaled = m.div(scaled, m.fma(a, m.c(2), m.c(1)));
  // exp(-(s + r)) = exp(-s) (1 - r), s the rounded square and r what was rounded away.
  Value square = m.mul(a, a), rest = m.fma(a, a, m.neg(square));
  scaled = m.fma(m.neg(scaled), rest, scaled);
  Value tail = m.mul(buildExp(m, m.neg(square)), scaled);
  Value far = m.select(m.less(x, m.c(0)), m.sub(m.c(2), tail), tail);
  return m.select(m.less(m.abs(x), m.c(0.5)), small, far);
}
