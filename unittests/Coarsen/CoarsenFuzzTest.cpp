//===- CoarsenFuzzTest.cpp - coarsening changes no result -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths: the coarsened graph passes
// etdg-verify and gives what the graph gave, in declared order and in a random one.
//
//===----------------------------------------------------------------------===//
#include "../../lib/Tools/RunProgram.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Fuzz/Generator.h"
#include "ft/InitAll.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Runtime/Compare.h"
#include "ft/Target/GraphSummary.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;
using ::ft::rt::HostArray;

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
std::string check(Program &program, Counts &counts) {
  MLIRContext *context = program.module->getContext();
  std::string errors;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> before = program.module->clone();
  {
    PassManager pm(context);
    buildToETDGPipeline(pm);
    if (failed(pm.run(*before)))
      return ""; // a product of lengths: no graph
  }
  OwningOpRef<ModuleOp> after = before->clone();
  PassManager pm(context);
  etdg::buildCoarsenPipeline(pm);
  if (failed(pm.run(*after)) || failed(verify(*after)))
    return "coarsening: " + errors;
  for (auto graph : after->getOps<etdg::GraphOp>())
    if (failed(etdg::verifyGraph(graph)))
      return "etdg-verify: " + errors;
  ++counts.programs;
  unsigned b0 = count(*before, false), b1 = count(*after, false);
  unsigned f0 = count(*before, true), f1 = count(*after, true);
  counts.blocks += b0;
  counts.blocksAfter += b1;
  counts.buffers += f0;
  counts.buffersAfter += f1;
  counts.changed += b0 != b1 || f0 != f1;

  FailureOr<tools::Entry> entry = tools::findEntry(*program.module, program.name);
  if (failed(entry))
    return "entry: " + errors;
  for (auto [i, binding] : llvm::enumerate(program.bindings)) {
    tools::DataOptions dataOptions;
    dataOptions.seed = i;
    dataOptions.lengths = binding;
    FailureOr<tools::Data> data = tools::makeData(*entry, dataOptions);
    if (failed(data))
      return "data: " + errors;
    if (auto graph = before->lookupSymbol<etdg::GraphOp>(program.name); tools::hasMergedLengths(*entry, graph))
      tools::toGraphShapes(*entry, graph, *data);
    interp::Lengths lengths;
    for (auto &[name, value] : data->lengths)
      lengths[name.getValue()] = value;
    interp::RunOptions options;
    options.order = interp::Order::Declared;
    FailureOr<std::vector<HostArray>> expected =
        interp::runETDG(*before, program.name, lengths, data->arguments, options);
    if (failed(expected))
      return "before: " + errors;
    for (interp::Order order : {interp::Order::Declared, interp::Order::Random}) {
      options.order = order;
      options.seed = i + 1;
      FailureOr<std::vector<HostArray>> found =
          interp::runETDG(*after, program.name, lengths, data->arguments, options);
      if (failed(found))
        return "after: " + errors;
      for (auto [x, y] : llvm::zip_equal(*found, *expected)) {
        ::ft::rt::Comparison comparison = ::ft::rt::compare(x, y);
        if (!comparison.equal)
          return "result: " + comparison.message;
      }
    }
  }
  return "";
}
} // namespace

TEST(CoarsenFuzz, ResultsStay) {
  DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  Counts counts;
  unsigned first = 0, number = 250;
  if (const char *text = std::getenv("FT_COARSEN_FIRST"))
    first = std::atoi(text);
  if (const char *text = std::getenv("FT_COARSEN_PROGRAMS"))
    number = std::atoi(text);
  for (unsigned batch = first; batch < first + number; batch += 25) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    loadDialects(&context);
    for (unsigned i = batch; i < std::min(batch + 25, first + number); ++i) {
      Program program = generateProgram(&context, 41, i);
      std::string wrong = check(program, counts);
      if (wrong.empty())
        continue;
      std::string text;
      llvm::raw_string_ostream os(text);
      program.module->print(os);
      ADD_FAILURE() << "program " << i << ": " << wrong << "\n" << text;
    }
  }
  llvm::outs() << counts.programs << " programs, " << counts.changed << " changed: blocks "
               << counts.blocks << " -> " << counts.blocksAfter << ", buffers " << counts.buffers
               << " -> " << counts.buffersAfter << "\n";
  // A test in which nothing merges tests nothing.
  EXPECT_GE(counts.programs * 10, number * 8);
  EXPECT_GE(counts.changed * 5, counts.programs);
  EXPECT_LT(counts.blocksAfter, counts.blocks);
}
