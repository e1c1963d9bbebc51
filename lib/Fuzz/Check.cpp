//===- Check.cpp - every engine agrees on a program -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Fuzz/Check.h"
#include "CheckGradients.h"
#include "CompileGraphs.h"
#include "KeptErrors.h"

#include "ft/Analysis/GraphVerifier.h"
#include "ft/Engine/Emulator/EmulatedProgram.h"
#include "ft/Fuzz/Random.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Interpreter/FTInterpreter.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Pipelines/Targets.h"
#include "ft/Support/PartitionModes.h"
#include "ft/Tools/Judge.h"
#include "ft/Tools/RunProgram.h"
#include "ft/Validator/Validator.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/xxhash.h"

#include <array>
#include <chrono>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;
using ::ft::rt::HostArray;

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the time of its life to a stage.
struct Timed {
  explicit Timed(double &total) : total(total), begin(now()) {}
  ~Timed() { total += now() - begin; }
  double &total, begin;
};

/// One run: lengths, arguments, how many results the reference gives, and who compares with them.
struct Run {
  tools::Data data;
  size_t numResults;
  std::unique_ptr<tools::Judge> judge;
};

/// One program on its way through the stages.
struct Subject {
  Subject(Program &program, Verdict &verdict, const CheckOptions &options, StageTimes &times)
      : program(program), verdict(verdict), options(options), times(times),
        context(program.module->getContext()) {}

  LogicalResult roundTrip(OwningOpRef<ModuleOp> &module, const char *what, bool simplifies);
  LogicalResult makeRuns();
  LogicalResult refuseBlocks();
  LogicalResult convert();
  LogicalResult runGraph();
  LogicalResult runPhases(bool forGpu);
  LogicalResult runEmulated();
  LogicalResult compareWith(const Run &run, unsigned binding, ArrayRef<HostArray> results,
                            const std::string &stage);
  LogicalResult fail(const std::string &stage, const std::string &message, int binding = -1) {
    verdict = {Outcome::Failed, stage, message, binding};
    return failure();
  }

  Program &program;
  Verdict &verdict;
  const CheckOptions &options;
  StageTimes &times;
  MLIRContext *context;
  std::vector<Run> runs;
  OwningOpRef<ModuleOp> converted;
  etdg::GraphOp graph;
  tools::Entry entry;
};
} // namespace

static std::string textOf(Operation *op, bool generic = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  op->print(os, generic ? flags.printGenericOpForm() : flags);
  return text;
}

/// Prints and parses. Affine expressions may come back simplified; after a few times
/// nothing changes any more, and what was read takes the module's place.
LogicalResult Subject::roundTrip(OwningOpRef<ModuleOp> &module, const char *what, bool simplifies) {
  Timed timed(times.roundTrip);
  KeptErrors errors(context);
  if (failed(verify(*module)))
    return fail(std::string("verification of ") + what, errors.text);
  // The generic form shows all there is, and no names that a printer chose.
  std::string all = textOf(*module, true);
  for (bool generic : {true, false}) {
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(generic ? all : textOf(*module), context);
    const char *form = generic ? "generic form of " : "printed form of ";
    if (!parsed)
      return fail(std::string(form) + what, "does not parse: " + errors.text);
    std::string found = textOf(*parsed, true);
    if (found == all)
      continue;
    bool stable = false;
    for (int times = 0; simplifies && !stable && times < 4; ++times) {
      OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(textOf(*parsed), context);
      if (!again)
        return fail(std::string(form) + what, "does not parse again: " + errors.text);
      std::string next = textOf(*again, true);
      stable = next == found;
      parsed = std::move(again);
      found = std::move(next);
    }
    if (!stable)
      return fail(std::string(form) + what, "parses as another program");
    module = std::move(parsed);
    all = std::move(found);
  }
  return success();
}

