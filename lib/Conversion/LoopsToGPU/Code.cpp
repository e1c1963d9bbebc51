//===- Code.cpp - arithmetic, memory and loops of kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Code.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft::togpu;

int64_t mlir::ft::togpu::bytesOf(Type element) {
  return element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

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
  return loadAdjacent(pointer, element, 1, false).front();
}

SmallVector<Value> Code::loadAdjacent(Value pointer, Type element, int64_t count, bool aligned) {
  Type stored = storedType(element);
  SmallVector<Value> values;
  if (count > 1 && aligned) {
    auto type = VectorType::get(count, stored);
    Value all = LLVM::LoadOp::create(*this, type, pointer, unsigned(count * bytesOf(element)));
    for (int64_t i = 0; i < count; ++i)
      values.push_back(LLVM::ExtractElementOp::create(*this, all, number32(i)));
  } else {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(LLVM::LoadOp::create(*this, stored, at(pointer, number(i), element),
                                            unsigned(bytesOf(element))));
  }
  if (element.isInteger(1))
    for (Value &value : values)
      value = createOrFold<arith::TruncIOp>(element, value);
  return values;
}

void Code::store(Value value, Value pointer, Type element) {
  storeAdjacent({value}, pointer, element, false);
}

void Code::storeAdjacent(ArrayRef<Value> values, Value pointer, Type element, bool aligned) {
  Type stored = storedType(element);
  SmallVector<Value> kept;
  for (Value value : values)
    kept.push_back(element.isInteger(1) ? createOrFold<arith::ExtUIOp>(stored, value) : value);
  if (kept.size() > 1 && aligned) {
    auto type = VectorType::get(int64_t(kept.size()), stored);
    Value all = LLVM::PoisonOp::create(*this, type);
    for (auto [i, value] : llvm::enumerate(kept))
      all = LLVM::InsertElementOp::create(*this, all, value, number32(i));
    LLVM::StoreOp::create(*this, all, pointer, unsigned(kept.size() * bytesOf(element)));
    return;
  }
  for (auto [i, value] : llvm::enumerate(kept))
    LLVM::StoreOp::create(*this, value, at(pointer, number(i), element),
                          unsigned(bytesOf(element)));
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

Value Code::shuffle(Value value, int64_t mask) {
  Type type = value.getType();
  Type i32 = getI32Type();
  auto exchange = [&](Value v) -> Value {
    return NVVM::ShflOp::create(*this, v.getType(), number32(-1), v, number32(mask), number32(31),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return exchange(value);
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32) {
    Type same = getIntegerType(bits);
    Value raw = isa<FloatType>(type) ? Value(arith::BitcastOp::create(*this, same, value)) : value;
    Value other =
        arith::TruncIOp::create(*this, same, exchange(arith::ExtUIOp::create(*this, i32, raw)));
    return isa<FloatType>(type) ? Value(arith::BitcastOp::create(*this, type, other)) : other;
  }
  Type i64 = getI64Type();
  Value raw = isa<FloatType>(type) ? Value(arith::BitcastOp::create(*this, i64, value)) : value;
  Value low = exchange(arith::TruncIOp::create(*this, i32, raw));
  Value high =
      exchange(arith::TruncIOp::create(*this, i32, arith::ShRUIOp::create(*this, raw, number(32))));
  Value other = arith::OrIOp::create(
      *this, arith::ExtUIOp::create(*this, i64, low),
      arith::ShLIOp::create(*this, arith::ExtUIOp::create(*this, i64, high), number(32)));
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(*this, type, other)) : other;
}

Value Code::toFloat32(Value value) {
  return isHalf(value.getType()) ? Value(arith::ExtFOp::create(*this, getF32Type(), value)) : value;
}

Value Code::toElement(Value value, Type element) {
  Type to = registerType(element);
  return value.getType() == to ? value : Value(arith::TruncFOp::create(*this, to, value));
}
