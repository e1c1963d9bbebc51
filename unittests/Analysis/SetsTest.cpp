//===- SetsTest.cpp - named sets as Presburger sets -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Sets.h"
#include "ft/Analysis/SimplifySet.h"
#include "ft/Analysis/SetWork.h"
#include "ft/Support/Interrupt.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;

namespace {
class SetsTest : public ::testing::Test {
protected:
  SetsTest() : space(makeSpace()) { bindDims(&context, i, j); }

  SymbolSpace makeSpace() {
    names = {StringAttr::get(&context, "N"), StringAttr::get(&context, "L")};
    return SymbolSpace(names);
  }
  // In the order of `names`, not in that of the space.
  AffineExpr n() { return getAffineSymbolExpr(0, &context); }
  AffineExpr l() { return getAffineSymbolExpr(1, &context); }
  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, &context); }
  IntegerPolyhedron make(unsigned numDims, ArrayRef<AffineExpr> nonNegative,
                         ArrayRef<AffineExpr> zero = {}) {
    SetBuilder builder(space, numDims);
    for (AffineExpr expr : nonNegative)
      EXPECT_TRUE(succeeded(builder.add(expr, false, names)));
    for (AffineExpr expr : zero)
      EXPECT_TRUE(succeeded(builder.add(expr, true, names)));
    return builder.get();
  }

  MLIRContext context;
  SmallVector<StringAttr> names;
  SymbolSpace space;
  AffineExpr i, j;
};

TEST_F(SetsTest, SymbolsAreSorted) {
  ASSERT_EQ(space.size(), 2u);
  EXPECT_EQ(space.getNames()[0].getValue(), "L");
  EXPECT_EQ(space.find("N"), 1u);
  EXPECT_EQ(space.find("M"), std::nullopt);
}

TEST_F(SetsTest, EmptyOverAllSymbols) {
  // 0 <= i < N and i >= N
  EXPECT_TRUE(isEmpty(make(1, {i, n() - 1 - i, i - n()})));
  EXPECT_FALSE(isEmpty(make(1, {i, n() - 1 - i})));
  // Names are not negative.
  EXPECT_TRUE(isEmpty(make(1, {-n() - 1})));
}

TEST_F(SetsTest, EmptinessIsOverTheIntegers) {
  // 2i = 2j + 1 has rational solutions only.
  EXPECT_TRUE(isEmpty(make(2, {}, {i * 2 - j * 2 - 1})));
  // 3 <= 4i <= 3 + ... : 1 <= 4i - 4j <= 3
  EXPECT_TRUE(isEmpty(make(2, {i * 4 - j * 4 - 1, j * 4 - i * 4 + 3})));
}

TEST_F(SetsTest, DivisionsAndRemainders) {
  // i mod 2 = 0 and i = 2j + 1
  EXPECT_TRUE(isEmpty(make(2, {}, {i % 2, i - j * 2 - 1})));
  // i floordiv 4 = j and i = 4j + 3
  EXPECT_FALSE(isEmpty(make(2, {}, {i.floorDiv(4) - j, i - j * 4 - 3})));
  EXPECT_TRUE(isEmpty(make(2, {}, {i.floorDiv(4) - j, i - j * 4 - 4})));
  // i ceildiv 4 = j and i = 4j - 3
  EXPECT_FALSE(isEmpty(make(2, {}, {i.ceilDiv(4) - j, i - j * 4 + 3})));
  EXPECT_TRUE(isEmpty(make(2, {}, {i.ceilDiv(4) - j, i - j * 4 + 4})));
}

TEST_F(SetsTest, ADimensionTimesALengthIsNone) {
  SetBuilder builder(space, 1);
  EXPECT_FALSE(builder.flatten(i * n(), names).has_value());
  EXPECT_FALSE(builder.flatten(i.floorDiv(n()), names).has_value());
  EXPECT_FALSE(builder.flatten(i.floorDiv(j), names).has_value());
}

