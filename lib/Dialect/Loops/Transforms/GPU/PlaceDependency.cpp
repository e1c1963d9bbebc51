//===- PlaceDependency.cpp - launches that begin before the last has ended -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of two launches that follow each other, the second may begin as soon as the thread blocks of the first one run (programmatic dependent
// launch). It waits before it touches memory, so that what it does is ordered as at a plain boundary. All kernels between wait, too: once one
// has waited, all launches before it have ended.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"
#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

#include "ft/Machine/FindMachine.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::GridDependency;
using loops::GriddepcontrolOp;

namespace {
/// Goes through a program's launches in the order of a call.
class DependencyPlacer {
public:
  explicit DependencyPlacer(loops::ProgramOp program) : program(program), module(program->getParentOfType<ModuleOp>()) {}
  void run();

private:
  /// Launches that may be the last one before what comes next; empty at the begin of a call.
  using Last = SmallVector<loops::LaunchOp>;
  Last take(Region &body, Last before);
  void take(loops::LaunchOp launch, ArrayRef<loops::LaunchOp> before);
  func::FuncOp kernelOf(loops::LaunchOp launch) { return module.lookupSymbol<func::FuncOp>(launch.getCallee()); }

  loops::ProgramOp program;
  ModuleOp module;
  llvm::SetVector<func::FuncOp> waiting, followed;
};
} // namespace

static bool isDecided(loops::ProgramOp program) {
  return program
      .walk([](loops::LaunchOp launch) { return launch.getOverlaps() ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

void DependencyPlacer::take(loops::LaunchOp launch, ArrayRef<loops::LaunchOp> before) {
  if (before.empty())
    return;
  auto meets = [&](loops::LaunchOp one) { return hasWaits(kernelOf(one)); };
  auto about = remark::RemarkOpts::name("gpu-overlaps").category("gpu");
  if (meets(launch) || llvm::any_of(before, meets)) {
    remark::missed(launch.getLoc(), about) << remark::reason("{0} waits for the launch before it to end: thread blocks of {1} wait for each other",
                                                             launch.getCallee(), meets(launch) ? "its own grid" : "that one");
    return;
  }
  launch.setOverlaps(true);
  waiting.insert(kernelOf(launch));
  for (loops::LaunchOp one : before)
    followed.insert(kernelOf(one));
  remark::passed(launch.getLoc(), about) << remark::reason("{0} begins before the launch before it has ended", launch.getCallee());
}

DependencyPlacer::Last DependencyPlacer::take(Region &body, Last before) {
  for (Operation &op : body.front()) {
    if (auto launch = dyn_cast<loops::LaunchOp>(op)) {
      take(launch, before);
      before = {launch};
    } else if (auto variants = dyn_cast<loops::VariantsOp>(op)) {
      Last after;
      for (Region &variant : variants.getVariants())
        llvm::append_range(after, take(variant, before));
      before = std::move(after);
    }
  }
  return before;
}

/// What of a kernel's body touches memory first.
static Operation *findFirstAccess(func::FuncOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (!isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>())
      return &op;
  llvm_unreachable("a function ends in a terminator");
}

void DependencyPlacer::run() {
  take(program.getBody(), {});
  for (func::FuncOp kernel : waiting) {
    OpBuilder b(findFirstAccess(kernel));
    GriddepcontrolOp::create(b, kernel.getLoc(), GridDependency::Wait);
  }
  // The earlier the next launch may begin the better: its thread blocks take no place that one of this launch needs.
  for (func::FuncOp kernel : followed) {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    GriddepcontrolOp::create(b, kernel.getLoc(), GridDependency::LaunchDependents);
  }
}

LogicalResult mlir::ft::placeDependencies(loops::ProgramOp program, const GpuScheduleOptions &options) {
  bool gains = options.getMachine().sync.overlapGains() && Machine::forTarget(options.target)->sync.overlapGains();
  if (gains && !isDecided(program))
    DependencyPlacer(program).run();
  return success();
}
