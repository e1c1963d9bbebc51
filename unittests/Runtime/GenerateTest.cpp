//===- GenerateTest.cpp - reproducible test data --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Generate.h"

#include "ft/Runtime/Host/ThreadPool.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace ft::rt;

static HostArray make(DType dtype, int64_t n, const Distribution &d, uint64_t seed = 1,
                      uint32_t argument = 0) {
  HostArray array;
  EXPECT_TRUE(HostArray::create(dtype, {n}, array).ok());
  Status status = generate(array, d, seed, argument);
  EXPECT_TRUE(status.ok()) << status.message();
  return array;
}

TEST(Generate, PhiloxKnownAnswers) {
  // The vectors that the authors publish with Random123.
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Generate, NormalIsBoxMullerOfTheWords) {
  // The first pair of seed 0, argument 0, by libm from the known block above.
  HostArray a = make(DType::f64, 2, Distribution::makeNormal(1), 0);
  double u = double((0xe169c58d6627e8d5ull >> 11) + 1) * 0x1p-53;
  double v = double(0x9b00dbd8bc57ac4cull >> 11) * 0x1p-53;
  double radius = std::sqrt(-2 * std::log(u));
  EXPECT_NEAR(a.as<double>()[0], radius * std::cos(2 * M_PI * v), 1e-14);
  EXPECT_NEAR(a.as<double>()[1], radius * std::sin(2 * M_PI * v), 1e-14);
}

TEST(Generate, GoldenBits) {
  // Fixed bits: a change here breaks data that others have stored.
  HostArray a = make(DType::f64, 5, Distribution::makeNormal(1), 42, 3);
  uint64_t hash = 0;
  for (int i = 0; i < 5; ++i)
    hash = hash * 0x100000001b3ull + a.as<uint64_t>()[i];
  EXPECT_EQ(hash, 0x7b496c67df38e10dull) << std::hex << hash;
}

TEST(Generate, NormalHasItsMoments) {
  constexpr int64_t n = 1 << 20;
  HostArray a = make(DType::f64, n, Distribution::makeNormal(2), 7);
  double sum = 0, square = 0, fourth = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    double x = a.as<double>()[i];
    ASSERT_TRUE(std::isfinite(x));
    sum += x, square += x * x, fourth += x * x * x * x, largest = std::max(largest, std::fabs(x));
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(square / n, 4, 0.03);
  EXPECT_NEAR(fourth / n, 48, 1.5);
  EXPECT_GT(largest, 2 * 4.5);
  EXPECT_LT(largest, 2 * 6.5);
}

TEST(Generate, UniformAndIntegers) {
  HostArray u = make(DType::f64, 100000, Distribution::makeUniform(-1, 3));
  double sum = 0;
  for (int64_t i = 0; i < u.numElements(); ++i) {
    ASSERT_GE(u.as<double>()[i], -1);
    ASSERT_LT(u.as<double>()[i], 3);
    sum += u.as<double>()[i];
  }
  EXPECT_NEAR(sum / 100000, 1, 0.02);

  std::map<int64_t, int> seen;
  HostArray k = make(DType::i32, 50000, Distribution::makeInteger(-2, 2));
  for (int64_t i = 0; i < k.numElements(); ++i)
    ++seen[k.getInt(i)];
  ASSERT_EQ(seen.size(), 5u);
  for (auto [value, count] : seen) {
    EXPECT_LE(std::abs(value), 2);
    EXPECT_NEAR(count, 10000, 500);
  }
  HostArray index = make(DType::i64, 1000, Distribution::makeIndex(3, 5));
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_TRUE(index.getInt(i) == 3 || index.getInt(i) == 4);
  // The whole range of i64 does not overflow.
  HostArray wide = make(DType::i64, 1000, Distribution::makeInteger(INT64_MIN, INT64_MAX));
  EXPECT_NE(wide.getInt(0), wide.getInt(1));
}

TEST(Generate, AnElementDependsOnNothingElse) {
  Distribution d = Distribution::makeNormal(1);
  HostArray longer = make(DType::f32, 100001, d), shorter = make(DType::f32, 777, d);
  EXPECT_EQ(memcmp(longer.data(), shorter.data(), 777 * 4), 0);
  ft_set_num_threads(1);
  HostArray alone = make(DType::f32, 100001, d);
  ft_set_num_threads(5);
  HostArray many = make(DType::f32, 100001, d);
  ft_set_num_threads(0);
  EXPECT_EQ(memcmp(alone.data(), many.data(), size_t(alone.numBytes())), 0);
  EXPECT_NE(memcmp(make(DType::f32, 777, d, 2).data(), shorter.data(), 777 * 4), 0);
  EXPECT_NE(memcmp(make(DType::f32, 777, d, 1, 1).data(), shorter.data(), 777 * 4), 0);
  EXPECT_NE(memcmp(make(DType::f32, 777, d, uint64_t(1) << 32 | 1).data(), shorter.data(), 777 * 4),
            0);
}

TEST(Generate, NarrowTypesRoundOnce) {
  Distribution d = Distribution::makeNormal(1);
  HostArray truth = make(DType::f64, 999, d);
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    HostArray narrow = make(dtype, 999, d), expected;
    ASSERT_TRUE(convert(truth, dtype, expected).ok());
    EXPECT_EQ(memcmp(narrow.data(), expected.data(), size_t(narrow.numBytes())), 0);
  }
}

TEST(Generate, RealDistributionsGiveSmallIntegers) {
  for (DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u8, DType::i1}) {
    HostArray a = make(dtype, 1000, Distribution::makeNormal(0.01));
    int64_t low = 100, high = -100;
    for (int64_t i = 0; i < 1000; ++i)
      low = std::min(low, a.getInt(i)), high = std::max(high, a.getInt(i));
    EXPECT_EQ(low, dtype == DType::u8 || dtype == DType::i1 ? 0 : -4);
    EXPECT_EQ(high, dtype == DType::u8 ? 8 : dtype == DType::i1 ? 1 : 4);
  }
}

TEST(Generate, RefusesEmptyRanges) {
  HostArray a, none;
  ASSERT_TRUE(HostArray::create(DType::i32, {3}, a).ok());
  ASSERT_TRUE(HostArray::create(DType::i32, {0}, none).ok());
  EXPECT_EQ(generate(a, Distribution::makeIndex(0, 0), 1, 0).code(), Code::invalidArgument);
  EXPECT_EQ(generate(a, Distribution::makeInteger(1, 0), 1, 0).code(), Code::invalidArgument);
  EXPECT_EQ(generate(a, Distribution::makeNormal(NAN), 1, 0).code(), Code::invalidArgument);
  EXPECT_TRUE(generate(none, Distribution::makeIndex(0, 0), 1, 0).ok());
}
