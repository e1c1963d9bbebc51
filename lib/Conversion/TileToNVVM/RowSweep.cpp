//===- RowSweep.cpp - operations on rows, an access at a time -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowCode.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tile;

void RowSweep::bind(Value tile, ValueRange values) {
  if (auto type = dyn_cast<PointsType>(tile.getType()))
    points.try_emplace(tile, type, values);
  else
    known[tile].assign(values.begin(), values.end());
}

SmallVector<SmallVector<Value>> RowSweep::valuesOf(ValueRange tiles) const {
  return llvm::map_to_vector(tiles, [&](Value tile) { return known.at(tile); });
}

void RowSweep::start(Operation *op) {
  for (Value result : op->getResults())
    known[result].assign(size_t(cast<RowsType>(result.getType()).getNumOwn()), Value());
  auto sums = dyn_cast<AccumulateOp>(op);
  if (!sums)
    return;
  for (auto [result, neutral] : llvm::zip_equal(sums.getResults(), sums.getNeutral()))
    llvm::fill(known[result], neutral);
}

void RowSweep::run(ArrayRef<Operation *> ops) {
  int64_t chunks = 1;
  size_t rows = 0;
  for (Operation *op : ops) {
    start(op);
    PointsType type = points.at(op->getOperand(0)).type;
    rows = size_t(type.getLayout().getRows());
    auto isWhole = [](Type result) { return !cast<RowsType>(result).isSliced(); };
    if (isa<AccumulateOp>(op) || llvm::any_of(op->getResultTypes(), isWhole))
      chunks = type.getChunks();
  }
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    for (size_t row = 0; row < rows; ++row)
      for (Operation *op : ops)
        emit(op, {row, chunk});
}

void RowSweep::runByRow(LoadRowsOp op) {
  start(op);
  for (size_t row = 0; row < points.at(op.getPoints()).rows.size(); ++row)
    for (int64_t chunk = 0; chunk < op.getType().getChunks(); ++chunk)
      load(op, {row, chunk});
}

void RowSweep::emit(Operation *op, Access at) {
  b.setLoc(op->getLoc());
  if (auto map = dyn_cast<MapRowsOp>(op))
    return this->map(map, at);
  if (auto sums = dyn_cast<AccumulateOp>(op))
    return accumulate(sums, at);
  if (auto reduced = dyn_cast<ReduceRowsOp>(op))
    return reduce(reduced, at);
  load(cast<LoadRowsOp>(op), at);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Which of a lane's values of a tile an element is.
static size_t placeOf(Value tile, size_t row, int64_t chunk, int64_t lane) {
  auto type = cast<RowsType>(tile.getType());
  return type.isSliced() ? row : (row * size_t(type.getChunks()) + size_t(chunk)) * size_t(type.getWidth()) + size_t(lane);
}

SmallVector<Value> RowSweep::elementsOf(ValueRange tiles, Access at, int64_t lane) {
  return llvm::map_to_vector(tiles, [&](Value tile) { return known.at(tile)[placeOf(tile, at.row, at.chunk, lane)]; });
}

void RowSweep::put(Value tile, Access at, int64_t lane, Value value) {
  known[tile][placeOf(tile, at.row, at.chunk, lane)] = value;
}

SmallVector<Value> RowSweep::cloneBody(Block &body, ValueRange arguments, const PointRow &row, Value element, int64_t lane) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator()) {
    auto index = dyn_cast<IndexOp>(&inner);
    if (!index) {
      b.clone(inner, mapping);
      continue;
    }
    size_t number = index.getNumber();
    bool isElement = number > row.digits.size();
    mapping.map(index.getResult(), isElement ? b.add(element, lane) : number == 0 ? row.row : row.digits[number - 1]);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
}

void RowSweep::map(MapRowsOp op, Access at) {
  const PointRow &row = rowOf(op.getPoints(), at);
  bool isSliced = op->getNumResults() == 0 || cast<RowsType>(op->getResultTypes().front()).isSliced();
  int64_t width = isSliced ? 1 : points.at(op.getPoints()).type.getLayout().getWidth();
  for (int64_t lane = 0; lane < width; ++lane) {
    SmallVector<Value> yielded = cloneBody(op.getBody().front(), elementsOf(op.getInputs(), at, lane), row,
                                           isSliced ? Value() : row.elements[size_t(at.chunk)], lane);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), yielded))
      put(result, at, lane, value);
  }
}

