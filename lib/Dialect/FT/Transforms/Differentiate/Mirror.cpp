//===- Mirror.cpp - the backward counterpart of a block -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the forward program, where the backward one reads them: computed again where that costs nothing, else
// saved. A value of a body leaves it as a list.
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

Mirror::Mirror(const Activity &activity, Residuals &residuals, Block &source, Block &mirror)
    : activity(activity), residuals(residuals), source(source), mirror(mirror), b(mirror.getParent()->getContext()) {
  b.setInsertionPointToEnd(&mirror);
}

Mirror::Mirror(Mirror &parent, ComputeOp op, Block &mirror)
    : activity(parent.activity), residuals(parent.residuals), parent(&parent), op(op), source(op.getBody().front()),
      mirror(mirror), b(op.getContext()) {
  b.setInsertionPointToEnd(&mirror);
}

/// Whether an operation moves data and computes none, so that it is done again where its result is read: access
/// operators, constants, reshapes, and what integers are made of integers. What is no value of a list, a scalar,
/// cannot leave a body at all.
static bool isDoneAgain(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<LowestOp, BroadcastOp>(op))
    return true;
  if (isa<ComputeOp>(op))
    return false;
  if (isa<FTDialect>(op->getDialect()))
    return !isShortForm(op);
  if (isa<tensor::EmptyOp, tensor::DimOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::SplatOp, tensor::CastOp, linalg::FillOp, linalg::BroadcastOp, linalg::TransposeOp>(op))
    return true;
  if (llvm::any_of(op->getResultTypes(), [](Type type) { return !isValueType(type); }))
    return true;
  auto isInteger = [](Type type) { return !isa<ListType>(type) && !isa<FloatType>(getElementTypeOrSelf(type)); };
  return op->getNumRegions() == 0 && llvm::all_of(op->getOperandTypes(), isInteger) &&
         llvm::all_of(op->getResultTypes(), isInteger);
}

Value Mirror::primal(Value value) {
  if (value.getParentBlock() != &source)
    return parent->primal(value);
  if (Value found = available.lookup(value))
    return found;
  Value brought = bring(value);
  return available[value] = brought;
}

Value Mirror::copy(Operation *op, Value value) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, primal(operand));
  for (Value operand : getCaptured(op))
    mapping.map(operand, primal(operand));
  Operation *made = b.clone(*op, mapping);
  return made->getResult(cast<OpResult>(value).getResultNumber());
}

Value Mirror::bring(Value value) {
  if (Operation *defining = value.getDefiningOp(); defining && isDoneAgain(defining))
    return copy(defining, value);
  if (op)
    return bringFromBody(value);
  unsigned before = residuals.getAll().size(), number = residuals.add(value);
  assert(number == before && "a residual is asked for once");
  (void)before;
  return mirror.insertArgument(number, value.getType(), value.getLoc());
}

Value Mirror::addList(Value list) {
  lists.push_back(list);
  return mirror.addArgument(cast<ListType>(list.getType()).getPeeled(), op.getLoc());
}

Value Mirror::bringFromBody(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber(), states = op.getNumStates();
    if (number < states)
      return stateBefore(number);
    return addList(parent->primal(op.getLists()[number - states]));
  }
  // What the operator gives anyhow.
  YieldOp yield = op.getYield();
  unsigned numValues = op.getStateResults().size(), numEmits = op.getEmitResults().size();
  if (!op.isFold())
    for (auto [i, yielded] : llvm::enumerate(yield.getValues().take_front(numValues)))
      if (yielded == value)
        return addList(parent->primal(op->getResult(i)));
  for (auto [i, emitted] : llvm::enumerate(yield.getEmits().take_front(numEmits)))
    if (emitted == value)
      return addList(parent->primal(op->getResult(numValues + i)));
  return addList(parent->primal(residuals.lift(op, value)));
}

Value Mirror::stateBefore(unsigned state) {
  if (!op.isScan())
    return addList(parent->primal(residuals.lift(op, op.getStateArgs()[state])));
  // The states after each step, one lag later.
  Value after = parent->primal(op->getResult(state)), first = parent->primal(op.getInits()[state]);
  LengthAttr lag = op.getLagOrOne();
  if (op.isRight())
    lag = LengthAttr::get(op.getContext(), 0) - lag;
  return addList(ShiftOp::create(parent->b, op.getLoc(), after, lag, first));
}

void Mirror::accumulate(Value value, Value part) {
  if (!part || !activity.isVaried(value))
    return;
  if (value.getParentBlock() != &source) {
    captured[value].push_back(part);
    return;
  }
  Value &sum = cotangents[value];
  sum = buildSum(b, part.getLoc(), sum, part);
}

LogicalResult Mirror::reverse() {
  // What leaves an operator gets a placeholder after it, so the block changes on the way.
  SmallVector<Operation *> steps;
  for (Operation &step : source.without_terminator())
    steps.push_back(&step);
  for (Operation *each : llvm::reverse(steps)) {
    Operation &step = *each;
    SmallVector<Value> own = llvm::map_to_vector(step.getResults(), [&](Value r) { return cotangents.lookup(r); });
    if (llvm::none_of(own, [](Value v) { return v != nullptr; }))
      continue;
    if (auto compute = dyn_cast<ComputeOp>(step)) {
      if (failed(OperatorMirror(*this, compute).run()))
        return failure();
      continue;
    }
    auto isVaried = [&](Value value) { return activity.isVaried(value); };
    FailureOr<DifferentiableOpInterface> model = getModel(&step, isVaried);
    if (failed(model))
      return failure();
    SmallVector<bool> wanted = llvm::map_to_vector(step.getOperands(), isVaried);
    SmallVector<Value> parts;
    if (failed(model->buildVjp(b, [&](Value v) { return primal(v); }, own, wanted, parts)))
      return failure();
    for (auto [operand, part] : llvm::zip(step.getOperands(), parts))
      accumulate(operand, part);
  }
  return success();
}
