//===- MergeTest.cpp - what the paper prints of coarsening ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fig. 5's merged region 3 with the maps that papers-errata.md restores; and the
// mechanics of merging on blocks by hand.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/GraphSummary.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Analysis/SetWork.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/MergeDims.h"
#include "ft/Dialect/ETDG/Transforms/MergeLegality.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Pipelines/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

namespace {
// Region 3 of Listing 1 with its function y = x w + s as two statements.
constexpr const char *listing1 = R"(
!x = tensor<1x512xf32>
!w = tensor<512x512xf32>
!y = !etdg.buffer<[N, D, L], !x>
etdg.graph @g(%given: !y, %ws: !etdg.buffer<[D], !w>) -> !y {
  %ysss = etdg.buffer {name_hint = "ysss"} : !y
  etdg.nest {
    etdg.block @edge [map, scanl, scanl] (t5, t4, t3) in [0, N) x [0, D) x = 0 where L >= 1 reads (%a = %given[t5, t4, t3] : !x) writes (%ysss[t5, t4, t3]) {
      etdg.yield %a : !x
    } : !y, !y
    etdg.block @low [map, scanl, scanl] (t5, t4, t3) in [0, N) x = 0 x [1, L) where D >= 1 reads (%a = %given[t5, t4, t3] : !x) writes (%ysss[t5, t4, t3]) {
      etdg.yield %a : !x
    } : !y, !y
    etdg.block @region3 [map, scanl, scanl] (t5, t4, t3) in [0, N) x [1, D) x [1, L)
        reads (%x = %ysss[t5, t4 - 1, t3] : !x, %s = %ysss[t5, t4, t3 - 1] : !x, %w = %ws[t4] : !w) writes (%ysss[t5, t4, t3]) {
      %z = arith.constant dense<0.0> : !x
      %p = linalg.matmul ins(%x, %w : !x, !w) outs(%z : !x) -> !x
      %y = arith.addf %p, %s : !x
      etdg.yield %y : !x
    } : !y, !etdg.buffer<[D], !w>
  }
  etdg.return %ysss : !y
}
)";

