//===- CheckImperative.cpp - imperative programs on every engine ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap says what a program means: results, and what its arguments hold afterwards.
//
//===----------------------------------------------------------------------===//
#include "ft/Fuzz/Imperative.h"
#include "CompileGraphs.h"
#include "KeptErrors.h"

#include "ft/Dialect/TSSA/Transforms/Aliases.h"
#include "ft/Interpreter/FTInterpreter.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Runtime/Arrays/Npy.h"
#include "ft/Tools/Judge.h"
#include "ft/Tools/RunProgram.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;
using ::ft::rt::HostArray;

namespace {
struct Subject {
  Subject(const ImperativeProgram &program, ImperativeVerdict &verdict, MLIRContext *context, uint64_t seed)
      : program(program), verdict(verdict), context(context), seed(seed) {}

  const ImperativeProgram &program;
  ImperativeVerdict &verdict;
  MLIRContext *context;
  uint64_t seed;
  OwningOpRef<ModuleOp> module;
  tools::Data data;
  std::vector<HostArray> reference;
  /// Runs a copy of the program, for `module` is lowered.
  OwningOpRef<ModuleOp> asWritten;
  std::optional<tools::Judge> judge;
  etdg::GraphOp graph;

  LogicalResult fail(const std::string &stage, const std::string &message) {
    verdict.outcome = Outcome::Failed;
    verdict.stage = stage;
    verdict.message = message;
    return failure();
  }
  LogicalResult makeReference();
  LogicalResult dump(StringRef folder);
  LogicalResult functionalize();
  LogicalResult lower();
  LogicalResult interpretAndCompare(const std::string &stage);
  LogicalResult compare(ArrayRef<HostArray> results, const std::string &stage);
  void raise();
};
} // namespace

LogicalResult Subject::compare(ArrayRef<HostArray> results, const std::string &stage) {
  if (results.size() != reference.size())
    return fail(stage, "gives " + std::to_string(results.size()) + " arrays, the heap " +
                           std::to_string(reference.size()));
  for (auto [i, result] : llvm::enumerate(results)) {
    ::ft::rt::Comparison comparison = judge->judge(i, result, ::ft::rt::defaultTolerance(result.dtype));
    if (!comparison.equal)
      return fail(stage, "result " + std::to_string(i) + ": " + comparison.message);
  }
  return success();
}

LogicalResult Subject::makeReference() {
  KeptErrors errors(context);
  module = parseSourceString<ModuleOp>(program.mlir, context);
  if (!module || failed(verify(*module)))
    return fail("parsing", errors.text);
  FailureOr<tools::Entry> entry = tools::findEntry(*module, program.name);
  if (failed(entry))
    return fail("entry", errors.text);
  tools::DataOptions options;
  options.seed = seed;
  FailureOr<tools::Data> made = tools::makeData(*entry, options);
  if (failed(made))
    return fail("data", errors.text);
  data = std::move(*made);
  FailureOr<std::vector<HostArray>> results =
      interp::runFT(*module, program.name, interp::Lengths(), data.arguments);
  if (failed(results))
    return fail("heap interpreter", errors.text);
  reference = std::move(*results);
  asWritten = module->clone();
  judge.emplace(reference, [this](const interp::RunOptions &run) {
    return interp::runFT(*asWritten, program.name, interp::Lengths(), data.arguments, run);
  });
  return success();
}

LogicalResult Subject::dump(StringRef folder) {
  if (folder.empty())
    return success();
  std::string base = (folder + "/" + program.name).str();
  auto write = [&](StringRef what, ArrayRef<HostArray> arrays) {
    for (auto [i, array] : llvm::enumerate(arrays))
      if (auto status = ::ft::rt::writeNpy(base + "." + what.str() + std::to_string(i) + ".npy", array); !status.ok())
        return fail("dump", status.message());
    return success();
  };
  std::error_code error;
  llvm::raw_fd_ostream file(base + ".written.txt", error);
  if (error)
    return fail("dump", error.message());
  for (unsigned argument : tssa::AliasGraph(module->lookupSymbol<func::FuncOp>(program.name)).writtenArguments())
    file << argument << "\n";
  return success(succeeded(write("arg", data.arguments)) && succeeded(write("heap", reference)));
}

