//===- ChainEmitter.cpp - chains of products in registers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each value of the leaf is a tile in registers, or a vector with a value for each
// row. Nothing is said of shared memory, roles or order: operands of products that
// lie in memory are fetched, and the passes of the phase `pipeline` do the rest.
//
//===----------------------------------------------------------------------===//
#include "ChainEmitter.h"

#include "FetchEmitter.h"

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

#include "ft/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;
using schedule::ChainNest;
using schedule::ChainPlace;
using schedule::ChainPlan;
using schedule::ChainSpace;
using Kind = ChainNest::Kind;

namespace {
class ChainEmitter {
public:
  explicit ChainEmitter(LeafEmitter &emitter)
      : e(emitter), b(emitter.b), graph(emitter.graph), plan(*emitter.chain), at{b.number(0), b.number(0)}, rows(plan.attribute.getRows()) {
    int64_t vector[] = {1, 2}, warp[] = {8, 4}, repeat[] = {2, 1}, threads[] = {rows / 2, 4};
    layout = tile::BlockedAttr::get(b.getContext(), vector, threads, warp, repeat);
    findWide();
  }
  LogicalResult run();
  /// From memory, as elements of this type in registers.
  Value load(const ChainPlace &place, Type element);
  void store(const ChainPlace &place, Value value);

private:
  void findWide();
  /// The type in which registers hold a buffer's elements.
  Type elementOf(int buffer) const { return wide[size_t(buffer)] ? b.getF32Type() : graph.buffers[size_t(buffer)].elementType; }
  /// A member's result before it is rounded to halves, where its buffer's elements stay as wide as they are computed.
  Value resultFor(Value result, int buffer) {
    auto rounded = result.getDefiningOp<arith::TruncFOp>();
    if (wide[size_t(buffer)] && rounded && rounded.getIn().getType().isF32())
      return rounded.getIn();
    return wide[size_t(buffer)] ? b.toFloat32(result) : b.toElement(result, elementOf(buffer));
  }
  /// The tile of a space; one with as few columns as there are for what has one value for each row.
  tile::RegistersType typeOf(int space, Type element) const {
    int64_t shape[] = {rows, space < 0 ? layout.getSpan(1) : plan.spaces[size_t(space)].padded};
    return tile::RegistersType::get(b.getContext(), shape, element, layout);
  }
  int64_t columnsOf(int space) const { return space < 0 ? 1 : plan.spaces[size_t(space)].columns; }
  SmallVector<int64_t> columnSizesOf(int space) const;
  Value rowValues(Value tile) {
    auto type = cast<tile::RegistersType>(tile.getType());
    return tile::RowValuesOp::create(b, tile::RowVectorType::get(b.getContext(), rows, type.getElementType(), layout), tile);
  }
  Value overColumns(Value vector, int space) {
    return tile::BroadcastOp::create(b, typeOf(space, cast<tile::RowVectorType>(vector.getType()).getElementType()), vector);
  }
  /// The view of a nest as a tile of a space.
  Value get(unsigned nest, const ElementView &view, int space);
  void keep(const ChainPlace &place, Value value);
  void put(unsigned nest, const ElementView &view, Value tile);
  Value countFrom(Value value, const Memory &memory, const ChainPlace &place, ArrayRef<Value> numbers);
  Value fromMemory(const ChainPlace &place, tile::RegistersType type);
  Value fromRegisters(const ChainPlace &place, tile::RegistersType type, Type element);
  Value valueTile(const Memory &memory, const ChainPlace &place, tile::RegistersType type);
  Value makeView(const ChainPlace &place, SmallVectorImpl<bool> &inside);
  int64_t widthOf(const ChainPlace &place) const;
  Value extentOfRows() { return graphHasRows() ? b.mul(e.rows, plan.mostRows / e.maxRows) : b.number(plan.mostRows); }
  bool graphHasRows() const { return e.maxRows > 1; }
  tile::MapOp startMap(ArrayRef<tile::RegistersType> types, ValueRange inputs);
  Value asElements(Value tile, Type element);
  Value withoutBeyond(Value tile, int64_t columns);
  LogicalResult emitProduct(unsigned number);
  FailureOr<Value> fetch(unsigned number, bool isLeft, Value term);
  LogicalResult emitMember(unsigned number, const NestMember &member);
  LogicalResult emitReduction(unsigned number, const NestMember &member, ValueRange inputs);
  FailureOr<Value> emitTerms(const NestMember &member, unsigned result, Value neutral, ValueRange inputs, int space);
  Value indexOf(unsigned number, int loop, ArrayRef<Value> numbers);
  SmallVector<unsigned> axesOfIndices(unsigned number, const NestMember &member) const;