TEST_F(SetsTest, CoefficientsThatDoNotFit) {
  SetBuilder builder(space, 1);
  int64_t large = int64_t(1) << 62;
  EXPECT_FALSE(builder.flatten(constant(large), names).has_value());
  EXPECT_FALSE(builder.flatten(i * large, names).has_value());
  EXPECT_FALSE(builder.flatten((i * (large / 8) + n()) * 16, names).has_value());
}

TEST_F(SetsTest, Cover) {
  IntegerPolyhedron all = make(1, {i, n() - 1 - i});
  IntegerPolyhedron first = make(1, {}, {i}), rest = make(1, {i - 1}), gap = make(1, {i - 2});
  EXPECT_TRUE(isCovered(all, {first, rest}));
  EXPECT_FALSE(isCovered(all, {first, gap}));
  EXPECT_FALSE(isCovered(all, {}));
  EXPECT_TRUE(isCovered(all, {all}));
  // Even and odd.
  EXPECT_TRUE(isCovered(all, {make(1, {}, {i % 2}), make(1, {}, {i % 2 - 1})}));
}

TEST_F(SetsTest, ACoverOfManyRemaindersAsksFewSets) {
  // Rows of a square whose places, counted row by row, are shifted by one each: pieces with quotients and strides.
  for (int64_t size : {8, 16, 32, 64, 127}) {
    IntegerPolyhedron all = make(2, {i, -i + (size - 1), j, -j + (size - 1)});
    SmallVector<IntegerPolyhedron, 0> cover;
    for (int64_t r = 0; r < 7; ++r)
      cover.push_back(make(2, {}, {(i * size + j) % 7 - r}));
    int64_t before = getNumSetsAsked();
    EXPECT_TRUE(isCovered(all, cover));
    cover.erase(cover.begin() + 3);
    EXPECT_FALSE(isCovered(all, cover));
    // One point alone is left out.
    cover.push_back(make(2, {(i * size + j) % 7 - 1 - 2}));
    cover.push_back(make(2, {i + j - 5}, {(i * size + j) % 7 - 3}));
    cover.erase(cover.begin() + 6);
    EXPECT_FALSE(isCovered(all, cover));
    EXPECT_LE(getNumSetsAsked() - before, 64);
  }
}

TEST_F(SetsTest, LocalVariablesOfACoverMayBeAny) {
  // i = 3·u + 5·v with u, v in [0, 4): not 1, 2, 4, 7.
  SetBuilder builder(space, 1);
  unsigned u = builder.addLocal(), v = builder.addLocal();
  LinearExpr sum = builder.variable(0);
  sum.add(u, -3);
  sum.add(v, -5);
  builder.add(sum, true);
  for (unsigned local : {u, v}) {
    builder.add(builder.variable(local), false);
    LinearExpr below;
    below.add(local, -1);
    below.constant = 3;
    builder.add(below, false);
  }
  auto only = [&](int64_t value) { return make(1, {}, {i - value}); };
  IntegerPolyhedron all = make(1, {i, -i + 8});
  EXPECT_TRUE(isCovered(all, {builder.get(), only(1), only(2), only(4), only(7)}));
  EXPECT_FALSE(isCovered(all, {builder.get(), only(1), only(2), only(4), only(8)}));
  EXPECT_TRUE(isCovered(make(1, {i - 8, -i + 8}), {builder.get()}));
}

TEST_F(SetsTest, NothingIsCoveredOnceABudgetIsSpent) {
  IntegerPolyhedron all = make(1, {i, n() - 1 - i});
  {
    SetBudget budget(3);
    EXPECT_TRUE(isCovered(all, {all}));
    EXPECT_FALSE(isCovered(all, {all}));
    EXPECT_TRUE(budget.isSpent());
    EXPECT_FALSE(isEmpty(make(1, {-n() - 1})));
  }
  EXPECT_TRUE(isCovered(all, {all}));
}