constexpr const char *pair = R"(
!x = tensor<4xi32>
!c = !etdg.buffer<[N, M], !x>
etdg.graph @g(%x: !c) -> !c attributes {ft.lengths = {N = 3 : i64, M = 5 : i64}} {
  %t = etdg.buffer {name_hint = "t"} : !c
  %y = etdg.buffer {name_hint = "y"} : !c
  etdg.block @a [map, map] (i, j) in [0, N) x [0, M) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (N0, i) in [0, N) x [0, M) reads (%v = %t[N0, M - i - 1] : !x) writes (%y[N0, i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.return %y : !c
}
)";

class MergeTest : public ::testing::Test {
protected:
  MergeTest() {
    context.loadDialect<ETDGDialect, arith::ArithDialect, linalg::LinalgDialect,
                        tensor::TensorDialect>();
  }
  void parse(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    graph = *module->getOps<GraphOp>().begin();
  }
  BlockOp block(StringRef name) {
    BlockOp found;
    graph.walk([&](BlockOp b) {
      if (b.getBlockName().value_or("") == name)
        found = b;
    });
    return found;
  }
  Value buffer(StringRef name) {
    Value found;
    graph.walk([&](BufferOp b) {
      if (b.getNameHint().value_or("") == name)
        found = b.getResult();
    });
    return found;
  }
  static std::string textOf(AffineMap map) {
    std::string text;
    llvm::raw_string_ostream os(text);
    map.print(os);
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
};

/// The elements of a read that an operand of a structured operation touches, over
/// the block's dimensions and then the operation's.
AffineMap compose(BlockOp leaf, AffineMap plane, AffineMap element) {
  unsigned outer = leaf.getNumDims(), inner = element.getNumDims();
  SmallVector<AffineExpr> results(plane.getResults());
  SmallVector<AffineExpr> shifted;
  for (unsigned d = 0; d < inner; ++d)
    shifted.push_back(getAffineDimExpr(outer + d, leaf.getContext()));
  for (AffineExpr result : element.getResults())
    results.push_back(result.replaceDims(shifted));
  return AffineMap::get(outer + inner, 0, results, leaf.getContext());
}

} // namespace

// Fig. 5: operation nodes lowered and merged again, region 3 is one block of three
// dimensions with the operation's own: t2 over the 512 columns, t1 reduced.
TEST_F(MergeTest, Figure5) {
  parse(listing1);
  splitLeaf(block("region3"));
  BlockOp region = block("region3");
  ASSERT_FALSE(region.isLeaf());
  EXPECT_EQ(getNests(region.getBody()).size(), 2u); // the product, the sum

  PassManager pm(&context);
  buildCoarsenPipeline(pm);
  ASSERT_TRUE(succeeded(pm.run(*module)));
  ASSERT_TRUE(succeeded(verifyGraph(graph)));
  region = block("region3");
  ASSERT_TRUE(region.isLeaf());
  EXPECT_EQ(region.getNumOwnDims(), 3u);
  EXPECT_EQ(region.getOperator(0), OperatorKind::Map);
  EXPECT_EQ(region.getOperator(1), OperatorKind::ScanL);
  EXPECT_EQ(region.getOperator(2), OperatorKind::ScanL);

  SmallVector<OperationNode> nodes = getOperationNodes(region);
  ASSERT_EQ(nodes.size(), 2u);
  const OperationNode &product = nodes[0], &sum = nodes[1];
  EXPECT_EQ(product.sizes, (SmallVector<int64_t>{1, 512, 512}));
  EXPECT_EQ(product.operators[1], OperatorKind::Map);
  EXPECT_EQ(product.operators[2], OperatorKind::Reduce);
  EXPECT_EQ(product.getDimension(), 2u); // t2 and t1; the unit row is none
  EXPECT_EQ(sum.getDimension(), 1u);     // t2

  // On (t5, t4, t3 | m, t2, t1), m the unit row.
  auto mapOf = [&](Value argument) {
    auto read = region.getRead(cast<BlockArgument>(argument).getArgNumber());
    return read.getPieces().front().getMap().getValue();
  };
  auto matmul = cast<linalg::LinalgOp>(product.op);
  AffineMap e12 = compose(region, mapOf(matmul.getDpsInputs()[0]), product.maps[0]);
  AffineMap e14 = compose(region, mapOf(matmul.getDpsInputs()[1]), product.maps[1]);
  EXPECT_EQ(textOf(e12), "(d0, d1, d2, d3, d4, d5) -> (d0, d1 - 1, d2, d3, d5)");
  EXPECT_EQ(textOf(e14), "(d0, d1, d2, d3, d4, d5) -> (d1, d5, d4)");
  // On (t5, t4, t3 | m, t2).
  Value state = sum.op->getOperand(0) == product.op->getResult(0) ? sum.op->getOperand(1)
                                                                  : sum.op->getOperand(0);
  AffineMap e13 = compose(region, mapOf(state), sum.maps[0]);
  AffineMap e15 = compose(region, region.getWrite(0).getMap().getValue(), sum.maps[2]);
  EXPECT_EQ(textOf(e13), "(d0, d1, d2, d3, d4) -> (d0, d1, d2 - 1, d3, d4)");
  EXPECT_EQ(textOf(e15), "(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)");
  // Depth 2, dimension 5: three of the nest, two of the product (FT §4.4).
  EXPECT_EQ(getNesting(graph).depth, 2u);
  EXPECT_EQ(getNesting(graph).dimension, 5u);
}

TEST_F(MergeTest, AlignsFromTheOutermostDimension) {
  parse(pair);
  MergeLegality legality(graph);
  BlockOp a = block("a"), b = block("b");
  SmallVector<Flow, 0> flows = legality.getFlows(a, b), same = legality.getFlows(a, b, false);
  ASSERT_EQ(flows.size(), 1u);
  ASSERT_EQ(same.size(), 1u);
  Alignment aligned = legality.align(a, b, flows);
  EXPECT_EQ(aligned.size, 1u);
  EXPECT_EQ(aligned.stop.rule, "dependence");
  // Without the flow the two are alike in both dimensions.
  EXPECT_EQ(legality.align(a, b, {}).size, 2u);
  // The second one is read backwards; N0 is i.
  auto ways = findCoordinates(a, b, flows);
  ASSERT_EQ(ways.size(), 1u);
  EXPECT_TRUE(ways[0].first.isIdentity());
  EXPECT_FALSE(ways[0].second.keepsOrder());
  EXPECT_EQ(ways[0].second.own[1].sign, -1);
  EXPECT_EQ(legality.align(ways[0].first, ways[0].second, flows).size, 2u);
}

// One reader of the element before: [1, N + 1) and [0, N) are [0, N + 1), each with a guard.
TEST_F(MergeTest, UnitesDomains) {
  parse(R"(
!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[M], !x>
etdg.graph @g(%x: !b, %z: !c) -> (!b, !c) attributes {ft.lengths = {N = 8 : i64, M = 3 : i64}} {
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  %w = etdg.buffer : !c
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    etdg.yield %v : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = {i >= 1: %t[i - 1], i = 0: splat 0 : i32} : !x) writes (%y[i]) {
    etdg.yield %v : !x
  } : !b, !b
  etdg.block @c [map] (i) in [0, M) reads (%v = {i + 1 <= N: %t[i], i >= N: %z[i]} : !x) writes (%w[i]) {
    etdg.yield %v : !x
  } : !b, !c, !c
  etdg.return %y, %w : !b, !c
}
)");
  MergeLegality legality(graph);
  BlockOp a = block("a"), b = block("b"), c = block("c");
  SmallVector<Flow, 0> flows = legality.getFlows(a, b);
  ASSERT_EQ(flows.size(), 1u);
  auto ways = findCoordinates(a, b, flows);
  ASSERT_EQ(ways.size(), 1u);
  auto &[x, y] = ways.front();
  EXPECT_TRUE(x.keepsOrder());
  EXPECT_FALSE(x.isIdentity());
  EXPECT_TRUE(y.isIdentity());
  // Nothing but the same set without leave; with it what holds for both.
  EXPECT_FALSE(legality.unite(x, y, 1, false));
  std::optional<OuterDomain> both = legality.unite(x, y, 1, true);
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->isShared);
  auto text = [&](const Conditions &conditions) {
    return conditionsToString(conditions.set, y.getDimNames(), conditions.symbols);
  };
  EXPECT_EQ(text(*both), "i >= 0 and i <= N and N >= 1");
  EXPECT_EQ(text(legality.getGuard(x, *both, 1)), "i >= 1");
  EXPECT_EQ(text(legality.getGuard(y, *both, 1)), "i + 1 <= N");
  EXPECT_EQ(legality.getTypicalSize(both->set, both->symbols, 0, 1), 9.0);
  // A block has its own domain; of N and M neither is known to be less.
  std::optional<OuterDomain> same = legality.unite(y, y, 1, false);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->isShared);
  EXPECT_TRUE(isUniverse(legality.getGuard(y, *same, 1).set));
  EXPECT_FALSE(legality.unite(Coordinates(a), Coordinates(c), 1, true));
}

