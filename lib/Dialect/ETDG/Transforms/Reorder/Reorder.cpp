//===- Reorder.cpp - the pass etdg-reorder --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analyzes each nest, sets its schedule and candidates, and says in remarks what
// was done and what was refused.
//
//===----------------------------------------------------------------------===//
#include "ReorderSplit.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGREORDER
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

static remark::RemarkOpts remarkOf(StringRef name) {
  return remark::RemarkOpts::name(name).category("reorder").subCategory("etdg-reorder");
}

static std::string describeNest(const Nest &nest) {
  SmallVector<std::string> names;
  for (BlockOp block : nest.blocks)
    if (auto name = block.getBlockName())
      names.push_back(("@" + *name).str());
  return names.empty() ? "block" : llvm::join(names, ", ");
}

static std::string toString(ft::LengthAttr length) { return length ? length.str() : "?"; }

/// Iterations that may run at a time, on average: one decimal.
static std::string toWidth(double iterations, double steps) {
  return llvm::formatv("{0:F1}", iterations / std::max(steps, 1.0)).str();
}

static std::string toString(const Distances &distances) {
  return llvm::join(
      llvm::map_range(distances, [](auto &distance) { return etdg::toString(distance); }), ", ");
}

static void remarkRefusal(const Nest &nest) {
  if (isOnTrial(nest.op))
    return;
  auto remark = remark::missed(nest.op->getLoc(), remarkOf("keep-order"));
  remark << remark::reason("{0}", nest.refusal) << remark::metric("nest", describeNest(nest));
  if (nest.culprit)
    remark << remark::metric("dependence", describe(*nest.culprit))
           << remark::metric("distance", etdg::toString(nest.culprit->distance));
  if (!nest.sample.empty())
    remark << remark::metric("example", nest.sample);
  if (!nest.ranges.empty())
    remark << remark::metric("steps", toString(nest.getDeclaredSteps()))
           << remark::metric("typical-width",
                             toWidth(nest.getTypicalIterations(), nest.getTypicalDeclaredSteps()));
}

static void remarkOrder(const Nest &nest) {
  if (isOnTrial(nest.op))
    return;
  const Order &order = nest.candidates.front();
  remark::passed(nest.op->getLoc(), remarkOf("transform"))
      << remark::add("{0}", order.str(nest.getOwnNames()))
      << remark::metric("nest", describeNest(nest)) << remark::metric("T", order.rows.str())
      << remark::metric("distances", toString(nest.distances))
      << remark::metric("steps-before", toString(nest.getDeclaredSteps()))
      << remark::metric("steps-after", toString(nest.getSteps(order)))
      << remark::metric("typical-width-before",
                        toWidth(nest.getTypicalIterations(), nest.getTypicalDeclaredSteps()))
      << remark::metric("typical-width-after",
                        toWidth(nest.getTypicalIterations(), nest.getTypicalSteps(order)))
      << remark::metric("candidates", static_cast<int64_t>(nest.candidates.size()));
}

/// Nothing is to be gained: what the nest takes as it stands.
static void remarkDeclared(const Nest &nest) {
  if (isOnTrial(nest.op))
    return;
  remark::analysis(nest.op->getLoc(), remarkOf("declared"))
      << remark::reason("the order as declared is the only one")
      << remark::metric("nest", describeNest(nest))
      << remark::metric("distances", toString(nest.distances))
      << remark::metric("steps", toString(nest.getDeclaredSteps()))
      << remark::metric("typical-width",
                        toWidth(nest.getTypicalIterations(), nest.getTypicalDeclaredSteps()));
}

static void remarkKernel(const KernelGroup &group) {
  if (isOnTrial(group.members.front().nest->op))
    return;
  std::string nests, offsets;
  double iterations = 0;
  llvm::raw_string_ostream os(offsets);
  for (const GroupMember &member : group.members) {
    nests += (nests.empty() ? "[" : "; [") + describeNest(*member.nest) + "]";
    os << (offsets.empty() ? "" : ", ") << member.offset;
    iterations += member.nest->getTypicalIterations();
  }
  remark::passed(group.members.front().nest->op->getLoc(), remarkOf("kernel"))
      << remark::add("{0} nests share one wavefront", group.members.size())
      << remark::metric("nests", nests) << remark::metric("offsets", offsets)
      << remark::metric("steps-before", toString(group.stepsBefore))
      << remark::metric("steps-after", toString(group.stepsAfter))
      << remark::metric("typical-steps-before", group.typicalBefore)
      << remark::metric("typical-steps-after", group.typicalAfter)
      << remark::metric("typical-width-before", toWidth(iterations, group.typicalBefore))
      << remark::metric("typical-width-after", toWidth(iterations, group.typicalAfter));
}

