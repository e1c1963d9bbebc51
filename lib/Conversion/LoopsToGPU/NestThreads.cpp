//===- NestThreads.cpp - the tiles of a nest over threads -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

/// A loop over [0, total) shared by `count` threads. Where all of them go round equally
/// often, the loop says how often, so that it can be unrolled.
std::pair<scf::ForOp, Value> NestEmitter::threadLoop(Value total, std::optional<int64_t> fixed,
                                                     Value thread, int64_t count, int64_t copies,
                                                     ValueRange carried) {
  if (!fixed || *fixed % count != 0) {
    scf::ForOp created = b.loop(thread, total, b.number32(count), carried, copies);
    return {created, created.getInductionVar()};
  }
  scf::ForOp created =
      b.loop(b.number32(0), b.number32(*fixed / count), b.number32(1), carried, copies);
  Value round = b.createOrFold<arith::MulIOp>(created.getInductionVar(), b.number32(count));
  return {created, b.createOrFold<arith::AddIOp>(round, thread)};
}

//===----------------------------------------------------------------------===//
// A point for each thread
//===----------------------------------------------------------------------===//

std::pair<Value, std::optional<int64_t>> NestEmitter::countTiles() {
  std::optional<int64_t> fixed = lifted ? e.lifts : 1;
  Value total = b.number(*fixed);
  for (int loop : parallelLoops) {
    int64_t step = loop == tileLoop ? tile : loop == vectorLoop ? width : 1;
    if (loop == splitLoop) {
      total = b.mul(total, b.createOrFold<arith::DivUIOp>(e.columns->count, b.number(step)));
      fixed.reset();
    } else {
      total = b.mul(total, nest.sizes[loop] / step);
      if (fixed)
        fixed = *fixed * (nest.sizes[loop] / step);
    }
  }
  if (nest.batched) {
    total = b.mul(tileLoop == rowLoop ? b.ceilDiv(e.rows, b.number(tile)) : e.rows, total);
    fixed.reset();
  }
  return {b.createOrFold<arith::TruncIOp>(b.getI32Type(), total), fixed};
}

/// Rows are slowest, then lifts, then loops, the vector loop fastest.
NestEmitter::Point NestEmitter::startAt(Value flat) {
  auto digit = [&](Value count) {
    Value value = b.createOrFold<arith::RemUIOp>(flat, count);
    flat = b.createOrFold<arith::DivUIOp>(flat, count);
    return b.extend(value);
  };
  bool moreRows = nest.batched, moreLifts = lifted && e.lifts > 1;
  SmallVector<std::pair<int, Value>> indices;
  for (int64_t i = int64_t(parallelLoops.size()) - 1; i >= 0; --i) {
    int loop = parallelLoops[i];
    int64_t step = loop == tileLoop ? tile : loop == vectorLoop ? width : 1;
    Value at;
    if (i == 0 && !moreRows && !moreLifts)
      at = b.extend(flat);
    else if (loop == splitLoop)
      at = digit(b.createOrFold<arith::TruncIOp>(
          b.getI32Type(), b.createOrFold<arith::DivUIOp>(e.columns->count, b.number(step))));
    else
      at = digit(b.number32(nest.sizes[loop] / step));
    indices.push_back({loop, b.mul(at, step)});
  }
  At at = {b.number(0), b.number(0)};
  if (moreLifts)
    at.lift = moreRows ? digit(b.number32(e.lifts)) : b.extend(flat);
  if (moreRows)
    at.row = b.mul(b.extend(flat), tileLoop == rowLoop ? tile : 1);
  return start(indices, at);
}

LogicalResult NestEmitter::emitPrivate() {
  auto [total, fixed] = countTiles();
  return isSliced() ? emitSliced(total) : emitEach(total, fixed);
}

/// What a point reads before it writes there.
void NestEmitter::loadFirst(Point &point) {
  llvm::DenseSet<int> seen;
  for (const Member &member : nest.members) {
    for (const View &view : member.reads)
      if (int number = findAccess(accesses, view); !view.isSplat() && seen.insert(number).second)
        for (int64_t part = 0; part < tile; ++part)
          lane(point, number, part, 0);
    for (const View &view : member.writes)
      seen.insert(findAccess(accesses, view));
  }
}

