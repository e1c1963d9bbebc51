//===- HoistFuzzTest.cpp - what is computed once is the same ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths, with everything computed once that
// repeats, whatever it costs: the graph passes etdg-verify, the validator accepts it
// here and after all later phases, and it gives what the graph gave, integers bit for bit.
//
//===----------------------------------------------------------------------===//
#include "ProgramChecker.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;

static size_t countBuffers(ModuleOp module) {
  size_t buffers = 0;
  module.walk([&](etdg::BufferOp) { ++buffers; });
  return buffers;
}

TEST(HoistFuzz, ResultsStay) {
  TriedPass pass;
  pass.name = "hoist";
  pass.count = countBuffers;
  pass.add = [](PassManager &pm) {
    etdg::ETDGHoistInvariantsOptions options;
    options.all = true;
    options.narrow = true;
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGHoistInvariants(options));
  };
  unsigned number = checkPrograms("HOIST", 67, 250, [&](fuzz::Program &program) { return checkPass(program, pass); });
  llvm::outs() << pass.checked << " programs, " << pass.changed << " in which something repeats\n";
  // A test in which nothing repeats tests nothing.
  EXPECT_GE(pass.checked * 10, number * 8);
  EXPECT_GE(pass.changed * 10, pass.checked);
}
