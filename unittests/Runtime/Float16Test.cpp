//===- Float16Test.cpp - f16 and bf16 by integer arithmetic ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Float16.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace ft::rt;

TEST(Float16, KnownValues) {
  EXPECT_EQ(halfToFloat(0x3c00), 1.0f);
  EXPECT_EQ(halfToFloat(0xc000), -2.0f);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(halfToFloat(0x0400), 0x1p-14f); // least normal
  EXPECT_EQ(halfToFloat(0x0001), 0x1p-24f); // least subnormal
  EXPECT_EQ(halfToFloat(0x7c00), INFINITY);
  EXPECT_TRUE(std::isnan(halfToFloat(0x7c01)));
  EXPECT_TRUE(std::signbit(halfToFloat(0x8000)));
  EXPECT_EQ(bfloatToFloat(0x3f80), 1.0f);
  EXPECT_EQ(floatToBfloat(3.140625f), 0x4049);
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(doubleToHalf(1 + 0x1p-11), 0x3c00);           // tie to even, down
  EXPECT_EQ(doubleToHalf(1 + 3 * 0x1p-11), 0x3c02);       // tie to even, up
  EXPECT_EQ(doubleToHalf(1 + 0x1p-11 + 0x1p-40), 0x3c01); // above the tie; f32 would lose it
  EXPECT_EQ(doubleToHalf(65519.99), 0x7bff);
  EXPECT_EQ(doubleToHalf(65520.0), 0x7c00); // half-way to 65536: infinity
  EXPECT_EQ(doubleToHalf(0x1p-25), 0x0000); // half the least subnormal, to even
  EXPECT_EQ(doubleToHalf(std::nextafter(0x1p-25, 1.0)), 0x0001);
  EXPECT_EQ(doubleToHalf(0x1.ffcp-15), 0x03ff + 1); // tie up into the least normal
  EXPECT_EQ(doubleToHalf(-0.0), 0x8000);
  EXPECT_EQ(doubleToHalf(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(doubleToBfloat(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(doubleToBfloat(1 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(doubleToBfloat(0x1p-133), 0x0001); // bf16's least subnormal
  EXPECT_EQ(doubleToBfloat(3.4e38), 0x7f80);   // rounds up to infinity
  EXPECT_EQ(floatToBfloat(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Float16, NaNStaysNaN) {
  for (float nan : {std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0xffc00000u),
                    std::bit_cast<float>(0x7fffffffu)}) {
    EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(nan))));
    EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBfloat(nan))));
    EXPECT_EQ(std::signbit(halfToFloat(floatToHalf(nan))), std::signbit(nan));
    EXPECT_EQ(std::signbit(bfloatToFloat(floatToBfloat(nan))), std::signbit(nan));
  }
}

/// Every 16-bit value and every midpoint between neighbours, with the f64 just
/// below and just above it.
template <class ToFloat, class FromDouble>
static void checkAll(ToFloat toFloat, FromDouble fromDouble, uint16_t infinity) {
  for (uint32_t h = 0; h < infinity; ++h) {
    double value = toFloat(uint16_t(h));
    ASSERT_EQ(fromDouble(value), h);
    ASSERT_EQ(fromDouble(-value), h | 0x8000);
    if (h + 1 == infinity)
      break;
    double next = toFloat(uint16_t(h + 1)), middle = (value + next) / 2;
    ASSERT_EQ(fromDouble(middle), h + (h & 1)) << h;
    ASSERT_EQ(fromDouble(std::nextafter(middle, 0)), h);
    ASSERT_EQ(fromDouble(std::nextafter(middle, INFINITY)), h + 1);
  }
  EXPECT_EQ(fromDouble(INFINITY), infinity);
  EXPECT_EQ(fromDouble(-INFINITY), infinity | 0x8000);
}

TEST(Float16, EveryHalf) { checkAll(halfToFloat, doubleToHalf, 0x7c00); }
TEST(Float16, EveryBfloat) { checkAll(bfloatToFloat, doubleToBfloat, 0x7f80); }

TEST(Float16, FloatPathAgreesWithDoublePath) {
  for (uint64_t i = 0; i < uint64_t(1) << 32; i += 65521) {
    float value = std::bit_cast<float>(uint32_t(i));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(floatToBfloat(value), doubleToBfloat(value)) << i;
    ASSERT_EQ(floatToHalf(value), doubleToHalf(value)) << i;
  }
}
