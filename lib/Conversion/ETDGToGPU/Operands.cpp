//===- Operands.cpp - addresses and leaves --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read resolves to a pointer and a stride between rows, or to a value that all
// elements have; pieces become a choice among these. The choice is the same for
// all threads of a block.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Runtime/Target.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value GraphEmitter::emitCondition(IntegerSet set, BlockOp block, const Point &point) {
  Value all, zero = b.number(0);
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr);
        constant && (equality ? constant.getValue() == 0 : constant.getValue() >= 0))
      continue;
    auto predicate = equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
    Value holds = b.createOrFold<arith::CmpIOp>(predicate, expand(expr, block, point), zero);
    all = all ? b.createOrFold<arith::AndIOp>(all, holds) : holds;
  }
  return all ? all : arith::ConstantIntOp::create(b, 1, 1).getResult();
}

Value GraphEmitter::emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound,
                                    const Point &point) {
  Value indices = block.getBuffers()[gather.getOperand()];
  Operand address =
      emitAddress(block, indices, gather.getMap().getValue(), {}, point, /*useRows=*/false);
  Type element = cast<etdg::BufferType>(indices.getType()).getElement().getElementType();
  Value value = b.load(address.pointer, element);
  if (!value.getType().isInteger(64))
    value = arith::ExtSIOp::create(b, b.getI64Type(), value);
  // One thread notes it for the host.
  Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threads.id, b.number32(0));
  return checkIndex(value, bound, block.getLoc(), first);
}

const Storage &GraphEmitter::storageOf(Value buffer) {
  auto found = storage.find(buffer);
  if (found != storage.end())
    return found->second;
  // A buffer of the whole call: its strides are hoisted.
  CallBuffer &info = callBuffers.find(buffer)->second;
  Storage place;
  place.planes = info.planes;
  atEntry([&] {
    place.base = info.planBuffer >= 0
                     ? argument(info.planBuffer)
                     : LLVM::AddressOfOp::create(b, b.pointer(global), info.constant.getSymName())
                           .getResult();
    Value size = b.number(info.element.getNumElements());
    place.strides.resize(info.lengths.size());
    for (int64_t d = int64_t(info.lengths.size()) - 1; d >= 0; --d) {
      place.strides[d] = size;
      if (d < info.stridedDims)
        place.strides[d] = integerArgument(getHostStride(result.entry, *getInterface(graph), info.argument, unsigned(d)));
      if (d == 0)
        break;
      bool some = !place.planes.empty() && place.planes[d] != 0;
      size = b.mul(size, some ? b.number(place.planes[d]) : lengthValue(info.lengths[d]));
    }
  });
  return storage.try_emplace(buffer, place).first->second;
}

/// How much a map's result grows with a dimension along which it is linear.
Value GraphEmitter::emitStep(BlockOp block, AffineMap map, unsigned result, unsigned dim,
                             const Point &point) {
  AffineExpr expr = map.getResult(result), d = getAffineDimExpr(dim, context);
  AffineExpr step =
      simplifyAffineExpr(expr.replace(d, d + 1) - expr, map.getNumDims(), map.getNumSymbols());
  return expand(step, block, point);
}

GraphEmitter::Operand GraphEmitter::emitAddress(BlockOp block, Value buffer, AffineMap map,
                                                ArrayRef<Value> overrides, const Point &point,
                                                bool useRows) {
  auto type = cast<etdg::BufferType>(buffer.getType());
  const Storage &place = storageOf(buffer);
  Operand address;
  Value offset = b.number(0);
  auto addRowStride = [&](Value stride) {
    address.rowStride = address.rowStride ? b.add(address.rowStride, stride) : stride;
  };
  for (auto [p, expr] : llvm::enumerate(map.getResults())) {
    Value position =
        p < overrides.size() && overrides[p] ? overrides[p] : expand(expr, block, point);
    if (!place.planes.empty() && place.planes[p] != 0)
      position = b.createOrFold<arith::RemUIOp>(position, b.number(place.planes[p]));
    offset = b.add(offset, b.mul(position, place.strides[p]));
    if (useRows && point.rowDim && expr.isFunctionOfDim(*point.rowDim))
      addRowStride(b.mul(emitStep(block, map, p, *point.rowDim, point), place.strides[p]));
    if (point.liftDim && expr.isFunctionOfDim(*point.liftDim)) {
      Value stride = b.mul(emitStep(block, map, p, *point.liftDim, point), place.strides[p]);
      address.liftStride = address.liftStride ? b.add(address.liftStride, stride) : stride;
    }
  }
  if (place.rowStride) {
    offset =
        b.add(offset, b.mul(b.sub(point.dims[*point.rowDim], point.rowBegin), place.rowStride));
    if (useRows)
      addRowStride(place.rowStride);
  }
  address.pointer = b.at(place.base, offset, type.getElement().getElementType());
  return address;
}

