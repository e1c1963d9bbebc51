//===- LeafCalls.cpp - addresses and calls of leaves ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read resolves to a base, an offset and a stride between rows; pieces become
// a choice between such triples. Equal bodies share one leaf function.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ft/Conversion/LeafToLoops/LeafCodegen.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

Value Emitter::emitCondition(IntegerSet set, BlockOp block, const Point &point) {
  Value all;
  Value zero = index(0);
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr);
        constant && (equality ? constant.getValue() == 0 : constant.getValue() >= 0))
      continue;
    Value v = expand(expr, block, point);
    Value holds = arith::CmpIOp::create(builder, loc, equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge, v, zero);
    all = all ? arith::AndIOp::create(builder, loc, all, holds).getResult() : holds;
  }
  return all ? all : arith::ConstantIntOp::create(builder, loc, 1, 1).getResult();
}

int64_t Emitter::addPlace(BlockOp block, Location place) {
  result.blockNames.push_back(block.getBlockName().value_or("").str());
  result.blockLocations.push_back(place);
  return int64_t(result.blockNames.size()) - 1;
}

Value Emitter::emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point) {
  Value indices = block.getBuffers()[gather.getOperand()];
  // The map goes on into the element, where that holds several indices.
  auto indexType = cast<etdg::BufferType>(indices.getType());
  AffineMap map = gather.getMap().getValue();
  unsigned depth = indexType.getDepth();
  AffineMap outer = AffineMap::get(map.getNumDims(), map.getNumSymbols(), map.getResults().take_front(depth), context);
  Address address = emitBufferAddress(block, indices, outer, {}, point, /*useRows=*/false);
  Value offset = address.offset;
  if (map.getNumResults() > depth) {
    Value linear = index(0);
    for (auto [extent, expr] :
         llvm::zip_equal(indexType.getElement().getShape(), map.getResults().drop_front(depth)))
      linear = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, linear, index(extent)),
                                     expand(expr, block, point));
    offset = arith::AddIOp::create(builder, loc, offset, linear);
  }
  Value raw = memref::LoadOp::create(builder, loc, address.base, offset);
  Value value = raw;
  if (!raw.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), raw);
  // Out of range is an error: note the first one, and read element 0 instead.
  Value zero = index(0);
  Value low = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, value, zero);
  Value high = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value, bound);
  Value inside = arith::AndIOp::create(builder, loc, low, high);
  Value outside = arith::XOrIOp::create(builder, loc, inside, arith::ConstantIntOp::create(builder, loc, 1, 1));
  auto branch = scf::IfOp::create(builder, loc, outside, /*withElseRegion=*/false);
  {
    Value errors = slot(Environment::kError, LLVM::LLVMPointerType::get(context));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    int64_t number = addPlace(block, block.getLoc());
    Type i64 = builder.getI64Type();
    auto store = [&](unsigned position, Value v) {
      Value at = LLVM::GEPOp::create(builder, loc, errors.getType(), i64, errors,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
      LLVM::StoreOp::create(builder, loc, v, at);
    };
    store(1, arith::ConstantIntOp::create(builder, loc, number, 64));
    store(2, arith::IndexCastOp::create(builder, loc, i64, value));
    store(3, arith::IndexCastOp::create(builder, loc, i64, bound));
    store(0, arith::ConstantIntOp::create(builder, loc, 1, 64));
  }
  return arith::SelectOp::create(builder, loc, inside, value, zero);
}

