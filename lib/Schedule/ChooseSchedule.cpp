//===- ChooseSchedule.cpp - the candidate of least time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/ChooseSchedule.h"

#include "ft/Dialect/ETDG/Transforms/ApplySchedule.h"
#include "ft/Schedule/CostModel.h"
#include "ft/Schedule/PassOptions.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSESCHEDULE
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

static constexpr llvm::StringLiteral candidatesName = "etdg.candidates";
/// More than these are not looked at, the last one excepted.
static constexpr unsigned mostCandidates = 6;

static SmallVector<BlockOp> blocksOf(Operation *item) {
  if (auto nest = dyn_cast<etdg::NestOp>(item))
    return llvm::to_vector(nest.getBody().getOps<BlockOp>());
  return {cast<BlockOp>(item)};
}

static void setSchedule(Operation *item, etdg::ScheduleAttr schedule) {
  if (auto nest = dyn_cast<etdg::NestOp>(item))
    nest.setScheduleAttr(schedule);
  else
    cast<BlockOp>(item).setScheduleAttr(schedule);
}

namespace {
/// An item under a schedule and its cheapest plan.
struct Price {
  double seconds, barriers;
  std::string text;
  uint64_t plans; // that were priced for it
  bool isOverBudget;
};
} // namespace

static std::optional<Price>
price(Operation *item, etdg::ScheduleAttr schedule, etdg::ScheduleApplier &applier,
      etdg::GraphOp graph, const CpuScheduleOptions &options) {
  OpBuilder builder(item);
  Operation *copy = builder.clone(*item);
  copy->removeAttr(candidatesName);
  setSchedule(copy, schedule);
  FailureOr<Operation *> applied = applier.apply(copy);
  if (failed(applied))
    return std::nullopt;
  // (A model of its own: it remembers blocks by their address.)
  CostModel costs(graph, options);
  SmallVector<BlockOp> nest = blocksOf(*applied);
  NestPlan plan = costs.choose(nest, /*withTeam=*/true, /*fixedRow=*/false);
  Estimate estimate = costs.estimate(nest, plan);
  std::string text = CostModel::describe(nest, plan, estimate);
  (*applied)->erase();
  return Price{estimate.seconds, estimate.barriers, text, costs.numPriced(), costs.wasOverBudget()};
}

static LogicalResult chooseFor(Operation *item, etdg::ScheduleApplier &applier, etdg::GraphOp graph,
                               const CpuScheduleOptions &options) {
  auto candidates = item->getAttrOfType<ArrayAttr>(candidatesName);
  if (!candidates || candidates.size() < 2)
    return success();
  SmallVector<etdg::ScheduleAttr> schedules;
  for (auto [i, attr] : llvm::enumerate(candidates))
    if (auto schedule = dyn_cast<etdg::ScheduleAttr>(attr);
        schedule && (i < mostCandidates || i + 1 == candidates.size()))
      schedules.push_back(schedule);
  if (options.candidate >= 0) {
    setSchedule(item, schedules[std::min<size_t>(options.candidate, schedules.size() - 1)]);
    return success();
  }
  std::optional<size_t> best;
  double least = 0, barriers = 0;
  uint64_t plans = 0;
  bool isOverBudget = false;
  std::string words, others;
  for (auto [i, schedule] : llvm::enumerate(schedules)) {
    auto priced = price(item, schedule, applier, graph, options);
    if (!priced)
      return failure();
    plans += priced->plans;
    isOverBudget |= priced->isOverBudget;
    others += llvm::formatv("{0}{1:e2}", i ? ", " : "", priced->seconds).str();
    // No barriers win unless some promise clearly less time.
    double seconds = priced->seconds;
    const double sureGain = options.getMachine().cpu.sureGain;
    double margin = !best                                   ? 1
                    : barriers == 0 && priced->barriers > 0 ? sureGain
                    : barriers > 0 && priced->barriers == 0 ? 1 / sureGain
                                                            : 1;
    // Of orders that cost the same, the program's own, the last one: its bounds are simplest.
    if (best && i + 1 == schedules.size())
      margin = std::max(margin, 1.03);
    if (!best || seconds < margin * least) {
      best = i;
      least = seconds;
      barriers = priced->barriers;
      words = priced->text;
    }
  }
  if (!best)
    return success();
  setSchedule(item, schedules[*best]);
  remark::analysis(item->getLoc(), remark::RemarkOpts::name("plans-priced").category("cpu"))
      << remark::add("{0} plans priced for {1} orders{2}", plans, schedules.size(),
                     isOverBudget ? ": beyond the budget inner nests kept the plan that was best before"
                                  : "");
  remark::passed(item->getLoc(), remark::RemarkOpts::name("choose-schedule").category("cpu"))
      << remark::add("candidate {0} of {1}: {2} (all: {3} s)", *best + 1, schedules.size(), words,
                     others);
  return success();
}

static LogicalResult chooseAll(etdg::GraphOp graph, const CpuScheduleOptions &options) {
  if (graph.isExternal())
    return success();
  SmallVector<Operation *> items;
  for (Operation &op : graph.getBody().front())
    if (isa<etdg::NestOp, etdg::BlockOp>(op) && op.hasAttr(candidatesName))
      items.push_back(&op);
  if (items.empty())
    return success();
  etdg::ScheduleApplier applier(graph);
  for (Operation *item : items)
    if (failed(chooseFor(item, applier, graph, options)))
      return failure();
  return success();
}

namespace {
struct ETDGChooseSchedule : ft::impl::ETDGChooseScheduleBase<ETDGChooseSchedule> {
  using ETDGChooseScheduleBase::ETDGChooseScheduleBase;
  void runOnOperation() override {
    FailureOr<CpuScheduleOptions> options = readCpuOptions(getOperation().getLoc(), machine, threads, lengths);
    if (failed(options))
      return signalPassFailure();
    options->candidate = candidate;
    if (failed(chooseAll(getOperation(), *options)))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> ft::createChooseSchedule(const CpuScheduleOptions &options) {
  ETDGChooseScheduleOptions pass;
  pass.machine = machineAsText(options.machine);
  pass.threads = options.threads;
  pass.lengths = lengthsAsText(options);
  pass.candidate = options.candidate;
  return createETDGChooseSchedule(pass);
}