FailureOr<GraphEmitter::Operand> GraphEmitter::emitPiece(BlockOp block, etdg::PieceAttr piece,
                                                         RankedTensorType element,
                                                         const Point &point, bool useRows) {
  Operand operand;
  Value yes = arith::ConstantIntOp::create(b, 1, 1);
  switch (piece.getKind()) {
  case etdg::SourceKind::Splat: {
    operand.isValue = yes;
    TypedAttr value = piece.getValue();
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    operand.value = arith::ConstantOp::create(b, value);
    return operand;
  }
  case etdg::SourceKind::Index: {
    AffineMap map = piece.getMap().getValue();
    operand.isValue = yes;
    operand.value = expand(map.getResult(0), block, point);
    if (useRows && point.rowDim && map.isFunctionOfDim(*point.rowDim))
      operand.valueStep = emitStep(block, map, 0, *point.rowDim, point);
    if (point.liftDim && map.isFunctionOfDim(*point.liftDim))
      operand.liftStep = emitStep(block, map, 0, *point.liftDim, point);
    return operand;
  }
  case etdg::SourceKind::Buffer:
    break;
  }
  Value buffer = block.getBuffers()[piece.getOperand()];
  auto type = cast<etdg::BufferType>(buffer.getType());
  SmallVector<Value> overrides(type.getDepth());
  for (etdg::GatherAttr gather : piece.getGathers())
    overrides[gather.getPosition()] =
        emitGatherIndex(block, gather, lengthValue(type.getLengths()[gather.getPosition()]), point);
  return emitAddress(block, buffer, piece.getMap().getValue(), overrides, point, useRows);
}

GraphEmitter::Operand GraphEmitter::emitSplatMemory(etdg::PieceAttr piece, RankedTensorType element) {
  LLVM::GlobalOp constant = addConstant(DenseElementsAttr::get(element, piece.getValue()));
  Operand operand;
  operand.pointer = atEntry([&] { return LLVM::AddressOfOp::create(b, b.pointer(global), constant.getSymName()).getResult(); });
  return operand;
}

bool GraphEmitter::isProductOperand(BlockOp block, const LeafForm &form, unsigned read) {
  auto layouts = block->getAttrOfType<ArrayAttr>("etdg.layouts");
  if (!layouts || layouts.size() != form.graph.nests.size())
    return false;
  for (auto [layout, nest] : llvm::zip_equal(layouts, form.graph.nests)) {
    if (!isa<tile::ProductAttr>(layout))
      continue;
    for (const leaf::View &view : nest.members.front().reads)
      if (!view.isSplat() && form.graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Input &&
          form.graph.buffers[view.buffer].number == read)
        return true;
  }
  return false;
}

FailureOr<GraphEmitter::Operand> GraphEmitter::emitAlternative(BlockOp block, etdg::PieceAttr piece,
                                                               RankedTensorType element, const Point &point, bool useRows,
                                                               bool inMemory) {
  if (inMemory && piece.getKind() == etdg::SourceKind::Splat)
    return emitSplatMemory(piece, element);
  return emitPiece(block, piece, element, point, useRows);
}

