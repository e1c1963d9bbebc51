//===- RowTiles.cpp - rows in registers as tiles --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each nest becomes the loads that it needs, a sweep over its members, a sweep that
// ends its reductions, and stores. What one nest hands to another is a tile. Which
// lane has what is the layout's, in which accesses memory is met says the leaf
// (`#tile.row_accesses`); TileToNVVM says what a lane does.
//
//===----------------------------------------------------------------------===//
#include "RowTiles.h"

#include "ft/Dialect/Loops/Transforms/GPU/RowAccesses.h"

#include "ft/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

namespace {
class RowWriter {
public:
  RowWriter(LeafEmitter &emitter, const RowPlan &plan)
      : e(emitter), b(emitter.b), plan(plan), said(emitter.rowAccesses), places(placesOfRows(emitter.graph, plan)) {}
  LogicalResult run();

private:
  struct Reduction {
    const NestMember *member;
    unsigned result;
    Value value; // what lanes have of it; of a nest without a row, what a row has
  };
  /// Where operations of a nest go: tiles from outside come in as operands, and what is known after it comes out.
  class Sweep {
  public:
    /// One operation alone needs none.
    Sweep(RowWriter &rows, bool isOne);
    Value use(Value tile);
    void end(MutableArrayRef<Reduction> reductions);

  private:
    RowWriter &rows;
    std::unique_ptr<Block> block; // null: none
    OpBuilder::InsertPoint behind;
    Value points;
    llvm::MapVector<Value, Value> inside;
  };

  tile::RowsType typeOf(bool isRow, Type element) const;
  tile::RowPlaceAttr placeOf(const ElementView &place) const;
  uint64_t widthOf(const ElementView &place) const { return uint64_t(said.getWidths()[size_t(llvm::find(places, place) - places.begin())]); }
  Value pointsFrom(Value lanes, Value first, Value total);
  LogicalResult emitNest(const RowNest &form);
  Value fetch(const RowNest &form, const ElementView &view);
  Value load(const ElementView &place);
  Value valueOfRows(const ElementView &view);
  Value tileOf(const RowNest &form, const ElementView &view);
  void fetchAll(const RowNest &form);
  LogicalResult emitMember(const RowNest &form, const NestMember &member, ValueRange neutral, Sweep &sweep,
                           SmallVectorImpl<Reduction> &reductions);
  Operation *startMember(const RowNest &form, const NestMember &member, ValueRange inputs, ValueRange neutral);
  LogicalResult fillBody(const RowNest &form, const NestMember &member, Block &block, ValueRange neutral);
  void joinLanes(Reduction &reduction);
  void combineWithInit(const RowNest &form, const Reduction &reduction, Sweep &sweep);
  SmallVector<Value> neutralsOf(const NestMember &member);
  void storeOutputs(const RowNest &form);
  At beginBody(Block *block);
  Block *addBody(Region &region, TypeRange arguments);

