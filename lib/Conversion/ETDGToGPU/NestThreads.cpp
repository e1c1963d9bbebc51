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
                                                     Value thread, int64_t count,
                                                     ValueRange carried) {
  int64_t unroll = carried.empty() && reduces ? 1 : 0; // around loops of its own
  if (!fixed || *fixed % count != 0) {
    scf::ForOp created = b.loop(thread, total, b.number32(count), carried, unroll);
    return {created, created.getInductionVar()};
  }
  scf::ForOp created =
      b.loop(b.number32(0), b.number32(*fixed / count), b.number32(1), carried, unroll);
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

/// Iterations of the reduced loop that are computed at a time, so that their loads are in flight
/// together.
int64_t NestEmitter::granule() const {
  int64_t size = nest.sizes[reducedLoops.front()];
  for (int64_t g : {8, 4, 2})
    if (size % g == 0 && reducedLoops.size() == 1)
      return g;
  return 1;
}

LogicalResult NestEmitter::emitPrivate() {
  auto [total, fixed] = countTiles();
  return isSliced() ? emitSliced(total) : emitEach(total, fixed);
}

/// Each tile is one thread's.
LogicalResult NestEmitter::emitEach(Value total, std::optional<int64_t> fixed) {
  OpBuilder::InsertionGuard guard(b);
  auto [created, flat] = threadLoop(total, fixed, e.threads.id, e.threads.count);
  Point point = startAt(flat);
  Carried carried;
  auto all = reductions();
  for (int64_t part = 0; part < tile; ++part)
    for (int64_t l = 0; l < width; ++l)
      for (auto [member, result] : all)
        carried.push_back(b.toFloat32(lane(point, accessOf(member->inits[result]), part, l)));
  if (failed(emitReduced(0, point, carried, Value())))
    return failure();
  return storeResults(point, carried);
}

/// Thread s * T + i sums slice s of tile i, where T is the number of tiles, at most that of
/// threads; the first slice's thread adds the others' sums, which come through shared memory.
LogicalResult NestEmitter::emitSliced(Value total) {
  OpBuilder::InsertionGuard guard(b);
  int64_t size = nest.sizes[reducedLoops.front()];
  Value one = b.number32(1), zero = b.number32(0), threads = b.number32(e.threads.count);
  Value tiles = b.createOrFold<arith::MaxUIOp>(b.createOrFold<arith::MinUIOp>(total, threads), one);
  Value slices = b.createOrFold<arith::MinUIOp>(b.createOrFold<arith::DivUIOp>(threads, tiles),
                                                b.number32(mostSlices));
  Value slice = b.createOrFold<arith::DivUIOp>(e.threads.id, tiles);
  Value place = b.createOrFold<arith::RemUIOp>(e.threads.id, tiles);
  auto portion = [&](Value number) { // in granules
    Value scaled = b.createOrFold<arith::MulIOp>(number, b.number32(size / granule()));
    return b.createOrFold<arith::DivUIOp>(scaled, slices);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  };
  Value isFirst = compare(arith::CmpIPredicate::eq, slice, zero);
  Value hasSlice = compare(arith::CmpIPredicate::ult, slice, slices);
  // All threads go round equally often; with several slices once.
  scf::ForOp passes = b.loop(zero, total, tiles, {}, /*unroll=*/1);
  Value flat = b.createOrFold<arith::AddIOp>(passes.getInductionVar(), place);
  Value works =
      b.createOrFold<arith::AndIOp>(hasSlice, compare(arith::CmpIPredicate::ult, flat, total));

  auto all = reductions();
  Carried none = neutral();
  SmallVector<Type> types = llvm::to_vector(ValueRange(none).getTypes());
  int64_t cell = bytesOfSums() / int64_t(types.size());
  Value base = e.threads.partials();
  auto cellOf = [&](int64_t number, Value thread) {
    Value index = b.add(b.extend(thread), number * e.threads.count);
    return b.at(base, b.mul(index, cell), b.getI8Type());
  };

  auto branch = scf::IfOp::create(b, types, works, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, none);
    b.setInsertionPointToStart(branch.thenBlock());
    Point point = startAt(flat);
    Carried carried;
    unsigned slot = 0;
    for (int64_t part = 0; part < tile; ++part)
      for (int64_t l = 0; l < width; ++l)
        for (auto [member, result] : all) {
          Value init = b.toFloat32(lane(point, accessOf(member->inits[result]), part, l));
          carried.push_back(arith::SelectOp::create(b, isFirst, init, none[slot++]));
        }
    sliceBegin = portion(slice);
    sliceEnd = portion(b.createOrFold<arith::AddIOp>(slice, one));
    LogicalResult reduced = emitReduced(0, point, carried, Value());
    sliceBegin = sliceEnd = Value();
    if (failed(reduced))
      return failure();
    scf::YieldOp::create(b, carried);
  }
  // The upper half of the slices gives its sums to the lower one until one slice is left. A round
  // reads what no later one writes.
  Value rounds = arith::SubIOp::create(
      b, b.number32(32),
      math::CountLeadingZerosOp::create(b, b.createOrFold<arith::SubIOp>(slices, one)));
  SmallVector<Value> inits = {slices};
  inits.append(branch.getResults().begin(), branch.getResults().end());
  scf::ForOp loop = b.loop(zero, rounds, one, inits, /*unroll=*/1);
  {
    OpBuilder::InsertionGuard inner(b);
    Value left = loop.getRegionIterArg(0);
    Value half = b.createOrFold<arith::ShRUIOp>(b.createOrFold<arith::AddIOp>(left, one), one);
    Value partner = b.createOrFold<arith::AddIOp>(slice, half);
    ValueRange sums = loop.getRegionIterArgs().drop_front();
    {
      Value gives = b.createOrFold<arith::AndIOp>(compare(arith::CmpIPredicate::uge, slice, half),
                                                  compare(arith::CmpIPredicate::ult, slice, left));
      auto store = scf::IfOp::create(b, gives, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard innermost(b);
      b.setInsertionPointToStart(store.thenBlock());
      for (auto [i, value] : llvm::enumerate(sums))
        b.store(value, cellOf(int64_t(i), e.threads.id), value.getType());
    }
    b.barrier();
    auto add = scf::IfOp::create(b, types, compare(arith::CmpIPredicate::ult, partner, left),
                                 /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard innermost(b);
      b.setInsertionPointToStart(add.elseBlock());
      scf::YieldOp::create(b, sums);
      b.setInsertionPointToStart(add.thenBlock());
      Value thread =
          b.createOrFold<arith::AddIOp>(e.threads.id, b.createOrFold<arith::MulIOp>(half, tiles));
      Carried added;
      At nowhere = {b.number(0), b.number(0)}; // combiners read nothing of a row
      for (auto [i, value] : llvm::enumerate(sums)) {
        auto [member, result] = all[i % all.size()];
        ScalarBody body(e, *member, nowhere);
        Value partial = b.load(cellOf(int64_t(i), thread), value.getType());
        FailureOr<Value> sum = body.combine(member->combiners[result], value, partial);
        if (failed(sum))
          return failure();
        added.push_back(*sum);
      }
      scf::YieldOp::create(b, added);
    }
    SmallVector<Value> next = {half};
    next.append(add.getResults().begin(), add.getResults().end());
    scf::YieldOp::create(b, next);
  }
  b.setInsertionPointAfter(loop);
  Carried carried = llvm::to_vector_of<Value>(loop.getResults().drop_front());
  auto last = scf::IfOp::create(b, b.createOrFold<arith::AndIOp>(works, isFirst),
                                /*withElseRegion=*/false);
  b.setInsertionPointToStart(last.thenBlock());
  Point point = startAt(flat);
  return storeResults(point, carried);
}

//===----------------------------------------------------------------------===//
// A point for a warp or for all threads
//===----------------------------------------------------------------------===//

FailureOr<Value> NestEmitter::acrossThreads(Member &member, unsigned result, Value value, At at,
                                            unsigned slot) {
  ScalarBody body(e, member, at);
  auto combine = [&](Value x, Value y) { return body.combine(member.combiners[result], x, y); };
  for (int64_t mask = 16; mask >= 1; mask /= 2) {
    FailureOr<Value> both = combine(value, b.shuffle(value, mask));
    if (failed(both))
      return failure();
    value = *both;
  }
  if (group == 32)
    return value;
  // One partial result a warp goes through shared memory; all threads combine them.
  int64_t warps = e.threads.count / 32;
  Type type = value.getType();
  Value i32Zero = b.number32(0);
  Value warp = arith::ShRUIOp::create(b, e.threads.id, b.number32(5));
  Value lane = arith::AndIOp::create(b, e.threads.id, b.number32(31));
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
    if (!whole) {
      whole = partial;
      continue;
    }
    FailureOr<Value> both = combine(whole, partial);
    if (failed(both))
      return failure();
    whole = *both;
  }
  return whole;
}

