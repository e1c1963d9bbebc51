//===- Passes.cpp - the decisions on a GPU's loops as passes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/Passes.h"

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Schedule/PassOptions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ft {
#define GEN_PASS_DEF_LOOPSCHOOSEACCESSES
#define GEN_PASS_DEF_LOOPSCHOOSECOPIES
#define GEN_PASS_DEF_LOOPSCHOOSEDIVISIONS
#define GEN_PASS_DEF_LOOPSCHOOSELAYOUTS
#define GEN_PASS_DEF_LOOPSCHOOSEPIPELINES
#define GEN_PASS_DEF_LOOPSCHOOSEPOINTS
#define GEN_PASS_DEF_LOOPSCHOOSETASKS
#define GEN_PASS_DEF_LOOPSFINDALIGNMENT
#define GEN_PASS_DEF_LOOPSKEEPNUMBERS
#define GEN_PASS_DEF_LOOPSKEEPSUMS
#define GEN_PASS_DEF_LOOPSPLACEDEPENDENCY
#define GEN_PASS_DEF_LOOPSPLACEMEMORY
#define GEN_PASS_DEF_LOOPSPLACESYNCS
#include "ft/Dialect/Loops/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

FailureOr<GpuScheduleOptions> mlir::ft::readDeviceOptions(loops::ProgramOp program, StringRef pass, StringRef target, StringRef machine) {
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
  if (isOwn)
    planned->multiprocessors = device->getUnits();
  return planned;
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
                               LogicalResult (*decide)(loops::ProgramOp, const GpuScheduleOptions &)) {
  for (auto program : module.getOps<loops::ProgramOp>()) {
    if (!isOfBlocks(program))
      continue;
    FailureOr<GpuScheduleOptions> options = readDeviceOptions(program, pass, target, machine);
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

struct LoopsChoosePipelines : mlir::ft::impl::LoopsChoosePipelinesBase<LoopsChoosePipelines> {
  using LoopsChoosePipelinesBase::LoopsChoosePipelinesBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, chooseKernelPipelines)))
      signalPassFailure();
  }
};

struct LoopsKeepNumbers : mlir::ft::impl::LoopsKeepNumbersBase<LoopsKeepNumbers> {
  using LoopsKeepNumbersBase::LoopsKeepNumbersBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, keepKernelNumbers)))
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

struct LoopsPlaceDependency : mlir::ft::impl::LoopsPlaceDependencyBase<LoopsPlaceDependency> {
  using LoopsPlaceDependencyBase::LoopsPlaceDependencyBase;

  void runOnOperation() override {
    if (failed(decideAll(getOperation(), getArgument(), target, machine, placeDependencies)))
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
} // namespace
