//===- ThreadCode.cpp - addresses and accesses of a thread ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadCode.h"

#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Support/SwizzledAddress.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

Value ThreadCode::pairOf(Value low, Value high) {
  Value both = LLVM::PoisonOp::create(*this, VectorType::get(2, low.getType()));
  both = LLVM::InsertElementOp::create(*this, both, low, number32(0));
  return LLVM::InsertElementOp::create(*this, both, high, number32(1));
}

Value ThreadCode::beginAlong(BlockedAttr layout, unsigned dim) {
  const int64_t vector = layout.getVector()[dim], repeats = layout.getRepeats(dim);
  Value along = threadAlong(layout, dim);
  if (repeats == 1)
    return mul(along, vector);
  // The pieces of the warps before are repeated, too.
  Value size = number(layout.getWarp()[dim]);
  Value warp = createOrFold<arith::DivUIOp>(along, size), inWarp = createOrFold<arith::RemUIOp>(along, size);
  return mul(add(mul(warp, layout.getWarp()[dim] * repeats), inWarp), vector);
}

Value ThreadCode::threadAlong(BlockedAttr layout, unsigned dim) {
  Value thread = NVVM::ThreadIdXOp::create(*this, getI32Type());
  auto digit = [&](Value number, int64_t columns) {
    Value across = number32(columns);
    return dim == 0 ? createOrFold<arith::DivUIOp>(number, across) : createOrFold<arith::RemUIOp>(number, across);
  };
  ArrayRef<int64_t> warp = layout.getWarp();
  if (warp.empty())
    return createOrFold<arith::ExtUIOp>(getI64Type(), digit(thread, layout.getThreads()[1]));
  Value size = number32(warp[0] * warp[1]);
  Value outer = digit(createOrFold<arith::DivUIOp>(thread, size), layout.getThreads()[1] / warp[1]);
  Value inner = digit(createOrFold<arith::RemUIOp>(thread, size), warp[1]);
  Value place = createOrFold<arith::AddIOp>(createOrFold<arith::MulIOp>(outer, number32(warp[dim])), inner);
  return createOrFold<arith::ExtUIOp>(getI64Type(), place);
}

Matrix ThreadCode::matrixOf(ViewType type, ValueRange parts) {
  ValueRange digits = parts.slice(1, type.getNumDigits()), rest = parts.drop_front(1 + type.getNumDigits());
  return {type, parts.front(), digits, rest.take_front(type.getNumDynamic()), rest.drop_front(type.getNumDynamic())};
}

/// The digits of an index, the fastest first, each with its number.
static SmallVector<std::pair<size_t, Value>> digitsOf(ThreadCode &b, ArrayRef<int64_t> digits, Value index) {
  SmallVector<std::pair<size_t, Value>> found;
  for (size_t i = digits.size(); i-- > 0;) {
    Value digit = index;
    if (i > 0) {
      digit = b.createOrFold<arith::RemUIOp>(index, b.number(digits[i]));
      index = b.createOrFold<arith::DivUIOp>(index, b.number(digits[i]));
    }
    found.push_back({i, digit});
  }
  return found;
}

Value ThreadCode::offsetAlong(const Matrix &matrix, unsigned dim, Value index) {
  ArrayRef<int64_t> digits = matrix.type.getDigits(dim);
  ValueRange strides = dim == 0 ? matrix.strides.take_front(digits.size()) : matrix.strides.take_back(digits.size());
  Value offset;
  for (auto [i, digit] : digitsOf(*this, digits, index)) {
    Value part = mul(digit, strides[i]);
    offset = offset ? add(offset, part) : part;
  }
  return offset;
}

BorderPlaces ThreadCode::placesAlong(const Matrix &matrix, unsigned dim, Value index) {
  ArrayRef<BorderAttr> borders = matrix.type.getBorders();
  BorderPlaces places(borders.size());
  if (borders.empty())
    return places;
  ArrayRef<int64_t> digits = matrix.type.getDigits(dim);
  for (auto [i, digit] : digitsOf(*this, digits, index))
    for (auto [border, place] : llvm::zip_equal(borders, places)) {
      ArrayRef<int64_t> steps = border.getSteps();
      int64_t step = (dim == 0 ? steps.take_front(digits.size()) : steps.take_back(digits.size()))[i];
      if (step != 0)
        place = place ? add(place, mul(digit, step)) : mul(digit, step);
    }
  return places;
}

Value ThreadCode::insideBorders(const Matrix &matrix, const BorderPlaces &row, const BorderPlaces &column) {
  Value inside;
  for (auto [i, border] : llvm::enumerate(matrix.type.getBorders())) {
    Value place = matrix.begins[i];
    for (Value part : {row[i], column[i]})
      place = part ? add(place, part) : place;
    // (What is negative is large.)
    inside = both(inside, createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, place, number(border.getSize())));
  }
  return inside;
}

