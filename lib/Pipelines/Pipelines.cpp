//===- Pipelines.cpp - from one phase to another --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop over the phases serves --ft-compile and the engines.
//
//===----------------------------------------------------------------------===//
#include "ft/Pipelines/Pipelines.h"
#include "CompileOptions.h"
#include "ft/Conversion/ETDGToDataflow/Passes.h"
#include "ft/Conversion/LoopsToGPU/Passes.h"
#include "ft/Conversion/Passes.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Schedule/ChooseSchedule.h"
#include "ft/Schedule/JoinRegions.h"
#include "ft/Schedule/LeafRows.h"
#include "ft/Schedule/PlaceBuffers.h"
#include "ft/Schedule/ScheduleForCpu.h"
#include "ft/Schedule/ScheduleForGpu.h"
#include "ft/Validator/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

namespace mlir::ft {
#define GEN_PASS_REGISTRATION
#include "ft/Pipelines/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

void ft::buildToETDGPipeline(OpPassManager &pm) {
  buildPhase(pm, Phase::FT);
  buildPhase(pm, Phase::ETDG);
}

//===----------------------------------------------------------------------===//
// One phase after the other
//===----------------------------------------------------------------------===//

namespace {
/// The passes that lead from one phase to another.
class PhaseSequence {
public:
  PhaseSequence(OpPassManager &pm, Phase from, Phase to) : pm(pm), from(from), to(to) {}

  ArrayRef<std::string> skip;
  std::string machine, rounding = "excess";
  bool dataflow = true;
  /// Whether what the search finds is told to a person.
  bool tellsDataflow = false;
  bool validate = true;
  /// Whether what the caller says of the input is checked like what a phase did, and phases that are
  /// not built yet say so.
  bool isThorough = false;
  /// Whether the target has the phases behind storage: their passes are all its own.
  bool isLowered = false;
  /// Adds the passes of a target behind those of a phase.
  std::function<void(Phase)> addTarget = [](Phase) {};
  /// Adds what comes before and after the proof of what a phase made.
  std::function<void(Phase)> addContract = [](Phase) {}, addDump = [](Phase) {};

  void build() {
    if (!validate && Phase::ETDG < to)
      pm.addPass(etdg::createETDGValidationOff());
    if (isThorough)
      finish(from);
    else
      takeGiven();
    for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(to); ++i)
      if (Phase phase = static_cast<Phase>(i); !isSkipped(phase) && (isThorough || isBuilt(phase)))
        addPhase(phase);
      else if (phase == Phase::Storage)
        addTarget(phase); // where buffers lie a target asks, however many planes they have
    if (hasSnapshots)
      pm.addPass(etdg::createETDGDropSnapshots());
  }

  /// The last phase with passes of its own.
  Phase getLastBuilt() const {
    Phase last = from;
    for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(to); ++i)
      if (Phase phase = static_cast<Phase>(i); isBuilt(phase) && !isSkipped(phase))
        last = phase;
    return last;
  }

private:
  bool isSkipped(Phase phase) const {
    return mayBeSkipped(phase) && llvm::is_contained(skip, stringifyPhase(phase));
  }

  void addPhase(Phase phase) {
    const std::string searched = machine.empty() ? "cpu" : machine; // as `buildPhase` has it
    // (Before snapshots: what it writes is proved with what coarsening makes of it.)
    if (dataflow && phase == Phase::Coarsen)
      pm.addNestedPass<etdg::GraphOp>(etdg::createOptionalExploreDataflow(searched, /*isAgain=*/false, !tellsDataflow));
    // Nests that the search fused are one now, or stayed apart.
    if (dataflow && phase == Phase::Reorder)
      pm.addNestedPass<etdg::GraphOp>(etdg::createOptionalExploreDataflow(searched, /*isAgain=*/true, !tellsDataflow));
    if (validate && !hasSnapshots && Phase::ETDG < phase && isBuilt(phase)) {
      pm.addPass(etdg::createETDGTakeSnapshots());
      hasSnapshots = true;
    }
    if (phase < Phase::Tile || !isLowered)
      buildPhase(pm, phase, machine, rounding);
    addTarget(phase);
    finish(phase);
  }

