//===- MathBuilder.h - Straight-line arithmetic on f32 or f64 ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the bodies of elementary functions on scalars or vectors alike. No
// operation here is undefined for any input: integers come from floats by their
// bits, never by a conversion that a NaN would make poison.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_MATH_TRANSFORMS_MATHBUILDER_H
#define FT_LIB_DIALECT_MATH_TRANSFORMS_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::ft {

class MathBuilder {
public:
  /// `type`: f32, f64 or a vector of them.
  MathBuilder(OpBuilder &builder, Location loc, Type type) : b(loc, builder), type(type) {}

  bool isSingle() const { return getElementTypeOrSelf(type).isF32(); }
  int mantissaBits() const { return isSingle() ? 23 : 52; }
  int exponentBias() const { return isSingle() ? 127 : 1023; }
  Type floatType() const { return type; }
  Type intType() const { return like(b.getIntegerType(isSingle() ? 32 : 64)); }
  Type like(Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }

  // Constants of the type, or integers of its width.
  Value c(double value) const;
  Value infinity(bool negative = false) const;
  Value nan() const;
  Value ci(int64_t value) const;

  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, x, y); }
  Value neg(Value x) const { return arith::NegFOp::create(b, x); }
  Value abs(Value x) const { return math::AbsFOp::create(b, x); }
  Value fma(Value x, Value y, Value z) const { return math::FmaOp::create(b, x, y, z); }
  Value copySign(Value x, Value sign) const { return math::CopySignOp::create(b, x, sign); }
  Value floor(Value x) const { return math::FloorOp::create(b, x); }
  Value sqrt(Value x) const { return math::SqrtOp::create(b, x); }
  Value select(Value p, Value x, Value y) const { return arith::SelectOp::create(b, p, x, y); }
  Value cmp(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value less(Value x, Value y) const { return cmp(arith::CmpFPredicate::OLT, x, y); }
  Value equal(Value x, Value y) const { return cmp(arith::CmpFPredicate::OEQ, x, y); }
  Value both(Value p, Value q) const { return arith::AndIOp::create(b, p, q); }

  Value bitsOf(Value x) const { return arith::BitcastOp::create(b, intType(), x); }
  Value fromBits(Value x) const { return arith::BitcastOp::create(b, type, x); }
  Value addI(Value x, Value y) const { return arith::AddIOp::create(b, x, y); }
  Value subI(Value x, Value y) const { return arith::SubIOp::create(b, x, y); }
  Value andI(Value x, Value y) const { return arith::AndIOp::create(b, x, y); }
  Value xorI(Value x, Value y) const { return arith::XOrIOp::create(b, x, y); }
  Value shiftLeft(Value x, int64_t by) const { return arith::ShLIOp::create(b, x, ci(by)); }
  Value shiftRight(Value x, int64_t by) const { return arith::ShRSIOp::create(b, x, ci(by)); }
  /// Of an integer as wide as the type.
  Value toFloat(Value x) const { return arith::SIToFPOp::create(b, type, x); }

  /// Into [low, high]; NaN stays.
  Value clamp(Value x, double low, double high) const;
  /// Value of a polynomial, from the constant term up.
  Value polynomial(Value x, ArrayRef<double> coefficients) const;
  /// The one for the type.
  Value polynomial(Value x, ArrayRef<double> single, ArrayRef<double> twice) const {
    return polynomial(x, isSingle() ? single : twice);
  }

  /// `x` rounded to the nearest integer, as a float and as an integer;
  /// |x| < 2^21.
  struct Rounded {
    Value value, integer;
  };
  Rounded round(Value x) const;
  /// x * 2^n, for any n whose halves are exponents of normal numbers.
  Value scale(Value x, Value n) const;
  /// 2^n, a normal number.
  Value powerOfTwo(Value n) const;

  mutable ImplicitLocOpBuilder b;

private:
  Type type;
};

// The functions that the table says are expanded. Each takes and gives values of the builder's type;
// fpowi's exponents are integers, and ipowi knows no floats at all.
#define FT_MATH_BUILD_Expanded(Name, ...) Value build##Name(const MathBuilder &m, __VA_ARGS__);
#define FT_MATH_BUILD_Instruction(...)
#define FT_MATH_BUILD_Rewritten(...)
#define FT_MATH_UNARY(Name, mnemonic, how, host) FT_MATH_BUILD_##how(Name, Value x)
#define FT_MATH_BINARY(Name, mnemonic, how, host) FT_MATH_BUILD_##how(Name, Value x, Value y)
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
#undef FT_MATH_BUILD_Expanded
#undef FT_MATH_BUILD_Instruction
#undef FT_MATH_BUILD_Rewritten
Value buildFPowI(const MathBuilder &m, Value x, Value n);
Value buildIPowI(OpBuilder &b, Location loc, Value base, Value exponent);

} // namespace mlir::ft

#endif // FT_LIB_DIALECT_MATH_TRANSFORMS_MATHBUILDER_H
