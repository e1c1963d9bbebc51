//===- RunMain.cpp - ft-run -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program on an engine: on given or generated arrays, at given lengths,
// compared with the reference interpreter, timed. Exit status 0 only if it ran
// and compared equal.
//
//===----------------------------------------------------------------------===//

#include "CountWork.h"
#include "RaggedData.h"
#include "RunReport.h"

#include "ft/Tools/MeasureMachine.h"
#include "ft/Tools/Output.h"
#include "ft/Tools/SourceMessages.h"
#include "ft/Tools/ToolOptions.h"

#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Engine/Emulator/EmulatedProgram.h"
#include "ft/Engine/Program/CompiledProgram.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Interpreter/FTInterpreter.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Runtime/Arrays/Npy.h"
#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Support/WholeFile.h"
#include "ft/Target/PTX/PTX.h"
#include "ft/Tools/Judge.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <map>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;
using ::ft::rt::HostArray;
namespace cl = llvm::cl;

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpuNow() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// A program that was compiled, and a call of it with its memory.
struct Compiled {
  CpuReport report;
  std::unique_ptr<::ft::rt::Bundle> bundle;
  std::unique_ptr<CompiledProgram> program;
  std::unique_ptr<CompiledProgram::Call> call; // (is gone before the program)
};

class Runner {
public:
  Runner(RunOptions &options, ModuleOp module, const Entry &entry, const Data &data)
      : options(options), module(module), entry(entry), data(data), graphData(&data) {}

  FailureOr<Outcome> runEngine();
  FailureOr<std::vector<HostArray>> interpretReference(interp::RunOptions run);

private:
  FailureOr<Outcome> runChosen();
  /// Puts the data in the graph's terms where they differ from the program's.
  LogicalResult makeGraphData();
  /// A copy of the module in which ragged lists are padded.
  FailureOr<OwningOpRef<ModuleOp>> copyModule();
  FailureOr<etdg::GraphOp> makePhase(OwningOpRef<ModuleOp> &owner, Phase to, bool isDumped);
  /// For the CPU or a GPU; `candidate` as the option of this name.
  FailureOr<Compiled> compile(int64_t candidate, ArrayRef<std::string> skip);
  /// The fastest of the schedules that there are.
  FailureOr<Compiled> tune(std::vector<Tried> &tried);
  /// Compiles for the CPU or a GPU and calls what was compiled.
  FailureOr<Outcome> runCompiled();
  /// What the CPU engine may know of this run: its lengths, and how many threads there are.
  CpuOptions makeCpuOptions();
  void setForms(GpuScheduleOptions &gpu, const std::string &target);
  /// `--loops`, `--kernels`.
  FailureOr<OwningOpRef<ModuleOp>> readModule(const std::string &file);
  std::vector<std::string> givenMachines() const {
    return options.machine.empty() ? std::vector<std::string>() : std::vector<std::string>{options.machine};
  }
  FailureOr<Outcome> runEmulated();
  /// Floating-point operations of products in a call, where they can be counted.
  std::optional<double> countProducts();
  FailureOr<std::vector<HostArray>> interpret(const interp::RunOptions &run, bool asGraph);
  /// Calls `once` one time, or as often as a benchmark wants.
  LogicalResult repeat(Outcome &outcome, llvm::function_ref<LogicalResult()> once);

  RunOptions &options;
  std::function<void(PassManager &)> passes = tools::makePassSettings();
  ModuleOp module;
  const Entry &entry;
  const Data &data;
  Data mergedData;       // where the graph takes two lengths as one
  const Data *graphData; // what graphs run on
};
} // namespace

FailureOr<OwningOpRef<ModuleOp>> Runner::copyModule() {
  OwningOpRef<ModuleOp> copy = copyEntry(module, entry.name);
  if (entry.ragged.empty())
    return copy;
  PassManager pm(module.getContext());
  buildPadRaggedPipeline(pm);
  if (failed(pm.run(*copy)))
    return failure();
  return copy;
}

