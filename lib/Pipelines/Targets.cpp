//===- Targets.cpp - the passes of each target ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Pipelines/Targets.h"

#include "PhasePasses.h"
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Conversion/LoopsToGPU/Passes.h"
#include "ft/Conversion/Passes.h"
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Dialect/Loops/Transforms/Passes.h"
#include "ft/Dialect/Tile/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Partition/Passes.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ft;

CpuPipelineOptions::CpuPipelineOptions(const CpuScheduleOptions &schedules, const CpuTarget &processor)
    : machine(schedules.getMachine().reference), threads(schedules.threads), lengths(lengthsAsText(schedules)),
      planSeed(schedules.planSeed), candidate(schedules.candidate), vectorBytes(processor.vectorBytes),
      vectorRegisters(processor.vectorRegisters) {}

GpuPipelineOptions::GpuPipelineOptions(const GpuScheduleOptions &schedules)
    : target(schedules.target), machine(schedules.getMachine().reference), multiprocessors(schedules.multiprocessors),
      steps(stepsAsText(schedules.steps)), stepThreads(schedules.stepThreads), planSeed(schedules.planSeed),
      candidate(schedules.candidate) {}

GpuPipelineOptions::GpuPipelineOptions(const GpuOptions &options)
    : GpuPipelineOptions(static_cast<const GpuScheduleOptions &>(options)) {
  barrierLimit = options.barrierLimit;
  partition = options.partition;
}

//===----------------------------------------------------------------------===//
// Before schedules are completed
//===----------------------------------------------------------------------===//

/// What schedules demand of a graph is done to it: loops over tiles and copies become items of the graph, associative loops
/// split reductions.
static void addApplied(OpPassManager &pm, const std::string &target, const std::string &machine) {
  pm.addNestedPass<etdg::GraphOp>(createETDGApplyTiles());
  ETDGApplyPlacementsOptions placements;
  placements.target = target;
  placements.machine = machine;
  pm.addNestedPass<etdg::GraphOp>(createETDGApplyPlacements(placements));
  etdg::ETDGCutReductionsOptions reductions;
  reductions.machine = machine;
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGCutReductions(reductions));
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

/// What `loops-lower-leaves` reads on leaves, for a processor and its machine.
static void addCpuDecisions(OpPassManager &pm, const LoopsChooseTilesOptions &tiles) {
  pm.addPass(createLoopsChooseTiles(tiles));
  pm.addPass(createLoopsChooseRowLoops());
  pm.addPass(createLoopsChooseGuards());
  pm.addPass(createLoopsPlaceScratch());
}

namespace {
class CpuPipeline : public TargetPipeline {
public:
  explicit CpuPipeline(CpuPipelineOptions options) : options(std::move(options)) {}
  std::string getMachine() const override { return options.machine; }
  void addPasses(OpPassManager &pm, Phase phase) const override;

protected:
  /// Options of a pass that plans for a CPU.
  template <typename Options>
  Options planned() const {
    Options pass;
    pass.machine = options.machine;
    pass.threads = options.threads;
    pass.lengths = options.lengths;
    return pass;
  }
  void addDecisions(OpPassManager &pm) const;
  /// What all threads of a CPU run, from structured loops.
  void addThreads(OpPassManager &pm) const;

  CpuPipelineOptions options;
};
} // namespace

void CpuPipeline::addDecisions(OpPassManager &pm) const {
  LoopsChooseTilesOptions tiles;
  tiles.machine = options.machine;
  tiles.vectorBytes = options.vectorBytes;
  tiles.vectorRegisters = options.vectorRegisters;
  addCpuDecisions(pm, tiles);
}

void CpuPipeline::addThreads(OpPassManager &pm) const {
  ConvertLoopsToCPUOptions threads;
  threads.poison = options.poison;
  pm.addPass(createConvertLoopsToCPU(threads));
  pm.addPass(createCSEPass());
}

void CpuPipeline::addPasses(OpPassManager &pm, Phase phase) const {
  switch (phase) {
  case Phase::Reorder: {
    // The order of the fewest steps need not be the one of the least time on this machine.
    auto orders = planned<ETDGChooseScheduleOptions>();
    orders.candidate = options.candidate;
    orders.planSeed = options.planSeed;
    return pm.addNestedPass<etdg::GraphOp>(createETDGChooseSchedule(orders));
  }
  case Phase::Schedule: {
    addApplied(pm, "cpu", options.machine);
    auto loops = planned<ETDGScheduleForCPUOptions>();
    loops.planSeed = options.planSeed;
    return pm.addNestedPass<etdg::GraphOp>(createETDGScheduleForCPU(loops));
  }
  case Phase::Storage:
    return pm.addNestedPass<etdg::GraphOp>(createETDGChooseLeafRows());
  case Phase::Tile:
    pm.addPass(createConvertETDGToLoops(planned<ConvertETDGToLoopsOptions>()));
    pm.addPass(createCSEPass());
    return addDecisions(pm);
  case Phase::Threads:
    return addThreads(pm);
  case Phase::Target:
    return pm.addPass(createLoopsLowerLeaves());
  default:
    return;
  }
}

