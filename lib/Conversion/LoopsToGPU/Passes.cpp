//===- Passes.cpp - loops to kernels, kernels to LLVM - --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LoopsToGPU/Passes.h"

#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Runtime/Json.h"
#include "ft/Schedule/PassOptions.h"

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
#define GEN_PASS_DEF_LOOPSCHOOSEACCESSES
#define GEN_PASS_DEF_LOOPSCHOOSECOPIES
#define GEN_PASS_DEF_LOOPSCHOOSEDIVISIONS
#define GEN_PASS_DEF_LOOPSCHOOSELAYOUTS
#define GEN_PASS_DEF_LOOPSCHOOSEPOINTS
#define GEN_PASS_DEF_LOOPSCHOOSETASKS
#define GEN_PASS_DEF_LOOPSFINDALIGNMENT
#define GEN_PASS_DEF_LOOPSKEEPSUMS
#define GEN_PASS_DEF_LOOPSPLACEMEMORY
#define GEN_PASS_DEF_LOOPSPLACESYNCS
#include "ft/Conversion/LoopsToGPU/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// Of a module of kernels: what they are compiled for, and their launch plan. The dialect verifies that who has one has both.
static constexpr StringRef targetName = tile::TileDialect::TargetAttrHelper::getNameStr();
static constexpr StringRef planName = tile::TileDialect::PlanAttrHelper::getNameStr();

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
  kernels->setAttr(targetName, builder.getStringAttr(options.target));
  kernels->setAttr(planName, builder.getStringAttr(made.entry.toJson().dump(/*pretty=*/false)));
  appendOperations(made.module->getBodyRegion(), kernels.getBodyRegion());
  source->erase();
}

/// What a program says of its device, where the pass's own options, `target` and `machine`, say nothing else.
static FailureOr<GpuOptions> optionsFor(loops::ProgramOp program, StringRef pass, StringRef target, StringRef machine) {
  std::optional<loops::DeviceAttr> device = program.getDevice();
  if (!device && target.empty())
    return program.emitError("the program says no GPU that it is for: expected what convert-etdg-to-loops makes for a "
                             "target = ") << listTargetsOf(Machine::Kind::GPU) << ", or the option target";
  const bool isOwn = device && target.empty() && machine.empty();
  StringRef wanted = target.empty() ? device->getTarget() : target;
  if (!llvm::is_contained(targetsOf(Machine::Kind::GPU), wanted))
    return program.emitError() << pass << ": expected target = " << listTargetsOf(Machine::Kind::GPU) << ", found '" << wanted << "'";
  FailureOr<GpuScheduleOptions> planned =
      readGpuOptions(program.getLoc(), wanted, isOwn ? device->getMachine() : machine, "choose");
  if (failed(planned))
    return failure();
  GpuOptions options;
  static_cast<GpuScheduleOptions &>(options) = *planned;
  if (isOwn)
    options.multiprocessors = device->getUnits();
  return options;
}

/// Whether a program launches kernels of thread blocks; others are a CPU's.
static bool isOfBlocks(loops::ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  return program
      .walk([&](loops::LaunchOp launch) {
        Operation *kernel = module.lookupSymbol(launch.getCallee());
        return kernel && loops::gridOf(kernel) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Lets `decide` write into the kernels of a module's programs that are of thread blocks.
static LogicalResult decideAll(ModuleOp module, StringRef pass, StringRef target, StringRef machine,
                               LogicalResult (*decide)(loops::ProgramOp, const GpuOptions &)) {
  for (auto program : module.getOps<loops::ProgramOp>()) {
    if (!isOfBlocks(program))
      continue;
    FailureOr<GpuOptions> options = optionsFor(program, pass, target, machine);
    if (failed(options) || failed(decide(program, *options)))
      return failure();
  }
  return success();
}

namespace {
struct LoopsChooseDivisions : mlir::ft::impl::LoopsChooseDivisionsBase<LoopsChooseDivisions> {
  using LoopsChooseDivisionsBase::LoopsChooseDivisionsBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseKernelDivisions)))
      signalPassFailure();
  }
};

struct LoopsChooseLayouts : mlir::ft::impl::LoopsChooseLayoutsBase<LoopsChooseLayouts> {
  using LoopsChooseLayoutsBase::LoopsChooseLayoutsBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseLeafLayouts)))
      signalPassFailure();
  }
};

