//===- ProductEmitter.cpp - products of matrices as tiles -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest that its layout computes as a product becomes operations on tiles: for
// each tile of the result a loop over steps of the sums, in which operands come
// into shared memory one step ahead of their use; then what is computed element
// by element while the tile is in registers. TileToNVVM says what a thread does.
//
//===----------------------------------------------------------------------===//
#include "ProductEmitter.h"

#include "ft/Conversion/LaunchPlan/Entry.h"

#include "FetchEmitter.h"

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

#include "ft/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;
using schedule::ProductTiles;
using Rows = ProductTiles::Rows;

namespace {
class ProductEmitter {
public:
  ProductEmitter(LeafEmitter &emitter, unsigned number, const ProductTiles &product, Value memory)
      : e(emitter), b(emitter.b), graph(emitter.graph), number(number), nest(graph.nests[number]), product(product),
        staged(product.staged), memory(memory), attribute(product.attribute),
        shape(graph, number, product, e.maxRows), places(shape.placesOfTiles()), m(shape.m), n(shape.n), layout(attribute.getResult()) {}
  LogicalResult run();
  SmallVector<Value> loadKept(const KeptSum &sum);
  void storeKept(const KeptSum &sum, ValueRange tiles);

private:
  struct Operand {
    tile::ViewType type;
    Value view;
  };

  /// What a nest of products adds up, the first one or one that is joined. Its own loops of terms are numbered after those of the first.
  struct Terms {
    const Nest &nest;
    const ProductTiles &product;
    Axis axis;
    int firstLoop;
    SmallVector<int> parallel;
  };
  /// Products of a nest that have the left operand in common, and their operands.
  struct Sweep {
    Terms terms;
    ArrayRef<unsigned> members;
    Operand lhs;
    SmallVector<Operand> rhs;
    int64_t steps; // of the layout's number of terms
    SmallVector<FetchedOperand> fetched[2]; // of warp groups, instead of these: left ones, right ones
    At at = {};
  };
  struct StagedRight {
    Value all;
    SmallVector<Value> parts;
    schedule::StagedOperands::Part part;
  };

  LogicalResult emitBatches(unsigned depth, At at);
  LogicalResult emitTiles(At at);
  LogicalResult emitKeptTiles(At at);
  LogicalResult emitKeptTile(At at, Value row, Value column, Value isThere);
  bool keepsSums() const {
    return llvm::any_of(e.kept, [&](const KeptTiles &kept) { return kept.sum.leader == number; });
  }
  Value extentOf(const Axis &axis);
  /// Where each tile of the result begins, row by row.
  SmallVector<std::array<int64_t, 2>> beginsOfTiles() const;
  LogicalResult emitTile(At at, Value row, Value column);
  Value offsetOf(const ElementView &view, LoopNumber loopOf, At at);
  Value beginOf(const Border &border, LoopNumber loopOf);
  tile::BorderAttr borderOf(const Border &border, const Axis &rows, const Axis &columns, LoopNumber loopOf) const;
  Operand makeOperand(const ElementView &view, const Axis &rows, const Axis &columns, LoopNumber loopOf, At at);
  Value valueTile(const Memory &place, tile::RegistersType type, At at, Value row, Value column);
  Value flagsOf(Value bytes);
  Value load(const ElementView &view, LoopNumber loopOf, At at, Value row, Value column);
  void store(Value tile, const ElementView &view, LoopNumber loopOf, At at, Value row, Value column);
  void keep(Value made, const ElementView &view);
  Terms termsOf(unsigned other, const ProductTiles &of) const;
  StagedRight stageRight(int64_t products);
  void copySweep(const Sweep &sweep, const StagedRight &right, Value step, Value stage, Value row, Value column);
  void copyAnySweep(ArrayRef<Sweep> sweeps, const StagedRight &right, Value step, Value stage, Value row, Value column);
  Value multiply(ArrayRef<Sweep> sweeps, Value sums, Value row, Value column);
  Value multiplyInGroups(const Sweep &sweep, Value sums, Value row, Value column);
  void copyStep(const Operand &operand, tile::MoveAttr move, Value shared, bool alongTerms, Value own, bool ownInside, const Axis &terms,
                Value step, Value stage);
  FailureOr<Sweep> makeSweep(const Terms &terms, unsigned number, ArrayRef<unsigned> members, At at);
  void emitSweeps(ArrayRef<Sweep> sweeps, At at, Value row, Value column);
  FailureOr<unsigned> emitProducts(unsigned first, At at, Value row, Value column);
  int indexOfParallel(int loop) const { return shape.indexOfParallel(loop); }
  /// Adjacent columns that are one access where a tile comes from or goes to.
  int64_t widthOf(const ElementView &view) const { return attribute.getAccesses()[size_t(llvm::find(places, view) - places.begin())]; }
  Value convertTile(Value tile, Type element);
  LogicalResult emitFused(const Nest &fused, At at, Value row, Value column);
  LogicalResult emitMember(const NestMember &member, ArrayRef<int> loops, At at, Value row, Value column);
  /// Which axes of the product a member of a fused nest with these loops asks its elements' places along.
  SmallVector<unsigned> axesOfIndices(const NestMember &member, ArrayRef<int> loops) const;
  /// The index of one of the product's loops, of an element whose row and column have these numbers (null: nothing asks).
  Value indexOf(int loop, ArrayRef<Value> numbers);
  LogicalResult emitReduction(const NestMember &member, ValueRange inputs, LoopNumber loopOf, At at, Value row,
                              Value column);
  FailureOr<Value> emitTerms(const NestMember &member, unsigned result, Value neutral, ValueRange inputs, At at);
  Value combineRows(const NestMember &member, unsigned result, Value terms, Value neutral, At at);
  Value withInit(const NestMember &member, unsigned result, Value init, Value reduced, At at);
  ElementView overTile(const ElementView &view) const { return schedule::viewOverTile(nest, product, view); }
  bool isOfRows(const ElementView &view, LoopNumber loopOf) const;
  tile::MapOp startMap(ArrayRef<Type> elements, ValueRange inputs);
  bool fillsTiles(const Axis &axis, int64_t tile) const { return !axis.isOpen && axis.most % tile == 0; }