  LeafEmitter &e;
  Code &b;
  LeafGraph &graph;
  const ChainPlan &plan;
  At at;
  int64_t rows;
  tile::BlockedAttr layout;
  SmallVector<std::pair<ChainPlace, Value>> known; // tiles and vectors in registers
  SmallVector<bool> wide; // by buffer: halves that stay f32 in registers
};
} // namespace

/// What a loop hands on in f32, and what of it is on its way from one product to the same.
void ChainEmitter::findWide() {
  wide.assign(graph.buffers.size(), false);
  for (auto [i, value] : llvm::enumerate(e.handed))
    wide[i] = value && isHalf(graph.buffers[i].elementType);
  for (const KeptTiles &kept : e.kept)
    for (int buffer : {kept.sum.input, kept.sum.output})
      wide[size_t(buffer)] = isHalf(graph.buffers[size_t(buffer)].elementType) && kept.sum.type.isF32();
  SmallVector<bool> begins(graph.buffers.size()), isElse(graph.buffers.size());
  for (auto [i, nest] : llvm::enumerate(graph.nests))
    for (const NestMember &member : nest.members) {
      bool goesOn = plan.nests[i].kind == Kind::product && wide[size_t(member.writes.front().buffer)];
      for (const ElementView &view : member.inits)
        if (!view.isSplat())
          (goesOn ? begins : isElse)[size_t(view.buffer)] = true;
      for (const ElementView &view : member.reads)
        if (!view.isSplat())
          isElse[size_t(view.buffer)] = true;
    }
  for (auto [i, buffer] : llvm::enumerate(graph.buffers))
    if (buffer.kind == Buffer::Kind::Scratch && isHalf(buffer.elementType) && begins[i] && !isElse[i])
      wide[i] = true;
}