FailureOr<etdg::GraphOp> Runner::makePhase(OwningOpRef<ModuleOp> &owner, Phase to, bool isDumped) {
  FailureOr<OwningOpRef<ModuleOp>> copy = copyModule();
  if (failed(copy))
    return failure();
  owner = std::move(*copy);
  PipelineOptions phases;
  phases.skip.assign(options.skip.begin(), options.skip.end());
  phases.to = to;
  phases.validate = tools::isValidating();
  phases.rounding = tools::getRounding();
  if (isDumped) {
    phases.dump = options.dump;
    phases.configure = passes;
  }
  phases.dataflow = options.planSeed == 0; // an arrangement by a seed is of nests that nothing has arranged
  bool isGpu = options.engine == "cuda" || options.isEmulated();
  std::string target = !options.target.empty() ? options.target.getValue() : isGpu ? "sm_90a" : "cpu";
  FailureOr<MachineRef> machine = findMachineFor(wholeFile(module.getLoc()), target, givenMachines());
  if (failed(machine))
    return failure();
  phases.machine = (*machine)->reference;
  return mlir::ft::makeGraph(*owner, entry.name, phases);
}

FailureOr<std::vector<HostArray>> Runner::interpret(const interp::RunOptions &run, bool asGraph) {
  asGraph |= !isa<func::FuncOp>(entry.op);
  interp::Lengths lengths;
  for (auto &[name, value] : asGraph ? graphData->lengths : data.lengths)
    lengths[name.getValue()] = value;
  if (!asGraph)
    return interp::runFT(module, entry.name, lengths, data.arguments, run);
  OwningOpRef<ModuleOp> owner;
  FailureOr<etdg::GraphOp> graph =
      makePhase(owner, options.to.empty() ? Phase::ETDG : *symbolizePhase(options.to), options.engine == "interpret");
  if (failed(graph))
    return failure();
  return interp::runETDG(*owner, entry.name, lengths, graphData->arguments, run);
}

FailureOr<std::vector<HostArray>> Runner::interpretReference(interp::RunOptions run) {
  run.seed = options.seed;
  return interpret(run, false);
}

LogicalResult Runner::repeat(Outcome &outcome, llvm::function_ref<LogicalResult()> once) {
  double begin = now();
  if (failed(once()))
    return failure();
  outcome.runSeconds.push_back(now() - begin);
  if (!options.bench)
    return success();
  // The first run pays for page faults and waking threads: it does not count
  // when there are others.
  const double first = std::max(outcome.runSeconds.front(), 1e-6);
  const double wanted = options.benchSeconds > 0 ? std::min(options.benchSeconds / first, 2000.0) : 0;
  int64_t times = std::max<int64_t>(wanted, 5);
  outcome.runSeconds.clear();
  for (int64_t i = 0; i < times && now() - begin < 10; ++i) {
    double start = now();
    if (failed(once()))
      return failure();
    outcome.runSeconds.push_back(now() - start);
  }
  llvm::sort(outcome.runSeconds);
  return success();
}

CpuOptions Runner::makeCpuOptions() {
  CpuOptions cpu;
  // What is dumped is planned as ft-opt plans it: for the machine's cores, and lengths that --dim gives.
  const bool isDumped = !options.dump.empty();
  cpu.threads = isDumped ? 0 : ft_num_threads();
  for (auto [name, value] : data.lengths)
    if (!isDumped || llvm::any_of(options.dims, [&](StringRef dim) { return dim.split('=').first.trim() == name.getValue(); }))
      cpu.lengths.push_back({name, value});
  cpu.planSeed = options.planSeed;
  cpu.candidate = options.candidate;
  cpu.poison = ft_threads_are_shuffled();
  if (!options.scheduleFor.empty())
    setForms(cpu.grid.emplace(), options.scheduleFor);
  if (!options.loops.empty())
    cpu.readLoops = [this](etdg::GraphOp) { return readModule(options.loops); };
  return cpu;
}

