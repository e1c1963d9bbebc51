//===- TensorTest.cpp - Storage, rounding and raw memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The value representation of the reference interpreter.
//
//===----------------------------------------------------------------------===//
#include "ft/Interpreter/Tensor.h"
#include "ft/Interpreter/RuntimeValue.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

/// LLVM's own conversion, as the oracle of ours.
double roundByAPFloat(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool loses;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

TEST(Rounding, MatchesAPFloatOnRandomBits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // Exponents around those of the narrow types; mantissas often at a tie.
    uint64_t bits = random();
    uint64_t exponent = 1023 - 170 + bits % 320;
    uint64_t mantissa = random() & ((uint64_t(1) << 52) - 1);
    if (i % 3 == 0)
      mantissa &= ~((uint64_t(1) << (52 - 8 - i % 5)) - 1);
    double value = std::bit_cast<double>((bits >> 63 << 63) | exponent << 52 | mantissa);
    ASSERT_EQ(roundTo(value, Round::F16), roundByAPFloat(value, llvm::APFloat::IEEEhalf()));
    ASSERT_EQ(roundTo(value, Round::BF16), roundByAPFloat(value, llvm::APFloat::BFloat()));
    ASSERT_EQ(roundTo(value, Round::F32), roundByAPFloat(value, llvm::APFloat::IEEEsingle()));
    ASSERT_EQ(roundTo(value, Round::None), value);
  }
}

TEST(Rounding, SpecialValues) {
  for (Round round : {Round::F32, Round::F16, Round::BF16}) {
    EXPECT_TRUE(std::isnan(roundTo(NAN, round)));
    EXPECT_EQ(roundTo(INFINITY, round), INFINITY);
    EXPECT_EQ(roundTo(-1e300, round), -INFINITY);
    EXPECT_TRUE(std::signbit(roundTo(-0.0, round)));
    EXPECT_EQ(roundTo(1e-300, round), 0.0);
  }
  EXPECT_EQ(roundTo(65519.0, Round::F16), 65504.0);
  EXPECT_EQ(roundTo(65520.0, Round::F16), INFINITY);
  EXPECT_EQ(roundTo(1.0 + 0x1p-11, Round::F16), 1.0);              // tie to even
  EXPECT_EQ(roundTo(1.0 + 3 * 0x1p-11, Round::F16), 1.0 + 0x1p-9); // tie to even
}

TEST(Integers, WrapToTheirWidth) {
  EXPECT_EQ(wrapToWidth(128, 8), -128);
  EXPECT_EQ(wrapToWidth(-129, 8), 127);
  EXPECT_EQ(wrapToWidth(3, 1), 1);
  EXPECT_EQ(wrapToWidth(int64_t(1) << 31, 32), -(int64_t(1) << 31));
  EXPECT_EQ(wrapToWidth(INT64_MIN, 64), INT64_MIN);
  EXPECT_EQ(asSigned(1, 1), -1);
  EXPECT_EQ(asUnsigned(-1, 16), 65535u);
}

TEST(Shapes, CountRefusesWhatIsNegativeOrTooLarge) {
  EXPECT_EQ(countElements({}), 1);
  EXPECT_EQ(countElements({2, 0, 3}), 0);
  EXPECT_EQ(countElements({-1}), std::nullopt);
  EXPECT_EQ(countElements({int64_t(1) << 40, int64_t(1) << 40}), std::nullopt);
  EXPECT_EQ(rowMajorStrides({2, 3, 4}), (SmallVector<int64_t>{12, 4, 1}));
}

TEST(TensorStorage, RoundTripsEachElementType) {
  MLIRContext context;
  Builder b(&context);
  for (Type type :
       {Type(b.getF64Type()), Type(b.getF32Type()), Type(b.getF16Type()), Type(b.getBF16Type())}) {
    std::vector<char> bytes(4 * elementBytes(type));
    Tensor tensor = Tensor::zeros(type, {2, 2});
    Cell *cells = tensor.mutableData();
    cells[0].f = 1.5, cells[1].f = -0.25, cells[2].f = -INFINITY, cells[3].f = NAN;
    tensor.toBytes(bytes.data());
    EXPECT_TRUE(Tensor::fromBytes(type, {2, 2}, bytes.data()).identicalTo(tensor));
  }
  for (unsigned width : {8, 16, 32, 64}) {
    Type type = b.getIntegerType(width);
    std::vector<char> bytes(2 * elementBytes(type));
    Tensor tensor = Tensor::zeros(type, {2});
    tensor.mutableData()[0].i = -5, tensor.mutableData()[1].i = 100;
    tensor.toBytes(bytes.data());
    EXPECT_TRUE(Tensor::fromBytes(type, {2}, bytes.data()).identicalTo(tensor));
  }
  uint8_t truth[2] = {0, 1};
  Tensor flags = Tensor::fromBytes(b.getI1Type(), {2}, truth);
  EXPECT_EQ(flags.getInt(0), 0);
  EXPECT_EQ(flags.getInt(1), 1);
}

TEST(TensorStorage, HalfBitsOfEveryValueSurvive) {
  MLIRContext context;
  Builder b(&context);
  for (Type type : {Type(b.getF16Type()), Type(b.getBF16Type())})
    for (uint64_t bits = 0; bits < 65536; ++bits) {
      Cell cell = fromBits(bits, type);
      if (std::isnan(cell.f))
        continue;
      ASSERT_EQ(toBits(cell, type), bits);
    }
}

TEST(TensorStorage, CopiesAreIndependent) {
  MLIRContext context;
  Builder b(&context);
  Tensor first = Tensor::splat(b.getI32Type(), {3}, Cell{.i = 7});
  Tensor second = first;
  Tensor reshaped = first.withShape({3, 1});
  second.mutableData()[1].i = 9;
  reshaped.mutableData()[0].i = 8;
  EXPECT_EQ(first.getInt(0), 7);
  EXPECT_EQ(first.getInt(1), 7);
  EXPECT_EQ(second.getInt(1), 9);
  EXPECT_EQ(reshaped.getInt(0), 8);
}

TEST(RuntimeValues, PrintAndCompareNested) {
  MLIRContext context;
  Type i32 = Builder(&context).getI32Type();
  auto scalar = [&](int64_t v) { return RuntimeValue(Tensor::scalarInt(i32, v)); };
  RuntimeValue ragged =
      RuntimeValue::list({RuntimeValue::list({scalar(1), scalar(2)}), RuntimeValue::list({})});
  std::string text;
  llvm::raw_string_ostream os(text);
  RuntimeValue::tuple({ragged, scalar(3)}).print(os);
  EXPECT_EQ(text, "([[1, 2], []], 3)");
  EXPECT_TRUE(ragged.identicalTo(ragged));
  EXPECT_FALSE(ragged.identicalTo(ragged.getItems()[0]));
}

} // namespace