LogicalResult Subject::makeRuns() {
  Timed timed(times.interpreter);
  KeptErrors errors(context);
  FailureOr<tools::Entry> found = tools::findEntry(*program.module, program.name);
  if (failed(found))
    return fail("entry", errors.text);
  if (program.bindings.empty())
    program.bindings.emplace_back();
  for (unsigned i = 0; i < program.bindings.size(); ++i) {
    tools::DataOptions dataOptions;
    dataOptions.seed = options.seed + i;
    dataOptions.lengths = program.bindings[i];
    FailureOr<tools::Data> data = tools::makeData(*found, dataOptions);
    if (failed(data))
      return fail("data", errors.text, i);
    if (i < program.arguments.size())
      data->arguments = program.arguments[i];
    interp::Lengths lengths;
    for (auto &[name, value] : data->lengths)
      lengths[name.getValue()] = value;
    FailureOr<std::vector<HostArray>> results =
        interp::runFT(*program.module, program.name, lengths, data->arguments);
    if (failed(results))
      return fail("interpreter", errors.text, i);
    // (The graph's shapes of the data may be others.)
    auto interpret = [&program = program, lengths, arguments = data->arguments](const interp::RunOptions &run) {
      return interp::runFT(*program.module, program.name, lengths, arguments, run);
    };
    size_t numResults = results->size();
    runs.push_back({std::move(*data), numResults, std::make_unique<tools::Judge>(std::move(*results), interpret)});
  }
  entry = std::move(*found);
  return success();
}

/// What a graph cannot express (docs/rationale/etdg.md, What it refuses): products of lengths, ragged levels.
static bool isDocumentedRefusal(StringRef message) {
  return message.contains("product of lengths") || message.contains("ragged");
}

/// Some of upstream's passes, by the program's name and a number: most programs meet one or two of them
/// after each phase, where a compiler around ours would put them. Two are not among them:
/// linalg-fold-unit-extent-dims takes an output that a map writes in part for one written whole, and loses
/// the rest; linalg-fuse-elementwise-ops puts an operation that reads its own output into loops that the
/// output does not have, where each iteration reads what the one before has written.
static void addUpstreamPasses(OpPassManager &pm, StringRef name, unsigned phase) {
  Random rng(llvm::xxh3_64bits(name) + phase);
  for (unsigned count = rng.weighted({40, 40, 20}); count > 0; --count)
    switch (rng.below(5)) {
    case 0:
      pm.addPass(createCanonicalizerPass());
      break;
    case 1:
      pm.addPass(createCSEPass());
      break;
    case 2:
      pm.addPass(createSCCPPass());
      break;
    case 3:
      pm.addPass(createLinalgGeneralizeNamedOpsPass());
      break;
    default:
      pm.addPass(createConvertElementwiseToLinalgPass());
      break;
    }
}

/// The program as a function of two blocks, which no conversion may take for one of its first.
LogicalResult Subject::refuseBlocks() {
  if (llvm::xxh3_64bits(program.name) % 8 != 3)
    return success();
  OwningOpRef<ModuleOp> copy = program.module->clone();
  auto function = copy->lookupSymbol<func::FuncOp>(program.name);
  Block &entry = function.getBody().front();
  Random rng(llvm::xxh3_64bits(program.name));
  Block::iterator at = entry.begin();
  std::advance(at, rng.below(entry.getOperations().size()));
  Block *rest = entry.splitBlock(at);
  OpBuilder builder = OpBuilder::atBlockEnd(&entry);
  cf::BranchOp::create(builder, function.getLoc(), rest);
  KeptErrors errors(context);
  PassManager pm(context);
  buildConversionsToETDG(pm);
  if (succeeded(pm.run(*copy)) || !StringRef(errors.text).contains("(V5)"))
    return fail("several blocks", "expected to be refused by (V5), found: " + errors.text);
  return success();
}

LogicalResult Subject::convert() {
  {
    Timed timed(times.conversion);
    KeptErrors errors(context);
    converted = program.module->clone();
    PassManager pm(context);
    if (options.upstream) {
      PipelineOptions first;
      first.to = Phase::FT;
      buildPipeline(pm, first);
      addUpstreamPasses(pm, program.name, 1);
    }
    buildToETDGPipeline(pm);
    if (options.upstream)
      addUpstreamPasses(pm, program.name, 2);
    if (failed(pm.run(*converted))) {
      if (!isDocumentedRefusal(errors.text))
        return fail("conversion", errors.text);
      verdict = {Outcome::Refused, "conversion", errors.text, -1};
      return failure();
    }
  }
  if (options.roundTrip && failed(roundTrip(converted, "the graph", /*simplifies=*/true)))
    return failure();
  graph = dyn_cast_or_null<etdg::GraphOp>(converted->lookupSymbol(program.name));
  if (!graph)
    return fail("conversion", "did not become a graph");
  // From here on all run the graph, which may take two lengths as one.
  if (tools::hasMergedLengths(entry, graph))
    for (Run &run : runs)
      tools::toGraphShapes(entry, graph, run.data);
  if (options.verifyGraph) {
    Timed timed(times.verification);
    KeptErrors errors(context);
    for (auto one : converted->getOps<etdg::GraphOp>())
      if (failed(etdg::verifyGraph(one)))
        return fail("etdg-verify", errors.text);
  }
  return success();
}

