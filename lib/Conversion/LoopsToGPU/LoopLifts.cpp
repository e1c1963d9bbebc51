//===- LoopLifts.cpp - iterations that a leaf computes at once ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop of level lifted is taken once, at its first iteration. What its leaf needs of the others is how far their operands
// lie apart: how much each offset grows with an iteration, read off the sums and products that compute it.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value LoopWalker::growthOf(affine::AffineApplyOp apply) {
  AffineMap map = apply.getAffineMap();
  SmallVector<Value> operands;
  for (Value operand : apply.getMapOperands())
    operands.push_back(valueOf(operand));
  Value sum;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands()))
    if (Value own = growthOf(operand)) {
      Value step = b.expand(stepOf(map, unsigned(i)), ArrayRef(operands).take_front(map.getNumDims()),
                            ArrayRef(operands).drop_front(map.getNumDims()));
      Value term = b.mul(own, step);
      sum = sum ? b.add(sum, term) : term;
    }
  return sum;
}

Value LoopWalker::growthOf(Value value) {
  if (!lift.growing.contains(value))
    return nullptr;
  if (auto found = known.growth.find(value); found != known.growth.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (isa<scf::IfOp>(op)) { // it gives both
    (void)valueOf(value);
    return known.growth.lookup(value);
  }
  Value growth;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    growth = growthOf(apply);
  } else if (isa<arith::MulIOp>(op)) {
    Value own = growthOf(op->getOperand(0));
    growth = own ? b.mul(own, valueOf(op->getOperand(1))) : b.mul(growthOf(op->getOperand(1)), valueOf(op->getOperand(0)));
  } else {
    Value left = growthOf(op->getOperand(0)), right = growthOf(op->getOperand(1));
    if (isa<arith::SubIOp>(op) && right)
      growth = b.sub(left ? left : b.number(0), right);
    else
      growth = left && right ? b.add(left, right) : left ? left : right;
  }
  known.growth[value] = growth;
  return growth;
}

LogicalResult LoopWalker::takeLifted(scf::ForallOp loop) {
  std::optional<Lift> read = readLift(loop);
  if (!read)
    return loop.emitError("the GPU engine can't run the loop: addresses do not grow evenly with it, so that no leaf computes its "
                          "iterations at once; expected the level none (loops-choose-layouts)");
  Known saved = known;
  lift = std::move(*read);
  Value first = loop.getInductionVar(0);
  known.values[first] = b.number(lift.begin);
  known.growth[first] = b.number(1);
  LogicalResult taken = takeBlock(*loop.getBody());
  lift = Lift();
  known = std::move(saved);
  return taken;
}
