//===- LeafCalls.cpp - addresses and leaves -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read resolves to a base, an offset and a stride between rows; pieces become
// a choice between such triples.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/Sums.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/LeafColumns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

Value Emitter::emitCondition(IntegerSet set, BlockOp block, const Point &point) {
  Value all;
  Value zero = index(0);
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr);
        constant && (equality ? constant.getValue() == 0 : constant.getValue() >= 0))
      continue;
    Value v = affineValue(expr, block, point);
    Value holds = arith::CmpIOp::create(builder, loc, equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge, v, zero);
    all = all ? arith::AndIOp::create(builder, loc, all, holds).getResult() : holds;
  }
  return all ? all : arith::ConstantIntOp::create(builder, loc, 1, 1).getResult();
}

Value Emitter::emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point) {
  Value indices = block.getBuffers()[gather.getOperand()];
  // The map goes on into the element, where that holds several indices.
  auto indexType = cast<etdg::BufferType>(indices.getType());
  AffineMap map = gather.getMap().getValue();
  unsigned depth = indexType.getDepth();
  AffineMap outer = AffineMap::get(map.getNumDims(), map.getNumSymbols(), map.getResults().take_front(depth), context);
  Address address = emitBufferAddress(block, indices, outer, {}, point, /*useRows=*/false);
  computeOffset(address);
  Value offset = address.offset;
  if (map.getNumResults() > depth) {
    Value linear = index(0);
    for (auto [extent, expr] :
         llvm::zip_equal(indexType.getElement().getShape(), map.getResults().drop_front(depth)))
      linear = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, linear, index(extent)),
                                     affineValue(expr, block, point));
    offset = arith::AddIOp::create(builder, loc, offset, linear);
  }
  Value raw = memref::LoadOp::create(builder, loc, address.base, offset);
  Value value = raw;
  if (!raw.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), raw);
  // Out of range is an error of the call.
  places.push_back(block.getLoc());
  return loops::BoundedOp::create(builder, loc, builder.getIndexType(), value, bound, int64_t(places.size()) - 1);
}

const Storage &Emitter::storageOf(Value buffer) {
  auto found = storage.find(buffer);
  if (found != storage.end())
    return found->second;
  // A buffer of the whole call: its strides are the kernel's.
  auto type = cast<etdg::BufferType>(buffer.getType());
  const CallBuffer &info = buffers[buffer];
  Storage place;
  place.base = bufferBase(info.host, type.getElement().getElementType());
  place.planes = info.planes;
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entry);
  Value size = index(type.getElement().getNumElements());
  place.strides.resize(type.getDepth());
  for (int64_t d = int64_t(type.getDepth()) - 1; d >= 0; --d) {
    place.strides[d] = size;
    if (d < int64_t(info.stridedDims)) {
      Value &given = strides[{info.host, d}];
      if (!given)
        given = loops::StrideOp::create(host, loc, host.getIndexType(), info.host, host.getI64IntegerAttr(d));
      place.strides[d] = kernelArgument(given, builder.getIndexType());
    }
    if (d == 0)
      break;
    Value length = lengthValue(type.getLengths()[d]);
    if (!place.planes.empty() && place.planes[d] != 0)
      length = index(place.planes[d]);
    size = make<arith::MulIOp>(size, length);
  }
  return storage.try_emplace(buffer, place).first->second;
}

Emitter::Address Emitter::emitBufferAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides,
                                            const Point &point, bool useRows) {
  const Storage place = storageOf(buffer);
  Address address{place.base, gpu ? Value() : index(0), gpu ? Value() : index(0)};
  for (auto [p, expr] : llvm::enumerate(map.getResults())) {
    Value position = p < overrides.size() && overrides[p] ? overrides[p] : affineValue(expr, block, point);
    if (!place.planes.empty() && place.planes[p] != 0)
      position = arith::RemUIOp::create(builder, loc, position, index(place.planes[p]));
    addIndex(address, position, place.strides[p]);
    if (useRows && point.rowDim && expr.isFunctionOfDim(*point.rowDim)) {
      AffineExpr d = getAffineDimExpr(*point.rowDim, context);
      AffineExpr step = simplifyAffineExpr(expr.replace(d, d + 1) - expr, map.getNumDims(), map.getNumSymbols());
      addStep(address, affineValue(step, block, point), place.strides[p]);
    }
  }
  if (place.rowStride) {
    Value row = arith::SubIOp::create(builder, loc, point.dims[*point.rowDim], point.rowBegin);
    addIndex(address, row, place.rowStride);
    addStep(address, index(1), place.rowStride);
  }
  return address;
}