/// What a GPU's kernels are planned for, and which of their forms.
void Runner::setForms(GpuScheduleOptions &gpu, const std::string &target) {
  using Steps = GpuScheduleOptions::Steps;
  if (!target.empty())
    gpu.target = target;
  gpu.multiprocessors = options.multiprocessors;
  gpu.steps = options.variant == "steps" ? Steps::always : options.variant == "blocks" ? Steps::never : Steps::choose;
  gpu.planSeed = options.planSeed;
  gpu.candidate = options.candidate;
}

FailureOr<OwningOpRef<ModuleOp>> Runner::readModule(const std::string &file) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = tools::loadInput(file);
  if (!buffer)
    return failure();
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  tools::boundMessages(*sources);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, this->module.getContext());
  if (!module)
    return failure();
  return std::move(module);
}

FailureOr<Compiled> Runner::compile(int64_t candidate, ArrayRef<std::string> skip) {
  const bool isCuda = options.engine == "cuda";
  FailureOr<OwningOpRef<ModuleOp>> copy = copyModule();
  if (failed(copy))
    return failure();
  Compiled made;
  BundleOptions bundling;
  bundling.skip = skip;
  bundling.cpu = makeCpuOptions();
  bundling.cpu.candidate = candidate;
  bundling.report = &made.report;
  bundling.machines = givenMachines();
  bundling.from = Phase::ETDG;
  bundling.validate = tools::isValidating();
  bundling.rounding = tools::getRounding();
  bundling.configure = passes;
  bundling.dump = options.dump;
  std::vector<std::string> targets;
  if (isCuda && options.target.empty())
    llvm::append_range(targets, llvm::map_range(targetsOf(Machine::Kind::GPU), [](StringRef name) { return name.str(); }));
  else
    targets.push_back(isCuda ? options.target.getValue() : "cpu");
  FailureOr<::ft::rt::Bundle> bundle = compileToBundle(**copy, targets, bundling);
  if (failed(bundle))
    return failure();
  made.bundle = std::make_unique<::ft::rt::Bundle>(std::move(*bundle));
  FailureOr<std::unique_ptr<CompiledProgram>> program =
      CompiledProgram::load(*made.bundle, entry.op->getLoc(), isCuda ? FT_CUDA : FT_CPU);
  if (failed(program))
    return failure();
  made.program = std::move(*program);
  SmallVector<const HostArray *> arguments;
  for (const HostArray &array : graphData->arguments)
    arguments.push_back(&array);
  FailureOr<std::unique_ptr<CompiledProgram::Call>> call = made.program->prepare(entry.name, arguments);
  if (failed(call))
    return failure();
  made.call = std::move(*call);
  return std::move(made);
}

namespace {
/// An order or loop distribution that --tune times.
struct Schedule {
  std::string name, code;
  Compiled compiled;
  std::vector<double> seconds = {};

  double median() {
    llvm::sort(seconds);
    return seconds[seconds.size() / 2];
  }
};
} // namespace

/// Times a call of each in turn, so that what else the machine does meets all alike.
static LogicalResult timeInRounds(MutableArrayRef<Schedule> schedules, double limit) {
  const size_t fewest = 5, most = 1000;
  const double begin = now();
  for (size_t round = 0; round <= fewest || (round < most && now() - begin < limit); ++round)
    for (Schedule &schedule : schedules) {
      const double start = now();
      if (failed(schedule.compiled.call->run()))
        return failure();
      if (round > 0) // (the first call pays for pages and threads)
        schedule.seconds.push_back(now() - start);
    }
  return success();
}

