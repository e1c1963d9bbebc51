//===- OperatorMirror.cpp - operators reversed ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     foldl f s0 xs          (s̄0, x̄s) = foldr over (x, h₋, ē) init s̄n: (s̄, x̄) = f̄(h₋, x; s̄, ē)
//     scanl f s0 xs          the same, with the cotangent of a result added to the state at the begin of its step
//     scanl f s0 xs lag d    scanr lag d; s̄0 is the sum of what the first d steps give to steps before the first
//     map f xs               a map
//
// What a body captures gets, outside, the sum of what its iterations give (and see LateParts.cpp).
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

/// A number as a tensor of no dimensions; other types as they are.
static Type tensorOf(Type type) { return isa<FloatType>(type) ? RankedTensorType::get({}, type) : type; }

OperatorMirror::OperatorMirror(Mirror &outer, ComputeOp op)
    : outer(outer), op(op), block(new Block()), inner(outer, op, *block),
      hasLag(op.isScan() && op.getLagOrOne().getConstant() != 1) {}

OperatorMirror::~OperatorMirror() {
  if (!block)
    return;
  outer.residuals.forget(*block);
  block->walk([&](Operation *inside) { outer.context.late.erase(inside); });
  block->dropAllReferences();
  delete block;
}

LogicalResult OperatorMirror::run() {
  findCarried();
  addStates();
  seed();
  if (failed(inner.reverse()))
    return failure();
  readGradients();
  readSums();
  dropConstantStates();
  build();
  return success();
}

/// States from which a value is reached whose cotangent is not zero.
void OperatorMirror::findCarried() {
  YieldOp yield = op.getYield();
  SmallVector<Value> work;
  llvm::DenseSet<Value> seen;
  auto visit = [&](Value value) {
    if (value.getParentBlock() == &op.getBody().front() && seen.insert(value).second)
      work.push_back(value);
  };
  for (auto [value, result] : llvm::zip(yield.getValues(), op.getStateResults()))
    if (outer.cotangentOf(result))
      visit(value);
  for (auto [value, result] : llvm::zip(yield.getEmits(), op.getEmitResults()))
    if (outer.cotangentOf(result))
      visit(value);
  llvm::DenseSet<unsigned> reached;
  for (auto [i, result] : llvm::enumerate(op.getStateResults()))
    if (!op.isMap() && outer.cotangentOf(result))
      reached.insert(i);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber();
      if (number < op.getNumStates() && reached.insert(number).second)
        visit(yield.getValues()[number]);
      continue;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      visit(operand);
    for (Value operand : getCaptured(value.getDefiningOp()))
      visit(operand);
  }
  // A state that was reached by its result alone is reached through its value, too.
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    if (reached.contains(i) && outer.activity.isVaried(op.getStateArgs()[i]))
      carried.push_back(i);
}

void OperatorMirror::addStates() {
  Location loc = op.getLoc();
  for (unsigned state : carried) {
    Type type = op.getStateArgs()[state].getType();
    stateArguments.push_back(block->addArgument(wideOf(type), loc));
    Value last = op.isFold() ? outer.cotangentOf(op->getResult(state)) : Value();
    if (!last)
      last = buildZero(outer.b, loc, type);
    stateInits.push_back(widen(outer.b, loc, last));
  }
}

void OperatorMirror::seed() {
  Location loc = op.getLoc();
  YieldOp yield = op.getYield();
  for (auto [i, state] : llvm::enumerate(carried)) {
    Value part = stateArguments[i];
    if (Value list = op.isScan() ? outer.cotangentOf(op->getResult(state)) : Value())
      part = buildSum(inner.b, loc, part, widen(inner.b, loc, inner.addList(list)));
    inner.accumulate(yield.getValues()[state], narrow(inner.b, loc, part, op.getStateArgs()[state].getType()));
  }
  auto take = [&](Value value, Value result) {
    if (Value list = outer.cotangentOf(result))
      inner.accumulate(value, inner.addList(list));
  };
  if (op.isMap())
    for (auto [value, result] : llvm::zip(yield.getValues(), op->getResults()))
      take(value, result);
  // A result whose state is not carried depends on no argument.
  for (auto [value, result] : llvm::zip(yield.getEmits(), op.getEmitResults()))
    take(value, result);
}