TEST_F(MergeTest, MergedBuffersArePrivate) {
  parse(pair);
  BlockOp a = block("a"), b = block("b");
  Value t = buffer("t");
  EXPECT_FALSE(getPrivateType(t, {a}, 1)); // b reads it
  BufferType type = getPrivateType(t, {a, b}, 1);
  ASSERT_TRUE(type);
  EXPECT_EQ(type.getDepth(), 1u);
  EXPECT_FALSE(getPrivateType(buffer("y"), {a, b}, 1)); // returned
  EXPECT_FALSE(getPrivateType(t, {a, b}, 2));           // read reversed

  BlockOp merged = mergeBlocks(a, b, 1, {OperatorKind::Map});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged.getNumOwnDims(), 1u);
  Value inside = makePrivate(t, merged);
  ASSERT_TRUE(inside);
  EXPECT_EQ(cast<BufferType>(inside.getType()).getDepth(), 1u);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_TRUE(succeeded(verifyGraph(graph)));
  // Dimensions of b are called like those of a; 'i' is taken.
  EXPECT_EQ(block("b").getDimNames()[0].getValue(), "i");
  EXPECT_EQ(block("b").getDimNames()[1].getValue(), "i0");
}

TEST_F(MergeTest, SplitsAndMergesDimensions) {
  parse(pair);
  EXPECT_TRUE(failed(splitDim(block("a"), 2, 4)));
  EXPECT_TRUE(failed(splitDim(block("a"), 1, 0)));
  ASSERT_TRUE(succeeded(splitDim(block("a"), 1, 2)));
  EXPECT_EQ(block("a").getNumDims(), 3u);
  EXPECT_TRUE(succeeded(verifyGraph(graph)));
  std::string why;
  EXPECT_FALSE(mergeDims(block("a"), 0, why)); // i and the chunk: x is an argument
  EXPECT_TRUE(mergeDims(block("a"), 1, why)) << why;
  EXPECT_EQ(block("a").getNumDims(), 2u);
  EXPECT_TRUE(succeeded(verifyGraph(graph)));
}

