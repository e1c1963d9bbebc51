//===- LengthTest.cpp - lengths in normal form ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The normal form must not change what an expression means, whatever the
// expression: random ones are evaluated before and after.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/QuasiPolynomial.h"
#include "ft/Support/NamedAffine.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::ft;

namespace {
class LengthTest : public ::testing::Test {
protected:
  LengthTest() { context.loadDialect<FTDialect>(); }

  LengthAttr parse(StringRef text) {
    SmallVector<StringAttr> symbols;
    std::string error;
    AffineExpr expr = parseNamedExpr(&context, text, symbols, error);
    EXPECT_TRUE(expr) << text.str() << ": " << error;
    return expr ? LengthAttr::get(&context, symbols, expr) : LengthAttr();
  }

  std::string parseError(StringRef text) {
    SmallVector<StringAttr> symbols;
    std::string error;
    EXPECT_FALSE(parseNamedExpr(&context, text, symbols, error)) << text.str();
    return error;
  }

  AffineExpr randomExpr(std::mt19937 &random, unsigned depth) {
    auto below = [&](int n) { return static_cast<int>(random() % n); };
    if (depth == 0 || below(5) == 0)
      return below(3) == 0 ? getAffineConstantExpr(below(13) - 6, &context)
                           : getAffineSymbolExpr(below(3), &context);
    AffineExpr a = randomExpr(random, depth - 1), b = randomExpr(random, depth - 1);
    // Divisors that are at least 1 for all values of names.
    AffineExpr divisor = below(3) == 0 ? getAffineSymbolExpr(below(3), &context)
                                       : getAffineConstantExpr(1 + below(6), &context);
    switch (below(7)) {
    case 0:
    case 1:
      return a + b;
    case 2:
      return a - b;
    case 3:
      return a * b;
    case 4:
      return a.floorDiv(divisor);
    case 5:
      return a.ceilDiv(divisor);
    default:
      return a % divisor;
    }
  }

  /// The meaning of an expression, by the definition of its operators.
  static std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> values) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return values[symbol.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto a = evaluate(binary.getLHS(), values), b = evaluate(binary.getRHS(), values);
    if (!a || !b || std::abs(*a) > (1 << 20) || std::abs(*b) > (1 << 20))
      return std::nullopt;
    auto floor = [](int64_t n, int64_t d) { return n >= 0 ? n / d : -((-n + d - 1) / d); };
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return *a + *b;
    case AffineExprKind::Mul:
      return *a * *b;
    case AffineExprKind::FloorDiv:
      return *b < 1 ? std::nullopt : std::optional(floor(*a, *b));
    case AffineExprKind::CeilDiv:
      return *b < 1 ? std::nullopt : std::optional(-floor(-*a, *b));
    default:
      return *b < 1 ? std::nullopt : std::optional(*a - *b * floor(*a, *b));
    }
  }

  MLIRContext context;
};

TEST_F(LengthTest, NormalFormKeepsTheMeaning) {
  std::mt19937 random(1);
  SmallVector<StringAttr> names{StringAttr::get(&context, "Z"), StringAttr::get(&context, "A"),
                                StringAttr::get(&context, "M")};
  unsigned compared = 0;
  for (int i = 0; i != 20000; ++i) {
    AffineExpr expr = randomExpr(random, 4);
    LengthAttr length = LengthAttr::get(&context, names, expr);
    for (int j = 0; j != 4; ++j) {
      int64_t values[] = {1 + int64_t(random() % 9), 1 + int64_t(random() % 9),
                          1 + int64_t(random() % 9)};
      auto expected = evaluate(expr, values);
      if (!expected)
        continue;
      auto found = length.evaluate([&](StringAttr name) -> std::optional<int64_t> {
        return values[llvm::find(names, name) - names.begin()];
      });
      ASSERT_TRUE(found) << length.str();
      ASSERT_EQ(*expected, *found) << length.str();
      ++compared;
    }
  }
  EXPECT_GT(compared, 40000u);
}

TEST_F(LengthTest, NormalFormIsOne) {
  std::mt19937 random(2);
  SmallVector<StringAttr> names{StringAttr::get(&context, "A"), StringAttr::get(&context, "B"),
                                StringAttr::get(&context, "C")};
  for (int i = 0; i != 5000; ++i) {
    LengthAttr length = LengthAttr::get(&context, names, randomExpr(random, 3));
    // Built again from itself, and from its text.
    ASSERT_EQ(length, LengthAttr::get(&context, length.getNames(), length.getExpr()))
        << length.str();
    ASSERT_EQ(length, parse(length.str())) << length.str() << " / " << parse(length.str()).str();
    // Names are sorted and all occur.
    ASSERT_TRUE(llvm::is_sorted(
        length.getNames(), [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); }));
  }
}

