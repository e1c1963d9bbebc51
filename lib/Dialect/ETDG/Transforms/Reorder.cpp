//===- Reorder.cpp - the pass etdg-reorder --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analyses each nest, sets its schedule and candidates, and says in remarks what
// was done and what was refused.
//
//===----------------------------------------------------------------------===//
#include "ReorderSchedule.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

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

static std::string toString(const Distances &distances) {
  return llvm::join(
      llvm::map_range(distances, [](auto &distance) { return etdg::toString(distance); }), ", ");
}

static void remarkRefusal(const Nest &nest) {
  auto remark = remark::missed(nest.op->getLoc(), remarkOf("keep-order"));
  remark << remark::reason("{0}", nest.refusal) << remark::metric("nest", describeNest(nest));
  if (nest.culprit)
    remark << remark::metric("dependence", describe(*nest.culprit))
           << remark::metric("distance", etdg::toString(nest.culprit->distance));
  if (!nest.sample.empty())
    remark << remark::metric("example", nest.sample);
}

static void remarkOrder(const Nest &nest) {
  const Order &order = nest.candidates.front();
  remark::passed(nest.op->getLoc(), remarkOf("transform"))
      << remark::add("{0}", order.str(nest.getOwnNames()))
      << remark::metric("nest", describeNest(nest)) << remark::metric("T", order.rows.str())
      << remark::metric("distances", toString(nest.distances))
      << remark::metric("steps-before", toString(nest.getDeclaredSteps()))
      << remark::metric("steps-after", toString(nest.getSteps(order)))
      << remark::metric("candidates", static_cast<int64_t>(nest.candidates.size()));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral candidatesName = "etdg.candidates";

/// `live` planes were counted for the declared order; for another one storage
/// counts anew, from all planes.
static void keepAllPlanes(const Nest &nest, DependenceAnalysis &analysis) {
  for (BlockOp block : nest.blocks)
    for (auto &[buffer, writes] : analysis.getUnit(block).writes)
      if (auto op = buffer.getDefiningOp<BufferOp>())
        op.removeLiveAttr();
}

static void setSchedule(const Nest &nest, ScheduleAttr schedule) {
  if (auto block = dyn_cast<BlockOp>(nest.op))
    block.setScheduleAttr(schedule);
  else
    cast<NestOp>(nest.op).setScheduleAttr(schedule);
}

static void apply(const Nest &nest, DependenceAnalysis &analysis) {
  if (nest.candidates.empty())
    return;
  MLIRContext *context = nest.op->getContext();
  const Order &best = nest.candidates.front();
  if (nest.candidates.size() == 1 && best == nest.getDeclared())
    return;
  setSchedule(nest, best.toSchedule(context));
  SmallVector<Attribute> schedules;
  for (const Order &order : nest.candidates)
    schedules.push_back(order.toSchedule(context));
  nest.op->setAttr(candidatesName, ArrayAttr::get(context, schedules));
  // An engine may take any of them.
  if (llvm::any_of(nest.candidates, [](const Order &order) { return !order.isIdentity(); }))
    keepAllPlanes(nest, analysis);
  remarkOrder(nest);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Whether someone has decided already.
static bool isScheduled(Operation *item) {
  if (auto nest = dyn_cast<NestOp>(item); nest && nest.getScheduleAttr())
    return true;
  return llvm::any_of(getBlocks(item),
                      [](BlockOp block) { return block.getScheduleAttr() != ScheduleAttr(); });
}

/// Two iterations that show a distance, for a message.
static std::string getSample(DependenceAnalysis &analysis, const Dependence &dependence) {
  // A loop order that keeps nothing gives any pair.
  std::string sample;
  BlockOp block = dependence.source;
  SmallVector<OrderLoop> loops(1, {SmallVector<int64_t>(block.getNumOwnDims(), 0), true});
  (void)isKept(analysis, dependence, loops, &sample);
  return sample;
}

namespace {
struct ETDGReorder : etdg::impl::ETDGReorderBase<ETDGReorder> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    DependenceAnalysis analysis(graph);
    TypicalLengths lengths(graph);
    SmallVector<Operation *> items;
    graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto block = dyn_cast<BlockOp>(op);
      if (isa<NestOp>(op) || (block && !block.getNest()))
        items.push_back(op);
    });
    for (Operation *item : items) {
      if (isScheduled(item))
        continue;
      Nest nest = analyzeNest(item, analysis, lengths);
      if (nest.isRefused()) {
        if (nest.culprit)
          nest.sample = getSample(analysis, *nest.culprit);
        remarkRefusal(nest);
      }
      apply(nest, analysis);
    }
  }
};
} // namespace
