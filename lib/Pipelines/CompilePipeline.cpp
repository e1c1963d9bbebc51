//===- CompilePipeline.cpp - ft-compile -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of --ft-compile: read, checked, and turned into a run of the phases for a target.
//
//===----------------------------------------------------------------------===//
#include "PhasePasses.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Targets.h"
#include "ft/Support/PartitionModes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

namespace mlir::ft {
#define GEN_PASS_REGISTRATION
#include "ft/Pipelines/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

std::string ft::checkCompileOptions(const CompileOptions &options) {
  for (auto [name, value] :
       {std::pair<StringRef, StringRef>("from", options.from), {"to", options.to}})
    if (!symbolizePhase(value))
      return ("ft-compile: " + name + ": expected one of " + listPhases() + ", found '" + value +
              "'")
          .str();
  if (*symbolizePhase(options.from) > *symbolizePhase(options.to))
    return "ft-compile: phase '" + options.from.getValue() + "' comes after '" +
           options.to.getValue() + "'";
  for (const std::string &name : options.skip)
    if (std::optional<Phase> phase = symbolizePhase(name); !phase || !mayBeSkipped(*phase))
      return "ft-compile: skip: expected coarsen, reorder, partition or storage, found '" + name +
             "'";
  StringRef target = options.target;
  if (SmallVector<StringRef> gpus = targetsOf(Machine::Kind::GPU); target != "cpu" && !llvm::is_contained(gpus, target))
    return ("ft-compile: target: expected one of cpu, " + llvm::join(gpus, ", ") + ", found '" + target + "'").str();
  if (!options.machine.empty()) {
    llvm::Expected<MachineRef> machine = Machine::find(options.machine);
    if (!machine) { // (the pass says what, at the lines of the file)
      llvm::consumeError(machine.takeError());
      return "ft-compile: machine: '" + options.machine.getValue() + "' is none";
    }
    if (!(*machine)->serves(target))
      return ("ft-compile: machine: '" + options.machine.getValue() + "' serves " +
              ((*machine)->targets.empty() ? "no target" : llvm::join((*machine)->targets, ", ")) + ", not '" + target + "'")
          .str();
  }
  if (!options.dump.empty() && !llvm::sys::fs::is_directory(options.dump.getValue()))
    return "ft-compile: dump: no such folder: '" + options.dump.getValue() + "'";
  for (StringRef text : options.lengths)
    if (auto [name, number] = text.split('='); name.empty() || number.empty() || !llvm::all_of(number, llvm::isDigit))
      return ("ft-compile: lengths: expected NAME=NUMBER with a number of at least 0, found '" + text + "'").str();
  if (options.steps != "choose" && options.steps != "always" && options.steps != "never")
    return "ft-compile: steps: expected choose, always or never, found '" + options.steps.getValue() + "'";
  if (StringRef mode = options.partition; !mode.empty() && !isPartitionMode(mode))
    return ("ft-compile: partition: expected " + partitionModesText + ", found '" + mode + "'").str();
  if (!options.partition.empty() && options.target == "cpu")
    return "ft-compile: partition: a CPU runs each nest as a parallel region; expected a GPU as target, found 'cpu'";
  if (options.rounding != "excess" && options.rounding != "exact")
    return "ft-compile: rounding: expected excess or exact, found '" + options.rounding.getValue() + "'";
  if (options.validate != "on" && options.validate != "off")
    return "ft-compile: validate: expected on or off, found '" + options.validate.getValue() + "'";
  return "";
}

/// Says when the pipeline runs what is wrong with its options: builders can't fail.
static void addCheckOfOptions(OpPassManager &pm, const CompileOptions &options) {
  FTCheckCompileOptionsOptions check;
  check.from = options.from;
  check.to = options.to;
  check.target = options.target;
  check.machine = options.machine;
  check.dump = options.dump;
  check.skip.assign(options.skip.begin(), options.skip.end());
  check.validate = options.validate;
  check.lengths.assign(options.lengths.begin(), options.lengths.end());
  check.steps = options.steps;
  check.partition = options.partition;
  check.rounding = options.rounding;
  pm.addPass(createFTCheckCompileOptions(check));
}

/// The target that the options name, with what they say of its plans.
static std::unique_ptr<TargetPipeline> makeTarget(const CompileOptions &options) {
  const std::string machine =
      options.machine.empty() ? Machine::forTarget(options.target)->reference : options.machine.getValue();
  if (options.target == "cpu") {
    CpuPipelineOptions cpu;
    cpu.machine = machine;
    cpu.threads = options.threads;
    cpu.lengths.assign(options.lengths.begin(), options.lengths.end());
    cpu.planSeed = options.planSeed;
    cpu.candidate = options.candidate;
    return makeCpuPipeline(std::move(cpu));
  }
  GpuPipelineOptions gpu;
  gpu.target = options.target;
  gpu.machine = machine;
  gpu.multiprocessors = options.multiprocessors;
  gpu.steps = options.steps;
  gpu.stepThreads = options.stepThreads;
  gpu.planSeed = options.planSeed;
  gpu.candidate = options.candidate;
  gpu.barrierLimit = options.barrierLimit;
  gpu.partition = options.partition;
  return makeGpuPipeline(std::move(gpu));
}

void ft::buildCompilePipeline(OpPassManager &pm, const CompileOptions &options, bool validates) {
  if (!checkCompileOptions(options).empty())
    return addCheckOfOptions(pm, options);
  std::unique_ptr<TargetPipeline> target = makeTarget(options);
  PipelineOptions phases;
  phases.from = *symbolizePhase(options.from);
  phases.to = *symbolizePhase(options.to);
  phases.target = target.get();
  phases.skip.assign(options.skip.begin(), options.skip.end());
  phases.rounding = options.rounding;
  phases.dataflow = options.dataflow;
  phases.reportsDataflow = options.dataflow.hasValue();
  phases.validate = validates && options.validate == "on";
  phases.verify = options.verify;
  phases.verifyEach = options.verifyEach;
  phases.reportsSkipped = true;
  phases.dump = options.dump;
  buildPipeline(pm, phases);
}

std::string CompileOptions::listNames() const {
  SmallVector<StringRef> names = llvm::to_vector(OptionsMap.keys());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

/// Reads the options and adds the passes. MLIR's parser names an unknown option; this lists the known ones besides.
static LogicalResult addCompilePipeline(OpPassManager &pm, StringRef text, llvm::function_ref<LogicalResult(const Twine &)> error,
                                        bool validates) {
  CompileOptions options;
  std::string found;
  llvm::raw_string_ostream stream(found);
  if (failed(options.parseFromString(text, stream))) {
    StringRef message = StringRef(found).trim(), unknown = message;
    if (!unknown.contains("no such option "))
      return error("ft-compile: " + (message.empty() ? StringRef("an option has a wrong value") : message));
    unknown = unknown.substr(unknown.find("no such option ")).drop_front(strlen("no such option "));
    return error("ft-compile: expected one of the options " + options.listNames() + ", found '" + unknown + "'");
  }
  buildCompilePipeline(pm, options, validates);
  return success();
}

void ft::registerPipelines(std::function<bool()> validates) {
  registerFTPipelinesPasses();
  registerPassPipeline(
      "ft-compile", "from one phase to another, each followed by its contract",
      [validates = std::move(validates)](OpPassManager &pm, StringRef text, llvm::function_ref<LogicalResult(const Twine &)> error) {
        return addCompilePipeline(pm, text, error, !validates || validates());
      },
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> show) { show(CompileOptions()); });
  registerDecisionPipelines();
}