/// Outside of the row what has been combined stays as it is.
void RowSweep::accumulate(AccumulateOp op, Access at) {
  const PointRow &row = rowOf(op.getPoints(), at);
  Value element = row.elements[size_t(at.chunk)], holds = row.holds[size_t(at.chunk)];
  Access own{at.row, 0};
  for (int64_t lane = 0; lane < points.at(op.getPoints()).type.getLayout().getWidth(); ++lane) {
    SmallVector<Value> arguments = elementsOf(op.getInputs(), at, lane), sums = elementsOf(op.getResults(), own, lane);
    llvm::append_range(arguments, sums);
    SmallVector<Value> yielded = cloneBody(op.getBody().front(), arguments, row, element, lane);
    for (auto [result, next, sum] : llvm::zip_equal(op.getResults(), yielded, sums))
      put(result, own, lane, holds ? Value(arith::SelectOp::create(b, holds, next, sum)) : next);
  }
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void RowSweep::load(LoadRowsOp op, Access at) {
  bool isKnown = op.getUniform() && at.row > 0;
  SmallVector<Value> values;
  if (!isKnown)
    values = loadAccess(op, at);
  for (int64_t lane = 0; lane < op.getType().getWidth(); ++lane)
    put(op.getResult(), at, lane,
        isKnown ? elementsOf(ValueRange(op.getResult()), {0, at.chunk}, lane).front() : values[size_t(lane)]);
}

SmallVector<Value> RowSweep::loadAccess(LoadRowsOp op, Access at) {
  const PointRow &row = rowOf(op.getPoints(), at);
  RowPlaceAttr place = op.getPlace();
  Type type = place.getElement();
  int64_t count = op.getType().getWidth(), step = place.getStep();
  Value begin = op.getBegin().empty() ? b.number(place.getOffset()) : cloneBody(op.getBegin().front(), {}, row).front();
  Value offset = b.offsetOf(place, begin, row, Value(), step == 0 ? Value() : row.elements[size_t(at.chunk)]);
  auto fromMemory = [&] {
    Value start = op.getStride() ? b.add(offset, b.mul(row.row, op.getStride())) : offset;
    if (step == 0 || step == 1)
      return b.loadAdjacent(b.atRow(op.getPointer(), start, type), type, count, op.getWidth() > 1);
    SmallVector<Value> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(b.loadAdjacent(b.atRow(op.getPointer(), b.add(start, i * step), type), type, 1, false).front());
    return values;
  };
  if (!op.getValue())
    return fromMemory();
  auto branch = scf::IfOp::create(b, SmallVector<Type>(size_t(count), type), op.getIfValue(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value value = op.getValue();
  if (op.getStep())
    value = b.add(value, b.mul(row.row, op.getStep()));
  if (value.getType() != type)
    value = arith::TruncIOp::create(b, type, value);
  scf::YieldOp::create(b, SmallVector<Value>(size_t(count), value));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, fromMemory());
  return llvm::to_vector_of<Value>(branch.getResults());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value RowSweep::exchange(ReduceRowsOp op, Value value, int64_t from) {
  for (int64_t mask = from; mask >= 1; mask /= 2)
    value = cloneBody(op.getBody().front(), {value, b.exchange(value, mask)}, {}).front();
  return value;
}

/// The lanes of a row give what they have to each other; all of them get the whole.
Value RowSweep::combineLanes(ReduceRowsOp op, const Points &points, ArrayRef<Value> own) {
  Value value = own.front();
  for (Value next : own.drop_front())
    value = cloneBody(op.getBody().front(), {value, next}, {}).front();
  int64_t lanes = points.type.getLayout().getLanes();
  value = exchange(op, value, std::min(lanes, warpThreads) / 2);
  if (lanes <= warpThreads)
    return value;
  // One partial result a warp goes through shared memory. Each reduction has places of its own.
  int64_t warps = lanes / warpThreads;
  Type type = value.getType(), place = b.getI64Type();
  Value inWarp = arith::AndIOp::create(b, points.thread, b.number32(warpThreads - 1));
  Value base = b.atRow(op.getScratch(), b.number(int64_t(op.getSlot()) * warps), place);
  {
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inWarp, b.number32(0));
    OpBuilder::InsertionGuard guard(b);
    b.under(first);
    Value warp = arith::ShRUIOp::create(b, points.thread, b.number32(llvm::Log2_64(uint64_t(warpThreads))));
    b.storeAdjacent({value}, b.atRow(base, b.extend(warp), place), type, false);
  }
  NVVM::Barrier0Op::create(b);
  Value mine = arith::AndIOp::create(b, inWarp, b.number32(warps - 1));
  value = b.loadAdjacent(b.atRow(base, b.extend(mine), place), type, 1, false).front();
  return exchange(op, value, warps / 2);
}

void RowSweep::reduce(ReduceRowsOp op, Access at) {
  auto width = size_t(op.getInput().getType().getWidth());
  ArrayRef<Value> all = known[op.getInput()];
  put(op.getResult(), at, 0, combineLanes(op, points.at(op.getPoints()), all.slice(at.row * width, width)));
}