TEST_F(SetsTest, NothingIsCoveredOnceTheCompilationIsCancelled) {
  IntegerPolyhedron all = make(1, {i, n() - 1 - i});
  int32_t flag = 0;
  ft::InterruptScope scope(&flag);
  EXPECT_TRUE(isCovered(all, {all}));
  EXPECT_TRUE(isCovered(all, {make(1, {}, {i % 2}), make(1, {}, {i % 2 - 1})}));
  flag = 1;
  EXPECT_FALSE(isCovered(all, {all}));
  EXPECT_FALSE(subtract(all, {make(1, {}, {i % 2}), make(1, {}, {i % 2 - 1})}).isIntegerEmpty());
  ft::InterruptScope inner(nullptr);
  EXPECT_TRUE(isCovered(all, {all}));
}

TEST_F(SetsTest, SamplesAreSmall) {
  IntegerPolyhedron all = make(1, {i, n() - 1 - i});
  auto sample = findSample(subtract(all, {make(1, {}, {i}), make(1, {i - 2})}));
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sampleToString(*sample, {StringAttr::get(&context, "i")}, space),
            "L = 0, N = 2, i = 1");
  EXPECT_FALSE(findSample(make(1, {i - n(), n() - 1 - i})).has_value());
}

TEST_F(SetsTest, ProjectionIsExact) {
  // There is a j with i = 2j: the even numbers.
  IntegerPolyhedron even = projectOut(make(2, {i}, {i - j * 2}), 1, 2);
  EXPECT_EQ(even.getNumDimVars(), 1u);
  EXPECT_TRUE(even.containsPointNoLocal({4, 0, 0}).has_value());
  EXPECT_FALSE(even.containsPointNoLocal({3, 0, 0}).has_value());
  // A unit coefficient leaves no variable after.
  EXPECT_EQ(projectOut(make(2, {j}, {i - j - 3}), 1, 2).getNumLocalVars(), 0u);
}

TEST_F(SetsTest, Relation) {
  IntegerSet domain = IntegerSet::get(1, 2, {i, n() - 1 - i}, {false, false});
  auto relation =
      toRelation(AffineMap::get(1, 2, {i - 1, l() - i}, &context), domain, names, space);
  ASSERT_TRUE(succeeded(relation));
  EXPECT_EQ(relation->getNumDomainVars(), 1u);
  EXPECT_EQ(relation->getNumRangeVars(), 2u);
  // i = 2, results 1 and L - 2 = 5, with L = 7 and N = 3.
  EXPECT_TRUE(relation->containsPoint({2, 1, 5, 7, 3}));
  EXPECT_FALSE(relation->containsPoint({2, 1, 4, 7, 3}));
  EXPECT_FALSE(relation->containsPoint({3, 2, 4, 7, 3}));
}
} // namespace

// Even numbers do not cover all: MLIR's subtraction takes 0 <= e - 2 v <= 0 for the definition of
// v = floor(e / 2), as it should take 0 <= e - 2 v <= 1.
TEST(SetQueries, TightDivisionsAreNoDefinitions) {
  auto range = [](int64_t modulus, int64_t width) {
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(1, 0, modulus ? 1 : 0));
    SmallVector<int64_t> low{1, 0}, high{-1, 5};
    if (modulus) {
      low = {1, 0, 0};
      high = {-1, 0, 5};
      set.addInequality(ArrayRef<int64_t>{1, -modulus, 0});
      set.addInequality(ArrayRef<int64_t>{-1, modulus, width});
    }
    set.addInequality(low);
    set.addInequality(high);
    return set;
  };
  EXPECT_FALSE(isCovered(range(0, 0), {range(2, 0)}));
  EXPECT_TRUE(isCovered(range(0, 0), {range(2, 1)}));
  EXPECT_FALSE(isCovered(range(0, 0), {range(3, 1)}));
  EXPECT_TRUE(isCovered(range(0, 0), {range(3, 2)}));
}

