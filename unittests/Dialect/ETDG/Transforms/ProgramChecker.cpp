//===- ProgramChecker.cpp - random programs before and after --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProgramChecker.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Tools/Judge.h"
#include "ft/Tools/RunProgram.h"
#include "ft/InitAll.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Validator/Validator.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;
using ::ft::rt::HostArray;

ProgramChecker::ProgramChecker(Program &program)
    : program(program), handler(program.module->getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          errors += diagnostic.str() + "\n";
        return success();
      }) {
  OwningOpRef<ModuleOp> module = program.module->clone();
  PassManager pm(module->getContext());
  buildToETDGPipeline(pm);
  if (failed(pm.run(*module)))
    return;
  before = std::move(module);
  after = before->clone();
}

std::string ProgramChecker::compare(StringRef phase, ArrayRef<interp::Order> orders) {
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
    for (interp::Order order : orders) {
      options.order = order;
      options.seed = i + 1;
      FailureOr<std::vector<HostArray>> found =
          interp::runETDG(*after, program.name, lengths, data->arguments, options);
      if (failed(found))
        return ("after " + phase + ": " + errors).str();
      tools::Judge judge(expected[i], [&](interp::RunOptions run) {
        run.order = interp::Order::Declared;
        return interp::runETDG(*before, program.name, lengths, data->arguments, run);
      });
      for (auto [r, array] : llvm::enumerate(*found))
        if (::ft::rt::Comparison comparison = judge.judge(r, array, ::ft::rt::defaultTolerance(array.dtype)); !comparison.equal)
          return ("result after " + phase + ": " + comparison.message).str();
    }
  }
  return "";
}

/// Whether all graphs of the module verify, and are proved to be what they were before the phase.
static bool isValid(ModuleOp module, StringRef phase) {
  if (failed(verify(module)))
    return false;
  etdg::ValidateOptions options;
  options.phase = phase.str();
  options.writeReproducer = false;
  for (auto graph : module.getOps<etdg::GraphOp>())
    if (failed(etdg::verifyGraph(graph)) || failed(etdg::validateGraph(graph, options)))
      return false;
  return true;
}

std::string mlir::ft::checkPass(Program &program, TriedPass &pass) {
  ProgramChecker checker(program);
  if (!checker.hasGraph())
    return "";
  ModuleOp after = *checker.after;
  auto run = [&](llvm::function_ref<void(PassManager &)> add) {
    PassManager pm(after.getContext());
    add(pm);
    return succeeded(pm.run(after));
  };
  if (!run([](PassManager &pm) { etdg::buildCoarsenPipeline(pm); }))
    return "coarsening: " + checker.errors;
  size_t before = pass.count(after);
  if (!run(pass.add) || !isValid(after, "coarsen"))
    return pass.name + ": " + checker.errors;
  ++pass.checked;
  if (pass.count(after) == before)
    return "";
  ++pass.changed;
  if (std::string wrong = checker.compare("coarsen", interp::Order::Declared); !wrong.empty())
    return wrong;
  auto addStorage = [](PassManager &pm) {
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGReorder());
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGStorage());
  };
  if (!run(addStorage) || !isValid(after, "storage"))
    return "storage: " + checker.errors;
  return checker.compare("storage", interp::Order::Declared);
}

unsigned mlir::ft::checkPrograms(const std::string &name, uint64_t seed, unsigned number,
                                 llvm::function_ref<std::string(Program &)> check) {
  DialectRegistry registry;
  registerAllDialects(registry);
  unsigned first = 0;
  if (const char *text = std::getenv(("FT_" + name + "_FIRST").c_str()))
    first = std::atoi(text);
  if (const char *text = std::getenv(("FT_" + name + "_PROGRAMS").c_str()))
    number = std::atoi(text);
  for (unsigned batch = first; batch < first + number; batch += 25) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    loadDialects(&context);
    for (unsigned i = batch; i < std::min(batch + 25, first + number); ++i) {
      Program program = generateProgram(&context, seed, i);
      std::string wrong = check(program);
      if (wrong.empty())
        continue;
      std::string text;
      llvm::raw_string_ostream os(text);
      program.module->print(os);
      ADD_FAILURE() << "program " << i << ": " << wrong << "\n" << text;
    }
  }
  return number;
}
