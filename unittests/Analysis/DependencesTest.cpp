//===- DependencesTest.cpp - dependences against enumeration --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every program is enumerated at small sizes: pairs of iterations that write and
// read one element. The sets must have exactly these, distances must span them,
// and orders must be legal exactly where no pair breaks them.
//
//===----------------------------------------------------------------------===//
#include "fttest/AffineEval.h"
#include "ft/Analysis/Dependences.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir;
using namespace mlir::etdg;
using ft::test::contains, ft::test::evaluate;

namespace {
using Point = SmallVector<int64_t>;

/// A pair of iterations of units, and which.
struct Pair {
  Operation *source, *sink;
  Point x, y;
  auto key() const {
    return std::make_tuple(source, sink, std::vector<int64_t>(x.begin(), x.end()),
                           std::vector<int64_t>(y.begin(), y.end()));
  }
  bool operator<(const Pair &other) const { return key() < other.key(); }
  bool operator==(const Pair &other) const { return key() == other.key(); }
};

class Program {
public:
  explicit Program(const char *text) {
    context.loadDialect<ETDGDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    graph = *module->getOps<GraphOp>().begin();
    for (ArrayRef<BlockOp> blocks : getNests(graph.getBody()))
      nest = llvm::to_vector(blocks);
    analysis = std::make_unique<DependenceAnalysis>(graph);
  }

  /// The values of a block's symbols, all lengths being `size`s in the space's order.
  SmallVector<int64_t> symbolsOf(BlockOp block, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> values;
    for (StringAttr name : block.getSymbolNames())
      values.push_back(sizes[*analysis->getSpace().find(name.getValue())]);
    return values;
  }

  /// All points of a leaf (or block), its ancestors' domains included.
  SmallVector<Point> pointsOf(BlockOp block, ArrayRef<int64_t> sizes) {
    SmallVector<Point> points;
    int64_t bound = *llvm::max_element(sizes) + 1;
    Point point(block.getNumDims(), 0);
    while (true) {
      bool inside = true;
      for (BlockOp b = block; b && inside; b = b.getParentBlock())
        inside = contains(b.getDomainSet(), ArrayRef(point).take_front(b.getNumDims()),
                          symbolsOf(b, sizes));
      if (inside)
        points.push_back(point);
      unsigned d = point.size();
      while (d > 0 && point[d - 1] == bound)
        point[--d] = 0;
      if (d == 0)
        return points;
      ++point[d - 1];
    }
  }

  /// The place of an access at a point; -1 for what is gathered.
  Point placeOf(Access &access, ArrayRef<int64_t> point, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> symbols = symbolsOf(access.block, sizes);
    Point place;
    for (unsigned i = 0; i < access.getBufferType().getDepth(); ++i)
      place.push_back(access.getGather(i) ? -1 : evaluate(access.map.getResult(i), point, symbols));
    return place;
  }