static void remarkApart(const GroupRefusal &refusal) {
  if (isOnTrial(refusal.after->op))
    return;
  auto remark = remark::missed(refusal.after->op->getLoc(), remarkOf("no-kernel"));
  remark << remark::reason("{0}", refusal.reason)
         << remark::metric("before", describeNest(*refusal.before))
         << remark::metric("after", describeNest(*refusal.after));
  if (refusal.culprit)
    remark << remark::metric("dependence", describe(*refusal.culprit));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// `live` planes were counted for the declared order; for another one storage
/// counts anew, from all planes.
static void keepAllPlanes(const Nest &nest, DependenceAnalysis &analysis) {
  for (BlockOp block : nest.blocks)
    for (auto &[buffer, writes] : analysis.getUnit(block).writes)
      if (auto op = buffer.getDefiningOp<BufferOp>())
        op.removeLiveAttr();
}

static void apply(const Nest &nest, DependenceAnalysis &analysis) {
  if (nest.candidates.empty())
    return;
  MLIRContext *context = nest.op->getContext();
  const Order &best = nest.candidates.front();
  if (nest.candidates.size() == 1 && best == nest.getDeclared()) {
    if (nest.isSequential())
      remarkDeclared(nest);
    return;
  }
  setSchedule(nest.op, best.toSchedule(context));
  SmallVector<Attribute> schedules;
  for (const Order &order : nest.candidates)
    schedules.push_back(order.toSchedule(context));
  nest.op->setAttr(etdg::names::candidates, ArrayAttr::get(context, schedules));
  // An engine may take any of them. Planes are shared by iterations that run one
  // after the other: what runs in parallel now needs its own.
  Order declared = nest.getDeclared();
  auto keepsPlanes = [&](const Order &order) {
    for (auto [now, before] : llvm::zip_equal(order.parallel, declared.parallel))
      if (now && !before)
        return false;
    return order.isIdentity();
  };
  if (!llvm::all_of(nest.candidates, keepsPlanes))
    keepAllPlanes(nest, analysis);
  remarkOrder(nest);
}

/// The wavefront that all share, and a kernel around them. An engine that runs
/// the nests one after the other may take any candidate of each.
static void apply(const KernelGroup &group, DependenceAnalysis &analysis) {
  MLIRContext *context = group.members.front().nest->op->getContext();
  for (const GroupMember &member : group.members) {
    ScheduleAttr schedule = member.order.toSchedule(context, member.offset);
    setSchedule(member.nest->op, schedule);
    SmallVector<Attribute> schedules(1, schedule);
    for (const Order &order : member.nest->candidates)
      if (ScheduleAttr other = order.toSchedule(context); other != schedule)
        schedules.push_back(other);
    member.nest->op->setAttr(etdg::names::candidates, ArrayAttr::get(context, schedules));
    keepAllPlanes(*member.nest, analysis);
  }
  remarkKernel(group);
  formKernel(group);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Two iterations that show a distance, for a message.
static std::string getSample(DependenceAnalysis &analysis, const Dependence &dependence) {
  // A loop order that keeps nothing gives any pair.
  std::string sample;
  BlockOp block = dependence.source;
  SmallVector<OrderLoop> loops(1, {SmallVector<int64_t>(block.getNumOwnDims(), 0), true});
  (void)isKept(analysis, dependence, loops, &sample);
  return sample;
}

ReorderPlan reorder::makePlan(GraphOp graph, DependenceAnalysis &analysis, const TypicalLengths &lengths) {
  ReorderPlan plan;
  auto visit = [&](Region &body, auto &visit) -> void {
    SmallVector<Nest *> nests;
    for (Operation &item : body.front()) {
      if (auto kernel = dyn_cast<KernelOp>(item)) {
        // Grouped already: each nest by itself.
        nests.push_back(nullptr);
        for (Operation &inner : kernel.getBody().front())
          if (!isScheduled(&inner) && kernel.getShared() == 0)
            plan.nests.push_back(analyzeNest(&inner, analysis, lengths));
      } else if (isa<NestOp, BlockOp>(item)) {
        if (isScheduled(&item)) {
          nests.push_back(nullptr);
        } else {
          plan.nests.push_back(analyzeNest(&item, analysis, lengths));
          nests.push_back(&plan.nests.back());
        }
      } else {
        continue;
      }
    }
    llvm::append_range(plan.groups, findGroups(nests, analysis, lengths, plan.refusals));
    for (Operation &item : body.front())
      item.walk<WalkOrder::PreOrder>([&](BlockOp block) {
        if (!block.isLeaf())
          visit(block.getBody(), visit);
        return WalkResult::skip();
      });
  };
  visit(graph.getBody(), visit);
  return plan;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void etdg::reorderGraph(GraphOp graph) {
  splitNests(graph);
  TypicalLengths lengths(graph);
  auto analysed = std::make_unique<DependenceAnalysis>(graph);
  ReorderPlan plan = makePlan(graph, *analysed, lengths);
  if (splitChains(graph, plan)) {
    analysed = std::make_unique<DependenceAnalysis>(graph);
    plan = makePlan(graph, *analysed, lengths);
  }
  DependenceAnalysis &analysis = *analysed;
  llvm::SmallPtrSet<Nest *, 8> grouped;
  for (KernelGroup &group : plan.groups)
    for (GroupMember &member : group.members)
      grouped.insert(member.nest);
  for (Nest &nest : plan.nests) {
    if (nest.isRefused()) {
      if (nest.culprit)
        nest.sample = getSample(analysis, *nest.culprit);
      remarkRefusal(nest);
    }
    if (!grouped.contains(&nest))
      apply(nest, analysis);
  }
  for (const GroupRefusal &refusal : plan.refusals)
    remarkApart(refusal);
  for (KernelGroup &group : plan.groups)
    apply(group, analysis);
}

/// Whether is given an item's schedule: reordering says no levels, and stages nothing.
static bool isGiven(Operation *item) {
  ScheduleAttr schedule = scheduleOf(item);
  return schedule && (schedule.hasLevels() || !schedule.getPlacements().empty());
}

namespace {
struct ETDGReorder : etdg::impl::ETDGReorderBase<ETDGReorder> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    reorderGraph(graph);
    for (Operation *item : getTopItems(graph))
      if (!isGiven(item))
        setDivisions(item, findDivisions(graph, item));
  }
};
} // namespace
