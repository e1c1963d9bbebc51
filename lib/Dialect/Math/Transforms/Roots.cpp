//===- Roots.cpp - rsqrt, cbrt, round -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;

Value mlir::ft::buildRsqrt(const MathBuilder &m, Value x) { return m.div(m.c(1), m.sqrt(x)); }

Value mlir::ft::buildCbrt(const MathBuilder &m, Value x) {
  // 2^(log2(a) / 3), then one step of Newton's method, by a / y^2, which stays a normal number.
  Value a = m.abs(x);
  Value y = buildExp2(m, m.mul(buildLog2(m, a), m.c(1.0 / 3)));
  Value step = m.sub(m.div(a, m.mul(y, y)), y);
  y = m.fma(step, m.c(1.0 / 3), y);
  Value same = arith::OrIOp::create(m.b, m.equal(a, m.c(0)), m.equal(a, m.infinity()));
  return m.select(same, x, m.copySign(y, x));
}

Value mlir::ft::buildRound(const MathBuilder &m, Value x) {
  // Halves go away from 0. What the floor leaves is exact; of an infinity it is NaN, which is no half.
  Value a = m.abs(x), whole = m.floor(a);
  Value up = m.cmp(arith::CmpFPredicate::OGE, m.sub(a, whole), m.c(0.5));
  return m.copySign(m.select(up, m.add(whole, m.c(1)), whole), x);
}
