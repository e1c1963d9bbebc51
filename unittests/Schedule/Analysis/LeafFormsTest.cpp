//===- LeafFormsTest.cpp - leaves with equal bodies -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/Analysis/LeafColumns.h"
#include "ft/Schedule/Analysis/LeafForms.h"

#include "ft/Machine/Machine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

namespace {
std::string leaf(StringRef name, StringRef columns, StringRef operation) {
  return llvm::formatv(R"(
    etdg.block @{0} [map] (i) in [0, N) reads (%a = %x[i] : tensor<1x32xf32>, %m = %w{1}[] : tensor<32x{1}xf32>) writes (%y{1}[i]) {{
      %zero = arith.constant dense<0.0> : tensor<1x{1}xf32>
      %b = linalg.matmul ins(%a, %m : tensor<1x32xf32>, tensor<32x{1}xf32>) outs(%zero : tensor<1x{1}xf32>) -> tensor<1x{1}xf32>
      %c = {2} %b : tensor<1x{1}xf32>
      etdg.yield %c : tensor<1x{1}xf32>
    } : !etdg.buffer<[N], tensor<1x32xf32>>, !etdg.buffer<[], tensor<32x{1}xf32>>, !etdg.buffer<[N], tensor<1x{1}xf32>>)",
                       name, columns, operation);
}

class LeafFormsTest : public ::testing::Test {
protected:
  LeafFormsTest() {
    context.loadDialect<etdg::ETDGDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
    std::string text = R"(
      etdg.graph @g(%x: !etdg.buffer<[N], tensor<1x32xf32>>, %w48: !etdg.buffer<[], tensor<32x48xf32>>, %w64: !etdg.buffer<[], tensor<32x64xf32>>) -> !etdg.buffer<[N], tensor<1x48xf32>> {
        %y48 = etdg.buffer : !etdg.buffer<[N], tensor<1x48xf32>>
        %y64 = etdg.buffer : !etdg.buffer<[N], tensor<1x64xf32>>)" +
                       leaf("a", "48", "math.tanh") + leaf("b", "64", "math.tanh") + leaf("c", "48", "math.exp") + leaf("d", "48", "math.tanh") + R"(
        etdg.return %y48 : !etdg.buffer<[N], tensor<1x48xf32>>
      })";
    ParserConfig config(&context, /*verifyAfterParse=*/false); // (two blocks write one buffer)
    module = parseSourceString<ModuleOp>(text, config);
    module->walk([&](BlockOp block) { leaves.push_back(block); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<BlockOp> leaves;
};
} // namespace

TEST_F(LeafFormsTest, EqualBodiesShareOne) {
  ASSERT_EQ(leaves.size(), 4u);
  LeafForms forms;
  LeafForm *a = forms.get(leaves[0], {true, false});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->block, leaves[0]);
  EXPECT_NE(forms.get(leaves[1], {true, false}), a);
  EXPECT_NE(forms.get(leaves[2], {true, false}), a);
  EXPECT_EQ(forms.size(), 3u);
  EXPECT_EQ(forms.get(leaves[3], {true, false}), a);
  EXPECT_EQ(a->block, leaves[3]);
  // Where the right-hand side differs from row to row, the leaf has other loops.
  EXPECT_NE(forms.get(leaves[3], {true, true}), a);
  EXPECT_EQ(forms.size(), 4u);
  // A body that is gone is remembered.
  BlockOp(leaves[0]).erase();
  EXPECT_EQ(forms.get(leaves[3], {true, false}), a);
}

TEST_F(LeafFormsTest, ColumnsAreThoseOfEachLeafAlone) {
  LeafForms forms;
  const CpuPlanning &planning = Machine::cpuDefault().cpu;
  for (unsigned round = 0; round < 2; ++round)
    for (BlockOp leaf : leaves)
      for (bool second : {false, true}) {
        LeafForms own;
        LeafColumns expected = chooseLeafColumns(leaf, {true, second}, planning, own);
        LeafColumns found = chooseLeafColumns(leaf, {true, second}, planning, forms);
        EXPECT_EQ(found.count, expected.count);
        EXPECT_EQ(found.adjacent, expected.adjacent);
        EXPECT_EQ(found.loops, expected.loops);
        EXPECT_GT(expected.count, 1);
      }
  EXPECT_EQ(forms.size(), 6u);
}
