//===- Phases.cpp - the phases of a compilation ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and passes of each phase alone. Pipelines.cpp puts them one after the other.
//
//===----------------------------------------------------------------------===//
#include "ft/Pipelines/Phases.h"
#include "ft/Conversion/Passes.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/TSSA/Transforms/Passes.h"
#include "ft/Schedule/BindInPlace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ft;

static constexpr llvm::StringLiteral phaseNames[numPhases] = {
    "input",     "ft",       "etdg",    "coarsen", "reorder",
    "partition", "schedule", "storage", "tile",    "threads", "target"};

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

/// Behind all that makes bodies larger.
static void addExcessPrecision(OpPassManager &pm, StringRef rounding) {
  etdg::ETDGExcessPrecisionOptions options;
  options.rounding = rounding.str();
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGExcessPrecision(options));
}

void ft::buildPhase(OpPassManager &pm, Phase phase, StringRef machine, StringRef rounding) {
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
    pm.addPass(createCSEPass());
    break;
  case Phase::ETDG:
    pm.addPass(createConvertFTToETDG());
    pm.addPass(createConvertSCFToETDG());
    pm.addPass(createConvertLinalgToETDG());
    addSpreadRows(pm, machine);
    break;
  case Phase::Coarsen:
    // Before, where the program has chains in one body; after, where merging has made some.
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGOnline());
    etdg::buildCoarsenPipeline(pm, machine);
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGOnline());
    addExcessPrecision(pm, rounding);
    break;
  case Phase::Reorder:
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGReorder());
    break;
  case Phase::Schedule:
    // The target's pass follows: what it knows of lengths and machine is the caller's.
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGApplySchedule());
    pm.addNestedPass<etdg::GraphOp>(createETDGBindInPlace());
    break;
  case Phase::Storage:
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGStorage());
    break;
  default: {
    FTSkipPhaseOptions options;
    options.phase = stringifyPhase(phase).str();
    pm.addPass(createFTSkipPhase(options));
    break;
  }
  }
}

bool ft::mayBeSkipped(Phase phase) {
  return Phase::ETDG < phase && phase < Phase::Tile && phase != Phase::Schedule;
}
