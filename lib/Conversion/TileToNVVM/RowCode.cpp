//===- RowCode.cpp - addresses and accesses of rows -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowCode.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

Points::Points(PointsType type, ValueRange values) : type(type), thread(values[0]), lane(values[1]), group(values[2]) {
  ValueRange rest = values.drop_front(3);
  auto take = [&] {
    Value value = rest.front();
    rest = rest.drop_front();
    return value;
  };
  rows.resize(size_t(type.getLayout().getRows()));
  for (PointRow &row : rows) {
    row.row = take();
    for (size_t d = 0; d < type.getDigits().size(); ++d)
      row.digits.push_back(take());
    if (type.getMasked())
      row.valid = take();
  }
  for (size_t set = 0; set < size_t(type.getSets()); ++set)
    for (int64_t chunk = 0; chunk < type.getChunks(); ++chunk) {
      rows[set].elements.push_back(take());
      rows[set].holds.push_back(type.isPartial(chunk) ? take() : Value());
    }
  for (size_t r = size_t(type.getSets()); r < rows.size(); ++r) {
    rows[r].elements = rows.front().elements;
    rows[r].holds = rows.front().holds;
  }
}

SmallVector<Value> Points::flatten() const {
  SmallVector<Value> values = {thread, lane, group};
  for (const PointRow &row : rows) {
    values.push_back(row.row);
    llvm::append_range(values, row.digits);
    if (row.valid)
      values.push_back(row.valid);
  }
  for (const PointRow &row : ArrayRef(rows).take_front(size_t(type.getSets())))
    for (auto [element, holds] : llvm::zip_equal(row.elements, row.holds)) {
      values.push_back(element);
      if (holds)
        values.push_back(holds);
    }
  return values;
}

void Points::appendTypes(PointsType type, SmallVectorImpl<Type> &types) {
  MLIRContext *context = type.getContext();
  Type i32 = IntegerType::get(context, 32), i64 = IntegerType::get(context, 64), i1 = IntegerType::get(context, 1);
  types.append({i32, i64, i64});
  for (int64_t r = 0; r < type.getLayout().getRows(); ++r) {
    types.append(1 + type.getDigits().size(), i64);
    if (type.getMasked())
      types.push_back(i1);
  }
  for (int64_t set = 0; set < type.getSets(); ++set)
    for (int64_t chunk = 0; chunk < type.getChunks(); ++chunk) {
      types.push_back(i64);
      if (type.isPartial(chunk))
        types.push_back(i1);
    }
}

void RowCode::placeChunks(const Points &points, PointRow &row, Value shift) {
  PointsType type = points.type;
  RowAttr layout = type.getLayout();
  int64_t accesses = type.getLength() / layout.getWidth();
  for (int64_t chunk = 0; chunk < type.getChunks(); ++chunk) {
    int64_t first = chunk * layout.getLanes();
    Value access = add(points.lane, first), holds;
    if (shift)
      access = createOrFold<arith::SubIOp>(access, shift);
    if (type.isBehindLine(chunk)) {
      holds = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, access, number(0));
      access = createOrFold<arith::MaxSIOp>(access, number(0));
    }
    if (first + layout.getLanes() > accesses) {
      Value before = less(access, number(accesses));
      holds = both(holds, before);
      access = createOrFold<arith::MinSIOp>(access, number(accesses - 1));
    }
    row.elements.push_back(mul(access, layout.getWidth()));
    row.holds.push_back(holds);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void RowCode::under(Value condition) {
  if (condition)
    setInsertionPointToStart(scf::IfOp::create(*this, condition, /*withElseRegion=*/false).thenBlock());
}

Value RowCode::offsetOf(RowPlaceAttr place, Value begin, const PointRow &row, Value stride, Value element) {
  Value offset = begin;
  for (auto [digit, step] : llvm::zip_equal(row.digits, place.getDigits()))
    if (step != 0)
      offset = add(offset, mul(digit, step));
  if (element && place.getStep() != 0)
    offset = add(offset, mul(element, place.getStep()));
  return stride ? add(offset, mul(row.row, stride)) : offset;
}

/// The type of an element in memory.
static Type storedType(Type element) {
  return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8)) : element;
}

Value RowCode::atRow(Value pointer, Value offset, Type element) {
  return matchPattern(offset, m_Zero()) ? pointer : at(pointer, offset, storedType(element));
}

SmallVector<Value> RowCode::loadAdjacent(Value pointer, Type element, int64_t count, bool isOne) {
  Type stored = storedType(element);
  SmallVector<Value> values;
  if (isOne && count > 1) {
    values = load(pointer, stored, count);
  } else {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(load(atRow(pointer, number(i), element), stored, 1).front());
  }
  if (element.isInteger(1))
    for (Value &value : values)
      value = createOrFold<arith::TruncIOp>(element, value);
  return values;
}

void RowCode::storeAdjacent(ArrayRef<Value> values, Value pointer, Type element, bool isOne) {
  SmallVector<Value> kept(values);
  if (element.isInteger(1))
    for (Value &value : kept)
      value = createOrFold<arith::ExtUIOp>(storedType(element), value);
  if (isOne)
    return store(kept, pointer);
  for (auto [i, value] : llvm::enumerate(kept))
    store({value}, atRow(pointer, number(int64_t(i)), element));
}

void RowCode::storeAccess(StoreRowsOp op, const PointRow &row, Value element, ArrayRef<Value> values) {
  RowPlaceAttr place = op.getPlace();
  Value offset = offsetOf(place, number(place.getOffset()), row, op.getStride(), element);
  storeAdjacent(values, atRow(op.getPointer(), offset, place.getElement()), place.getElement(), op.getWidth() > 1);
}