Emitter::Address Emitter::emitBufferAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides,
                                            const Point &point, bool useRows) {
  auto type = cast<etdg::BufferType>(buffer.getType());
  auto found = storage.find(buffer);
  if (found == storage.end()) {
    // A buffer of the whole call: its strides are hoisted.
    const CpuBuffer &info = result.buffers[bufferNumber.lookup(buffer)];
    Storage place;
    place.base = bufferBase(info.slot, type.getElement().getElementType());
    place.planes = info.planes;
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(entry);
    Value size = index(type.getElement().getNumElements());
    place.strides.resize(type.getDepth());
    for (int64_t d = int64_t(type.getDepth()) - 1; d >= 0; --d) {
      place.strides[d] = size;
      if (d < int64_t(info.strideSlots.size()))
        place.strides[d] = slot(info.strideSlots[d], builder.getIndexType());
      if (d == 0)
        break;
      Value length = lengthValue(type.getLengths()[d]);
      if (!place.planes.empty() && place.planes[d] != 0)
        length = index(place.planes[d]);
      size = arith::MulIOp::create(builder, loc, size, length);
    }
    found = storage.try_emplace(buffer, place).first;
  }
  const Storage &place = found->second;
  Address address{place.base, index(0), index(0)};
  auto add = [&](Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b).getResult(); };
  auto mul = [&](Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b).getResult(); };
  for (auto [p, expr] : llvm::enumerate(map.getResults())) {
    Value position = p < overrides.size() && overrides[p] ? overrides[p] : expand(expr, block, point);
    if (!place.planes.empty() && place.planes[p] != 0)
      position = arith::RemUIOp::create(builder, loc, position, index(place.planes[p]));
    address.offset = add(address.offset, mul(position, place.strides[p]));
    if (useRows && point.rowDim && expr.isFunctionOfDim(*point.rowDim)) {
      AffineExpr d = getAffineDimExpr(*point.rowDim, context);
      AffineExpr step = simplifyAffineExpr(expr.replace(d, d + 1) - expr, map.getNumDims(), map.getNumSymbols());
      address.rowStride = add(address.rowStride, mul(expand(step, block, point), place.strides[p]));
    }
  }
  if (place.rowStride) {
    Value row = arith::SubIOp::create(builder, loc, point.dims[*point.rowDim], point.rowBegin);
    address.offset = add(address.offset, mul(row, place.rowStride));
    address.rowStride = add(address.rowStride, place.rowStride);
  }
  return address;
}

void Emitter::askForVectors(Operation *loop) {
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, /*disable=*/BoolAttr::get(context, false), {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                                                 {}, {}, {}, {}));
}

Value Emitter::indexScratch(RankedTensorType element, int64_t rows) {
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entry);
  auto type = MemRefType::get({ShapedType::kDynamic}, element.getElementType());
  Value memory = memref::AllocOp::create(builder, loc, type, ValueRange{index(rows)}, builder.getI64IntegerAttr(64));
  toFree.push_back(memory);
  return memory;
}

FailureOr<Emitter::Address> Emitter::emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element,
                                               const Point &point, bool useRows) {
  switch (piece.getKind()) {
  case etdg::SourceKind::Splat: {
    Value base = bufferBase(splatSlot(element, piece.getValue()), element.getElementType());
    return Address{base, index(0), index(0)};
  }
  case etdg::SourceKind::Index: {
    // The values of all rows, written out.
    Value memory = indexScratch(element, maxRows), first = listAt ? listAt : index(0);
    AffineMap map = piece.getMap().getValue();
    Value value = expand(map.getResult(0), block, point);
    auto store = [&](Value v, Value at) {
      if (!element.getElementType().isIndex())
        v = arith::IndexCastOp::create(builder, loc, element.getElementType(), v);
      memref::StoreOp::create(builder, loc, v, memory, at);
    };
    if (!useRows || !point.rowDim || !map.isFunctionOfDim(*point.rowDim)) {
      store(value, first);
      return Address{memory, first, index(0)};
    }
    auto loop = scf::ForOp::create(builder, loc, index(0), point.rows, index(1));
    askForVectors(loop);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Point row = point;
      row.dims[*point.rowDim] = arith::AddIOp::create(builder, loc, point.dims[*point.rowDim], loop.getInductionVar());
      store(expand(map.getResult(0), block, row), make<arith::AddIOp>(first, loop.getInductionVar()));
    }
    return Address{memory, first, index(1)};
  }
  case etdg::SourceKind::Buffer:
    break;
  }
  Value buffer = block.getBuffers()[piece.getOperand()];
  auto type = cast<etdg::BufferType>(buffer.getType());
  SmallVector<Value> overrides(type.getDepth());
  for (etdg::GatherAttr gather : piece.getGathers()) {
    Value bound = lengthValue(type.getLengths()[gather.getPosition()]);
    overrides[gather.getPosition()] = emitGatherIndex(block, gather, bound, point);
  }
  return emitBufferAddress(block, buffer, piece.getMap().getValue(), overrides, point, useRows);
}

