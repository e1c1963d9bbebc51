//===- LastWritersTest.cpp - symbolic maxima against enumeration ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What raising asks of sets: the latest point, differences, simplification. Each
// answer is compared with enumeration at small sizes.
//
//===----------------------------------------------------------------------===//
#include "fttest/AffineEval.h"
#include "ft/Conversion/SCFToETDG/Analyze/RaisingSets.h"

#include "ft/Dialect/FT/IR/FT.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::ft::raising;
using ft::test::evaluate;

namespace {
class LastWriters : public ::testing::Test {
protected:
  LastWriters() {
    context.loadDialect<ft::FTDialect>();
    names = {StringAttr::get(&context, "L"), StringAttr::get(&context, "M")};
    sets = std::make_unique<RaisingSets>(&context, names, ft::BoundsAttr());
  }
  bool holds(ArrayRef<Constraint> all, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
    return llvm::all_of(all, [&](const Constraint &c) {
      int64_t value = evaluate(c.expr, dims, symbols);
      return c.isEquality ? value == 0 : value >= 0;
    });
  }
  AffineExpr d(unsigned i) { return sets->dim(i); }
  AffineExpr L() { return sets->name(0); }
  AffineExpr M() { return sets->name(1); }
  AffineExpr x() { return sets->cell(0); }

  /// One fixed dimension i and one cell x; `numFree` dimensions after i.
  void checkLatest(const Conjunction &set, unsigned numFree) {
    auto pieces = sets->latest(set, 1, numFree, 1);
    ASSERT_TRUE(succeeded(pieces));
    unsigned found = 0;
    for (int64_t l : {0, 1, 4, 7})
      for (int64_t m : {0, 3, 5})
        for (int64_t i = -1; i < 8; ++i)
          for (int64_t cell = -1; cell < 9; ++cell) {
            SmallVector<int64_t> symbols = {l, m, cell};
            std::optional<SmallVector<int64_t>> best;
            // Enumerated in lexicographic order: the last one is the maximum.
            for (int64_t a = -2; a < 12; ++a)
              for (int64_t b = numFree > 1 ? -2 : 0; b < (numFree > 1 ? 12 : 1); ++b) {
                SmallVector<int64_t> dims = {i, a};
                if (numFree > 1)
                  dims.push_back(b);
                if (holds(set, dims, symbols))
                  best = SmallVector<int64_t>(ArrayRef(dims).drop_front());
              }
            std::optional<SmallVector<int64_t>> answer;
            for (const LatestPiece &piece : *pieces)
              if (holds(piece.when, {i}, symbols)) {
                EXPECT_FALSE(answer.has_value()) << "pieces overlap";
                answer.emplace();
                for (AffineExpr e : piece.point)
                  answer->push_back(evaluate(e, {i}, symbols));
              }
            EXPECT_EQ(answer, best)
                << "L = " << l << ", M = " << m << ", i = " << i << ", cell " << cell;
            found += best.has_value();
          }
    EXPECT_GT(found, 0u);
  }

  MLIRContext context;
  SmallVector<StringAttr> names;
  std::unique_ptr<RaisingSets> sets;
};
} // namespace

TEST_F(LastWriters, RowOfAnEarlierIteration) {
  // a < i writes row a.
  checkLatest({{d(1)}, {d(0) - d(1) - 1}, {x() - d(1), true}, {L() - d(0) - 1}}, 1);
}

TEST_F(LastWriters, ManyWritersOfACell) {
  // a < i and b < M, all of them write cell 0 … 3 of which x is one.
  checkLatest(
      {{d(1)}, {d(0) - d(1) - 1}, {d(2)}, {M() - d(2) - 1}, {x()}, {-x() + 3}, {L() - d(0) - 1}},
      2);
}

TEST_F(LastWriters, TilesAndDivisions) {
  // a writes cells 3a … 3a + 2.
  checkLatest(
      {{d(1)}, {L() - d(1) - 1}, {x() - d(1) * 3}, {d(1) * 3 + 2 - x()}, {d(0)}, {-d(0) + 4}}, 1);
  // Overlapping windows: a writes 2a … 2a + 3.
  checkLatest({{d(1)},
               {L() - d(1) - 1},
               {x() - d(1) * 2},
               {d(1) * 2 + 3 - x()},
               {d(0) - d(1)},
               {-d(0) + 7}},
              1);
  // Every second cell, from after: 2a = L - 1 - x.
  checkLatest({{d(1)}, {d(0) - d(1)}, {L() - 1 - x() - d(1) * 2, true}, {L() - d(0) - 1}}, 1);
  // The halves: a floordiv 2 = x.
  checkLatest({{d(1)}, {L() - d(1) - 1}, {d(1).floorDiv(2) - x(), true}, {d(0)}, {-d(0) + 1}}, 1);
}

TEST_F(LastWriters, Triangles) {
  // b <= a < i, a + b = x.
  checkLatest({{d(2)}, {d(1) - d(2)}, {d(0) - d(1) - 1}, {d(1) + d(2) - x(), true}, {L() - d(0)}},
              2);
}

TEST_F(LastWriters, DifferencesAndSimplification) {
  std::mt19937 random(3);
  auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  auto constraint = [&] {
    AffineExpr e = d(0) * number(-2, 2) + d(1) * number(-2, 2) + L() * number(0, 1) + number(-3, 4);
    if (number(0, 3) == 0)
      e = e - d(0).floorDiv(number(2, 3));
    return Constraint{e, number(0, 9) == 0};
  };
  for (int round = 0; round < 60; ++round) {
    Conjunction box = {{d(0)}, {-d(0) + 6}, {d(1)}, {-d(1) + 6}},
                extra = {constraint(), constraint()};
    SmallVector<Conjunction> minus = {{constraint(), constraint()}, {constraint()}};
    auto rest = sets->subtract(box, minus);
    ASSERT_TRUE(succeeded(rest));
    std::optional<Conjunction> simple = sets->simplify(extra, box);
    Conjunction reduced = sets->reduce(extra, box);
    bool any = false;
    for (int64_t l : {0, 2, 5})
      for (int64_t i = -1; i < 8; ++i)
        for (int64_t j = -1; j < 8; ++j) {
          SmallVector<int64_t> dims = {i, j}, symbols = {l, 0};
          bool inside = holds(box, dims, symbols);
          unsigned parts =
              llvm::count_if(*rest, [&](const Conjunction &c) { return holds(c, dims, symbols); });
          bool left = inside && llvm::none_of(minus, [&](const Conjunction &c) {
                        return holds(c, dims, symbols);
                      });
          EXPECT_EQ(parts, left ? 1u : 0u);
          if (!inside)
            continue;
          any |= holds(extra, dims, symbols);
          if (simple) {
            EXPECT_EQ(holds(*simple, dims, symbols), holds(extra, dims, symbols));
          }
          EXPECT_EQ(holds(reduced, dims, symbols), holds(extra, dims, symbols));
        }
    if (!simple) {
      EXPECT_FALSE(any);
    }
  }
}