LogicalResult Subject::compareWith(const Run &run, unsigned binding, ArrayRef<HostArray> results,
                                   const std::string &stage) {
  if (results.size() != run.numResults)
    return fail(stage, "gives " + std::to_string(results.size()) + " arrays", binding);
  for (auto [i, result] : llvm::enumerate(results)) {
    ::ft::rt::Comparison comparison = run.judge->judge(i, result, tools::getTolerance(entry, i, result.dtype));
    if (!comparison.equal)
      return fail(stage, "result " + std::to_string(i) + ": " + comparison.message, binding);
  }
  return success();
}

LogicalResult Subject::runGraph() {
  Timed timed(times.graphInterpreter);
  for (auto [i, run] : llvm::enumerate(runs)) {
    interp::Lengths lengths;
    for (auto &[name, value] : run.data.lengths)
      lengths[name.getValue()] = value;
    for (auto [order, name] : {std::pair{interp::Order::Dataflow, "dataflow"},
                               {interp::Order::Random, "random"},
                               {interp::Order::Declared, "declared"}}) {
      KeptErrors errors(context);
      interp::RunOptions runOptions;
      runOptions.order = order;
      runOptions.seed = options.seed + i;
      std::string stage = std::string("graph interpreter, ") + name + " order";
      FailureOr<std::vector<HostArray>> results =
          interp::runETDG(*converted, program.name, lengths, run.data.arguments, runOptions);
      if (failed(results))
        return fail(stage, errors.text, i);
      if (failed(compareWith(run, i, *results, stage)))
        return failure();
    }
  }
  return success();
}

/// How the program is cut into kernels: one in four is not.
static std::string drawPartition(StringRef name) {
  const size_t drawn = llvm::xxh3_64bits(name) / 36 % (std::size(partitionModes) + 1);
  return drawn == 0 ? "" : partitionModes[drawn - 1].str();
}