LogicalResult Emitter::emitLeaf(BlockOp block, Point point) {
  auto planes = [&](Value buffer, unsigned d) { return planesOf(buffer, d); };
  if (!point.rowDim)
    return emitLeafCall(block, point, false);
  RowUse use = getRowUse(block, *point.rowDim, planes);
  if (use == RowUse::Uniform)
    return emitLeafCall(block, point, true);
  if (use == RowUse::Single)
    return emitSingleRows(point, [&](Point row) { return emitLeafCall(block, row, false); });
  // Runs of rows for which every read has the same piece, and no plane wraps around.
  RunLimits limits;
  auto addPlanes = [&](AffineMap map, Value buffer) {
    for (auto [p, e] : llvm::enumerate(map.getResults()))
      if (e.isFunctionOfDim(*point.rowDim) && planesOf(buffer, p) != 0)
        limits.planes.push_back({e, planesOf(buffer, p)});
  };
  for (unsigned i = 0; i < block.getNumWrites(); ++i)
    addPlanes(block.getWrite(i).getMap().getValue(), block.getBuffers()[block.getWrite(i).getOperand()]);
  for (unsigned i = 0; i < block.getNumReads(); ++i)
    for (etdg::PieceAttr piece : block.getRead(i).getPieces()) {
      IntegerSet set = piece.getSet().getValue();
      for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
        if (expr.isFunctionOfDim(*point.rowDim))
          limits.constraints.push_back({expr, equality, block});
      if (piece.getKind() == etdg::SourceKind::Buffer)
        addPlanes(piece.getMap().getValue(), block.getBuffers()[piece.getOperand()]);
    }
  return emitRuns(block, point, limits, [&](Point run) { return emitLeafCall(block, run, true); });
}

Value Emitter::emitRowsView(const Address &address, RankedTensorType element, Value rows) {
  // Row r of the leaf: the element at offset + r * rowStride.
  SmallVector<int64_t> shape = {ShapedType::kDynamic}, strides = {ShapedType::kDynamic};
  SmallVector<OpFoldResult> sizes = {rows}, strideValues = {address.rowStride};
  // As the leaf computes them for itself, also where an extent is 0.
  SmallVector<int64_t> rowMajor = computeSuffixProduct(element.getShape());
  for (auto [extent, stride] : llvm::zip_equal(element.getShape(), rowMajor)) {
    shape.push_back(extent);
    strides.push_back(stride);
    sizes.push_back(builder.getIndexAttr(extent));
    strideValues.push_back(builder.getIndexAttr(stride));
  }
  auto layout = StridedLayoutAttr::get(context, ShapedType::kDynamic, strides);
  auto type = MemRefType::get(shape, element.getElementType(), layout);
  return memref::ReinterpretCastOp::create(builder, loc, type, address.base, OpFoldResult(address.offset), sizes,
                                           strideValues);
}

FailureOr<Emitter::Address> Emitter::emitReadAddress(BlockOp block, unsigned i, const Point &point, bool rowWise) {
  auto element = cast<RankedTensorType>(block.getBody().getArgument(i).getType());
  ArrayRef<etdg::PieceAttr> pieces = block.getRead(i).getPieces();
  // A chain of choices; the last piece needs no condition: pieces cover the domain.
  std::function<FailureOr<Address>(ArrayRef<etdg::PieceAttr>)> choose =
      [&](ArrayRef<etdg::PieceAttr> rest) -> FailureOr<Address> {
    if (rest.size() == 1)
      return emitPiece(block, rest.front(), element, point, rowWise);
    Value condition = emitCondition(rest.front().getSet().getValue(), block, point);
    Type flat = MemRefType::get({ShapedType::kDynamic}, element.getElementType());
    auto branch = scf::IfOp::create(builder, loc, TypeRange{flat, builder.getIndexType(), builder.getIndexType()},
                                    condition, /*withElseRegion=*/true);
    for (bool then : {true, false}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(then ? branch.thenBlock() : branch.elseBlock());
      FailureOr<Address> address = then ? emitPiece(block, rest.front(), element, point, rowWise) : choose(rest.drop_front());
      if (failed(address))
        return failure();
      scf::YieldOp::create(builder, loc, ValueRange{address->base, address->offset, address->rowStride});
    }
    return Address{branch.getResult(0), branch.getResult(1), branch.getResult(2)};
  };
  if (pieces.empty())
    return block.emitError() << "read " << i << " has no piece";
  bool scalars = readsScalars(block, block.getRead(i));
  auto planes = [&](Value buffer, unsigned d) { return planesOf(buffer, d); };
  if (scalars || readsDivided(block.getRead(i)))
    if (std::optional<Box> box = getBox(block, block.getRead(i), element, planes))
      return emitBoxAddress(block, *box, point, rowWise);
  if (!scalars)
    return choose(pieces);
  return emitElementRead(block, block.getRead(i), element, point);
}

