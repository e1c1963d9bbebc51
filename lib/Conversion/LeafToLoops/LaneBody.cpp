//===- LaneBody.cpp - the body of a nest's member on lanes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Emitter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft::leaf;

bool LaneBody::needsScalars(const NestMember &member) {
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

Value LaneBody::zeroIndex() { return e.index(0); }

Value LaneBody::loadCaptured(const ElementView &view) { return e.loadLanes(view, e.beginOfView(view), 0, {}); }

Value LaneBody::toFloat32(Value value) { return e.lanesToFloat32(value); }

Value LaneBody::toElement(Value value, Type element) { return e.toElementType(value, element); }

LogicalResult LaneBody::evaluateOther(Operation *op) {
  IRMapping map;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (Value known = lookup(operand))
        map.map(operand, e.toElementType(known, operand.getType()));
  });
  Operation *clone = e.b.clone(*op, map);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
    set(from, to);
  return success();
}

void LaneBody::unify(SmallVectorImpl<Value> &operands) {
  if (llvm::any_of(operands, isVector))
    for (Value &operand : operands)
      operand = e.broadcast(operand, shape.width);
}

Type LaneBody::typeFor(Type element, ArrayRef<Value> operands) {
  return llvm::any_of(operands, isVector) ? Type(VectorType::get(shape.width, element)) : element;
}

/// One element per lane.
Value LaneBody::evaluateExtract(tensor::ExtractOp extract, const ElementView &view) {
  ImplicitLocOpBuilder &b = e.b;
  if (view.isSplat()) {
    for (auto [position, extent] : llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape()))
      if (!isInRange(member, position, extent))
        e.checked(lookup(position), extent, extract, shape);
    return e.constantOf(view.splat.getType(), view.splat);
  }
  Value offset = e.beginOfView(view), lanes;
  for (auto [position, stride, extent] : llvm::zip_equal(
           extract.getIndices(), view.strides, extract.getTensor().getType().getShape())) {
    Value index = lookup(position);
    if (!isInRange(member, position, extent))
      index = e.checked(index, extent, extract, shape);
    if (!isVector(index)) {
      offset = e.addIndex(offset, e.mulIndex(index, stride));
      continue;
    }
    if (stride != 1)
      index = arith::MulIOp::create(b, index, e.broadcast(e.index(stride), shape.width));
    lanes = lanes ? Value(arith::AddIOp::create(b, lanes, index)) : index;
  }
  const Buffer &buffer = e.graph.buffers[view.buffer];
  Value value =
      lanes ? e.gatherLanes(view.buffer, offset, lanes, shape) : e.loadLanes(view, offset, 0, {});
  if (lanes && getElementTypeOrSelf(value.getType()) != buffer.elementType)
    value = arith::TruncIOp::create(b, VectorType::get(shape.width, buffer.elementType), value);
  return value;
}