FailureOr<Compiled> Runner::tune(std::vector<Tried> &tried) {
  const std::vector<std::string> skip(options.skip.begin(), options.skip.end());
  std::vector<Schedule> schedules;
  auto add = [&](std::string name, FailureOr<Compiled> compiled) {
    if (failed(compiled))
      return failure();
    std::string code = compiled->bundle->serialize();
    if (llvm::none_of(schedules, [&](const Schedule &other) { return other.code == code; }))
      schedules.push_back({std::move(name), std::move(code), std::move(*compiled)});
    return success();
  };
  if (failed(add("the compiler's choice", compile(/*candidate=*/-1, skip))))
    return failure();
  {
    // What the compiler refuses from now on is no error: it is not there, or not possible.
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    (void)add("loops as written", compile(/*candidate=*/-1, {"coarsen", "reorder"}));
    for (int64_t rank = 0; succeeded(add("candidate " + std::to_string(rank), compile(rank, skip)));)
      ++rank;
  }
  if (failed(timeInRounds(schedules, options.benchSeconds)))
    return failure();
  const double noise = 0.97; // a gain of less is no gain
  const double usual = schedules.front().median();
  Schedule *best = &*llvm::min_element(schedules, [](Schedule &a, Schedule &b) { return a.median() < b.median(); });
  if (best->median() > noise * usual)
    best = &schedules.front();
  for (Schedule &schedule : schedules)
    tried.push_back({schedule.name + (&schedule == best ? " (taken)" : ""), llvm::join(schedule.compiled.report.plans, "; "), schedule.median()});
  llvm::stable_sort(tried, [](const Tried &a, const Tried &b) { return a.seconds < b.seconds; });
  return std::move(best->compiled);
}

FailureOr<Outcome> Runner::runCompiled() {
  Outcome outcome;
  const bool isCuda = options.engine == "cuda";
  int32_t devices = 0;
  // A machine without a device says so before it compiles, but for phases that are to be written.
  if (isCuda && options.dump.empty() && ft_device_count(FT_CUDA, &devices) != FT_OK)
    return emitError(wholeFile(module.getLoc())) << ft_last_error();
  double begin = now(), cpuBegin = cpuNow();
  FailureOr<Compiled> compiled =
      options.tune ? tune(outcome.tried) : compile(options.candidate, std::vector<std::string>(options.skip.begin(), options.skip.end()));
  if (failed(compiled))
    return failure();
  outcome.compileSeconds = now() - begin;
  outcome.compileCpuSeconds = cpuNow() - cpuBegin;
  int64_t barriers = 0;
  if (failed(repeat(outcome, [&] {
        barriers = ft_barrier_count();
        return compiled->call->run();
      })))
    return failure();
  barriers = ft_barrier_count() - barriers;
  if (!options.trace.empty()) {
    FailureOr<std::string> trace = compiled->call->trace();
    if (failed(trace))
      return failure();
    outcome.trace = std::move(*trace);
  }
  FailureOr<std::vector<HostArray>> results = compiled->call->results();
  if (failed(results))
    return failure();
  outcome.results = std::move(*results);
  if (isCuda)
    return outcome;
  FailureOr<uint64_t> workspace = compiled->call->workspaceBytes();
  if (failed(workspace))
    return failure();
  outcome.figures = {{"instructions", compiled->report.instructions},
                     {"code_bytes", compiled->report.codeBytes},
                     {"barriers", barriers},
                     {"intermediate_bytes", int64_t(*workspace)},
                     {"kernels", int64_t(compiled->bundle->entries.front().plans.front().steps.size())}};
  outcome.plans = std::move(compiled->report.plans);
  outcome.predictedSeconds = compiled->report.estimatedSeconds;
  return outcome;
}

FailureOr<Outcome> Runner::runEmulated() {
  Outcome outcome;
  EmulatorOptions emulator;
  emulator.validate = tools::isValidating();
  emulator.rounding = tools::getRounding();
  emulator.configure = passes;
  emulator.dump = options.dump;
  setForms(emulator.gpu, options.target);
  emulator.gpu.partition = options.partition;
  if (!options.kernels.empty())
    emulator.readKernels = [this] { return readModule(options.kernels); };
  emulator.interpretTiles = options.engine == "interpret-tile";
  emulator.seed = options.seed;
  emulator.machines = givenMachines();
  emulator.skip.assign(options.skip.begin(), options.skip.end());
  FailureOr<OwningOpRef<ModuleOp>> owner = copyModule();
  if (failed(owner))
    return failure();
  FailureOr<std::unique_ptr<EmulatedProgram>> program = EmulatedProgram::compile(**owner, entry.name, emulator);
  if (failed(program))
    return failure();
  SmallVector<const HostArray *> arguments;
  for (const HostArray &array : graphData->arguments)
    arguments.push_back(&array);
  if (failed((*program)->prepare(arguments)) || failed(repeat(outcome, [&] { return (*program)->run(); })))
    return failure();
  outcome.figures["launches"] = (*program)->numLaunches();
  outcome.figures["gpu_threads"] = (*program)->numThreads();
  if (emulator.interpretTiles)
    outcome.figures["tile_operations"] = (*program)->numTileOperations();
  outcome.results = (*program)->results();
  return outcome;
}

