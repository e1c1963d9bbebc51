//===- Lowering.cpp - kernels to the LLVM dialect -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One list of passes, which `tile-lower-kernels` runs inside of its own pass manager, where each of them prints, and engines run on
// kernels of which they made a module.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Conversion/LoopsToGPU/Passes.h"
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/Math/Transforms/ExpandMath.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::ft {
#define GEN_PASS_DEF_TILEEXPANDMATH
#include "ft/Conversion/LoopsToGPU/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;

namespace {
struct TileExpandMath : mlir::ft::impl::TileExpandMathBase<TileExpandMath> {
  using TileExpandMathBase::TileExpandMathBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    mlir::ft::populateExpandMathPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation()->emitError("the expansion of elementary functions does not end");
      return signalPassFailure();
    }
    WalkResult known = getOperation()->walk([](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || mlir::ft::hasMathInstruction(op))
        return WalkResult::advance();
      op->emitError("has no rule on the GPU for ") << op->getOperandTypes().front();
      return WalkResult::interrupt();
    });
    if (known.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

void mlir::ft::buildKernelsToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createTileUseSpecialFunctions());
  pm.addPass(createConvertTileToNVVM());
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

LogicalResult mlir::ft::checkIsLLVM(Operation *kernels) {
  WalkResult lowered = kernels->walk([](Operation *op) {
    if (isa<ModuleOp, gpu::GPUModuleOp>(op) || isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError("has no form in the LLVM dialect");
    return WalkResult::interrupt();
  });
  return failure(lowered.wasInterrupted());
}

LogicalResult mlir::ft::lowerGpuModuleToLLVM(ModuleOp module) {
  if (failed(verify(module)))
    return failure();
  PassManager pm(module->getName());
  buildKernelsToLLVMPipeline(pm);
  return failure(failed(pm.run(module)) || failed(checkIsLLVM(module)));
}