LogicalResult Emitter::emitLeafCall(BlockOp block, const Point &point, bool rowWise) {
  if (rowLists)
    return emitAppend(block, point, rowWise);
  SmallVector<Value> operands = {rowWise ? point.rows : index(1)};
  SmallVector<bool> batched;

  for (unsigned i = 0; i < block.getNumReads(); ++i) {
    auto element = cast<RankedTensorType>(block.getBody().getArgument(i).getType());
    ArrayRef<etdg::PieceAttr> pieces = block.getRead(i).getPieces();
    bool varies = false;
    for (etdg::PieceAttr piece : pieces) {
      if (piece.getKind() == etdg::SourceKind::Splat || !rowWise)
        continue;
      varies |= piece.getMap().getValue().isFunctionOfDim(*point.rowDim);
      if (piece.getKind() == etdg::SourceKind::Buffer) {
        auto it = storage.find(block.getBuffers()[piece.getOperand()]);
        varies |= it != storage.end() && it->second.rowStride;
      }
    }
    batched.push_back(varies);
    FailureOr<Address> address = emitReadAddress(block, i, point, rowWise);
    if (failed(address))
      return failure();
    operands.push_back(emitRowsView(*address, element, operands.front()));
  }
  for (unsigned i = 0; i < block.getNumWrites(); ++i) {
    Value buffer = block.getBuffers()[block.getWrite(i).getOperand()];
    auto type = cast<etdg::BufferType>(buffer.getType());
    Address address = emitBufferAddress(block, buffer, block.getWrite(i).getMap().getValue(), {}, point, rowWise);
    operands.push_back(emitRowsView(address, type.getElement(), operands.front()));
  }
  FailureOr<func::FuncOp> leaf = leafFunction(block, batched, /*listed=*/false);
  if (failed(leaf))
    return failure();
  callLeaf(*leaf, operands, rowWise ? maxRows : 1);
  return success();
}

void Emitter::callLeaf(func::FuncOp leaf, SmallVector<Value> operands, int64_t mostRows) {
  // Scratch is one allocation for each call of the kernel and leaf, made for the most rows.
  LeafScratch need = getLeafScratch(leaf);
  OpBuilder::InsertPoint here = builder.saveInsertionPoint();
  builder.restoreInsertionPoint(entry);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  int64_t size = need.forRows(mostRows);
  // Generated leaves run one after the other: the largest scratch serves all.
  if (!scratch) {
    scratchSize = arith::ConstantIndexOp::create(builder, loc, size);
    scratch = memref::AllocOp::create(builder, loc, bytes, ValueRange{scratchSize}, builder.getI64IntegerAttr(64));
    toFree.push_back(scratch);
    scratchBytes = size;
  } else if (size > scratchBytes) {
    scratchBytes = size;
    scratchSize.getDefiningOp<arith::ConstantOp>().setValueAttr(builder.getIndexAttr(size));
  }
  builder.restoreInsertionPoint(here);
  if (leafChecksIndices(leaf))
    operands.push_back(slot(Environment::kError, LLVM::LLVMPointerType::get(context)));
  operands.push_back(scratch);
  func::CallOp::create(builder, loc, leaf, operands);
}

FailureOr<func::FuncOp> Emitter::leafFunction(BlockOp block, ArrayRef<bool> batched, bool listed) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(result.module->getBody());
  SmallVector<Type> inputs(block.getBody().getArgumentTypes());
  Operation *yield = block.getBody().front().getTerminator();
  auto function = func::FuncOp::create(builder, block.getLoc(), "leaf",
                                       builder.getFunctionType(inputs, yield->getOperandTypes()));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(block.getBody().getArguments(), body->getArguments());
  for (Operation &op : block.getBody().front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value v : yield->getOperands())
    results.push_back(mapping.lookup(v));
  func::ReturnOp::create(builder, yield->getLoc(), results);

  // Equal bodies are outlined once.
  std::string key;
  llvm::raw_string_ostream stream(key);
  function.print(stream, OpPrintingFlags().useLocalScope());
  for (bool b : batched)
    stream << b;
  stream << (listed ? " listed" : "");
  // What may fail says where.
  body->walk([&](Operation *op) {
    if (isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
        !llvm::all_of(op->getOperands().drop_front(), [](Value v) { return matchPattern(v, m_Constant()); }))
      stream << op->getLoc();
  });
  auto it = leaves.find(key);
  if (it != leaves.end()) {
    function.erase();
    return it->second;
  }
  function.setSymName("leaf" + std::to_string(leaves.size()));
  LeafOptions leafOptions;
  leafOptions.batched.assign(batched.begin(), batched.end());
  leafOptions.listed = listed;
  leafOptions.target = options.target;
  leafOptions.placeOf = [&](Location place) { return addPlace(block, place); };
  FailureOr<func::FuncOp> generated = generateLeaf(function, leafOptions);
  if (failed(generated))
    return failure();
  leaves[key] = *generated;
  return generated;
}
