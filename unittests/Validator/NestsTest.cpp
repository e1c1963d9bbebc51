//===- NestsTest.cpp - the validator against enumeration, on nests --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of test/Optimizer (chains of lags, windows, rings, kernels of
// nests) after `reorder` and after `tile`, and some mutants of each.
//
//===----------------------------------------------------------------------===//
#include "Fixture.h"
#include "Mutants.h"
#include "llvm/Support/Regex.h"
#include <random>

using namespace mlir;
using namespace mlir::etdg;

using NestsTest = ValidatorTest;

/// Lengths that the graph's bounds (`L >= 3`) allow.
static std::vector<Sizes> chooseSizes(GraphOp graph) {
  std::string bounds;
  llvm::raw_string_ostream os(bounds);
  graph->getAttrDictionary().print(os);
  std::vector<Sizes> all;
  for (ArrayRef<int64_t> values :
       {ArrayRef<int64_t>{1}, {2, 5, 3, 1}, {4, 2}, {5, 3, 2, 2}, {0, 3}}) {
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
  unsigned used = 0, legal = 0, illegal = 0, confirmed = 0;
  for (const char *file : {"distances", "states", "nests-beside"})
    for (ft::Phase phase : {ft::Phase::Reorder, ft::Phase::Tile}) {
      load(std::string("../test/Optimizer/") + file, phase);
      ASSERT_TRUE(module) << file;
      for (GraphOp graph : llvm::to_vector(module->getOps<GraphOp>())) {
        std::string name = graph.getSymName().str(), why;
        EXPECT_TRUE(isAccepted(graph, &why)) << name << ": " << why;
        std::vector<Sizes> sizes = chooseSizes(graph);
        for (const Sizes &these : sizes)
          EXPECT_EQ(findWrong(graph, these), "") << name;
        ++used;
        std::vector<Mutant> mutants = makeMutants(graph);
        for (unsigned m = 0; m < mutantsEach && !mutants.empty(); ++m) {
          const Mutant &mutant = mutants[random() % mutants.size()];
          OwningOpRef<ModuleOp> copy = ModuleOp::create(graph.getLoc());
          auto changed = cast<GraphOp>(graph->clone());
          copy->push_back(changed);
          mutant.apply(changed);
          {
            ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
            if (failed(verify(*copy)))
              continue; // no graph at all
          }
          std::string truth, reason;
          for (const Sizes &these : sizes)
            if (truth.empty())
              truth = findWrong(changed, these);
          bool accepted = isAccepted(changed, &reason);
          // The validator speaks of all lengths: where it shows some, it is wrong there.
          if (truth.empty() && !accepted)
            if (std::optional<Sizes> shown = sizesOf(reason, changed)) {
              truth = findWrong(changed, *shown);
              confirmed += !truth.empty();
            }
          EXPECT_EQ(accepted, truth.empty())
              << name << " in phase " << ft::stringifyPhase(phase).str() << ", " << mutant.kind
              << ": " << mutant.what << "\n  truth: " << (truth.empty() ? "legal" : truth)
              << "\n  validator: " << (accepted ? "legal" : reason);
          ++(truth.empty() ? legal : illegal);
        }
      }
    }
  printf("%u graphs, %u mutants: %u legal, %u illegal, %u of them at the validator's lengths "
         "alone\n",
         used, legal + illegal, legal, illegal, confirmed);
  EXPECT_GE(used, 60u);
  EXPECT_GE(legal + illegal, 300u);
  EXPECT_GE(illegal, 150u);
  EXPECT_GE(legal, 30u);
}
