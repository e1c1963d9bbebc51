//===- NestTerms.cpp - what is computed at a tile of points ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestCode.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

SmallVector<Value> NestCode::cloneBody(Block &body, ValueRange arguments, const TilePart &at, int64_t lane) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator()) {
    auto index = dyn_cast<IndexOp>(&inner);
    if (!index) {
      clone(inner, mapping);
      continue;
    }
    auto loop = int64_t(index.getNumber()) - 2;
    Value value = loop == -2 ? at.row : loop == -1 ? at.lift : at.loops[size_t(loop)];
    mapping.map(index.getResult(), loop >= 0 && loop == layout.getVector() ? add(value, lane) : value);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
}

Value NestCode::combine(Reduction &reduction, Value a, Value b) {
  return cloneBody(reduction.combiner(), {a, b}, TilePart()).front();
}

Value NestCode::toFloat32(Value value) {
  Type type = value.getType();
  return type.isF16() || type.isBF16() ? Value(arith::ExtFOp::create(*this, getF32Type(), value)) : value;
}

SmallVector<WriteOp> NestCode::writesOf(Operation *op) {
  auto isOf = [&](WriteOp write) { return write.getValue().getDefiningOp() == op; };
  return llvm::to_vector(llvm::make_filter_range(nest.getBody().getOps<WriteOp>(), isOf));
}

void NestCode::map(MapPointsOp op, PointTile &point, int64_t part) {
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (int64_t l = 0; l < width; ++l) {
    auto arguments = llvm::map_to_vector(op.getInputs(), [&](Value input) { return elementOf(point, input, part, l); });
    for (auto [all, value] : llvm::zip_equal(results, cloneBody(op.getBody().front(), arguments, point.parts[size_t(part)], l)))
      all.push_back(value);
  }
  for (auto [result, values] : llvm::zip_equal(op->getResults(), results))
    point.known[{result, part}] = values;
}

/// The op's sums of a part, of which the first reduction has this number, go one step further.
void NestCode::reduce(ReducePointsOp op, PointTile &point, int64_t part, Sums &sums, size_t first) {
  for (int64_t l = 0; l < width; ++l) {
    auto arguments = llvm::map_to_vector(op.getInputs(), [&](Value input) { return elementOf(point, input, part, l); });
    auto own = MutableArrayRef(sums).slice(slotOf(part, l, first), op->getNumResults());
    llvm::append_range(arguments, own);
    llvm::copy(cloneBody(op.getBody().front(), arguments, point.parts[size_t(part)], l), own.begin());
  }
}

/// All that is computed at a tile: of each operation all parts, with what it writes of them. Sums go one step further.
void NestCode::evaluate(PointTile &point, Sums &sums) {
  if (nest.getAsync())
    return copyAsync(point);
  size_t first = 0;
  for (Operation &op : nest.getBody().front()) {
    setLoc(op.getLoc());
    auto maps = dyn_cast<MapPointsOp>(op);
    auto reduces = dyn_cast<ReducePointsOp>(op);
    for (int64_t part = 0; part < tile; ++part) {
      if (reduces)
        reduce(reduces, point, part, sums, first);
      if (!maps)
        continue;
      map(maps, point, part);
      for (WriteOp write : writesOf(&op))
        store(write, point.parts[size_t(part)], point.known.at({write.getValue(), part}));
    }
    first += reduces ? reduces->getNumResults() : 0;
  }
}

/// What points read before they write there. (Copies that are on their way are in no one's registers.)
void NestCode::loadFirst(PointTile &point) {
  if (nest.getAsync())
    return;
  llvm::DenseSet<size_t> seen;
  for (Operation &op : nest.getBody().front()) {
    if (auto write = dyn_cast<WriteOp>(op))
      seen.insert(accessOf.at(write));
    if (auto read = dyn_cast<ReadOp>(op); read && seen.insert(accessOf.at(read)).second)
      for (int64_t part = 0; part < tile; ++part)
        elementOf(point, read, part, 0);
  }
}

//===----------------------------------------------------------------------===//
// Reduced loops
//===----------------------------------------------------------------------===//

Sums NestCode::neutral() {
  Sums sums;
  for (int64_t i = 0; i < tile * width; ++i)
    for (Reduction &reduction : reductions)
      sums.push_back(arith::ConstantOp::create(*this, reduction.neutral()));
  return sums;
}

/// The slice of the outermost loop, a granule of terms at a time.
void NestCode::runGranules(PointTile &point, Sums &sums) {
  int64_t loop = reducedLoops.front(), granule = layout.getGranule();
  scf::ForOp created = this->loop(sliceBegin, sliceEnd, number32(1), sums, /*copies=*/1);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(created.getBody());
  Value first = mul(extend(created.getInductionVar()), granule);
  Sums inner = llvm::to_vector_of<Value>(created.getRegionIterArgs());
  for (int64_t i = 0; i < granule; ++i) {
    PointTile at = point;
    for (TilePart &part : at.parts)
      advance(part, loop, add(first, i));
    runReduced(1, std::move(at), inner, Value());
  }
  scf::YieldOp::create(*this, inner);
  sums = llvm::to_vector_of<Value>(created.getResults());
}

/// Loops over what is reduced. The last one is shared by the lanes of a group.
void NestCode::runReduced(unsigned depth, PointTile point, Sums &sums, Value laneInGroup) {
  if (depth == reducedLoops.size())
    return evaluate(point, sums);
  OpBuilder::InsertionGuard guard(*this);
  if (depth == 0 && sliceBegin)
    return runGranules(point, sums);
  int64_t loop = reducedLoops[depth];
  bool isShared = laneInGroup && loop == layout.getVector();
  int64_t size = nest.getLoops()[size_t(loop)];
  Value index;
  scf::ForOp created;
  if (isShared) {
    size /= width;
    std::tie(created, index) = threadLoop(number32(size), size, laneInGroup, layout.getLanes(), layout.copiesOfSum(depth), sums);
  } else {
    created = this->loop(number32(0), number32(size), number32(1), sums, layout.copiesOfSum(depth));
    index = created.getInductionVar();
  }
  index = extend(index);
  for (TilePart &part : point.parts)
    advance(part, loop, isShared ? mul(index, width) : index);
  Sums inner = llvm::to_vector_of<Value>(created.getRegionIterArgs());
  runReduced(depth + 1, std::move(point), inner, laneInGroup);
  if (!inner.empty())
    scf::YieldOp::create(*this, inner);
  sums = llvm::to_vector_of<Value>(created.getResults());
}

/// What reductions leave goes where it is written, rounded to its type.
void NestCode::storeSums(PointTile &point, ArrayRef<Value> sums) {
  for (auto [r, reduction] : llvm::enumerate(reductions)) {
    Value result = reduction.result();
    for (WriteOp write : writesOf(reduction.op)) {
      if (write.getValue() != result)
        continue;
      for (int64_t part = 0; part < tile; ++part) {
        SmallVector<Value> elements;
        for (int64_t l = 0; l < (layout.getLanes() > 1 ? 1 : width); ++l) {
          Value sum = sums[slotOf(part, l, r)];
          elements.push_back(sum.getType() == result.getType() ? sum : arith::TruncFOp::create(*this, result.getType(), sum).getResult());
        }
        store(write, point.parts[size_t(part)], elements);
      }
    }
  }
}
