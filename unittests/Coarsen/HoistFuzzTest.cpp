//===- HoistFuzzTest.cpp - what is computed once is the same ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, each at all its lengths, with everything computed once that
// repeats, whatever it costs: the graph passes etdg-verify, the validator accepts it
// here and after all later phases, and it gives what the graph gave, integers bit for bit.
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
#include "ft/Validator/Validator.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;
using ::ft::rt::HostArray;

namespace {
/// Checks one program; what is wrong in words, or nothing.
std::string check(Program &program, unsigned &checked, unsigned &hoisted) {
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
  auto count = [&]() {
    unsigned buffers = 0;
    after->walk([&](etdg::BufferOp) { ++buffers; });
    return buffers;
  };
  auto isValid = [&](StringRef phase) {
    if (failed(verify(*after)))
      return false;
    etdg::ValidateOptions options;
    options.phase = phase.str();
    options.writeReproducer = false;
    for (auto graph : after->getOps<etdg::GraphOp>())
      if (failed(etdg::verifyGraph(graph)) || failed(etdg::validateGraph(graph, options)))
        return false;
    return true;
  };
  {
    PassManager pm(context);
    etdg::buildCoarsenPipeline(pm);
    if (failed(pm.run(*after)))
      return "coarsening: " + errors;
  }
  unsigned buffers = count();
  {
    PassManager pm(context);
    etdg::ETDGHoistInvariantsOptions options;
    options.all = true;
    options.narrow = true;
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGHoistInvariants(options));
    if (failed(pm.run(*after)) || !isValid("coarsen"))
      return "hoisting: " + errors;
  }
  ++checked;
  if (count() == buffers)
    return "";
  ++hoisted;

  FailureOr<tools::Entry> entry = tools::findEntry(*program.module, program.name);
  if (failed(entry))
    return "entry: " + errors;
  std::vector<std::vector<HostArray>> expected;
  auto runAll = [&](StringRef phase) -> std::string {
    for (auto [i, binding] : llvm::enumerate(program.bindings)) {
      tools::DataOptions dataOptions;
      dataOptions.seed = i;
      dataOptions.lengths = binding;
      FailureOr<tools::Data> data = tools::makeData(*entry, dataOptions);
      if (failed(data))
        return "data: " + errors;
      if (auto graph = before->lookupSymbol<etdg::GraphOp>(program.name);
          tools::hasMergedLengths(*entry, graph))
        tools::toGraphShapes(*entry, graph, *data);
      interp::Lengths lengths;
      for (auto &[name, value] : data->lengths)
        lengths[name.getValue()] = value;
      interp::RunOptions options;
      options.order = interp::Order::Declared;
      if (expected.size() == i) {
        FailureOr<std::vector<HostArray>> results =
            interp::runETDG(*before, program.name, lengths, data->arguments, options);
        if (failed(results))
          return "before: " + errors;
        expected.push_back(std::move(*results));
      }
      FailureOr<std::vector<HostArray>> found =
          interp::runETDG(*after, program.name, lengths, data->arguments, options);
      if (failed(found))
        return ("after " + phase + ": " + errors).str();
      for (auto [x, y] : llvm::zip_equal(*found, expected[i]))
        if (::ft::rt::Comparison comparison = ::ft::rt::compare(x, y); !comparison.equal)
          return ("result after " + phase + ": " + comparison.message).str();
    }
    return "";
  };
  if (std::string wrong = runAll("coarsen"); !wrong.empty())
    return wrong;
  PassManager pm(context);
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGReorder());
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGStorage());
  if (failed(pm.run(*after)) || !isValid("storage"))
    return "storage: " + errors;
  return runAll("storage");
}
} // namespace

TEST(HoistFuzz, ResultsStay) {
  DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  unsigned checked = 0, hoisted = 0, first = 0, number = 250;
  if (const char *text = std::getenv("FT_HOIST_FIRST"))
    first = std::atoi(text);
  if (const char *text = std::getenv("FT_HOIST_PROGRAMS"))
    number = std::atoi(text);
  for (unsigned batch = first; batch < first + number; batch += 25) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    loadDialects(&context);
    for (unsigned i = batch; i < std::min(batch + 25, first + number); ++i) {
      Program program = generateProgram(&context, 67, i);
      std::string wrong = check(program, checked, hoisted);
      if (wrong.empty())
        continue;
      std::string text;
      llvm::raw_string_ostream os(text);
      program.module->print(os);
      ADD_FAILURE() << "program " << i << ": " << wrong << "\n" << text;
    }
  }
  llvm::outs() << checked << " programs, " << hoisted << " in which something repeats\n";
  // A test in which nothing repeats tests nothing.
  EXPECT_GE(checked * 10, number * 8);
  EXPECT_GE(hoisted * 10, checked);
}
