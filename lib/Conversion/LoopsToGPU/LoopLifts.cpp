//===- LoopLifts.cpp - iterations that a leaf computes at once ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop of level lifted is taken once, at its first iteration. What its leaf needs of the others is how far their operands
// lie apart: how much each offset grows with an iteration, read off the sums and products that compute it.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// How much an expression grows with one of its dimensions or symbols.
static AffineExpr stepOf(AffineMap map, unsigned operand) {
  AffineExpr expr = map.getResult(0);
  bool isDim = operand < map.getNumDims();
  MLIRContext *context = map.getContext();
  AffineExpr place = isDim ? getAffineDimExpr(operand, context) : getAffineSymbolExpr(operand - map.getNumDims(), context);
  return simplifyAffineExpr(expr.replace(place, place + 1) - expr, map.getNumDims(), map.getNumSymbols());
}

bool LoopWalker::growsEvenly(Operation *op) {
  auto grows = [&](Value value) { return growing.contains(value); };
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
    for (auto [result, one, other] :
         llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      if (grows(one) || grows(other))
        growing.insert(result);
    return !grows(branch.getCondition());
  }
  if (llvm::none_of(op->getOperands(), grows))
    return true;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    for (unsigned i = 0; i < apply.getMapOperands().size(); ++i)
      for (unsigned k = 0; k < apply.getMapOperands().size(); ++k) {
        bool isDim = k < map.getNumDims();
        if (grows(apply.getMapOperands()[i]) && grows(apply.getMapOperands()[k]) &&
            (isDim ? stepOf(map, i).isFunctionOfDim(k) : stepOf(map, i).isFunctionOfSymbol(k - map.getNumDims())))
          return false;
      }
  } else if (isa<arith::MulIOp>(op)) {
    if (grows(op->getOperand(0)) && grows(op->getOperand(1)))
      return false;
  } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    return llvm::none_of(cast.getSizes(), grows) && llvm::none_of(cast.getStrides(), grows);
  } else if (auto splat = dyn_cast<loops::SplatOp>(op)) {
    return !splat.getStep() || !grows(splat.getStep());
  } else if (isa<scf::YieldOp>(op)) {
    return isa<scf::IfOp>(op->getParentOp());
  } else if (!isa<arith::AddIOp, arith::SubIOp>(op)) {
    return false;
  }
  growing.insert(op->getResult(0));
  return true;
}

bool LoopWalker::findGrowing(scf::ForallOp loop) {
  growing.clear();
  growing.insert(loop.getInductionVar(0));
  unsigned leaves = 0;
  // (Operands come before what takes them, and regions before the operation that they are of.)
  bool isEven = !loop.getBody()
                     ->walk([&](Operation *op) {
                       leaves += isa<loops::LeafOp>(op);
                       return growsEvenly(op) ? WalkResult::advance() : WalkResult::interrupt();
                     })
                     .wasInterrupted();
  return isEven && leaves == 1;
}

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
  if (!growing.contains(value))
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
  std::optional<int64_t> begin = getConstantIntValue(loop.getMixedLowerBound()[0]);
  std::optional<int64_t> end = getConstantIntValue(loop.getMixedUpperBound()[0]);
  Known saved = known;
  LogicalResult taken = success();
  if (begin && end && *begin < *end && findGrowing(loop)) {
    lifts = *end - *begin;
    Value first = loop.getInductionVar(0);
    known.values[first] = b.number(*begin);
    known.growth[first] = b.number(1);
    taken = takeBlock(*loop.getBody());
    lifts = 1;
  } else {
    remark::missed(loop.getLoc(), remark::RemarkOpts::name("gpu-lift").category("gpu"))
        << "addresses do not grow evenly with a lifted loop: its iterations are computed one by one";
    growing.clear();
    isApart = true;
    taken = takeInOrder(loop);
    isApart = false;
  }
  growing.clear();
  known = std::move(saved);
  return taken;
}
