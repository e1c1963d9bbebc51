//===- NestTiles.cpp - a loop nest as an operation of tile ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest of a leaf becomes a `tile.nest`: what its members compute at a point, between elements that they read and write, and what the leaf
// says of it (`#tile.nest`). `convert-tile-to-nvvm` has what a thread does for that.
//
//===----------------------------------------------------------------------===//
#include "LeafEmitter.h"

#include "ft/Analysis/LeafGraph/NestAccesses.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

namespace {
class NestWriter {
public:
  NestWriter(LeafEmitter &emitter, const LeafNest &own) : e(emitter), b(emitter.b), own(own), nest(own.nest), said(own.said) {}
  LogicalResult run();

private:
  LogicalResult write(tile::PointTilesAttr layout);
  tile::NestOp start(tile::PointTilesAttr layout);

  Value memoryOf(int buffer);
  tile::PointPlaceAttr placeOf(const ElementView &view);
  uint64_t widthOf(const ElementView &view) const;
  void fillBegin(Region &region, const ElementView &view);
  Value readOf(const ElementView &view);
  Value inputOf(const ElementView &view);

  LogicalResult writeMember(const NestMember &member);
  Operation *startMember(const NestMember &member, ValueRange inputs);
  void fillCombiners(tile::ReducePointsOp op, const NestMember &member);
  LogicalResult fillBody(const NestMember &member, Block &block);
  Block *addBody(Region &region, TypeRange arguments);
  At beginBody(Block *block);
  void endBody(At at, ValueRange results);

  LeafEmitter &e;
  Code &b;
  const LeafNest &own;
  const Nest &nest;
  tile::NestAttr said;
  bool isShared = false;       // threads join what they have of a point
  Operation *around = nullptr; // the nest that is written
  llvm::DenseMap<int, Value> memories;
  /// Views that were read, and what members have made of views since.
  SmallVector<std::pair<ElementView, Value>> reads, made;
};
} // namespace

