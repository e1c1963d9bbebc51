//===- TypicalLengthsTest.cpp - lengths that passes choose for ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Extents.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class TypicalLengthsTest : public ::testing::Test {
protected:
  /// A graph with the lengths A to F, these attributes, and this in its body.
  GraphOp parse(const std::string &attributes, const std::string &body = "") {
    context.loadDialect<ETDGDialect>();
    module = parseSourceString<ModuleOp>(
        "etdg.graph @g(%x: !etdg.buffer<[A, B, C, D, E, F], tensor<f32>>) -> !etdg.buffer<[A, B, C, D, E, F], tensor<f32>> "
        "attributes {" + attributes + "} {\n" + body + "\n  etdg.return %x : !etdg.buffer<[A, B, C, D, E, F], tensor<f32>>\n}",
        ParserConfig(&context, /*verifyAfterParse=*/false));
    return *module->getOps<GraphOp>().begin();
  }
  StringAttr name(StringRef text) { return StringAttr::get(&context, text); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(TypicalLengthsTest, EachSourceHasItsRank) {
  GraphOp graph = parse("ft.lengths = {B = 5 : i64, C = 5 : i64, E = 500 : i64, F = 5 : i64}, "
                        "ft.typical = {C = [10, 1000], D = [10, 1000], E = [10, 100], F = [1, 2]}",
                        "  etdg.assume \"F\" in [1, 4096] typical [128, 256]");
  TypicalLengths lengths(graph);
  EXPECT_EQ(lengths.get(name("A")), 16);  // nothing is specified for it
  EXPECT_EQ(lengths.get(name("B")), 5);                       // ft.lengths
  EXPECT_EQ(lengths.get(name("C")), 10);                      // ft.lengths, within ft.typical
  EXPECT_EQ(lengths.get(name("D")), 100);                     // ft.typical's geometric mean
  EXPECT_EQ(lengths.get(name("E")), 100);
  EXPECT_EQ(lengths.get(name("F")), 128); // etdg.assume
}
} // namespace
