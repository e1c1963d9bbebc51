//===- BlockBuilderTest.cpp - blocks in canonical form --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
TEST(BlockBuilderTest, SortsDropsAndRenumbers) {
  MLIRContext context;
  context.loadDialect<ETDGDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    etdg.graph @g(%x: !etdg.buffer<[N, L], tensor<f32>>) -> !etdg.buffer<[N, L], tensor<f32>> {
      %y = etdg.buffer : !etdg.buffer<[N, L], tensor<f32>>
      etdg.return %y : !etdg.buffer<[N, L], tensor<f32>>
    })",
                                                             &context);
  ASSERT_TRUE(module);
  auto graph = *module->getOps<GraphOp>().begin();
  auto ret = cast<ReturnOp>(graph.getBody().front().back());
  Value x = graph.getArgument(0), y = ret.getOperand(0);
  auto name = [&](StringRef text) { return StringAttr::get(&context, text); };
  AffineExpr i, k, n, unused, l;
  bindDims(&context, i, k);
  bindSymbols(&context, n, unused, l);

  BlockBuilder block;
  block.name = "b";
  block.operators = {ft::OperatorKind::Map, ft::OperatorKind::Map};
  block.dims = {name("i"), name("k")};
  block.symbols = {name("N"), name("Z"), name("L")};
  block.domain = IntegerSet::get(2, 3, {l - 1 - k, k + unused - unused, n - 1 - i, i},
                                 {false, false, false, false});
  // The write is named first and used last.
  int64_t target = block.operandFor(y), source = block.operandFor(x);
  EXPECT_EQ(block.operandFor(y), target);
  block.reads = {ReadAttr::get(&context,
                               PieceAttr::getBuffer(getUniverse(&context, 2, 3), source,
                                                    AffineMap::get(2, 3, {i, k}, &context)),
                               0)};
  block.writes = {WriteAttr::get(
      &context, target, AffineMapAttr::get(AffineMap::get(2, 3, {i, l - 1 - k}, &context)))};
  OpBuilder builder(ret);
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  BlockOp op = block.build(builder, builder.getUnknownLoc(), TypeRange(Type(scalar)));
  ASSERT_TRUE(op.getBody().front().empty());
  builder.setInsertionPointToEnd(&op.getBody().front());
  YieldOp::create(builder, builder.getUnknownLoc(), ValueRange(op.getBody().getArgument(0)));

  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(op.getSymbolNames(), (SmallVector<StringAttr>{name("L"), name("N")}));
  EXPECT_EQ(op.getBuffers()[0], x);
  EXPECT_EQ(op.getBuffers()[1], y);
  AffineExpr first = getAffineSymbolExpr(0, &context), second = getAffineSymbolExpr(1, &context);
  EXPECT_EQ(op.getDomainSet(),
            canonicalizeSet(IntegerSet::get(2, 2, {i, second - 1 - i, k, first - 1 - k},
                                            {false, false, false, false})));
  EXPECT_EQ(op.getWrite(0).getMap().getValue().getResult(1), first - k - 1);
  EXPECT_EQ(op.getOperator(0), ft::OperatorKind::Map);
  EXPECT_TRUE(op.isLeaf());
  EXPECT_EQ(getNests(graph.getBody()).size(), 1u);

  // What prints parses to the same.
  std::string text, again;
  llvm::raw_string_ostream(text) << *module;
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(parsed);
  llvm::raw_string_ostream(again) << *parsed;
  EXPECT_EQ(text, again);
}
} // namespace