LogicalResult Runner::makeGraphData() {
  bool joins = false, checks = false;
  module.walk([&](Operation *op) {
    joins |= isa<FlattenOp, SplitOp>(op);
    checks |= isa<SplitOp, mlir::ft::CastOp>(op);
  });
  bool needsGraph = options.engine != "interpret" || !options.order.empty() || !options.to.empty();
  if (!needsGraph || !isa<func::FuncOp>(entry.op))
    return success();
  if (!entry.ragged.empty()) {
    graphData = &mergedData;
    return padData(entry, data, mergedData);
  }
  if (!joins && !checks)
    return success();
  OwningOpRef<ModuleOp> owner;
  FailureOr<etdg::GraphOp> graph = makePhase(owner, Phase::ETDG, /*isDumped=*/false);
  if (failed(graph))
    return failure();
  // Compiled code checks lengths, too; here a check has a place in the program.
  Data ofGraph;
  ofGraph.lengths = data.lengths;
  if (hasMergedLengths(entry, *graph)) {
    toGraphShapes(entry, *graph, ofGraph);
    // What is compiled into a bundle takes the program's shapes.
    if (options.engine != "cpu" && options.engine != "cuda") {
      mergedData = data;
      toGraphShapes(entry, *graph, mergedData);
      graphData = &mergedData;
    }
  }
  interp::LengthBinding binding;
  for (auto &[name, value] : ofGraph.lengths)
    binding.names[name] = value;
  return interp::checkBounds(*graph, binding);
}

FailureOr<Outcome> Runner::runEngine() {
  if (failed(makeGraphData()))
    return failure();
  FailureOr<Outcome> outcome = runChosen();
  if (succeeded(outcome) && (options.bench || options.json))
    outcome->flops = countProducts();
  if (succeeded(outcome) && !entry.ragged.empty() && graphData != &data)
    addRaggedOffsets(entry, data, outcome->results);
  else if (succeeded(outcome) && graphData != &data)
    toEntryShapes(entry, data.lengths, outcome->results);
  return outcome;
}

std::optional<double> Runner::countProducts() {
  OwningOpRef<ModuleOp> owner;
  FailureOr<etdg::GraphOp> graph = makePhase(owner, Phase::ETDG, /*isDumped=*/false);
  if (failed(graph))
    return std::nullopt;
  etdg::LengthValues lengths;
  for (auto &[name, value] : graphData->lengths)
    lengths[name.getValue()] = value;
  return countFlops(*graph, lengths);
}

FailureOr<Outcome> Runner::runChosen() {
  if (options.engine == "cpu" || options.engine == "cuda")
    return runCompiled();
  if (options.isEmulated())
    return runEmulated();
  Outcome outcome;
  interp::RunOptions run;
  run.truth = options.truth;
  run.seed = options.seed;
  if (options.order == "random")
    run.order = interp::Order::Random;
  else if (options.order == "declared")
    run.order = interp::Order::Declared;
  if (failed(repeat(outcome, [&] {
        FailureOr<std::vector<HostArray>> results = interpret(run, !options.order.empty() || !options.to.empty());
        if (failed(results))
          return failure();
        outcome.results = std::move(*results);
        return success();
      })))
    return failure();
  return outcome;
}

