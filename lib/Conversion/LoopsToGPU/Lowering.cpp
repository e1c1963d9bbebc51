//===- Lowering.cpp - kernels to the LLVM dialect -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions that no instruction computes, and the check that nothing is left for which LLVM has no form.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Conversion/LoopsToGPU/Passes.h"
#include "ft/Dialect/Math/Transforms/ExpandMath.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

LogicalResult mlir::ft::checkIsLLVM(Operation *kernels) {
  WalkResult lowered = kernels->walk([](Operation *op) {
    if (isa<ModuleOp, gpu::GPUModuleOp, tile::GroupMmaOp>(op) || isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError("has no form in the LLVM dialect");
    return WalkResult::interrupt();
  });
  return failure(lowered.wasInterrupted());
}