  std::set<Pair> enumerate(ArrayRef<int64_t> sizes) {
    std::set<Pair> pairs;
    for (BlockOp source : nest)
      for (BlockOp sink : nest)
        for (auto &[buffer, writes] : analysis->getUnit(source).writes)
          for (Access *write : writes)
            for (Access *read : analysis->getUnit(sink).reads.lookup(buffer))
              for (const Point &x : pointsOf(write->block, sizes))
                for (const Point &y : pointsOf(read->block, sizes)) {
                  if (read->set && !contains(read->set, y, symbolsOf(read->block, sizes)))
                    continue;
                  Point written = placeOf(*write, x, sizes), needed = placeOf(*read, y, sizes);
                  bool same = true;
                  for (auto [a, b] : llvm::zip(written, needed))
                    same &= b == -1 || a == b;
                  Point from(ArrayRef<int64_t>(x).take_front(source.getNumDims()));
                  Point to(ArrayRef<int64_t>(y).take_front(sink.getNumDims()));
                  if (same && (from != to || source != sink))
                    pairs.insert({source, sink, from, to});
                }
    return pairs;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
  SmallVector<BlockOp> nest;
  std::unique_ptr<DependenceAnalysis> analysis;
};

#define HEADER "!y = !etdg.buffer<[D, L], tensor<f32>>\n"
#define TWO(reads)                                                                                 \
  HEADER "etdg.graph @g(%x: !y) -> !y {\n  %y = etdg.buffer : !y\n"                                \
         "  etdg.block @b [scanl, scanl] (j, k) in [0, D) x [0, L)\n reads (" reads ")\n"          \
         "  writes (%y[j, k]) {\n"                                                                 \
         "    %r = arith.addf %a, %b : tensor<f32>\n    etdg.yield %r : tensor<f32>\n"             \
         "  } : !y\n  etdg.return %y : !y\n}\n"

const char *programs[] = {
    // Stacked scans: (1, 0), (0, 1).
    TWO("%a = {j = 0: splat 0.0 : f32, j >= 1: %y[j - 1, k]} : tensor<f32>, "
        "%b = {k = 0: splat 0.0 : f32, k >= 1: %y[j, k - 1]} : tensor<f32>"),
    // Skewed: (1, -1), (0, 1).
    TWO("%a = {j = 0: splat 0.0 : f32, j >= 1 and k + 2 <= L: %y[j - 1, k + 1], "
        "j >= 1 and k + 1 >= L: splat 1.0 : f32} : tensor<f32>, "
        "%b = {k = 0: splat 0.0 : f32, k >= 1: %y[j, k - 1]} : tensor<f32>"),
    // Reversed: no constant distance in k.
    TWO("%a = {j = 0: splat 0.0 : f32, j >= 1: %y[j - 1, L - 1 - k]} : tensor<f32>, "
        "%b = splat 0.0 : f32 : tensor<f32>"),
    // Lags: (2, 0), (0, 3).
    TWO("%a = {j <= 1: splat 0.0 : f32, j >= 2: %y[j - 2, k]} : tensor<f32>, "
        "%b = {k <= 2: splat 0.0 : f32, k >= 3: %y[j, k - 3]} : tensor<f32>"),
    // Strided: row j reads row floor(j / 2) - 1, and every other element.
    TWO("%a = {j <= 1: splat 0.0 : f32, j >= 2: %y[floordiv(j, 2) - 1, k]} : tensor<f32>, "
        "%b = {j = 0: splat 0.0 : f32, j >= 1 and 2 * k + 1 <= L: %y[j - 1, 2 * k], "
        "j >= 1 and 2 * k >= L: splat 0.0 : f32} : tensor<f32>"),
    // Regions, (0, 1) and (1, 0), as conversion makes them; a batch.
    R"(
!y = !etdg.buffer<[N, D, L], tensor<f32>>
etdg.graph @g(%x: !y) -> !y {
  %y = etdg.buffer : !y
  etdg.nest {
    etdg.block @r0 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x [0, L) where D >= 1 reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @r2 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x = 0 where L >= 1 reads (%a = %y[i, j - 1, k] : tensor<f32>) writes (%y[i, j, k]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L) reads (%a = %y[i, j - 1, k] : tensor<f32>, %b = %y[i, j, k - 1] : tensor<f32>) writes (%y[i, j, k]) {
      etdg.yield %b : tensor<f32>
    } : !y
  }
  etdg.return %y : !y
}
)",
    // A gather of the row above reads all of it.
    R"(
!y = !etdg.buffer<[D, L], tensor<f32>>
!i = !etdg.buffer<[L], tensor<i64>>
etdg.graph @g(%x: !y, %idx: !i) -> !y {
  %y = etdg.buffer : !y
  etdg.block @b [scanl, map] (j, k) in [0, D) x [0, L)
      reads (%a = {j = 0: splat 0.0 : f32, j >= 1: %y[j - 1, %idx[k]]} : tensor<f32>) writes (%y[j, k]) {
    etdg.yield %a : tensor<f32>
  } : !y, !i
  etdg.return %y : !y
}
)",
    // A graph block as a unit: its children read neighbours of the layer below.
    R"(
!y = !etdg.buffer<[D, L], tensor<f32>>
!p = !etdg.buffer<[3], tensor<f32>>
etdg.graph @g(%x: !y) -> !y {
  %y = etdg.buffer : !y
  etdg.block @b [scanl, scanl] (j, k) in [0, D) x [0, L) {
    %p = etdg.buffer : !p
    etdg.block @window [map] (j, k | w) in [0, 3)
        reads (%a = {j = 0: splat 0.0 : f32, j >= 1 and k + w >= 1 and k + w <= L: %y[j - 1, k + w - 1],
                     j >= 1 and k + w = 0: splat 0.0 : f32, j >= 1 and k + w >= L + 1: splat 0.0 : f32} : tensor<f32>)
        writes (%p[w]) {
      etdg.yield %a : tensor<f32>
    } : !y, !p
    etdg.block @sum [] (j, k |) reads (%a = %p[0] : tensor<f32>, %b = {k = 0: %p[2], k >= 1: %y[j, k - 1]} : tensor<f32>) writes (%y[j, k]) {
      %r = arith.addf %a, %b : tensor<f32>
      etdg.yield %r : tensor<f32>
    } : !p, !y
  }
  etdg.return %y : !y
}
)"};

