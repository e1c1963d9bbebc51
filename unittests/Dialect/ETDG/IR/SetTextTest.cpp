//===- SetTextTest.cpp - canonical sets and their text --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class SetTextTest : public ::testing::Test {
protected:
  SetTextTest() {
    bindDims(&context, i, j);
    bindSymbols(&context, n, l);
    dims = {StringAttr::get(&context, "i"), StringAttr::get(&context, "j")};
    symbols = {StringAttr::get(&context, "N"), StringAttr::get(&context, "L")};
  }
  std::string canonical(ArrayRef<AffineExpr> exprs, ArrayRef<bool> eqs) {
    IntegerSet set = canonicalizeSet(IntegerSet::get(2, 2, exprs, eqs));
    EXPECT_EQ(set, canonicalizeSet(set)) << "canonical sets stay as they are";
    return conditionsToString(set, dims, symbols);
  }

  MLIRContext context;
  AffineExpr i, j, n, l;
  SmallVector<StringAttr> dims, symbols;
};

TEST_F(SetTextTest, Conditions) {
  EXPECT_EQ(canonical({i - 1}, {false}), "i >= 1");
  EXPECT_EQ(canonical({n - i - 2}, {false}), "i + 2 <= N");
  EXPECT_EQ(canonical({j - i - 1}, {true}), "j = i + 1");
  EXPECT_EQ(canonical({i + 1 - j}, {true}), "j = i + 1");
  EXPECT_EQ(canonical({n - 1}, {false}), "N >= 1");
}

TEST_F(SetTextTest, Universe) {
  EXPECT_TRUE(isUniverse(getUniverse(&context, 2, 0)));
  EXPECT_EQ(canonical({getAffineConstantExpr(3, &context)}, {false}), "true");
  EXPECT_EQ(canonical({i - i}, {true}), "true");
}

TEST_F(SetTextTest, Merges) {
  EXPECT_EQ(canonical({i, i - 3}, {false, false}), "i >= 3");
  EXPECT_EQ(canonical({i, -i}, {false, false}), "i = 0");
  EXPECT_EQ(canonical({i - 2, i}, {true, false}), "i = 2");
  EXPECT_EQ(canonical({i * 2 - 3}, {false}), "i >= 2");
  // j = 0 and j < N
  EXPECT_EQ(canonical({j, n - 1 - j}, {true, false}), "j = 0 and N >= 1");
}

TEST_F(SetTextTest, Empty) {
  EXPECT_EQ(canonical({i - 3, -i}, {false, false}), "1 = 0");
  EXPECT_EQ(canonical({i * 2 - 1}, {true}), "1 = 0");
  EXPECT_EQ(canonical({i - 1, i - 2}, {true, true}), "1 = 0");
}

TEST_F(SetTextTest, OrderIsThatOfDomains) {
  EXPECT_EQ(canonical({n - l, l - 1 - j, j - 1, i, n - 1 - i}, {false, false, false, false, false}),
            "i >= 0 and i + 1 <= N and j >= 1 and j + 1 <= L and N >= L");
}

TEST_F(SetTextTest, RemaindersStay) {
  EXPECT_EQ(canonical({i % 2 - 1}, {true}), "mod(i, 2) = 1");
  EXPECT_EQ(canonical({i - j % 3}, {false}), "i >= mod(j, 3)");
}

TEST_F(SetTextTest, LargeNumbers) {
  int64_t large = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(canonical({i - large}, {false}), "i - 9223372036854775807 >= 0");
  EXPECT_EQ(canonical({i * (large / 2) + j}, {false}), "4611686018427387903 * i + j >= 0");
}

TEST_F(SetTextTest, Intersect) {
  IntegerSet a = IntegerSet::get(2, 2, {i}, {false}), b = IntegerSet::get(2, 2, {i - 4}, {false});
  EXPECT_EQ(conditionsToString(intersect(a, b), dims, symbols), "i >= 4");
  EXPECT_EQ(intersect(a, getUniverse(&context, 2, 2)), canonicalizeSet(a));
}
} // namespace
