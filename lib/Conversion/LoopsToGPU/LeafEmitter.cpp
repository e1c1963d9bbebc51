//===- LeafEmitter.cpp - a leaf, nest after nest --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ChainEmitter.h"
#include "FetchEmitter.h"
#include "ProductEmitter.h"
#include "RowTiles.h"

#include "ft/Analysis/LeafGraph/NestAccesses.h"
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value LeafEmitter::beginOf(const leaf::ElementView &view, At place) {
  Value begin = b.number(view.offset);
  for (const leaf::DynamicTerm &term : view.terms) {
    leaf::ElementView at;
    at.buffer = term.buffer;
    Value value = loadOne(at, b.number(term.offset), place);
    if (!value.getType().isInteger(64))
      value = arith::ExtSIOp::create(b, b.getI64Type(), value);
    value = checkIndex(value, term.bound, term.op);
    begin = b.add(begin, b.mul(value, term.stride));
  }
  return begin;
}

Value LeafEmitter::offsetAt(const Memory &memory, Value offset, At at) {
  if (memory.rowStride)
    offset = b.add(offset, b.mul(at.row, memory.rowStride));
  if (memory.liftStride)
    offset = b.add(offset, b.mul(at.lift, memory.liftStride));
  return offset;
}

Value LeafEmitter::loadOne(const leaf::ElementView &view, Value offset, At at) {
  if (view.isSplat()) {
    TypedAttr value = view.splat;
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    return arith::ConstantOp::create(b, value);
  }
  const Memory &memory = memories[view.buffer];
  Type element = graph.buffers[view.buffer].elementType;
  auto fromMemory = [&] {
    Value address = b.at(memory.pointer, offsetAt(memory, offset, at), element);
    return b.load(memory.swizzled ? createSwizzledAddress(b, address) : address, element);
  };
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

void LeafEmitter::beginGuard(tile::FlagAttr flag) {
  leaf::ElementView view;
  view.buffer = int(llvm::find_if(graph.buffers, [&](const leaf::Buffer &buffer) {
                      return buffer.kind == leaf::Buffer::Kind::Input && int64_t(buffer.number) == flag.getInput();
                    }) - graph.buffers.begin());
  Value holds = loadOne(view, b.number(0), {});
  auto isWhen = flag.getIs() ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq;
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(holds.getType(), 0));
  auto branch = scf::IfOp::create(b, b.createOrFold<arith::CmpIOp>(isWhen, holds, zero), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

LogicalResult LeafEmitter::emit() {
  if (rowPlan)
    return emitRows(*this, *rowPlan);
  if (chain) {
    if (failed(emitChain(*this)))
      return failure();
    if (llvm::is_contained(syncs, true))
      b.barrier();
    return success();
  }
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
    tile::NestAttr said = nests[i].said;
    OpBuilder::InsertionGuard guard(b);
    if (said.getGuard())
      beginGuard(said.getGuard());
    if (said.getFirst()) {
      Value isFirst =
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, columns->begin, b.number(0));
      auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    {
      OpBuilder::InsertionGuard inner(b);
      if (failed(emitNest(*this, nests[i])))
        return failure();
    }
    if (syncs[i])
      b.barrier();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Value LeafBody::loadCaptured(const leaf::ElementView &view) { return e.loadOne(view, e.beginOf(view, at), at); }

Value LeafBody::evaluateExtract(tensor::ExtractOp extract, const leaf::ElementView &view) {
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

//===----------------------------------------------------------------------===//
// Operands that are fetched
//===----------------------------------------------------------------------===//

FailureOr<FetchedOperand> togpu::readOperand(LeafEmitter &e, unsigned nest, const schedule::ProductTiles &product, unsigned member, bool isLhs) {
  FetchedOperand operand;
  if (std::string why = readFetch(operand.fetch, {e.leaf, e.graph, e.launch, nest, product}, member, isLhs); !why.empty())
    return e.leaf.emitError("the GPU engine can't fetch what warp groups multiply: ") << why;
  // (Before the loop over terms: another one may ask for the same.)
  for (const OperandFetch::Place &place : operand.fetch.places) {
    operand.tensors.push_back(place.map ? e.tensorMap(*place.map) : Value());
    if (place.condition)
      (void)e.valueOf(place.condition);
    if (place.map)
      evaluateIndices(*place.map, e.valueOf);
  }
  return operand;
}

namespace {
/// Collects what a fetch is made of.
struct FetchParts {
  SmallVector<Value> tensors, coordinates, conditions;
};
} // namespace

/// Zeros are what lies beyond a tensor.
static void addZeros(LeafEmitter &e, const FetchedOperand &operand, ArrayRef<Value> coordinates, FetchParts &parts) {
  constexpr int64_t beyond = int64_t(1) << 30; // more than any extent, less than what coordinates can be
  size_t other = size_t(llvm::find_if(operand.tensors, [](Value tensor) { return bool(tensor); }) - operand.tensors.begin());
  parts.tensors.push_back(operand.tensors[other]);
  parts.coordinates.push_back(e.b.number(beyond));
  llvm::append_range(parts.coordinates, coordinates.drop_front());
}

Value togpu::emitFetch(LeafEmitter &e, tile::SharedType type, ArrayRef<FetchedOperand> operands, const MapIndices &indices, Value row, Value column) {
  FetchParts parts;
  for (const FetchedOperand &operand : operands) {
    SmallVector<SmallVector<Value>> coordinates;
    for (const OperandFetch::Place &place : operand.fetch.places)
      coordinates.push_back(place.map ? emitCoordinates(e.b, *place.map, indices, row, column) : SmallVector<Value>());
    const SmallVector<Value> &known = *llvm::find_if(coordinates, [](const SmallVector<Value> &own) { return !own.empty(); });
    for (auto [place, tensor, own] : llvm::zip_equal(operand.fetch.places, operand.tensors, coordinates)) {
      if (place.condition)
        parts.conditions.push_back(indices.valueOf(place.condition));
      if (!tensor) {
        addZeros(e, operand, known, parts);
        continue;
      }
      parts.tensors.push_back(tensor);
      llvm::append_range(parts.coordinates, own);
    }
  }
  return tile::FetchOp::create(e.b, type, parts.tensors, parts.coordinates, parts.conditions);
}