void Emitter::addIndex(Address &address, Value number, Value stride) {
  if (gpu)
    address.dims.push_back({getAsOpFoldResult(number), getAsOpFoldResult(stride), builder.getIndexAttr(0)});
  else
    address.offset = make<arith::AddIOp>(address.offset, make<arith::MulIOp>(number, stride));
}

void Emitter::addStep(Address &address, Value step, Value stride) {
  if (gpu)
    address.dims.back().step = getAsOpFoldResult(step);
  else
    address.rowStride = make<arith::AddIOp>(address.rowStride, make<arith::MulIOp>(step, stride));
}

void Emitter::computeOffset(Address &address) {
  if (address.offset)
    return;
  auto value = [&](OpFoldResult number) { return getValueOrCreateConstantIndexOp(builder, loc, number); };
  address.offset = address.rowStride = index(0);
  for (const loops::ViewOp::Dim &dim : address.dims) {
    Value stride = value(dim.stride);
    address.offset = make<arith::AddIOp>(address.offset, make<arith::MulIOp>(value(dim.index), stride));
    if (!isZeroInteger(dim.step))
      address.rowStride = make<arith::AddIOp>(address.rowStride, make<arith::MulIOp>(value(dim.step), stride));
  }
}

void Emitter::askForVectors(Operation *loop) {
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, /*disable=*/BoolAttr::get(context, false), {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                                                 {}, {}, {}, {}));
}

void Emitter::askToUnroll(Operation *loop) {
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/BoolAttr::get(context, false), {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                                                 {}, {}));
}

std::pair<Value, Value> Emitter::emitScratch(RankedTensorType element, int64_t rows) {
  int64_t size = std::max<int64_t>(element.getNumElements(), 1);
  Value memory;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(scope->at);
    memory = emitAlloc(element.getElementType(), index(size * (currentList ? maxRows : rows)));
  }
  if (!currentList)
    return {memory, index(0)};
  // The list's rows are read when all are there.
  Value listed = loops::CountOp::create(builder, loc, builder.getIndexType(), currentList);
  return {memory, make<arith::MulIOp>(listed, index(size))};
}

Emitter::Address Emitter::emitValuePiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element, const Point &point,
                                         bool useRows) {
  int64_t size = element.getNumElements(), rows = 1;
  Value value, step;
  if (piece.getKind() == etdg::SourceKind::Splat) {
    value = arith::ConstantOp::create(builder, loc, piece.getValue());
  } else {
    AffineMap map = piece.getMap().getValue();
    value = affineValue(map.getResult(0), block, point);
    if (useRows && point.rowDim && map.isFunctionOfDim(*point.rowDim)) {
      AffineExpr d = getAffineDimExpr(*point.rowDim, context), expr = map.getResult(0);
      step = affineValue(simplifyAffineExpr(expr.replace(d, d + 1) - expr, map.getNumDims(), map.getNumSymbols()), block, point);
      rows = maxRows;
    }
  }
  Type memory = MemRefType::get({ShapedType::kDynamic}, element.getElementType());
  return {loops::SplatOp::create(builder, loc, memory, value, step, size, rows), index(0), index(step ? size : 0)};
}