unsigned OperatorMirror::emit(Value value) {
  for (auto [i, known] : llvm::enumerate(emits))
    if (known == value)
      return i;
  emits.push_back(value);
  return emits.size() - 1;
}

void OperatorMirror::readGradients() {
  Location loc = op.getLoc();
  for (auto [i, state] : llvm::enumerate(carried)) {
    Value argument = op.getStateArgs()[state], found = inner.cotangentOf(argument);
    // The cotangent itself, where the state only passes through.
    if (found)
      if (auto narrowed = found.getDefiningOp<arith::TruncFOp>(); narrowed && narrowed.getIn() == stateArguments[i])
        found = stateArguments[i];
    if (!found)
      found = buildZero(inner.b, loc, argument.getType());
    stateYields.push_back(widen(inner.b, loc, found));
  }
  for (auto [list, argument] : llvm::zip(op.getLists(), op.getElementArgs()))
    if (Value found = inner.cotangentOf(argument)) {
      gradients.push_back({list, Late{{}, {found}}});
      findLate(found, gradients.back().late);
      emitSources(gradients.back().late);
    }
}

/// What outside is made of leaves the mirror, where it is no element.
void OperatorMirror::emitSources(const Late &late) {
  for (Value source : late.sources)
    if (!isElement(source))
      emit(source);
}

void OperatorMirror::readSums() {
  Location loc = op.getLoc();
  for (auto &[target, parts] : inner.captured) {
    SmallVector<Sum> own;
    bool all = true;
    for (Value part : parts) {
      own.push_back(Sum{target, Late{{}, {part}}});
      all &= findLate(part, own.back().late);
    }
    if (!all) {
      // One list for all of them.
      Value total;
      for (Value part : parts)
        total = buildSum(inner.b, loc, total, part);
      if (isa<FloatType>(total.getType())) // a list has tensors
        total = tensor::FromElementsOp::create(inner.b, loc, tensorOf(total.getType()), total);
      own = {Sum{target, Late{{}, {widen(inner.b, loc, total)}}}};
    }
    for (Sum &sum : own) {
      emitSources(sum.late);
      sums.push_back(sum);
    }
  }
}

/// A cotangent that each step hands on as it is, as that of a sum, is no state: then all steps are independent.
void OperatorMirror::dropConstantStates() {
  if (op.isScan() && !carried.empty())
    for (unsigned state : carried)
      if (hasLag || outer.cotangentOf(op->getResult(state)))
        return;
  for (unsigned i = carried.size(); i-- > 0;) {
    if (stateYields[i] != stateArguments[i])
      continue;
    Value init = stateInits[i];
    for (Value &value : emits)
      if (value == stateArguments[i])
        value = init;
    for (Value &value : stateYields)
      if (value == stateArguments[i])
        value = init;
    for (Sum &sum : sums)
      llvm::replace(sum.late.sources, stateArguments[i], init);
    for (Gradient &gradient : gradients)
      llvm::replace(gradient.late.sources, stateArguments[i], init);
    stateArguments[i].replaceAllUsesWith(init);
    outer.accumulate(op.getInits()[carried[i]], narrow(outer.b, op.getLoc(), init, op.getInits()[carried[i]].getType()));
    unsigned number = cast<BlockArgument>(stateArguments[i]).getArgNumber();
    block->eraseArgument(number);
    carried.erase(carried.begin() + i);
    stateArguments.erase(stateArguments.begin() + i);
    stateYields.erase(stateYields.begin() + i);
    stateInits.erase(stateInits.begin() + i);
  }
}