// Pieces as schedules make them: positions o·m + i with i in [0, m), under factors and further
// divisions, tight bands, bounds on one side. What subtraction leaves is what enumeration leaves.
TEST(SetQueries, SubtractionWithLocalsIsEnumeration) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  constexpr int size = 9;
  using Row = SmallVector<int64_t>;
  unsigned numLeft = 0, numNone = 0;
  for (unsigned round = 0; round < 50; ++round) {
    SmallVector<IntegerPolyhedron, 0> pieces;
    for (int p = pick(1, 3); p > 0; --p) {
      // x, y; then the position's two parts, a further quotient, a free one.
      constexpr unsigned numVars = 6;
      IntegerPolyhedron piece(PresburgerSpace::getSetSpace(2, 0, numVars - 2));
      auto add = [&](std::initializer_list<std::pair<unsigned, int>> terms, int constant) {
        Row row(numVars + 1, 0);
        for (auto [v, c] : terms)
          row[v] += c;
        row.back() = constant;
        piece.addInequality(row);
      };
      int m = pick(1, 4), g = pick(1, 3), shift = pick(-2, 2), a = pick(-1, 2), b = pick(-1, 2);
      int width = pick(0, 4) ? g - 1 : pick(0, g);
      // 0 <= g·(m·o + i) - a·x - b·y - shift <= width
      add({{2, g * m}, {3, g}, {0, -a}, {1, -b}}, -shift);
      add({{2, -g * m}, {3, -g}, {0, a}, {1, b}}, shift + width);
      add({{3, 1}}, 0);
      add({{3, -1}}, m - 1);
      // q = (m·o + i + x) over n, whole or up to a remainder.
      int n = pick(1, 3), rest = pick(0, n - 1);
      add({{2, m}, {3, 1}, {0, 1}, {4, -n}}, 0);
      add({{2, -m}, {3, -1}, {0, -1}, {4, n}}, rest);
      add({{2, 1}}, pick(0, 3));
      add({{4, -1}, {1, pick(0, 1)}}, pick(1, 6));
      // Some f with max(o, y - 2) <= f <= q + 3.
      add({{5, 1}, {2, -1}}, 0);
      add({{5, 1}, {1, -1}}, 2);
      add({{5, -1}, {4, 1}}, 3);
      pieces.push_back(piece);
    }
    IntegerPolyhedron box(PresburgerSpace::getSetSpace(2, 0, 0));
    for (unsigned d = 0; d < 2; ++d) {
      Row low(3, 0), high(3, 0);
      low[d] = 1;
      high[d] = -1;
      high[2] = size - 1;
      box.addInequality(low);
      box.addInequality(high);
    }
    PresburgerSet left = subtract(box, pieces);
    bool isCoveredByCount = true;
    for (int64_t x = 0; x < size; ++x)
      for (int64_t y = 0; y < size; ++y) {
        bool inside = llvm::any_of(pieces, [&](const IntegerPolyhedron &piece) {
          return piece.containsPointNoLocal({x, y}).has_value();
        });
        isCoveredByCount &= inside;
        numLeft += !inside;
        ASSERT_EQ(left.containsPoint({x, y}), !inside)
            << "round " << round << ": " << x << ", " << y;
      }
    numNone += isCoveredByCount;
    EXPECT_EQ(isCovered(box, pieces), isCoveredByCount) << "round " << round;
  }
  // Both answers occur.
  EXPECT_GT(numLeft, 500u);
  EXPECT_GT(numNone, 0u);
}

