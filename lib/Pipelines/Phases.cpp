//===- Phases.cpp - the phases of a compilation ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and passes of each phase that all targets have. Targets.cpp has those of one target, and Pipelines.cpp puts phases one after
// the other.
//
//===----------------------------------------------------------------------===//
#include "PhasePasses.h"

#include "ft/Conversion/Passes.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/TSSA/Transforms/Passes.h"
#include "ft/Partition/Passes.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Schedule/Apply/BindInPlace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ft;

static constexpr llvm::StringLiteral phaseNames[numPhases] = {
    "input",     "ft",       "etdg",    "coarsen", "reorder",
    "partition", "schedule", "storage", "tile",    "threads", "pipeline", "target"};

StringRef ft::stringifyPhase(Phase phase) { return phaseNames[static_cast<unsigned>(phase)]; }

std::optional<Phase> ft::symbolizePhase(StringRef name) {
  for (unsigned i = 0; i < numPhases; ++i)
    if (phaseNames[i] == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}

std::string ft::listPhases() {
  std::string text;
  for (StringRef name : phaseNames)
    text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

bool ft::isBuilt(Phase phase) {
  switch (phase) {
  case Phase::Input:
  case Phase::FT:
  case Phase::ETDG:
  case Phase::Coarsen:
  case Phase::Reorder:
  case Phase::Schedule:
  case Phase::Storage:
    return true;
  default:
    return false;
  }
}

/// Rows of whole tensors, whatever front end they came from.
static void addSpreadRows(OpPassManager &pm, StringRef machine) {
  etdg::ETDGSpreadRowsOptions options;
  options.machine = machine.str();
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGSpreadRows(options));
}

/// After all that makes bodies larger.
static std::unique_ptr<Pass> makeExcessPrecision(StringRef rounding) {
  etdg::ETDGExcessPrecisionOptions options;
  options.rounding = rounding.str();
  return etdg::createETDGExcessPrecision(options);
}

/// The phase `coarsen` without its online rewrites, with a pass that merges blocks.
static void addCoarsening(OpPassManager &graphs, StringRef machine, std::unique_ptr<Pass> merge) {
  using namespace etdg;
  // Statements apart: copies and flows between them become visible.
  graphs.addPass(createETDGLowerOperations());
  graphs.addPass(createETDGFuseAccesses());
  graphs.addPass(std::move(merge));
  // What has moved in with its readers is in their sight now.
  graphs.addPass(createETDGFuseAccesses());
  graphs.addPass(createETDGMergeDims());
  // Engines fuse inside a leaf.
  graphs.addPass(createETDGFormLeaves());
  // After all merges, which would look at blocks that were taken apart on purpose.
  ETDGFissionOptions fission;
  fission.machine = machine.str();
  graphs.addPass(createETDGFission(fission));
  ETDGHoistInvariantsOptions hoist;
  hoist.machine = machine.str();
  graphs.addPass(createETDGHoistInvariants(hoist));
  // Folds are leaves again, and what their iterations share is computed before them.
  graphs.addPass(createETDGPeelFolds());
}

void etdg::buildCoarsenPipeline(OpPassManager &pm, StringRef machine) {
  ETDGMergeOptions merge;
  merge.machine = machine.str();
  addCoarsening(pm.nest<GraphOp>(), machine, createETDGMerge(merge));
}

void ft::addCoarsenApart(OpPassManager &graphs, StringRef machine, StringRef rounding) {
  graphs.addPass(etdg::createETDGOnline());
  ETDGMergeApartOptions merge;
  merge.machine = machine.str();
  addCoarsening(graphs, machine, createETDGMergeApart(merge));
  graphs.addPass(etdg::createETDGOnline());
  graphs.addPass(makeExcessPrecision(rounding));
}

void ft::buildConversionsToETDG(OpPassManager &pm) {
  pm.addPass(createConvertFTToETDG());
  pm.addPass(createConvertSCFToETDG());
  pm.addPass(createConvertLinalgToETDG());
}

void ft::buildFunctionalizePipeline(OpPassManager &pm) { pm.addPass(tssa::createTSSAFunctionalize()); }

LogicalResult ft::buildDifferentiatePipeline(OpPassManager &pm, StringRef options, llvm::function_ref<LogicalResult(const Twine &)> note) {
  pm.addPass(createFTUnroll());
  pm.addPass(createFTInline());
  pm.addPass(createFTSelect());
  // An operation without users needs no derivative, and lists of tuples become lists of their members.
  pm.addPass(createCanonicalizerPass());
  std::unique_ptr<Pass> pass = createFTDifferentiate();
  if (failed(pass->initializeOptions(options, note)))
    return failure();
  pm.addPass(std::move(pass));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return success();
}

void ft::buildToTensorPipeline(OpPassManager &pm) {
  pm.addPass(createConvertTSSAToTensor());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void ft::buildPadRaggedPipeline(OpPassManager &pm) {
  pm.addPass(createFTUnroll());
  pm.addPass(createFTInline());
  pm.addPass(createFTPadRagged());
}

void ft::addPhasePasses(OpPassManager &pm, Phase phase, StringRef machine, StringRef rounding) {
  switch (phase) {
  case Phase::Input:
    break;
  case Phase::FT:
    pm.addPass(createFTUnroll());
    pm.addPass(createFTInline());
    pm.addPass(createFTExpand());
    pm.addPass(tssa::createTSSAFunctionalize());
    pm.addPass(createConvertTSSAToTensor());
    pm.addPass(createFTSelect());
    pm.addNestedPass<func::FuncOp>(createFTDropUnitDims());
    pm.addPass(createCanonicalizerPass());
    pm.addNestedPass<func::FuncOp>(createFTAlignMaps());
    pm.addPass(createCSEPass());
    pm.addPass(createFTSplitHeld());
    break;
  case Phase::ETDG:
    buildConversionsToETDG(pm);
    addSpreadRows(pm, machine);
    break;
  case Phase::Coarsen:
    // Before, where the program has chains in one body; after, where merging has made some.
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGOnline());
    etdg::buildCoarsenPipeline(pm, machine);
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGOnline());
    pm.addNestedPass<etdg::GraphOp>(makeExcessPrecision(rounding));
    break;
  case Phase::Reorder:
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGReorder());
    break;
  case Phase::Schedule:
    pm.addNestedPass<etdg::GraphOp>(createETDGOpenKernels());
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGApplySchedule());
    pm.addNestedPass<etdg::GraphOp>(createETDGBindInPlace());
    break;
  case Phase::Storage:
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGStorage());
    break;
  default:
    break;
  }
}

bool ft::mayBeSkipped(Phase phase) {
  return Phase::ETDG < phase && phase < Phase::Tile && phase != Phase::Schedule;
}