GraphEmitter::PieceForm GraphEmitter::formOf(BlockOp block, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element,
                                             const Point &point, bool inMemory) {
  PieceForm form;
  form.space = inMemory ? unsigned(global) : unsigned(generic);
  for (etdg::PieceAttr piece : pieces) {
    bool isBuffer = piece.getKind() == etdg::SourceKind::Buffer;
    (isBuffer || (inMemory && piece.getKind() == etdg::SourceKind::Splat) ? form.buffers : form.values) = true;
    form.steps |= piece.getKind() == etdg::SourceKind::Index;
    if (isBuffer && inMemory) {
      Value base = storageOf(block.getBuffers()[piece.getOperand()]).base;
      if (cast<LLVM::LLVMPointerType>(base.getType()).getAddressSpace() != global)
        form.space = generic;
    }
  }
  form.valueType = form.steps ? Type(b.getI64Type()) : registerType(element.getElementType());
  form.lifts = bool(point.liftDim);
  if (form.buffers)
    llvm::append_range(form.types, TypeRange{b.pointer(form.space), b.getI64Type()});
  if (form.values)
    llvm::append_range(form.types, TypeRange{b.getI1Type(), form.valueType, b.getI64Type()});
  if (form.lifts)
    form.types.append({b.getI64Type(), b.getI64Type()});
  return form;
}

/// An alternative in the form of all: what others have and it lacks is filled in.
SmallVector<Value> GraphEmitter::toForm(const PieceForm &form, const Operand &operand) {
  SmallVector<Value> all;
  Value zero = b.number(0);
  if (form.buffers) {
    all.push_back(!operand.pointer        ? Value(LLVM::ZeroOp::create(b, b.pointer(form.space)))
                  : form.space == generic ? b.toGeneric(operand.pointer)
                                          : operand.pointer);
    all.push_back(operand.rowStride ? operand.rowStride : zero);
  }
  if (form.values) {
    Value value = operand.value;
    if (!value)
      value = arith::ConstantOp::create(b, b.getZeroAttr(form.valueType));
    else if (value.getType() != form.valueType) // a splat beside an index
      value = arith::ExtSIOp::create(b, form.valueType, value);
    all.push_back(arith::ConstantIntOp::create(b, operand.isValue ? 1 : 0, 1));
    all.push_back(value);
    all.push_back(operand.valueStep ? operand.valueStep : zero);
  }
  if (form.lifts) {
    all.push_back(operand.liftStride ? operand.liftStride : zero);
    all.push_back(operand.liftStep ? operand.liftStep : zero);
  }
  return all;
}

GraphEmitter::Operand GraphEmitter::fromForm(const PieceForm &form, ArrayRef<Value> values) {
  Operand operand;
  if (form.buffers) {
    operand.pointer = values[0];
    operand.rowStride = values[1];
    values = values.drop_front(2);
  }
  if (form.values) {
    operand.isValue = values[0];
    operand.value = values[1];
    if (form.steps)
      operand.valueStep = values[2];
    values = values.drop_front(3);
  }
  if (form.lifts) { // only those that some piece has: a null one says that all lifts are one
    operand.liftStride = form.buffers ? values[0] : Value();
    operand.liftStep = form.steps ? values[1] : Value();
  }
  return operand;
}

/// A chain of choices; the last piece needs no condition: pieces cover the domain.
FailureOr<GraphEmitter::Operand> GraphEmitter::choosePiece(BlockOp block,
                                                           ArrayRef<etdg::PieceAttr> pieces,
                                                           RankedTensorType element,
                                                           const Point &point, bool useRows, bool inMemory) {
  if (pieces.size() == 1)
    return emitAlternative(block, pieces.front(), element, point, useRows, inMemory);
  PieceForm form = formOf(block, pieces, element, point, inMemory);
  std::function<FailureOr<SmallVector<Value>>(ArrayRef<etdg::PieceAttr>)> choose =
      [&](ArrayRef<etdg::PieceAttr> rest) -> FailureOr<SmallVector<Value>> {
    if (rest.size() == 1) {
      FailureOr<Operand> operand = emitAlternative(block, rest.front(), element, point, useRows, inMemory);
      if (failed(operand))
        return failure();
      return toForm(form, *operand);
    }
    Value condition = emitCondition(rest.front().getSet().getValue(), block, point);
    auto branch = scf::IfOp::create(b, form.types, condition, /*withElseRegion=*/true);
    for (bool then : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(then ? branch.thenBlock() : branch.elseBlock());
      FailureOr<SmallVector<Value>> chosen = choose(then ? rest.take_front() : rest.drop_front());
      if (failed(chosen))
        return failure();
      scf::YieldOp::create(b, *chosen);
    }
    return llvm::to_vector_of<Value>(branch.getResults());
  };
  FailureOr<SmallVector<Value>> chosen = choose(pieces);
  if (failed(chosen))
    return failure();
  return fromForm(form, *chosen);
}

