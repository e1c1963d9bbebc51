//===- RandomTest.cpp - the validator against enumeration, at random ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs through all phases, and a few mutants of each: windows,
// reversals, gathers, lags, divided lengths, nests in nests.
//
//===----------------------------------------------------------------------===//
#include "fttest/ValidatorTest.h"
#include "ft/Fuzz/Generator.h"

using namespace mlir;
using namespace mlir::etdg;

using RandomTest = ValidatorTest;

TEST_F(RandomTest, AgreesWithEnumeration) {
  constexpr unsigned numPrograms = 150, mutantsEach = 8;
  mlir::ft::fuzz::loadDialects(&context);
  std::mt19937_64 random(7);
  Tally tally;
  for (unsigned i = 0; i < numPrograms; ++i) {
    mlir::ft::fuzz::Program program = mlir::ft::fuzz::generateProgram(&context, 11, i);
    // Small lengths, as enumeration goes through all iterations.
    std::vector<Sizes> sizes;
    for (const mlir::ft::fuzz::Binding &binding : program.bindings) {
      Sizes these(binding.begin(), binding.end());
      if (llvm::all_of(these, [](auto &size) { return size.second <= 6; }))
        sizes.push_back(these);
    }
    if (sizes.empty())
      continue;
    PassManager pm(&context);
    mlir::ft::PipelineOptions options;
    options.validate = false;
    mlir::ft::buildPipeline(pm, options);
    {
      ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
      if (failed(pm.run(*program.module)))
        continue; // refused: products of lengths, ragged lists
    }
    auto graph = dyn_cast_or_null<GraphOp>(program.module->lookupSymbol(program.name));
    ASSERT_TRUE(graph) << program.name;
    judgeMutants(graph, sizes, mutantsEach, random, program.name, tally);
  }
  tally.print("programs");
  EXPECT_GE(tally.used, 80u);
  EXPECT_GE(tally.illegal, 150u);
  EXPECT_GE(tally.legal, 50u);
}
