//===- IntegerMatrixTest.cpp - exact integer linear algebra ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/IntegerMatrix.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace mlir::etdg;
using llvm::SmallVector;

namespace {
using Rows = SmallVector<SmallVector<int64_t>>;

IntegerMatrix make(Rows rows) { return IntegerMatrix::fromRows(rows, rows.front().size()); }

/// By Leibniz' rule: another way than the code under test.
int64_t slowDeterminant(const IntegerMatrix &m) {
  unsigned n = m.getNumRows();
  SmallVector<unsigned> p(n);
  for (unsigned i = 0; i < n; ++i)
    p[i] = i;
  int64_t sum = 0;
  do {
    int64_t product = 1;
    for (unsigned i = 0; i < n; ++i) {
      product *= m.at(i, p[i]);
      for (unsigned j = i + 1; j < n; ++j)
        if (p[j] < p[i])
          product = -product;
    }
    sum += product;
  } while (std::next_permutation(p.begin(), p.end()));
  return sum;
}

IntegerMatrix random(unsigned rows, unsigned columns, int range, std::mt19937 &generator) {
  IntegerMatrix m(rows, columns);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < columns; ++c)
      m.at(r, c) = int64_t(generator() % (2 * range + 1)) - range;
  return m;
}

TEST(IntegerMatrix, HermiteFormOfAKnownMatrix) {
  // Columns (2, 1), (4, 3), (6, 5): lattice of (2, 0), (0, 1).
  auto hermite = computeHermiteForm(make({{2, 4, 6}, {1, 3, 5}}));
  ASSERT_TRUE(hermite);
  EXPECT_EQ(hermite->rank, 2u);
  EXPECT_EQ(hermite->form.str(), "[[2, 0, 0], [0, 1, 0]]");
}

TEST(IntegerMatrix, HermiteFormIsTheProduct) {
  std::mt19937 generator(1);
  for (int i = 0; i < 200; ++i) {
    IntegerMatrix a = random(1 + generator() % 4, 1 + generator() % 4, 5, generator);
    auto hermite = computeHermiteForm(a);
    ASSERT_TRUE(hermite);
    auto product = a.multiply(hermite->unimodular);
    ASSERT_TRUE(product);
    EXPECT_TRUE(*product == hermite->form);
    EXPECT_EQ(std::abs(slowDeterminant(hermite->unimodular)), 1);
    for (unsigned c = hermite->rank; c < a.getNumColumns(); ++c)
      for (unsigned r = 0; r < a.getNumRows(); ++r)
        EXPECT_EQ(hermite->form.at(r, c), 0);
  }
}

TEST(IntegerMatrix, DeterminantAndInverse) {
  std::mt19937 generator(2);
  for (int i = 0; i < 200; ++i) {
    unsigned n = 1 + generator() % 4;
    IntegerMatrix a = random(n, n, 3, generator);
    EXPECT_EQ(a.determinant(), slowDeterminant(a));
    auto inverse = a.inverse();
    EXPECT_EQ(inverse.has_value(), std::abs(slowDeterminant(a)) == 1);
    if (inverse) {
      EXPECT_TRUE(*a.multiply(*inverse) == IntegerMatrix::identity(n));
      EXPECT_TRUE(*inverse->multiply(a) == IntegerMatrix::identity(n));
    }
  }
}

TEST(IntegerMatrix, NullSpaceIsAnIntegerBasis) {
  // 2x + 4y = 0: (2, -1), not (4, -2).
  EXPECT_EQ(computeNullSpace(make({{2, 4}}))->str(), "[[2, -1]]");
  EXPECT_EQ(computeNullSpace(IntegerMatrix(0, 2))->str(), "[[1, 0], [0, 1]]");
  EXPECT_EQ(computeNullSpace(IntegerMatrix::identity(3))->getNumRows(), 0u);
  std::mt19937 generator(3);
  for (int i = 0; i < 100; ++i) {
    IntegerMatrix a = random(1 + generator() % 2, 3, 3, generator);
    auto basis = computeNullSpace(a);
    ASSERT_TRUE(basis);
    // Every small integer solution is an integer combination: with it added, the
    // lattice stays the same.
    for (int64_t x = -3; x <= 3; ++x)
      for (int64_t y = -3; y <= 3; ++y)
        for (int64_t z = -3; z <= 3; ++z) {
          SmallVector<int64_t> v{x, y, z}, image = *a.apply(v);
          if (llvm::any_of(image, [](int64_t c) { return c != 0; }))
            continue;
          IntegerMatrix with = *basis;
          with.appendRow(v);
          auto form = computeHermiteForm(with.transpose());
          auto own = computeHermiteForm(basis->transpose());
          ASSERT_TRUE(form && own);
          EXPECT_EQ(form->rank, own->rank);
          for (unsigned c = 0; c < own->rank; ++c)
            EXPECT_EQ(form->form.getColumn(c), own->form.getColumn(c));
        }
  }
}

TEST(IntegerMatrix, CompletionPrefersPlainDimensions) {
  // Fig. 6's first row.
  EXPECT_EQ(completeUnimodular(make({{0, 1, 1, 0}}), {1, 0, 3, 2})->str(),
            "[[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]");
  EXPECT_EQ(completeUnimodular(make({{2, 1}}), {0, 1})->str(), "[[2, 1], [1, 0]]");
  // No coefficient is 1: no unit vector does.
  auto general = completeUnimodular(make({{2, 3}}), {0, 1});
  ASSERT_TRUE(general);
  EXPECT_EQ(general->at(0, 0), 2);
  EXPECT_EQ(general->at(0, 1), 3);
  EXPECT_EQ(std::abs(slowDeterminant(*general)), 1);
  // Two of three: (6, 10, 15) has no common factor, each pair has one.
  auto three = completeUnimodular(make({{6, 10, 15}}), {0, 1, 2});
  ASSERT_TRUE(three);
  EXPECT_EQ(std::abs(slowDeterminant(*three)), 1);
  EXPECT_FALSE(completeUnimodular(make({{2, 4}}), {0, 1}));
  EXPECT_FALSE(completeUnimodular(make({{0, 0}}), {0, 1}));
}

TEST(IntegerMatrix, OverflowHasNoAnswer) {
  int64_t big = std::numeric_limits<int64_t>::max() / 2;
  IntegerMatrix a = make({{big, 3}, {3, big}});
  EXPECT_FALSE(a.multiply(a));
  EXPECT_FALSE(a.determinant());
  EXPECT_FALSE(a.isUnimodular());
  SmallVector<int64_t> v{4, 4};
  EXPECT_FALSE(a.apply(v));
}
} // namespace
