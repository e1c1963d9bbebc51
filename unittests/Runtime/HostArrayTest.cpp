//===- HostArrayTest.cpp - a dense array in host memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/HostArray.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ft::rt;

static constexpr DType all[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                                DType::i32, DType::i16, DType::i8,  DType::u8,   DType::i1};

TEST(HostArray, NamesRoundTrip) {
  for (DType dtype : all)
    EXPECT_EQ(parseDType(dtypeName(dtype)), dtype);
  EXPECT_EQ(parseDType("u8"), DType::u8);
  EXPECT_EQ(parseDType("f31"), std::nullopt);
  EXPECT_EQ(describe(DType::bf16, {2, 3}), "2x3xbf16");
  EXPECT_EQ(describe(DType::f64, {}), "f64");
}

TEST(HostArray, CreatesAlignedZeros) {
  for (DType dtype : all) {
    HostArray array;
    ASSERT_TRUE(HostArray::create(dtype, {3, 5}, array).ok());
    EXPECT_EQ(uintptr_t(array.data()) % 64, 0u);
    EXPECT_EQ(array.numElements(), 15);
    EXPECT_EQ(array.numBytes(), 15 * byteWidth(dtype));
    for (int64_t i = 0; i < 15; ++i)
      EXPECT_EQ(array.getFloat(i), 0.0);
  }
  HostArray scalar, empty;
  ASSERT_TRUE(HostArray::create(DType::f32, {}, scalar).ok());
  EXPECT_EQ(scalar.numElements(), 1);
  ASSERT_TRUE(HostArray::create(DType::f32, {4, 0, 2}, empty).ok());
  EXPECT_EQ(empty.numElements(), 0);
}

TEST(HostArray, RefusesImpossibleSizes) {
  HostArray array;
  ASSERT_TRUE(HostArray::create(DType::i8, {7}, array).ok());
  for (std::vector<int64_t> shape : {std::vector<int64_t>{-1},
                                     {INT64_MAX, 2},
                                     {INT64_MAX / 4},
                                     {int64_t(1) << 32, int64_t(1) << 32},
                                     {0, INT64_MAX, 3}}) {
    Status status = HostArray::create(DType::f64, shape, array);
    EXPECT_EQ(status.code(), Code::invalidArgument);
    EXPECT_NE(status.message().find(describe(DType::f64, shape)), std::string::npos);
  }
  EXPECT_EQ(HostArray::create(DType::f64, {int64_t(1) << 58}, array).code(), Code::outOfMemory);
  EXPECT_EQ(array.numElements(), 7); // as it was
}

TEST(HostArray, ElementsConvert) {
  HostArray array;
  for (DType dtype : all) {
    ASSERT_TRUE(HostArray::create(dtype, {2}, array).ok());
    array.setFloat(0, 1.0);
    array.setInt(1, 1);
    EXPECT_EQ(array.getInt(0), 1);
    EXPECT_EQ(array.getFloat(1), 1.0);
  }
  ASSERT_TRUE(HostArray::create(DType::i32, {4}, array).ok());
  array.setFloat(0, -2.9);
  array.setFloat(1, NAN);
  array.setInt(2, int64_t(1) << 32 | 5);
  array.setFloat(3, 1e300);
  EXPECT_EQ(array.getInt(0), -2);
  EXPECT_EQ(array.getInt(1), 0);
  EXPECT_EQ(array.getInt(2), 5);
  EXPECT_EQ(array.getInt(3), -1); // INT64_MAX, wrapped
  ASSERT_TRUE(HostArray::create(DType::u8, {1}, array).ok());
  array.setInt(0, 255);
  EXPECT_EQ(array.getInt(0), 255);
  // 2^60 + 2^36 + 1 lies above a tie of f32 that f64 would round onto.
  ASSERT_TRUE(HostArray::create(DType::f32, {1}, array).ok());
  array.setInt(0, (int64_t(1) << 60) + (int64_t(1) << 36) + 1);
  EXPECT_EQ(array.as<float>()[0], 0x1.000002p60f);
}

TEST(HostArray, ConvertsWholeArrays) {
  HostArray from, to;
  ASSERT_TRUE(HostArray::create(DType::f32, {2, 2}, from).ok());
  from.as<float>()[3] = 1.00390625f + 0x1p-10f; // between two bf16
  ASSERT_TRUE(convert(from, DType::bf16, to).ok());
  EXPECT_EQ(to.describe(), "2x2xbf16");
  EXPECT_EQ(to.getFloat(3), 1.0078125);
}
