//===- Staging.cpp - reads that are staged get what they got --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placement takes what a read gets at the begin of one of its nest's loops, before the iterations that use it, and some iterations of
// the loop before ahead. So nothing may write it between the two.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

/// The schedule of a leaf's nest.
static ScheduleAttr scheduleOfNest(BlockOp leaf) {
  if (NestOp nest = leaf.getNest())
    return nest.getScheduleAttr();
  return leaf.getScheduleAttr();
}

/// How many loops a schedule has in the order of its nest: those over points, then those that it leaves open.
static unsigned countLoops(BlockOp leaf, ScheduleAttr schedule) {
  SmallVector<bool> seen(leaf.getNumOwnDims(), false);
  for (LoopAttr loop : schedule.getPointLoops())
    seen[loop.getDimension()] |= loop.isOverPoints();
  return unsigned(schedule.getPointLoops().size()) + unsigned(llvm::count(seen, false));
}

/// The steps of a leaf's path in front of number `number` of its schedule's loops.
static ArrayRef<Step> stepsBefore(const Leaf &leaf, ScheduleAttr schedule, unsigned number) {
  unsigned key = unsigned(leaf.keys.size()) - countLoops(leaf.block, schedule);
  for (LoopAttr loop : schedule.getLoops().take_front(number))
    key += !schedule.isOverColumns(loop);
  ArrayRef<Step> path = leaf.path;
  const Step *end = llvm::find_if(path, [&](const Step &step) { return step.kind == Step::Key && step.key == key; });
  ArrayRef<Step> before = path.take_front(size_t(end - path.begin()));
  // (After the loops of a nest with several regions the path says which of them it is.)
  NestOp nest = leaf.block->getParentOfType<NestOp>();
  bool isOfRegions = end == path.end() && nest && nest == leaf.block->getParentOp() && !llvm::hasSingleElement(nest.getBody().getOps<BlockOp>());
  return isOfRegions && before.back().kind == Step::Text ? before.drop_back() : before;
}

/// Adds that two iterations agree in the first steps of the one, or that the other is up to `ahead` iterations after in the last of
/// them; false where they can't.
static bool addAgreement(Conjunction &set, ArrayRef<Step> steps, int64_t ahead, const Iteration &x, const Iteration &y) {
  if (y.leaf->path.size() < steps.size())
    return false;
  for (auto [number, stepX] : llvm::enumerate(steps)) {
    const Step &stepY = y.leaf->path[number];
    if (stepX.kind != stepY.kind || (stepX.kind == Step::Text && stepX.position != stepY.position))
      return false;
    if (stepX.kind != Step::Key)
      continue;
    Row behind = y.keys[stepY.key].minus(x.keys[stepX.key]);
    if (ahead == 0 || number + 1 < steps.size()) {
      set.addEq(behind);
      continue;
    }
    behind.addConstant(ahead);
    set.addGe(behind);
  }
  return !set.isFalse();
}

void Checks::checkStaged(const Access &read, const Image &image, ArrayRef<Step> before, int64_t ahead) {
  Conjunction pair = read.set;
  Placed write = model.place(image, read.cell, pair);
  Iteration atRead{read.leaf, read.keys}, atWrite{image.write->leaf, write.keys};
  if (pair.isFalse() || !addAgreement(pair, before, ahead, atRead, atWrite))
    return;
  forEachNotBefore(pair, atRead, atWrite, [&](const NotBefore &found) {
    if (found.isSame())
      return true;
    return expectEmpty(found.set, opOf(read), [&] {
      Shown shown = show(found.set, read);
      showPoint(shown, *image.write, write.point);
      report({opOf(read), "T11", read.describe() + " is staged before " + describeBuffer(read.buffer) + " holds what it reads",
              sample(shown), image.write->leaf->block->getLoc(), "it is written here, " + whose(*image.write)});
    });
  });
}

void Checks::checkPlacements(const Leaf &leaf) {
  BlockOp block = leaf.block;
  ScheduleAttr schedule = scheduleOfNest(block);
  for (PlacementAttr placement : schedule ? schedule.getPlacements() : ArrayRef<PlacementAttr>()) {
    if (placement.getRead() >= int64_t(block.getNumReads())) {
      report({block, "T11", "a placement is of read " + std::to_string(placement.getRead()) + ", the block has " +
                                     std::to_string(block.getNumReads()), "", std::nullopt, ""});
      continue;
    }
    ArrayRef<Step> before = stepsBefore(leaf, schedule, unsigned(placement.getLoop()));
    auto isOverColumns = [&](int64_t loop) { return loop >= 0 && schedule.isOverColumns(schedule.getLoops()[loop]); };
    if (placement.getStages() > 1 && (before.empty() || before.back().kind != Step::Key || isOverColumns(placement.getLoop() - 1))) {
      report({block, "T11", "a placement of read " + std::to_string(placement.getRead()) + " is ahead of no loop that its nest runs alone", "",
              std::nullopt, ""});
      continue;
    }
    for (auto [number, piece] : llvm::enumerate(block.getRead(unsigned(placement.getRead())).getPieces())) {
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      Value buffer = block.getBuffers()[piece.getOperand()];
      for (const std::unique_ptr<Access> &read : model.getReads(buffer)) {
        if (read->leaf != &leaf || read->kind != Access::Read || int64_t(read->index) != placement.getRead() || read->piece != number)
          continue;
        for (const std::unique_ptr<Access> &writer : model.getWrites(buffer))
          if (!isDone())
            checkStaged(*read, model.getImage(*writer), before, placement.getStages() - 1);
      }
    }
  }
}
