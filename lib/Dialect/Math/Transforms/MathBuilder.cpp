//===- MathBuilder.cpp - Straight-line arithmetic on f32 or f64 -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;

static Value constant(ImplicitLocOpBuilder &b, Type type, Attribute value) {
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(b, cast<TypedAttr>(value));
}

Value MathBuilder::c(double value) const {
  return constant(b, type, FloatAttr::get(getElementTypeOrSelf(type), value));
}

Value MathBuilder::infinity(bool negative) const {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  return constant(b, type,
                  FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics(), negative)));
}

Value MathBuilder::nan() const {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  return constant(b, type, FloatAttr::get(element, APFloat::getQNaN(element.getFloatSemantics())));
}

Value MathBuilder::ci(int64_t value) const {
  Type integer = intType();
  return constant(b, integer, IntegerAttr::get(getElementTypeOrSelf(integer), value));
}

Value MathBuilder::clamp(Value x, double low, double high) const {
  // The constant is chosen only if the comparison holds, which it never does for
  // NaN; both become one instruction.
  x = select(less(c(high), x), c(high), x);
  return select(less(x, c(low)), c(low), x);
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> coefficients) const {
  Value sum = c(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, c(coefficient));
  return sum;
}

MathBuilder::Rounded MathBuilder::round(Value x) const {
  // Adding 1.5 * 2^mantissa leaves the integer in the low bits.
  double magic = isSingle() ? 0x1.8p23 : 0x1.8p52;
  Value shifted = add(x, c(magic));
  return {sub(shifted, c(magic)), subI(bitsOf(shifted), bitsOf(c(magic)))};
}

Value MathBuilder::powerOfTwo(Value n) const {
  return fromBits(shiftLeft(addI(n, ci(exponentBias())), mantissaBits()));
}

Value MathBuilder::scale(Value x, Value n) const {
  // In two steps: 2^n itself may be infinite or denormal where x * 2^n is not.
  Value half = shiftRight(n, 1);
  return mul(mul(x, powerOfTwo(half)), powerOfTwo(subI(n, half)));
}
