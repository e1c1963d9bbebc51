//===- Code.cpp - arithmetic, memory and loops of kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Code.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft::togpu;

Type mlir::ft::togpu::storedType(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isIndex())
    return IntegerType::get(context, 64);
  return element.isInteger(1) ? IntegerType::get(context, 8) : element;
}

Type mlir::ft::togpu::registerType(Type element) {
  return element.isIndex() ? IntegerType::get(element.getContext(), 64) : element;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value Code::number(int64_t value) { return arith::ConstantIntOp::create(*this, value, 64); }
Value Code::number32(int64_t value) { return arith::ConstantIntOp::create(*this, value, 32); }
Value Code::add(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }
Value Code::sub(Value a, Value b) { return createOrFold<arith::SubIOp>(a, b); }
Value Code::mul(Value a, Value b) { return createOrFold<arith::MulIOp>(a, b); }

Value Code::ceilDiv(Value a, Value b) {
  if (matchPattern(b, m_One()))
    return a;
  return createOrFold<arith::DivUIOp>(add(a, add(b, -1)), b);
}

Value Code::extend(Value value) {
  return value.getType().isInteger(64) ? value : createOrFold<arith::ExtUIOp>(getI64Type(), value);
}

Value Code::expand(AffineExpr expr, ValueRange dims, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return number(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value a = expand(binary.getLHS(), dims, symbols), b = expand(binary.getRHS(), dims, symbols);
  Value zero = number(0);
  auto negative = [&](Value v) {
    return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, v, zero);
  };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(a, b);
  case AffineExprKind::Mul:
    return mul(a, b);
  case AffineExprKind::Mod: { // the sign of the divisor, which is positive
    Value rest = createOrFold<arith::RemSIOp>(a, b);
    return createOrFold<arith::SelectOp>(negative(rest), add(rest, b), rest);
  }
  case AffineExprKind::FloorDiv: {
    Value quotient = createOrFold<arith::DivSIOp>(a, b);
    Value rest = createOrFold<arith::RemSIOp>(a, b);
    return createOrFold<arith::SelectOp>(negative(rest), add(quotient, -1), quotient);
  }
  default: { // ceildiv
    Value quotient = createOrFold<arith::DivSIOp>(a, b);
    Value rest = createOrFold<arith::RemSIOp>(a, b);
    Value up = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, rest, zero);
    return createOrFold<arith::SelectOp>(up, add(quotient, 1), quotient);
  }
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Code::at(Value pointer, Value offset, Type element) {
  if (matchPattern(offset, m_Zero()))
    return pointer;
  return LLVM::GEPOp::create(*this, pointer.getType(), storedType(element), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value Code::toGeneric(Value value) {
  if (cast<LLVM::LLVMPointerType>(value.getType()).getAddressSpace() == generic)
    return value;
  return LLVM::AddrSpaceCastOp::create(*this, pointer(generic), value);
}

Value Code::load(Value pointer, Type element) {
  Value value = LLVM::LoadOp::create(*this, storedType(element), pointer, unsigned(bytesOf(element)));
  return element.isInteger(1) ? createOrFold<arith::TruncIOp>(element, value) : value;
}

void Code::store(Value value, Value pointer, Type element) {
  if (element.isInteger(1))
    value = createOrFold<arith::ExtUIOp>(storedType(element), value);
  LLVM::StoreOp::create(*this, value, pointer, unsigned(bytesOf(element)));
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

scf::ForOp Code::loop(Value begin, Value end, Value step, ValueRange inits, int64_t unroll) {
  auto created = scf::ForOp::create(*this, begin, end, step, inits);
  if (unroll > 0) {
    auto disable = unroll == 1 ? getBoolAttr(true) : BoolAttr();
    auto count = unroll == 1 ? IntegerAttr() : getI32IntegerAttr(int32_t(unroll));
    auto how = LLVM::LoopUnrollAttr::get(getContext(), disable, count, {}, {}, {}, {}, {});
    created->setAttr("loop_annotation",
                     LLVM::LoopAnnotationAttr::get(getContext(), {}, {}, {}, how, {}, {}, {}, {},
                                                   {}, {}, {}, {}, {}, {}, {}));
  }
  if (inits.empty()) // with no iteration arguments the builder adds the yield
    setInsertionPoint(created.getBody()->getTerminator());
  else
    setInsertionPointToStart(created.getBody());
  return created;
}

Value Code::toFloat32(Value value) {
  return isHalf(value.getType()) ? Value(arith::ExtFOp::create(*this, getF32Type(), value)) : value;
}

Value Code::toElement(Value value, Type element) {
  Type to = registerType(element);
  return value.getType() == to ? value : Value(arith::TruncFOp::create(*this, to, value));
}