  /// What is wrong with the order of graphs that are input is the input's error, not a phase's. (Without a schedule, what has no
  /// phase behind it yet has the order of its operators.)
  void validateGiven() {
    if (!validate || to <= Phase::ETDG)
      return;
    etdg::ETDGValidatePhaseOptions options;
    options.phase = stringifyPhase(from).str();
    options.given = true;
    options.schedules = from <= Phase::ETDG;
    pm.addPass(etdg::createETDGValidatePhase(options));
  }

  /// A graph that is input may be none: what a phase says of it afterwards would be called the phase's fault. (One that is interpreted as it
  /// stands may be wrong, and its interpreter says where.)
  void takeGiven() {
    if (from == Phase::ETDG && to != from) {
      FTVerifyPhaseOptions verify;
      verify.phase = stringifyPhase(from).str();
      pm.addPass(createFTVerifyPhase(verify));
    }
    validateGiven();
  }

  void finish(Phase phase) {
    addContract(phase);
    if (phase == from) {
      validateGiven();
    } else if (validate && Phase::ETDG < phase && isBuilt(phase)) {
      etdg::ETDGValidatePhaseOptions options;
      options.phase = stringifyPhase(phase).str();
      pm.addPass(etdg::createETDGValidatePhase(options));
    }
    addDump(phase);
  }

  OpPassManager &pm;
  const Phase from, to;
  bool hasSnapshots = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// ft-compile
//===----------------------------------------------------------------------===//

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
  check.rounding = options.rounding;
  pm.addPass(createFTCheckCompileOptions(check));
}

/// What `loops-lower-leaves` reads on leaves, for a processor and its machine.
static void addCpuDecisions(OpPassManager &pm, const LoopsChooseTilesOptions &tiles) {
  pm.addPass(createLoopsChooseTiles(tiles));
  pm.addPass(createLoopsChooseRowLoops());
  pm.addPass(createLoopsChooseGuards());
  pm.addPass(createLoopsPlaceScratch());
}

/// The CPU's own passes behind a phase: the order of the fewest steps need not be the one of the least
/// time on this machine.
static void addCpuPasses(OpPassManager &pm, Phase phase, const std::string &machine) {
  if (phase == Phase::Reorder) {
    ETDGChooseScheduleOptions choose;
    choose.machine = machine;
    pm.addNestedPass<etdg::GraphOp>(createETDGChooseSchedule(choose));
  }
  if (phase == Phase::Schedule) {
    ETDGScheduleForCPUOptions loops;
    loops.machine = machine;
    pm.addNestedPass<etdg::GraphOp>(createETDGScheduleForCPU(loops));
  }
  if (phase == Phase::Storage)
    pm.addNestedPass<etdg::GraphOp>(createETDGChooseLeafRows());
  if (phase == Phase::Tile) {
    ConvertETDGToLoopsOptions loops;
    loops.machine = machine;
    pm.addPass(createConvertETDGToLoops(loops));
    pm.addPass(createCSEPass());
    LoopsChooseTilesOptions tiles;
    tiles.machine = machine;
    addCpuDecisions(pm, tiles);
  }
  if (phase == Phase::Threads) {
    pm.addPass(createConvertLoopsToCPU());
    pm.addPass(createCSEPass());
  }
  if (phase == Phase::Target)
    pm.addPass(createLoopsLowerLeaves());
}