//===----------------------------------------------------------------------===//
// Reads that address scalars
//===----------------------------------------------------------------------===//

FailureOr<Value> GraphEmitter::emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces,
                                          RankedTensorType element, const Point &point) {
  etdg::PieceAttr piece = pieces.front();
  Type type = registerType(element.getElementType());
  if (pieces.size() > 1) {
    Value condition = emitCondition(piece.getSet().getValue(), block, point);
    auto branch = scf::IfOp::create(b, TypeRange{type}, condition, /*withElseRegion=*/true);
    for (bool then : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(then ? branch.thenBlock() : branch.elseBlock());
      FailureOr<Value> scalar =
          emitScalar(block, then ? pieces.take_front() : pieces.drop_front(), element, point);
      if (failed(scalar))
        return failure();
      scf::YieldOp::create(b, *scalar);
    }
    return branch.getResult(0);
  }
  AffineMap map = piece.getMap().getValue();
  if (piece.getKind() != etdg::SourceKind::Buffer) {
    FailureOr<Operand> operand = emitPiece(block, piece, element, point, /*useRows=*/false);
    Value value = operand->value;
    if (value.getType() != type)
      value = arith::TruncIOp::create(b, type, value);
    return value;
  }
  Value buffer = block.getBuffers()[piece.getOperand()];
  auto bufferType = cast<etdg::BufferType>(buffer.getType());
  SmallVector<Value> overrides(bufferType.getDepth());
  for (etdg::GatherAttr gather : piece.getGathers())
    overrides[gather.getPosition()] = emitGatherIndex(
        block, gather, lengthValue(bufferType.getLengths()[gather.getPosition()]), point);
  AffineMap outer = AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                                   map.getResults().take_front(bufferType.getDepth()), context);
  Operand address = emitAddress(block, buffer, outer, overrides, point, /*useRows=*/false);
  Value linear = b.number(0);
  for (auto [extent, expr] : llvm::zip_equal(bufferType.getElement().getShape(),
                                             map.getResults().drop_front(bufferType.getDepth())))
    linear = b.add(b.mul(linear, extent), expand(expr, block, point));
  return b.load(b.at(address.pointer, linear, element.getElementType()), element.getElementType());
}

/// Scalars that lie in memory as the leaf takes them.
GraphEmitter::Operand GraphEmitter::emitBox(BlockOp block, const schedule::Box &box, RankedTensorType element,
                                            const Point &point, bool useRows) {
  Value buffer = block.getBuffers()[box.operand];
  Operand operand = emitAddress(block, buffer, box.index, {}, point, useRows);
  Type scalar = element.getElementType();
  operand.pointer = b.at(operand.pointer, expand(box.offset, block, point), scalar);
  auto offset = AffineMap::get(box.index.getNumDims(), box.index.getNumSymbols(), box.offset);
  auto addStep = [&](Value &stride, std::optional<unsigned> dim) {
    if (!dim || !box.offset.isFunctionOfDim(*dim))
      return;
    Value step = emitStep(block, offset, 0, *dim, point);
    stride = stride ? b.add(stride, step) : step;
  };
  if (useRows)
    addStep(operand.rowStride, point.rowDim);
  addStep(operand.liftStride, point.liftDim);
  // Elements of a list begin at multiples of their size; so must boxes, or at 16 bytes.
  auto isEven = [&](int64_t distance) {
    return distance % std::max<int64_t>(element.getNumElements(), 1) == 0 || distance * bytesOf(scalar) % accessBytes == 0;
  };
  operand.aligned = isEven(box.offset.getLargestKnownDivisor()) &&
                    isEven(cast<etdg::BufferType>(buffer.getType()).getElement().getNumElements());
  return operand;
}