  LeafEmitter &e;
  Code &b;
  LeafGraph &graph;
  unsigned number;
  const Nest &nest;
  const ProductTiles &product;
  const schedule::StagedOperands &staged;
  Value memory;
  tile::ProductAttr attribute;
  SmallVector<Value> batchIndices;
  ProductShape shape;
  SmallVector<ElementView> places; // of tiles, as `accesses` has them
  const Axis &m, &n;
  tile::BlockedAttr layout;
  Value lhsShared, rhsMemory;
  /// Tiles that are in registers, by what they are written to.
  SmallVector<std::pair<ElementView, Value>> known;
  size_t tile = 0; // of those that are kept, the one that is computed
};
} // namespace

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Where the view begins at this batch and these columns. Rows that are no digit are those of `at`.
Value ProductEmitter::offsetOf(const ElementView &view, LoopNumber loopOf, At at) {
  Value offset = e.beginOf(view, at);
  for (auto [loop, index] : llvm::zip_equal(product.loops.batch, batchIndices))
    if (int own = loopOf(loop); own >= 0)
      offset = b.add(offset, b.mul(index, view.strides[own]));
  if (product.splitLoop >= 0)
    if (int own = loopOf(product.splitLoop); own >= 0)
      offset = b.add(offset, b.mul(e.columns->begin, view.strides[own]));
  return e.offsetAt(e.memories[view.buffer], offset, at);
}

/// Where the view's index along a border begins there.
Value ProductEmitter::beginOf(const Border &border, LoopNumber loopOf) {
  Value begin = b.number(border.offset);
  for (auto [loop, index] : llvm::zip_equal(product.loops.batch, batchIndices))
    if (int own = loopOf(loop); own >= 0)
      begin = b.add(begin, b.mul(index, border.strides[own]));
  if (product.splitLoop >= 0)
    if (int own = loopOf(product.splitLoop); own >= 0)
      begin = b.add(begin, b.mul(e.columns->begin, border.strides[own]));
  return begin;
}

tile::BorderAttr ProductEmitter::borderOf(const Border &border, const Axis &rows, const Axis &columns, LoopNumber loopOf) const {
  SmallVector<int64_t> steps;
  for (const Axis *axis : {&rows, &columns})
    for (const Axis::Digit &digit : axis->digits) {
      int own = digit.loop < 0 ? -1 : loopOf(digit.loop);
      steps.push_back(own < 0 ? 0 : border.strides[own]);
    }
  return tile::BorderAttr::get(b.getContext(), steps, border.size);
}

ProductEmitter::Operand ProductEmitter::makeOperand(const ElementView &view, const Axis &rows, const Axis &columns, LoopNumber loopOf,
                                                    At at) {
  const Memory &place = e.memories[view.buffer];
  Type element = storedType(graph.buffers[view.buffer].elementType);
  SmallVector<Value> strides, sizes;
  SmallVector<int64_t> digits[2];
  for (auto [axis, list] : {std::pair(&rows, &digits[0]), {&columns, &digits[1]}})
    for (const Axis::Digit &digit : axis->digits) {
      int own = digit.kind == Axis::Digit::ofRows || digit.kind == Axis::Digit::ofNone ? -1 : loopOf(digit.loop);
      Value stride = own >= 0 ? b.number(view.strides[own]) : Value();
      if (digit.kind == Axis::Digit::ofRows)
        stride = place.rowStride;
      strides.push_back(stride ? stride : b.number(0));
      bool isOpen = digit.kind == Axis::Digit::ofRows || digit.kind == Axis::Digit::ofColumns;
      list->push_back(isOpen ? -1 : digit.size);
      if (isOpen)
        sizes.push_back(digit.kind == Axis::Digit::ofRows ? e.rows : e.columns->count);
    }
  Value pointer = b.at(place.pointer, offsetOf(view, loopOf, at), element);
  unsigned space = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  Operand operand;
  SmallVector<tile::BorderAttr> borders;
  SmallVector<Value> begins;
  for (const Border &border : view.borders) {
    borders.push_back(borderOf(border, rows, columns, loopOf));
    begins.push_back(beginOf(border, loopOf));
  }
  operand.type = tile::ViewType::get(b.getContext(), element, digits[0], digits[1], space, place.swizzled, borders);
  operand.view = tile::ViewOp::create(b, operand.type, pointer, strides, sizes, begins);
  return operand;
}

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

Value ProductEmitter::convertTile(Value tile, Type element) {
  auto from = cast<tile::RegistersType>(tile.getType());
  if (from.getElementType() == element)
    return tile;
  auto map = tile::MapOp::create(b, TypeRange{from.withElement(element)}, ValueRange{tile});
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&map.getBody(), {}, {from.getElementType()}, {b.getLoc()});
  Value value = body->getArgument(0);
  value = isHalf(from.getElementType()) ? b.toFloat32(value) : b.toElement(value, element);
  tile::YieldOp::create(b, ValueRange{value});
  return map.getResult(0);
}