/// Of the loops along a row.
SmallVector<int64_t> ChainEmitter::columnSizesOf(int space) const {
  SmallVector<int64_t> columns;
  if (space >= 0)
    for (auto [size, isColumn] : llvm::zip_equal(plan.spaces[size_t(space)].sizes, plan.spaces[size_t(space)].alongRow))
      if (isColumn)
        columns.push_back(size);
  return columns;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Adjacent columns of a thread that are one access.
int64_t ChainEmitter::widthOf(const ChainPlace &place) const {
  const Memory &memory = e.memories[size_t(place.buffer)];
  const int64_t width = layout.getVector()[1];
  auto isEven = [&](int64_t stride) { return stride % width == 0; };
  if (place.space < 0 || !memory.aligned || place.columns.back() != 1 || !isEven(place.offset) || !llvm::all_of(place.rows, isEven) ||
      !llvm::all_of(ArrayRef(place.columns).drop_back(), isEven))
    return 1;
  const ChainSpace &space = plan.spaces[size_t(place.space)];
  int64_t last = 1;
  for (auto [size, isColumn] : llvm::zip_equal(space.sizes, space.alongRow))
    last = isColumn ? size : last;
  return isEven(last) && isEven(graph.buffers[size_t(place.buffer)].numElements) ? width : 1;
}

Value ChainEmitter::makeView(const ChainPlace &place, SmallVectorImpl<bool> &inside) {
  const Memory &memory = e.memories[size_t(place.buffer)];
  Type element = storedType(graph.buffers[size_t(place.buffer)].elementType);
  SmallVector<Value> strides, sizes;
  SmallVector<int64_t> rowDigits, columnDigits;
  if (graphHasRows()) {
    rowDigits.push_back(-1);
    sizes.push_back(e.rows);
    strides.push_back(memory.rowStride ? memory.rowStride : b.number(0));
  }
  for (auto [size, stride] : llvm::zip_equal(plan.rowSizes, place.rows)) {
    rowDigits.push_back(size);
    strides.push_back(b.number(stride));
  }
  if (place.space >= 0) {
    const ChainSpace &space = plan.spaces[size_t(place.space)];
    const int64_t *next = place.columns.begin();
    for (auto [size, isColumn] : llvm::zip_equal(space.sizes, space.alongRow))
      if (isColumn) {
        columnDigits.push_back(size);
        strides.push_back(b.number(*next++));
      }
  } else {
    columnDigits.push_back(1);
    strides.push_back(b.number(0));
  }
  Value pointer = b.at(memory.pointer, e.offsetAt(memory, b.number(place.offset), at), element);
  unsigned space = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  auto type = tile::ViewType::get(b.getContext(), element, rowDigits, columnDigits, space, memory.swizzled, ArrayRef<tile::BorderAttr>());
  inside.assign({!graphHasRows() && plan.mostRows == rows, place.space >= 0 && columnsOf(place.space) == plan.spaces[size_t(place.space)].padded});
  return tile::ViewOp::create(b, type, pointer, strides, sizes, ValueRange());
}

/// Adds the step of a row of the call, and for each element that a place is further the step of elements.
Value ChainEmitter::countFrom(Value value, const Memory &memory, const ChainPlace &place, ArrayRef<Value> numbers) {
  auto addDigit = [&](Value number, int64_t inner, int64_t size, Value step) {
    Value digit = inner > 1 ? b.createOrFold<arith::DivUIOp>(number, b.number(inner)) : number;
    digit = size > 0 ? b.createOrFold<arith::RemUIOp>(digit, b.number(size)) : digit;
    value = b.add(value, b.mul(digit, step));
  };
  auto addDigits = [&](Value number, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, bool isWhole) {
    int64_t inner = 1;
    for (size_t i = sizes.size(); i-- > 0; inner *= sizes[i])
      if (strides[i] != 0)
        addDigit(number, inner, i == 0 && isWhole ? 0 : sizes[i], b.mul(memory.each, strides[i]));
  };
  if (memory.each) {
    value = b.add(value, b.mul(memory.each, place.offset));
    addDigits(numbers[0], plan.rowSizes, place.rows, /*isWhole=*/!graphHasRows());
    addDigits(numbers[1], columnSizesOf(place.space), place.columns, /*isWhole=*/true);
  }
  if (memory.valueStep)
    addDigit(numbers[0], plan.mostRows / e.maxRows, 0, memory.valueStep);
  return value;
}

/// A tile of memory that is one value, or numbers which count along its rows and columns.
Value ChainEmitter::valueTile(const Memory &memory, const ChainPlace &place, tile::RegistersType type) {
  auto asElement = [&](Value value) { // an index, in the element's width
    return value.getType() == type.getElementType() ? value : b.createOrFold<arith::TruncIOp>(type.getElementType(), value);
  };
  if (!memory.valueStep && !memory.each)
    return tile::SplatOp::create(b, type, asElement(memory.value));
  auto numbers = llvm::map_to_vector(ArrayRef<int64_t>{0, 1}, [&](int64_t axis) -> Value {
    return tile::NumbersOp::create(b, type.withElement(b.getI64Type()), b.number(0), axis);
  });
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap({type}, numbers);
  SmallVector<Value> own(map.getBody().front().getArguments());
  tile::YieldOp::create(b, ValueRange{asElement(countFrom(memory.value, memory, place, own))});
  return map.getResult(0);
}

Value ChainEmitter::fromMemory(const ChainPlace &place, tile::RegistersType type) {
  SmallVector<bool> inside;
  Value view = makeView(place, inside);
  inside[1] |= place.space < 0; // what a row has one value of may be read at any column
  auto stored = type.withElement(storedType(type.getElementType()));
  Value zero = b.number(0);
  Value loaded = tile::LoadOp::create(b, stored, view, zero, zero, b.getDenseBoolArrayAttr(inside), b.getI64IntegerAttr(widthOf(place)));
  if (stored == type)
    return loaded;
  OpBuilder::InsertionGuard guard(b); // flags, of the bytes that they are in memory
  tile::MapOp map = startMap({type}, loaded);
  tile::YieldOp::create(b, ValueRange{arith::TruncIOp::create(b, b.getI1Type(), map.getBody().front().getArgument(0)).getResult()});
  return map.getResult(0);
}

Value ChainEmitter::load(const ChainPlace &place, Type element) {
  const Memory &memory = e.memories[size_t(place.buffer)];
  tile::RegistersType type = typeOf(place.space, graph.buffers[size_t(place.buffer)].elementType);
  if (e.handed[size_t(place.buffer)])
    return fromRegisters(place, type, element);
  auto finish = [&](Value tile) {
    tile = asElements(tile, element);
    return place.space < 0 ? rowValues(tile) : tile;
  };
  if (!memory.isValue)
    return finish(fromMemory(place, type));
  if (!memory.pointer)
    return finish(valueTile(memory, place, type));
  auto branch = scf::IfOp::create(b, TypeRange{type}, memory.isValue, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, ValueRange{valueTile(memory, place, type)});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, ValueRange{fromMemory(place, type)});
  }
  return finish(branch.getResult(0));
}

