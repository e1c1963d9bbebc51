//===- RandomTest.cpp - the validator against enumeration, at random ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs through all phases, and a few mutants of each: windows,
// reversals, gathers, lags, divided lengths, nests in nests.
//
//===----------------------------------------------------------------------===//
#include "Fixture.h"
#include "Mutants.h"
#include "ft/Fuzz/Generator.h"
#include <random>

using namespace mlir;
using namespace mlir::etdg;

using RandomTest = ValidatorTest;

TEST_F(RandomTest, AgreesWithEnumeration) {
  constexpr unsigned numPrograms = 150, mutantsEach = 8;
  ft::fuzz::loadDialects(&context);
  std::mt19937_64 random(7);
  unsigned legal = 0, illegal = 0, confirmed = 0, used = 0;
  for (unsigned i = 0; i < numPrograms; ++i) {
    ft::fuzz::Program program = ft::fuzz::generateProgram(&context, 11, i);
    // Small lengths, as enumeration goes through all iterations.
    std::vector<Sizes> sizes;
    for (const ft::fuzz::Binding &binding : program.bindings) {
      Sizes these(binding.begin(), binding.end());
      if (llvm::all_of(these, [](auto &size) { return size.second <= 6; }))
        sizes.push_back(these);
    }
    if (sizes.empty())
      continue;
    PassManager pm(&context);
    ft::EngineOptions options;
    options.validate = false;
    ft::buildEnginePipeline(pm, ft::Phase::Input, options);
    {
      ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
      if (failed(pm.run(*program.module)))
        continue; // refused: products of lengths, ragged lists
    }
    auto graph = dyn_cast_or_null<GraphOp>(program.module->lookupSymbol(program.name));
    ASSERT_TRUE(graph) << program.name;
    std::string why;
    EXPECT_TRUE(isAccepted(graph, &why)) << program.name << ": " << why;
    for (const Sizes &these : sizes)
      EXPECT_EQ(findWrong(graph, these), "") << program.name;
    ++used;
    std::vector<Mutant> mutants = makeMutants(graph);
    for (unsigned m = 0; m < mutantsEach && !mutants.empty(); ++m) {
      const Mutant &mutant = mutants[random() % mutants.size()];
      OwningOpRef<ModuleOp> copy = program.module->clone();
      auto changed = cast<GraphOp>(copy->lookupSymbol(program.name));
      mutant.apply(changed);
      {
        ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
        if (failed(verify(*copy)))
          continue;
      }
      std::string truth, reason;
      for (const Sizes &these : sizes)
        if (truth.empty())
          truth = findWrong(changed, these);
      bool accepted = isAccepted(changed, &reason);
      if (truth.empty() && !accepted)
        if (std::optional<Sizes> shown = sizesOf(reason, changed)) {
          truth = findWrong(changed, *shown);
          confirmed += !truth.empty();
        }
      EXPECT_EQ(accepted, truth.empty())
          << program.name << ", " << mutant.kind << ": " << mutant.what
          << "\n  truth: " << (truth.empty() ? "legal" : truth)
          << "\n  validator: " << (accepted ? "legal" : reason);
      ++(truth.empty() ? legal : illegal);
    }
  }
  printf("%u programs, %u mutants: %u legal, %u illegal, %u of them at the validator's lengths "
         "alone\n",
         used, legal + illegal, legal, illegal, confirmed);
  EXPECT_GE(used, 80u);
  EXPECT_GE(illegal, 150u);
  EXPECT_GE(legal, 50u);
}
