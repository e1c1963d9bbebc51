//===- LeafEmitter.cpp - a leaf, nest after nest --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafEmitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value LeafEmitter::beginOf(const leaf::View &view, Value row) {
  Value begin = b.number(view.offset);
  for (const leaf::DynamicTerm &term : view.terms) {
    leaf::View at;
    at.buffer = term.buffer;
    Value value = loadOne(at, b.number(term.offset), row);
    if (!value.getType().isInteger(64))
      value = arith::ExtSIOp::create(b, b.getI64Type(), value);
    begin = b.add(begin, b.mul(value, term.stride));
  }
  return begin;
}

SmallVector<Value> LeafEmitter::load(const leaf::View &view, Value offset, Value row,
                                     int64_t stride, int64_t count, bool aligned) {
  if (view.isSplat()) {
    TypedAttr value = view.splat;
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    return SmallVector<Value>(count, arith::ConstantOp::create(b, value));
  }
  const Memory &memory = memories[view.buffer];
  Type element = graph.buffers[view.buffer].elementType;
  if (stride == 0)
    count = 1;
  auto fromMemory = [&] {
    Value start = offset;
    if (memory.rowStride)
      start = b.add(start, b.mul(row, memory.rowStride));
    if (stride <= 1)
      return b.loadAdjacent(b.at(memory.pointer, start, element), element, count,
                            aligned && memory.aligned);
    SmallVector<Value> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(b.load(b.at(memory.pointer, b.add(start, i * stride), element), element));
    return values;
  };
  auto asValue = [&] {
    Value value = memory.value;
    if (memory.valueStep)
      value = b.add(value, b.mul(row, memory.valueStep));
    if (value.getType() != registerType(element)) // an index, in the element's width
      value = arith::TruncIOp::create(b, registerType(element), value);
    return SmallVector<Value>(count, value);
  };
  if (!memory.isValue)
    return fromMemory();
  if (!memory.pointer)
    return asValue();
  SmallVector<Type> types(count, registerType(element));
  auto branch = scf::IfOp::create(b, types, memory.isValue, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, asValue());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, fromMemory());
  return llvm::to_vector_of<Value>(branch.getResults());
}

LogicalResult LeafEmitter::emit() {
  for (const leaf::Nest &nest : graph.nests) {
    OpBuilder::InsertionGuard guard(b);
    b.setLoc(nest.members.front().op->getLoc());
    if (failed(emitNest(*this, nest)))
      return failure();
    b.barrier();
  }
  return success();
}