/// Through the phases that are built, one by one. The graph itself is left alone. For a GPU those up to the
/// schedule are the same.
LogicalResult Subject::runPhases(bool forGpu) {
  OwningOpRef<ModuleOp> module = converted->clone();
  etdg::GraphSnapshot before = etdg::GraphSnapshot::take(graph);
  // Any order, any loop distribution and any legal arrangement of loops: each has to be proved, and to give the same results.
  CpuPipelineOptions cpu;
  GpuPipelineOptions gpu;
  cpu.planSeed = gpu.planSeed = llvm::xxh3_64bits(program.name) | 1;
  gpu.partition = drawPartition(program.name);
  std::unique_ptr<TargetPipeline> target = forGpu ? makeGpuPipeline(gpu) : makeCpuPipeline(cpu);
  for (unsigned p = static_cast<unsigned>(Phase::Coarsen); p <= static_cast<unsigned>(Phase::Storage);
       ++p) {
    Phase phase = static_cast<Phase>(p);
    if (!isBuilt(phase) && !(phase == Phase::Partition && target->partitions()))
      continue;
    std::string name = "phase " + stringifyPhase(phase).str() + (forGpu ? " for a GPU" : "");
    {
      Timed timed(times.phases);
      KeptErrors errors(context);
      PassManager pm(context);
      PipelineOptions one;
      one.from = static_cast<Phase>(p - 1);
      one.to = phase;
      one.target = target.get();
      one.isContinued = true;
      // (Of nests that no search has arranged; proofs have a stage of their own below.)
      one.dataflow = one.validate = false;
      one.verify = true;
      // After the phases that schedule, bodies are the engines' own.
      one.after = [&](OpPassManager &pm, Phase phase) {
        if (options.upstream && phase <= Phase::Reorder && !forGpu)
          addUpstreamPasses(pm, program.name, p);
      };
      buildPipeline(pm, one);
      if (failed(pm.run(*module)))
        return fail(name, errors.text);
    }
    if (forGpu && phase < Phase::Partition)
      continue;
    {
      Timed timed(times.validation);
      KeptErrors errors(context);
      etdg::ValidateOptions validate;
      validate.phase = stringifyPhase(phase).str();
      validate.before = &before;
      validate.writeReproducer = false;
      auto now = dyn_cast_or_null<etdg::GraphOp>(module->lookupSymbol(program.name));
      if (!now || failed(etdg::validateGraph(now, validate)))
        return fail(name + ", validator", now ? errors.text : "the graph is gone");
    }
    Timed timed(times.declared);
    for (auto [i, run] : llvm::enumerate(runs)) {
      interp::Lengths lengths;
      for (auto &[lengthName, value] : run.data.lengths)
        lengths[lengthName.getValue()] = value;
      KeptErrors errors(context);
      interp::RunOptions runOptions;
      runOptions.order = interp::Order::Declared;
      runOptions.seed = options.seed + i + p;
      FailureOr<std::vector<HostArray>> results =
          interp::runETDG(*module, program.name, lengths, run.data.arguments, runOptions);
      std::string stage = name + ", declared order";
      if (failed(results))
        return fail(stage, errors.text, i);
      if (failed(compareWith(run, i, *results, stage)))
        return failure();
    }
  }
  return success();
}

/// As the GPU's kernels; how they divide their work is drawn by the program's name.
LogicalResult Subject::runEmulated() {
  using Steps = GpuOptions::Steps;
  Timed timed(times.emulation);
  KeptErrors errors(context);
  EmulatorOptions emulator;
  uint64_t hash = llvm::xxh3_64bits(program.name);
  emulator.gpu.steps = std::array{Steps::choose, Steps::always, Steps::never}[hash % 3];
  emulator.gpu.multiprocessors = 1 + hash / 3 % 6;
  // Half of the programs run by any legal plan instead of the one that is chosen.
  emulator.gpu.planSeed = hash / 18 % 2 ? hash | 1 : 0;
  emulator.gpu.partition = drawPartition(program.name);
  emulator.seed = options.seed + hash;
  OwningOpRef<ModuleOp> module = program.module->clone();
  FailureOr<std::unique_ptr<EmulatedProgram>> code = EmulatedProgram::compile(*module, program.name, emulator);
  if (failed(code)) // functions that only a library of the GPU's has
    return StringRef(errors.text).contains("has no rule on the GPU") ? success()
                                                                     : fail("compilation for the GPU", errors.text);
  for (auto [i, run] : llvm::enumerate(runs)) {
    SmallVector<const HostArray *> arguments;
    for (const HostArray &array : run.data.arguments)
      arguments.push_back(&array);
    if (failed((*code)->prepare(arguments)) || failed((*code)->run()))
      return fail("emulated kernels", errors.text, i);
    if (failed(compareWith(run, i, (*code)->results(), "emulated kernels")))
      return failure();
  }
  return success();
}

/// All runs of a subject, as entry `name` of what was compiled.
static void runCompiled(Subject &subject, CompiledProgram &program, const std::string &name, const KeptErrors &errors) {
  for (auto [r, run] : llvm::enumerate(subject.runs)) {
    SmallVector<const HostArray *> arguments;
    for (const HostArray &array : run.data.arguments)
      arguments.push_back(&array);
    FailureOr<std::unique_ptr<CompiledProgram::Call>> call = program.prepare(name, arguments);
    FailureOr<std::vector<HostArray>> results = failure();
    if (succeeded(call) && succeeded((*call)->run()))
      results = (*call)->results();
    if (failed(results)) {
      (void)subject.fail("CPU engine", errors.text, r);
      return;
    }
    if (failed(subject.compareWith(run, r, *results, "CPU engine")))
      return;
  }
}