/// What a loop before has left, or the value that memory is at first.
Value ChainEmitter::fromRegisters(const ChainPlace &place, tile::RegistersType type, Type element) {
  const Memory &memory = e.memories[size_t(place.buffer)];
  Value own = e.handed[size_t(place.buffer)];
  if (memory.isValue) {
    auto tile = [&](Value value) { return place.space < 0 ? rowValues(value) : value; };
    auto branch = scf::IfOp::create(b, TypeRange{own.getType()}, memory.isValue, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Type wide = place.space < 0 ? cast<tile::RowVectorType>(own.getType()).getElementType() : cast<tile::RegistersType>(own.getType()).getElementType();
    scf::YieldOp::create(b, ValueRange{tile(asElements(valueTile(memory, place, type), wide))});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, ValueRange{own});
    own = branch.getResult(0);
  }
  if (place.space >= 0)
    return asElements(own, element);
  return rowValues(asElements(overColumns(own, ChainPlace::ofRows), element));
}

void ChainEmitter::store(const ChainPlace &place, Value value) {
  SmallVector<bool> inside;
  Value view = makeView(place, inside), zero = b.number(0);
  Type element = graph.buffers[size_t(place.buffer)].elementType;
  Value tile = place.space < 0 ? overColumns(value, ChainPlace::ofRows) : value;
  tile = asElements(tile, element);
  tile::StoreOp::create(b, tile, view, zero, zero, b.getDenseBoolArrayAttr(inside), b.getI64IntegerAttr(widthOf(place)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A map to tiles of these types, whose body is to be filled: the builder is in it.
tile::MapOp ChainEmitter::startMap(ArrayRef<tile::RegistersType> types, ValueRange inputs) {
  SmallVector<Type> results(types.begin(), types.end()), arguments;
  for (Value input : inputs)
    arguments.push_back(cast<tile::RegistersType>(input.getType()).getElementType());
  auto map = tile::MapOp::create(b, results, inputs);
  b.createBlock(&map.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), b.getLoc()));
  return map;
}

Value ChainEmitter::asElements(Value tile, Type element) {
  auto from = cast<tile::RegistersType>(tile.getType());
  if (from.getElementType() == element)
    return tile;
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap({from.withElement(element)}, tile);
  Value value = map.getBody().front().getArgument(0);
  value = isHalf(from.getElementType()) ? b.toFloat32(value) : b.toElement(value, element);
  tile::YieldOp::create(b, ValueRange{value});
  return map.getResult(0);
}

/// Zeros after the last of so many columns, where a product has terms.
Value ChainEmitter::withoutBeyond(Value tile, int64_t columns) {
  auto type = cast<tile::RegistersType>(tile.getType());
  if (columns == type.getShape()[1])
    return tile;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType())), end = b.number(columns);
  Value numbers = tile::NumbersOp::create(b, type.withElement(b.getI64Type()), b.number(0), /*along=*/1);
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap({type}, {tile, numbers});
  Block &body = map.getBody().front();
  Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, body.getArgument(1), end);
  tile::YieldOp::create(b, ValueRange{arith::SelectOp::create(b, isThere, body.getArgument(0), zero).getResult()});
  return map.getResult(0);
}