Value ThreadCode::sizeAlong(const Matrix &matrix, unsigned dim) {
  ArrayRef<int64_t> digits = matrix.type.getDigits(dim);
  int64_t known = 1;
  for (int64_t size : digits)
    known *= size < 0 ? 1 : size;
  if (digits.front() >= 0)
    return number(known);
  return mul(dim == 0 ? matrix.sizes.front() : matrix.sizes.back(), known);
}

Value ThreadCode::at(Value pointer, Value offset, Type element) {
  return LLVM::GEPOp::create(*this, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadCode::at(Value pointer, int64_t offset, Type element) {
  if (offset == 0)
    return pointer;
  return LLVM::GEPOp::create(*this, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value ft::createSwizzledAddress(ImplicitLocOpBuilder &b, Value pointer) {
  // (As an address, since how far a piece lies from where it would depends on the line's place in all of shared memory.)
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, value, 64); };
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
  Value line = arith::AndIOp::create(b, address, number(swizzleLineBits));
  Value swizzled = arith::XOrIOp::create(b, address, arith::ShRUIOp::create(b, line, number(swizzleShift)));
  return LLVM::IntToPtrOp::create(b, pointer.getType(), swizzled);
}

bool ThreadCode::keepsPieces(const Matrix &matrix, BlockedAttr layout) {
  constexpr int64_t bytesOfLines = (ft::swizzleLineBits & -ft::swizzleLineBits) * 8; // after which the pieces are in the same places again
  ArrayRef<int64_t> digits = matrix.type.getRows();
  const int64_t bytes = matrix.type.getElementType().getIntOrFloatBitWidth() / 8, last = int64_t(digits.size()) - 1;
  if (layout.getVector()[0] != 1 || !layout.getRepeat().empty() || !matrix.type.getBorders().empty())
    return false;
  auto isWhole = [&](int64_t digit, int64_t times) {
    APInt stride;
    return times > 0 && matchPattern(matrix.strides[size_t(digit)], m_ConstantInt(&stride)) && stride.getSExtValue() * times * bytes % bytesOfLines == 0;
  };
  // A step of the rows is one of the last digit, or takes it back to its begin and goes on in the ones before.
  for (int64_t digit = 0; digit < last; ++digit)
    if (!isWhole(digit, 1))
      return false;
  return isWhole(last, layout.getSpan(0)) && (last == 0 || isWhole(last, digits[size_t(last)]));
}

SmallVector<Value> ThreadCode::load(Value pointer, Type element, int64_t count) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  if (count == 1)
    return {LLVM::LoadOp::create(*this, element, pointer, bytes)};
  Value all = LLVM::LoadOp::create(*this, VectorType::get(count, element), pointer, unsigned(bytes * count));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractElementOp::create(*this, all, number32(i)));
  return values;
}

void ThreadCode::store(ArrayRef<Value> values, Value pointer) {
  Type element = values.front().getType();
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  Value all = values.front();
  if (values.size() > 1) {
    all = LLVM::PoisonOp::create(*this, VectorType::get(int64_t(values.size()), element));
    for (auto [i, value] : llvm::enumerate(values))
      all = LLVM::InsertElementOp::create(*this, all, value, number32(i));
  }
  LLVM::StoreOp::create(*this, all, pointer, unsigned(bytes * values.size()));
}

SmallVector<Value> ThreadCode::loadIf(Value condition, Value pointer, Type element, int64_t count) {
  if (!condition)
    return load(pointer, element, count);
  SmallVector<Type> types(count, element);
  auto branch = scf::IfOp::create(*this, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*this, load(pointer, element, count));
  setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(*this, getZeroAttr(element));
  scf::YieldOp::create(*this, SmallVector<Value>(count, zero));
  return llvm::to_vector_of<Value>(branch.getResults());
}

void ThreadCode::storeIf(Value condition, ArrayRef<Value> values, Value pointer) {
  if (!condition)
    return store(values, pointer);
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  store(values, pointer);
}

/// Bits of a register, which is what a shuffle moves.
static constexpr unsigned wordBits = 32;

Value ThreadCode::exchange(Value value, int64_t mask) {
  Type type = value.getType();
  auto swap = [&](Value word) -> Value {
    return NVVM::ShflOp::create(*this, word.getType(), number32(-1), word, number32(mask), number32(warpThreads - 1),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return swap(value);
  unsigned bits = type.getIntOrFloatBitWidth();
  Type raw = getIntegerType(bits), word = getI32Type();
  Value whole = isa<FloatType>(type) ? Value(arith::BitcastOp::create(*this, raw, value)) : value;
  if (bits < wordBits) {
    whole = arith::TruncIOp::create(*this, raw, swap(arith::ExtUIOp::create(*this, word, whole)));
  } else {
    Value low = swap(arith::TruncIOp::create(*this, word, whole));
    Value high = swap(arith::TruncIOp::create(*this, word, arith::ShRUIOp::create(*this, whole, number(wordBits))));
    whole = arith::OrIOp::create(*this, arith::ExtUIOp::create(*this, raw, low),
                                 arith::ShLIOp::create(*this, arith::ExtUIOp::create(*this, raw, high), number(wordBits)));
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(*this, type, whole)) : whole;
}