// Linear in the number of blocks: of a chain that merges; of one that does not, as each block
// needs two elements; and of one in which each starts one later, in groups.
TEST_F(MergeTest, LongChains) {
  enum Kind { Same, Both, Lagged };
  // For each block of the chain, by kind: some more than it was when this was written. The square of
  // a group's 64 leaves is in the last visits.
  const int64_t mostAlignments[] = {1, 20, 11}, mostSets[] = {1, 50, 30},
                mostVisits[] = {20, 200, 3500};
  auto chain = [](unsigned blocks, Kind kind) {
    std::string text = "!x = tensor<4xi32>\n!b = !etdg.buffer<[N], !x>\n"
                       "etdg.graph @chain(%x0: !b) -> !b {\n";
    llvm::raw_string_ostream os(text);
    for (unsigned i = 1; i <= blocks; ++i) {
      os << "%x" << i << " = etdg.buffer : !b\netdg.block [map] (i) in [0, N) reads (%a = ";
      if (kind == Lagged || kind == Both)
        os << "{i >= 1: %x" << i - 1 << "[i - 1], i <= 0: splat 0 : i32}";
      else
        os << "%x" << i - 1 << "[i]";
      if (kind == Both)
        os << " : !x, %b = %x" << i - 1 << "[i]";
      os << " : !x) writes (%x" << i << "[i]) {\n%0 = arith.addi %a, "
         << (kind == Both ? "%b" : "%a") << " : !x\n"
         << "etdg.yield %0 : !x\n} : !b, !b\n";
    }
    os << "etdg.return %x" << blocks << " : !b\n}\n";
    return text;
  };
  for (Kind kind : {Same, Both, Lagged}) {
    int64_t blocks[2] = {1000, 4000}, left[2] = {0, 0};
    int64_t sets[2], alignments[2], visits[2];
    for (unsigned i = 0; i < 2; ++i) {
      parse(chain(unsigned(blocks[i]), kind).c_str());
      PassManager pm(&context);
      pm.enableVerifier(false);
      buildCoarsenPipeline(pm);
      int64_t setsBefore = getNumSetsAsked();
      MergeWork before = getMergeWork();
      ASSERT_TRUE(succeeded(pm.run(*module)));
      MergeWork after = getMergeWork();
      sets[i] = getNumSetsAsked() - setsBefore;
      alignments[i] = after.alignments - before.alignments;
      visits[i] = after.visits - before.visits;
      graph.walk([&](BlockOp) { ++left[i]; });
    }
    // One block, whose leaves hold 512 operations each; or as many as before.
    EXPECT_LE(left[0], kind == Same ? 8 : kind == Both ? 1000 : 1100);
    EXPECT_EQ(left[1] >= 4000, kind != Same);
    // 64 leaves at most, at iterations of their own.
    if (kind == Lagged)
      EXPECT_EQ(
          llvm::count_if(graph.getBody().front(), [](Operation &op) { return isa<BlockOp>(op); }),
          63);
    llvm::outs() << "chain of 1000 and 4000: " << sets[0] << " and " << sets[1] << " sets, "
                 << alignments[0] << " and " << alignments[1] << " alignments, " << visits[0]
                 << " and " << visits[1] << " visits\n";
    for (unsigned i = 0; i < 2; ++i) {
      EXPECT_GE(alignments[i], blocks[i] - 1) << "kind: " << kind;
      EXPECT_LE(alignments[i], mostAlignments[kind] * blocks[i]) << "kind: " << kind;
      EXPECT_LE(sets[i], mostSets[kind] * blocks[i]) << "kind: " << kind;
      EXPECT_LE(visits[i], mostVisits[kind] * blocks[i]) << "kind: " << kind;
    }
  }
}

TEST_F(MergeTest, ErasesWhatNobodyReads) {
  parse(pair);
  BlockOp b = block("b");
  // b reads the argument: t and a are for nothing.
  BlockBuilder builder = BlockBuilder::from(b);
  for (Value &operand : builder.buffers)
    if (operand == buffer("t"))
      operand = graph.getArgument(0);
  builder.assign(b);
  eraseDeadBuffers(graph);
  EXPECT_FALSE(buffer("t"));
  EXPECT_FALSE(block("a"));
  EXPECT_TRUE(buffer("y"));
  EXPECT_TRUE(succeeded(verifyGraph(graph)));
}