/// Sizes in the order of the space's symbols.
SmallVector<SmallVector<int64_t>> getSizes(const SymbolSpace &space) {
  if (space.size() == 2)
    return {{1, 1}, {2, 3}, {4, 3}, {3, 5}};
  return {{1, 1, 1}, {2, 3, 2}, {3, 4, 2}};
}

class DependencesTest : public ::testing::TestWithParam<int> {};

TEST_P(DependencesTest, RelationsAreThePairs) {
  Program program(programs[GetParam()]);
  ASSERT_TRUE(program.module);
  for (bool useMaps : {true, false}) {
    auto all = program.analysis->getCarried(program.nest, DependenceAnalysis::List::Pairs, useMaps);
    ASSERT_TRUE(succeeded(all));
    for (ArrayRef<int64_t> sizes : getSizes(program.analysis->getSpace())) {
      std::set<Pair> truth = program.enumerate(sizes), found;
      for (const Dependence &dependence : *all) {
        auto relation = program.analysis->getRelation(dependence);
        ASSERT_TRUE(succeeded(relation));
        for (const Point &x : program.pointsOf(dependence.source, sizes))
          for (const Point &y : program.pointsOf(dependence.sink, sizes)) {
            Point both(x);
            both.append(y);
            both.append(sizes.begin(), sizes.end());
            if (!relation->containsPointNoLocal(
                    llvm::map_to_vector(both, [](int64_t v) { return llvm::DynamicAPInt(v); })))
              continue;
            found.insert({dependence.source, dependence.sink, x, y});
            for (auto [d, range] : llvm::enumerate(dependence.distance)) {
              int64_t distance = y[d] - x[d];
              EXPECT_TRUE(!range.low || *range.low <= distance);
              EXPECT_TRUE(!range.high || distance <= *range.high);
            }
          }
      }
      EXPECT_TRUE(truth == found) << "program " << GetParam() << ": " << truth.size()
                                  << " pairs, found " << found.size();
    }
  }
}

/// Distances without and with the maps' short cut (FT Table 4) agree.
TEST_P(DependencesTest, MapsAgreeWithSets) {
  Program program(programs[GetParam()]);
  std::set<std::string> byMaps, bySets;
  for (bool useMaps : {true, false}) {
    auto all =
        program.analysis->getCarried(program.nest, DependenceAnalysis::List::Distances, useMaps);
    ASSERT_TRUE(succeeded(all));
    for (const Dependence &dependence : *all)
      (useMaps ? byMaps : bySets).insert(toString(dependence.distance));
  }
  EXPECT_EQ(byMaps, bySets);
}

