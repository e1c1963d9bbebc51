//===- Passes.cpp - loops to kernels, kernels to LLVM - --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LoopsToGPU/Passes.h"

#include "TensorMaps.h"
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Runtime/Base/Json.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTLOOPSTOGPU
#include "ft/Conversion/LoopsToGPU/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// Moves what a module holds to the end of another one.
static void appendOperations(Region &from, Region &to) {
  to.front().getOperations().splice(to.front().end(), from.front().getOperations());
}

/// Puts a module of kernels in the place of what they were made of.
static void replaceByKernels(Operation *source, StringAttr name, GpuModule made, const GpuOptions &options) {
  OpBuilder builder(source);
  // (As NVVM's target attribute has it, upstream's passes compile such a module, too.)
  auto target = NVVM::NVVMTargetAttr::get(source->getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", options.target, "+ptx80");
  auto kernels = gpu::GPUModuleOp::create(builder, source->getLoc(), name, builder.getArrayAttr(target));
  kernels->setAttr(tile::names::target, builder.getStringAttr(options.target));
  kernels->setAttr(tile::names::plan, builder.getStringAttr(made.entry.toJson().dump(/*pretty=*/false)));
  appendOperations(made.module->getBodyRegion(), kernels.getBodyRegion());
  source->erase();
}

namespace {
struct ConvertLoopsToGPU : mlir::ft::impl::ConvertLoopsToGPUBase<ConvertLoopsToGPU> {
  using ConvertLoopsToGPUBase::ConvertLoopsToGPUBase;

  void runOnOperation() override {
    llvm::SetVector<Operation *> launched;
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<loops::ProgramOp>())) {
      FailureOr<GpuScheduleOptions> planned = readDeviceOptions(program, getArgument(), target, machine);
      if (failed(planned))
        return signalPassFailure();
      GpuOptions options;
      static_cast<GpuScheduleOptions &>(options) = *planned;
      program.walk([&](loops::LaunchOp launch) { launched.insert(getOperation().lookupSymbol(launch.getCallee())); });
      options.barrierLimit = barrierLimit;
      FailureOr<GpuModule> made = lowerProgramToGpu(program, options);
      if (failed(made))
        return signalPassFailure();
      replaceByKernels(program, program.getSymNameAttr(), std::move(*made), options);
    }
    for (Operation *kernel : launched)
      kernel->erase();
  }
};
} // namespace

FailureOr<GpuModule> mlir::ft::takeGpuModule(ModuleOp module, StringRef entry, StringRef target,
                                            const std::vector<::ft::rt::Entry::Extent> &numbered) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    if (kernels.getSymName() != entry || !kernels->hasAttr(tile::names::target))
      continue;
    StringRef found = cast<StringAttr>(kernels->getAttr(tile::names::target)).getValue();
    if (found != target)
      return kernels.emitError() << "expected kernels for '" << target << "', found those for '" << found << "'";
    GpuModule result;
    ::ft::rt::Json plan;
    ::ft::rt::Status status = ::ft::rt::Json::parse(cast<StringAttr>(kernels->getAttr(tile::names::plan)).getValue().str(), plan);
    if (status.ok())
      status = ::ft::rt::Entry::fromJson(plan, /*numSections=*/0, result.entry, numbered);
    if (!status.ok())
      return kernels.emitError() << "the launch plan '" << tile::names::plan << "' is wrong: " << status.message();
    if (result.entry.plans.size() != 1)
      return kernels.emitError() << "expected one plan in '" << tile::names::plan << "', found " << result.entry.plans.size();
    result.module = ModuleOp::create(kernels.getLoc());
    appendOperations(kernels.getBodyRegion(), result.module->getBodyRegion());
    kernels.erase();
    if (failed(togpu::takeTensorMaps(*result.module, result.entry.plans.front())))
      return failure();
    return std::move(result);
  }
  return module.emitError() << "holds no kernels of @" << entry << " (a module of that name with '" << tile::names::target << "')";
}
