//===- JoinSteps.cpp - steps whose columns the cores share ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step of a recurrence is often a block with a few points inside: gates, and what
// takes them. Cores share the points, with a wait after each nest of them, or rows. As
// one leaf they share its columns, with one wait a step, and read but their own columns
// of the weights. Which takes less time is asked of the cost model, on a copy.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/CPU/JoinSteps.h"

#include "ft/Dialect/ETDG/Transforms/JoinPoints.h"
#include "ft/Schedule/CPU/CostModel.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Points of one leaf: each has code of its own.
static constexpr int64_t mostPoints = 16;

static bool hasOrder(BlockOp block) {
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    if (block.getOperator(d) != OperatorKind::Map)
      return true;
  return false;
}

/// Whether all cores may be in each step of the nest together: its blocks have bodies, and it stands at the top or in steps.
static bool isOfSteps(Operation *item) {
  SmallVector<BlockOp> nest = etdg::blocksOf(item);
  if (isBinding(scheduleOf(nest)) || !llvm::all_of(nest, [](BlockOp block) { return !block.isLeaf() && hasOrder(block); }))
    return false;
  for (BlockOp around = nest.front().getParentBlock(); around; around = around.getParentBlock())
    for (unsigned d = 0; d < around.getNumOwnDims(); ++d)
      if (around.getOperator(d) == OperatorKind::Map)
        return false;
  return true;
}

/// A copy after the item in which its blocks are leaves; null, with nothing changed, where they can't all be.
static Operation *makeJoined(Operation *item) {
  OpBuilder builder(item);
  builder.setInsertionPointAfter(item);
  Operation *copy = builder.clone(*item);
  if (auto block = dyn_cast<BlockOp>(copy)) {
    if (BlockOp leaf = etdg::joinPoints(block, mostPoints))
      return leaf;
  } else if (llvm::all_of(etdg::blocksOf(copy), [](BlockOp block) { return bool(etdg::joinPoints(block, mostPoints)); })) {
    return copy;
  }
  copy->erase();
  return nullptr;
}

static double priceOf(Operation *item, const CpuScheduleOptions &options, const std::shared_ptr<LeafForms> &leaves) {
  // (A model of its own: it remembers blocks by their address.)
  return CostModel(item->getParentOfType<etdg::GraphOp>(), options, leaves).estimateInside(etdg::blocksOf(item)).seconds;
}

/// The nest itself, or the one that takes its place.
static Operation *joinIfCheaper(Operation *item, const CpuScheduleOptions &options, bool says, const std::shared_ptr<LeafForms> &leaves) {
  Operation *joined = makeJoined(item);
  if (!joined)
    return item;
  double whole = 0, seconds = 0;
  bool isChosen = options.planSeed % 2 == 1;
  if (options.planSeed == 0) {
    whole = priceOf(item, options, leaves);
    seconds = priceOf(joined, options, leaves);
    isChosen = seconds < options.getMachine().cpu.sureGain * whole;
  }
  if (!isChosen) {
    joined->erase();
    return item;
  }
  if (says)
    remark::passed(item->getLoc(), remark::RemarkOpts::name("join-steps").category("cpu"))
        << remark::reason("the points inside of a step are one leaf, whose columns the cores share")
        << remark::metric("seconds", seconds) << remark::metric("seconds-apart", whole);
  item->erase();
  return joined;
}

/// Nests whose steps may be joined, in the order of the text.
static SmallVector<Operation *> findSteps(Operation *item) {
  SmallVector<Operation *> nests;
  item->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isNest = isa<etdg::NestOp>(op) || (isa<BlockOp>(op) && !isa<etdg::NestOp>(op->getParentOp()));
    if (isNest && isOfSteps(op))
      nests.push_back(op);
  });
  return nests;
}

Operation *schedule::joinSteps(Operation *item, const CpuScheduleOptions &options, bool says, std::shared_ptr<LeafForms> leaves) {
  // (From the last one on, which is inside of those before it, or after them: no other one goes with it.)
  SmallVector<Operation *> nests = findSteps(item);
  for (Operation *nest : llvm::reverse(nests)) {
    Operation *now = joinIfCheaper(nest, options, says, leaves);
    if (nest == item)
      item = now;
  }
  return item;
}

//===----------------------------------------------------------------------===//
// At one length after the other
//===----------------------------------------------------------------------===//

JoinableItem::Form::Form(Operation *item, Operation *nest, const CpuScheduleOptions &options, std::shared_ptr<LeafForms> leaves)
    : blocks(etdg::blocksOf(item)), costs(item->getParentOfType<etdg::GraphOp>(), options, leaves),
      costsOfSteps(item->getParentOfType<etdg::GraphOp>(), options, leaves) {
  if (nest)
    steps = etdg::blocksOf(nest);
}

std::unique_ptr<JoinableItem> JoinableItem::make(Operation *item, const CpuScheduleOptions &options, std::shared_ptr<LeafForms> leaves) {
  SmallVector<Operation *> nests = findSteps(item);
  if (nests.size() > 1)
    return nullptr;
  std::unique_ptr<JoinableItem> both(new JoinableItem(options));
  both->apart = std::make_unique<Form>(item, nests.empty() ? nullptr : nests.front(), options, leaves);
  if (nests.empty())
    return both;
  OpBuilder builder(item);
  builder.setInsertionPointAfter(item);
  Operation *copy = builder.clone(*item), *nest = findSteps(copy).front();
  Operation *joined = makeJoined(nest);
  if (!joined) {
    copy->erase();
    return both;
  }
  if (nest == copy)
    copy = joined;
  nest->erase();
  both->joined = std::make_unique<Form>(copy, joined, options, leaves);
  return both;
}

std::pair<ArrayRef<BlockOp>, CostModel &> JoinableItem::at(ArrayRef<std::pair<StringAttr, int64_t>> lengths) {
  Form *form = apart.get();
  if (joined) {
    apart->costsOfSteps.setLengths(lengths);
    joined->costsOfSteps.setLengths(lengths);
    double whole = apart->costsOfSteps.estimateInside(apart->steps).seconds, seconds = joined->costsOfSteps.estimateInside(joined->steps).seconds;
    if (seconds < options.getMachine().cpu.sureGain * whole)
      form = joined.get();
  }
  form->costs.setLengths(lengths);
  return {form->blocks, form->costs};
}