LogicalResult Subject::interpretAndCompare(const std::string &stage) {
  KeptErrors errors(context);
  FailureOr<std::vector<HostArray>> results =
      interp::runFT(*module, program.name, interp::Lengths(), data.arguments);
  if (failed(results))
    return fail(stage, errors.text);
  return compare(*results, stage);
}

LogicalResult Subject::functionalize() {
  KeptErrors errors(context);
  PassManager pm(context);
  buildFunctionalizePipeline(pm);
  if (failed(pm.run(*module))) {
    verdict.outcome = Outcome::Refused;
    verdict.stage = "tssa-functionalize";
    verdict.message = errors.text;
    return failure();
  }
  for (auto function : module->getOps<func::FuncOp>())
    if (tssa::hasMutableTensors(function))
      return fail("tssa-functionalize", "mutable tensors are left");
  return success();
}

LogicalResult Subject::lower() {
  KeptErrors errors(context);
  PassManager pm(context);
  buildToTensorPipeline(pm);
  if (failed(pm.run(*module)))
    return fail("convert-tssa-to-tensor", errors.text);
  return success();
}

/// What raising refuses is no failure: it says so in a warning.
void Subject::raise() {
  KeptErrors errors(context);
  PassManager pm(context);
  // (What was called stands where it was called.)
  pm.addPass(createSymbolDCEPass());
  buildConversionsToETDG(pm);
  if (succeeded(pm.run(*module)))
    graph = dyn_cast_or_null<etdg::GraphOp>(module->lookupSymbol(program.name));
}

static void runOnCpu(std::vector<std::unique_ptr<Subject>> &subjects) {
  SmallVector<Subject *> candidates;
  SmallVector<etdg::GraphOp> graphs;
  for (auto &subject : subjects)
    if (subject->graph && subject->verdict.outcome == Outcome::Equal) {
      candidates.push_back(subject.get());
      graphs.push_back(subject->graph);
    }
  if (graphs.empty())
    return;
  for (auto [subject, graph] : llvm::zip_equal(candidates, graphs)) {
    llvm::PrettyStackTraceFormat trace("running %s on the CPU engine", subject->program.name.c_str());
    KeptErrors errors(subject->context);
    FailureOr<std::unique_ptr<CompiledProgram>> compiled = compileGraphs(graph);
    if (failed(compiled)) {
      (void)subject->fail("compilation for the CPU", errors.text);
      continue;
    }
    SmallVector<const HostArray *> arguments;
    for (const HostArray &array : subject->data.arguments)
      arguments.push_back(&array);
    FailureOr<std::unique_ptr<CompiledProgram::Call>> call = (*compiled)->prepare("f0", arguments);
    FailureOr<std::vector<HostArray>> results = failure();
    if (succeeded(call) && succeeded((*call)->run()))
      results = (*call)->results();
    if (failed(results))
      (void)subject->fail("CPU engine", errors.text);
    else if (succeeded(subject->compare(*results, "CPU engine")))
      subject->verdict.onCpu = true;
  }
}

std::vector<ImperativeVerdict>
mlir::ft::fuzz::checkImperative(MLIRContext *context, ArrayRef<ImperativeProgram> programs, bool cpu,
                                uint64_t seed, StringRef dumpFolder) {
  std::vector<ImperativeVerdict> verdicts(programs.size());
  std::vector<std::unique_ptr<Subject>> subjects;
  for (auto [program, verdict] : llvm::zip_equal(programs, verdicts)) {
    llvm::PrettyStackTraceFormat trace("checking %s", program.name.c_str());
    subjects.push_back(std::unique_ptr<Subject>(new Subject(program, verdict, context, seed)));
    Subject &subject = *subjects.back();
    if (failed(subject.makeReference()) || failed(subject.dump(dumpFolder)) || failed(subject.functionalize()) ||
        failed(subject.interpretAndCompare("functionalized program")) || failed(subject.lower()) ||
        failed(subject.interpretAndCompare("lowered program")) || !cpu)
      continue;
    subject.raise();
  }
  if (cpu)
    runOnCpu(subjects);
  return verdicts;
}