/// Tiles that a thread computes together, whose loads are all in flight before the first store: these may be to memory that others
/// are read from, so that nobody behind may put the loads of one tile before the stores of another. Then what is left, one by one.
LogicalResult NestEmitter::emitTogether(Value total, int64_t copies) {
  int64_t threads = e.threads.count;
  Value id = e.threads.id, zero = b.number32(0), span = b.number32(threads * copies);
  Value bound = b.createOrFold<arith::SubIOp>(total, b.number32(threads * (copies - 1)));
  {
    OpBuilder::InsertionGuard guard(b);
    scf::ForOp created = b.loop(id, bound, span, {}, /*unroll=*/1);
    SmallVector<Point, 0> points;
    for (int64_t i = 0; i < copies; ++i) {
      points.push_back(startAt(b.createOrFold<arith::AddIOp>(created.getInductionVar(), b.number32(i * threads))));
      loadFirst(points.back());
    }
    Carried none;
    for (Point &point : points)
      if (failed(evaluate(point, none)))
        return failure();
  }
  Value left = b.createOrFold<arith::MaxSIOp>(b.createOrFold<arith::SubIOp>(bound, id), zero);
  Value rounds = b.createOrFold<arith::CeilDivUIOp>(left, span);
  Value begin = b.createOrFold<arith::AddIOp>(id, b.createOrFold<arith::MulIOp>(rounds, span));
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = b.loop(begin, total, b.number32(threads), {}, /*unroll=*/1);
  Point point = startAt(created.getInductionVar());
  Carried none;
  return evaluate(point, none);
}

/// Each tile is one thread's.
LogicalResult NestEmitter::emitEach(Value total, std::optional<int64_t> fixed) {
  if (!reduces && copiesOfTiles() > 1)
    return emitTogether(total, copiesOfTiles());
  OpBuilder::InsertionGuard guard(b);
  auto [created, flat] = threadLoop(total, fixed, e.threads.id, e.threads.count, copiesOfTiles());
  Point point = startAt(flat);
  Carried carried;
  auto all = getReductions(nest);
  for (int64_t part = 0; part < tile; ++part)
    for (int64_t l = 0; l < width; ++l)
      for (auto [member, result] : all)
        carried.push_back(b.toFloat32(lane(point, findAccess(accesses, member->inits[result]), part, l)));
  if (failed(emitReduced(0, point, carried, Value())))
    return failure();
  return storeReductions(point, carried);
}

/// How threads share tiles: of `tiles` at a time each has as many threads as there are slices.
struct NestEmitter::Sharing {
  Value tiles, slices;       // i32
  Value slice, place;        // of this thread: which slice, of which of the tiles
  Value isFirst, hasSlice;   // whether the slice is the first, and one that there is
  Value flat, works;         // the number of the tile, and whether this thread sums a slice of it
  Value base;                // where sums are left
  SmallVector<Type> types;   // of a tile's sums
};

/// Enters the loop in which all threads go round equally often; with several slices once.
NestEmitter::Sharing NestEmitter::shareTiles(Value total) {
  Sharing s;
  Value one = b.number32(1), zero = b.number32(0), threads = b.number32(e.threads.count);
  s.tiles = b.createOrFold<arith::MaxUIOp>(b.createOrFold<arith::MinUIOp>(total, threads), one);
  s.slices = b.createOrFold<arith::MinUIOp>(b.createOrFold<arith::DivUIOp>(threads, s.tiles), b.number32(tiles.slices));
  s.slice = b.createOrFold<arith::DivUIOp>(e.threads.id, s.tiles);
  s.place = b.createOrFold<arith::RemUIOp>(e.threads.id, s.tiles);
  s.isFirst = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, s.slice, zero);
  s.hasSlice = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, s.slice, s.slices);
  scf::ForOp passes = b.loop(zero, total, s.tiles, {}, copiesOfTiles());
  s.flat = b.createOrFold<arith::AddIOp>(passes.getInductionVar(), s.place);
  s.works = b.createOrFold<arith::AndIOp>(s.hasSlice,
                                          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, s.flat, total));
  s.types = llvm::to_vector(ValueRange(neutral()).getTypes());
  s.base = e.threads.partials();
  return s;
}

/// Where a thread leaves its sum of that number.
Value NestEmitter::cellOf(const Sharing &s, int64_t number, Value thread) {
  int64_t bytes = bytesOfSums() / int64_t(s.types.size());
  Value index = b.add(b.extend(thread), number * e.threads.count);
  return b.at(s.base, b.mul(index, bytes), b.getI8Type());
}

