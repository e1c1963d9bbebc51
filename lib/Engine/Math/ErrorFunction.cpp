//===- ErrorFunction.cpp - erf --------------------------------------------===//
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
