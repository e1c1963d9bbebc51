//===- Mirror.cpp - the backward counterpart of a block -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the forward program, where the backward one reads them: computed again where that costs nothing or the plan
// says so, else saved. A value of a body leaves it as a list.
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"
#include "Pieces.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

Mirror::Mirror(Context &context, Block &source, Block &mirror)
    : context(context), activity(context.activity), residuals(context.residuals), source(source), mirror(mirror),
      b(mirror.getParent()->getContext()) {
  b.setInsertionPointToEnd(&mirror);
  context.reads[&source];
}

Mirror::Mirror(Mirror &parent, ComputeOp op, Block &mirror)
    : context(parent.context), activity(parent.activity), residuals(parent.residuals), parent(&parent), op(op),
      source(op.getBody().front()), mirror(mirror), b(op.getContext()) {
  b.setInsertionPointToEnd(&mirror);
  context.reads[&source];
}

Value Mirror::primal(Value value) {
  if (value.getParentBlock() != &source)
    return parent->primal(value);
  if (Value found = available.lookup(value))
    return found;
  Value brought = bring(value);
  return available[value] = brought;
}

Mirror::Copy Mirror::copy(Operation *op) {
  Copy made;
  for (Value operand : op->getOperands())
    made.mapping.map(operand, primal(operand));
  for (Value operand : getCaptured(op))
    made.mapping.map(operand, primal(operand));
  made.made = b.clone(*op, made.mapping);
  residuals.dropLifted(made.made);
  return made;
}

Mirror::Copy &Mirror::getCopy(Operation *op) {
  auto found = copies.find(op);
  if (found != copies.end())
    return found->second;
  // (To copy may bring others.)
  Copy made = copy(op);
  return copies[op] = std::move(made);
}

/// The list of what `placeholder` is the list of, in a copy of the operator around it.
Value Mirror::liftFromCopy(Value placeholder, IRMapping &mapping, ComputeOp made) {
  Value value = residuals.originOf(placeholder)->value, own = mapping.lookupOrNull(value);
  if (auto inner = residuals.originOf(value))
    own = liftFromCopy(value, mapping, cast<ComputeOp>(mapping.lookup(inner->around)));
  return residuals.lift(made, own);
}

Value Mirror::bring(Value value) {
  Operation *defining = value.getDefiningOp();
  auto origin = residuals.originOf(value);
  if (origin && context.plan.isComputedAgain(origin->around)) {
    Copy &again = getCopy(origin->around);
    return liftFromCopy(value, again.mapping, cast<ComputeOp>(again.made));
  }
  if (defining && !origin) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isDoneAgain(defining))
      return copy(defining).made->getResult(number);
    if (context.plan.isComputedAgain(defining))
      return getCopy(defining).made->getResult(number);
  }
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
  Value joined = joinPieces(b, source.getParentOp(), sum, part);
  sum = joined ? joined : buildSum(b, part.getLoc(), sum, part);
}

/// A value that an adjoint of this block reads.
Value Mirror::read(Value value) {
  context.reads[&source].insert(value);
  return primal(value);
}

/// Whether a value of the backward program has the bits that it had in the forward one: residuals, and what access makes of them.
bool Mirror::isExact(Value value) {
  if (value.getParentBlock() != &mirror)
    return !parent || parent->isExact(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!op)
      return true;
    size_t states = mirror.getNumArguments() - lists.size(), number = argument.getArgNumber();
    return number >= states && parent->isExact(lists[number - states]);
  }
  Operation *defining = value.getDefiningOp();
  bool computes = isa<arith::ArithDialect, math::MathDialect>(defining->getDialect()) && !defining->hasTrait<OpTrait::ConstantLike>();
  return isDoneAgain(defining) && !computes && llvm::all_of(defining->getOperands(), [&](Value operand) { return isExact(operand); });
}

/// A greatest or least element, which is compared with those that it was taken of. Where they are computed again they may round in
/// another way, so that none would equal what was saved: then it is taken of them again.
Value Mirror::readResult(Operation *step, OpResult result) {
  bool areExact = llvm::all_of(step->getOperands(), [&](Value operand) { return isExact(read(operand)); });
  return areExact ? read(result) : getCopy(step).made->getResult(result.getResultNumber());
}

void Mirror::reverseExtremum(ComputeOp extremum) {
  Value list = extremum.getLists().front(), init = extremum.getInits().front();
  Extremum own{readResult(extremum, extremum->getOpResult(0)), read(list), read(init)};
  auto [ofList, ofInit] = buildExtremumVjp(b, extremum.getLoc(), own, cotangentOf(extremum->getResult(0)));
  accumulate(list, ofList);
  accumulate(init, ofInit);
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
      if (isExtremum(compute))
        reverseExtremum(compute);
      else if (failed(OperatorMirror(*this, compute).run()))
        return failure();
      continue;
    }
    auto isVaried = [&](Value value) { return activity.isVaried(value); };
    FailureOr<DifferentiableOpInterface> model = getModel(&step, isVaried);
    if (failed(model))
      return failure();
    SmallVector<bool> wanted = llvm::map_to_vector(step.getOperands(), isVaried);
    SmallVector<Value> parts;
    auto reduction = dyn_cast<linalg::LinalgOp>(step);
    bool reduces = reduction && reduction.getNumReductionLoops() > 0;
    auto readFor = [&](Value v) {
      return reduces && v.getDefiningOp() == &step ? readResult(&step, cast<OpResult>(v)) : read(v);
    };
    if (failed(model->buildVjp(b, readFor, own, wanted, parts)))
      return failure();
    for (auto [operand, part] : llvm::zip(step.getOperands(), parts))
      accumulate(operand, part);
  }
  return success();
}