/// What `convert-loops-to-gpu` reads in the loops, for the GPU that their program names.
static void addGpuDecisions(OpPassManager &pm) {
  pm.addPass(createLoopsChooseDivisions());
  pm.addPass(createLoopsChooseLayouts());
  pm.addPass(createLoopsChooseTasks());
  pm.addPass(createLoopsFindAlignment());
  pm.addPass(createLoopsPlaceMemory());
  pm.addPass(createLoopsChooseAccesses());
  pm.addPass(createLoopsKeepSums());
  pm.addPass(createLoopsChoosePoints());
  pm.addPass(createLoopsChooseCopies());
  pm.addPass(createLoopsPlaceSyncs());
}

/// Options of a pass that plans for a GPU.
template <typename Options>
static Options forGpu(const std::string &target, const std::string &machine) {
  Options options;
  options.target = target;
  options.machine = machine;
  return options;
}

static void addGpuPasses(OpPassManager &pm, Phase phase, const std::string &target, const std::string &machine) {
  // What follows looks at the loops of products.
  if (phase == Phase::Reorder || phase == Phase::Schedule)
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGFlattenProducts());
  if (phase == Phase::Reorder)
    pm.addNestedPass<etdg::GraphOp>(createETDGChooseDivisionForGPU(forGpu<ETDGChooseDivisionForGPUOptions>(target, machine)));
  if (phase == Phase::Schedule) {
    pm.addNestedPass<etdg::GraphOp>(createETDGChooseCutsForGPU(forGpu<ETDGChooseCutsForGPUOptions>(target, machine)));
    pm.addNestedPass<etdg::GraphOp>(createETDGChooseIterationsForGPU(forGpu<ETDGChooseIterationsForGPUOptions>(target, machine)));
    pm.addNestedPass<etdg::GraphOp>(createETDGScheduleForGPU(forGpu<ETDGScheduleForGPUOptions>(target, machine)));
  }
  if (phase == Phase::Storage) {
    pm.addNestedPass<etdg::GraphOp>(createETDGPlaceBuffers(forGpu<ETDGPlaceBuffersOptions>(target, machine)));
    pm.addNestedPass<etdg::GraphOp>(createETDGJoinRegions());
    pm.addNestedPass<etdg::GraphOp>(createETDGChooseLeafRows());
  }
  if (phase == Phase::Tile) {
    pm.addPass(createConvertETDGToLoops(forGpu<ConvertETDGToLoopsOptions>(target, machine)));
    addGpuDecisions(pm);
  }
  if (phase == Phase::Threads)
    pm.addPass(createConvertLoopsToGPU());
  if (phase == Phase::Target)
    pm.addPass(createTileLowerKernels());
}

void ft::buildCompilePipeline(OpPassManager &pm, const CompileOptions &options, bool validates) {
  if (!checkCompileOptions(options).empty())
    return addCheckOfOptions(pm, options);
  Phase from = *symbolizePhase(options.from), to = *symbolizePhase(options.to);
  std::vector<std::string> skip(options.skip.begin(), options.skip.end());
  PhaseSequence sequence(pm, from, to);
  sequence.isThorough = true;
  sequence.skip = skip;
  sequence.machine =
      options.machine.empty() ? Machine::forTarget(options.target)->reference : options.machine.getValue();
  sequence.dataflow = options.dataflow;
  sequence.tellsDataflow = options.dataflow.hasValue();
  sequence.rounding = options.rounding;
  sequence.validate = validates && options.validate == "on";
  sequence.isLowered = true;
  auto addOwn = [&](Phase phase) {
    if (options.target == "cpu")
      addCpuPasses(pm, phase, sequence.machine);
    else
      addGpuPasses(pm, phase, options.target, sequence.machine);
  };
  sequence.addTarget = [&](Phase phase) {
    // A schedule that came with the graph may leave loops to be completed, and reductions to be cut.
    if (phase == Phase::Storage && from == Phase::Schedule)
      addOwn(Phase::Schedule);
    addOwn(phase);
  };
  // A proof reads the whole graph like its contract does: where each phase is proved, the contracts of
  // what conversions made and of the last phase are enough. What is the identity keeps the contract.
  Phase last = sequence.getLastBuilt();
  sequence.addContract = [&](Phase phase) {
    bool isEnough = options.verifyEach || !sequence.validate || phase == from || phase <= Phase::ETDG || phase == last;
    if (!options.verify || (phase != from && !isBuilt(phase)) || !isEnough)
      return;
    FTVerifyPhaseOptions verify;
    verify.phase = stringifyPhase(phase).str();
    pm.addPass(createFTVerifyPhase(verify));
  };
  sequence.addDump = [&](Phase phase) {
    if (options.dump.empty())
      return;
    FTDumpPhaseOptions dump;
    dump.phase = stringifyPhase(phase).str();
    dump.folder = options.dump.getValue();
    pm.addPass(createFTDumpPhase(dump));
  };
  sequence.build();
}

