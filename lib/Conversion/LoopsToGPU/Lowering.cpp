//===- Lowering.cpp - kernels to the LLVM dialect -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/Math/Transforms/ExpandMath.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

LogicalResult mlir::ft::lowerGpuModuleToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  if (failed(verify(module)))
    return failure();
  if (failed(lowerTiles(module)))
    return module.emitError("operations on tiles could not be lowered");
  RewritePatternSet patterns(context);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateExpandMathPatterns(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return module.emitError("the expansion of elementary functions does not end");
  WalkResult known = module.walk([](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || hasMathInstruction(op))
      return WalkResult::advance();
    op->emitError("has no rule on the GPU for ") << op->getOperandTypes().front();
    return WalkResult::interrupt();
  });
  if (known.wasInterrupted())
    return failure();
  PassManager pm(context);
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(module)))
    return failure();
  WalkResult lowered = module.walk([](Operation *op) {
    if (isa<ModuleOp>(op) ||
        isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError("has no form in the LLVM dialect");
    return WalkResult::interrupt();
  });
  return failure(lowered.wasInterrupted());
}
