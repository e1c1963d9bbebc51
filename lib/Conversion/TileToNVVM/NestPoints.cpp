//===- NestPoints.cpp - a thread's tiles of points in memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestCode.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

NestCode::NestCode(NestOp nest, OpBuilder &builder)
    : RowCode(nest.getLoc(), builder), nest(nest), layout(nest.getLayout()), width(layout.getWidth()), tile(layout.getTile()),
      parallelLoops(nest.getParallelLoops()), reducedLoops(nest.getReducedLoops()) {
  for (Operation &op : nest.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op))
      addAccess(read, read.getMemory().getDefiningOp<MemoryOp>(), read.getPlace(), read.getBegin(), int64_t(read.getWidth()), false);
    if (auto write = dyn_cast<WriteOp>(op))
      addAccess(write, write.getMemory().getDefiningOp<MemoryOp>(), write.getPlace(), write.getBegin(), int64_t(write.getWidth()), true);
    if (auto sums = dyn_cast<ReducePointsOp>(op))
      for (unsigned i = 0; i < sums.getNumResults(); ++i)
        reductions.push_back({sums, i});
  }
}

void NestCode::addAccess(Operation *op, MemoryOp memory, PointPlaceAttr place, Region &begin, int64_t elements, bool isWritten) {
  auto isSame = [&](const NestAccess &other) {
    return other.memory == memory && other.place == place &&
           OperationEquivalence::isRegionEquivalentTo(other.begin, &begin, OperationEquivalence::IgnoreLocations);
  };
  auto *found = llvm::find_if(accesses, isSame);
  accessOf[op] = size_t(found - accesses.begin());
  if (found != accesses.end()) {
    found->isWritten |= isWritten;
    return;
  }
  NestAccess access{memory, place, &begin, elements, isWritten};
  if (int64_t vector = layout.getVector(); vector >= 0) {
    access.vectorStride = place.getStrides()[vector];
    access.variesInVector = place.movesWith(vector);
  }
  access.variesInTile = layout.getRows() ? movesWithRows(access) : layout.getLoop() >= 0 && place.movesWith(layout.getLoop());
  accesses.push_back(access);
}