// Equalities that count a variable several times, beside rows about variables before it (LLVM 22's IntegerRelation::simplify leaves those as
// they are). Locals are quotients.
TEST(SetQueries, DifferencesWithEqualitiesAreEnumeration) {
  std::mt19937 random(11);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  constexpr int size = 6;
  constexpr unsigned numDims = 3, numVars = 5;
  using Row = SmallVector<int64_t>;
  auto negate = [](Row row) {
    llvm::for_each(row, [](int64_t &number) { number = -number; });
    return row;
  };
  auto make = [&](unsigned equalities) {
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(numDims, 0, numVars - numDims));
    for (unsigned l = numDims; l < numVars; ++l) {
      Row low(numVars + 1, 0), high;
      if (pick(0, 2) == 0) { // 0 <= l <= 3
        low[l] = 1;
        high = negate(low);
        high.back() += 3;
      } else { // 0 <= f - m l <= m - 1, or fewer remainders
        int m = pick(1, 4);
        for (unsigned v = 0; v < l; ++v)
          low[v] = pick(0, 1);
        low[l] = -m;
        high = negate(low);
        high.back() += m - 1 - (m > 1 && pick(0, 2) == 0);
      }
      set.addInequality(low);
      set.addInequality(high);
    }
    for (unsigned r = 0; r < 2 + equalities; ++r) {
      Row row(numVars + 1, 0);
      for (unsigned k = 0; k < 3; ++k)
        row[unsigned(pick(0, numVars - 1))] = pick(-3, 3);
      row.back() = pick(-3, 3);
      r < 2 ? set.addInequality(row) : set.addEquality(row);
    }
    for (unsigned d = 0; d < numDims; ++d) {
      Row low(numVars + 1, 0), high(numVars + 1, 0);
      low[d] = 1;
      high[d] = -1;
      high.back() = size - 1;
      set.addInequality(low);
      set.addInequality(high);
    }
    return set;
  };
  unsigned numLeft = 0, numTaken = 0;
  for (unsigned round = 0; round < 150; ++round) {
    IntegerPolyhedron set = make(pick(0, 2));
    SmallVector<IntegerPolyhedron, 0> pieces;
    for (int p = pick(1, 2); p > 0; --p)
      pieces.push_back(make(pick(0, 1)));
    PresburgerSet left = subtract(set, pieces);
    IntegerPolyhedron simple = simplify(set);
    for (int64_t x = 0; x < size; ++x)
      for (int64_t y = 0; y < size; ++y)
        for (int64_t z = 0; z < size; ++z) {
          SmallVector<int64_t> point{x, y, z};
          auto has = [&](const IntegerPolyhedron &one) { return one.containsPointNoLocal(point).has_value(); };
          bool isThere = has(set), isTaken = isThere && llvm::any_of(pieces, has);
          numLeft += isThere && !isTaken;
          numTaken += isTaken;
          ASSERT_EQ(has(simple), isThere) << "round " << round << ": " << x << ", " << y << ", " << z;
          ASSERT_EQ(left.containsPoint(point), isThere && !isTaken) << "round " << round << ": " << x << ", " << y << ", " << z;
        }
  }
  // Both occur.
  EXPECT_GT(numLeft, 200u);
  EXPECT_GT(numTaken, 100u);
}

// Locals that depend on each other and are no divisions, as a schedule's tiles leave them: such a piece is taken away value by value.
TEST(SetQueries, LocalsThatAreNoDivisionsAreTakenByValue) {
  auto make = [](unsigned locals, ArrayRef<SmallVector<int64_t>> rows) {
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(/*numDims=*/2, /*numSymbols=*/1, locals));
    for (const SmallVector<int64_t> &row : rows)
      set.addInequality(row);
    return set;
  };
  IntegerPolyhedron piece = make(3, {{0, 0, 1, 0, 0, 0, -5},  {1, 0, 0, 0, 0, 0, 0},   {0, 0, -1, 2, 0, 0, 0}, {0, 0, 1, -2, 0, 0, 1},
                                     {-1, 0, 0, 1, 0, 0, -1}, {0, 1, -1, 0, 0, -5, 5}, {0, 0, -1, 0, 5, 0, 4}, {0, 0, 1, 0, -5, 0, 0},
                                     {0, -1, 0, 0, -5, 5, 5}, {0, 0, 0, 0, -1, 1, 0},  {0, 0, 0, 0, 0, -1, 1}});
  IntegerPolyhedron set =
      make(1, {{0, 0, 1, 0, -5}, {1, 0, 0, 0, 0}, {0, 0, -1, 2, 0}, {0, 0, 1, -2, 1}, {-1, 0, 0, 1, -1}, {0, 1, 0, 0, 0}, {0, -1, 0, 0, 5}});
  PresburgerSet left = subtract(set, {piece});
  unsigned numTaken = 0, numLeft = 0;
  constexpr int64_t size = 13;
  for (int64_t x = 0; x < size; ++x)
    for (int64_t y = 0; y < size; ++y)
      for (int64_t n = 0; n < size; ++n) {
        SmallVector<int64_t> point{x, y, n};
        bool isThere = set.containsPointNoLocal(point).has_value(), isTaken = isThere && piece.containsPointNoLocal(point);
        numTaken += isTaken;
        numLeft += isThere && !isTaken;
        ASSERT_EQ(left.containsPoint(point), isThere && !isTaken) << x << ", " << y << ", " << n;
      }
  EXPECT_GT(numTaken, 0u);
  EXPECT_GT(numLeft, 0u);
}

