//===- EmitBorders.cpp - reads of what is padded --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A padded value has no memory of its own: what is read of it is memory inside of
// its borders and one scalar outside. Each border is a comparison of an index that
// moves with the loops; lanes that it cuts are masked.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace mlir::ft::leaf;

SmallVector<Value> Emitter::beginOfBorders(const ElementView &view) {
  SmallVector<Value> places;
  for (const Border &border : view.borders) {
    Value place = index(border.offset);
    if (column && border.columnStride)
      place = addIndex(place, mulIndex(column, border.columnStride));
    places.push_back(place);
  }
  return places;
}

void Emitter::moveAlongBorders(const ElementView &view, int loop, Value by, MutableArrayRef<Value> places) {
  for (auto [border, place] : llvm::zip_equal(view.borders, places))
    if (border.strides[loop] != 0)
      place = addIndex(place, mulIndex(by, border.strides[loop]));
}

Value Emitter::isInside(const ElementView &view, ArrayRef<Value> places, int vectorLoop, int64_t first, LaneShape shape,
                        const llvm::SmallBitVector &known) {
  Value all, lanes;
  auto both = [&](Value &one, Value other) { one = one ? Value(arith::AndIOp::create(b, one, other)) : other; };
  for (auto [i, border] : llvm::enumerate(view.borders)) {
    if (i < known.size() && known.test(i))
      continue;
    int64_t stride = vectorLoop < 0 ? 0 : border.strides[vectorLoop];
    Value place = addIndex(places[i], first * stride);
    // (A negative index is a large one.)
    if (stride == 0 || shape.width == 1) {
      both(all, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place, index(border.size)));
      continue;
    }
    SmallVector<int32_t> steps;
    for (int64_t lane = 0; lane < shape.width; ++lane)
      steps.push_back(int32_t(lane * stride));
    auto type = VectorType::get(shape.width, b.getI32Type());
    Value begin = broadcast(arith::IndexCastOp::create(b, b.getI32Type(), place), shape.width);
    Value at = arith::AddIOp::create(b, begin, arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(steps))));
    Value size = arith::ConstantOp::create(b, DenseElementsAttr::get(type, int32_t(border.size)));
    both(lanes, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, size));
  }
  if (!lanes)
    return all;
  return all ? Value(arith::AndIOp::create(b, lanes, broadcast(all, shape.width))) : lanes;
}

Value Emitter::loadLanesInside(const ElementView &view, Value offset, int64_t stride, LaneShape shape, Value inside, Value memory) {
  if (!inside)
    return loadLanes(view, offset, stride, shape, memory);
  const Buffer &buffer = graph.buffers[view.buffer];
  memory = memory ? memory : flat(view.buffer);
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  TypedAttr outside = view.outside;
  if (stored != buffer.elementType) // i1 in a byte
    outside = b.getIntegerAttr(stored, cast<IntegerAttr>(outside).getValue().getBoolValue());
  Value other = constantOf(stored, outside);
  // A place that is there in any case.
  Value first = rowOffset(view.buffer);
  if (!first)
    first = index(0);
  auto loadOne = [&](Value at, Value condition) -> Value {
    Value value = memref::LoadOp::create(b, memory, arith::SelectOp::create(b, condition, at, first).getResult());
    return arith::SelectOp::create(b, condition, value, other);
  };
  Value value;
  if (!isVector(inside) && (shape.width == 1 || stride == 0)) {
    value = loadOne(offset, inside);
  } else if (isGathered(stored) || (stride == 1 && !stored.isInteger(1))) {
    Value mask = broadcast(inside, shape.width), others = broadcast(other, shape.width);
    auto type = VectorType::get(shape.width, stored);
    if (!shape.full()) { // lanes that do not count are zeros, as of any read
      mask = arith::AndIOp::create(b, mask, maskOf(shape));
      Value zeros = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
      others = arith::SelectOp::create(b, maskOf(shape), others, zeros);
    }
    if (stride == 1) {
      value = vector::MaskedLoadOp::create(b, type, memory, offset, mask, others);
    } else {
      SmallVector<int64_t> steps;
      for (int64_t lane = 0; lane < shape.width; ++lane)
        steps.push_back(lane * stride);
      Value indices = arith::ConstantOp::create(b, b.getIndexVectorAttr(steps));
      value = vector::GatherOp::create(b, type, memory, offset, indices, mask, others);
    }
  } else {
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < shape.valid; ++lane)
      lanes.push_back(loadOne(addIndex(offset, lane * stride),
                              isVector(inside) ? Value(vector::ExtractOp::create(b, inside, lane)) : inside));
    lanes.resize(shape.width, arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(stored))));
    value = vector::FromElementsOp::create(b, VectorType::get(shape.width, stored), lanes);
  }
  if (stored == buffer.elementType)
    return value;
  Type to = buffer.elementType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(to);
  return arith::TruncIOp::create(b, to, value);
}
