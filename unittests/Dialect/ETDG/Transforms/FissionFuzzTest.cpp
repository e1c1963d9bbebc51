//===- FissionFuzzTest.cpp - loops taken apart compute the same -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths, with each loop taken apart that can be,
// whatever it costs: the graph passes etdg-verify, the validator accepts it here and
// after all later phases, and it gives what the graph gave, integers bit for bit.
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
std::string check(fuzz::Program &program, unsigned &checked, unsigned &apart) {
  MLIRContext *context = program.module->getContext();
  ProgramChecker checker(program);
  if (!checker.hasGraph())
    return "";
  ModuleOp after = *checker.after;
  auto count = [&]() {
    size_t loops = 0;
    for (auto graph : after.getOps<etdg::GraphOp>())
      loops += llvm::range_size(graph.getBody().front().getOps<etdg::BlockOp>());
    return loops;
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
  size_t loops = count();
  {
    PassManager pm(context);
    etdg::ETDGFissionOptions options;
    options.all = true;
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGFission(options));
    if (failed(pm.run(after)) || !isValid("coarsen"))
      return "fission: " + checker.errors;
  }
  ++checked;
  if (count() == loops)
    return "";
  ++apart;
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

TEST(FissionFuzz, ResultsStay) {
  unsigned checked = 0, apart = 0;
  unsigned number = checkPrograms("FISSION", 91, 250, [&](fuzz::Program &program) {
    return check(program, checked, apart);
  });
  llvm::outs() << checked << " programs, " << apart << " in which a loop is taken apart\n";
  // A test in which no loop is tests nothing.
  EXPECT_GE(checked * 10, number * 8);
  EXPECT_GE(apart * 10, checked);
}