//===----------------------------------------------------------------------===//
// The tool
//===----------------------------------------------------------------------===//

/// `--measure-machine`.
static int writeMachine(StringRef path, DialectRegistry &registry) {
  FailureOr<std::string> text = measureMachine(registry);
  return succeeded(text) && writeOutput(path, *text) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int failWith(const ::ft::rt::Status &status) {
  llvm::errs() << "ft-run: error: " << status.message() << "\n";
  return EXIT_FAILURE;
}

/// Runs one entry, compares and reports. What cannot be written is said before the run, and nothing is there before
/// all is.
static int runEntry(RunOptions &options, ModuleOp module, Entry &entry, Data &data, double parseSeconds) {
  ::ft::rt::OutputFiles files;
  for (const std::string &path : options.outs)
    if (auto status = files.open(path); !status.ok())
      return failWith(status);
  Runner runner(options, module, entry, data);
  FailureOr<Outcome> outcome = runner.runEngine();
  if (failed(outcome))
    return EXIT_FAILURE;
  Agreement agreement;
  if (!options.compare.empty()) {
    interp::RunOptions asReference;
    asReference.truth = options.compare == "truth";
    FailureOr<std::vector<HostArray>> reference = runner.interpretReference(asReference);
    if (failed(reference))
      return EXIT_FAILURE;
    tools::Judge judge(*reference, [&](const interp::RunOptions &run) { return runner.interpretReference(run); });
    agreement = compareResults(options, entry, outcome->results, *reference, judge);
  }
  if (agreement.equal) {
    for (size_t i = 0; i < files.size(); ++i)
      if (auto status = ::ft::rt::writeNpy(files, i, outcome->results[i]); !status.ok())
        return failWith(status);
    if (auto status = files.commit(); !status.ok())
      return failWith(status);
  }
  if (!options.trace.empty() && !writeOutput(options.trace, outcome->trace))
    return EXIT_FAILURE;
  if (options.json)
    reportJson(options, entry, data, *outcome, parseSeconds, agreement);
  else
    reportText(options, entry, data, *outcome, agreement);
  if (!flushOutput(llvm::outs(), "standard output"))
    return EXIT_FAILURE;
  return agreement.equal ? EXIT_SUCCESS : EXIT_FAILURE;
}

int mlir::ft::runMain(int argc, char **argv, DialectRegistry &registry) {
  setUpTool("ft-run");
  tools::registerInputOptions();
  tools::registerPhaseOptions();
  tools::registerPassOptions();
  RunOptions options;
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Run a FractalTensor program\n");
  if (options.measureMachine.getNumOccurrences())
    return writeMachine(options.measureMachine, registry);
  if (options.file.empty()) {
    llvm::errs() << "ft-run: error: expected a FILE.mlir (- is the input); --help lists the options\n";
    return EXIT_FAILURE;
  }
  DataOptions dataOptions;
  if (!checkOptions(options) || !parseLengths(options, dataOptions))
    return EXIT_FAILURE;
  dataOptions.argumentFiles.assign(options.args.begin(), options.args.end());
  dataOptions.seed = options.seed;

  double begin = now();
  std::unique_ptr<llvm::MemoryBuffer> buffer = tools::loadInput(options.file);
  if (!buffer)
    return EXIT_FAILURE;
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // An error names its place; the operation's generic form would bury it.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  tools::SourceMessages diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return EXIT_FAILURE;
  double parseSeconds = now() - begin;

  FailureOr<Entry> entry = findEntry(*module, options.entry);
  if (failed(entry))
    return EXIT_FAILURE;
  if (size_t arrays = entry->results.size() + entry->raggedResults.size(); options.outs.size() > arrays) {
    entry->op->emitError() << "gives " << arrays << " arrays, but --out was given " << options.outs.size() << " times";
    return EXIT_FAILURE;
  }
  FailureOr<Data> data = makeData(*entry, dataOptions);
  if (failed(data))
    return EXIT_FAILURE;
  return runEntry(options, *module, *entry, *data, parseSeconds);
}
