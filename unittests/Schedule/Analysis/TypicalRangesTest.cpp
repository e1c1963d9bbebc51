//===- TypicalRangesTest.cpp - what prices ask at other lengths -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges against the points of the domains, one by one; and what is asked of one
// model at one length after the other against new models.
//
//===----------------------------------------------------------------------===//
#include "fttest/AffineEval.h"
#include "ft/Schedule/CPU/CostModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using Lengths = SmallVector<std::pair<StringAttr, int64_t>>;

namespace {
/// A wavefront of a stacked network, whose loops have bounds in each other, and its first column.
constexpr llvm::StringLiteral text = R"(
!y = !etdg.buffer<[N, D, L], tensor<1x32xf32>>
etdg.graph @g(%w: !etdg.buffer<[D], tensor<32x32xf32>>, %x: !y) -> !y attributes {ft.lengths = {N = 8 : i64, D = 4 : i64, L = 16 : i64}} {
  %y = etdg.buffer : !y
  etdg.nest {
    etdg.block @first [scanl, map, map] (t, j, i) in [0, D) x [0, D) x [0, N) where t - j >= 0 and j - t >= 0 and L >= 1
        reads (%a = splat 0.0 : f32 : tensor<1x32xf32>, %m = %w[j] : tensor<32x32xf32>) writes (%y[i, j, t - j]) {
      %zero = arith.constant dense<0.0> : tensor<1x32xf32>
      %b = linalg.matmul ins(%a, %m : tensor<1x32xf32>, tensor<32x32xf32>) outs(%zero : tensor<1x32xf32>) -> tensor<1x32xf32>
      etdg.yield %b : tensor<1x32xf32>
    } : !etdg.buffer<[D], tensor<32x32xf32>>, !y
    etdg.block @rest [scanl, map, map] (t, j, i) in [1, D + L - 1) x [0, D) x [0, N) where t - j >= 1 and L + j - t >= 1
        reads (%a = %y[i, j, t - j - 1] : tensor<1x32xf32>, %m = %w[j] : tensor<32x32xf32>) writes (%y[i, j, t - j]) {
      %zero = arith.constant dense<0.0> : tensor<1x32xf32>
      %b = linalg.matmul ins(%a, %m : tensor<1x32xf32>, tensor<32x32xf32>) outs(%zero : tensor<1x32xf32>) -> tensor<1x32xf32>
      etdg.yield %b : tensor<1x32xf32>
    } : !y, !etdg.buffer<[D], tensor<32x32xf32>>
  }
  etdg.return %y : !y
}
)";

class TypicalRangesTest : public ::testing::Test {
protected:
  TypicalRangesTest() {
    context.loadDialect<etdg::ETDGDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    graph = *module->getOps<etdg::GraphOp>().begin();
    graph.walk([&](BlockOp block) { nest.push_back(block); });
  }

  Lengths lengths(int64_t n, int64_t d, int64_t l) {
    auto name = [&](StringRef text) { return StringAttr::get(&context, text); };
    return {{name("N"), n}, {name("D"), d}, {name("L"), l}};
  }
  std::vector<Lengths> someLengths() { return {lengths(8, 4, 16), lengths(3, 1, 2), lengths(1, 7, 5), lengths(2, 3, 1), lengths(8, 4, 16)}; }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  etdg::GraphOp graph;
  SmallVector<BlockOp> nest;
};

int64_t valueOf(const Lengths &lengths, StringAttr name) {
  return llvm::find_if(lengths, [&](auto &entry) { return entry.first == name; })->second;
}

/// The points of a domain, one by one.
std::vector<SmallVector<int64_t>> pointsOf(BlockOp block, const Lengths &lengths) {
  SmallVector<int64_t> symbols;
  for (StringAttr name : block.getSymbolNames())
    symbols.push_back(valueOf(lengths, name));
  std::vector<SmallVector<int64_t>> points;
  for (int64_t t = -1; t < 24; ++t)
    for (int64_t j = -1; j < 9; ++j)
      for (int64_t i = -1; i < 9; ++i)
        if (ft::test::contains(block.getDomainSet(), {t, j, i}, symbols))
          points.push_back({t, j, i});
  return points;
}
} // namespace

TEST_F(TypicalRangesTest, RangesAreThoseOfThePoints) {
  ASSERT_EQ(nest.size(), 2u);
  TypicalRanges ranges(graph);
  for (const Lengths &at : someLengths()) {
    ranges.setLengths(at);
    for (BlockOp block : nest) {
      std::vector<SmallVector<int64_t>> points = pointsOf(block, at);
      for (int64_t t = 0; t < 22; ++t)
        for (int64_t j = 0; j < 7; ++j) {
          // Of i, the others known.
          int64_t count = llvm::count_if(points, [&](auto &point) { return point[0] == t && point[1] == j; });
          SmallVector<std::optional<int64_t>> values = {t, j, std::nullopt};
          EXPECT_EQ(ranges.holds(block, values), count > 0);
          if (count > 0)
            EXPECT_EQ(ranges.rangeOf({block}, 2, values).size(), count);
          // Of j, where t alone is known.
          values[1] = std::nullopt;
          int64_t least = INT64_MAX, greatest = INT64_MIN;
          for (auto &point : points)
            if (point[0] == t) {
              least = std::min(least, point[1]);
              greatest = std::max(greatest, point[1]);
            }
          TypicalRanges::Range range = ranges.rangeOf({block}, 1, values);
          if (least <= greatest) {
            EXPECT_EQ(range.lower, least);
            EXPECT_EQ(range.upper, greatest + 1);
          }
        }
    }
  }
}

TEST_F(TypicalRangesTest, OneModelAtManyLengthsIsManyModels) {
  CpuScheduleOptions options;
  options.threads = 4;
  CostModel costs(graph, options);
  SmallVector<double> seconds;
  for (const Lengths &at : someLengths()) {
    costs.setLengths(at);
    CpuScheduleOptions there = options;
    there.lengths = at;
    auto [plan, estimate] = costs.chooseAtTop(nest);
    CostModel other(graph, there);
    NestPlan expected = other.choose(nest, /*withTeam=*/true, /*fixedRow=*/false);
    Estimate slow = other.estimate(nest, expected);
    EXPECT_EQ(describe(nest, plan), describe(nest, expected));
    EXPECT_EQ(estimate.seconds, slow.seconds);
    EXPECT_EQ(estimate.barriers, slow.barriers);
    seconds.push_back(estimate.seconds);
  }
  EXPECT_EQ(seconds.front(), seconds.back());
  EXPECT_GT(seconds[0], seconds[1]);
}
