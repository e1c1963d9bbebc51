//===- NestsTest.cpp - the validator against enumeration, on nests --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of test/Dialect/ETDG/Transforms/Order (chains of lags, windows, rings, kernels of
// nests) after `reorder` and after `tile`, and some mutants of each.
//
//===----------------------------------------------------------------------===//
#include "fttest/ValidatorTest.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::etdg;

using NestsTest = ValidatorTest;

/// Lengths that the graph's bounds (`L >= 3`) allow.
static std::vector<Sizes> chooseSizes(GraphOp graph) {
  std::string bounds;
  llvm::raw_string_ostream os(bounds);
  graph->getAttrDictionary().print(os);
  std::vector<Sizes> all;
  const std::vector<std::vector<int64_t>> lengths = {
      {1}, {2, 5, 3, 1}, {4, 2}, {5, 3, 2, 2}, {0, 3}};
  for (const std::vector<int64_t> &values : lengths) {
    Sizes sizes;
    for (auto [i, name] : llvm::enumerate(graph.getSymbolNames())) {
      SmallVector<StringRef> found;
      int64_t least = 0;
      if (llvm::Regex("\"" + name.str() + " >= ([0-9]+)\"").match(bounds, &found))
        found[1].getAsInteger(10, least);
      // Enumeration compares all points with all.
      int64_t most = graph.getSymbolNames().size() > 2 ? 2 : 5;
      sizes[name.str()] = std::max(std::min(values[i % values.size()], most), least);
    }
    all.push_back(sizes);
  }
  return all;
}

TEST_F(NestsTest, AgreesWithEnumeration) {
  constexpr unsigned mutantsEach = 5;
  std::mt19937_64 random(23);
  Tally tally;
  for (const char *file : {"distances", "states", "nests-beside"})
    for (ft::Phase phase : {ft::Phase::Reorder, ft::Phase::Schedule}) {
      load(std::string("../test/Dialect/ETDG/Transforms/Order/") + file, phase);
      ASSERT_TRUE(module) << file;
      for (GraphOp graph : llvm::to_vector(module->getOps<GraphOp>())) {
        std::string name = graph.getSymName().str() + " in phase " + ft::stringifyPhase(phase).str();
        judgeMutants(graph, chooseSizes(graph), mutantsEach, random, name, tally);
      }
    }
  tally.print("graphs");
  EXPECT_GE(tally.used, 60u);
  EXPECT_GE(tally.legal + tally.illegal, 300u);
  EXPECT_GE(tally.illegal, 150u);
  EXPECT_GE(tally.legal, 30u);
}