/// Flags, of the bytes that they are in memory.
Value ProductEmitter::flagsOf(Value bytes) {
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap(b.getI1Type(), bytes);
  tile::YieldOp::create(b, ValueRange{arith::TruncIOp::create(b, b.getI1Type(), map.getBody().front().getArgument(0)).getResult()});
  return map.getResult(0);
}

/// A tile of a buffer that is one value, or one that counts along the rows of the call.
Value ProductEmitter::valueTile(const Memory &place, tile::RegistersType type, At at, Value row, Value column) {
  Type element = type.getElementType();
  auto valueOf = [&](Value ofCall) {
    Value value = ofCall ? b.add(place.value, b.mul(ofCall, place.valueStep)) : place.value;
    return value.getType() == element ? value : arith::TruncIOp::create(b, element, value).getResult(); // an index, in the element's width
  };
  bool alongN = product.rows == Rows::n;
  if (!place.valueStep || (product.rows != Rows::m && !alongN))
    return tile::SplatOp::create(b, type, valueOf(place.valueStep ? at.row : Value()));
  // Rows of the call are the first digit.
  int64_t inner = 1;
  for (const Axis::Digit &digit : ArrayRef((alongN ? n : m).digits).drop_front())
    inner *= digit.size;
  Value numbers = tile::NumbersOp::create(b, type.withElement(b.getI64Type()), alongN ? column : row, alongN ? 1 : 0);
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap(element, numbers);
  Value number = map.getBody().front().getArgument(0);
  Value ofCall = inner > 1 ? b.createOrFold<arith::DivUIOp>(number, b.number(inner)) : number;
  tile::YieldOp::create(b, ValueRange{valueOf(ofCall)});
  return map.getResult(0);
}

/// A tile of what the view holds, which may be one value.
Value ProductEmitter::load(const ElementView &view, LoopNumber loopOf, At at, Value row, Value column) {
  auto typeOf = [&](Type element) {
    return tile::RegistersType::get(b.getContext(), attribute.getBlock(), element, layout);
  };
  if (view.isSplat()) {
    Value value = arith::ConstantOp::create(b, view.splat);
    return tile::SplatOp::create(b, typeOf(value.getType()), value);
  }
  for (auto &[place, tile] : known)
    if (place == view)
      return tile;
  for (const KeptTiles &kept : e.kept)
    if (kept.sum.from == view)
      return kept.before[tile];
  const Memory &place = e.memories[view.buffer];
  tile::RegistersType type = typeOf(graph.buffers[view.buffer].elementType);
  auto fromMemory = [&]() -> Value {
    Operand operand = makeOperand(view, m, n, loopOf, at);
    // What a row has one value of may be read at any column.
    bool inside[] = {fillsTiles(m, attribute.getBlock()[0]), isOfRows(view, loopOf) || fillsTiles(n, attribute.getBlock()[1])};
    auto stored = type.withElement(storedType(type.getElementType()));
    Value loaded = tile::LoadOp::create(b, stored, operand.view, row, column, b.getDenseBoolArrayAttr(inside), b.getI64IntegerAttr(widthOf(view)));
    return stored == type ? loaded : flagsOf(loaded);
  };
  if (!place.isValue)
    return fromMemory();
  if (!place.pointer)
    return valueTile(place, type, at, row, column);
  auto branch = scf::IfOp::create(b, TypeRange{type}, place.isValue, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, ValueRange{valueTile(place, type, at, row, column)});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, ValueRange{fromMemory()});
  return branch.getResult(0);
}

/// Whether the view does not move along the columns of the product.
bool ProductEmitter::isOfRows(const ElementView &view, LoopNumber loopOf) const {
  return product.rows != Rows::n && llvm::all_of(product.loops.n, [&](int loop) {
    int own = loopOf(loop);
    return own < 0 || view.strides[own] == 0;
  });
}

/// What is computed of a sum that stays in registers, before it is rounded where it may stay wide.
void ProductEmitter::keep(Value made, const ElementView &view) {
  for (KeptTiles &kept : e.kept)
    if (kept.sum.to == view && kept.before[tile].getType() == made.getType())
      kept.next[tile] = made;
}

void ProductEmitter::store(Value tile, const ElementView &view, LoopNumber loopOf, At at, Value row, Value column) {
  known.push_back({view, tile});
  keep(tile, view);
  auto isStoredBehind = [&](const KeptTiles &kept) { return kept.sum.to == view && kept.sum.said.getStore() == loops::KeptStore::Last; };
  if (!graph.buffers[view.buffer].inMemory || llvm::any_of(e.kept, isStoredBehind))
    return;
  // A value for each row is a matrix of one column: its first thread writes it.
  bool ofRows = isOfRows(view, loopOf) && n.most > 1;
  Operand operand = makeOperand(view, m, ofRows ? shape.axisOf({}, Rows::none) : n, loopOf, at);
  bool inside[] = {fillsTiles(m, attribute.getBlock()[0]), !ofRows && fillsTiles(n, attribute.getBlock()[1])};
  tile::StoreOp::create(b, tile, operand.view, row, column, b.getDenseBoolArrayAttr(inside), b.getI64IntegerAttr(widthOf(view)));
}

