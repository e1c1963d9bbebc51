//===- NestSlices.cpp - idle threads take slices of sums ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestCode.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;

/// How threads share tiles: of `tiles` at a time each has as many threads as there are slices.
struct NestCode::Slices {
  Value tiles, slices;     // i32
  Value slice, place;      // of this thread: which slice, of which of the tiles
  Value isFirst, hasSlice; // whether the slice is the first, and one that there is
  Value flat, works;       // the number of the tile, and whether this thread sums a slice of it
  SmallVector<Type> types; // of a tile's sums
};

/// Enters the loop in which all threads go round equally often; with several slices once.
NestCode::Slices NestCode::shareTiles(Value total) {
  Slices s;
  Value one = number32(1), zero = number32(0), threads = number32(layout.getThreads()), id = nest.getThread();
  s.tiles = createOrFold<arith::MaxUIOp>(createOrFold<arith::MinUIOp>(total, threads), one);
  s.slices = createOrFold<arith::MinUIOp>(createOrFold<arith::DivUIOp>(threads, s.tiles), number32(layout.getSlices()));
  s.slice = createOrFold<arith::DivUIOp>(id, s.tiles);
  s.place = createOrFold<arith::RemUIOp>(id, s.tiles);
  s.isFirst = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, s.slice, zero);
  s.hasSlice = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, s.slice, s.slices);
  scf::ForOp passes = loop(zero, total, s.tiles, {}, layout.copiesOfTiles());
  s.flat = createOrFold<arith::AddIOp>(passes.getInductionVar(), s.place);
  s.works = createOrFold<arith::AndIOp>(s.hasSlice, createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, s.flat, total));
  s.types = llvm::to_vector(ValueRange(neutral()).getTypes());
  return s;
}

/// Where a thread leaves its sum of that number.
Value NestCode::cellOf(const Slices &s, int64_t sum, Value thread) {
  int64_t bytes = 4;
  for (Type type : s.types)
    bytes = std::max<int64_t>(bytes, (type.getIntOrFloatBitWidth() + 7) / 8);
  Value index = add(extend(thread), sum * layout.getThreads());
  return atRow(nest.getPartials(), mul(index, bytes), getI8Type());
}

/// The sums of this thread's slice, those of the first with what they begin with; of others without a slice nothing.
Sums NestCode::sumSlice(const Slices &s) {
  Sums none = neutral();
  int64_t granules = nest.getLoops()[size_t(reducedLoops.front())] / layout.getGranule();
  auto portion = [&](Value part) { // in granules
    return createOrFold<arith::DivUIOp>(createOrFold<arith::MulIOp>(part, number32(granules)), s.slices);
  };
  auto branch = scf::IfOp::create(*this, s.types, s.works, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*this, none);
  setInsertionPointToStart(branch.thenBlock());
  PointTile point = startAt(s.flat);
  Sums sums;
  for (int64_t part = 0; part < tile; ++part)
    for (int64_t l = 0; l < width; ++l)
      for (auto [r, reduction] : llvm::enumerate(reductions)) {
        Value init = toFloat32(elementOf(point, reduction.init(), part, l));
        sums.push_back(arith::SelectOp::create(*this, s.isFirst, init, none[slotOf(part, l, r)]));
      }
  sliceBegin = portion(s.slice);
  sliceEnd = portion(createOrFold<arith::AddIOp>(s.slice, number32(1)));
  runReduced(0, std::move(point), sums, Value());
  sliceBegin = sliceEnd = Value();
  scf::YieldOp::create(*this, sums);
  return Sums(branch.getResults());
}

/// The sums of this slice and of that `half` slices after, where `left` slices are left.
Sums NestCode::addPartner(const Slices &s, ValueRange sums, Value half, Value left) {
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) { return createOrFold<arith::CmpIOp>(predicate, x, y); };
  Value partner = createOrFold<arith::AddIOp>(s.slice, half);
  OpBuilder::InsertionGuard guard(*this);
  Value gives = createOrFold<arith::AndIOp>(compare(arith::CmpIPredicate::uge, s.slice, half),
                                            compare(arith::CmpIPredicate::ult, s.slice, left));
  auto leave = scf::IfOp::create(*this, gives, /*withElseRegion=*/false);
  setInsertionPointToStart(leave.thenBlock());
  for (auto [i, value] : llvm::enumerate(sums))
    storeAdjacent({value}, cellOf(s, int64_t(i), nest.getThread()), value.getType(), false);
  setInsertionPointAfter(leave);
  NVVM::Barrier0Op::create(*this);
  auto join = scf::IfOp::create(*this, s.types, compare(arith::CmpIPredicate::ult, partner, left), /*withElseRegion=*/true);
  setInsertionPointToStart(join.elseBlock());
  scf::YieldOp::create(*this, sums);
  setInsertionPointToStart(join.thenBlock());
  Value thread = createOrFold<arith::AddIOp>(nest.getThread(), createOrFold<arith::MulIOp>(half, s.tiles));
  Sums joined;
  for (auto [i, value] : llvm::enumerate(sums)) {
    Value partial = loadAdjacent(cellOf(s, int64_t(i), thread), value.getType(), 1, false).front();
    joined.push_back(combine(reductions[i % reductions.size()], value, partial));
  }
  scf::YieldOp::create(*this, joined);
  return Sums(join.getResults());
}

/// The upper half of the slices gives its sums to the lower one until one slice is left. A round
/// reads what no later one writes.
Sums NestCode::joinSlices(const Slices &s, const Sums &sums) {
  constexpr int64_t bits = 32; // of a thread's number
  Value one = number32(1);
  Value rounds = arith::SubIOp::create(
      *this, number32(bits), math::CountLeadingZerosOp::create(*this, createOrFold<arith::SubIOp>(s.slices, one)));
  SmallVector<Value> inits = {s.slices};
  llvm::append_range(inits, sums);
  scf::ForOp created = loop(number32(0), rounds, one, inits, /*copies=*/1);
  Value left = created.getRegionIterArg(0);
  Value half = createOrFold<arith::ShRUIOp>(createOrFold<arith::AddIOp>(left, one), one);
  SmallVector<Value> next = {half};
  Sums joined = addPartner(s, created.getRegionIterArgs().drop_front(), half, left);
  llvm::append_range(next, joined);
  setInsertionPointToEnd(created.getBody());
  scf::YieldOp::create(*this, next);
  setInsertionPointAfter(created);
  return llvm::to_vector_of<Value>(created.getResults().drop_front());
}

/// Thread s * T + i sums slice s of tile i, where T is the number of tiles, at most that of
/// threads; the first slice's thread adds the others' sums, which come through shared memory.
void NestCode::runSlices(Value total) {
  OpBuilder::InsertionGuard guard(*this);
  Slices slices = shareTiles(total);
  Sums joined = joinSlices(slices, sumSlice(slices));
  auto last = scf::IfOp::create(*this, createOrFold<arith::AndIOp>(slices.works, slices.isFirst), /*withElseRegion=*/false);
  setInsertionPointToStart(last.thenBlock());
  PointTile point = startAt(slices.flat);
  storeSums(point, joined);
}