void OperatorMirror::build() {
  Location loc = op.getLoc();
  bool hasStates = !carried.empty();
  if (!hasStates && emits.empty()) {
    // What is made outside, if anything, is made of elements of lists that are there.
    returnParts({});
    return;
  }
  if (inner.lists.empty()) {
    // Nothing is read: the places are gone through.
    Type place = RankedTensorType::get({}, inner.b.getI64Type());
    inner.addList(IotaOp::create(outer.b, loc, ListType::wrap(op.getLength(), place)));
  }
  OperatorKind kind = OperatorKind::Map;
  if (hasStates)
    kind = hasLag ? (op.isRight() ? OperatorKind::ScanL : OperatorKind::ScanR)
                  : (op.isRight() ? OperatorKind::FoldL : OperatorKind::FoldR);
  YieldOp::create(inner.b, loc, hasStates ? stateYields : emits, hasStates ? emits : SmallVector<Value>());
  SmallVector<Type> types;
  for (Value state : stateYields)
    types.push_back(hasLag ? Type(ListType::wrap(op.getLength(), state.getType())) : state.getType());
  for (Value value : emits)
    types.push_back(ListType::wrap(op.getLength(), value.getType()));
  ComputeOp made = createCompute(outer.b, loc, kind, types, inner.lists, stateInits, {},
                                 hasStates && hasLag ? op.getLagOrOne() : LengthAttr());
  made.getBody().push_back(block);
  block = nullptr;
  returnStates(made);
  returnParts(made);
}

void OperatorMirror::returnParts(ComputeOp made) {
  for (const Gradient &gradient : gradients) {
    bool isLate = !gradient.late.steps.empty();
    outer.accumulate(gradient.list, isLate ? makeLateList(gradient.late, made) : listOf(gradient.late.sources.front(), made));
  }
  for (const Sum &sum : sums)
    returnSum(sum, made);
}

/// To the initial states, what the first steps give to the states before them.
void OperatorMirror::returnStates(ComputeOp made) {
  Location loc = op.getLoc();
  for (auto [i, state] : llvm::enumerate(carried)) {
    Value init = op.getInits()[state], first = made->getResult(i);
    if (!outer.activity.isVaried(init))
      continue;
    if (hasLag) {
      LengthAttr lag = op.getLagOrOne();
      if (op.isRight())
        lag = LengthAttr::get(op.getContext(), 0) - lag;
      first = buildSumOfFilled(outer.b, loc, first, lag);
    }
    outer.accumulate(init, narrow(outer.b, loc, first, init.getType()));
  }
}

/// An element of a list that the mirror goes through.
bool OperatorMirror::isElement(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &inner.mirror && !llvm::is_contained(stateArguments, value);
}

/// A value of the mirror's block as the list of it, outside.
Value OperatorMirror::listOf(Value value, ComputeOp made) {
  unsigned states = carried.size();
  if (isElement(value))
    return inner.lists[cast<BlockArgument>(value).getArgNumber() - states];
  return made->getResult(states + std::distance(emits.begin(), llvm::find(emits, value)));
}

void OperatorMirror::returnSum(const Sum &sum, ComputeOp made) {
  Location loc = op.getLoc();
  OpBuilder &b = outer.b;
  if (!sum.late.steps.empty()) {
    outer.accumulate(sum.target, makeLateSum(sum.late, made));
    return;
  }
  Value list = listOf(sum.late.sources.front(), made);
  Type type = tensorOf(sum.target.getType()), wide = wideOf(type);
  ComputeOp total = createCompute(b, loc, OperatorKind::Reduce, wide, list, buildZero(b, loc, wide));
  auto *body = new Block();
  total.getBody().push_back(body);
  body->addArguments({wide, cast<ListType>(list.getType()).getPeeled()}, {loc, loc});
  OpBuilder at = OpBuilder::atBlockEnd(body);
  Value both = buildSum(at, loc, body->getArgument(0), widen(at, loc, body->getArgument(1)));
  YieldOp::create(at, loc, ValueRange{both}, ValueRange());
  Value gradient = narrow(b, loc, total->getResult(0), type);
  if (isa<FloatType>(sum.target.getType()))
    gradient = tensor::ExtractOp::create(b, loc, gradient, ValueRange());
  outer.accumulate(sum.target, gradient);
}