/// Random unimodular orders: kept exactly where enumeration says so.
TEST_P(DependencesTest, OrdersAreKeptAsEnumerationSays) {
  Program program(programs[GetParam()]);
  auto all = program.analysis->getCarried(program.nest);
  ASSERT_TRUE(succeeded(all));
  std::set<Pair> truth;
  for (ArrayRef<int64_t> sizes : getSizes(program.analysis->getSpace()))
    for (const Pair &pair : program.enumerate(sizes))
      truth.insert(pair);
  // A strided read goes far back only in long rows.
  if (program.analysis->getSpace().size() == 2)
    for (SmallVector<int64_t> sizes : {SmallVector<int64_t>{3, 24}, SmallVector<int64_t>{24, 3}})
      for (const Pair &pair : program.enumerate(sizes))
        truth.insert(pair);
  unsigned n = program.nest.front().getNumOwnDims(), legal = 0;
  std::mt19937 generator(GetParam());
  for (int trial = 0; trial < 60; ++trial) {
    SmallVector<OrderLoop> loops;
    IntegerMatrix rows = IntegerMatrix::identity(n);
    for (int step = generator() % 4; step > 0; --step) {
      unsigned to = generator() % n, from = generator() % n;
      int64_t factor = int64_t(generator() % 5) - 2;
      for (unsigned c = 0; c < n && to != from; ++c)
        rows.at(to, c) += factor * rows.at(from, c);
    }
    for (unsigned r = 0; r < n; ++r)
      loops.push_back({Point(rows.getRow(r)), generator() % 3 == 0});
    if (generator() % 2)
      std::swap(loops.front(), loops.back());
    bool kept = true, expected = true;
    for (const Dependence &dependence : *all)
      kept &= *isKept(*program.analysis, dependence, loops);
    for (const Pair &pair : truth) {
      bool ok = false;
      for (const OrderLoop &loop : loops) {
        int64_t later = 0;
        for (unsigned d = 0; d < n; ++d)
          later += loop.row[d] * (pair.y[d] - pair.x[d]);
        if (later == 0)
          continue;
        ok = later > 0 && !loop.parallel;
        break;
      }
      expected &= ok;
    }
    legal += expected;
    EXPECT_EQ(kept, expected) << "program " << GetParam() << ", T " << rows.str();
  }
  EXPECT_GT(legal, 0u);
}

INSTANTIATE_TEST_SUITE_P(Programs, DependencesTest, ::testing::Range(0, int(std::size(programs))));

TEST(Dependences, Distances) {
  auto distances = [](int number) {
    Program program(programs[number]);
    std::string text;
    auto all = program.analysis->getCarried(program.nest, DependenceAnalysis::List::Distances);
    for (const Dependence &dependence : *all)
      text += (text.empty() ? "" : " ") + toString(dependence.distance);
    return text;
  };
  EXPECT_EQ(distances(0), "(1, 0) (0, 1)");
  EXPECT_EQ(distances(1), "(1, -1) (0, 1)");
  EXPECT_EQ(distances(2), "(1, *)");
  EXPECT_EQ(distances(3), "(2, 0) (0, 3)");
  EXPECT_EQ(distances(5), "(0, 1, 0) (0, 0, 1)");
  EXPECT_EQ(distances(6), "(1, *)");
  EXPECT_EQ(distances(7), "(1, -1..1) (0, 1)");
}

TEST(Dependences, BetweenNests) {
  Program program(R"(
!y = !etdg.buffer<[L], tensor<f32>>
etdg.graph @g(%x: !y) -> (!y, !y) {
  %y = etdg.buffer : !y
  %z = etdg.buffer : !y
  etdg.block @a [scanl] (k) in [0, L) reads (%a = {k = 0: splat 0.0 : f32, k >= 1: %y[k - 1]} : tensor<f32>) writes (%y[k]) {
    etdg.yield %a : tensor<f32>
  } : !y
  etdg.block @b [map] (k) in [2, L) reads (%a = %y[k - 2] : tensor<f32>) writes (%z[k]) {
    etdg.yield %a : tensor<f32>
  } : !y, !y
  etdg.block @c [map] (k) in [0, min(2, L)) reads (%a = %x[k] : tensor<f32>) writes (%z[k]) {
    etdg.yield %a : tensor<f32>
  } : !y, !y
  etdg.return %y, %z : !y, !y
}
)");
  ASSERT_TRUE(program.module);
  auto nests = getNests(program.graph.getBody());
  ASSERT_EQ(nests.size(), 3u);
  EXPECT_TRUE(program.analysis->shareBuffer(nests[0], nests[1]));
  EXPECT_FALSE(program.analysis->shareBuffer(nests[0], nests[2]));
  auto between = program.analysis->getBetween(nests[0], nests[1]);
  ASSERT_TRUE(succeeded(between));
  ASSERT_EQ(between->size(), 1u);
  EXPECT_EQ(toString(between->front().distance), "(2)");
  EXPECT_TRUE(between->front().fromMaps);
}
} // namespace