SmallVector<unsigned> ProductEmitter::axesOfIndices(const NestMember &member, ArrayRef<int> loops) const {
  SmallVector<int> asked;
  if (member.body)
    for (auto index : member.body->getOps<linalg::IndexOp>())
      if (int loop = member.loops[index.getDim()]; loop >= 0)
        asked.push_back(loops[loop]);
  SmallVector<unsigned> axes;
  for (unsigned axis : {0u, 1u})
    if (llvm::any_of((axis == 0 ? m : n).digits, [&](const Axis::Digit &digit) { return llvm::is_contained(asked, digit.loop); }))
      axes.push_back(axis);
  return axes;
}

Value ProductEmitter::indexOf(int loop, ArrayRef<Value> numbers) {
  for (auto [digits, number] : {std::pair(ArrayRef(m.digits), numbers[0]), {ArrayRef(n.digits), numbers[1]}}) {
    int64_t inner = 1;
    for (const Axis::Digit &digit : llvm::reverse(digits)) {
      if (digit.loop != loop) {
        inner *= digit.size;
        continue;
      }
      Value index = inner > 1 ? b.createOrFold<arith::DivUIOp>(number, b.number(inner)) : number;
      return &digit == digits.begin() ? index : b.createOrFold<arith::RemUIOp>(index, b.number(digit.size));
    }
  }
  for (auto [own, index] : llvm::zip_equal(product.loops.batch, batchIndices))
    if (own == loop)
      return index;
  llvm_unreachable("a fused nest has the product's loops");
}

LogicalResult ProductEmitter::emitMember(const NestMember &member, ArrayRef<int> loops, At at, Value row, Value column) {
  b.setLoc(member.op->getLoc());
  // Loops of this nest are the product's parallel ones, in their order.
  auto loopOf = [&](int loop) { return indexOfParallel(loop); };
  SmallVector<Value> inputs;
  for (const ElementView &view : member.reads)
    inputs.push_back(load(overTile(view), loopOf, at, row, column));
  if (member.isReduction())
    return emitReduction(member, inputs, loopOf, at, row, column);
  // After what it reads, where its elements lie.
  SmallVector<unsigned> axes = axesOfIndices(member, loops);
  for (unsigned axis : axes)
    inputs.push_back(tile::NumbersOp::create(b, tile::RegistersType::get(b.getContext(), attribute.getBlock(), b.getI64Type(), layout),
                                             axis == 0 ? row : column, int64_t(axis)));
  SmallVector<Type> types, elements;
  SmallVector<Location> locations;
  for (const ElementView &view : member.writes)
    types.push_back(tile::RegistersType::get(b.getContext(), attribute.getBlock(), graph.buffers[view.buffer].elementType, layout));
  for (Value input : inputs) {
    elements.push_back(cast<tile::RegistersType>(input.getType()).getElementType());
    locations.push_back(b.getLoc());
  }
  auto map = tile::MapOp::create(b, types, inputs);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&map.getBody(), {}, elements, locations);
    SmallVector<Value> results;
    if (member.copy) {
      Value value = block->getArgument(0);
      Type to = graph.buffers[member.writes.front().buffer].elementType;
      if (isHalf(value.getType()) && !isHalf(to))
        value = b.toFloat32(value);
      results.push_back(b.toElement(value, to));
    } else {
      LeafBody body(e, member, at);
      for (auto [argument, value] : llvm::zip(member.arguments, block->getArguments()))
        body.map(argument, value);
      Value numbers[2];
      for (auto [axis, value] : llvm::zip_equal(axes, block->getArguments().take_back(axes.size())))
        numbers[axis] = value;
      auto loopIndex = [&](int loop) { return indexOf(loops[loop], numbers); };
      body.loopIndex = loopIndex;
      if (failed(body.evaluate()))
        return failure();
      for (unsigned i = 0; i < member.yields.size(); ++i)
        results.push_back(b.toElement(body.result(i), graph.buffers[member.writes[i].buffer].elementType));
    }
    tile::YieldOp::create(b, results);
  }
  for (auto [view, tile] : llvm::zip_equal(member.writes, map.getResults()))
    store(tile, overTile(view), loopOf, at, row, column);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions along rows
//===----------------------------------------------------------------------===//

/// A map from tiles to tiles of the element types, whose body is to be filled: the builder is in it.
tile::MapOp ProductEmitter::startMap(ArrayRef<Type> elements, ValueRange inputs) {
  SmallVector<Type> types, arguments;
  for (Type element : elements)
    types.push_back(tile::RegistersType::get(b.getContext(), attribute.getBlock(), element, layout));
  for (Value input : inputs)
    arguments.push_back(cast<tile::RegistersType>(input.getType()).getElementType());
  auto map = tile::MapOp::create(b, types, inputs);
  b.createBlock(&map.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), b.getLoc()));
  return map;
}

/// What each element of the tile adds to the reduction.
FailureOr<Value> ProductEmitter::emitTerms(const NestMember &member, unsigned result, Value neutral, ValueRange inputs, At at) {
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap(neutral.getType(), inputs);
  LeafBody body(e, member, at);
  for (auto [argument, value] : llvm::zip_equal(member.arguments, map.getBody().front().getArguments()))
    body.map(argument, value);
  for (auto [accumulator, combiner] : llvm::zip_equal(member.accumulators, member.combiners))
    body.map(accumulator, b.toFloat32(arith::ConstantOp::create(b, *arith::getNeutralElement(combiner))));
  if (failed(body.evaluate()))
    return failure();
  tile::YieldOp::create(b, ValueRange{b.toFloat32(body.result(result))});
  return map.getResult(0);
}

