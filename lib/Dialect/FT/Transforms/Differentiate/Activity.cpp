//===- Activity.cpp - which values depend on which ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Differentiate.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

SmallVector<Value> differentiate::getCaptured(Operation *op) {
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        // (The block of a mirror that is being built is in no operation yet.)
        if (Operation *home = operand.getParentBlock()->getParentOp(); !home || !op->isAncestor(home))
          captured.insert(operand);
    });
  return captured.takeVector();
}

Activity::Activity(func::FuncOp function, ArrayRef<unsigned> wrt) {
  for (unsigned number : wrt)
    mark(function.getArgument(number));
  while (visit(function.front())) {
  }
}

LogicalResult differentiate::refuseBits(func::FuncOp function, const Activity &activity) {
  // What it gives is no float, so the derivative would end there in silence.
  WalkResult walked = function.walk([&](arith::BitcastOp op) {
    // (What a body of linalg computes is not followed: it is as varied as the operands.)
    Operation *around = op->getParentOp();
    bool isInBody = !isa<ComputeOp, func::FuncOp>(around);
    if (isInBody ? !isDifferentiableType(op.getIn().getType()) || !activity.isAnyVaried(around->getOperands())
                 : !activity.isVaried(op.getIn()))
      return WalkResult::advance();
    op.emitOpError("has no derivative: it takes bits for a number of another type; compute with numbers");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

bool Activity::mark(Value value) { return isDifferentiableType(value.getType()) && varied.insert(value).second; }

bool Activity::visit(Block &block) {
  bool changed = false;
  for (Operation &op : block.without_terminator()) {
    if (auto compute = dyn_cast<ComputeOp>(op)) {
      changed |= visitCompute(compute);
      continue;
    }
    if (isa<StopGradientOp>(op))
      continue;
    if (isAnyVaried(op.getOperands()) || (op.getNumRegions() && isAnyVaried(getCaptured(&op))))
      for (Value result : op.getResults())
        changed |= mark(result);
  }
  return changed;
}

bool Activity::visitCompute(ComputeOp op) {
  bool changed = false;
  auto follow = [&](Value from, Value to) {
    if (isVaried(from))
      changed |= mark(to);
  };
  for (auto [list, argument] : llvm::zip_equal(op.getLists(), op.getElementArgs()))
    follow(list, argument);
  for (auto [init, argument] : llvm::zip(op.getInits(), op.getStateArgs()))
    follow(init, argument);
  changed |= visit(op.getBody().front());
  YieldOp yield = op.getYield();
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), op.getStateResults()))
    follow(value, result);
  for (auto [value, result] : llvm::zip_equal(yield.getEmits(), op.getEmitResults()))
    follow(value, result);
  for (auto [value, argument] : llvm::zip(yield.getValues(), op.getStateArgs()))
    follow(value, argument);
  for (auto [argument, result] : llvm::zip(op.getStateArgs(), op.getStateResults()))
    follow(argument, result);
  return changed;
}

FailureOr<DifferentiableOpInterface> differentiate::getModel(Operation *op, llvm::function_ref<bool(Value)> isVaried) {
  auto model = dyn_cast<DifferentiableOpInterface>(op);
  if (!model) {
    op->emitOpError("has no derivative; stop the gradient before it, or write it by operations that have one");
    return failure();
  }
  if (op->getNumRegions() != 0)
    for (Value value : getCaptured(op))
      if (isVaried(value)) {
        InFlightDiagnostic diag = op->emitOpError("has no derivative for a value that its body captures; make it an operand");
        diag.attachNote(value.getLoc()) << "the value is here";
        return failure();
      }
  return model;
}