std::unique_ptr<TargetPipeline> mlir::ft::makeCpuPipeline(CpuPipelineOptions options) {
  return std::make_unique<CpuPipeline>(std::move(options));
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

/// What `convert-loops-to-gpu` reads in the loops, for the GPU that their program names.
static void addGpuDecisions(OpPassManager &pm) {
  pm.addPass(createLoopsExpandChoices());
  pm.addPass(createLoopsChooseDivisions());
  pm.addPass(createLoopsChooseLayouts());
  pm.addPass(createLoopsChooseTasks());
  pm.addPass(createLoopsFindAlignment());
  pm.addPass(createLoopsChoosePipelines());
  pm.addPass(createLoopsKeepNumbers());
  pm.addPass(createLoopsPlaceMemory());
  pm.addPass(createLoopsChooseAccesses());
  pm.addPass(createLoopsKeepSums());
  pm.addPass(createLoopsChoosePoints());
  pm.addPass(createLoopsChooseCopies());
  pm.addPass(createLoopsPlaceSyncs());
  pm.addPass(createLoopsPlaceDependency());
}

/// Roles and channels of the kernels that have a pipeline, for thread blocks of so many bytes of shared memory at most.
static void addRoles(OpPassManager &pm, int64_t sharedBytes) {
  pm.addPass(tile::createTileSplitMasks());
  pm.addPass(tile::createTileHoistFetches());
  pm.addPass(tile::createTileRotateLoops());
  pm.addPass(tile::createTileSplitRoles());
  pm.addPass(tile::createTileOrderLoops());
  tile::TileMakeChannelsOptions channels;
  channels.sharedBytes = sharedBytes;
  pm.addPass(tile::createTileMakeChannels(channels));
  pm.addPass(tile::createTilePlaceSlots());
  pm.addPass(tile::createTileFetchEarly());
  pm.addPass(tile::createTileCheckPhases());
  pm.addPass(tile::createTileLowerChannels());
}

namespace {
class GpuPipeline : public TargetPipeline {
public:
  explicit GpuPipeline(GpuPipelineOptions options) : options(std::move(options)) {}
  std::string getMachine() const override {
    return options.machine.empty() ? Machine::forTarget(options.target)->reference : options.machine;
  }
  bool partitions() const override { return !options.partition.empty(); }
  bool addChoiceOfMerges(OpPassManager &pm, llvm::StringRef rounding) const override;
  void addPasses(OpPassManager &pm, Phase phase) const override;
  void addLoops(OpPassManager &pm) const;

private:
  /// Options of a pass that plans for a GPU.
  template <typename Options>
  Options forMachine() const {
    Options pass;
    pass.target = options.target;
    pass.machine = options.machine;
    return pass;
  }
  /// Those of a pass that completes or prices schedules.
  template <typename Options>
  Options planned() const {
    auto pass = forMachine<Options>();
    pass.multiprocessors = options.multiprocessors;
    pass.steps = options.steps;
    pass.planSeed = options.planSeed;
    return pass;
  }
  void addSchedules(OpPassManager &pm) const;
  void addPipeline(OpPassManager &pm) const { addRoles(pm, Machine::forTarget(options.target)->occupancy.sharedBytesPerBlock); }

  GpuPipelineOptions options;
};
} // namespace

void GpuPipeline::addSchedules(OpPassManager &pm) const {
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGFlattenProducts());
  pm.addNestedPass<etdg::GraphOp>(createETDGChooseCutsForGPU(planned<ETDGChooseCutsForGPUOptions>()));
  pm.addNestedPass<etdg::GraphOp>(createETDGChooseIterationsForGPU(planned<ETDGChooseIterationsForGPUOptions>()));
  addApplied(pm, options.target, getMachine());
  auto schedule = planned<ETDGScheduleForGPUOptions>();
  schedule.stepThreads = options.stepThreads;
  pm.addNestedPass<etdg::GraphOp>(createETDGScheduleForGPU(schedule));
}

bool GpuPipeline::addChoiceOfMerges(OpPassManager &pm, StringRef rounding) const {
  if (options.partition != "cost" || options.planSeed != 0)
    return false;
  auto merges = forMachine<FTChooseMergesOptions>();
  merges.multiprocessors = options.multiprocessors;
  merges.rounding = rounding.str();
  pm.addPass(createFTChooseMerges(merges));
  return true;
}

void GpuPipeline::addLoops(OpPassManager &pm) const {
  auto loops = forMachine<ConvertETDGToLoopsOptions>();
  loops.multiprocessors = options.multiprocessors;
  pm.addPass(createConvertETDGToLoops(loops));
}