Value ProductEmitter::combineRows(const NestMember &member, unsigned result, Value terms, Value neutral, At at) {
  OpBuilder::InsertionGuard guard(b);
  auto reduce = tile::ReduceOp::create(b, terms.getType(), terms, neutral, n.most);
  Type element = neutral.getType();
  Block *block = b.createBlock(&reduce.getBody(), {}, {element, element}, {b.getLoc(), b.getLoc()});
  LeafBody body(e, member, at);
  Value both = body.combine(member.combiners[result], block->getArgument(0), block->getArgument(1));
  tile::YieldOp::create(b, ValueRange{b.toFloat32(both)});
  return reduce.getResult();
}

/// The reduction goes on from what it began with, and is rounded to what is written.
Value ProductEmitter::withInit(const NestMember &member, unsigned result, Value init, Value reduced, At at) {
  OpBuilder::InsertionGuard guard(b);
  Type element = graph.buffers[member.writes[result].buffer].elementType;
  tile::MapOp map = startMap(element, {init, reduced});
  Block &block = map.getBody().front();
  LeafBody body(e, member, at);
  Value both = body.combine(member.combiners[result], b.toFloat32(block.getArgument(0)), block.getArgument(1));
  tile::YieldOp::create(b, ValueRange{b.toElement(both, element)});
  return map.getResult(0);
}

LogicalResult ProductEmitter::emitReduction(const NestMember &member, ValueRange inputs, LoopNumber loopOf, At at, Value row,
                                            Value column) {
  SmallVector<Value> results;
  for (unsigned i = 0; i < member.inits.size(); ++i) {
    Value init = load(overTile(member.inits[i]), loopOf, at, row, column);
    Value neutral = b.toFloat32(arith::ConstantOp::create(b, *arith::getNeutralElement(member.combiners[i])));
    FailureOr<Value> terms = emitTerms(member, i, neutral, inputs, at);
    if (failed(terms))
      return failure();
    Value reduced = combineRows(member, i, *terms, neutral, at);
    results.push_back(withInit(member, i, init, reduced, at));
  }
  for (auto [view, tile] : llvm::zip_equal(member.writes, results))
    store(tile, overTile(view), loopOf, at, row, column);
  return success();
}

