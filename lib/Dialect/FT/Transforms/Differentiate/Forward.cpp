//===- Forward.cpp - tangents beside values -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward mode: the function with the tangent of each value beside it. An operator goes through lists and their
// tangents at once, and carries states and their tangents.
//
//===----------------------------------------------------------------------===//
#include "Differentiate.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

namespace {
class Forward {
public:
  Forward(func::FuncOp function, const Request &request)
      : function(function), request(request), activity(function, request.wrt) {}
  LogicalResult run();

private:
  LogicalResult addTangents(Block &block);
  LogicalResult addTangents(ComputeOp op);
  void addTangentOfExtremum(ComputeOp op);
  LogicalResult addToCombine(ComputeOp op, ArrayRef<unsigned> states);
  Value tangentOrZero(OpBuilder &b, Value value) {
    Value found = tangents.lookup(value);
    return found ? found : buildZero(b, value.getLoc(), value.getType());
  }

  func::FuncOp function;
  const Request &request;
  Activity activity;
  DenseMap<Value, Value> tangents;
};
} // namespace

LogicalResult Forward::run() {
  Block &block = function.front();
  for (unsigned number : request.wrt) {
    Value argument = block.getArgument(number);
    tangents[argument] = block.addArgument(argument.getType(), argument.getLoc());
  }
  if (failed(refuseBits(function, activity)) || failed(addTangents(block)))
    return failure();
  Operation *end = block.getTerminator();
  OpBuilder b(end);
  SmallVector<Value> results, made;
  for (unsigned number : request.results) {
    Value result = end->getOperand(number);
    results.push_back(result);
    if (isDifferentiableType(result.getType()))
      made.push_back(tangentOrZero(b, result));
  }
  llvm::append_range(results, made);
  end->setOperands(results);
  function.setFunctionType(b.getFunctionType(block.getArgumentTypes(), ValueRange(results).getTypes()));
  if (ArrayAttr attributes = function.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attributes.getValue());
    all.append(request.wrt.size(), b.getDictionaryAttr({}));
    function.setArgAttrsAttr(b.getArrayAttr(all));
  }
  function.removeResAttrsAttr();
  return success();
}

LogicalResult Forward::addTangents(Block &block) {
  // Operators are replaced on the way.
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    operations.push_back(&op);
  for (Operation *op : operations) {
    if (auto compute = dyn_cast<ComputeOp>(op)) {
      if (!activity.isAnyVaried(op->getResults()))
        continue;
      if (isExtremum(compute))
        addTangentOfExtremum(compute);
      else if (failed(addTangents(compute)))
        return failure();
      continue;
    }
    SmallVector<Value> own = llvm::map_to_vector(op->getOperands(), [&](Value v) { return tangents.lookup(v); });
    auto hasTangent = [&](Value value) { return tangents.lookup(value) != nullptr; };
    bool isCapturing = op->getNumRegions() && llvm::any_of(getCaptured(op), hasTangent);
    if (!isCapturing && llvm::none_of(own, [](Value v) { return v != nullptr; }))
      continue;
    if (llvm::none_of(op->getResultTypes(), isDifferentiableType))
      continue;
    FailureOr<DifferentiableOpInterface> model = getModel(op, hasTangent);
    if (failed(model))
      return failure();
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    SmallVector<Value> results;
    if (failed(model->buildJvp(b, [](Value value) { return value; }, own, results)))
      return failure();
    for (auto [result, tangent] : llvm::zip_equal(op->getResults(), results))
      if (tangent)
        tangents[result] = tangent;
  }
  return success();
}

void Forward::addTangentOfExtremum(ComputeOp op) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0), list = op.getLists().front(), init = op.getInits().front();
  if (Value tangent = buildExtremumJvp(b, op.getLoc(), {result, list, init}, tangents.lookup(list), tangents.lookup(init)))
    tangents[result] = tangent;
}

LogicalResult Forward::addToCombine(ComputeOp op, ArrayRef<unsigned> states) {
  Region *combine = op.getCombineOrNull();
  if (!combine)
    return success();
  Block &block = combine->front();
  unsigned count = op.getNumStates();
  // From the back, so that numbers before stay.
  for (unsigned side : {1u, 0u})
    for (auto [i, state] : llvm::enumerate(states)) {
      Value value = block.getArgument(side * count + state);
      tangents[value] = block.insertArgument((side + 1) * count + i, value.getType(), value.getLoc());
    }
  if (failed(addTangents(block)))
    return failure();
  auto yield = cast<YieldOp>(block.getTerminator());
  OpBuilder b(yield);
  SmallVector<Value> more;
  for (unsigned state : states)
    more.push_back(tangentOrZero(b, yield.getValues()[state]));
  yield.getValuesMutable().append(more);
  return success();
}