  LeafEmitter &e;
  Code &b;
  const RowPlan &plan;
  tile::RowAccessesAttr said;
  SmallVector<ElementView> places; // as `widths` has them
  tile::RowAttr layout;
  Value points;
  llvm::MapVector<int, Value> known;          // what nests have left, by buffer
  SmallVector<std::pair<ElementView, Value>> loaded; // what lies in memory
  unsigned slot = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

RowWriter::Sweep::Sweep(RowWriter &rows, bool isOne) : rows(rows) {
  if (isOne)
    return;
  block = std::make_unique<Block>();
  behind = rows.b.saveInsertionPoint();
  rows.b.setInsertionPointToEnd(block.get());
  points = rows.points;
  rows.points = use(points);
}

Value RowWriter::Sweep::use(Value tile) {
  if (!block || tile.getParentBlock() == block.get())
    return tile;
  Value &argument = inside[tile];
  if (!argument)
    argument = block->addArgument(tile.getType(), rows.b.getLoc());
  return argument;
}

void RowWriter::Sweep::end(MutableArrayRef<Reduction> reductions) {
  if (!block)
    return;
  SmallVector<Value *> made;
  auto consider = [&](Value &tile) {
    if (tile.getParentBlock() == block.get())
      made.push_back(&tile);
  };
  for (auto &[buffer, tile] : rows.known)
    consider(tile);
  for (auto &[view, tile] : rows.loaded)
    consider(tile);
  for (Reduction &reduction : reductions)
    consider(reduction.value);
  SmallVector<Value> results = llvm::map_to_vector(made, [](Value *tile) { return *tile; }), inputs;
  tile::YieldOp::create(rows.b, results);
  for (auto &[tile, argument] : inside)
    inputs.push_back(tile);
  rows.points = points;
  rows.b.restoreInsertionPoint(behind);
  auto sweep = tile::SweepOp::create(rows.b, TypeRange(ValueRange(results)), inputs);
  sweep.getBody().push_back(block.release());
  for (auto [tile, result] : llvm::zip_equal(made, sweep.getResults()))
    *tile = result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Type elementOf(Value tile) { return cast<tile::RowsType>(tile.getType()).getElementType(); }

/// A value for each row, or all elements of rows.
tile::RowsType RowWriter::typeOf(bool isRow, Type element) const {
  Type type = registerType(element);
  return isRow ? tile::RowsType::getWhole(layout, plan.length, type) : tile::RowsType::getSliced(layout, type);
}

tile::RowPlaceAttr RowWriter::placeOf(const ElementView &place) const {
  ArrayRef<int64_t> strides = place.strides;
  return tile::RowPlaceAttr::get(b.getContext(), registerType(e.graph.buffers[place.buffer].elementType), place.offset, strides.drop_back(),
                                 strides.back());
}

Block *RowWriter::addBody(Region &region, TypeRange arguments) {
  return b.createBlock(&region, {}, arguments, SmallVector<Location>(arguments.size(), b.getLoc()));
}

/// Where what the body at hand reads in memory is.
At RowWriter::beginBody(Block *block) {
  b.setInsertionPointToStart(block);
  return {tile::IndexOp::create(b, b.getI64Type(), 0), b.number(0)};
}

/// Elements from memory, loaded where they are wanted first.
Value RowWriter::fetch(const RowNest &form, const ElementView &view) {
  ElementView place = viewOverRow(form, view);
  for (auto &[known, tile] : loaded)
    if (known == place)
      return tile;
  const Memory &memory = e.memories[view.buffer];
  Value tile = memory.isValue && !memory.pointer ? valueOfRows(view) : load(place);
  loaded.push_back({place, tile});
  return tile;
}

Value RowWriter::load(const ElementView &view) {
  const Memory &memory = e.memories[view.buffer];
  tile::RowPlaceAttr place = placeOf(view);
  tile::RowsType type = typeOf(place.getStep() != 0, place.getElement());
  bool varies = e.graph.isBatched(view) || llvm::any_of(place.getDigits(), [](int64_t stride) { return stride != 0; });
  // Rows that begin at other lanes are other elements to a lane.
  bool begins = plan.shifted && layout.getRows() > 1 && place.getStep() != 0;
  auto load = tile::LoadRowsOp::create(b, type, points, memory.pointer, memory.rowStride, memory.isValue,
                                       memory.isValue ? memory.value : Value(), memory.isValue ? memory.valueStep : Value(), place,
                                       widthOf(view), !varies && !begins);
  if (view.terms.empty())
    return load;
  OpBuilder::InsertionGuard guard(b);
  At at = beginBody(addBody(load.getBegin(), {}));
  tile::YieldOp::create(b, ValueRange{e.beginOf(view, at)});
  if (at.row.use_empty())
    at.row.getDefiningOp()->erase();
  return load;
}

/// Of memory that is one value for all elements of a row always.
Value RowWriter::valueOfRows(const ElementView &view) {
  tile::RowsType type = typeOf(/*isRow=*/false, e.graph.buffers[view.buffer].elementType);
  auto map = tile::MapRowsOp::create(b, TypeRange{type}, points, ValueRange());
  OpBuilder::InsertionGuard guard(b);
  At at = beginBody(addBody(map.getBody(), {}));
  (void)e.beginOf(view, at); // checks indices
  ElementView value;
  value.buffer = view.buffer;
  tile::YieldOp::create(b, ValueRange{e.loadOne(value, b.number(0), at)});
  return map.getResult(0);
}

Value RowWriter::tileOf(const RowNest &form, const ElementView &view) {
  auto found = known.find(view.buffer);
  return found != known.end() ? found->second : fetch(form, view);
}

/// All loads are on their way before the first value is wanted.
void RowWriter::fetchAll(const RowNest &form) {
  auto isOwn = [&](int buffer) {
    return llvm::any_of(form.nest->members, [&](const NestMember &member) {
      return llvm::any_of(member.writes, [&](const ElementView &view) { return view.buffer == buffer; });
    });
  };
  for (const NestMember &member : form.nest->members)
    for (const ElementView &view : member.reads)
      if (!view.isSplat() && !isOwn(view.buffer))
        (void)tileOf(form, view);
}

void RowWriter::storeOutputs(const RowNest &form) {
  for (const NestMember &member : form.nest->members)
    for (const ElementView &view : member.writes) {
      if (e.graph.buffers[view.buffer].kind != Buffer::Kind::Output)
        continue;
      const Memory &memory = e.memories[view.buffer];
      ElementView place = viewOverRow(form, view);
      tile::StoreRowsOp::create(b, known[view.buffer], points, memory.pointer, memory.rowStride, placeOf(place), widthOf(place));
    }
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// With what the reductions of a member begin.
SmallVector<Value> RowWriter::neutralsOf(const NestMember &member) {
  SmallVector<Value> neutral;
  for (Operation *combiner : member.combiners) {
    TypedAttr value = *arith::getNeutralElement(combiner);
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    neutral.push_back(b.toFloat32(arith::ConstantOp::create(b, value)));
  }
  return neutral;
}

/// What a member computes of one element.
LogicalResult RowWriter::fillBody(const RowNest &form, const NestMember &member, Block &block, ValueRange neutral) {
  OpBuilder::InsertionGuard guard(b);
  At at = beginBody(&block);
  auto index = [&](int64_t number) -> Value { return tile::IndexOp::create(b, b.getI64Type(), uint64_t(number)); };
  LeafBody body(e, member, at);
  auto loopIndex = [&](int loop) -> Value {
    if (loop == form.rowLoop)
      return index(int64_t(form.pointLoops.size()) + 1);
    const auto *found = llvm::find(form.pointLoops, loop);
    return found == form.pointLoops.end() ? b.number(0) : index(1 + (found - form.pointLoops.begin()));
  };
  body.loopIndex = loopIndex;
  ValueRange arguments = block.getArguments();
  auto take = [&] {
    Value argument = arguments.front();
    arguments = arguments.drop_front();
    return argument;
  };
  auto read = [&](const ElementView &view) { return view.isSplat() ? e.loadOne(view, Value(), at) : take(); };
  SmallVector<Value> results;
  if (member.copy) {
    results.push_back(read(member.reads.front()));
    if (isHalf(results[0].getType()) && !isHalf(e.graph.buffers[member.writes.front().buffer].elementType))
      results[0] = b.toFloat32(results[0]);
  } else {
    for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
      body.map(argument, read(view));
    for (auto [i, accumulator] : llvm::enumerate(member.accumulators))
      body.map(accumulator, form.rowLoop >= 0 ? take() : neutral[i]);
    if (failed(body.evaluate()))
      return failure();
    for (unsigned i = 0; i < std::min(member.writes.size(), member.yields.size()); ++i)
      results.push_back(body.result(i));
  }
  for (auto [view, value] : llvm::zip(member.writes, results))
    value = member.isReduction() ? b.toFloat32(value) : b.toElement(value, e.graph.buffers[view.buffer].elementType);
  tile::YieldOp::create(b, results);
  if (at.row.use_empty())
    at.row.getDefiningOp()->erase();
  return success();
}

/// The operation that computes a member; its body has no more than arguments.
Operation *RowWriter::startMember(const RowNest &form, const NestMember &member, ValueRange inputs, ValueRange neutral) {
  bool isRow = form.rowLoop >= 0;
  SmallVector<Type> types;
  if (member.isReduction() && isRow) {
    for (Value value : neutral)
      types.push_back(tile::RowsType::getPartial(layout, value.getType()));
    return tile::AccumulateOp::create(b, types, points, inputs, neutral);
  }
  for (auto [i, view] : llvm::enumerate(member.writes))
    types.push_back(typeOf(isRow, neutral.empty() ? e.graph.buffers[view.buffer].elementType : neutral[i].getType()));
  return tile::MapRowsOp::create(b, types, points, inputs);
}

LogicalResult RowWriter::emitMember(const RowNest &form, const NestMember &member, ValueRange neutral, Sweep &sweep,
                                    SmallVectorImpl<Reduction> &reductions) {
  b.setLoc(member.op->getLoc());
  SmallVector<Value> inputs;
  for (const ElementView &view : member.reads)
    if (!view.isSplat())
      inputs.push_back(sweep.use(tileOf(form, view)));
  Operation *op = startMember(form, member, inputs, neutral);
  SmallVector<Type> arguments = llvm::map_to_vector(inputs, elementOf);
  if (isa<tile::AccumulateOp>(op))
    llvm::append_range(arguments, neutral.getTypes());
  {
    OpBuilder::InsertionGuard guard(b);
    if (failed(fillBody(form, member, *addBody(op->getRegion(0), arguments), neutral)))
      return failure();
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (member.isReduction())
      reductions.push_back({&member, unsigned(i), result});
    else
      known[member.writes[i].buffer] = result;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The lanes of a row give what they have to each other; all of them get the whole.
void RowWriter::joinLanes(Reduction &reduction) {
  Type element = elementOf(reduction.value);
  Value through = layout.getLanes() > warpLanes ? e.threads.scratch : Value();
  auto reduce = tile::ReduceRowsOp::create(b, tile::RowsType::getSliced(layout, element), points, reduction.value, through,
                                           through ? uint64_t(slot++) : 0);
  OpBuilder::InsertionGuard guard(b);
  Block *block = addBody(reduce.getBody(), {element, element});
  LeafBody body(e, *reduction.member, {});
  Value both = body.combine(reduction.member->combiners[reduction.result], block->getArgument(0), block->getArgument(1));
  tile::YieldOp::create(b, ValueRange{b.toFloat32(both)});
  reduction.value = reduce.getResult();
}

/// The reduction goes on from what it began with, and is rounded to what is written.
void RowWriter::combineWithInit(const RowNest &form, const Reduction &reduction, Sweep &sweep) {
  const ElementView &init = reduction.member->inits[reduction.result];
  int buffer = reduction.member->writes[reduction.result].buffer;
  Type element = e.graph.buffers[buffer].elementType;
  SmallVector<Value> inputs;
  if (!init.isSplat())
    inputs.push_back(sweep.use(tileOf(form, init)));
  inputs.push_back(reduction.value);
  auto map = tile::MapRowsOp::create(b, TypeRange{typeOf(/*isRow=*/false, element)}, points, inputs);
  OpBuilder::InsertionGuard guard(b);
  Block *block = addBody(map.getBody(), llvm::map_to_vector(inputs, elementOf));
  Value begin = b.toFloat32(init.isSplat() ? e.loadOne(init, Value(), {}) : Value(block->getArgument(0)));
  LeafBody body(e, *reduction.member, {});
  Value both = body.combine(reduction.member->combiners[reduction.result], begin, block->getArguments().back());
  tile::YieldOp::create(b, ValueRange{b.toElement(both, element)});
  known[buffer] = map.getResult(0);
}

LogicalResult RowWriter::emitNest(const RowNest &form) {
  fetchAll(form);
  SmallVector<Reduction> reductions;
  auto neutral = llvm::map_to_vector(form.nest->members, [&](const NestMember &member) { return neutralsOf(member); });
  Sweep members(*this, form.nest->members.size() == 1);
  for (auto [member, begin] : llvm::zip_equal(form.nest->members, neutral))
    if (failed(emitMember(form, member, begin, members, reductions)))
      return failure();
  members.end(reductions);
  if (!reductions.empty()) {
    Sweep sweep(*this, /*isOne=*/false);
    for (Reduction &reduction : reductions) {
      reduction.value = sweep.use(reduction.value);
      if (form.rowLoop >= 0)
        joinLanes(reduction);
      combineWithInit(form, reduction, sweep);
    }
    sweep.end({});
  }
  storeOutputs(form);
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The rows that the threads have from the `first` one on.
Value RowWriter::pointsFrom(Value lanes, Value first, Value total) {
  bool isShifted = said.getLine() >= 0;
  auto type = tile::PointsType::get(b.getContext(), plan.points, plan.length, layout, plan.pointsAtOnce() > 1, isShifted);
  if (!isShifted)
    return tile::PointsOp::create(b, type, lanes, first, total, Value(), Value(), tile::RowPlaceAttr());
  const ElementView &line = places[size_t(said.getLine())];
  const Memory &memory = e.memories[line.buffer];
  return tile::PointsOp::create(b, type, lanes, first, total, memory.pointer, memory.rowStride, placeOf(line));
}

LogicalResult RowWriter::run() {
  layout = tile::RowAttr::get(b.getContext(), plan.threads, plan.lanes, plan.width, /*rows=*/1,
                              plan.shifted ? RowPlan::lineVectors : 1);
  auto first = tile::PointsType::get(b.getContext(), plan.points, plan.length, layout, /*masked=*/false, /*shifted=*/false);
  Value lanes = tile::LanesOp::create(b, first, e.threads.id);
  points = lanes;
  auto emitAll = [&](bool hoisted) {
    return llvm::all_of(plan.nests,
                        [&](const RowNest &form) { return form.hoisted != hoisted || succeeded(emitNest(form)); });
  };
  // What is the same for all rows.
  if (!emitAll(/*hoisted=*/true))
    return failure();
  layout = layout.withRows(plan.parts);
  if (plan.parts > 1)
    for (auto &[buffer, tile] : known)
      tile = tile::SpreadOp::create(b, tile::RowsType::getSliced(layout, elementOf(tile)), tile);
  loaded.clear();
  Value total = b.mul(e.rows, plan.numPoints());
  scf::ForOp loop = b.loop(b.number(0), total, b.number(plan.pointsAtOnce()), {}, /*unroll=*/1);
  points = pointsFrom(lanes, loop.getInductionVar(), total);
  if (!emitAll(/*hoisted=*/false))
    return failure();
  if (plan.lanes > warpLanes)
    tile::BarrierOp::create(b); // the places of partial results are free for the next row
  b.setInsertionPointAfter(loop);
  return success();
}

LogicalResult mlir::ft::togpu::emitRows(LeafEmitter &emitter, const RowPlan &plan) {
  return RowWriter(emitter, plan).run();
}
