//===- RunMain.cpp - ft-run -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program on an engine: on given or generated arrays, at given lengths,
// compared with the reference interpreter, timed. Exit status 0 only if it ran
// and compared equal.
//
//===----------------------------------------------------------------------===//

#include "MeasureMachine.h"
#include "Output.h"
#include "RaggedData.h"
#include "SourceMessages.h"
#include "ToolOptions.h"

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
struct Options {
  cl::OptionCategory category{"ft-run"};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"), cl::cat(category)};
  cl::opt<std::string> entry{"entry", cl::desc("the function to run (default: the only one, or @main)"),
                             cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> engine{"engine", cl::desc("interpret, cpu (default), cuda, or for tests: emulate, a GPU's kernels thread by thread; "
                                                "interpret-tile, the same with operations on tiles by their definitions"), cl::init("cpu"), cl::cat(category)};
  cl::opt<bool> truth{"truth", cl::desc("The interpreter computes in f64"), cl::cat(category)};
  cl::opt<std::string> target{"target", cl::desc("cpu (default), sm_80 or sm_90a"), cl::init(""), cl::cat(category)};
  cl::opt<std::string> machine{"machine", cl::desc("what to plan for: a machine's name (cpu, a100, h200) or file (default: the "
                                                   "target's own)"),
                               cl::value_desc("name|file"), cl::cat(category)};
  cl::opt<std::string> measureMachine{"measure-machine",
                                      cl::desc("run no program, but measure this processor and write its machine file (- is the output)"),
                                      cl::value_desc("file.json"), cl::cat(category)};
  cl::opt<std::string> order{"order", cl::desc("of the graph's interpreter: dataflow, random or declared; of the CPU's threads: random, one at a "
                               "time, by the seed, with fresh memory all ones"), cl::cat(category)};
  cl::opt<std::string> to{"to", cl::desc("of the graph's interpreter: the phase to run: etdg (default), coarsen, reorder, partition, schedule, storage or tile"), cl::value_desc("phase"),
                          cl::cat(category)};
  cl::list<std::string> skip{"skip", cl::CommaSeparated, cl::desc("phases to leave out: coarsen, reorder, storage"),
                             cl::value_desc("phase,..."), cl::cat(category)};
  cl::list<std::string> args{"arg", cl::desc("an argument's array, in order"), cl::value_desc("x.npy"), cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("of generated arguments and of orders"), cl::init(0), cl::cat(category)};
  cl::list<std::string> dims{"dim", cl::desc("a length"), cl::value_desc("NAME=VALUE"), cl::cat(category)};
  cl::list<std::string> outs{"out", cl::desc("where to write a result, in order"), cl::value_desc("y.npy"), cl::cat(category)};
  cl::opt<std::string> compare{"compare", cl::desc("interpret: compare with the reference interpreter; truth: with its f64 mode"),
                               cl::cat(category)};
  cl::opt<double> rtol{"rtol", cl::desc("relative tolerance (default: by element type)"), cl::init(-1), cl::cat(category)};
  cl::opt<double> atol{"atol", cl::desc("absolute tolerance (default: by element type)"), cl::init(-1), cl::cat(category)};
  cl::opt<uint64_t> planSeed{"plan-seed", cl::desc("cpu, emulate: any legal arrangement of loops, by this seed, not the cheapest"),
                             cl::init(0), cl::cat(category), cl::Hidden};
  cl::opt<int64_t> candidate{"candidate", cl::desc("the order or division of this rank, not the cheapest"), cl::init(-1),
                             cl::cat(category), cl::Hidden};
  cl::opt<std::string> loops{"loops", cl::desc("cpu: run these loops, as --ft-compile=to=tile prints them, in the place of the "
                                               "program's own"), cl::value_desc("loops.mlir"), cl::cat(category)};
  cl::opt<std::string> kernels{"kernels", cl::desc("emulate, interpret-tile: run these kernels, as --ft-compile=\"to=threads target=...\" prints "
                                                   "them, in the place of the program's own"), cl::value_desc("kernels.mlir"),
                               cl::cat(category)};
  cl::opt<std::string> scheduleFor{"schedule-for", cl::desc("cpu: run the loops of a schedule for sm_80 or sm_90a, a core for each thread block"),
                                   cl::value_desc("target"), cl::cat(category), cl::Hidden};
  cl::opt<std::string> variant{"variant", cl::desc("emulate, --schedule-for: generic (default), steps or blocks, as in a bundle"),
                               cl::init("generic"), cl::cat(category), cl::Hidden};
  cl::opt<unsigned> multiprocessors{"multiprocessors", cl::desc("emulate, --schedule-for: of the GPU (default 3)"), cl::init(3),
                                    cl::cat(category), cl::Hidden};
  cl::opt<std::string> dump{"dump", cl::desc("write the module after each phase into this directory, as --ft-compile=\"dump=DIR\" of ft-opt does, and plan as it "
                                             "does: for the machine's cores and lengths that --dim gives"),
                            cl::value_desc("directory"), cl::cat(category)};
  cl::opt<bool> bench{"bench", cl::desc("time it"), cl::cat(category)};
  cl::opt<double> benchSeconds{"bench-seconds", cl::desc("with --bench: about how long to repeat it (default 1)"),
                               cl::init(1.0), cl::cat(category)};
  cl::opt<bool> json{"json", cl::desc("print one JSON object instead of text"), cl::cat(category)};

  /// Whether a GPU's kernels run on this processor.
  bool isEmulated() const { return engine == "emulate" || engine == "interpret-tile"; }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpuNow() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// What a run gave.
struct Outcome {
  std::vector<HostArray> results;
  double compileSeconds = 0;
  double compileCpuSeconds = 0; // of all threads, the same on a busy machine
  std::vector<double> runSeconds;
  std::map<std::string, int64_t> figures; // of one call, by the engine
  std::vector<std::string> plans;         // of the CPU engine's kernels
  double predictedSeconds = 0;
};

class Runner {
public:
  Runner(Options &options, ModuleOp module, const Entry &entry, const Data &data)
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
  FailureOr<std::vector<HostArray>> interpret(const interp::RunOptions &run, bool asGraph);
  /// Calls `once` one time, or as often as a benchmark wants.
  LogicalResult repeat(Outcome &outcome, llvm::function_ref<LogicalResult()> once);

  Options &options;
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

FailureOr<Outcome> Runner::runCompiled() {
  Outcome outcome;
  bool isCuda = options.engine == "cuda";
  int32_t devices = 0;
  // A machine without a device says so before it compiles, but for phases that are to be written.
  if (isCuda && options.dump.empty() && ft_device_count(FT_CUDA, &devices) != FT_OK)
    return emitError(wholeFile(module.getLoc())) << ft_last_error();
  double begin = now(), cpuBegin = cpuNow();
  FailureOr<OwningOpRef<ModuleOp>> copy = copyModule();
  if (failed(copy))
    return failure();
  ModuleOp owner = **copy;
  CpuReport report;
  BundleOptions bundling;
  bundling.skip.assign(options.skip.begin(), options.skip.end());
  bundling.cpu = makeCpuOptions();
  bundling.report = &report;
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
  FailureOr<::ft::rt::Bundle> bundle = compileToBundle(owner, targets, bundling);
  if (failed(bundle))
    return failure();
  FailureOr<std::unique_ptr<CompiledProgram>> program =
      CompiledProgram::load(*bundle, entry.op->getLoc(), isCuda ? FT_CUDA : FT_CPU);
  if (failed(program))
    return failure();
  SmallVector<const HostArray *> arguments;
  for (const HostArray &array : graphData->arguments)
    arguments.push_back(&array);
  FailureOr<std::unique_ptr<CompiledProgram::Call>> call = (*program)->prepare(entry.name, arguments);
  if (failed(call))
    return failure();
  outcome.compileSeconds = now() - begin;
  outcome.compileCpuSeconds = cpuNow() - cpuBegin;
  int64_t barriers = 0;
  if (failed(repeat(outcome, [&] {
        barriers = ft_barrier_count();
        return (*call)->run();
      })))
    return failure();
  barriers = ft_barrier_count() - barriers;
  FailureOr<std::vector<HostArray>> results = (*call)->results();
  if (failed(results))
    return failure();
  outcome.results = std::move(*results);
  if (isCuda)
    return outcome;
  FailureOr<uint64_t> workspace = (*call)->workspaceBytes();
  if (failed(workspace))
    return failure();
  outcome.figures = {{"instructions", report.instructions},
                     {"code_bytes", report.codeBytes},
                     {"barriers", barriers},
                     {"intermediate_bytes", int64_t(*workspace)},
                     {"kernels", int64_t(bundle->entries.front().plans.front().steps.size())}};
  outcome.plans = std::move(report.plans);
  outcome.predictedSeconds = report.estimatedSeconds;
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
  if (succeeded(outcome) && !entry.ragged.empty() && graphData != &data)
    addRaggedOffsets(entry, data, outcome->results);
  else if (succeeded(outcome) && graphData != &data)
    toEntryShapes(entry, data.lengths, outcome->results);
  return outcome;
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

/// Why no file can be put there, or nothing: before the program runs, not after.
static std::string whyNotWritable(const std::string &path) {
  namespace fs = llvm::sys::fs;
  if (fs::is_directory(path))
    return "is a folder";
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  if (!fs::is_directory(folder))
    return ("there is no folder '" + folder + "'").str();
  // What exists and is no regular file is written to; all else is replaced.
  bool isSpecial = fs::exists(path) && !fs::is_regular_file(path);
  if (std::error_code code = fs::access(isSpecial ? llvm::StringRef(path) : folder, fs::AccessMode::Write))
    return "cannot be written: " + code.message();
  return "";
}

static bool checkOptions(Options &options) {
  auto bad = [](const llvm::Twine &message) {
    llvm::errs() << "ft-run: error: " << message << "\n";
    return false;
  };
  if (!llvm::is_contained({"interpret", "cpu", "cuda", "emulate", "interpret-tile"}, options.engine.getValue()))
    return bad("--engine=" + options.engine + ": expected interpret, cpu, cuda, emulate or interpret-tile");
  if (options.truth && options.engine != "interpret")
    return bad("--truth is for --engine=interpret");
  if (!llvm::is_contained({"generic", "steps", "blocks"}, options.variant.getValue()))
    return bad("--variant=" + options.variant + ": expected generic, steps or blocks");
  if (options.multiprocessors < 1 || options.multiprocessors > 1024)
    return bad("--multiprocessors: expected a number from 1 to 1024");
  bool cuda = options.engine == "cuda" || options.isEmulated();
  if (!options.target.empty() && (cuda ? !isGpuTarget(options.target) : options.target != "cpu"))
    return bad("--target=" + options.target + ": --engine=" + options.engine + " takes " + (cuda ? listTargetsOf(Machine::Kind::GPU) : "cpu"));
  if (!options.machine.empty()) {
    llvm::Expected<MachineRef> machine = Machine::find(options.machine);
    if (!machine) { // (a file's errors say where they are)
      llvm::errs() << "ft-run: error: --machine=" << options.machine << ":\n" << llvm::toString(machine.takeError()) << "\n";
      return false;
    }
    bool isGpu = options.engine == "cuda" || options.isEmulated();
    std::string target = !options.target.empty() ? options.target.getValue() : isGpu ? "" : "cpu";
    bool serves = target.empty() ? (*machine)->kind == Machine::Kind::GPU : (*machine)->serves(target);
    if (!serves)
      return bad("--machine=" + options.machine + ": it serves " +
                 ((*machine)->targets.empty() ? "no target" : llvm::join((*machine)->targets, ", ")) + ", --engine=" +
                 options.engine + " wants " + (isGpu ? "a GPU's" : "cpu"));
  }
  if (!options.order.empty() && !llvm::is_contained({"dataflow", "random", "declared"}, options.order.getValue()))
    return bad("--order=" + options.order + ": expected dataflow, random or declared");
  if (!options.order.empty() && options.engine != "interpret" && (options.engine != "cpu" || options.order != "random"))
    return bad("--order is the interpreter's: add --engine=interpret (the CPU's threads have --order=random)");
  if (!options.scheduleFor.empty() && (options.engine != "cpu" || !isGpuTarget(options.scheduleFor)))
    return bad("--schedule-for=" + options.scheduleFor + (options.engine == "cpu" ? ": expected " + listTargetsOf(Machine::Kind::GPU)
                                                                                : ": --engine=cpu runs such loops"));
  if (options.engine == "cpu" && options.order == "random")
    ft_shuffle_threads(int64_t(options.seed >> 1));
  if (!options.loops.empty() && options.engine != "cpu")
    return bad("--loops are the CPU's: --engine=" + options.engine + " runs the program's own");
  if (!options.kernels.empty() && !options.isEmulated())
    return bad("--kernels are a GPU's: --engine=" + options.engine + " runs the program's own");
  if (!options.to.empty()) {
    std::optional<Phase> phase = symbolizePhase(options.to);
    if (!phase || *phase < Phase::ETDG)
      return bad("--to=" + options.to + ": expected a phase from etdg on (" + listPhases() + ")");
    if (options.engine != "interpret")
      return bad("--to is the interpreter's, engines run every phase: add --engine=interpret");
  }
  for (const std::string &name : options.skip)
    if (!llvm::is_contained({"coarsen", "reorder", "partition", "schedule", "storage"}, name))
      return bad("--skip=" + name + ": expected coarsen, reorder, partition, schedule or storage");
  if (!options.compare.empty() && options.compare != "interpret" && options.compare != "truth")
    return bad("--compare=" + options.compare + ": expected interpret or truth");
  for (auto [name, option] : {std::pair("rtol", &options.rtol), std::pair("atol", &options.atol)})
    if (option->getNumOccurrences() && !(option->getValue() >= 0 && std::isfinite(option->getValue())))
      return bad(llvm::Twine("--") + name + ": expected a finite number that is not negative");
  if (!options.dump.empty() && !llvm::sys::fs::is_directory(options.dump.getValue()))
    return bad("--dump: no such directory: '" + options.dump + "'");
  if (!options.dump.empty() && !options.loops.empty())
    return bad("--dump has a program's own phases: --loops runs others");
  for (const std::string &path : options.outs)
    if (std::string reason = whyNotWritable(path); !reason.empty())
      return bad("--out=" + llvm::Twine(path) + ": " + reason);
  return true;
}

/// `--measure-machine`.
static int writeMachine(StringRef path, DialectRegistry &registry) {
  FailureOr<std::string> text = measureMachine(registry);
  return succeeded(text) && writeOutput(path, *text) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool parseLengths(Options &options, DataOptions &data) {
  for (const std::string &text : options.dims) {
    auto [name, value] = llvm::StringRef(text).split('=');
    int64_t number = 0;
    if (name.trim().empty() || value.trim().getAsInteger(10, number)) {
      llvm::errs() << "ft-run: error: --dim " << text << ": expected NAME=VALUE with an integer that fits 64 bits\n";
      return false;
    }
    data.lengths.push_back({name.trim().str(), number});
  }
  return true;
}

namespace {
/// How the results agree with those of the reference.
struct Agreement {
  bool equal = true;
  double maxError = 0; // as a share of the tolerance
  std::string text;    // a line for each result
  llvm::json::Array entries;
};
} // namespace

static llvm::json::Value finiteOrNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

/// By the tolerances of the command line, if there are any, or against the truth: by these alone.
static Agreement compareResults(const Options &options, const Entry &entry, ArrayRef<HostArray> results,
                                ArrayRef<HostArray> reference, tools::Judge &judge) {
  const bool isJudged = options.rtol < 0 && options.atol < 0 && options.compare == "interpret";
  Agreement all;
  for (auto [i, result] : llvm::enumerate(results)) {
    ::ft::rt::Tolerance tolerance = getTolerance(entry, i, result.dtype);
    if (options.rtol >= 0)
      tolerance.rtol = options.rtol;
    if (options.atol >= 0)
      tolerance.atol = options.atol;
    ::ft::rt::Comparison comparison = isJudged ? judge.judge(i, result, tolerance) : ::ft::rt::compare(result, reference[i], tolerance);
    all.equal &= comparison.equal;
    all.maxError = std::max(all.maxError, comparison.maxScaled);
    all.text += "result " + std::to_string(i) + " " + result.describe() + ": " + comparison.message + "\n";
    all.entries.push_back(llvm::json::Object{{"result", static_cast<int64_t>(i)},
                                             {"type", result.describe()},
                                             {"equal", comparison.equal},
                                             {"max_error", finiteOrNull(comparison.maxError)},
                                             {"of_tolerance", finiteOrNull(comparison.maxScaled)},
                                             {"message", comparison.message}});
  }
  return all;
}

static double bestOf(const Outcome &outcome) { return outcome.runSeconds.empty() ? 0 : outcome.runSeconds.front(); }

static double medianOf(const Outcome &outcome) {
  return outcome.runSeconds.empty() ? 0 : outcome.runSeconds[outcome.runSeconds.size() / 2];
}

/// `--json`: one object for the run.
static void reportJson(const Options &options, const Entry &entry, const Data &data, const Outcome &outcome,
                       double parseSeconds, Agreement &agreement) {
  llvm::json::Object lengths;
  for (StringAttr name : entry.names)
    lengths[name.getValue()] = data.lengths.lookup(name);
  llvm::json::Object report{{"file", options.file.getValue()},
                            {"entry", entry.name},
                            {"engine", options.engine.getValue()},
                            {"threads", options.engine == "cpu" ? static_cast<int64_t>(ft_num_threads()) : 1},
                            {"lengths", std::move(lengths)},
                            {"parse_seconds", parseSeconds},
                            {"compile_seconds", outcome.compileSeconds},
                            {"run_seconds", bestOf(outcome)},
                            {"run_seconds_median", medianOf(outcome)},
                            {"runs", static_cast<int64_t>(outcome.runSeconds.size())}};
  for (auto &[name, value] : outcome.figures)
    report[name] = value;
  if (outcome.compileCpuSeconds > 0)
    report["compile_cpu_seconds"] = outcome.compileCpuSeconds;
  if (!outcome.plans.empty()) {
    report["predicted_seconds"] = outcome.predictedSeconds;
    report["plans"] = llvm::json::Array(outcome.plans);
  }
  if (!options.compare.empty()) {
    report["equal"] = agreement.equal;
    report["of_tolerance"] = finiteOrNull(agreement.maxError);
    report["comparisons"] = std::move(agreement.entries);
  }
  llvm::outs() << llvm::json::Value(std::move(report)) << "\n";
}

static void reportText(const Options &options, const Entry &entry, const Data &data, const Outcome &outcome,
                       const Agreement &agreement) {
  llvm::outs() << "@" << entry.name << " on " << options.engine.getValue();
  for (StringAttr name : entry.names)
    llvm::outs() << " " << name.getValue() << "=" << data.lengths.lookup(name);
  llvm::outs() << "\n";
  if (options.compare.empty())
    for (auto [i, result] : llvm::enumerate(outcome.results))
      llvm::outs() << "result " << i << " " << result.describe() << "\n";
  llvm::outs() << agreement.text;
  if (options.bench) {
    llvm::outs() << llvm::format("compile %.3f s, run %.6f s best, %.6f s median of %zu\n", outcome.compileSeconds,
                                 bestOf(outcome), medianOf(outcome), outcome.runSeconds.size());
    for (auto &[name, value] : outcome.figures)
      llvm::outs() << name << " " << value << "\n";
    for (const std::string &plan : outcome.plans)
      llvm::outs() << plan << "\n";
  }
  if (!options.compare.empty())
    llvm::outs() << (agreement.equal ? "equal\n" : "NOT EQUAL\n");
}

static int failWith(const ::ft::rt::Status &status) {
  llvm::errs() << "ft-run: error: " << status.message() << "\n";
  return EXIT_FAILURE;
}

/// Runs one entry, compares and reports. What cannot be written is said before the run, and nothing is there before
/// all is.
static int runEntry(Options &options, ModuleOp module, Entry &entry, Data &data, double parseSeconds) {
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
  Options options;
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
