//===- TensorExpressionsTest.cpp - which elements depend on which ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/TensorExpressions/TensorExpressions.h"
#include "ft/InitAll.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// From 3 operations for each element on, as in Souffle §5.3.
constexpr double threshold = 3;

class TensorExpressionsTest : public ::testing::Test {
protected:
  TensorExpressionsTest() {
    DialectRegistry registry;
    ft::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  /// The analysis of the only graph of a text.
  const TensorExpressionAnalysis &analyze(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    analysis = std::make_unique<TensorExpressionAnalysis>(*module->getOps<GraphOp>().begin(), threshold);
    return *analysis;
  }
  std::string relation(unsigned statement, unsigned number) {
    return toString(analysis->getStatements()[statement].relations[number], *analysis);
  }
  /// The relation of the edge between two statements.
  std::optional<TileRelation> tiles(unsigned writer, unsigned reader) {
    for (const TensorEdge &edge : analysis->getEdges())
      if (edge.writer == writer && edge.reader == reader)
        return edge.relation;
    return std::nullopt;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<TensorExpressionAnalysis> analysis;
};

/// A copy of %xs, and one reader of it whose read is given.
std::string copyAndRead(StringRef reader) {
  return (R"(
!b = !etdg.buffer<[N], tensor<4xf32>>
etdg.graph @f(%xs: !b, %idx: !etdg.buffer<[N], tensor<i64>>) -> !b attributes {ft.bounds = #ft.bounds<"N >= 8">} {
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  etdg.block @copy [map] (i) in [0, N) reads (%x = %xs[i] : tensor<4xf32>) writes (%t[i]) {
    etdg.yield %x : tensor<4xf32>
  } : !b, !b
)" + reader + R"(
  etdg.return %y : !b
}
)")
      .str();
}

std::string readAt(StringRef domain, StringRef index) {
  return copyAndRead(("etdg.block @read [map] (i) in " + domain + " reads (%x = %t[" + index + R"(] : tensor<4xf32>) writes (%y[i]) {
    %e = math.exp %x : tensor<4xf32>
    etdg.yield %e : tensor<4xf32>
  } : !b, !b)")
                         .str());
}

TEST_F(TensorExpressionsTest, TilesOfOneDimension) {
  auto tilesAt = [&](StringRef domain, StringRef index) {
    // (A graph of which a result is not written whole is none that runs; relations it has.)
    analyze(readAt(domain, index));
    return stringify(*tiles(0, 1)).str();
  };
  EXPECT_EQ(tilesAt("[0, N)", "i"), "identity");
  EXPECT_EQ(tilesAt("[1, N)", "i - 1"), "band");
  EXPECT_EQ(tilesAt("[0, N)", "N - 1 - i"), "block-diagonal") << "reversed rows, all of each";
  EXPECT_EQ(tilesAt("[0, N)", "0"), "block-diagonal") << "one row, all of it; its columns in their places";
}

/// A reduction over the list: each element of the sum takes the column of all elements.
TEST_F(TensorExpressionsTest, WholeListForEachElement) {
  analyze(copyAndRead(R"(
  etdg.block @read [map] (i) in [0, N) {
    %s = etdg.buffer : !b
    etdg.block @sum [fold] (i | k) in [0, N) reads (%x = %t[k] : tensor<4xf32>, %a = {k = 0: splat 0.0 : f32, k >= 1: %s[k - 1]} : tensor<4xf32>) writes (%s[k]) {
      %e = arith.addf %a, %x : tensor<4xf32>
      etdg.yield %e : tensor<4xf32>
    } : !b, !b
    etdg.block @last [] (i |) reads (%x = %s[N - 1] : tensor<4xf32>) writes (%y[i]) {
      etdg.yield %x : tensor<4xf32>
    } : !b, !b
    etdg.yield
  }
)"));
  EXPECT_EQ(analysis->getStatements()[1].reliance, Reliance::Many);
  EXPECT_EQ(analysis->getStatements()[2].reliance, Reliance::One);
  EXPECT_FALSE(analysis->getStatements()[1].isComputeIntensive);
  EXPECT_EQ(tiles(0, 1), TileRelation::Identity) << "row k of what is copied, for state k";
}

/// §5.2 prints [[1, 1], [0, 0]] for the identity: it is [[1, 0], [0, 1]].
TEST_F(TensorExpressionsTest, MatrixOfAffineRelation) {
  analyze(readAt("[1, N)", "i - 1"));
  std::optional<AffineRelation> affine = getAffineRelation(analysis->getStatements()[1].relations.front());
  ASSERT_TRUE(affine);
  ASSERT_EQ(affine->linear.size(), 2u);
  EXPECT_EQ(affine->linear[0], (SmallVector<int64_t>{1, 0}));
  EXPECT_EQ(affine->linear[1], (SmallVector<int64_t>{0, 1}));
  EXPECT_EQ(affine->constant, (SmallVector<int64_t>{-1, 0}));
}

/// A place that is data may be any: the relation has a variable for it, and the list of places is an input as well.
TEST_F(TensorExpressionsTest, PlacesThatAreData) {
  analyze(copyAndRead(R"(
  etdg.block @read [map] (i) in [0, N) reads (%x = %t[%idx[i]] : tensor<4xf32>) writes (%y[i]) {
    etdg.yield %x : tensor<4xf32>
  } : !b, !etdg.buffer<[N], tensor<i64>>, !b
)"));
  EXPECT_EQ(relation(1, 0), "{O1[i, j] -> I1[i], 0 <= i < N, 0 <= j < 4}");
  EXPECT_EQ(relation(1, 1), "{O1[i, j] -> {O0[rk, j], [rk in data]}, 0 <= i < N, 0 <= j < 4}");
  EXPECT_EQ(tiles(0, 1), TileRelation::BlockDiagonal);
  EXPECT_EQ(analysis->getStatements()[1].reliance, Reliance::Many);
}

/// Body operations are composed: a transposed product's element takes a column of one operand and a row of the other one.
TEST_F(TensorExpressionsTest, RelationsThroughABody) {
  analyze(R"(
!a = !etdg.buffer<[], tensor<3x5xf32>>
!b = !etdg.buffer<[], tensor<5x7xf32>>
!c = !etdg.buffer<[], tensor<7x3xf32>>
etdg.graph @f(%a: !a, %b: !b) -> !c {
  %y = etdg.buffer : !c
  etdg.block @product [] () reads (%l = %a[] : tensor<3x5xf32>, %r = %b[] : tensor<5x7xf32>) writes (%y[]) {
    %zero = arith.constant dense<0.0> : tensor<3x7xf32>
    %p = linalg.matmul ins(%l, %r : tensor<3x5xf32>, tensor<5x7xf32>) outs(%zero : tensor<3x7xf32>) -> tensor<3x7xf32>
    %e = math.exp %p : tensor<3x7xf32>
    %empty = tensor.empty() : tensor<7x3xf32>
    %t = linalg.transpose ins(%e : tensor<3x7xf32>) outs(%empty : tensor<7x3xf32>) permutation = [1, 0]
    etdg.yield %t : tensor<7x3xf32>
  } : !a, !b, !c
  etdg.return %y : !c
}
)");
  const TensorExpression &statement = analysis->getStatements().front();
  ASSERT_EQ(statement.relations.size(), 2u);
  EXPECT_EQ(relation(0, 0), "{O0[i, j] -> {I0[j, rk], [0 <= rk < 5]}, 0 <= i < 7, 0 <= j < 3}");
  EXPECT_EQ(relation(0, 1), "{O0[i, j] -> {I1[rk, i], [0 <= rk < 5]}, 0 <= i < 7, 0 <= j < 3}");
  EXPECT_EQ(statement.operations, 2 * 3 * 5 * 7 + 3 * 7);
  EXPECT_EQ(statement.elements, 3 * 5 + 5 * 7 + 7 * 3);
  EXPECT_TRUE(statement.isComputeIntensive);
}

/// Two readers of one tensor that don't need each other share it in space; one that needs the other one shares it in time.
TEST_F(TensorExpressionsTest, Reuse) {
  analyze(copyAndRead(R"(
  %u = etdg.buffer : !b
  etdg.block @first [map] (i) in [0, N) reads (%x = %t[i] : tensor<4xf32>) writes (%u[i]) {
    etdg.yield %x : tensor<4xf32>
  } : !b, !b
  %v = etdg.buffer : !b
  etdg.block @second [map] (i) in [0, N) reads (%x = %xs[i] : tensor<4xf32>) writes (%v[i]) {
    etdg.yield %x : tensor<4xf32>
  } : !b, !b
  etdg.block @both [map] (i) in [0, N) reads (%x = %u[i] : tensor<4xf32>, %z = %v[i] : tensor<4xf32>, %w = %t[i] : tensor<4xf32>) writes (%y[i]) {
    %e = arith.addf %x, %z : tensor<4xf32>
    %g = arith.addf %e, %w : tensor<4xf32>
    etdg.yield %g : tensor<4xf32>
  } : !b, !b, !b, !b
)"));
  BlockArgument xs = (*module->getOps<GraphOp>().begin()).getArgument(0);
  EXPECT_TRUE(analysis->getTensor(xs).hasSpatialReuse);
  EXPECT_FALSE(analysis->getTensor(xs).hasTemporalReuse);
  EXPECT_EQ(analysis->getTensor(xs).readers, (SmallVector<unsigned>{0, 2}));
  Value t = analysis->getStatements()[0].relations.front().output;
  EXPECT_FALSE(analysis->getTensor(t).hasSpatialReuse);
  EXPECT_TRUE(analysis->getTensor(t).hasTemporalReuse);
  EXPECT_EQ(analysis->getTensor(t).getLiveRange(4), std::pair(0u, 3u));
  EXPECT_TRUE(analysis->needs(3, 0));
  EXPECT_FALSE(analysis->needs(2, 0));
}

/// How many neighbours a window reads does not make it more than a band; one as wide as the list does.
TEST_F(TensorExpressionsTest, WindowsInsideOfElements) {
  auto windowOf = [&](int64_t width) {
    std::string out = std::to_string(10 - width), size = std::to_string(width);
    analyze("!a = !etdg.buffer<[], tensor<9xf32>>\n!c = !etdg.buffer<[], tensor<" + out + "xf32>>\n" + R"(
etdg.graph @f(%a: !a) -> !c {
  %t = etdg.buffer : !a
  %y = etdg.buffer : !c
  etdg.block @copy [] () reads (%x = %a[] : tensor<9xf32>) writes (%t[]) {
    etdg.yield %x : tensor<9xf32>
  } : !a, !a
  etdg.block @window [] () reads (%x = %t[] : tensor<9xf32>) writes (%y[]) {
    %zero = arith.constant dense<0.0> : tensor<)" +
            out + R"(xf32>
    %k = tensor.empty() : tensor<)" + size + R"(xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x, %k : tensor<9xf32>, tensor<)" +
            size + "xf32>) outs(%zero : tensor<" + out + R"(xf32>) {
    ^bb0(%e: f32, %w: f32, %s: f32):
      %r = arith.addf %s, %e : f32
      linalg.yield %r : f32
    } -> tensor<)" +
            out + R"(xf32>
    etdg.yield %s : tensor<)" +
            out + R"(xf32>
  } : !a, !c
  etdg.return %y : !c
}
)");
    return *tiles(0, 1);
  };
  EXPECT_EQ(windowOf(3), TileRelation::Band);
  EXPECT_EQ(windowOf(9), TileRelation::All);
}
} // namespace