/// An attribute of an index is one of an i64 here, that of a half one of an f32, in which it is computed.
static TypedAttr inRegister(TypedAttr value, bool extends) {
  if (value.getType().isIndex())
    return IntegerAttr::get(IntegerType::get(value.getContext(), 64), cast<IntegerAttr>(value).getInt());
  if (!extends || !isHalf(value.getType()))
    return value;
  APFloat number = cast<FloatAttr>(value).getValue();
  bool loses = false;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return FloatAttr::get(Float32Type::get(value.getContext()), number);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value NestWriter::memoryOf(int buffer) {
  Value &known = memories[buffer];
  if (known)
    return known;
  const Memory &memory = e.memories[buffer];
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(around);
  bool isValue = bool(memory.isValue);
  auto type = tile::MemoryType::get(b.getContext(), registerType(e.graph.buffers[buffer].elementType));
  return known = tile::MemoryOp::create(b, type, memory.pointer, memory.pointer ? memory.rowStride : Value(),
                                        memory.pointer ? memory.liftStride : Value(), memory.isValue, isValue ? memory.value : Value(),
                                        isValue ? memory.valueStep : Value(), isValue ? memory.liftStep : Value(),
                                        memory.pointer && memory.swizzled);
}

tile::PointPlaceAttr NestWriter::placeOf(const ElementView &view) {
  SmallVector<tile::BorderAttr> borders;
  SmallVector<int64_t> begins;
  for (const Border &border : view.borders) {
    borders.push_back(tile::BorderAttr::get(b.getContext(), border.strides, border.size));
    begins.push_back(border.offset);
  }
  bool has = view.hasBorders();
  return tile::PointPlaceAttr::get(b.getContext(), view.offset, b.getDenseI64ArrayAttr(view.strides), borders,
                                   has ? b.getDenseI64ArrayAttr(begins) : DenseI64ArrayAttr(),
                                   has ? inRegister(view.outside, /*extends=*/false) : TypedAttr());
}

/// How many adjacent elements are one access.
uint64_t NestWriter::widthOf(const ElementView &view) const { return uint64_t(said.getAccesses()[findAccess(own.accesses, view)]); }

Block *NestWriter::addBody(Region &region, TypeRange arguments) {
  return b.createBlock(&region, {}, arguments, SmallVector<Location>(arguments.size(), b.getLoc()));
}

/// Where what the body at hand reads in memory is.
At NestWriter::beginBody(Block *block) {
  b.setInsertionPointToStart(block);
  Value row = tile::IndexOp::create(b, b.getI64Type(), 0), lift = tile::IndexOp::create(b, b.getI64Type(), 1);
  return {row, lift};
}

void NestWriter::endBody(At at, ValueRange results) {
  tile::YieldOp::create(b, results);
  for (Value index : {at.row, at.lift})
    if (index.use_empty())
      index.getDefiningOp()->erase();
}

/// Data may say where elements begin.
void NestWriter::fillBegin(Region &region, const ElementView &view) {
  if (view.terms.empty())
    return;
  OpBuilder::InsertionGuard guard(b);
  At at = beginBody(addBody(region, {}));
  endBody(at, ValueRange{e.beginOf(view, at)});
}

Value NestWriter::readOf(const ElementView &view) {
  for (auto &[known, value] : reads)
    if (known == view)
      return value;
  Value memory = memoryOf(view.buffer);
  auto read = tile::ReadOp::create(b, registerType(e.graph.buffers[view.buffer].elementType), memory, placeOf(view), widthOf(view));
  fillBegin(read.getBegin(), view);
  reads.push_back({view, read});
  return read;
}

/// What a member finds at a view: what one before it has made, or memory.
Value NestWriter::inputOf(const ElementView &view) {
  for (auto &[known, value] : llvm::reverse(made))
    if (known == view)
      return value;
  return readOf(view);
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// What a member computes of one point.
LogicalResult NestWriter::fillBody(const NestMember &member, Block &block) {
  OpBuilder::InsertionGuard guard(b);
  At at = beginBody(&block);
  LeafBody body(e, member, at);
  auto loopIndex = [&](int loop) -> Value { return tile::IndexOp::create(b, b.getI64Type(), uint64_t(loop) + 2); };
  body.loopIndex = loopIndex;
  ValueRange arguments = block.getArguments();
  auto read = [&](const ElementView &view) -> Value {
    if (view.isSplat())
      return e.loadOne(view, Value(), at);
    Value argument = arguments.front();
    arguments = arguments.drop_front();
    return argument;
  };
  SmallVector<Value> results;
  auto elementOf = [&](size_t i) { return e.graph.buffers[member.writes[i].buffer].elementType; };
  if (member.copy) {
    Value value = read(member.reads.front());
    if (isHalf(value.getType()) && !isHalf(elementOf(0))) // a copy may also extend halves
      value = b.toFloat32(value);
    results.push_back(b.toElement(value, elementOf(0)));
  } else {
    for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
      body.map(argument, read(view));
    for (auto [accumulator, value] : llvm::zip_equal(member.accumulators, arguments))
      body.map(accumulator, value);
    if (failed(body.evaluate()))
      return failure();
    for (unsigned i = 0; i < std::min(member.writes.size(), member.yields.size()); ++i)
      results.push_back(member.isReduction() ? b.toFloat32(body.result(i)) : b.toElement(body.result(i), elementOf(i)));
  }
  endBody(at, results);
  return success();
}

/// How threads that share a point join what they have.
void NestWriter::fillCombiners(tile::ReducePointsOp op, const NestMember &member) {
  for (auto [i, region] : llvm::enumerate(op.getCombiners())) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = addBody(region, {op.getSumType(unsigned(i)), op.getSumType(unsigned(i))});
    LeafBody body(e, member, {});
    tile::YieldOp::create(b, ValueRange{b.toFloat32(body.combine(member.combiners[i], block->getArgument(0), block->getArgument(1)))});
  }
}

/// The operation that computes a member; its body has no more than arguments.
Operation *NestWriter::startMember(const NestMember &member, ValueRange inputs) {
  SmallVector<Type> results;
  for (const ElementView &view : ArrayRef(member.writes).take_front(member.copy ? 1 : std::min(member.writes.size(), member.yields.size())))
    results.push_back(registerType(e.graph.buffers[view.buffer].elementType));
  SmallVector<Type> arguments(inputs.getTypes());
  if (!member.isReduction()) {
    auto map = tile::MapPointsOp::create(b, results, inputs);
    OpBuilder::InsertionGuard guard(b);
    addBody(map.getBody(), arguments);
    return map;
  }
  SmallVector<Value> inits;
  for (const ElementView &view : member.inits) {
    OpBuilder::InsertionGuard guard(b);
    if (view.isSplat())
      b.setInsertionPoint(around);
    inits.push_back(view.isSplat() ? e.loadOne(view, Value(), {}) : readOf(view));
  }
  SmallVector<Attribute> neutral;
  for (Operation *combiner : member.combiners)
    if (isShared)
      neutral.push_back(inRegister(*arith::getNeutralElement(combiner), /*extends=*/true));
  auto sums = tile::ReducePointsOp::create(b, results, inputs, inits, isShared ? b.getArrayAttr(neutral) : ArrayAttr(),
                                           unsigned(neutral.size()));
  for (unsigned i = 0; i < results.size(); ++i)
    arguments.push_back(sums.getSumType(i));
  OpBuilder::InsertionGuard guard(b);
  addBody(sums.getBody(), arguments);
  fillCombiners(sums, member);
  return sums;
}

LogicalResult NestWriter::writeMember(const NestMember &member) {
  b.setLoc(member.op->getLoc());
  SmallVector<Value> inputs;
  for (const ElementView &view : member.reads)
    if (!view.isSplat())
      inputs.push_back(inputOf(view));
  Operation *op = startMember(member, inputs);
  if (failed(fillBody(member, op->getRegion(0).front())))
    return failure();
  for (auto [view, value] : llvm::zip(member.writes, op->getResults())) {
    if (!member.isReduction())
      made.push_back({view, value});
    if (widthOf(view) == 0)
      continue; // it stays in registers
    auto write = tile::WriteOp::create(b, value, memoryOf(view.buffer), placeOf(view), widthOf(view));
    fillBegin(write.getBegin(), view);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The nest
//===----------------------------------------------------------------------===//

tile::NestOp NestWriter::start(tile::PointTilesAttr layout) {
  Value column, numColumns;
  if (said.getColumns() >= 0)
    std::tie(column, numColumns) = std::pair(e.columns->begin, e.columns->count);
  auto op = tile::NestOp::create(b, e.threads.id, said.getRows() ? e.rows : Value(), column, numColumns,
                                 layout.isOfBlock() ? e.threads.scratch : Value(), layout.getSlices() > 1 ? e.threads.partials() : Value(),
                                 said.getLoops(), b.getDenseBoolArrayAttr(nest.reduced), b.getI64IntegerAttr(said.getLifts()),
                                 column ? b.getI64IntegerAttr(said.getColumns()) : IntegerAttr(), layout,
                                 said.getAsync() ? b.getUnitAttr() : UnitAttr());
  b.createBlock(&op.getBody());
  return op;
}

LogicalResult NestWriter::write(tile::PointTilesAttr layout) {
  OpBuilder::InsertionGuard guard(b);
  isShared = layout.getLanes() > 1 || layout.getSlices() > 1;
  around = start(layout);
  memories.clear();
  reads.clear();
  made.clear();
  return success(llvm::all_of(nest.members, [&](const NestMember &member) { return succeeded(writeMember(member)); }));
}

LogicalResult NestWriter::run() {
  tile::PointTilesAttr whole = said.getTiles();
  if (!said.getRest())
    return write(whole);
  Value enough = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, e.rows, b.number(whole.getTile()));
  auto branch = scf::IfOp::create(b, enough, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(write(whole)))
    return failure();
  b.setInsertionPointToStart(branch.elseBlock());
  return write(said.getRest());
}

LogicalResult mlir::ft::togpu::emitNest(LeafEmitter &emitter, const LeafNest &nest) { return NestWriter(emitter, nest).run(); }