LogicalResult NestEmitter::emitShared() {
  auto [total, fixed] = countTiles();

  bool whole = group != 32;
  Value first = b.number32(0), laneInGroup = e.threads.id;
  if (!whole) {
    first = arith::ShRUIOp::create(b, e.threads.id, b.number32(5));
    laneInGroup = arith::AndIOp::create(b, e.threads.id, b.number32(31));
  }
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = b.loop(first, total, b.number32(whole ? 1 : e.threads.count / 32));
  Point point = startAt(created.getInductionVar());

  Carried carried = neutral();
  if (failed(emitReduced(0, point, carried, laneInGroup)))
    return failure();
  auto all = reductions();
  unsigned slot = 0;
  for (int64_t part = 0; part < tile; ++part)
    for (auto [r, reduction] : llvm::enumerate(all)) {
      auto [member, result] = reduction;
      Value &value = carried[part * width * all.size() + r];
      ScalarBody body(e, *member, point.parts[part].at);
      for (int64_t l = 1; l < width; ++l) {
        FailureOr<Value> both = body.combine(member->combiners[result], value,
                                             carried[(part * width + l) * all.size() + r]);
        if (failed(both))
          return failure();
        value = *both;
      }
      FailureOr<Value> together =
          acrossThreads(*member, result, value, point.parts[part].at, slot++);
      if (failed(together))
        return failure();
      Value init = b.toFloat32(lane(point, accessOf(member->inits[result]), part, 0));
      FailureOr<Value> with = body.combine(member->combiners[result], init, *together);
      if (failed(with))
        return failure();
      value = *with;
    }
  if (whole && (!fixed || *fixed > 1))
    b.barrier(); // the scratch memory is free for the next point
  Value leader = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneInGroup, b.number32(0));
  auto branch = scf::IfOp::create(b, leader, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard inner(b);
  b.setInsertionPointToStart(branch.thenBlock());
  return storeResults(point, carried);
}
