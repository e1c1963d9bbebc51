//===- HyperplaneTest.cpp - the hyperplane method -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Hyperplane.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::etdg;

namespace {
using Row = SmallVector<int64_t>;

DistanceVector constant(ArrayRef<int64_t> values) {
  DistanceVector distance;
  for (int64_t value : values)
    distance.push_back(DistanceRange::constant(value));
  return distance;
}

Row findRow(ArrayRef<Row> distances, ArrayRef<int64_t> extents) {
  Distances all;
  for (ArrayRef<int64_t> distance : distances)
    all.push_back(constant(distance));
  return findHyperplane(all, extents).value_or(Row());
}

TEST(Hyperplane, KnownDistances) {
  // Stacked scans, grids, one token ahead, three ahead.
  EXPECT_EQ(findRow({{0, 1, 0}, {0, 0, 1}}, {8, 4, 64}), (Row{0, 1, 1}));
  EXPECT_EQ(findRow({{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, {4, 3, 8, 8}), (Row{0, 1, 1, 1}));
  EXPECT_EQ(findRow({{1, -1}, {0, 1}}, {4, 64}), (Row{2, 1}));
  EXPECT_EQ(findRow({{1, -3}, {0, 1}}, {4, 64}), (Row{4, 1}));
  // A long reach, beyond the coefficients that are searched by default.
  EXPECT_EQ(findRow({{1, -40}, {0, 1}}, {4, 64}), (Row{41, 1}));
  // Lags: a lag of 2 alone needs no factor.
  EXPECT_EQ(findRow({{0, 2}}, {8, 40}), (Row{0, 1}));
  // One dimension carries, the others only cross.
  EXPECT_EQ(findRow({{1, -1}, {1, 0}, {1, 1}}, {4, 64}), (Row{1, 0}));
  // The shorter of two dimensions; a negative coefficient where it saves steps.
  EXPECT_EQ(findRow({{1, 2}}, {20, 3}), (Row{0, 1}));
  EXPECT_EQ(findRow({{1, -2}}, {20, 3}), (Row{0, -1}));
  // A distance back in time has no row that also serves the one forth.
  EXPECT_EQ(findRow({{0, 1}, {0, -1}}, {4, 4}), Row());
  EXPECT_EQ(findRow({}, {4, 4}), Row());
}

TEST(Hyperplane, Ranges) {
  auto range = [](std::optional<int64_t> low, std::optional<int64_t> high) {
    return DistanceRange{low, high};
  };
  DistanceRange one = DistanceRange::constant(1), zero = DistanceRange::constant(0);
  // The whole row below (Fig. 5): columns stay out.
  EXPECT_EQ(
      findHyperplane({{zero, one, zero, range({}, {})}, constant({0, 0, 1, 0})}, {8, 4, 64, 512}),
      (Row{0, 1, 1, 0}));
  // A window: its corners.
  EXPECT_EQ(findHyperplane({{one, range(-1, 1)}, constant({0, 1})}, {4, 64}), (Row{2, 1}));
  // All tokens up to here: one way.
  EXPECT_EQ(findHyperplane({{one, range(0, {})}, constant({0, 1})}, {4, 64}), (Row{1, 1}));
  // All tokens from here on: no.
  EXPECT_EQ(findHyperplane({{one, range({}, 0)}, constant({0, 1})}, {4, 64}), std::nullopt);
}

/// Against all rows with coefficients up to 6.
TEST(Hyperplane, TakesTheFewestSteps) {
  std::mt19937 generator(5);
  for (int trial = 0; trial < 300; ++trial) {
    unsigned n = 2 + generator() % 2;
    Row extents;
    for (unsigned d = 0; d < n; ++d)
      extents.push_back(2 + generator() % 20);
    SmallVector<Row> distances;
    for (unsigned i = 0, e = 1 + generator() % 3; i < e; ++i) {
      // Lexicographically positive.
      Row distance(n, 0);
      unsigned first = generator() % n;
      distance[first] = 1 + generator() % 2;
      for (unsigned d = first + 1; d < n; ++d)
        distance[d] = int64_t(generator() % 5) - 2;
      distances.push_back(distance);
    }
    auto carries = [&](ArrayRef<int64_t> row) {
      return llvm::all_of(distances, [&](const Row &distance) {
        int64_t sum = 0;
        for (unsigned d = 0; d < n; ++d)
          sum += row[d] * distance[d];
        return sum >= 1;
      });
    };
    auto steps = [&](ArrayRef<int64_t> row) {
      int64_t sum = 1;
      for (unsigned d = 0; d < n; ++d)
        sum += std::abs(row[d]) * (extents[d] - 1);
      return sum;
    };
    std::optional<int64_t> fewest;
    Row row(n, -6);
    while (true) {
      if (carries(row))
        fewest = std::min(fewest.value_or(steps(row)), steps(row));
      unsigned d = 0;
      while (d < n && row[d] == 6)
        row[d++] = -6;
      if (d == n)
        break;
      ++row[d];
    }
    Row found = findRow(distances, extents);
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(carries(found));
    ASSERT_TRUE(fewest);
    EXPECT_LE(steps(found), *fewest);
  }
}
} // namespace