void GpuPipeline::addPasses(OpPassManager &pm, Phase phase) const {
  switch (phase) {
  case Phase::Reorder: {
    // What follows looks at the loops of products.
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGFlattenProducts());
    auto distributions = planned<ETDGChooseDivisionForGPUOptions>();
    distributions.candidate = options.candidate;
    return pm.addNestedPass<etdg::GraphOp>(createETDGChooseDivisionForGPU(distributions));
  }
  case Phase::Partition: {
    if (!partitions())
      return;
    auto cuts = planned<ETDGPartitionOptions>();
    cuts.mode = options.partition;
    return pm.addNestedPass<etdg::GraphOp>(createETDGPartition(cuts));
  }
  case Phase::Schedule:
    return addSchedules(pm);
  case Phase::Storage:
    pm.addNestedPass<etdg::GraphOp>(createETDGPlaceBuffers(forMachine<ETDGPlaceBuffersOptions>()));
    pm.addNestedPass<etdg::GraphOp>(createETDGJoinRegions());
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGHandStates());
    return pm.addNestedPass<etdg::GraphOp>(createETDGChooseLeafRows());
  case Phase::Tile:
    addLoops(pm);
    return addGpuDecisions(pm);
  case Phase::Threads: {
    ConvertLoopsToGPUOptions kernels;
    kernels.barrierLimit = options.barrierLimit;
    // (Between the phases upstream's passes may have run.)
    pm.addPass(createLoopsExpandChoices());
    return pm.addPass(createConvertLoopsToGPU(kernels));
  }
  case Phase::Pipeline:
    return addPipeline(pm);
  case Phase::Target:
    return pm.addPass(createTileLowerKernels());
  default:
    return;
  }
}

std::unique_ptr<TargetPipeline> mlir::ft::makeGpuPipeline(GpuPipelineOptions options) {
  return std::make_unique<GpuPipeline>(std::move(options));
}

void mlir::ft::buildKernelsToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createTileUseSpecialFunctions());
  pm.addPass(createConvertTileToNVVM());
  pm.addPass(createTileScaleExponents());
  pm.addPass(createTileUseSpecialFunctions());
  pm.addPass(createTileExpandMath());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  // (Upstream's pass for branches alone takes nothing but a builtin module.)
  ConvertToLLVMPassOptions branches;
  branches.filterDialects.push_back(cf::ControlFlowDialect::getDialectNamespace().str());
  pm.addPass(createConvertToLLVMPass(branches));
  pm.addPass(createReconcileUnrealizedCastsPass());
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

namespace {
/// The schedules are a GPU's, and cores run them.
class GridOnCoresPipeline : public CpuPipeline {
public:
  GridOnCoresPipeline(CpuPipelineOptions cores, GpuPipelineOptions grid) : CpuPipeline(std::move(cores)), grid(std::move(grid)) {}
  std::string getMachine() const override { return grid.getMachine(); }
  bool partitions() const override { return grid.partitions(); }
  bool addChoiceOfMerges(OpPassManager &pm, llvm::StringRef rounding) const override { return grid.addChoiceOfMerges(pm, rounding); }
  void addPasses(OpPassManager &pm, Phase phase) const override {
    if (phase <= Phase::Storage)
      return grid.addPasses(pm, phase);
    if (phase == Phase::Tile)
      return grid.addLoops(pm);
    if (phase != Phase::Threads)
      return CpuPipeline::addPasses(pm, phase);
    // (Layouts of a GPU's leaves are chosen anew, once cores run them.)
    pm.addPass(createLoopsGridToCores());
    // Before the decisions, which count the loop nests of leaves.
    pm.addPass(createCSEPass());
    addDecisions(pm);
    addThreads(pm);
  }

private:
  GpuPipeline grid;
};
} // namespace

std::unique_ptr<TargetPipeline> mlir::ft::makeGridOnCoresPipeline(CpuPipelineOptions cores, GpuPipelineOptions grid) {
  return std::make_unique<GridOnCoresPipeline>(std::move(cores), std::move(grid));
}

//===----------------------------------------------------------------------===//
// Decisions alone
//===----------------------------------------------------------------------===//

namespace {
/// Those of `loops-choose-tiles`: the other decisions depend on no processor.
struct CpuDecisionOptions : PassPipelineOptions<CpuDecisionOptions> {
  Option<unsigned> vectorBytes{*this, "vector-bytes", llvm::cl::desc("Bytes of a vector register (0: of this machine)"), llvm::cl::init(0)};
  Option<unsigned> vectorRegisters{*this, "vector-registers", llvm::cl::desc("Number of vector registers (0: of this machine)"), llvm::cl::init(0)};
  Option<std::string> machine{*this, "machine", llvm::cl::desc("The machine whose caches products are cut for, by name or file (cpu)")};
};
} // namespace

static void addCpuDecisionsFor(OpPassManager &pm, const CpuDecisionOptions &options) {
  LoopsChooseTilesOptions tiles;
  tiles.vectorBytes = options.vectorBytes;
  tiles.vectorRegisters = options.vectorRegisters;
  tiles.machine = options.machine;
  addCpuDecisions(pm, tiles);
}

void mlir::ft::registerDecisionPipelines() {
  PassPipelineRegistration<CpuDecisionOptions>("loops-decide-for-cpu", "how a core computes leaves, of which loops-lower-leaves makes code",
                                               addCpuDecisionsFor);
  PassPipelineRegistration<>("loops-decide-for-gpu", "the decisions of which convert-loops-to-gpu makes kernels", addGpuDecisions);
}