/// The sums of this thread's slice, those of the first with what they begin with; of others without a slice nothing.
FailureOr<NestEmitter::Carried> NestEmitter::sumSlice(const Sharing &s) {
  Carried none = neutral();
  int64_t size = nest.sizes[reducedLoops.front()];
  auto portion = [&](Value number) { // in granules
    Value scaled = b.createOrFold<arith::MulIOp>(number, b.number32(size / granule()));
    return b.createOrFold<arith::DivUIOp>(scaled, s.slices);
  };
  auto branch = scf::IfOp::create(b, s.types, s.works, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, none);
  b.setInsertionPointToStart(branch.thenBlock());
  Point point = startAt(s.flat);
  Carried carried;
  unsigned slot = 0;
  for (int64_t part = 0; part < tile; ++part)
    for (int64_t l = 0; l < width; ++l)
      for (auto [member, result] : getReductions(nest)) {
        Value init = b.toFloat32(lane(point, findAccess(accesses, member->inits[result]), part, l));
        carried.push_back(arith::SelectOp::create(b, s.isFirst, init, none[slot++]));
      }
  sliceBegin = portion(s.slice);
  sliceEnd = portion(b.createOrFold<arith::AddIOp>(s.slice, b.number32(1)));
  LogicalResult reduced = emitReduced(0, point, carried, Value());
  sliceBegin = sliceEnd = Value();
  if (failed(reduced))
    return failure();
  scf::YieldOp::create(b, carried);
  return Carried(branch.getResults());
}

/// The sums of this slice and of that `half` slices behind, where `left` slices are left.
FailureOr<NestEmitter::Carried> NestEmitter::addPartner(const Sharing &s, ValueRange sums, Value half, Value left) {
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  };
  auto all = getReductions(nest);
  Value partner = b.createOrFold<arith::AddIOp>(s.slice, half);
  OpBuilder::InsertionGuard guard(b);
  Value gives = b.createOrFold<arith::AndIOp>(compare(arith::CmpIPredicate::uge, s.slice, half),
                                              compare(arith::CmpIPredicate::ult, s.slice, left));
  auto store = scf::IfOp::create(b, gives, /*withElseRegion=*/false);
  b.setInsertionPointToStart(store.thenBlock());
  for (auto [i, value] : llvm::enumerate(sums))
    b.store(value, cellOf(s, int64_t(i), e.threads.id), value.getType());
  b.setInsertionPointAfter(store);
  b.barrier();
  auto add = scf::IfOp::create(b, s.types, compare(arith::CmpIPredicate::ult, partner, left), /*withElseRegion=*/true);
  b.setInsertionPointToStart(add.elseBlock());
  scf::YieldOp::create(b, sums);
  b.setInsertionPointToStart(add.thenBlock());
  Value thread = b.createOrFold<arith::AddIOp>(e.threads.id, b.createOrFold<arith::MulIOp>(half, s.tiles));
  Carried added;
  At nowhere = {b.number(0), b.number(0)}; // combiners read nothing of a row
  for (auto [i, value] : llvm::enumerate(sums)) {
    auto [member, result] = all[i % all.size()];
    ScalarBody body(e, *member, nowhere);
    Value partial = b.load(cellOf(s, int64_t(i), thread), value.getType());
    added.push_back(body.combine(member->combiners[result], value, partial));
  }
  scf::YieldOp::create(b, added);
  return Carried(add.getResults());
}

/// The upper half of the slices gives its sums to the lower one until one slice is left. A round
/// reads what no later one writes.
FailureOr<NestEmitter::Carried> NestEmitter::joinSlices(const Sharing &s, const Carried &sums) {
  constexpr int64_t bits = 32; // of a thread's number
  Value one = b.number32(1);
  Value rounds = arith::SubIOp::create(
      b, b.number32(bits),
      math::CountLeadingZerosOp::create(b, b.createOrFold<arith::SubIOp>(s.slices, one)));
  SmallVector<Value> inits = {s.slices};
  llvm::append_range(inits, sums);
  scf::ForOp loop = b.loop(b.number32(0), rounds, one, inits, /*unroll=*/1);
  Value left = loop.getRegionIterArg(0);
  Value half = b.createOrFold<arith::ShRUIOp>(b.createOrFold<arith::AddIOp>(left, one), one);
  FailureOr<Carried> added = addPartner(s, loop.getRegionIterArgs().drop_front(), half, left);
  if (failed(added))
    return failure();
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = {half};
  llvm::append_range(next, *added);
  scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(loop);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front());
}