/// The element is put together by all threads before the leaf runs.
FailureOr<GraphEmitter::Operand> GraphEmitter::emitElementRead(BlockOp block, etdg::ReadAttr read,
                                                               RankedTensorType element,
                                                               const Point &point) {
  int64_t bytes = llvm::alignTo(element.getNumElements() * bytesOf(element.getElementType()), 256);
  Operand operand;
  operand.pointer = blockMemory(bytes, atEntry([&] { return b.number(bytes); }), bytes);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop =
      b.loop(threads.id, b.number32(element.getNumElements()), b.number32(threads.count));
  Value linear = b.extend(loop.getInductionVar());
  Point at = point;
  SmallVector<Value> own(element.getRank());
  Value rest = linear;
  for (int64_t d = element.getRank() - 1; d >= 0; --d) {
    own[d] = b.createOrFold<arith::RemUIOp>(rest, b.number(element.getDimSize(d)));
    rest = b.createOrFold<arith::DivUIOp>(rest, b.number(element.getDimSize(d)));
  }
  llvm::append_range(at.dims, own);
  FailureOr<Value> scalar = emitScalar(block, read.getPieces(), element, at);
  if (failed(scalar))
    return failure();
  b.store(*scalar, b.at(operand.pointer, linear, element.getElementType()),
          element.getElementType());
  return operand;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

LogicalResult GraphEmitter::emitLeaf(BlockOp block, Point point) {
  for (unsigned i = 0; i < block.getNumReads(); ++i)
    if (block.getRead(i).getPieces().empty())
      return block.emitError() << "read " << i << " has no piece";
  if (!point.rowDim || isUniform(block, *point.rowDim))
    return emitLeafInstance(block, point, bool(point.rowDim));
  OpBuilder::InsertionGuard guard(b);
  if (schedule::hasProductLayout(block))
    if (auto runs = schedule::findRowRuns(block, *point.rowDim, [this](Value buffer, unsigned d) { return kept.at(buffer, d); }))
      return emitRuns(block, point, *runs);
  scf::ForOp loop = b.loop(b.number(0), point.rows, b.number(1));
  point.dims[*point.rowDim] = b.add(point.dims[*point.rowDim], loop.getInductionVar());
  return emitLeafInstance(block, point, false);
}

/// The first row behind `row` at which a piece may change.
Value GraphEmitter::emitRunEnd(BlockOp block, const Point &point, ArrayRef<schedule::RowChange> changes, Value row) {
  Value end = point.rows, zero = b.number(0);
  Point here = point;
  here.dims[*point.rowDim] = b.add(point.dims[*point.rowDim], row);
  for (const schedule::RowChange &change : changes) {
    Value value = expand(change.value, block, here);
    if (change.step < 0) // as if it grew
      value = b.sub(b.number(change.isEquality ? 0 : -1), value);
    // It grows, and is negative up to some row. An equality holds in that row alone.
    Value isBelow = b.less(value, zero);
    Value rows = b.ceilDiv(b.sub(zero, value), b.number(std::abs(change.step)));
    Value next = b.createOrFold<arith::SelectOp>(isBelow, b.add(row, rows), end);
    if (change.isEquality) {
      Value holds = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, value, zero);
      next = b.createOrFold<arith::SelectOp>(holds, b.add(row, 1), next);
    }
    end = b.smaller(end, next);
  }
  return end;
}

LogicalResult GraphEmitter::emitRuns(BlockOp block, Point point, ArrayRef<schedule::RowChange> changes) {
  Type i64 = b.getI64Type();
  auto loop = scf::WhileOp::create(b, TypeRange{i64}, ValueRange{b.number(0)});
  Block *before = b.createBlock(&loop.getBefore(), {}, {i64}, {b.getLoc()});
  scf::ConditionOp::create(b, b.less(before->getArgument(0), point.rows), before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, {i64}, {b.getLoc()});
  Value row = body->getArgument(0), end = emitRunEnd(block, point, changes, row);
  Point run = point;
  run.dims[*point.rowDim] = b.add(point.dims[*point.rowDim], row);
  run.rows = b.sub(end, row);
  if (failed(emitLeafInstance(block, run, /*rowWise=*/true)))
    return failure();
  scf::YieldOp::create(b, ValueRange{end});
  return success();
}