// Places at two remainders of one counter: quotients are variables without bounds of their own.
TEST(SetQueries, RemaindersOfOneCounter) {
  std::mt19937_64 random(7);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  unsigned numEmpty = 0, numSets = 200;
  for (unsigned n = 0; n < numSets; ++n) {
    int64_t steps[] = {pick(2, 9), pick(2, 9)}, from[] = {pick(0, 8), pick(0, 8)}, low = pick(-20, 0), high = pick(5, 130);
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(3)); // i, and its quotients
    set.addInequality(ArrayRef<int64_t>{1, 0, 0, -low});
    set.addInequality(ArrayRef<int64_t>{-1, 0, 0, high});
    set.addEquality(ArrayRef<int64_t>{1, -steps[0], 0, -from[0]});
    set.addEquality(ArrayRef<int64_t>{2, 0, -steps[1], -from[1]});
    bool empty = true;
    for (int64_t i = low; i <= high; ++i)
      empty &= (i - from[0]) % steps[0] != 0 || (2 * i - from[1]) % steps[1] != 0;
    numEmpty += empty;
    EXPECT_EQ(isEmpty(set), empty) << "set " << n;
  }
  EXPECT_GE(numEmpty, numSets / 10);
  EXPECT_LE(numEmpty, numSets - numSets / 10);
}

// Sets of rows about few variables each, as loops around a block are: one part by itself is empty or has integers as
// the whole has.
TEST(SetQueries, UnrelatedPartsAreTheWhole) {
  std::mt19937_64 random(20);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  unsigned numEmpty = 0, numSets = 600;
  for (unsigned n = 0; n < numSets; ++n) {
    constexpr unsigned numVars = 6;
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(numVars));
    // Bounded below or on both sides, or on none.
    for (unsigned v = 0; v < numVars; ++v) {
      SmallVector<int64_t> row(numVars + 1, 0);
      row[v] = 1;
      if (pick(0, 3))
        set.addInequality(row);
      row[v] = -pick(1, 2);
      row.back() = pick(0, 7);
      if (pick(0, 3))
        set.addInequality(row);
    }
    for (unsigned r = 0, e = unsigned(pick(1, 4)); r < e; ++r) {
      SmallVector<int64_t> row(numVars + 1, 0);
      for (unsigned k = 0; k < 2; ++k)
        row[unsigned(pick(0, numVars - 1))] = pick(-3, 3);
      row.back() = pick(-5, 3);
      if (pick(0, 2))
        set.addInequality(row);
      else
        set.addEquality(row);
    }
    bool empty = set.isIntegerEmpty();
    numEmpty += empty;
    EXPECT_EQ(isEmpty(set), empty) << "set " << n;
  }
  EXPECT_GE(numEmpty, numSets / 5);
  EXPECT_LE(numEmpty, numSets - numSets / 5);
}