FailureOr<Emitter::Address> Emitter::emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element,
                                               const Point &point, bool useRows) {
  if (gpu && piece.getKind() != etdg::SourceKind::Buffer)
    return emitValuePiece(block, piece, element, point, useRows);
  switch (piece.getKind()) {
  case etdg::SourceKind::Splat: {
    Value base = bufferBase(splat(element, piece.getValue()), element.getElementType());
    return Address{base, index(0), index(0)};
  }
  case etdg::SourceKind::Index: {
    // The values of all rows, written out.
    auto [memory, first] = emitScratch(element, maxRows);
    AffineMap map = piece.getMap().getValue();
    Value value = affineValue(map.getResult(0), block, point);
    auto store = [&, memory = memory](Value v, Value at) {
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
      store(affineValue(map.getResult(0), block, row), make<arith::AddIOp>(first, loop.getInductionVar()));
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

Emitter::RunLimits Emitter::limitsOfRuns(BlockOp block, unsigned row) {
  RunLimits limits;
  auto addPlanes = [&](AffineMap map, Value buffer) {
    for (auto [p, e] : llvm::enumerate(map.getResults()))
      if (e.isFunctionOfDim(row) && kept.at(buffer, p) != 0)
        limits.planes.push_back({e, kept.at(buffer, p)});
  };
  for (unsigned i = 0; i < block.getNumWrites(); ++i)
    addPlanes(block.getWrite(i).getMap().getValue(), block.getBuffers()[block.getWrite(i).getOperand()]);
  for (unsigned i = 0; i < block.getNumReads(); ++i)
    for (etdg::PieceAttr piece : block.getRead(i).getPieces()) {
      IntegerSet set = piece.getSet().getValue();
      for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
        if (expr.isFunctionOfDim(row))
          limits.constraints.push_back({expr, equality, block});
      if (piece.getKind() == etdg::SourceKind::Buffer)
        addPlanes(piece.getMap().getValue(), block.getBuffers()[piece.getOperand()]);
    }
  return limits;
}

LogicalResult Emitter::emitLeaf(BlockOp block, Point point) {
  auto planes = [&](Value buffer, unsigned d) { return kept.at(buffer, d); };
  std::optional<RowsOfLeaf> rows;
  if (point.rowDim)
    rows = RowsOfLeaf{*point.rowDim, /*listed=*/rowLists != nullptr};
  FailureOr<RowUse> use = readRowUse(block, rows, planes);
  if (failed(use))
    return failure();
  if (!rows)
    return emitLeafCall(block, point, false);
  switch (*use) {
  case RowUse::AtOnce:
    return emitLeafCall(block, point, true);
  case RowUse::Runs:
    return emitRuns(block, point, limitsOfRuns(block, *point.rowDim), [&](Point run) { return emitLeafCall(block, run, true); });
  case RowUse::OneByOne:
    return emitSingleRows(point, [&](Point row) { return emitLeafCall(block, row, false); });
  }
  llvm_unreachable("all uses of rows are handled");
}

Value Emitter::emitRowsView(const Address &address, RankedTensorType element, Value rows, ArrayRef<int64_t> given) {
  if (gpu)
    return emitKeptView(address, element, rows, given);
  // Row r of the leaf: the element at offset + r * rowStride.
  SmallVector<int64_t> shape = {ShapedType::kDynamic}, strides = {ShapedType::kDynamic};
  SmallVector<OpFoldResult> sizes = {rows}, strideValues = {address.rowStride};
  // As the leaf computes them for itself, also where an extent is 0.
  SmallVector<int64_t> own = given.empty() ? computeSuffixProduct(element.getShape()) : llvm::to_vector(given);
  for (auto [extent, stride] : llvm::zip_equal(element.getShape(), own)) {
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

/// The same with an index for each dimension.
Value Emitter::emitKeptView(const Address &address, RankedTensorType element, Value rows, ArrayRef<int64_t> given) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic}, strides = {ShapedType::kDynamic};
  llvm::append_range(shape, element.getShape());
  llvm::append_range(strides, given.empty() ? computeSuffixProduct(element.getShape()) : llvm::to_vector(given));
  auto layout = StridedLayoutAttr::get(context, ShapedType::kDynamic, strides);
  auto type = MemRefType::get(shape, element.getElementType(), layout);
  SmallVector<loops::ViewOp::Dim> dims = address.dims;
  if (dims.empty()) {
    auto orNone = [&](Value value) { return value ? getAsOpFoldResult(value) : OpFoldResult(builder.getIndexAttr(0)); };
    dims.push_back({orNone(address.offset), builder.getIndexAttr(1), orNone(address.rowStride)});
  }
  return loops::ViewOp::create(builder, loc, type, address.base, llvm::map_to_vector(dims, [](auto &dim) { return dim.index; }),
                               llvm::map_to_vector(dims, [](auto &dim) { return dim.stride; }),
                               llvm::map_to_vector(dims, [](auto &dim) { return dim.step; }), rows);
}

SmallVector<int64_t> Emitter::stridesOfRead(BlockOp block, unsigned i) {
  if (stagedMemory.contains({block, i}))
    return getStagedRead(block, i)->strides;
  etdg::ReadAttr read = block.getRead(i);
  auto element = cast<RankedTensorType>(block.getBody().getArgument(i).getType());
  // (Of nothing there are no distances.)
  if ((!readsScalars(block, read) && !readsDivided(read)) || element.getNumElements() == 0)
    return {};
  auto planes = [&](Value buffer, unsigned d) { return kept.at(buffer, d); };
  std::optional<Box> box = getBox(block, read, element, planes, /*strided=*/true);
  return box && !box->inOrder ? box->strides : SmallVector<int64_t>();
}

FailureOr<Emitter::Address> Emitter::emitReadAddress(BlockOp block, unsigned i, const Point &point, bool rowWise,
                                                     bool strided) {
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
      computeOffset(*address);
      scf::YieldOp::create(builder, loc, ValueRange{address->base, address->offset, address->rowStride});
    }
    return Address{branch.getResult(0), branch.getResult(1), branch.getResult(2)};
  };
  if (pieces.empty())
    return block.emitError() << "read " << i << " has no piece";
  if (Value memory = stagedMemory.lookup({block, i})) {
    // Where column 0 would be: those in front of the first are another block's.
    Value begin = make<arith::MulIOp>(point.unit, index(getStagedRead(block, i)->getElements()));
    return Address{memory, make<arith::SubIOp>(begin, point.columns->first), index(0)};
  }
  bool scalars = readsScalars(block, block.getRead(i));
  auto planes = [&](Value buffer, unsigned d) { return kept.at(buffer, d); };
  if (scalars || readsDivided(block.getRead(i)))
    if (std::optional<Box> box = getBox(block, block.getRead(i), element, planes, strided))
      return emitBoxAddress(block, *box, point, rowWise);
  if (!scalars)
    return choose(pieces);
  return emitElementRead(block, block.getRead(i), element, point);
}

LogicalResult Emitter::emitLeafCall(BlockOp block, const Point &point, bool rowWise) {
  if (rowLists)
    return emitAppend(block, point, rowWise);
  Value rows = rowWise ? point.rows : index(1);
  SmallVector<Value> inputs, outputs;
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
    FailureOr<Address> address = emitReadAddress(block, i, point, rowWise, /*strided=*/true);
    if (failed(address))
      return failure();
    inputs.push_back(emitRowsView(*address, element, rows, stridesOfRead(block, i)));
  }
  for (unsigned i = 0; i < block.getNumWrites(); ++i) {
    Value buffer = block.getBuffers()[block.getWrite(i).getOperand()];
    auto type = cast<etdg::BufferType>(buffer.getType());
    Address address = emitBufferAddress(block, buffer, block.getWrite(i).getMap().getValue(), {}, point, rowWise);
    outputs.push_back(emitRowsView(address, type.getElement(), rows));
  }
  std::optional<Columns> columns = point.columns;
  OpBuilder::InsertionGuard guard(builder);
  if (columns && !gpu && findLeafColumns(block, batched, columns->count, /*inSteps=*/true).count == 0) {
    // Rows that are computed one by one may have other columns: the first task computes all.
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, columns->first, index(0));
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false).thenBlock());
    columns.reset();
  }
  loops::LeafOp leaf = emitLeafOp(block, overlapsOf(block), rows, rowWise ? maxRows : 1, Value(), inputs, batched, outputs, columns,
                                  gpu ? block->getAttrOfType<ArrayAttr>(etdg::names::layouts) : ArrayAttr());
  if (gpu)
    sayHanded(leaf, block, point);
  return success();
}

