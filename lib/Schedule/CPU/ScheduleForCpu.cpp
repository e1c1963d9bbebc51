//===- ScheduleForCpu.cpp - loops, levels and rows for a CPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `etdg-schedule-for-cpu`: each nest, and each nest inside the bodies of
// graph blocks, gets a binding schedule: the plan of least estimated time
// (CostModel.h), written as loops (PlanSchedule.cpp). What is specified already stays.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/Apply/Exits.h"
#include "ft/Schedule/CPU/ScheduleForCpu.h"

#include "ft/Dialect/ETDG/Transforms/CutReductions.h"
#include "ft/Schedule/Apply/ApplyPlacements.h"
#include "ft/Schedule/Apply/ApplyTiles.h"
#include "ft/Schedule/CPU/ChooseCuts.h"
#include "ft/Schedule/CPU/ChooseIterations.h"
#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/FormGuards.h"
#include "ft/Schedule/CPU/JoinSteps.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/Analysis/Syncs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGSCHEDULEFORCPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::SyncKind;

namespace {
/// Goes through a body as the emitter does: what all threads are at, then what one of them runs.
class Scheduler {
public:
  Scheduler(etdg::GraphOp graph, Region &body, const CpuScheduleOptions &options)
      : graph(graph), body(body), options(options), costs(graph, options) {}

  LogicalResult run() {
    for (auto kernel : llvm::make_early_inc_range(body.front().getOps<etdg::KernelOp>()))
      if (options.planSeed == 0 && isDearerThanApart(kernel))
        takeApart(kernel);
    for (Operation &op : llvm::make_early_inc_range(body.front()))
      if (isa<etdg::NestOp, BlockOp>(op))
        CostModel(graph, options).divideStep(joinSteps(&op, options, /*says=*/true));
    for (const NestGroup &group : getGroups(body))
      if (failed(writeGroup(group, PlanPlace::Cores, /*hasRows=*/false, SyncKind::None)))
        return failure();
    for (const NestGroup &group : getGroups(body))
      if (failed(checkCpuSyncs(group)))
        return failure();
    return success();
  }

private:
  bool isDearerThanApart(etdg::KernelOp kernel);
  static void takeApart(etdg::KernelOp kernel);
  /// `first` is what units do before the group's first nest.
  LogicalResult writeGroup(const NestGroup &group, PlanPlace place, bool hasRows, SyncKind first);
  LogicalResult writeNest(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed, PlanPlace place,
                          bool hasRows, SyncKind before);
  LogicalResult writeBodies(ArrayRef<BlockOp> nest, PlanPlace place, bool hasRows);

  etdg::GraphOp graph;
  Region &body;
  const CpuScheduleOptions &options;
  CostModel costs;
};
} // namespace

/// Whether a nest reads what a later one writes. These must go along their steps together.
static bool readsWhatLaterNestsWrite(ArrayRef<SmallVector<BlockOp>> nests) {
  llvm::SmallPtrSet<Value, 8> written;
  for (ArrayRef<BlockOp> nest : llvm::reverse(nests)) {
    for (BlockOp leaf : nest)
      for (unsigned r = 0; r < leaf.getNumReads(); ++r)
        for (etdg::PieceAttr piece : leaf.getRead(r).getPieces())
          if (piece.getOperand() >= 0 && written.contains(leaf.getBuffers()[piece.getOperand()]))
            return true;
    for (BlockOp leaf : nest)
      for (unsigned w = 0; w < leaf.getNumWrites(); ++w)
        written.insert(leaf.getBuffers()[leaf.getWrite(w).getOperand()]);
  }
  return false;
}

/// Whether nests that are one point in each step, as two folds of one list, take less time one after the other: no core waits for others then.
bool Scheduler::isDearerThanApart(etdg::KernelOp kernel) {
  if (kernel.getShared() != 1 || kernel.getExit())
    return false;
  SmallVector<SmallVector<BlockOp>> nests = etdg::getNests(kernel.getBody());
  if (readsWhatLaterNestsWrite(nests))
    return false;
  double together = 0, apart = 0;
  for (ArrayRef<BlockOp> nest : nests) {
    etdg::ScheduleAttr given = scheduleOf(nest);
    if (BlockOp(nest.front()).getNumOwnDims() != 1 || isBinding(given) || (given && !given.getPlacements().empty()))
      return false;
    together += costs.estimateSteps(nest, {0}).seconds;
    apart += costs.estimateBest(nest).seconds;
  }
  return apart < options.getMachine().cpu.sureGain * together;
}

void Scheduler::takeApart(etdg::KernelOp kernel) {
  remark::passed(kernel.getLoc(), remark::RemarkOpts::name("kernel-apart").category("cpu"))
      << remark::reason("a step of each nest is one point, and cores would wait for each other longer than all of them take");
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
    op.moveBefore(kernel);
  kernel.erase();
}

