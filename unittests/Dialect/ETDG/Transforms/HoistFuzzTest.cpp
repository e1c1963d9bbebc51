//===- HoistFuzzTest.cpp - what is computed once is the same ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths, with everything computed once that
// repeats, whatever it costs: the graph passes etdg-verify, the validator accepts it
// here and after all later phases, and it gives what the graph gave, integers bit for bit.
//
//===----------------------------------------------------------------------===//
#include "ProgramChecker.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Validator/Validator.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;

namespace {
/// Checks one program; what is wrong in words, or nothing.
std::string check(fuzz::Program &program, unsigned &checked, unsigned &hoisted) {
  MLIRContext *context = program.module->getContext();
  ProgramChecker checker(program);
  if (!checker.hasGraph())
    return "";
  ModuleOp after = *checker.after;
  auto count = [&]() {
    unsigned buffers = 0;
    after.walk([&](etdg::BufferOp) { ++buffers; });
    return buffers;
  };
  auto isValid = [&](StringRef phase) {
    if (failed(verify(after)))
      return false;
    etdg::ValidateOptions options;
    options.phase = phase.str();
    options.writeReproducer = false;
    for (auto graph : after.getOps<etdg::GraphOp>())
      if (failed(etdg::verifyGraph(graph)) || failed(etdg::validateGraph(graph, options)))
        return false;
    return true;
  };
  {
    PassManager pm(context);
    etdg::buildCoarsenPipeline(pm);
    if (failed(pm.run(after)))
      return "coarsening: " + checker.errors;
  }
  unsigned buffers = count();
  {
    PassManager pm(context);
    etdg::ETDGHoistInvariantsOptions options;
    options.all = true;
    options.narrow = true;
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGHoistInvariants(options));
    if (failed(pm.run(after)) || !isValid("coarsen"))
      return "hoisting: " + checker.errors;
  }
  ++checked;
  if (count() == buffers)
    return "";
  ++hoisted;
  if (std::string wrong = checker.compare("coarsen", interp::Order::Declared); !wrong.empty())
    return wrong;
  PassManager pm(context);
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGReorder());
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGStorage());
  if (failed(pm.run(after)) || !isValid("storage"))
    return "storage: " + checker.errors;
  return checker.compare("storage", interp::Order::Declared);
}
} // namespace

TEST(HoistFuzz, ResultsStay) {
  unsigned checked = 0, hoisted = 0;
  unsigned number = checkPrograms("HOIST", 67, 250, [&](fuzz::Program &program) {
    return check(program, checked, hoisted);
  });
  llvm::outs() << checked << " programs, " << hoisted << " in which something repeats\n";
  // A test in which nothing repeats tests nothing.
  EXPECT_GE(checked * 10, number * 8);
  EXPECT_GE(hoisted * 10, checked);
}
