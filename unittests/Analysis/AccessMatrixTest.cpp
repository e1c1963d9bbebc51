//===- AccessMatrixTest.cpp - access matrices and reuse -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/AccessMatrix.h"
#include "ft/Analysis/Reuse.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
// FT Fig. 5, the maps before T (errata): e12 (t5, t4 - 1, t3), e13 (t5, t4, t3 - 1, t2),
// e14 (t4, t2), e15 (t5, t4, t3, t2).
constexpr const char *fig5 = R"(
!y = !etdg.buffer<[N, D, L, 512], tensor<f32>>
!r = !etdg.buffer<[N, D, L], tensor<512xf32>>
!w = !etdg.buffer<[D, 512], tensor<512xf32>>
etdg.graph @fig5(%rows: !r, %old: !y, %ws: !w, %idx: !etdg.buffer<[D], tensor<i64>>) -> !y {
  %y = etdg.buffer {name_hint = "y"} : !y
  etdg.block @region3 [map, scanl, scanl, map] (t5, t4, t3, t2) in [0, N) x [1, D) x [1, L) x [0, 512)
      reads (%e12 = %rows[t5, t4 - 1, t3] : tensor<512xf32>, %e13 = %old[t5, t4, t3 - 1, t2] : tensor<f32>,
             %e14 = %ws[t4, t2] : tensor<512xf32>, %g = %rows[t5, %idx[t4], L - 1 - t3] : tensor<512xf32>,
             %q = %rows[t5, 0, floordiv(t3, 2)] : tensor<512xf32>)
      writes (%y[t5, t4, t3, t2]) {
    etdg.yield %e13 : tensor<f32>
  } : !r, !y, !w, !etdg.buffer<[D], tensor<i64>>, !y
  etdg.return %y : !y
}
)";

class AccessMatrixTest : public ::testing::Test {
protected:
  AccessMatrixTest() {
    context.loadDialect<ETDGDialect>();
    module = parseSourceString<ModuleOp>(fig5, &context);
    graph = *module->getOps<GraphOp>().begin();
    graph.walk([&](BlockOp op) { block = op; });
    analysis = std::make_unique<DependenceAnalysis>(graph);
  }
  Access *find(Access::Kind kind, unsigned index) {
    for (Access *access : analysis->getLeafAccesses(block))
      if (access->kind == kind && access->index == index)
        return access;
    return nullptr;
  }
  std::string nullSpace(Access::Kind kind, unsigned index) {
    return getNullSpace(getAccessMatrix(*find(kind, index), analysis->getSpace()), 0, 4)->str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
  BlockOp block;
  std::unique_ptr<DependenceAnalysis> analysis;
};

TEST_F(AccessMatrixTest, NullSpacesOfFig5) {
  EXPECT_EQ(nullSpace(Access::Read, 0), "[[0, 0, 0, 1]]");
  EXPECT_EQ(nullSpace(Access::Read, 1), "[]");
  // Weights are reused over batch and time, not over columns.
  EXPECT_EQ(nullSpace(Access::Read, 2), "[[1, 0, 0, 0], [0, 0, 1, 0]]");
  EXPECT_EQ(nullSpace(Access::Write, 0), "[]");
}

/// Table 5: the maps under Fig. 6's T are M · T⁻¹ with the same offsets.
TEST_F(AccessMatrixTest, MapsUnderTOfFig6) {
  IntegerMatrix t =
      IntegerMatrix::fromRows({{0, 1, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}}, 4);
  auto transformed = [&](Access::Kind kind, unsigned index) {
    AccessMatrix m = getAccessMatrix(*find(kind, index), analysis->getSpace());
    return m.getLinearPart(0, 4).multiply(*t.inverse())->str();
  };
  EXPECT_EQ(transformed(Access::Read, 0), "[[0, 0, 1, 0], [0, 1, 0, 0], [1, -1, 0, 0]]");
  EXPECT_EQ(transformed(Access::Read, 1),
            "[[0, 0, 1, 0], [0, 1, 0, 0], [1, -1, 0, 0], [0, 0, 0, 1]]");
  EXPECT_EQ(transformed(Access::Read, 2), "[[0, 1, 0, 0], [0, 0, 0, 1]]");
  EXPECT_EQ(transformed(Access::Write, 0),
            "[[0, 0, 1, 0], [0, 1, 0, 0], [1, -1, 0, 0], [0, 0, 0, 1]]");
}

TEST_F(AccessMatrixTest, MatrixAndOffset) {
  AccessMatrix m = getAccessMatrix(*find(Access::Read, 1), analysis->getSpace());
  EXPECT_TRUE(m.isLinear());
  EXPECT_TRUE(m.getLinearPart(0, 4) == IntegerMatrix::identity(4));
  EXPECT_EQ(m.rows[2].offset, -1);
  EXPECT_EQ(m.rows[1].offset, 0);
  // L - 1 - t3: reversed, the offset has a symbol (D, L, N).
  AccessMatrix reversed = getAccessMatrix(*find(Access::Read, 3), analysis->getSpace());
  EXPECT_EQ(reversed.rows[2].dims[2], -1);
  EXPECT_EQ(reversed.rows[2].offset, -1);
  EXPECT_EQ(reversed.rows[2].symbols, (SmallVector<int64_t>{0, 1, 0}));
  // A gather: data, which depends on t4.
  EXPECT_FALSE(reversed.rows[1].isLinear);
  EXPECT_EQ(nullSpace(Access::Read, 3), "[[0, 0, 0, 1]]");
  // A quotient is not linear.
  EXPECT_FALSE(getAccessMatrix(*find(Access::Read, 4), analysis->getSpace()).isLinear());
  EXPECT_EQ(nullSpace(Access::Read, 4), "[[0, 1, 0, 0], [0, 0, 0, 1]]");
}

TEST_F(AccessMatrixTest, Relations) {
  const GraphAccesses &accesses = analysis->getAccesses();
  auto relate = [&](unsigned dim, unsigned argument) {
    return relateDimension(accesses, block, dim, graph.getArgument(argument), analysis->getSpace());
  };
  EXPECT_EQ(relate(0, 2), DimRelation::Invariant);
  EXPECT_EQ(relate(1, 2), DimRelation::Access);
  EXPECT_EQ(relate(3, 0), DimRelation::Invariant);
  Value y = block.getBuffers().back();
  EXPECT_EQ(relateDimension(accesses, block, 3, y, analysis->getSpace()), DimRelation::Access);
}

TEST_F(AccessMatrixTest, BytesOfReuse) {
  TypicalLengths lengths(graph);
  NestReuse reuse(*analysis, block, lengths);
  // Rows of 512 f32, and the gather's index, 8 bytes. Along t5: e14 and the index.
  EXPECT_EQ(reuse.getReusedBytes({1, 0, 0, 0}), 2048 + 8);
  // Along t2: all rows but e14's.
  EXPECT_EQ(reuse.getReusedBytes({0, 0, 0, 1}), 3 * 2048 + 8);
  // Along t3: e14 (the quotient changes).
  EXPECT_EQ(reuse.getReusedBytes({0, 0, 1, 0}), 2048 + 8);
  // Along t4: the quotient's row alone.
  EXPECT_EQ(reuse.getReusedBytes({0, 1, 0, 0}), 2048);
  EXPECT_EQ(reuse.getBytes(), 4 * 2048 + 8 + 4);
}
} // namespace
