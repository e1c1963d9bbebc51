//===- AffineProgramTest.cpp - expressions as programs --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random trees at random points, among them unknown dimensions and numbers that
// leave 64 bits, against the expressions walked as trees in 128 bits.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/AffineProgram.h"

#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::ft;

namespace {
using Number = std::optional<int64_t>;
constexpr unsigned numDims = 3, numSymbols = 2;

Number fit(__int128 value) {
  return value == __int128(int64_t(value)) ? Number(int64_t(value)) : std::nullopt;
}

Number walk(AffineExpr expr, ArrayRef<Number> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < dims.size() ? dims[dim.getPosition()] : std::nullopt;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Number a = walk(binary.getLHS(), dims, symbols), b = walk(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  __int128 x = *a, y = *b;
  if (expr.getKind() == AffineExprKind::Add)
    return fit(x + y);
  if (expr.getKind() == AffineExprKind::Mul)
    return fit(x * y);
  if (y <= 0)
    return std::nullopt;
  __int128 below = x / y - (x % y < 0);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return fit(below);
  return fit(expr.getKind() == AffineExprKind::Mod ? x - below * y : below + (below * y != x));
}

struct Generator {
  explicit Generator(MLIRContext &context) : context(context) {}

  int64_t draw(int64_t least, int64_t greatest) { return std::uniform_int_distribution<int64_t>(least, greatest)(random); }
  /// Now and then one that products of two leave 64 bits with.
  int64_t number() { return draw(0, 9) == 0 ? draw(-1, 1) * (int64_t(1) << draw(31, 62)) : draw(-9, 9); }
  AffineExpr expr(unsigned depth) {
    switch (depth == 0 ? draw(0, 2) : draw(0, 9)) {
    case 0:
      return getAffineConstantExpr(number(), &context);
    case 1:
      return getAffineSymbolExpr(draw(0, numSymbols - 1), &context);
    case 2:
      return getAffineDimExpr(draw(0, numDims - 1), &context);
    case 3:
      return expr(depth - 1).floorDiv(expr(depth - 1));
    case 4:
      return expr(depth - 1).ceilDiv(expr(depth - 1));
    case 5:
      return expr(depth - 1) % expr(depth - 1);
    case 6:
      return expr(depth - 1) * expr(depth - 1);
    default:
      return expr(depth - 1) + expr(depth - 1);
    }
  }

  MLIRContext &context;
  std::mt19937_64 random{7};
};
} // namespace

TEST(AffineProgram, IsTheExpression) {
  MLIRContext context;
  Generator generator(context);
  unsigned known = 0, unknown = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    AffineExpr expr = generator.expr(unsigned(generator.draw(0, 4)));
    SmallVector<int64_t> symbols;
    for (unsigned s = 0; s < numSymbols; ++s)
      symbols.push_back(generator.number());
    AffineProgram program(expr, [&](unsigned s) { return symbols[s]; });
    for (unsigned point = 0; point < 5; ++point) {
      SmallVector<Number> dims;
      for (unsigned d = 0; d < numDims; ++d)
        dims.push_back(generator.draw(0, 7) == 0 ? std::nullopt : Number(generator.number()));
      if (point == 4)
        dims.pop_back(); // one that nothing speaks of is unknown
      Number expected = walk(expr, dims, symbols), found = program.run(dims);
      (expected ? known : unknown) += 1;
      std::string text;
      llvm::raw_string_ostream(text) << expr;
      ASSERT_EQ(found.has_value(), expected.has_value()) << text;
      if (expected)
        ASSERT_EQ(*found, *expected) << text;
    }
  }
  EXPECT_GT(known, 5000u);
  EXPECT_GT(unknown, 2000u);
}