struct LoopsChooseTasks : mlir::ft::impl::LoopsChooseTasksBase<LoopsChooseTasks> {
  using LoopsChooseTasksBase::LoopsChooseTasksBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseKernelTasks)))
      signalPassFailure();
  }
};

struct LoopsFindAlignment : mlir::ft::impl::LoopsFindAlignmentBase<LoopsFindAlignment> {
  using LoopsFindAlignmentBase::LoopsFindAlignmentBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, findKernelAlignment)))
      signalPassFailure();
  }
};

struct LoopsPlaceMemory : mlir::ft::impl::LoopsPlaceMemoryBase<LoopsPlaceMemory> {
  using LoopsPlaceMemoryBase::LoopsPlaceMemoryBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, placeKernelMemory)))
      signalPassFailure();
  }
};

struct LoopsChooseAccesses : mlir::ft::impl::LoopsChooseAccessesBase<LoopsChooseAccesses> {
  using LoopsChooseAccessesBase::LoopsChooseAccessesBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseKernelAccesses)))
      signalPassFailure();
  }
};

struct LoopsKeepSums : mlir::ft::impl::LoopsKeepSumsBase<LoopsKeepSums> {
  using LoopsKeepSumsBase::LoopsKeepSumsBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, keepKernelSums)))
      signalPassFailure();
  }
};

struct LoopsChoosePoints : mlir::ft::impl::LoopsChoosePointsBase<LoopsChoosePoints> {
  using LoopsChoosePointsBase::LoopsChoosePointsBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseKernelPoints)))
      signalPassFailure();
  }
};

struct LoopsChooseCopies : mlir::ft::impl::LoopsChooseCopiesBase<LoopsChooseCopies> {
  using LoopsChooseCopiesBase::LoopsChooseCopiesBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseKernelCopies)))
      signalPassFailure();
  }
};

struct LoopsPlaceSyncs : mlir::ft::impl::LoopsPlaceSyncsBase<LoopsPlaceSyncs> {
  using LoopsPlaceSyncsBase::LoopsPlaceSyncsBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, placeKernelSyncs)))
      signalPassFailure();
  }
};

struct ConvertLoopsToGPU : mlir::ft::impl::ConvertLoopsToGPUBase<ConvertLoopsToGPU> {
  using ConvertLoopsToGPUBase::ConvertLoopsToGPUBase;

  void runOnOperation() override {
    llvm::SetVector<Operation *> launched;
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<loops::ProgramOp>())) {
      FailureOr<GpuOptions> options = optionsFor(program, getArgument(), target, machine);
      if (failed(options))
        return signalPassFailure();
      program.walk([&](loops::LaunchOp launch) { launched.insert(getOperation().lookupSymbol(launch.getCallee())); });
      options->barrierLimit = barrierLimit;
      FailureOr<GpuModule> made = lowerProgramToGpu(program, *options);
      if (failed(made))
        return signalPassFailure();
      replaceByKernels(program, program.getSymNameAttr(), std::move(*made), *options);
    }
    for (Operation *kernel : launched)
      kernel->erase();
  }
};
} // namespace

FailureOr<GpuModule> mlir::ft::takeGpuModule(ModuleOp module, StringRef entry, StringRef target,
                                            const std::vector<::ft::rt::Entry::Extent> &numbered) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    if (kernels.getSymName() != entry || !kernels->hasAttr(targetName))
      continue;
    StringRef found = cast<StringAttr>(kernels->getAttr(targetName)).getValue();
    if (found != target)
      return kernels.emitError() << "expected kernels for '" << target << "', found those for '" << found << "'";
    GpuModule result;
    ::ft::rt::Json plan;
    ::ft::rt::Status status = ::ft::rt::Json::parse(cast<StringAttr>(kernels->getAttr(planName)).getValue().str(), plan);
    if (status.ok())
      status = ::ft::rt::Entry::fromJson(plan, /*numSections=*/0, result.entry, numbered);
    if (!status.ok())
      return kernels.emitError() << "the launch plan '" << planName << "' is wrong: " << status.message();
    if (result.entry.plans.size() != 1)
      return kernels.emitError() << "expected one plan in '" << planName << "', found " << result.entry.plans.size();
    result.module = ModuleOp::create(kernels.getLoc());
    appendOperations(kernels.getBodyRegion(), result.module->getBodyRegion());
    kernels.erase();
    return std::move(result);
  }
  return module.emitError() << "holds no kernels of @" << entry << " (a module of that name with '" << targetName << "')";
}