namespace {
/// Those of `loops-choose-tiles`: the other decisions depend on no processor.
struct CpuDecisionOptions : PassPipelineOptions<CpuDecisionOptions> {
  Option<unsigned> vectorBytes{*this, "vector-bytes", llvm::cl::desc("Bytes of a vector register (0: of this machine)"), llvm::cl::init(0)};
  Option<unsigned> vectorRegisters{*this, "vector-registers", llvm::cl::desc("Number of vector registers (0: of this machine)"), llvm::cl::init(0)};
  Option<std::string> machine{*this, "machine", llvm::cl::desc("The machine whose caches products are cut for, by name or file (cpu)")};
};
} // namespace

static void addCpuDecisionsAsSaid(OpPassManager &pm, const CpuDecisionOptions &options) {
  LoopsChooseTilesOptions tiles;
  tiles.vectorBytes = options.vectorBytes;
  tiles.vectorRegisters = options.vectorRegisters;
  tiles.machine = options.machine;
  addCpuDecisions(pm, tiles);
}

void ft::registerPipelines(std::function<bool()> validates) {
  registerFTPipelinesPasses();
  PassPipelineRegistration<CompileOptions>(
      "ft-compile", "from one phase to another, each followed by its contract",
      [validates = std::move(validates)](OpPassManager &pm, const CompileOptions &options) {
        buildCompilePipeline(pm, options, !validates || validates());
      });
  PassPipelineRegistration<CpuDecisionOptions>("loops-decide-for-cpu", "how a core computes leaves, of which loops-lower-leaves makes code",
                                               addCpuDecisionsAsSaid);
  PassPipelineRegistration<>("loops-decide-for-gpu", "the decisions of which convert-loops-to-gpu makes kernels", addGpuDecisions);
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

void ft::buildEnginePipeline(OpPassManager &pm, Phase from, const EngineOptions &options) {
  PhaseSequence sequence(pm, from, options.to);
  sequence.skip = options.skip;
  sequence.machine = options.machine;
  sequence.rounding = options.rounding;
  sequence.dataflow = options.dataflow;
  sequence.validate = options.validate;
  if (options.after)
    sequence.addTarget = [&](Phase phase) { options.after(pm, phase); };
  sequence.build();
}

FailureOr<etdg::GraphOp> ft::makeEngineGraph(ModuleOp module, StringRef entry, const EngineOptions &options) {
  Operation *op = module.lookupSymbol(entry);
  if (!isa_and_nonnull<func::FuncOp, etdg::GraphOp>(op))
    return module.emitError() << "expected a function or a graph '" << entry << "', "
                              << (op ? "found '" + op->getName().getStringRef().str() + "'" : "found none");
  Location loc = op->getLoc();
  PassManager pm(module.getContext());
  buildEnginePipeline(pm, isa<etdg::GraphOp>(op) ? Phase::ETDG : Phase::Input, options);
  if (failed(pm.run(module)))
    return failure();
  auto graph = dyn_cast_or_null<etdg::GraphOp>(module.lookupSymbol(entry));
  if (!graph)
    return emitError(loc) << "did not become a graph";
  return graph;
}