bool NestCode::movesWithRows(const NestAccess &access) const {
  bool begins = false;
  access.begin->walk([&](IndexOp index) { begins |= index.getNumber() == 0; });
  MemoryOp memory = access.memory;
  return begins || memory.getRowStride() || memory.getStep();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void NestCode::advance(TilePart &part, int64_t loop, Value by) {
  for (auto [access, offset] : llvm::zip_equal(accesses, part.offsets))
    if (int64_t stride = access.place.getStrides()[loop]; stride != 0)
      offset = add(offset, mul(by, stride));
  for (auto [access, places] : llvm::zip_equal(accesses, part.borders))
    for (auto [border, place] : llvm::zip_equal(access.place.getBorders(), places))
      if (int64_t step = border.getSteps()[size_t(loop)]; step != 0)
        place = add(place, mul(by, step));
  part.loops[size_t(loop)] = part.loops[size_t(loop)] ? add(part.loops[size_t(loop)], by) : by;
}

/// The iteration, or the row, of this number of the tile that begins at these indices and this row.
TilePart NestCode::startPart(ArrayRef<std::pair<int64_t, Value>> indices, Value row, Value lift, Value lastRow, int64_t number) {
  TilePart part;
  part.row = row;
  part.lift = lift;
  if (lastRow) {
    part.row = add(row, number);
    if (number > 0) { // the last tile may be short: it repeats the last row and stores nothing
      part.valid = less(part.row, nest.getRows());
      part.row = createOrFold<arith::MinSIOp>(part.row, lastRow);
    }
  }
  part.loops.resize(nest.getLoops().size());
  for (const NestAccess &access : accesses) {
    part.offsets.push_back(access.begin->empty() ? this->number(access.place.getOffset())
                                                 : cloneBody(access.begin->front(), {}, part).front());
    SmallVector<Value> &places = part.borders.emplace_back();
    for (size_t i = 0; i < access.place.getBorders().size(); ++i)
      places.push_back(this->number(access.place.getBegins()[int64_t(i)]));
  }
  if (nest.getSplit())
    advance(part, int64_t(*nest.getSplit()), nest.getColumn());
  for (auto [loop, index] : indices)
    advance(part, loop, loop == layout.getLoop() ? add(index, number) : index);
  return part;
}

/// The tile of this number. Rows are slowest, then lifts, then loops, the vector's fastest.
PointTile NestCode::startAt(Value flat) {
  auto digit = [&](Value count) {
    Value value = createOrFold<arith::RemUIOp>(flat, count);
    flat = createOrFold<arith::DivUIOp>(flat, count);
    return extend(value);
  };
  bool moreRows = bool(nest.getRows()), moreLifts = nest.getLifts() > 1;
  SmallVector<std::pair<int64_t, Value>> indices;
  for (size_t i = parallelLoops.size(); i-- > 0;) {
    int64_t loop = parallelLoops[i], step = layout.getStep(loop);
    Value at;
    if (i == 0 && !moreRows && !moreLifts)
      at = extend(flat);
    else if (nest.isSplit(loop))
      at = digit(createOrFold<arith::TruncIOp>(getI32Type(), createOrFold<arith::DivUIOp>(nest.getNumColumns(), number(step))));
    else
      at = digit(number32(nest.getLoops()[size_t(loop)] / step));
    indices.push_back({loop, mul(at, step)});
  }
  Value row = number(0), lift = number(0);
  if (moreLifts)
    lift = moreRows ? digit(number32(int64_t(nest.getLifts()))) : extend(flat);
  if (moreRows)
    row = mul(extend(flat), layout.getTileOfRows());
  PointTile point;
  Value lastRow = layout.getRows() ? add(nest.getRows(), -1) : Value();
  for (int64_t p = 0; p < tile; ++p)
    point.parts.push_back(startPart(indices, row, lift, lastRow, p));
  return point;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value NestCode::offsetIn(MemoryOp memory, Value offset, const TilePart &at) {
  if (memory.getRowStride())
    offset = add(offset, mul(at.row, memory.getRowStride()));
  if (memory.getLiftStride())
    offset = add(offset, mul(at.lift, memory.getLiftStride()));
  return offset;
}

Value NestCode::addressIn(MemoryOp memory, Value start) {
  Value address = atRow(memory.getPointer(), start, memory.getType().getElementType());
  return memory.getSwizzled() ? ft::createSwizzledAddress(*this, address) : address;
}

/// Elements that are one access: all, or in swizzled memory no more than a piece has.
static int64_t elementsAtOnce(MemoryOp memory, int64_t count, bool isOne) {
  int64_t ofPiece = std::max<int64_t>(accessBytes / memory.getType().getElementBytes(), 1);
  return !memory.getSwizzled() ? count : isOne ? std::min(count, ofPiece) : 1;
}

/// Adjacent elements from a place on, as one access where `isOne`.
SmallVector<Value> NestCode::loadFrom(MemoryOp memory, Value start, int64_t count, bool isOne) {
  SmallVector<Value> values;
  int64_t each = elementsAtOnce(memory, count, isOne);
  for (int64_t i = 0; i < count; i += each)
    llvm::append_range(values, loadAdjacent(addressIn(memory, add(start, i)), memory.getType().getElementType(), each, isOne));
  return values;
}

void NestCode::storeTo(MemoryOp memory, Value start, ArrayRef<Value> values, bool isOne) {
  auto count = int64_t(values.size()), each = elementsAtOnce(memory, count, isOne);
  for (int64_t i = 0; i < count; i += each)
    storeAdjacent(values.slice(size_t(i), size_t(each)), addressIn(memory, add(start, i)), memory.getType().getElementType(), isOne);
}

/// What memory is where it is a value.
SmallVector<Value> NestCode::valueOf(const NestAccess &access, const TilePart &at, int64_t count) {
  MemoryOp memory = access.memory;
  Type element = memory.getType().getElementType();
  Value value = memory.getValue();
  if (memory.getStep())
    value = add(value, mul(at.row, memory.getStep()));
  if (memory.getLiftStep())
    value = add(value, mul(at.lift, memory.getLiftStep()));
  if (value.getType() != element) // an index, in the element's width
    value = arith::TruncIOp::create(*this, element, value);
  return SmallVector<Value>(size_t(count), value);
}

SmallVector<Value> NestCode::load(const NestAccess &access, Value offset, const TilePart &at, int64_t stride, int64_t count) {
  MemoryOp memory = access.memory;
  Type element = memory.getType().getElementType();
  if (stride == 0)
    count = 1;
  auto fromMemory = [&] {
    Value start = offsetIn(memory, offset, at);
    if (stride == 0 || stride == 1)
      return loadFrom(memory, start, count, access.width > 1);
    SmallVector<Value> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(loadFrom(memory, add(start, i * stride), 1, false).front());
    return values;
  };
  if (!memory.getIfValue())
    return fromMemory();
  if (!memory.getPointer())
    return valueOf(access, at, count);
  auto branch = scf::IfOp::create(*this, SmallVector<Type>(size_t(count), element), memory.getIfValue(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*this, valueOf(access, at, count));
  setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*this, fromMemory());
  return llvm::to_vector_of<Value>(branch.getResults());
}

/// Elements of a place with borders, one by one: what is beyond is no access.
SmallVector<Value> NestCode::loadInside(const NestAccess &access, Value offset, const TilePart &at, ArrayRef<Value> places, int64_t count) {
  SmallVector<Value> values;
  Value outside = arith::ConstantOp::create(*this, access.place.getOutside());
  int64_t vector = layout.getVector();
  for (int64_t lane = 0; lane < count; ++lane) {
    Value inside;
    for (auto [border, place] : llvm::zip_equal(access.place.getBorders(), places)) {
      // (What is negative is large.)
      int64_t steps = vector < 0 ? 0 : lane * border.getSteps()[size_t(vector)];
      inside = both(inside, createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, add(place, steps), number(border.getSize())));
    }
    // Beyond a border the first element is read, which there is in any case.
    Value where = createOrFold<arith::SelectOp>(inside, add(offset, lane * access.vectorStride), number(0));
    values.push_back(createOrFold<arith::SelectOp>(inside, load(access, where, at, 0, 1).front(), outside));
  }
  return values;
}

/// An element of the tile: of a value of a point, or one that is the same for all.
Value NestCode::elementOf(PointTile &point, Value value, int64_t part, int64_t lane) {
  if (value.getParentBlock() != &nest.getBody().front())
    return value;
  auto read = value.getDefiningOp<ReadOp>();
  const NestAccess *access = read ? &accesses[accessOf.at(read)] : nullptr;
  if (access && !access->isWritten && !access->variesInTile)
    part = 0;
  SmallVector<Value> &elements = point.known[{value, part}];
  if (elements.empty()) {
    int64_t count = access->variesInVector ? width : 1;
    size_t number = accessOf.at(read);
    const TilePart &at = point.parts[size_t(part)];
    elements = access->place.getBorders().empty()
                   ? load(*access, at.offsets[number], at, access->vectorStride, count)
                   : loadInside(*access, at.offsets[number], at, at.borders[number], count);
  }
  return elements.size() == 1 ? elements.front() : elements[size_t(lane)];
}

void NestCode::store(WriteOp write, const TilePart &at, ArrayRef<Value> values) {
  size_t number = accessOf.at(write);
  const NestAccess &access = accesses[number];
  MemoryOp memory = access.memory;
  OpBuilder::InsertionGuard guard(*this);
  under(at.valid);
  Value start = offsetIn(memory, at.offsets[number], at);
  if (values.size() == 1 || access.vectorStride == 0)
    return storeTo(memory, start, values.take_front(1), false);
  if (access.vectorStride == 1)
    return storeTo(memory, start, values, access.width > 1);
  for (auto [i, value] : llvm::enumerate(values))
    storeTo(memory, add(start, int64_t(i) * access.vectorStride), {value}, false);
}

void NestCode::copyAsync(const PointTile &point) {
  auto read = *nest.getBody().getOps<ReadOp>().begin();
  auto write = *nest.getBody().getOps<WriteOp>().begin();
  const size_t from = accessOf.at(read), to = accessOf.at(write);
  const int64_t count = nest.getCopiedElements(), bytes = count * accesses[from].memory.getType().getElementBytes();
  // (16 bytes are the one size that passes the cache beside the SM.)
  const auto cache = bytes == accessBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  for (const TilePart &part : point.parts) {
    OpBuilder::InsertionGuard guard(*this);
    under(part.valid);
    auto placeOf = [&](size_t access, int64_t lane) {
      MemoryOp memory = accesses[access].memory;
      Value start = offsetIn(memory, add(part.offsets[access], lane * accesses[access].vectorStride), part);
      return addressIn(memory, start);
    };
    for (int64_t lane = 0; lane < width; lane += count)
      NVVM::CpAsyncOp::create(*this, placeOf(to, lane), placeOf(from, lane), uint32_t(bytes), cache, Value());
  }
}
