//===- ScalarBody.cpp - the body of a nest on scalars ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of the CPU engine: f16 and bf16 are computed in f32, after each op
// rounded to the type, or, in the body of a reduction, only where the result is
// stored.
//
//===----------------------------------------------------------------------===//
#include "LeafEmitter.h"

#include "ft/Conversion/LeafGraph/NestAccesses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft::togpu;

Value ScalarBody::lookup(Value value) {
  if (Value known = values.lookup(value))
    return known;
  for (const auto &[captured, view] : member.captured)
    if (captured == value)
      return values[value] = e.loadOne(view, e.beginOf(view, at), at);
  return Value();
}

LogicalResult ScalarBody::run() {
  if (!member.body)
    return evaluate(member.op);
  for (Operation &op : member.body->without_terminator())
    if (failed(evaluate(&op)))
      return failure();
  return success();
}

FailureOr<Value> ScalarBody::combine(Operation *op, Value a, Value b) {
  FailureOr<SmallVector<Value>> results = evaluateScalar(op, {a, b});
  if (failed(results))
    return failure();
  return results->front();
}

LogicalResult ScalarBody::evaluate(Operation *op) {
  Code &b = e.b;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int loop = member.loops[index.getDim()];
    values[index] = loop < 0 ? b.number(0) : loopIndex(loop);
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    const leaf::View *view = nullptr;
    for (const auto &[captured, at] : member.captured)
      if (captured == extract.getTensor())
        view = &at;
    if (!view)
      return op->emitError("reads a tensor that the leaf does not know");
    Value offset = view->isSplat() ? b.number(0) : e.beginOf(*view, at);
    for (auto [position, stride, extent] : llvm::zip_equal(
             extract.getIndices(), view->strides, extract.getTensor().getType().getShape())) {
      Value index = lookup(position);
      if (!leaf::isInRange(member, position, extent))
        index = e.checkIndex(index, extent, op);
      if (!view->isSplat())
        offset = b.add(offset, b.mul(index, stride));
    }
    values[extract.getResult()] = e.loadOne(*view, offset, at);
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    TypedAttr value = constant.getValue();
    if (auto dense = dyn_cast<SplatElementsAttr>(value))
      value = cast<TypedAttr>(dense.getSplatValue<Attribute>());
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    values[constant] = arith::ConstantOp::create(b, value);
    return success();
  }
  if (op->getNumRegions() != 0)
    return op->emitError("has no rule on the GPU");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lookup(operand));
  FailureOr<SmallVector<Value>> results = evaluateScalar(op, operands);
  if (failed(results))
    return failure();
  for (auto [from, to] : llvm::zip_equal(op->getResults(), *results))
    values[from] = to;
  return success();
}

FailureOr<SmallVector<Value>> ScalarBody::evaluateScalar(Operation *op,
                                                         SmallVector<Value> operands) {
  Code &b = e.b;
  bool isBits = isa<arith::BitcastOp>(op);
  for (auto [value, source] : llvm::zip_equal(operands, op->getOperands())) {
    Type element = getElementTypeOrSelf(source.getType());
    value = isBits ? b.toElement(value, element) : b.toFloat32(value);
  }
  Type source = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();
  Type first = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp>(op) && isHalf(source) && first.isF32())
    return operands; // toFloat32 did it
  if (isa<arith::TruncFOp>(op) && isHalf(first)) {
    // By way of f32 also from f64, as the CPU does.
    Value value = operands.front();
    if (source.isF64())
      value = arith::TruncFOp::create(b, b.getF32Type(), value);
    return SmallVector<Value>{arith::TruncFOp::create(b, first, value)};
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) { // an index is an i64 here
    Value value = operands.front();
    Type to = registerType(first);
    unsigned from = value.getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
    if (from > bits)
      value = arith::TruncIOp::create(b, to, value);
    else if (from < bits && isa<arith::IndexCastOp>(op))
      value = arith::ExtSIOp::create(b, to, value);
    else if (from < bits)
      value = arith::ExtUIOp::create(b, to, value);
    return SmallVector<Value>{value};
  }

  SmallVector<Value> results;
  if (Value fast = emitFastMath(b, op, operands)) {
    results.push_back(fast);
  } else {
    OperationState state(b.getLoc(), op->getName());
    state.addOperands(operands);
    for (Type type : op->getResultTypes()) {
      Type element = getElementTypeOrSelf(type);
      state.addTypes(isHalf(element) && !isBits ? Type(b.getF32Type()) : registerType(element));
    }
    state.addAttributes(op->getAttrs());
    Operation *created = b.create(state);
    if (member.widen)
      leaf::allowContraction(created);
    llvm::append_range(results, created->getResults());
  }
  for (auto [result, type] : llvm::zip_equal(results, op->getResultTypes())) {
    Type element = getElementTypeOrSelf(type);
    if (isHalf(element) && !isBits && !member.widen)
      result = b.toElement(result, element);
  }
  return results;
}
