//===- MergePipeline.cpp - the phase coarsen ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::etdg;

void etdg::buildCoarsenPipeline(OpPassManager &pm, StringRef machine) {
  OpPassManager &graphs = pm.nest<GraphOp>();
  // Statements apart: copies and flows between them become visible.
  graphs.addPass(createETDGLowerOperations());
  graphs.addPass(createETDGFuseAccesses());
  ETDGMergeOptions merge;
  merge.machine = machine.str();
  graphs.addPass(createETDGMerge(merge));
  // What has moved in with its readers is in their sight now.
  graphs.addPass(createETDGFuseAccesses());
  graphs.addPass(createETDGMergeDims());
  // Engines fuse inside a leaf.
  graphs.addPass(createETDGFormLeaves());
  // Behind all merges, which would look at blocks that were taken apart on purpose.
  ETDGFissionOptions fission;
  fission.machine = machine.str();
  graphs.addPass(createETDGFission(fission));
  ETDGHoistInvariantsOptions hoist;
  hoist.machine = machine.str();
  graphs.addPass(createETDGHoistInvariants(hoist));
  // Folds are leaves again, and what their iterations share is computed before them.
  graphs.addPass(createETDGPeelFolds());
}
