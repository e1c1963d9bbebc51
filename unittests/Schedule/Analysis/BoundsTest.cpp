//===- BoundsTest.cpp - bounds of loops by what is outside ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds of each dimension for each set of known ones, against the points of domains that have triangles and quotients.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/Analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

namespace {
constexpr llvm::StringLiteral text = R"(
!y = !etdg.buffer<[N, N], tensor<f32>>
etdg.graph @g(%x: !y) -> !y attributes {ft.lengths = {N = 7 : i64}} {
  %y = etdg.buffer : !y
  etdg.block @halves [map, map] (i, j) in [*, *) x [0, N) where floordiv(j, 2) - i >= 0 and i - floordiv(j, 2) >= 0
      reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[i, j]) {
    etdg.yield %a : tensor<f32>
  } : !y
  etdg.block @triangle [map, map] (i, j) in [0, N) x [*, *) where j >= i and 2 * i - j >= 0
      reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[j, i]) {
    etdg.yield %a : tensor<f32>
  } : !y
  etdg.return %y : !y
}
)";
constexpr int64_t length = 7;

/// An expression at a point.
int64_t valueOf(AffineExpr expr, ArrayRef<int64_t> point) {
  SmallVector<AffineExpr> dims;
  for (int64_t at : point)
    dims.push_back(getAffineConstantExpr(at, expr.getContext()));
  return cast<AffineConstantExpr>(simplifyAffineExpr(expr.replaceDimsAndSymbols(dims, {getAffineConstantExpr(length, expr.getContext())}), 0, 0)).getValue();
}

bool isInside(BlockOp block, ArrayRef<int64_t> point) {
  IntegerSet set = block.getDomainSet();
  return llvm::all_of(llvm::zip_equal(set.getConstraints(), set.getEqFlags()), [&](auto pair) {
    int64_t value = valueOf(std::get<0>(pair), point);
    return std::get<1>(pair) ? value == 0 : value >= 0;
  });
}

class BoundsTest : public ::testing::Test {
protected:
  BoundsTest() {
    context.loadDialect<etdg::ETDGDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (module)
      module->walk([&](BlockOp block) { blocks.push_back(block); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<BlockOp> blocks;
};

TEST_F(BoundsTest, EachLoopHasAllPoints) {
  ASSERT_EQ(blocks.size(), 2u);
  for (BlockOp block : blocks)
    for (unsigned dim = 0; dim < 2; ++dim)
      for (bool isKnown : {false, true}) {
        auto known = [&](unsigned d) { return isKnown && d != dim; };
        EXPECT_TRUE(hasLoopBounds({block}, dim, known)) << dim << " " << isKnown;
        DimBounds bounds = boundsOf(block, dim, known);
        for (AffineExpr e : llvm::concat<AffineExpr>(bounds.lowers, bounds.uppers))
          EXPECT_TRUE(isKnown || !e.isFunctionOfDim(1 - dim));
        for (int64_t i = -1; i <= 2 * length; ++i)
          for (int64_t j = -1; j <= 2 * length; ++j)
            if (int64_t point[] = {i, j}; isInside(block, point)) {
              for (AffineExpr lower : bounds.lowers)
                EXPECT_LE(valueOf(lower, point), point[dim]);
              for (AffineExpr upper : bounds.uppers)
                EXPECT_LT(point[dim], valueOf(upper, point));
            }
      }
}

TEST_F(BoundsTest, OuterLoopsAreThoseThatLaterRangesAsk) {
  ASSERT_EQ(blocks.size(), 2u);
  BlockOp triangle = blocks.back();
  llvm::SmallBitVector none(2), first(2);
  first.set(0);
  EXPECT_EQ(findAsked({triangle}, {0, 1}, none), first);
  EXPECT_TRUE(findAsked({triangle}, {0}, none).none());
  // What is outside of all is asked by no loop of these.
  EXPECT_TRUE(findAsked({triangle}, {1}, first).none());
}
} // namespace
