//===- CoarsenFuzzTest.cpp - coarsening changes no result -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths: the coarsened graph passes
// etdg-verify and gives what the graph gave, in declared order and in a random one.
//
//===----------------------------------------------------------------------===//
#include "ProgramChecker.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Pipelines/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;

namespace {
struct Counts {
  unsigned programs = 0, blocks = 0, blocksAfter = 0, buffers = 0, buffersAfter = 0, changed = 0;
};

unsigned count(ModuleOp module, bool buffers) {
  unsigned n = 0;
  module.walk(
      [&](Operation *op) { n += buffers ? isa<etdg::BufferOp>(op) : isa<etdg::BlockOp>(op); });
  return n;
}

/// Checks one program; what is wrong in words, or nothing.
std::string check(fuzz::Program &program, Counts &counts) {
  ProgramChecker checker(program);
  if (!checker.hasGraph())
    return "";
  ModuleOp before = *checker.before, after = *checker.after;
  PassManager pm(program.module->getContext());
  etdg::buildCoarsenPipeline(pm);
  if (failed(pm.run(after)) || failed(verify(after)))
    return "coarsening: " + checker.errors;
  for (auto graph : after.getOps<etdg::GraphOp>())
    if (failed(etdg::verifyGraph(graph)))
      return "etdg-verify: " + checker.errors;
  ++counts.programs;
  unsigned b0 = count(before, false), b1 = count(after, false);
  unsigned f0 = count(before, true), f1 = count(after, true);
  counts.blocks += b0;
  counts.blocksAfter += b1;
  counts.buffers += f0;
  counts.buffersAfter += f1;
  counts.changed += b0 != b1 || f0 != f1;
  return checker.compare("coarsening", {interp::Order::Declared, interp::Order::Random});
}
} // namespace

TEST(CoarsenFuzz, ResultsStay) {
  Counts counts;
  unsigned number = checkPrograms(
      "COARSEN", 41, 250, [&](fuzz::Program &program) { return check(program, counts); });
  llvm::outs() << counts.programs << " programs, " << counts.changed << " changed: blocks "
               << counts.blocks << " -> " << counts.blocksAfter << ", buffers " << counts.buffers
               << " -> " << counts.buffersAfter << "\n";
  // A test in which nothing merges tests nothing.
  EXPECT_GE(counts.programs * 10, number * 8);
  EXPECT_GE(counts.changed * 5, counts.programs);
  EXPECT_LT(counts.blocksAfter, counts.blocks);
}
