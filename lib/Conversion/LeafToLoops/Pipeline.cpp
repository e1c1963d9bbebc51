//===- Pipeline.cpp - The way of leaves to LLVM ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Dialect/Math/Transforms/ExpandMath.h"

#include "LeafPasses.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ft;

void mlir::ft::buildLeafToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createLowerAffinePass()); // before repeated parts are sought
  pm.addNestedPass<func::FuncOp>(createExpandMathPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addNestedPass<func::FuncOp>(arith::createArithExpandOpsPass(expand));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(leaf::createHalfMemoryPass());
}

void mlir::ft::registerLeafPasses() {
  registerPass([] { return createExpandMathPass(); });
  registerPass([] { return leaf::createHalfMemoryPass(); });
  PassPipelineRegistration<>("ft-leaf-to-llvm",
                             "Lower generated leaves and their callers to the LLVM dialect",
                             buildLeafToLLVMPipeline);
}