FailureOr<LeafForm *> GraphEmitter::leafForm(BlockOp block, std::optional<unsigned> rowDim,
                                             bool rowWise) {
  LeafForm &form = leafForms[block.getOperation()];
  if (form.module)
    return &form;
  if (failed(schedule::makeLeafForm(form, block, rowDim, rowWise,
                                    [&](Value buffer) { return rowWiseBuffers.contains(buffer); },
                                    [&](Value buffer, unsigned d) { return kept.at(buffer, d); })))
    return failure();
  return &form;
}

FailureOr<SmallVector<Tiles>> GraphEmitter::readLayouts(BlockOp block, const LeafForm &form, const Point &point,
                                                       bool rowWise) {
  schedule::LeafContext context;
  context.row = point.rowDim;
  context.maxRows = maxRows;
  context.lift = point.liftDim;
  context.lifts = point.lifts;
  context.threads = threads.count;
  context.sums = threads.sums;
  if (point.columns) {
    context.columns = 1;
    context.unit = point.columns->unit;
  }
  SmallVector<Attribute> layouts;
  if (auto given = block->getAttrOfType<ArrayAttr>("etdg.layouts"))
    layouts.assign(given.begin(), given.end());
  // Storage may have left accesses that step less evenly than the layouts were made for.
  auto noPlanes = [](Value, unsigned) { return int64_t(0); };
  bool wasRowWise = point.rowDim && (schedule::isUniform(block, *point.rowDim, noPlanes) ||
                                     (schedule::hasProductLayout(block) && schedule::findRowRuns(block, *point.rowDim, noPlanes)));
  bool otherStrides = schedule::getReadStrides(block, noPlanes) !=
                      schedule::getReadStrides(block, [this](Value buffer, unsigned d) { return kept.at(buffer, d); });
  if (otherwise.contains(block) || wasRowWise != rowWise || otherStrides)
    layouts = schedule::chooseLayouts(form, context, rowWise, machine);
  auto refuse = [&](const Twine &why) {
    return block.emitError("the GPU engine can't run the leaf's 'etdg.layouts': ") << why;
  };
  if (layouts.size() != form.graph.nests.size())
    return refuse("expected one for each of its " + Twine(form.graph.nests.size()) + " loop nests, found " +
                  Twine(layouts.size()));
  SmallVector<Tiles> all;
  for (auto [i, layout] : llvm::enumerate(layouts)) {
    leaf::Nest nest;
    schedule::TileContext tile = schedule::tileContextOf(form, unsigned(i), context, rowWise, nest);
    std::string wrong;
    if (auto product = dyn_cast<tile::ProductAttr>(layout)) {
      FailureOr<schedule::ProductTiles> tiles = schedule::readProduct(product, form, unsigned(i), tile, wrong);
      if (failed(tiles))
        return refuse("loop nest " + Twine(i) + ": " + wrong);
      all.emplace_back().product = std::make_shared<schedule::ProductTiles>(std::move(*tiles));
      continue;
    }
    auto tiling = dyn_cast<etdg::TilingAttr>(layout);
    if (!tiling)
      return refuse("rows stay in registers where a kernel is one leaf");
    FailureOr<Tiles> tiles = schedule::readTiles(tiling, form.graph, nest, tile, machine, wrong);
    if (failed(tiles))
      return refuse("loop nest " + Twine(i) + ": " + wrong);
    all.push_back(*tiles);
  }
  return all;
}