LogicalResult ProductEmitter::emitFused(const Nest &fused, At at, Value row, Value column) {
  // Its loops are the product's parallel ones, in their order; of a value for each row those that rows are made of.
  bool ofRows = fused.sizes.size() != shape.getParallelLoops().size();
  SmallVector<int> loops;
  llvm::copy_if(shape.getParallelLoops(), std::back_inserter(loops), [&](int loop) { return !ofRows || !llvm::is_contained(product.loops.n, loop); });
  for (const NestMember &member : fused.members)
    if (failed(emitMember(member, loops, at, row, column)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The sums
//===----------------------------------------------------------------------===//

ProductEmitter::Terms ProductEmitter::termsOf(unsigned other, const ProductTiles &of) const {
  Terms terms{graph.nests[other], of, {}, int(nest.sizes.size()), {}};
  terms.axis = ProductShape(graph, other, of, e.maxRows).k;
  for (Axis::Digit &digit : terms.axis.digits)
    digit.loop += terms.firstLoop;
  for (auto [i, reduced] : llvm::enumerate(terms.nest.reduced))
    if (!reduced)
      terms.parallel.push_back(int(i));
  return terms;
}

/// One step of an operand, on its way into a stage.
void ProductEmitter::copyStep(const Operand &operand, tile::MoveAttr move, Value shared, bool alongTerms, Value own, bool ownInside,
                              const Axis &terms, Value step, Value stage) {
  int64_t vector[] = {1, move.getWidth()};
  auto threads = tile::BlockedAttr::get(b.getContext(), vector, move.getThreads(), {});
  Value term = b.mul(step, attribute.getStep());
  bool termInside = terms.most % attribute.getStep() == 0;
  bool inside[] = {alongTerms ? ownInside : termInside, alongTerms ? termInside : ownInside};
  tile::CopyOp::create(b, operand.view, alongTerms ? own : term, alongTerms ? term : own, shared, stage,
                       threads, b.getDenseBoolArrayAttr(inside), move.getAsync());
}

/// The right operands of so many products in shared memory: as one tile, and the part of each.
ProductEmitter::StagedRight ProductEmitter::stageRight(int64_t products) {
  StagedRight right;
  tile::SharedType type = staged.rhsOf(products, attribute.getBlock()[1]);
  right.all = tile::SharedOp::create(b, type, rhsMemory);
  right.part = staged.partOf(type, products);
  if (products == 1) {
    right.parts.push_back(right.all);
    return right;
  }
  for (int64_t i = 0; i < products; ++i) {
    Value memory = b.at(rhsMemory, b.number(i * right.part.elements), product.rhs);
    right.parts.push_back(tile::SharedOp::create(b, right.part.type, memory));
  }
  return right;
}

/// One step of a sweep's operands.
void ProductEmitter::copySweep(const Sweep &sweep, const StagedRight &right, Value step, Value stage, Value row, Value column) {
  tile::ProductAttr own = sweep.terms.product.attribute;
  const Axis &terms = sweep.terms.axis;
  copyStep(sweep.lhs, own.getLhs(), lhsShared, !staged.lhsTransposed, row, fillsTiles(m, attribute.getBlock()[0]), terms, step, stage);
  for (auto [i, operand] : llvm::enumerate(sweep.rhs))
    copyStep(operand, own.getRhs(), right.parts[i], staged.rhsTransposed, column, fillsTiles(n, attribute.getBlock()[1]), terms, step,
             b.add(b.mul(stage, right.part.stagesOfOne), int64_t(i) * right.part.stages));
}

/// The same where step `step` of several sweeps, one after the other, may be of any of them.
void ProductEmitter::copyAnySweep(ArrayRef<Sweep> sweeps, const StagedRight &right, Value step, Value stage, Value row, Value column) {
  OpBuilder::InsertionGuard guard(b);
  for (; sweeps.size() > 1; sweeps = sweeps.drop_front()) {
    Value steps = b.number(sweeps.front().steps);
    auto branch = scf::IfOp::create(b, b.less(step, steps), /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    copySweep(sweeps.front(), right, step, stage, row, column);
    b.setInsertionPointToStart(branch.elseBlock());
    step = b.add(step, -sweeps.front().steps);
  }
  copySweep(sweeps.front(), right, step, stage, row, column);
}

/// Steps of the sums, `stages - 1` of them ahead on their way to shared memory: those of the first sweep, then those of the next one, which
/// adds to the same sums.
Value ProductEmitter::multiply(ArrayRef<Sweep> sweeps, Value sums, Value row, Value column) {
  int64_t stages = attribute.getStages(), steps = 0;
  for (const Sweep &sweep : sweeps)
    steps += sweep.steps;
  StagedRight right = stageRight(int64_t(sweeps.front().rhs.size()));
  auto stageOf = [&](Value step) -> Value {
    return stages == 1 ? b.number(0) : b.createOrFold<arith::RemUIOp>(step, b.number(stages));
  };
  for (int64_t ahead = 0; ahead < std::max<int64_t>(stages - 1, 1); ++ahead) {
    int64_t step = ahead;
    ArrayRef<Sweep> rest = sweeps;
    for (; !rest.empty() && step >= rest.front().steps; rest = rest.drop_front())
      step -= rest.front().steps;
    if (!rest.empty())
      copySweep(rest.front(), right, b.number(step), b.number(ahead), row, column);
    tile::CommitOp::create(b);
  }
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(b.number(0), b.number(steps), b.number(1), sums, /*unroll=*/1);
  Value step = loop.getInductionVar();
  tile::WaitOp::create(b, uint32_t(std::max<int64_t>(stages - 2, 0)));
  // What was copied is seen by all, and all are done with the stage that comes next.
  tile::BarrierOp::create(b);
  auto copyNext = [&](int64_t ahead) {
    OpBuilder::InsertionGuard inner(b);
    Value next = b.add(step, ahead);
    auto branch = scf::IfOp::create(b, b.less(next, b.number(steps)), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    copyAnySweep(sweeps, right, next, stageOf(next), row, column);
  };
  if (stages > 1) {
    copyNext(stages - 1);
    tile::CommitOp::create(b);
  }
  Value stage = stageOf(step);
  Value sum = tile::MmaOp::create(b, sums.getType(), loop.getRegionIterArg(0), lhsShared, stage, right.all, stage,
                                  staged.lhsTransposed, staged.rhsTransposed, product.loops.lhsUnsigned,
                                  product.loops.rhsUnsigned, attribute.getMma(), /*wgmma=*/false, attribute.getReads());
  if (stages == 1 && steps > 1) {
    tile::BarrierOp::create(b);
    copyNext(1);
    tile::CommitOp::create(b);
  }
  scf::YieldOp::create(b, ValueRange{sum});
  return loop.getResult(0);
}

/// The same of warp groups: when operands are fetched, and where to, is open.
Value ProductEmitter::multiplyInGroups(const Sweep &sweep, Value sums, Value row, Value column) {
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(b.number(0), b.number(sweep.steps), b.number(1), sums, /*unroll=*/1);
  Value term = b.mul(loop.getInductionVar(), attribute.getStep());
  MapIndices indices{e.valueOf, batchIndices, sweep.at.row, e.columns ? e.columns->begin : Value()};
  auto fetch = [&](bool isLhs) -> Value {
    const bool alongTerms = isLhs ? !staged.lhsTransposed : staged.rhsTransposed;
    Value own = isLhs ? row : column;
    return emitFetch(e, isLhs ? staged.lhs : staged.rhsOf(int64_t(sweep.members.size()), attribute.getBlock()[1]), sweep.fetched[isLhs ? 0 : 1], indices,
                     alongTerms ? own : term, alongTerms ? term : own);
  };
  Value lhs = fetch(true), rhs = fetch(false), stage = b.number(0);
  Value sum = tile::MmaOp::create(b, sums.getType(), loop.getRegionIterArg(0), lhs, stage, rhs, stage, staged.lhsTransposed, staged.rhsTransposed,
                                  /*lhs_unsigned=*/false, /*rhs_unsigned=*/false, /*fragments=*/false, /*wgmma=*/true, tile::ReadsAttr());
  scf::YieldOp::create(b, ValueRange{sum});
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Tiles of the result
//===----------------------------------------------------------------------===//

/// The products of a nest that have the left operand in common: it is read once for all of them.
FailureOr<ProductEmitter::Sweep> ProductEmitter::makeSweep(const Terms &terms, unsigned number, ArrayRef<unsigned> members, At at) {
  auto toOwn = [&](int loop) {
    if (loop >= terms.firstLoop)
      return loop - terms.firstLoop;
    int parallel = indexOfParallel(loop);
    return parallel < 0 ? -1 : terms.parallel[size_t(parallel)];
  };
  bool lhsAlong = !staged.lhsTransposed, rhsAlong = staged.rhsTransposed;
  auto readOf = [&](unsigned member, bool isLhs) -> const ElementView & {
    auto [lhs, rhs] = terms.product.operands[member];
    return terms.nest.members[member].reads[isLhs ? lhs : rhs];
  };
  Sweep sweep{terms, members, {}, {}, int64_t(llvm::divideCeil(terms.axis.most, attribute.getStep())), {}};
  if (attribute.getWgmma()) {
    sweep.at = at;
    for (bool isLhs : {true, false})
      for (unsigned member : isLhs ? members.take_front() : members) {
        FailureOr<FetchedOperand> operand = readOperand(e, number, terms.product, member, isLhs);
        if (failed(operand))
          return failure();
        sweep.fetched[isLhs ? 0 : 1].push_back(std::move(*operand));
      }
    return sweep;
  }
  sweep.lhs = makeOperand(readOf(members.front(), true), lhsAlong ? m : terms.axis, lhsAlong ? terms.axis : m, toOwn, at);
  for (unsigned member : members)
    sweep.rhs.push_back(makeOperand(readOf(member, false), rhsAlong ? n : terms.axis, rhsAlong ? terms.axis : n, toOwn, at));
  return sweep;
}

/// Sweeps that add to the same sums, one after the other. Sums of products side by side are one tile.
void ProductEmitter::emitSweeps(ArrayRef<Sweep> sweeps, At at, Value row, Value column) {
  auto parallel = [&](int loop) { return indexOfParallel(loop); };
  const Sweep &first = sweeps.front(), &last = sweeps.back();
  SmallVector<Value> sums;
  for (unsigned member : first.members) {
    ElementView init = withoutTerms(first.terms.nest, first.terms.nest.members[member].inits.front());
    sums.push_back(convertTile(load(init, parallel, at, row, column), product.sum));
  }
  auto one = cast<tile::RegistersType>(sums.front().getType());
  int64_t shape[] = {one.getShape()[0], one.getShape()[1] * int64_t(sums.size())};
  auto type = tile::RegistersType::get(b.getContext(), shape, one.getElementType(), one.getLayout());
  Value all = sums.size() == 1 ? sums.front() : Value(tile::ConcatOp::create(b, type, sums));
  if (!attribute.getWgmma())
    all = multiply(sweeps, all, row, column);
  else
    for (const Sweep &sweep : sweeps)
      all = multiplyInGroups(sweep, all, row, column);
  for (auto [i, member] : llvm::enumerate(last.members)) {
    ElementView result = withoutTerms(last.terms.nest, last.terms.nest.members[member].writes.front());
    Value own = sums.size() == 1 ? all : Value(tile::PartOp::create(b, one, all, int64_t(i)));
    keep(own, result);
    store(convertTile(own, graph.buffers[result.buffer].elementType), result, parallel, at, row, column);
  }
}

/// Computes a nest of products, and those after it that add to its sums; the number of the next one.
FailureOr<unsigned> ProductEmitter::emitProducts(unsigned first, At at, Value row, Value column) {
  auto productOf = [&](unsigned nest) -> const ProductTiles & { return nest == number ? product : *e.tiles[nest].product; };
  auto isCarried = [&](unsigned nest) { return llvm::is_contained(product.joined, nest) && productOf(nest).attribute.getCarried(); };
  b.setLoc(graph.nests[first].members.front().op->getLoc());
  Terms terms = termsOf(first, productOf(first));
  unsigned next = first + 1;
  for (auto [i, members] : llvm::enumerate(productOf(first).sweeps)) {
    if ((i > 0 || first != number) && !attribute.getWgmma()) // the stages are free for the next operands
      tile::BarrierOp::create(b);
    SmallVector<Sweep, 2> sweeps;
    auto add = [&](const Terms &of, unsigned nest, ArrayRef<unsigned> together) {
      FailureOr<Sweep> sweep = makeSweep(of, nest, together, at);
      if (succeeded(sweep))
        sweeps.push_back(std::move(*sweep));
      return success(succeeded(sweep));
    };
    if (failed(add(terms, first, members)))
      return failure();
    for (; i + 1 == productOf(first).sweeps.size() && isCarried(next); ++next)
      if (failed(add(termsOf(next, productOf(next)), next, productOf(next).sweeps.front())))
        return failure();
    emitSweeps(sweeps, at, row, column);
  }
  return next;
}

LogicalResult ProductEmitter::emitTile(At at, Value row, Value column) {
  known.clear();
  for (unsigned next = number; next <= number + unsigned(attribute.getFused());) {
    if (next == number || llvm::is_contained(product.joined, next)) {
      FailureOr<unsigned> behind = emitProducts(next, at, row, column);
      if (failed(behind))
        return failure();
      next = *behind;
    } else if (failed(emitFused(graph.nests[next++], at, row, column)))
      return failure();
  }
  known.clear();
  return success();
}

/// Rows or columns that the call has.
Value ProductEmitter::extentOf(const Axis &axis) {
  if (!axis.isOpen)
    return b.number(axis.most);
  const Axis::Digit &first = axis.digits.front();
  int64_t inner = axis.most / (first.kind == Axis::Digit::ofRows ? e.maxRows : first.size);
  return b.mul(first.kind == Axis::Digit::ofRows ? e.rows : e.columns->count, inner);
}

LogicalResult ProductEmitter::emitTiles(At at) {
  if (keepsSums())
    return emitKeptTiles(at);
  OpBuilder::InsertionGuard guard(b);
  Value begins[2];
  bool repeats = !product.loops.batch.empty() || product.rows == Rows::batch;
  const Axis *const axes[] = {&m, &n};
  for (auto [d, axis] : llvm::enumerate(axes)) {
    int64_t block = attribute.getBlock()[d];
    begins[d] = b.number(0);
    if (axis->most <= block)
      continue;
    repeats = true;
    begins[d] = b.loop(b.number(0), extentOf(*axis), b.number(block), {}, /*unroll=*/1).getInductionVar();
  }
  if (repeats && !attribute.getWgmma()) // the stages are free for the next tile
    tile::BarrierOp::create(b);
  return emitTile(at, begins[0], begins[1]);
}

LogicalResult ProductEmitter::emitBatches(unsigned depth, At at) {
  OpBuilder::InsertionGuard guard(b);
  if (depth < product.loops.batch.size()) {
    scf::ForOp loop = b.loop(b.number(0), b.number(nest.sizes[product.loops.batch[depth]]), b.number(1), {}, /*unroll=*/1);
    batchIndices.push_back(loop.getInductionVar());
    return emitBatches(depth + 1, at);
  }
  if (product.rows == Rows::batch)
    at.row = b.loop(b.number(0), e.rows, b.number(1), {}, /*unroll=*/1).getInductionVar();
  return emitTiles(at);
}

LogicalResult ProductEmitter::run() {
  if (attribute.getWgmma())
    return emitBatches(0, {b.number(0), b.number(0)});
  lhsShared = tile::SharedOp::create(b, staged.lhs, memory);
  int64_t behind = int64_t(llvm::alignTo(staged.lhs.getBytes(), 16));
  rhsMemory = b.at(memory, b.number(behind), b.getI8Type());
  return emitBatches(0, {b.number(0), b.number(0)});
}

//===----------------------------------------------------------------------===//
// Sums that stay in registers through a loop
//===----------------------------------------------------------------------===//

SmallVector<std::array<int64_t, 2>> ProductEmitter::beginsOfTiles() const {
  SmallVector<std::array<int64_t, 2>> begins;
  ArrayRef<int64_t> block = attribute.getBlock();
  for (int64_t row = 0; row < m.most; row += block[0])
    for (int64_t column = 0; column < n.most; column += block[1])
      begins.push_back({row, column});
  return begins;
}

/// The tiles one after the other, each with what is kept of it: the call may have no rows or columns for some of them.
LogicalResult ProductEmitter::emitKeptTiles(At at) {
  SmallVector<std::array<int64_t, 2>> begins = beginsOfTiles();
  for (tile = 0; tile < begins.size(); ++tile) {
    if (begins.size() > 1 && !attribute.getWgmma()) // the stages are free for the next tile
      tile::BarrierOp::create(b);
    auto [row, column] = begins[tile];
    Value isThere;
    for (auto [begin, axis] : {std::pair(row, &m), {column, &n}})
      if (begin > 0 && axis->isOpen) {
        Value is = b.less(b.number(begin), extentOf(*axis));
        isThere = isThere ? b.createOrFold<arith::AndIOp>(isThere, is) : is;
      }
    if (failed(emitKeptTile(at, b.number(row), b.number(column), isThere)))
      return failure();
  }
  return success();
}

LogicalResult ProductEmitter::emitKeptTile(At at, Value row, Value column, Value isThere) {
  if (!isThere)
    return emitTile(at, row, column);
  SmallVector<KeptTiles *> own;
  SmallVector<Value> before, next;
  for (KeptTiles &kept : e.kept)
    if (kept.sum.leader == number) {
      own.push_back(&kept);
      before.push_back(kept.before[tile]);
    }
  auto branch = scf::IfOp::create(b, ValueRange(before).getTypes(), isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, before);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitTile(at, row, column)))
    return failure();
  for (KeptTiles *kept : own)
    next.push_back(kept->next[tile]);
  scf::YieldOp::create(b, next);
  for (auto [kept, result] : llvm::zip_equal(own, branch.getResults()))
    kept->next[tile] = result;
  return success();
}

SmallVector<Value> ProductEmitter::loadKept(const KeptSum &sum) {
  auto parallel = [&](int loop) { return indexOfParallel(loop); };
  At first = {b.number(0), b.number(0)};
  return llvm::map_to_vector(beginsOfTiles(), [&](std::array<int64_t, 2> begin) {
    return convertTile(load(sum.from, parallel, first, b.number(begin[0]), b.number(begin[1])), sum.type);
  });
}

void ProductEmitter::storeKept(const KeptSum &sum, ValueRange tiles) {
  auto parallel = [&](int loop) { return indexOfParallel(loop); };
  At first = {b.number(0), b.number(0)};
  for (auto [begin, kept] : llvm::zip_equal(beginsOfTiles(), tiles))
    store(convertTile(kept, graph.buffers[sum.output].elementType), sum.to, parallel, first, b.number(begin[0]), b.number(begin[1]));
}

SmallVector<Value> togpu::loadKept(LeafEmitter &emitter, const KeptSum &sum) {
  return ProductEmitter(emitter, sum.leader, *emitter.tiles[sum.leader].product, Value()).loadKept(sum);
}

void togpu::storeKept(LeafEmitter &emitter, const KeptSum &sum, ValueRange tiles) {
  ProductEmitter(emitter, sum.leader, *emitter.tiles[sum.leader].product, Value()).storeKept(sum, tiles);
}

LogicalResult mlir::ft::togpu::emitProduct(LeafEmitter &emitter, unsigned number, const ProductTiles &product,
                                           Value memory) {
  return ProductEmitter(emitter, number, product, memory).run();
}