/// Each variant is planned for lengths at which it runs.
static LogicalResult scheduleVariants(etdg::GraphOp graph, etdg::VariantsOp variants, const CpuScheduleOptions &options) {
  SmallVector<etdg::GuardAttr> guards = llvm::to_vector(variants.getGuards().getAsRange<etdg::GuardAttr>());
  for (auto [number, region] : llvm::enumerate(variants.getVariants())) {
    CpuScheduleOptions own = options;
    if (own.lengths.empty())
      own.lengths = schedule::lengthsOfVariant(graph, guards, unsigned(number));
    if (failed(Scheduler(graph, region, own).run()))
      return failure();
    // What the parts of a divided step leave each other is a buffer of the graph.
    for (Operation &op : llvm::make_early_inc_range(region.front()))
      if (isa<etdg::BufferOp>(op))
        op.moveBefore(variants);
  }
  return success();
}

LogicalResult Scheduler::writeGroup(const NestGroup &group, PlanPlace place, bool hasRows, SyncKind first) {
  for (auto [n, nest] : llvm::enumerate(group.nests)) {
    SyncKind before = n == 0 ? first : place == PlanPlace::Cores ? SyncKind::Cores : SyncKind::None;
    if (failed(writeNest(nest, group.common[n], place, hasRows, before)))
      return failure();
  }
  // Parallel loops that nests shared stand inside of the sequential ones now.
  if (auto kernel = dyn_cast<etdg::KernelOp>(group.op))
    kernel.setShared(group.common.front().size());
  return success();
}

LogicalResult Scheduler::writeNest(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed,
                                   PlanPlace place, bool hasRows, SyncKind before) {
  BlockOp front = nest.front();
  NestPlan plan;
  // Tasks may share the columns of a leaf where nothing is around it.
  bool isAlone = place == PlanPlace::Cores && fixed.empty() && before == SyncKind::None && !front.getParentBlock() &&
                 !front->getParentOfType<etdg::KernelOp>();
  etdg::ScheduleAttr given = scheduleOf(nest);
  if (isBinding(given) || (front.getNumOwnDims() == 0 && (given || !isAlone))) {
    if (!given && before != SyncKind::None)
      BlockOp(nest.front()).getScheduledOp().setScheduleAttr(toSchedule(nest, plan, fixed, place, before));
    FailureOr<NestPlan> read = readPlan(nest, fixed, place, hasRows);
    if (failed(read))
      return failure();
    plan = std::move(*read);
  } else {
    if (failed(refuseMoreThanOrder(nest, "CPU")) || failed(refuseCpuPlacements(nest)))
      return failure();
    if (front.getNumOwnDims() > 0)
      plan = costs.choose(nest, place == PlanPlace::Cores, hasRows, fixed);
    costs.finish(nest, plan, isAlone);
    // Cores that run several nests together have shares of each.
    plan.inTurn &= place == PlanPlace::Thread || (fixed.empty() && !front.getParentBlock());
    if (front.getNumOwnDims() > 0 || plan.columns)
      BlockOp(nest.front()).getScheduledOp().setScheduleAttr(toSchedule(nest, plan, fixed, place, before));
  }
  bool together = place == PlanPlace::Cores && isRunTogether(nest, plan, fixed);
  return writeBodies(nest, together ? PlanPlace::Cores : PlanPlace::Thread,
                     hasRows || plan.row.has_value());
}

LogicalResult Scheduler::writeBodies(ArrayRef<BlockOp> nest, PlanPlace place, bool hasRows) {
  for (BlockOp block : nest) {
    if (block.isLeaf())
      continue;
    bool isFirst = true;
    for (const NestGroup &group : getGroups(block.getBody())) {
      SyncKind before = !isFirst && place == PlanPlace::Cores ? SyncKind::Cores : SyncKind::None;
      if (group.nests.size() > 1) {
        if (failed(writeGroup(group, place, hasRows, before)))
          return failure();
      } else {
        if (failed(writeNest(group.nests.front(), {}, place, hasRows, before)))
          return failure();
      }
      isFirst = false;
    }
  }
  return success();
}

/// Schedules of a graph to which has been done what they demand of it.
static LogicalResult completeSchedules(etdg::GraphOp graph, const CpuScheduleOptions &options) {
  schedule::chooseIterations(graph, options);
  schedule::chooseCuts(graph, options);
  if (failed(Scheduler(graph, graph.getBody(), options).run()))
    return failure();
  for (auto variants : llvm::to_vector(graph.getBody().getOps<etdg::VariantsOp>()))
    if (failed(scheduleVariants(graph, variants, options)))
      return failure();
  schedule::writeExits(graph);
  return success();
}

LogicalResult mlir::ft::scheduleForCpu(etdg::GraphOp graph, const CpuScheduleOptions &options) {
  if (graph.isExternal())
    return success();
  if (failed(applyTiles(graph)) || failed(applyPlacements(graph, options.getMachine())) || failed(etdg::cutReductions(graph, options.getMachine().lineBytes())))
    return failure();
  return completeSchedules(graph, options);
}

namespace {
struct ETDGScheduleForCPU : ft::impl::ETDGScheduleForCPUBase<ETDGScheduleForCPU> {
  using ETDGScheduleForCPUBase::ETDGScheduleForCPUBase;
  void runOnOperation() override {
    FailureOr<CpuScheduleOptions> options = readCpuOptions(getOperation().getLoc(), machine, threads, lengths);
    if (failed(options))
      return signalPassFailure();
    options->planSeed = planSeed;
    if (!getOperation().isExternal() && failed(completeSchedules(getOperation(), *options)))
      signalPassFailure();
  }
};
} // namespace
