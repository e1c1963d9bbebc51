//===- AccessesTest.cpp - accesses and their order ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Accesses.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
constexpr const char *text = R"(
!b = !etdg.buffer<[N], tensor<f32>>
!c = !etdg.buffer<[N, L], tensor<f32>>
etdg.graph @g(%x: !c, %idx: !etdg.buffer<[N], tensor<i64>>) -> (!c, !b) {
  %y = etdg.buffer {name_hint = "y"} : !c
  %z = etdg.buffer {name_hint = "z"} : !b
  etdg.nest {
    etdg.block @first [map, scanl] (i, k) in [0, N) x = 0 where L >= 1 reads (%a = %x[i, k] : tensor<f32>) writes (%y[i, k]) {
      etdg.yield %a : tensor<f32>
    } : !c, !c
    etdg.block @rest [map, scanl] (i, k) in [0, N) x [1, L) reads (%a = %y[i, k - 1] : tensor<f32>) writes (%y[i, k]) {
      etdg.yield %a : tensor<f32>
    } : !c
  }
  etdg.block @outer [map] (i) in [0, N) {
    %t = etdg.buffer {name_hint = "t"} : !etdg.buffer<[L], tensor<f32>>
    etdg.block @in [map] (i | k) in [0, L) reads (%a = %x[%idx[i], k] : tensor<f32>) writes (%t[k]) {
      etdg.yield %a : tensor<f32>
    } : !c, !etdg.buffer<[N], tensor<i64>>, !etdg.buffer<[L], tensor<f32>>
    etdg.block @out [] (i |) reads (%a = {L >= 1: %t[L - 1], L <= 0: splat 0.0 : f32} : tensor<f32>) writes (%z[i]) {
      etdg.yield %a : tensor<f32>
    } : !etdg.buffer<[L], tensor<f32>>, !b
  }
  etdg.return %y, %z : !c, !b
}
)";

class AccessesTest : public ::testing::Test {
protected:
  AccessesTest() {
    context.loadDialect<ETDGDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    graph = *module->getOps<GraphOp>().begin();
    graph.walk([&](BlockOp block) { blocks[block.getBlockName().value_or("")] = block; });
    graph.walk(
        [&](BufferOp buffer) { buffers[buffer.getNameHint().value_or("")] = buffer.getResult(); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
  llvm::StringMap<BlockOp> blocks;
  llvm::StringMap<Value> buffers;
};

TEST_F(AccessesTest, Collects) {
  GraphAccesses accesses(graph);
  EXPECT_EQ(accesses.getLeaves().size(), 4u);
  EXPECT_EQ(accesses.getBlocks().size(), 5u);
  EXPECT_EQ(accesses.getWrites(buffers["y"]).size(), 2u);
  ASSERT_EQ(accesses.getReads(buffers["y"]).size(), 1u);
  EXPECT_EQ(accesses.getReads(buffers["t"]).front().describe(), "read 0");
  ASSERT_EQ(accesses.getReads(graph.getArgument(1)).size(), 1u);
  EXPECT_EQ(accesses.getReads(graph.getArgument(1)).front().kind, Access::GatherIndex);
}

TEST_F(AccessesTest, PrivateBuffersAreExpanded) {
  EXPECT_EQ(getNumOwnerDims(buffers["t"]), 1u);
  EXPECT_EQ(getNumOwnerDims(buffers["y"]), 0u);
  GraphAccesses accesses(graph);
  SymbolSpace space(graph);
  Access write = accesses.getWrites(buffers["t"]).front();
  auto relation = getAccessRelation(write, space);
  ASSERT_TRUE(succeeded(relation));
  // (i, k) → (i, k); symbols L, N.
  EXPECT_EQ(relation->getNumDomainVars(), 2u);
  EXPECT_EQ(relation->getNumRangeVars(), 2u);
  EXPECT_TRUE(relation->containsPoint({2, 1, 2, 1, 3, 3}));
  EXPECT_FALSE(relation->containsPoint({2, 1, 1, 1, 3, 3}));
}

TEST_F(AccessesTest, AGatherReadsItsDimension) {
  GraphAccesses accesses(graph);
  SymbolSpace space(graph);
  for (Access read : accesses.getReads(graph.getArgument(0))) {
    if (read.gathers.empty())
      continue;
    auto relation = getAccessRelation(read, space);
    ASSERT_TRUE(succeeded(relation));
    EXPECT_TRUE(relation->containsPoint({0, 1, 0, 1, 3, 3}));
    EXPECT_TRUE(relation->containsPoint({0, 1, 2, 1, 3, 3}));
    EXPECT_FALSE(relation->containsPoint({0, 1, 3, 1, 3, 3}));
  }
}

TEST_F(AccessesTest, Order) {
  // Regions of one nest: lexicographic.
  auto cases = getPrecedence(blocks["first"], blocks["rest"]);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].equal, 0u);
  EXPECT_EQ(cases[0].carrier, ft::OperatorKind::Map);
  EXPECT_EQ(cases[1].equal, 1u);
  EXPECT_EQ(cases[1].carrier, ft::OperatorKind::ScanL);
  // Nests: textual.
  cases = getPrecedence(blocks["rest"], blocks["in"]);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_FALSE(cases[0].strict);
  EXPECT_EQ(cases[0].equal, 0u);
  EXPECT_TRUE(getPrecedence(blocks["in"], blocks["rest"]).empty());
  // Siblings: an earlier iteration of the parent, or the same one in textual order.
  cases = getPrecedence(blocks["in"], blocks["out"]);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_TRUE(cases[0].strict);
  EXPECT_FALSE(cases[1].strict);
  EXPECT_EQ(cases[1].equal, 1u);
  cases = getPrecedence(blocks["out"], blocks["in"]);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_TRUE(cases[0].strict);
}
} // namespace