FailureOr<SmallVector<GraphEmitter::Operand>> GraphEmitter::emitOperands(BlockOp block, const LeafForm &form,
                                                                         const Point &point, bool rowWise) {
  SmallVector<Operand> operands;
  for (unsigned i = 0; i < block.getNumReads(); ++i) {
    auto element = cast<RankedTensorType>(block.getBody().getArgument(i).getType());
    etdg::ReadAttr read = block.getRead(i);
    bool inside = schedule::readsScalars(block, read);
    std::optional<schedule::Box> box;
    if (inside || schedule::readsDivided(read))
      box = schedule::getBox(block, read, element, [&](Value buffer, unsigned d) { return kept.at(buffer, d); });
    inside = inside && !box;
    FailureOr<Operand> operand = box      ? emitBox(block, *box, element, point, rowWise)
                                 : inside ? emitElementRead(block, read, element, point)
                                          : choosePiece(block, read.getPieces(), element, point, rowWise,
                                                        isProductOperand(block, form, i));
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
    if (inside)
      b.barrier();
  }
  return operands;
}

void GraphEmitter::bindMemories(BlockOp block, LeafEmitter &emitter, ArrayRef<Operand> operands, const Point &point,
                                bool rowWise) {
  emitter.memories.resize(emitter.graph.buffers.size());
  for (auto [memory, buffer] : llvm::zip_equal(emitter.memories, emitter.graph.buffers))
    switch (buffer.kind) {
    case leaf::Buffer::Kind::Input: {
      const Operand &operand = operands[buffer.number];
      memory.pointer = operand.pointer;
      memory.rowStride = buffer.batched ? operand.rowStride : Value();
      memory.isValue = operand.isValue;
      memory.value = operand.value;
      memory.valueStep = operand.valueStep;
      memory.liftStride = operand.liftStride;
      memory.liftStep = operand.liftStep;
      memory.aligned = operand.aligned;
      break;
    }
    case leaf::Buffer::Kind::Output: {
      etdg::WriteAttr write = block.getWrite(buffer.number);
      Operand address = emitAddress(block, block.getBuffers()[write.getOperand()],
                                    write.getMap().getValue(), {}, point, rowWise);
      memory.pointer = address.pointer;
      memory.rowStride = address.rowStride;
      memory.liftStride = address.liftStride;
      memory.aligned = true;
      break;
    }
    case leaf::Buffer::Kind::Constant: {
      LLVM::GlobalOp constant = addConstant(buffer.constant);
      memory.pointer = atEntry([&] {
        return LLVM::AddressOfOp::create(b, b.pointer(global), constant.getSymName()).getResult();
      });
      memory.aligned = true;
      break;
    }
    case leaf::Buffer::Kind::Scratch:
      break;
    }
}

LogicalResult GraphEmitter::emitLeafInstance(BlockOp block, const Point &point, bool rowWise) {
  FailureOr<LeafForm *> form = leafForm(block, point.rowDim, rowWise);
  if (failed(form))
    return failure();
  FailureOr<SmallVector<Operand>> operands = emitOperands(block, **form, point, rowWise);
  if (failed(operands))
    return failure();
  leaf::LeafGraph &leafGraph = (*form)->graph;
  LeafEmitter emitter(b, leafGraph, threads);
  emitter.checkIndex = [&](Value index, int64_t bound, Operation *op) {
    return checkIndex(index, b.number(bound), op->getLoc(), Value());
  };
  emitter.rows = rowWise ? point.rows : b.number(1);
  emitter.maxRows = rowWise ? maxRows : 1;
  emitter.lifts = point.liftDim ? point.lifts : 1;
  if (point.columns) {
    emitter.columns = point.columns;
    emitter.splits = (*form)->splits;
  }
  bindMemories(block, emitter, *operands, point, rowWise);
  emitter.findLifted();
  if (rowPlan) {
    emitter.rowPlan = &*rowPlan;
    return emitter.emit();
  }
  FailureOr<SmallVector<Tiles>> tiles = readLayouts(block, **form, point, rowWise);
  if (failed(tiles))
    return failure();
  emitter.tiles = std::move(*tiles);
  for (const Tiles &nest : emitter.tiles)
    if (nest.product)
      for (int buffer : nest.product->inRegisters)
        leafGraph.buffers[buffer].inMemory = false;
  emitter.staging = stagingMemory(emitter.tiles);
  placeLeafBuffers(leafGraph, emitter, emitter.maxRows);
  return emitter.emit();
}
