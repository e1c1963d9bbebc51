//===- BoundsTest.cpp - what follows from bounds --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is proven must hold of every small binding; of linear questions, what
// holds of every binding in a small box that the bounds enclose must be proven.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/NamedAffine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::ft;

namespace {
class BoundsTest : public ::testing::Test {
protected:
  BoundsTest() : builder(&context) {
    context.loadDialect<FTDialect, func::FuncDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    auto function =
        func::FuncOp::create(builder.getUnknownLoc(), "f", builder.getFunctionType({}, {}));
    module->push_back(function);
    op = function;
  }

  LengthAttr parse(StringRef text) {
    SmallVector<StringAttr> symbols;
    std::string error;
    AffineExpr expr = parseNamedExpr(&context, text, symbols, error);
    return LengthAttr::get(&context, symbols, expr);
  }

  void setBounds(ArrayRef<LengthAttr> bounds) {
    op->setAttr(ft::names::bounds, BoundsAttr::get(&context, bounds));
  }

  bool proves(ArrayRef<StringRef> bounds, StringRef nonNegative) {
    SmallVector<LengthAttr> lengths;
    for (StringRef bound : bounds)
      lengths.push_back(parse(bound));
    setBounds(lengths);
    return isProvablyNonNegative(op, parse(nonNegative));
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  Operation *op;
};

TEST_F(BoundsTest, Examples) {
  EXPECT_TRUE(proves({}, "L"));
  EXPECT_FALSE(proves({}, "L - 1"));
  EXPECT_TRUE(proves({"L - 5"}, "L - 5"));
  EXPECT_FALSE(proves({"L - 5"}, "L - 6"));
  EXPECT_TRUE(proves({"L - K", "K - 3"}, "L - 3"));
  // Over the integers: 2K >= 5 makes K >= 3.
  EXPECT_TRUE(proves({"2 * K - 5"}, "K - 3"));
  EXPECT_TRUE(proves({}, "L - floordiv(L, 2)"));
  EXPECT_TRUE(proves({}, "L - ceildiv(L, 2)"));
  EXPECT_FALSE(proves({}, "L - ceildiv(L, 2) - 1"));
  EXPECT_TRUE(proves({}, "L - mod(L, 4)"));
  EXPECT_TRUE(proves({}, "3 - mod(L, 4)"));
  EXPECT_TRUE(proves({"L - 4"}, "floordiv(L, 4) - 1"));
  EXPECT_TRUE(proves({}, "N * L"));
  EXPECT_TRUE(proves({"N - 1"}, "N * L - L"));
  EXPECT_FALSE(proves({}, "N * L - L"));
  EXPECT_TRUE(proves({"N - 2", "L - 3", "K - 1"}, "N * L * K - 6"));
  EXPECT_FALSE(proves({"N - 2", "L - 3", "K - 1"}, "N * L * K - 7"));
  EXPECT_TRUE(proves({"N * L - 4"}, "N * L - 4"));
  EXPECT_TRUE(proves({}, "floordiv(L, N)"));
  // Bounds that nothing satisfies prove anything: the function cannot be called.
  EXPECT_TRUE(proves({"L - 5", "4 - L"}, "0 - L"));
}

TEST_F(BoundsTest, InequalityText) {
  EXPECT_EQ(inequalityStr(parse("L - 5")), "L >= 5");
  EXPECT_EQ(inequalityStr(parse("L - K")), "L >= K");
  EXPECT_EQ(inequalityStr(parse("7 - L")), "L <= 7");
  EXPECT_EQ(inequalityStr(parse("2 * L - K - 3")), "2 * L >= K + 3");
  EXPECT_EQ(inequalityStr(parse("L")), "L >= 0");
}

TEST_F(BoundsTest, AgreesWithEnumeration) {
  constexpr int box = 7;
  std::mt19937 random(3);
  auto below = [&](int n) { return static_cast<int>(random() % n); };
  StringRef atoms[] = {"A",         "B",     "C",         "floordiv(A, 2)", "ceildiv(B, 3)",
                       "mod(C, 4)", "A * B", "A * B * C", "mod(A, 2)",      "floordiv(B, C)"};
  unsigned proven = 0, refused = 0;
  for (int round = 0; round != 3000; ++round) {
    bool linear = round % 2 == 0;
    auto randomLength = [&] {
      std::string text = std::to_string(below(9) - 4);
      for (int i = 0, end = 1 + below(3); i != end; ++i)
        text += " + " + std::to_string(below(7) - 3) + " * " +
                atoms[below(linear ? 3 : std::size(atoms))].str();
      return parse(text);
    };
    SmallVector<LengthAttr> bounds{parse("6 - A"), parse("6 - B"), parse("6 - C")};
    for (int i = below(3); i-- != 0;)
      bounds.push_back(randomLength());
    setBounds(bounds);
    LengthAttr question = randomLength();

    bool holds = true;
    int64_t values[3];
    auto lookup = [&](StringAttr name) -> std::optional<int64_t> {
      return values[name.getValue()[0] - 'A'];
    };
    for (int point = 0; point != box * box * box; ++point) {
      values[0] = point % box, values[1] = point / box % box, values[2] = point / box / box;
      // A bound that has no value, by division by 0, refuses the call.
      auto satisfied = [&](LengthAttr length) {
        auto value = length.evaluate(lookup);
        return value && *value >= 0;
      };
      auto value = question.evaluate(lookup);
      if (llvm::all_of(bounds, satisfied) && value && *value < 0)
        holds = false;
    }
    bool isProven = isProvablyNonNegative(op, question);
    (isProven ? proven : refused)++;
    if (isProven) {
      EXPECT_TRUE(holds) << question.str();
    } else if (linear && !question.isConstant()) {
      EXPECT_FALSE(holds) << question.str();
    }
  }
  EXPECT_GT(proven, 300u);
  EXPECT_GT(refused, 300u);
}
} // namespace