LogicalResult Forward::addTangents(ComputeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  unsigned count = op.getNumStates();
  SmallVector<Value> lists(op.getLists()), inits(op.getInits()), identities(op.getIdentities());
  SmallVector<unsigned> states;
  for (unsigned i = 0; i < count; ++i)
    if (activity.isVaried(body.getArgument(i)))
      states.push_back(i);
  // Tangents of the captured values are captured as well.
  for (auto [i, list] : llvm::enumerate(op.getLists()))
    if (Value tangent = tangents.lookup(list)) {
      lists.push_back(tangent);
      Value element = op.getElementArgs()[i];
      tangents[element] = body.addArgument(element.getType(), loc);
    }
  for (auto [i, state] : llvm::enumerate(states)) {
    Value value = body.getArgument(state);
    inits.push_back(tangentOrZero(b, op.getInits()[state]));
    tangents[value] = body.insertArgument(count + i, value.getType(), loc);
    if (!op.getIdentities().empty())
      identities.push_back(buildZero(b, loc, value.getType()));
  }
  if (failed(addTangents(body)) || failed(addToCombine(op, states)))
    return failure();

  YieldOp yield = op.getYield();
  OpBuilder inner(yield);
  SmallVector<Value> values(yield.getValues()), emits(yield.getEmits());
  SmallVector<unsigned> ofValues(states), ofEmits;
  if (op.isMap())
    for (unsigned i = 0; i < yield.getValues().size(); ++i)
      if (tangents.lookup(yield.getValues()[i]))
        ofValues.push_back(i);
  for (unsigned i : ofValues)
    values.push_back(tangentOrZero(inner, yield.getValues()[i]));
  for (unsigned i = 0; i < yield.getEmits().size(); ++i)
    if (tangents.lookup(yield.getEmits()[i])) {
      ofEmits.push_back(i);
      emits.push_back(tangentOrZero(inner, yield.getEmits()[i]));
    }
  YieldOp::create(inner, yield.getLoc(), values, emits);
  yield.erase();

  SmallVector<Type> types;
  for (Value value : values)
    types.push_back(op.isFold() ? value.getType() : Type(ListType::wrap(op.getLength(), value.getType())));
  for (Value value : emits)
    types.push_back(ListType::wrap(op.getLength(), value.getType()));
  // Elements and states must agree where only they say how to join.
  bool isPaired = op.getCombineOrNull() != nullptr;
  if (!isPaired) {
    isPaired = lists.size() == inits.size();
    for (auto [list, init] : llvm::zip(lists, inits))
      isPaired &= cast<ListType>(list.getType()).getPeeled() == init.getType();
  }
  OperatorKind kind = op.isReassociable() && !isPaired ? getOrdered(op.getKind()) : op.getKind();
  SmallVector<Value> old(op->getResults());
  unsigned numOld = op.isMap() ? old.size() : count;
  ComputeOp made = rebuild(b, op, kind, types, lists, inits, kind == op.getKind() ? identities : SmallVector<Value>());
  unsigned numValues = values.size();
  for (auto [i, result] : llvm::enumerate(old)) {
    unsigned place = i < numOld ? i : numValues + (i - numOld);
    result.replaceAllUsesWith(made->getResult(place));
  }
  for (auto [i, number] : llvm::enumerate(ofValues))
    tangents[made->getResult(number)] = made->getResult(numOld + i);
  for (auto [i, number] : llvm::enumerate(ofEmits))
    tangents[made->getResult(numValues + number)] = made->getResult(numValues + (old.size() - numOld) + i);
  op->erase();
  return success();
}

LogicalResult differentiate::buildForward(func::FuncOp function, const Request &request) {
  func::FuncOp made = function.clone();
  made.setSymName((function.getSymName() + "_jvp").str());
  OpBuilder b(function->getContext());
  b.setInsertionPointAfter(function);
  b.insert(made);
  return Forward(made, request).run();
}
