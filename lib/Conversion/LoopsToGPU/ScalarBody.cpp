//===- ScalarBody.cpp - the body of a nest on scalars ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafEmitter.h"

#include "ft/Conversion/LeafGraph/NestAccesses.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

ScalarBody::ScalarBody(LeafEmitter &emitter, const leaf::Member &member, At at)
    : BodyEvaluator(emitter.b, member), e(emitter), at(at) {}

Value ScalarBody::zeroIndex() { return e.b.number(0); }

Value ScalarBody::loadCaptured(const leaf::View &view) { return e.loadOne(view, e.beginOf(view, at), at); }

Value ScalarBody::toFloat32(Value value) { return e.b.toFloat32(value); }

Value ScalarBody::toElement(Value value, Type element) { return e.b.toElement(value, element); }

Type ScalarBody::typeFor(Type element, ArrayRef<Value>) { return registerType(element); }

Value ScalarBody::evaluateExtract(tensor::ExtractOp extract, const leaf::View &view) {
  Code &b = e.b;
  Value offset = view.isSplat() ? b.number(0) : e.beginOf(view, at);
  for (auto [position, stride, extent] :
       llvm::zip_equal(extract.getIndices(), view.strides, extract.getTensor().getType().getShape())) {
    Value index = lookup(position);
    if (!leaf::isInRange(member, position, extent))
      index = e.checkIndex(index, extent, extract);
    if (!view.isSplat())
      offset = b.add(offset, b.mul(index, stride));
  }
  return e.loadOne(view, offset, at);
}

LogicalResult ScalarBody::evaluateOther(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return op->emitError("has no rule on the GPU");
  TypedAttr value = constant.getValue();
  if (auto dense = dyn_cast<SplatElementsAttr>(value))
    value = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  if (value.getType().isIndex())
    value = e.b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
  set(constant, arith::ConstantOp::create(e.b, value));
  return success();
}

/// Casts of indices, which are i64 here.
SmallVector<Value> ScalarBody::evaluateSpecially(Operation *op, ArrayRef<Value> operands) {
  Code &b = e.b;
  if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return {};
  Value value = operands.front();
  Type to = registerType(getElementTypeOrSelf(op->getResult(0).getType()));
  unsigned from = value.getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
  if (from > bits)
    value = arith::TruncIOp::create(b, to, value);
  else if (from < bits && isa<arith::IndexCastOp>(op))
    value = arith::ExtSIOp::create(b, to, value);
  else if (from < bits)
    value = arith::ExtUIOp::create(b, to, value);
  return {value};
}
