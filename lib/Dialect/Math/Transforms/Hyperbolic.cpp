//===- Hyperbolic.cpp - sinh, cosh, asinh, acosh, atanh -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From expm1 and log1p, which lose nothing near 0.
//
//===----------------------------------------------------------------------===//
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;

/// exp(a) / 2 where exp(a) itself may already be infinite.
static Value halfExp(const MathBuilder &m, Value a) {
  Value root = buildExp(m, m.mul(a, m.c(0.5)));
  return m.mul(m.mul(root, m.c(0.5)), root);
}

/// From here on exp(-a) is nothing beside exp(a), which is still finite.
static Value isLarge(const MathBuilder &m, Value a) {
  return m.less(m.c(m.isSingle() ? 44 : 350), a);
}

Value mlir::ft::buildSinh(const MathBuilder &m, Value x) {
  // With t = exp(a) - 1, sinh(a) = (t + t / (t + 1)) / 2.
  Value a = m.abs(x);
  Value t = buildExpM1(m, a);
  Value small = m.mul(m.c(0.5), m.add(t, m.div(t, m.add(t, m.c(1)))));
  return m.copySign(m.select(isLarge(m, a), halfExp(m, a), small), x);
}

Value mlir::ft::buildCosh(const MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value e = buildExp(m, a);
  Value small = m.mul(m.c(0.5), m.add(e, m.div(m.c(1), e)));
  return m.select(isLarge(m, a), halfExp(m, a), small);
}

/// log(2a), for an `a` whose square would lose the 1 beside it.
static Value logOfTwice(const MathBuilder &m, Value a) {
  return m.add(buildLog(m, a), m.c(0x1.62e42fefa39efp-1));
}
static Value losesOne(const MathBuilder &m, Value a) {
  return m.less(m.c(m.isSingle() ? 0x1p14 : 0x1p28), a);
}

Value mlir::ft::buildAsinh(const MathBuilder &m, Value x) {
  // log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))).
  Value a = m.abs(x), square = m.mul(a, a);
  Value root = m.sqrt(m.add(square, m.c(1)));
  Value small = buildLog1p(m, m.add(a, m.div(square, m.add(root, m.c(1)))));
  return m.copySign(m.select(losesOne(m, a), logOfTwice(m, a), small), x);
}

Value mlir::ft::buildAcosh(const MathBuilder &m, Value x) {
  // With t = x - 1, which is exact near 1: log1p(t + sqrt(2t + t^2)).
  Value t = m.sub(x, m.c(1));
  Value root = m.sqrt(m.mul(t, m.add(t, m.c(2))));
  Value small = buildLog1p(m, m.add(t, root));
  Value y = m.select(losesOne(m, x), logOfTwice(m, x), small);
  return m.select(m.less(x, m.c(1)), m.nan(), y);
}

Value mlir::ft::buildAtanh(const MathBuilder &m, Value x) {
  // log((1 + a) / (1 - a)) / 2 = log1p(2a / (1 - a)) / 2; NaN beyond 1.
  Value a = m.abs(x);
  Value ratio = m.div(m.add(a, a), m.sub(m.c(1), a));
  return m.copySign(m.mul(m.c(0.5), buildLog1p(m, ratio)), x);
}