static void runOnCpu(std::vector<Subject> &subjects, MLIRContext *context, StageTimes &times) {
  SmallVector<Subject *> candidates;
  SmallVector<etdg::GraphOp> graphs;
  for (Subject &subject : subjects)
    if (subject.graph && subject.verdict.outcome == Outcome::Equal) {
      candidates.push_back(&subject);
      graphs.push_back(subject.graph);
    }
  if (graphs.empty())
    return;
  std::unique_ptr<CompiledProgram> batch;
  {
    Timed timed(times.compilation);
    KeptErrors errors(context);
    // Half of all batches take any legal arrangement of loops, not the cheapest.
    CpuOptions options;
    uint64_t hash = llvm::xxh3_64bits(candidates.front()->program.name);
    options.planSeed = hash % 2 == 0 ? hash | 1 : 0;
    auto compiled = compileGraphs(graphs, options);
    if (succeeded(compiled))
      batch = std::move(*compiled);
  }
  for (auto [i, subject] : llvm::enumerate(candidates)) {
    llvm::PrettyStackTraceFormat trace("running %s on the CPU engine",
                                       subject->program.name.c_str());
    KeptErrors errors(context);
    std::unique_ptr<CompiledProgram> own;
    if (!batch) {
      // The batch failed: which one, and why?
      Timed timed(times.compilation);
      auto alone = compileGraphs(subject->graph, CpuOptions());
      if (failed(alone)) {
        (void)subject->fail("compilation for the CPU", errors.text);
        continue;
      }
      own = std::move(*alone);
    }
    Timed timed(times.cpu);
    runCompiled(*subject, batch ? *batch : *own, batch ? "f" + std::to_string(i) : "f0", errors);
  }
}

/// Laws of derivatives on the interpreter, then the derived functions on the engines.
static std::vector<Verdict> checkDerivatives(MLIRContext *context, MutableArrayRef<Program> programs,
                                             const CheckOptions &options, StageTimes &times) {
  std::vector<Verdict> verdicts;
  std::vector<Program> derived;
  SmallVector<size_t> owners;
  for (Program &program : programs) {
    llvm::PrettyStackTraceFormat trace("differentiating %s", program.name.c_str());
    Timed timed(times.interpreter);
    verdicts.push_back(checkGradients(program, options.seed, derived));
    owners.resize(derived.size(), verdicts.size() - 1);
  }
  CheckOptions own = options;
  own.gradients = false;
  if (!options.cpu && !options.graphInterpreter && !options.phases && !options.emulate)
    return verdicts;
  for (auto [owner, made, verdict] : llvm::zip_equal(owners, derived, checkPrograms(context, derived, own, times)))
    if (verdict.outcome == Outcome::Failed && verdicts[owner].outcome == Outcome::Equal) {
      verdicts[owner] = verdict;
      verdicts[owner].stage = "derivative, " + verdict.stage;
      programs[owner].derivative = std::move(made.module);
    }
  return verdicts;
}

std::vector<Verdict> mlir::ft::fuzz::checkPrograms(MLIRContext *context,
                                                   MutableArrayRef<Program> programs,
                                                   const CheckOptions &options, StageTimes &times) {
  if (options.gradients)
    return checkDerivatives(context, programs, options, times);
  std::vector<Verdict> verdicts(programs.size());
  std::vector<Subject> subjects;
  subjects.reserve(programs.size());
  for (auto [program, verdict] : llvm::zip_equal(programs, verdicts)) {
    llvm::PrettyStackTraceFormat trace("checking %s", program.name.c_str());
    Subject &subject = subjects.emplace_back(program, verdict, options, times);
    if (options.roundTrip &&
        failed(subject.roundTrip(program.module, "the program", /*simplifies=*/false)))
      continue;
    if (failed(subject.refuseBlocks()) || failed(subject.makeRuns()) || failed(subject.convert()))
      continue;
    if (options.graphInterpreter && failed(subject.runGraph()))
      continue;
    if (options.phases && (failed(subject.runPhases(/*forGpu=*/false)) || failed(subject.runPhases(/*forGpu=*/true))))
      continue;
    if (options.emulate)
      (void)subject.runEmulated();
  }
  if (options.cpu)
    runOnCpu(subjects, context, times);
  return verdicts;
}
