//===- BodyEvaluator.cpp - A scalar body on lanes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 are computed in f32: after each op rounded to the type, or, in
// the body of a reduction, only where the result is stored.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "ft/Conversion/LeafGraph/NestAccesses.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft::leaf;

bool BodyEvaluator::needsScalars(const Member &member) {
  auto bad = [](Operation &op) {
    if (op.getNumRegions() != 0)
      return true;
    if (isa<linalg::IndexOp, linalg::YieldOp, tensor::ExtractOp, arith::ConstantOp>(op))
      return false;
    // A masked lane may divide by zero, and the processor has no vector division.
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      return true;
    return !OpTrait::hasElementwiseMappableTraits(&op);
  };
  if (member.copy)
    return false;
  return member.body ? llvm::any_of(*member.body, bad) : bad(*member.op);
}

Value BodyEvaluator::lanesOf(Value value) {
  if (Value known = values.lookup(value))
    return known;
  for (const auto &[captured, view] : member.captured)
    if (captured == value)
      return values[value] = e.loadLanes(view, e.beginOfView(view), 0, {});
  return Value();
}

void BodyEvaluator::evaluateBody() {
  if (!member.body) {
    evaluateOp(member.op);
    return;
  }
  for (Operation &op : member.body->without_terminator())
    evaluateOp(&op);
}

void BodyEvaluator::evaluateOp(Operation *op) {
  ImplicitLocOpBuilder &b = e.b;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int loop = member.loops[index.getDim()];
    values[index] = loop < 0 ? e.index(0) : loopIndex(loop);
    return;
  }
  if (isa<tensor::ExtractOp>(op)) {
    values[op->getResult(0)] = evaluateExtract(op);
    return;
  }
  if (op->getNumRegions() != 0 || isa<arith::ConstantOp>(op)) {
    IRMapping map;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Value known = lanesOf(operand))
          map.map(operand, e.toElementType(known, operand.getType()));
    });
    Operation *clone = b.clone(*op, map);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
      values[from] = to;
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lanesOf(operand));
  SmallVector<Value> results = evaluateElementwise(op, operands);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
    values[from] = to;
}

Value BodyEvaluator::combineLanes(Operation *op, Value x, Value y) {
  return evaluateElementwise(op, {x, y}).front();
}

SmallVector<Value> BodyEvaluator::evaluateElementwise(Operation *op, SmallVector<Value> operands) {
  ImplicitLocOpBuilder &b = e.b;
  bool isBits = isa<arith::BitcastOp>(op);
  for (auto [value, source] : llvm::zip_equal(operands, op->getOperands())) {
    Type element = getElementTypeOrSelf(source.getType());
    value = isBits ? e.toElementType(value, element) : e.lanesToFloat32(value);
  }
  bool vectors = llvm::any_of(operands, isVector);
  if (vectors)
    for (Value &operand : operands)
      operand = e.broadcast(operand, shape.width);
  auto typeOf = [&](Type element) -> Type {
    return vectors ? Type(VectorType::get(shape.width, element)) : element;
  };

  Type source = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();
  Type first = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp>(op) && isHalf(source) && first.isF32())
    return operands; // toFloat32 did it
  if (isa<arith::TruncFOp>(op) && isHalf(first)) {
    // By way of f32 also from f64: there is no such instruction.
    Value value = operands.front();
    if (source.isF64())
      value = arith::TruncFOp::create(b, typeOf(b.getF32Type()), value);
    else if (isHalf(source)) // between the halves
      value = e.lanesToFloat32(value);
    return {arith::TruncFOp::create(b, typeOf(first), value)};
  }

  OperationState state(b.getLoc(), op->getName());
  state.addOperands(operands);
  SmallVector<bool> halves;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    halves.push_back(isHalf(element) && !isBits);
    state.addTypes(typeOf(halves.back() ? Type(b.getF32Type()) : element));
  }
  state.addAttributes(op->getAttrs());
  Operation *created = b.create(state);
  if (member.widen)
    allowContraction(created);
  SmallVector<Value> results = llvm::to_vector_of<Value>(created->getResults());
  for (auto [result, half, type] : llvm::zip_equal(results, halves, op->getResultTypes()))
    if (half && !member.widen)
      result = e.toElementType(result, getElementTypeOrSelf(type));
  return results;
}

/// `tensor.extract` of a captured tensor: one element per lane.
Value BodyEvaluator::evaluateExtract(Operation *op) {
  ImplicitLocOpBuilder &b = e.b;
  auto extract = cast<tensor::ExtractOp>(op);
  const View *view = nullptr;
  for (const auto &[captured, at] : member.captured)
    if (captured == extract.getTensor())
      view = &at;
  if (view->isSplat()) {
    for (auto [position, extent] : llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape()))
      if (!isInRange(member, position, extent))
        e.checked(lanesOf(position), extent, op, shape);
    return e.constant(view->splat.getType(), view->splat);
  }
  Value offset = e.beginOfView(*view), lanes;
  for (auto [position, stride, extent] : llvm::zip_equal(
           extract.getIndices(), view->strides, extract.getTensor().getType().getShape())) {
    Value index = lanesOf(position);
    if (!isInRange(member, position, extent))
      index = e.checked(index, extent, op, shape);
    if (!isVector(index)) {
      offset = e.addIndex(offset, e.mulIndex(index, stride));
      continue;
    }
    if (stride != 1)
      index = arith::MulIOp::create(b, index, e.broadcast(e.index(stride), shape.width));
    lanes = lanes ? Value(arith::AddIOp::create(b, lanes, index)) : index;
  }
  const Buffer &buffer = e.graph.buffers[view->buffer];
  Value value =
      lanes ? e.gatherLanes(view->buffer, offset, lanes, shape) : e.loadLanes(*view, offset, 0, {});
  if (lanes && getElementTypeOrSelf(value.getType()) != buffer.elementType)
    value = arith::TruncIOp::create(b, VectorType::get(shape.width, buffer.elementType), value);
  return value;
}