TEST_F(LengthTest, Arithmetic) {
  LengthAttr l = LengthAttr::get(StringAttr::get(&context, "L")),
             four = LengthAttr::get(&context, 4);
  EXPECT_EQ((l + 2 - 2), l);
  EXPECT_EQ((l - l).getConstant(), 0);
  EXPECT_EQ((l * four).floorDiv(4), l);
  EXPECT_EQ((l * four).floorDiv(l), four);
  EXPECT_EQ((l + 1).floorDiv(2), l.ceilDiv(2));
  EXPECT_EQ(l.ceilDiv(2).ceilDiv(2), l.ceilDiv(4));
  EXPECT_EQ((l * four).str(), "4 * L");
  EXPECT_EQ((four - l).str(), "4 - L");
  EXPECT_EQ(l.getSingleName().getValue(), "L");
  EXPECT_FALSE((l + 1).getSingleName());
  EXPECT_EQ(resolveIndex(LengthAttr::get(&context, -1), l), l - 1);
  EXPECT_EQ(resolveIndex(LengthAttr::get(&context, 1), l).getConstant(), 1);

  LengthAttr ragged = LengthAttr::getRagged(StringAttr::get(&context, "r"));
  EXPECT_EQ(ragged.str(), "ragged(r)");
  EXPECT_FALSE(ragged - 1);
  EXPECT_EQ(ragged + 0, ragged);
  EXPECT_NE(ragged, LengthAttr::get(StringAttr::get(&context, "r")));
}

TEST_F(LengthTest, EvaluateChecksEveryStep) {
  auto with = [&](StringRef text, int64_t value) {
    return parse(text).evaluate([&](StringAttr) -> std::optional<int64_t> { return value; });
  };
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(with("L - 2", 7), 5);
  EXPECT_EQ(with("ceildiv(L, 2)", 7), 4);
  EXPECT_FALSE(with("L + 1", huge));
  EXPECT_FALSE(with("2 * L", huge));
  EXPECT_FALSE(with("L * L", huge));
  EXPECT_FALSE(with("floordiv(4, L)", 0));
  EXPECT_FALSE(with("mod(4, L)", -1));
  EXPECT_FALSE(parse("L").evaluate([](StringAttr) { return std::nullopt; }));
  // Constants that overflow while they are simplified, which MLIR would not notice.
  std::string fit = "constant does not fit 63 bits";
  EXPECT_EQ(parseError("9223372036854775807 + 1 + L").substr(0, fit.size()), fit);
  EXPECT_EQ(parseError("L * 9223372036854775807 * 2").substr(0, fit.size()), fit);
  LengthAttr big = LengthAttr::get(&context, int64_t(1) << 62);
  EXPECT_FALSE(big + big);
  EXPECT_FALSE(big * big);
  EXPECT_FALSE((big + big) - 1);
  EXPECT_EQ((big - 1).getConstant(), (int64_t(1) << 62) - 1);
}

TEST_F(LengthTest, Text) {
  EXPECT_EQ(parse("--L").str(), "L");
  EXPECT_EQ(parse(" ( L + 1 ) * 2").str(), "2 * L + 2");
  EXPECT_EQ(parse("mod(L + 9, 4)").str(), "mod(L + 1, 4)");
  EXPECT_EQ(parse("8 * floordiv(L, 8) + mod(L, 8)"), parse("L"));
  EXPECT_EQ(parse("N * mod(L + N, 4) + 4 * N * floordiv(L + N, 4)"), parse("N * L + N * N"));
  EXPECT_EQ(parse("mod(mod(L, 8), 4)").str(), "mod(L, 4)");
  EXPECT_EQ(parse("floordiv(mod(L, 8), 8)").str(), "0");
  EXPECT_EQ(parse("L - mod(L, 8)").str(), "8 * floordiv(L, 8)");
  EXPECT_EQ(parse("N - 8 * floordiv(L, 8) + L").str(), "N + mod(L, 8)");
  EXPECT_EQ(parse("8 * ceildiv(L, 8) - L").str(), "8 * ceildiv(L, 8) - L");
  EXPECT_EQ(parse("floordiv(3 * L, 6)").str(), "floordiv(L, 2)");
  EXPECT_EQ(parseError("L +"), "expected an integer, a name or '(' at ''");
  EXPECT_EQ(parseError("L L"), "expected an operator or the end at 'L'");
  EXPECT_EQ(parseError(""), "expected an expression of integers and names, such as 'L - 2' at ''");
  EXPECT_EQ(parseError("floordiv(L, 0)"), "divisor must be at least 1, found 0 at '0)'");
  std::string deep(2000, '-');
  EXPECT_EQ(parse(deep + "L").str(), "L");
  std::string sum = "L";
  for (int i = 0; i != 2000; ++i)
    sum += " + L";
  EXPECT_NE(parseError(sum).find("more than 1024 terms"), std::string::npos);
}

TEST_F(LengthTest, Types) {
  auto tensor = RankedTensorType::get({2}, Float32Type::get(&context));
  LengthAttr n = LengthAttr::get(StringAttr::get(&context, "N")),
             four = LengthAttr::get(&context, 4);
  ListType inner = ListType::wrap(four, tensor), outer = ListType::wrap(n, inner);
  EXPECT_EQ(outer.getDepth(), 2u);
  EXPECT_EQ(outer.getPeeled(), inner);
  EXPECT_EQ(inner.getPeeled(), tensor);
  EXPECT_EQ(getBoundNames({outer, ListType::wrap(n - 1, tensor)}).size(), 1u);
  EXPECT_TRUE(isValueType(TupleType::get(&context, {outer, tensor})));
  EXPECT_FALSE(isValueType(TupleType::get(&context)));
  EXPECT_FALSE(isValueType(Float32Type::get(&context)));
}
} // namespace