/// Thread s * T + i sums slice s of tile i, where T is the number of tiles, at most that of
/// threads; the first slice's thread adds the others' sums, which come through shared memory.
LogicalResult NestEmitter::emitSliced(Value total) {
  OpBuilder::InsertionGuard guard(b);
  Sharing sharing = shareTiles(total);
  FailureOr<Carried> own = sumSlice(sharing);
  if (failed(own))
    return failure();
  FailureOr<Carried> joined = joinSlices(sharing, *own);
  if (failed(joined))
    return failure();
  auto last = scf::IfOp::create(b, b.createOrFold<arith::AndIOp>(sharing.works, sharing.isFirst),
                                /*withElseRegion=*/false);
  b.setInsertionPointToStart(last.thenBlock());
  Point point = startAt(sharing.flat);
  return storeReductions(point, *joined);
}

//===----------------------------------------------------------------------===//
// A point for a warp or for all threads
//===----------------------------------------------------------------------===//

Value NestEmitter::acrossThreads(Member &member, unsigned result, Value value, At at, unsigned slot) {
  ScalarBody body(e, member, at);
  auto combine = [&](Value x, Value y) { return body.combine(member.combiners[result], x, y); };
  for (int64_t mask = warpLanes / 2; mask >= 1; mask /= 2)
    value = combine(value, b.shuffle(value, mask));
  if (group == warpLanes)
    return value;
  // One partial result a warp goes through shared memory; all threads combine them.
  int64_t warps = e.threads.count / warpLanes;
  Type type = value.getType();
  Value i32Zero = b.number32(0);
  Value warp = arith::ShRUIOp::create(b, e.threads.id, b.number32(5));
  Value lane = arith::AndIOp::create(b, e.threads.id, b.number32(warpLanes - 1));
  Value base = b.at(e.threads.scratch, b.number(int64_t(slot) * warps), b.getI64Type());
  {
    OpBuilder::InsertionGuard guard(b);
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, i32Zero);
    auto branch = scf::IfOp::create(b, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    b.store(value, b.at(base, b.extend(warp), b.getI64Type()), type);
  }
  b.barrier();
  Value whole;
  for (int64_t w = 0; w < warps; ++w) {
    Value partial = b.load(b.at(base, b.number(w), b.getI64Type()), type);
    whole = whole ? combine(whole, partial) : partial;
  }
  return whole;
}

LogicalResult NestEmitter::emitShared() {
  auto [total, fixed] = countTiles();

  bool whole = group != warpLanes;
  Value first = b.number32(0), laneInGroup = e.threads.id;
  if (!whole) {
    first = arith::ShRUIOp::create(b, e.threads.id, b.number32(5));
    laneInGroup = arith::AndIOp::create(b, e.threads.id, b.number32(warpLanes - 1));
  }
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = b.loop(first, total, b.number32(whole ? 1 : e.threads.count / warpLanes), {}, copiesOfTiles());
  Point point = startAt(created.getInductionVar());

  Carried carried = neutral();
  if (failed(emitReduced(0, point, carried, laneInGroup)))
    return failure();
  auto all = getReductions(nest);
  unsigned slot = 0;
  for (int64_t part = 0; part < tile; ++part)
    for (auto [r, reduction] : llvm::enumerate(all)) {
      auto [member, result] = reduction;
      Value &value = carried[part * width * all.size() + r];
      ScalarBody body(e, *member, point.parts[part].at);
      for (int64_t l = 1; l < width; ++l)
        value = body.combine(member->combiners[result], value, carried[(part * width + l) * all.size() + r]);
      Value together = acrossThreads(*member, result, value, point.parts[part].at, slot++);
      Value init = b.toFloat32(lane(point, findAccess(accesses, member->inits[result]), part, 0));
      value = body.combine(member->combiners[result], init, together);
    }
  if (whole && (!fixed || *fixed > 1))
    b.barrier(); // the scratch memory is free for the next point
  Value leader = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneInGroup, b.number32(0));
  auto branch = scf::IfOp::create(b, leader, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard inner(b);
  b.setInsertionPointToStart(branch.thenBlock());
  return storeReductions(point, carried);
}
