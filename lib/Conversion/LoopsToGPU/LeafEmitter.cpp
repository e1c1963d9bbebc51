//===- LeafEmitter.cpp - a leaf, nest after nest --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProductEmitter.h"
#include "RowTiles.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value LeafEmitter::beginOf(const leaf::View &view, At place) {
  Value begin = b.number(view.offset);
  for (const leaf::DynamicTerm &term : view.terms) {
    leaf::View at;
    at.buffer = term.buffer;
    Value value = loadOne(at, b.number(term.offset), place);
    if (!value.getType().isInteger(64))
      value = arith::ExtSIOp::create(b, b.getI64Type(), value);
    value = checkIndex(value, term.bound, term.op);
    begin = b.add(begin, b.mul(value, term.stride));
  }
  return begin;
}

bool LeafEmitter::isLifted(const leaf::View &view) const {
  return (!view.isSplat() && lifted[view.buffer]) ||
         llvm::any_of(view.terms, [&](const leaf::DynamicTerm &t) { return lifted[t.buffer]; });
}

Value LeafEmitter::offsetAt(const Memory &memory, Value offset, At at) {
  if (memory.rowStride)
    offset = b.add(offset, b.mul(at.row, memory.rowStride));
  if (memory.liftStride)
    offset = b.add(offset, b.mul(at.lift, memory.liftStride));
  return offset;
}

Value LeafEmitter::loadOne(const leaf::View &view, Value offset, At at) {
  if (view.isSplat()) {
    TypedAttr value = view.splat;
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    return arith::ConstantOp::create(b, value);
  }
  const Memory &memory = memories[view.buffer];
  Type element = graph.buffers[view.buffer].elementType;
  auto fromMemory = [&] { return b.load(b.at(memory.pointer, offsetAt(memory, offset, at), element), element); };
  auto asValue = [&] {
    Value value = memory.value;
    if (memory.valueStep)
      value = b.add(value, b.mul(at.row, memory.valueStep));
    if (memory.liftStep)
      value = b.add(value, b.mul(at.lift, memory.liftStep));
    if (value.getType() != registerType(element)) // an index, in the element's width
      value = arith::TruncIOp::create(b, registerType(element), value);
    return value;
  };
  if (!memory.isValue)
    return fromMemory();
  if (!memory.pointer)
    return asValue();
  auto branch = scf::IfOp::create(b, TypeRange{registerType(element)}, memory.isValue, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, asValue());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, fromMemory());
  return branch.getResult(0);
}

void LeafEmitter::beginGuard(const leaf::Nest &nest) {
  // All threads of the block must agree: its rows and lifts share one flag.
  if (!nest.guard)
    return;
  const Memory &memory = memories[nest.guard->buffer];
  if (memory.rowStride || memory.valueStep || memory.liftStride || memory.liftStep)
    return;
  leaf::View flag;
  flag.buffer = nest.guard->buffer;
  Value holds = loadOne(flag, b.number(nest.guard->offset), {});
  auto isWhen = nest.guard->when ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq;
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(holds.getType(), 0));
  auto branch = scf::IfOp::create(b, b.createOrFold<arith::CmpIOp>(isWhen, holds, zero), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

LogicalResult LeafEmitter::emit() {
  if (rowPlan)
    return emitRows(*this, *rowPlan);
  size_t next = 0; // nests before it are computed with a product before them
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    if (i < next)
      continue;
    b.setLoc(nest.members.front().op->getLoc());
    if (const auto &product = tiles[i].product) {
      if (failed(emitProduct(*this, unsigned(i), *product, staging)))
        return failure();
      next = i + 1 + size_t(product->attribute.getFused());
      if (syncs[next - 1])
        b.barrier();
      continue;
    }
    NestSplit split = columns ? splits[i] : NestSplit();
    OpBuilder::InsertionGuard guard(b);
    beginGuard(nest);
    if (split.kind == NestSplit::first) {
      Value isFirst =
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, columns->begin, b.number(0));
      auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    {
      OpBuilder::InsertionGuard inner(b);
      if (failed(emitNest(*this, nest, split, tiles[i])))
        return failure();
    }
    if (syncs[i])
      b.barrier();
  }
  return success();
}
