//===- FissionFuzzTest.cpp - loops taken apart compute the same -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths, with each loop taken apart that can be,
// whatever it costs: the graph passes etdg-verify, the validator accepts it here and
// after all later phases, and it gives what the graph gave, integers bit for bit.
//
//===----------------------------------------------------------------------===//
#include "ProgramChecker.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;

static size_t countLoops(ModuleOp module) {
  size_t loops = 0;
  for (auto graph : module.getOps<etdg::GraphOp>())
    loops += size_t(llvm::range_size(graph.getBody().front().getOps<etdg::BlockOp>()));
  return loops;
}

TEST(FissionFuzz, ResultsStay) {
  TriedPass pass;
  pass.name = "fission";
  pass.count = countLoops;
  pass.add = [](PassManager &pm) {
    etdg::ETDGFissionOptions options;
    options.all = true;
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGFission(options));
  };
  unsigned number = checkPrograms("FISSION", 91, 250, [&](fuzz::Program &program) { return checkPass(program, pass); });
  llvm::outs() << pass.checked << " programs, " << pass.changed << " in which a loop is taken apart\n";
  // A test in which no loop is tests nothing.
  EXPECT_GE(pass.checked * 10, number * 8);
  EXPECT_GE(pass.changed * 10, pass.checked);
}
