//===- WavefrontTest.cpp - transformed domains of the oracles -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// etdg-reorder's T on the interior regions of the stacked RNN and the grid RNN,
// and the bounds that it gives: those of the paper's published programs, at 64
// size triples, each point once and no step empty.
//
//===----------------------------------------------------------------------===//
#include "fttest/AffineEval.h"
#include "ft/Analysis/SetWork.h"
#include "ft/Analysis/TransformedDomain.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace mlir::etdg;
using ft::test::evaluate;

namespace {
using Points = std::set<std::vector<int64_t>>;

/// Walks the loops that the bounds of a set give; counts iterations of outer
/// loops that have nothing inside.
void walk(IntegerSet set, unsigned dim, std::vector<int64_t> &point, ArrayRef<int64_t> symbols,
          Points &points, unsigned &numEmpty, unsigned &numTwice) {
  if (dim == set.getNumDims()) {
    numTwice += !points.insert(point).second;
    return;
  }
  LoopBounds bounds = getLoopBounds(set, dim);
  ASSERT_TRUE(bounds.isComplete());
  int64_t lower = INT64_MIN, upper = INT64_MAX;
  for (AffineExpr e : bounds.lowers)
    lower = std::max(lower, evaluate(e, point, symbols));
  for (AffineExpr e : bounds.uppers)
    upper = std::min(upper, evaluate(e, point, symbols));
  if (lower >= upper && dim > 0)
    ++numEmpty;
  for (int64_t v = lower; v < upper; ++v) {
    point.push_back(v);
    walk(set, dim + 1, point, symbols, points, numEmpty, numTwice);
    point.pop_back();
  }
}

struct Wavefront {
  explicit Wavefront(const std::string &text, bool orders = true) {
    context.loadDialect<ETDGDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    PassManager pm(&context);
    if (orders)
      pm.addNestedPass<GraphOp>(createETDGReorder());
    EXPECT_TRUE(succeeded(pm.run(*module)));
    graph = *module->getOps<GraphOp>().begin();
    graph.walk([&](NestOp nest) { schedule = nest.getScheduleAttr(); });
    graph.walk([&](BlockOp op) { block = op; }); // the last one is the interior
  }
  IntegerSet getDomain() {
    SymbolSpace space(graph);
    return *getTransformedDomain(block, schedule.getMap().getValue(), space);
  }
  SmallVector<int64_t> order(llvm::StringMap<int64_t> sizes) {
    SmallVector<int64_t> values;
    for (StringAttr name : block.getSymbolNames())
      values.push_back(sizes.lookup(name.getValue()));
    return values;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
  BlockOp block;
  ScheduleAttr schedule;
};

std::string toString(AffineMap map) {
  std::string text;
  llvm::raw_string_ostream os(text);
  map.print(os);
  return text;
}

/// A graph's transformed domains are those of its copies, and found once.
TEST(Wavefront, KnownDomains) {
  Wavefront w(R"(
!y = !etdg.buffer<[N, L], tensor<f32>>
etdg.graph @g(%x: !y) -> !y {
  %y = etdg.buffer : !y
  etdg.block @r [scanl, scanl] (j, k) in [1, N) x [1, L) reads (%a = %y[j - 1, k] : tensor<f32>, %b = %y[j, k - 1] : tensor<f32>) writes (%y[j, k]) {
    etdg.yield %b : tensor<f32>
  } : !y
  etdg.return %y : !y
}
)", /*orders=*/false);
  SymbolSpace space(w.graph);
  OwningOpRef<GraphOp> copy = cast<GraphOp>(w.graph->clone());
  BlockOp other = *copy->getBody().getOps<BlockOp>().begin();
  SymbolSpace spaceOfCopy(*copy);
  AffineExpr j = getAffineDimExpr(0, &w.context), k = getAffineDimExpr(1, &w.context);
  TransformedDomains domains;
  for (const SmallVector<AffineExpr> &rows : std::vector<SmallVector<AffineExpr>>{{j + k, j}, {j + k, k}, {k, j}}) {
    AffineMap map = AffineMap::get(2, 0, rows, &w.context);
    IntegerSet expected = *getTransformedDomain(w.block, map, space);
    EXPECT_EQ(*domains.get(w.block, map, space), expected);
    int64_t asked = getNumSetsAsked();
    EXPECT_EQ(*domains.get(other, map, spaceOfCopy), expected);
    EXPECT_EQ(getNumSetsAsked(), asked);
  }
  // Another domain is asked for anew; what is not unimodular has none.
  AffineMap map = AffineMap::get(2, 0, {j + k, j}, &w.context);
  IntegerSet narrow = IntegerSet::get(2, w.block.getSymbolNames().size(), {j - 3, -j + 9, k - 1, -k + 5}, {false, false, false, false});
  other.setDomainAttr(IntegerSetAttr::get(narrow));
  EXPECT_EQ(*domains.get(other, map, spaceOfCopy), *getTransformedDomain(other, map, spaceOfCopy));
  EXPECT_NE(*domains.get(other, map, spaceOfCopy), *domains.get(w.block, map, space));
  for (unsigned round = 0; round < 2; ++round)
    EXPECT_TRUE(failed(domains.get(w.block, AffineMap::get(2, 0, {j + k, j + k}, &w.context), space)));
}

TEST(Wavefront, StackedRegion3) {
  Wavefront w(R"(
!y = !etdg.buffer<[N, D, L], tensor<f32>>
etdg.graph @g(%x: !y) -> !y {
  %y = etdg.buffer : !y
  etdg.nest {
    etdg.block @r0 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x [0, L) where D >= 1 reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @r2 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x = 0 where L >= 1 reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L) reads (%a = %y[i, j - 1, k] : tensor<f32>, %b = %y[i, j, k - 1] : tensor<f32>) writes (%y[i, j, k]) {
      etdg.yield %b : tensor<f32>
    } : !y
  }
  etdg.return %y : !y
}
)");
  ASSERT_TRUE(w.schedule);
  EXPECT_EQ(toString(w.schedule.getMap().getValue()), "(d0, d1, d2) -> (d1 + d2, d1, d0)");
  IntegerSet domain = w.getDomain();
  for (int64_t n : {1, 3})
    for (int64_t d : {1, 2, 3, 4, 5, 7, 9, 11})
      for (int64_t l : {1, 2, 4, 7}) {
        Points oracle, points;
        std::set<int64_t> steps;
        // 2 <= m < L + D - 1, n in [max(1, m - L + 1), min(D, m)).
        for (int64_t m = 2; m < l + d - 1; ++m)
          for (int64_t j = std::max<int64_t>(1, m - l + 1); j < std::min(d, m); ++j)
            for (int64_t i = 0; i < n; ++i)
              oracle.insert({m, j, i});
        std::vector<int64_t> point;
        unsigned numEmpty = 0, numTwice = 0;
        if (d > 1 && l > 1)
          walk(domain, 0, point, w.order({{"N", n}, {"D", d}, {"L", l}}), points, numEmpty,
               numTwice);
        EXPECT_TRUE(points == oracle) << n << " " << d << " " << l;
        EXPECT_EQ(int64_t(points.size()), n * (d - 1) * (l - 1));
        EXPECT_EQ(numEmpty, 0u);
        EXPECT_EQ(numTwice, 0u);
      }
}

TEST(Wavefront, GridRegion8) {
  // The oracle's dimensions (d, i, j) and the batch after them.
  Wavefront w(R"(
!y = !etdg.buffer<[D, S, T, N], tensor<f32>>
etdg.graph @g(%x: !y) -> !y {
  %y = etdg.buffer : !y
  etdg.nest {
    etdg.block @edge0 [scanl, scanl, scanl, map] (d, i, j, k) in = 0 x [0, S) x [0, T) x [0, N) where D >= 1 reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[d, i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @edge1 [scanl, scanl, scanl, map] (d, i, j, k) in [1, D) x = 0 x [0, T) x [0, N) where S >= 1 reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[d, i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @edge2 [scanl, scanl, scanl, map] (d, i, j, k) in [1, D) x [1, S) x = 0 x [0, N) where T >= 1 reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[d, i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @r8 [scanl, scanl, scanl, map] (d, i, j, k) in [1, D) x [1, S) x [1, T) x [0, N) reads (%a = %y[d - 1, i, j, k] : tensor<f32>, %b = %y[d, i - 1, j, k] : tensor<f32>, %c = %y[d, i, j - 1, k] : tensor<f32>) writes (%y[d, i, j, k]) {
      etdg.yield %b : tensor<f32>
    } : !y
  }
  etdg.return %y : !y
}
)");
  ASSERT_TRUE(w.schedule);
  EXPECT_EQ(toString(w.schedule.getMap().getValue()),
            "(d0, d1, d2, d3) -> (d0 + d1 + d2, d0, d1, d3)");
  IntegerSet domain = w.getDomain();
  for (int64_t d : {2, 3, 4, 6})
    for (int64_t s : {2, 3, 5, 7})
      for (int64_t t : {2, 3, 4, 8}) {
        Points oracle, points;
        // 3 <= m < D + S + T - 2; n in [max(1, m - S - T + 2), min(m - 1, D));
        // p in [max(1, m - n - T + 1), min(m - n, S)).
        for (int64_t m = 3; m < d + s + t - 2; ++m)
          for (int64_t n = std::max<int64_t>(1, m - s - t + 2); n < std::min(m - 1, d); ++n)
            for (int64_t p = std::max<int64_t>(1, m - n - t + 1); p < std::min(m - n, s); ++p)
              for (int64_t k = 0; k < 2; ++k)
                oracle.insert({m, n, p, k});
        std::vector<int64_t> point;
        unsigned numEmpty = 0, numTwice = 0;
        walk(domain, 0, point, w.order({{"N", 2}, {"D", d}, {"S", s}, {"T", t}}), points, numEmpty,
             numTwice);
        EXPECT_TRUE(points == oracle) << d << " " << s << " " << t;
        EXPECT_EQ(int64_t(points.size()), 2 * (d - 1) * (s - 1) * (t - 1));
        EXPECT_EQ(numEmpty, 0u);
        EXPECT_EQ(numTwice, 0u);
      }
}
} // namespace