Value ChainEmitter::get(unsigned nest, const ElementView &view, int space) {
  if (view.isSplat()) {
    Value value = arith::ConstantOp::create(b, view.splat);
    return tile::SplatOp::create(b, typeOf(space, value.getType()), value);
  }
  ChainPlace place = *plan.placeOf(graph, nest, view);
  auto *found = llvm::find_if(known, [&](const auto &one) { return one.first == place; });
  Value value = found == known.end() ? load(place, elementOf(place.buffer)) : found->second;
  return isa<tile::RowVectorType>(value.getType()) ? overColumns(value, space) : value;
}

/// What the leaf hands to its next iteration.
void ChainEmitter::keep(const ChainPlace &place, Value value) {
  for (KeptTiles &kept : e.kept)
    if (kept.sum.chainTo == place && kept.before.front().getType() == value.getType())
      kept.next.front() = value;
}

void ChainEmitter::put(unsigned nest, const ElementView &view, Value tile) {
  ChainPlace place = *plan.placeOf(graph, nest, view);
  Value value = place.space < 0 ? rowValues(tile) : tile;
  known.push_back({place, value});
  keep(place, value);
  const Buffer &buffer = graph.buffers[size_t(place.buffer)];
  bool isKept = llvm::any_of(e.kept, [&](const KeptTiles &kept) { return kept.sum.chainTo == place && kept.sum.said.getStore() != loops::KeptStore::Each; });
  if (buffer.kind == Buffer::Kind::Output && !isKept)
    store(place, value);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A tile of an operand in memory, from a term on.
FailureOr<Value> ChainEmitter::fetch(unsigned number, bool isLeft, Value term) {
  const schedule::ProductTiles &product = *plan.nests[number].product;
  const schedule::StagedOperands &staged = product.staged;
  FailureOr<FetchedOperand> operand = readOperand(e, number, product, /*member=*/0, isLeft);
  if (failed(operand))
    return failure();
  Value zero = b.number(0);
  const bool alongTerms = isLeft ? !staged.lhsTransposed : staged.rhsTransposed;
  MapIndices indices{e.valueOf, {}, at.row, Value()};
  return emitFetch(e, isLeft ? staged.lhs : staged.rhs, *operand, indices, alongTerms ? zero : term, alongTerms ? term : zero);
}

LogicalResult ChainEmitter::emitProduct(unsigned number) {
  const ChainNest &own = plan.nests[number];
  const schedule::ProductTiles &product = *own.product;
  const schedule::StagedOperands &staged = product.staged;
  const NestMember &member = graph.nests[number].members.front();
  b.setLoc(member.op->getLoc());
  Value sums = asElements(get(number, member.inits.front(), own.space), product.sum), left, zero = b.number(0);
  int64_t terms = 1;
  for (int loop : product.loops.k)
    terms *= graph.nests[number].sizes[size_t(loop)];
  if (own.left) {
    auto *found = llvm::find_if(known, [&](const auto &one) { return one.first == *own.left; });
    left = withoutBeyond(found->second, columnsOf(own.left->space));
  }
  const int64_t step = staged.rhs.getShape()[staged.rhsTransposed ? 1 : 0], steps = llvm::divideCeil(terms, step);
  auto multiply = [&](Value term, Value before) -> FailureOr<Value> {
    FailureOr<Value> lhs = left ? FailureOr<Value>(left) : fetch(number, /*isLeft=*/true, term);
    FailureOr<Value> rhs = failed(lhs) ? FailureOr<Value>(failure()) : fetch(number, /*isLeft=*/false, term);
    if (failed(rhs))
      return failure();
    return tile::MmaOp::create(b, before.getType(), before, *lhs, zero, *rhs, zero, staged.lhsTransposed, staged.rhsTransposed, /*lhs_unsigned=*/false,
                               /*rhs_unsigned=*/false, /*fragments=*/false, /*wgmma=*/true, tile::ReadsAttr())
        .getResult();
  };
  FailureOr<Value> sum;
  if (steps == 1) {
    sum = multiply(zero, sums);
  } else {
    OpBuilder::InsertionGuard guard(b);
    scf::ForOp loop = b.loop(zero, b.number(steps), b.number(1), sums, /*unroll=*/1);
    sum = multiply(b.mul(loop.getInductionVar(), step), loop.getRegionIterArg(0));
    if (succeeded(sum))
      scf::YieldOp::create(b, *sum);
    sum = succeeded(sum) ? FailureOr<Value>(loop.getResult(0)) : sum;
  }
  if (failed(sum))
    return failure();
  put(number, member.writes.front(), asElements(*sum, elementOf(member.writes.front().buffer)));
  return success();
}

//===----------------------------------------------------------------------===//
// What is computed of tiles
//===----------------------------------------------------------------------===//

/// Along which axes a member asks where its elements lie.
SmallVector<unsigned> ChainEmitter::axesOfIndices(unsigned number, const NestMember &member) const {
  bool asked[2] = {};
  if (member.body)
    for (auto index : member.body->getOps<linalg::IndexOp>())
      if (int loop = member.loops[index.getDim()]; loop >= 0)
        asked[plan.nests[number].space >= 0 && plan.spaces[size_t(plan.nests[number].space)].alongRow[size_t(loop)] ? 1 : 0] = true;
  SmallVector<unsigned> axes;
  for (unsigned axis : {0u, 1u})
    if (asked[axis])
      axes.push_back(axis);
  return axes;
}

/// The index of a loop, of an element whose row and column have these numbers.
Value ChainEmitter::indexOf(unsigned number, int loop, ArrayRef<Value> numbers) {
  const ChainSpace &space = plan.spaces[size_t(plan.nests[number].space)];
  const bool isColumn = space.alongRow[size_t(loop)];
  int64_t inner = 1;
  bool isFirst = isColumn || !graphHasRows();
  for (auto [other, size] : llvm::enumerate(space.sizes)) {
    if (space.alongRow[other] != isColumn)
      continue;
    if (int(other) > loop)
      inner *= size;
    isFirst &= int(other) >= loop;
  }
  Value own = numbers[isColumn ? 1 : 0];
  Value index = inner > 1 ? b.createOrFold<arith::DivUIOp>(own, b.number(inner)) : own;
  return isFirst ? index : b.createOrFold<arith::RemUIOp>(index, b.number(space.sizes[size_t(loop)]));
}

LogicalResult ChainEmitter::emitMember(unsigned number, const NestMember &member) {
  b.setLoc(member.op->getLoc());
  const int space = plan.nests[number].space;
  SmallVector<Value> inputs;
  for (const ElementView &view : member.reads)
    inputs.push_back(get(number, view, space));
  if (member.isReduction())
    return emitReduction(number, member, inputs);
  SmallVector<unsigned> axes = axesOfIndices(number, member);
  for (unsigned axis : axes)
    inputs.push_back(tile::NumbersOp::create(b, typeOf(space, b.getI64Type()), b.number(0), int64_t(axis)));
  SmallVector<tile::RegistersType> types;
  for (const ElementView &view : member.writes)
    types.push_back(typeOf(space, elementOf(view.buffer)));
  tile::MapOp map;
  {
    OpBuilder::InsertionGuard guard(b);
    map = startMap(types, inputs);
    Block *block = &map.getBody().front();
    SmallVector<Value> results;
    if (member.copy) {
      Value value = block->getArgument(0);
      Type to = types.front().getElementType();
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
      auto loopIndex = [&](int loop) { return indexOf(number, loop, numbers); };
      body.loopIndex = loopIndex;
      if (failed(body.evaluate()))
        return failure();
      for (unsigned i = 0; i < member.yields.size(); ++i)
        results.push_back(resultFor(body.result(i), member.writes[i].buffer));
    }
    tile::YieldOp::create(b, results);
  }
  for (auto [view, tile] : llvm::zip_equal(member.writes, map.getResults()))
    put(number, view, tile);
  return success();
}

/// What each element adds to a reduction.
FailureOr<Value> ChainEmitter::emitTerms(const NestMember &member, unsigned result, Value neutral, ValueRange inputs, int space) {
  OpBuilder::InsertionGuard guard(b);
  tile::MapOp map = startMap({typeOf(space, neutral.getType())}, inputs);
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

/// A row's elements, then what the reduction goes on from.
LogicalResult ChainEmitter::emitReduction(unsigned number, const NestMember &member, ValueRange inputs) {
  const int space = plan.nests[number].space;
  SmallVector<Value> results;
  for (unsigned i = 0; i < member.inits.size(); ++i) {
    Value neutral = b.toFloat32(arith::ConstantOp::create(b, *arith::getNeutralElement(member.combiners[i])));
    FailureOr<Value> terms = emitTerms(member, i, neutral, inputs, space);
    if (failed(terms))
      return failure();
    auto combine = [&](Value one, Value other) {
      LeafBody body(e, member, at);
      return body.combine(member.combiners[i], one, other);
    };
    auto reduce = tile::ReduceOp::create(b, terms->getType(), *terms, neutral, columnsOf(space));
    {
      OpBuilder::InsertionGuard guard(b);
      Type element = neutral.getType();
      Block *block = b.createBlock(&reduce.getBody(), {}, {element, element}, {b.getLoc(), b.getLoc()});
      tile::YieldOp::create(b, ValueRange{b.toFloat32(combine(block->getArgument(0), block->getArgument(1)))});
    }
    Value reduced = overColumns(rowValues(reduce.getResult()), ChainPlace::ofRows), init = get(number, member.inits[i], ChainPlace::ofRows);
    OpBuilder::InsertionGuard guard(b);
    Type element = elementOf(member.writes[i].buffer);
    tile::MapOp map = startMap({typeOf(ChainPlace::ofRows, element)}, {init, reduced});
    Block &block = map.getBody().front();
    tile::YieldOp::create(b, ValueRange{b.toElement(combine(b.toFloat32(block.getArgument(0)), block.getArgument(1)), element)});
    results.push_back(map.getResult(0));
  }
  for (auto [view, tile] : llvm::zip_equal(member.writes, results))
    put(number, view, tile);
  return success();
}

LogicalResult ChainEmitter::run() {
  for (const KeptTiles &kept : e.kept)
    known.push_back({*kept.sum.chainFrom, kept.before.front()});
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    if (plan.nests[i].kind == Kind::product) {
      if (failed(emitProduct(unsigned(i))))
        return failure();
      continue;
    }
    for (const NestMember &member : nest.members)
      if (failed(emitMember(unsigned(i), member)))
        return failure();
  }
  return success();
}

LogicalResult togpu::emitChain(LeafEmitter &emitter) { return ChainEmitter(emitter).run(); }

Value togpu::loadKeptOfChain(LeafEmitter &emitter, const KeptSum &sum) { return ChainEmitter(emitter).load(*sum.chainFrom, sum.type); }

void togpu::storeKeptOfChain(LeafEmitter &emitter, const KeptSum &sum, Value kept) { ChainEmitter(emitter).store(*sum.chainTo, kept); }
