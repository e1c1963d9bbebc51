//===- CompareTest.cpp - when two arrays are equal ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Compare.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ft::rt;

static HostArray make(DType dtype, std::vector<double> values, std::vector<int64_t> shape = {}) {
  if (shape.empty())
    shape = {int64_t(values.size())};
  HostArray array;
  EXPECT_TRUE(HostArray::create(dtype, shape, array).ok());
  for (size_t i = 0; i < values.size(); ++i)
    array.setFloat(int64_t(i), values[i]);
  return array;
}

TEST(Compare, BoundIsAbsolutePlusRelativeToValueAndRms) {
  // b = {3, 4, 0}: rms = sqrt(25 / 3) = 2.886751...; with rtol 0.1, atol 0.01
  // the bounds are 0.598675, 0.698675 and 0.298675.
  HostArray b = make(DType::f64, {3, 4, 0});
  Tolerance t{0.1, 0.01};
  EXPECT_TRUE(compare(make(DType::f64, {3.598, 4.698, -0.298}), b, t));
  Comparison bad = compare(make(DType::f64, {3, 4, 0.299}), b, t);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.badCount, 1);
  EXPECT_EQ(bad.firstBad, 2);
  EXPECT_NEAR(bad.rms, 2.8867513459481287, 1e-15);
  EXPECT_DOUBLE_EQ(bad.maxError, 0.299);
  EXPECT_NEAR(bad.maxScaled, 0.299 / 0.2986751345948129, 1e-12);
}

