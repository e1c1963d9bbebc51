//===- BodyEvaluator.cpp - the body of a nest's member --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/LeafGraph/BodyEvaluator.h"

#include "ft/Analysis/LeafGraph/NestAccesses.h"
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

const ElementView *BodyEvaluator::viewOf(Value captured) const {
  const auto *known = llvm::find_if(member.captured, [&](const auto &entry) { return entry.first == captured; });
  return known == member.captured.end() ? nullptr : &known->second;
}

Value BodyEvaluator::lookup(Value value) {
  if (Value known = values.lookup(value))
    return known;
  const ElementView *view = viewOf(value);
  return view ? values[value] = loadCaptured(*view) : Value();
}

LogicalResult BodyEvaluator::evaluate() {
  if (!member.body)
    return evaluateOp(member.op);
  for (Operation &op : member.body->without_terminator())
    if (failed(evaluateOp(&op)))
      return failure();
  return success();
}

LogicalResult BodyEvaluator::evaluateOp(Operation *op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int loop = member.loops[index.getDim()];
    set(index, loop < 0 ? zeroIndex() : loopIndex(loop));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    const ElementView *view = viewOf(extract.getTensor());
    if (!view)
      return op->emitError("reads a tensor that the leaf does not know");
    set(extract, evaluateExtract(extract, *view));
    return success();
  }
  if (op->getNumRegions() != 0 || isa<arith::ConstantOp>(op))
    return evaluateOther(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lookup(operand));
  SmallVector<Value> results = evaluateElementwise(op, operands);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
    set(from, to);
  return success();
}

SmallVector<Value> BodyEvaluator::evaluateElementwise(Operation *op, SmallVector<Value> operands) {
  bool isBits = isa<arith::BitcastOp>(op);
  for (auto [value, source] : llvm::zip_equal(operands, op->getOperands())) {
    Type element = getElementTypeOrSelf(source.getType());
    value = isBits ? toElement(value, element) : toFloat32(value);
  }
  unify(operands);

  Type source = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();
  Type first = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp>(op) && isHalf(source) && first.isF32())
    return operands; // toFloat32 did it
  if (isa<arith::TruncFOp>(op) && isHalf(first)) {
    // By way of f32 also from f64: a processor has no such instruction, and a GPU rounds as it does.
    Value value = operands.front();
    if (source.isF64())
      value = arith::TruncFOp::create(builder, typeFor(builder.getF32Type(), operands), value);
    return {arith::TruncFOp::create(builder, typeFor(first, operands), value)};
  }

  SmallVector<Value> results;
  if (Value cast = isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) ? castIndex(op, operands.front()) : Value())
    results.push_back(cast);
  // (A masked lane may hold anything, also what the processor traps on.)
  if (getIntegerOperation(op))
    results.push_back(buildIntegerOperation(builder, builder.getLoc(), op, operands, typeFor(first, operands)));
  auto isRounded = [&](Type element) { return isHalf(element) && !isBits; };
  if (results.empty()) {
    OperationState state(builder.getLoc(), op->getName());
    state.addOperands(operands);
    for (Type type : op->getResultTypes()) {
      Type element = getElementTypeOrSelf(type);
      state.addTypes(typeFor(isRounded(element) ? Type(builder.getF32Type()) : element, operands));
    }
    // Without what the program promises of its integers: a result beyond them wraps.
    for (NamedAttribute attribute : op->getAttrs())
      if (!llvm::is_contained({"overflowFlags", "nonNeg"}, attribute.getName().getValue()))
        state.addAttribute(attribute.getName(), attribute.getValue());
    Operation *created = builder.create(state);
    if (member.contracts)
      allowContraction(created);
    llvm::append_range(results, created->getResults());
  }
  for (auto [result, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (Type element = getElementTypeOrSelf(type); isRounded(element) && !member.sums)
      result = toElement(result, element);
  return results;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The type of a scalar: i64 for an index.
static Type scalarType(Type element) { return element.isIndex() ? IntegerType::get(element.getContext(), 64) : element; }

Value BodyEvaluator::zeroIndex() { return arith::ConstantIntOp::create(builder, 0, 64); }

Value BodyEvaluator::toFloat32(Value value) {
  return isHalf(value.getType()) ? Value(arith::ExtFOp::create(builder, builder.getF32Type(), value)) : value;
}

Value BodyEvaluator::toElement(Value value, Type element) {
  Type to = scalarType(element);
  return value.getType() == to ? value : Value(arith::TruncFOp::create(builder, to, value));
}

Type BodyEvaluator::typeFor(Type element, ArrayRef<Value>) { return scalarType(element); }

LogicalResult BodyEvaluator::evaluateOther(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return op->emitError("has no rule for scalars of a leaf");
  TypedAttr value = constant.getValue();
  if (auto dense = dyn_cast<SplatElementsAttr>(value))
    value = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  if (value.getType().isIndex())
    value = builder.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
  set(constant, arith::ConstantOp::create(builder, value));
  return success();
}

Value BodyEvaluator::castIndex(Operation *op, Value value) {
  Type to = scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
  unsigned from = value.getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
  if (from > bits)
    return arith::TruncIOp::create(builder, to, value);
  if (from == bits)
    return value;
  return isa<arith::IndexCastOp>(op) ? Value(arith::ExtSIOp::create(builder, to, value)) : Value(arith::ExtUIOp::create(builder, to, value));
}