/// Says which outputs the loop around the leaf hands on, of which others read the last one alone.
void Emitter::sayHanded(loops::LeafOp leaf, BlockOp block, const Point &point) {
  auto pairs = block->getAttrOfType<DenseI64ArrayAttr>(etdg::names::handed);
  auto loop = dyn_cast<scf::ForOp>(leaf->getParentOp());
  SmallVector<int64_t> outputs;
  for (int64_t i = 0; pairs && loop && i + 1 < pairs.size(); i += 2)
    if (point.dims[size_t(pairs[i + 1])] == loop.getInductionVar())
      outputs.push_back(pairs[i]);
  if (!outputs.empty())
    leaf->setAttr(loops::names::handed, builder.getDenseI64ArrayAttr(outputs));
}

loops::LeafOp Emitter::emitLeafOp(BlockOp block, ArrayAttr overlaps, Value rows, int64_t most, Value list, ValueRange inputs, ArrayRef<bool> varies,
                         ValueRange outputs, std::optional<Columns> columns, ArrayAttr layouts) {
  auto number = [&](int64_t value) { return columns ? builder.getI64IntegerAttr(value) : IntegerAttr(); };
  auto leaf = loops::LeafOp::create(builder, block.getLoc(), rows, list, columns ? columns->first : Value(),
                                    columns ? columns->width : Value(), inputs, outputs,
                                    builder.getDenseBoolArrayAttr(varies), builder.getI64IntegerAttr(most),
                                    number(columns ? columns->tile : 0), number(columns ? columns->count : 0),
                                    columns && gpu ? builder.getDenseI64ArrayAttr(cuts.lookup(block)) : DenseI64ArrayAttr(),
                                    layouts, /*scratch=*/ArrayAttr(), /*aligned=*/DenseI64ArrayAttr(), /*places=*/ArrayAttr(),
                                    /*nests=*/ArrayAttr(), /*sums=*/TypeAttr(), overlaps);
  OpBuilder::InsertionGuard guard(builder);
  Block &source = block.getBody().front(), &body = leaf.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : source.getArguments())
    mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToStart(&body);
  for (Operation &op : source.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value result : source.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  loops::YieldOp::create(builder, source.getTerminator()->getLoc(), results);
  if (!loops::halvesSummed(body).empty())
    leaf.setSumsAttr(TypeAttr::get(etdg::getSumsOfHalves(context)));
  return leaf;
}
