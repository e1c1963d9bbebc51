//===- Pipeline.cpp - The leaf pass and the way to LLVM -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Dialect/Math/Transforms/ExpandMath.h"

#include "LeafPasses.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
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

namespace {

struct GenerateLeafPass : PassWrapper<GenerateLeafPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GenerateLeafPass)

  GenerateLeafPass() = default;
  GenerateLeafPass(const GenerateLeafPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "ft-generate-leaf"; }
  StringRef getDescription() const final {
    return "Turn functions marked ft.leaf from tensors into loops on rows of memrefs";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
  }

  Option<unsigned> vectorBytes{*this, "vector-bytes",
                               llvm::cl::desc("Bytes of a vector register (0: of this machine)"),
                               llvm::cl::init(0)};
  Option<unsigned> vectorRegisters{
      *this, "vector-registers", llvm::cl::desc("Number of vector registers (0: of this machine)"),
      llvm::cl::init(0)};

  void runOnOperation() final {
    auto leaves = llvm::to_vector(
        llvm::make_filter_range(getOperation().getOps<func::FuncOp>(),
                                [](func::FuncOp func) { return func->hasAttr("ft.leaf"); }));
    for (func::FuncOp func : leaves) {
      LeafOptions options;
      CpuTarget target = CpuTarget::host();
      if (vectorBytes)
        target.vectorBytes = vectorBytes;
      if (vectorRegisters)
        target.vectorRegisters = vectorRegisters;
      auto read = [&](StringRef name, SmallVectorImpl<bool> &flags) {
        if (auto array = func->getAttrOfType<DenseBoolArrayAttr>(name))
          flags.assign(array.asArrayRef().begin(), array.asArrayRef().end());
      };
      read("ft.leaf_batched", options.batched);
      read("ft.leaf_aliases", options.aliasesOutput);
      if (auto sums = func->getAttrOfType<TypeAttr>("ft.leaf_sums"))
        options.sums = sums.getValue();
      options.listed = func->hasAttr("ft.leaf_listed");
      if (failed(chooseAndGenerateLeaf(func, std::move(options), target)))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> mlir::ft::createGenerateLeafPass() {
  return std::make_unique<GenerateLeafPass>();
}

void mlir::ft::registerLeafPasses() {
  registerPass([] { return createGenerateLeafPass(); });
  registerPass([] { return createExpandMathPass(); });
  registerPass([] { return leaf::createHalfMemoryPass(); });
  PassPipelineRegistration<>("ft-leaf-to-llvm",
                             "Lower generated leaves and their callers to the LLVM dialect",
                             buildLeafToLLVMPipeline);
}