TEST(Compare, ReportsWhere) {
  HostArray b = make(DType::i32, {0, 1, 2, 3, 4, 5}, {2, 3});
  HostArray a = b;
  EXPECT_TRUE(compare(a, b));
  a.setInt(4, 7);
  Comparison result = compare(a, b, Tolerance{100, 100}); // integers are exact all the same
  EXPECT_FALSE(result);
  EXPECT_EQ(result.firstBadIndex, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(result.maxError, 3);
  EXPECT_NE(result.message.find("1 of 6 elements differ, first at [1, 1]: 7 against 4"),
            std::string::npos)
      << result.message;
}

TEST(Compare, LargeIntegersAreNotRounded) {
  HostArray a, b;
  ASSERT_TRUE(HostArray::create(DType::i64, {1}, a).ok());
  b = a;
  a.setInt(0, (int64_t(1) << 53) + 1);
  b.setInt(0, int64_t(1) << 53);
  EXPECT_FALSE(compare(a, b));
}

TEST(Compare, NaNAndInfinity) {
  HostArray b = make(DType::f32, {NAN, INFINITY, -INFINITY, 1});
  EXPECT_TRUE(compare(b, b));
  EXPECT_NEAR(compare(b, b).rms, 1, 0); // of the finite elements
  Comparison moved = compare(make(DType::f32, {1, INFINITY, -INFINITY, NAN}), b);
  EXPECT_EQ(moved.nanMismatches, 2);
  EXPECT_EQ(moved.badCount, 2);
  EXPECT_FALSE(compare(make(DType::f32, {NAN, -INFINITY, -INFINITY, 1}), b));
  EXPECT_FALSE(compare(make(DType::f32, {NAN, 3e38, -INFINITY, 1}), b, Tolerance{1, 1e38}));
}

TEST(Compare, DefaultsFollowTheCoarserType) {
  HostArray truth = make(DType::f64, {1, 1, 1, 1});
  EXPECT_FALSE(compare(make(DType::f64, {1, 1, 1, 1 + 1e-11}), truth));
  EXPECT_TRUE(compare(make(DType::f64, {1, 1, 1, 1 + 1e-12}), truth));
  EXPECT_TRUE(compare(make(DType::f32, {1, 1, 1, 1.00002}), truth));
  EXPECT_FALSE(compare(make(DType::f32, {1, 1, 1, 1.0001}), truth));
  EXPECT_TRUE(compare(make(DType::f16, {1, 1, 1, 1.004}), truth));
  EXPECT_FALSE(compare(make(DType::f16, {1, 1, 1, 1.01}), truth));
  EXPECT_TRUE(compare(make(DType::bf16, {1, 1, 1, 1.05}), truth));
  EXPECT_FALSE(compare(make(DType::bf16, {1, 1, 1, 1.1}), truth));
}

TEST(Compare, HugeValuesDoNotOverflowTheRms) {
  HostArray b = make(DType::f64, {1e200, -1e200});
  EXPECT_NEAR(compare(b, b).rms / 1e200, 1, 1e-12);
}

TEST(Compare, TypesMustAgree) {
  HostArray f = make(DType::f32, {1, 2}), i = make(DType::i32, {1, 2});
  EXPECT_EQ(compare(f, i).message, "types differ: 2xf32 against 2xi32");
  EXPECT_FALSE(compare(make(DType::f32, {1, 2}, {1, 2}), f));
}

TEST(Compare, EmptyArraysAreEqual) {
  EXPECT_TRUE(compare(make(DType::f32, {}, {0, 3}), make(DType::f32, {}, {0, 3})));
}

TEST(Compare, ResultsMayErrAsTheProgramDoes) {
  Tolerance t = defaultTolerance(DType::f16);
  HostArray truth = make(DType::f64, {1, 2, 4}), written = make(DType::f16, {1.03, 2.06, 4.12});
  HostArray better = make(DType::f16, {1, 2.002, 4});
  EXPECT_FALSE(compare(better, written, t));
  EXPECT_TRUE(compareByTruth(better, {written}, truth, t));
  // As far off, on the other side, is right; much further off is not, nor is a NaN.
  EXPECT_TRUE(compareByTruth(make(DType::f16, {0.97, 1.94, 3.88}), {written}, truth, t));
  Comparison worse = compareByTruth(make(DType::f16, {0.5, 1.8, 3.6}), {written}, truth, t);
  EXPECT_FALSE(worse);
  EXPECT_NE(worse.message.find("against f64"), std::string::npos);
  EXPECT_FALSE(compareByTruth(make(DType::f16, {1, NAN, 4}), {written}, truth, t));
  // A sum in f32 is judged so, too; integers are what they are.
  HostArray sum = make(DType::f32, {1.03, 2.06, 4.12});
  EXPECT_TRUE(compareByTruth(make(DType::f32, {1, 2.002, 4}), {sum}, truth, defaultTolerance(DType::f32)));
  EXPECT_FALSE(compareByTruth(make(DType::f32, {1.6, 2.08, 4.16}), {sum}, truth, defaultTolerance(DType::f32)));
  EXPECT_FALSE(compareByTruth(make(DType::i32, {1, 3, 4}), {make(DType::i32, {2, 4, 8})}, truth, defaultTolerance(DType::i32)));
}

TEST(Compare, ErrorsAreThoseOfAllRuns) {
  Tolerance t = defaultTolerance(DType::f32);
  HostArray truth = make(DType::f64, {1, 1, 1, 1}), written = make(DType::f32, {1, 1, 1, 1});
  HostArray other = make(DType::f32, {1.01, 1, 1, 1});
  // Where the program errs by chance alone, only runs with noise show it.
  EXPECT_FALSE(compareByTruth(make(DType::f32, {1.02, 1, 1, 1}), {written}, truth, t));
  EXPECT_TRUE(compareByTruth(make(DType::f32, {1.02, 1, 1, 1}), {written, other}, truth, t));
  // An element that errs much leaves others no room, unless most of those that err do.
  HostArray one = make(DType::f32, {3, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001});
  HostArray ones = make(DType::f64, std::vector<double>(12, 1.0));
  std::vector<double> found(12, 1.0);
  found[5] = 1.02;
  EXPECT_FALSE(compareByTruth(make(DType::f32, found), {one}, ones, t));
  found[5] = 1.004;
  EXPECT_TRUE(compareByTruth(make(DType::f32, found), {one}, ones, t));
}

TEST(Compare, OverflowsAreRightWhereTheProgramOverflows) {
  Tolerance t = defaultTolerance(DType::f16);
  HostArray truth = make(DType::f64, {70000, 1, 1}), written = make(DType::f16, {INFINITY, 1, 1.5});
  EXPECT_TRUE(compareByTruth(make(DType::f16, {INFINITY, 1, 1}), {written}, truth, t));
  EXPECT_FALSE(compareByTruth(make(DType::f16, {INFINITY, INFINITY, 1}), {written}, truth, t));
}
