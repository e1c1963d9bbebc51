//===- IntegerPowers.cpp - ipowi and fpowi --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MathBuilder.h"

using namespace mlir;
using namespace mlir::ft;

/// A constant of an integer type or of a vector of them.
static Value integer(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value mlir::ft::buildIPowI(OpBuilder &b, Location loc, Value base, Value exponent) {
  Type type = base.getType();
  unsigned width = IndexType::kInternalStorageBitWidth;
  if (auto fixed = dyn_cast<IntegerType>(getElementTypeOrSelf(type)))
    width = fixed.getWidth();
  Value zero = integer(b, loc, type, 0), one = integer(b, loc, type, 1);
  auto isOdd = [&](Value v) -> Value {
    Value bit = arith::AndIOp::create(b, loc, v, one);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero);
  };
  // By squaring, over the bits of an exponent that is not negative.
  Value result = one, square = base, rest = exponent;
  for (unsigned bit = 0; bit + 1 < width || bit == 0; ++bit) {
    Value times = arith::MulIOp::create(b, loc, result, square);
    result = arith::SelectOp::create(b, loc, isOdd(rest), times, result);
    if (bit + 2 >= width)
      break;
    square = arith::MulIOp::create(b, loc, square, square);
    rest = arith::ShRUIOp::create(b, loc, rest, one);
  }
  if (width == 1) // the one exponent that is not 0 is -1, and the one base -1
    return result;
  // A negative exponent: only powers of 1 and -1 are whole.
  Value minus = integer(b, loc, type, -1);
  auto equals = [&](Value v, Value w) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, v, w);
  };
  Value alternating = arith::SelectOp::create(b, loc, isOdd(exponent), minus, one);
  Value inverse = arith::SelectOp::create(b, loc, equals(base, minus), alternating, zero);
  inverse = arith::SelectOp::create(b, loc, equals(base, one), one, inverse);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, exponent, zero);
  return arith::SelectOp::create(b, loc, negative, inverse, result);
}

Value mlir::ft::buildFPowI(const MathBuilder &m, Value x, Value n) {
  // In f64 an exponent of 32 bits is exact, and of a larger one the sign is asked of its last bit.
  MathBuilder twice(m.b, m.b.getLoc(), m.like(m.b.getF64Type()));
  Value base = m.abs(x);
  if (m.isSingle())
    base = arith::ExtFOp::create(m.b, twice.floatType(), base);
  if (getElementTypeOrSelf(n).isIndex())
    n = arith::IndexCastOp::create(m.b, m.like(m.b.getI64Type()), n);
  Value power = buildPowF(twice, base, arith::SIToFPOp::create(m.b, twice.floatType(), n));
  if (m.isSingle())
    power = arith::TruncFOp::create(m.b, m.floatType(), power);
  Type type = n.getType();
  Value bit = arith::AndIOp::create(m.b, n, integer(m.b, m.b.getLoc(), type, 1));
  Value isOdd = arith::CmpIOp::create(m.b, arith::CmpIPredicate::ne, bit,
                                      integer(m.b, m.b.getLoc(), type, 0));
  return m.select(isOdd, m.copySign(power, x), power);
}
