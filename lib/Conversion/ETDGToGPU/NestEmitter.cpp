//===- NestEmitter.cpp - one nest on a thread block -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread computes a small tile of points: some rows, or iterations of a
// loop along which an operand does not change, by some adjacent elements, which
// are loaded and stored as one access. Reductions run inside a thread, or, where
// the reduced loop is the one with unit strides or points are few, across the
// lanes of a warp or all threads.
//
//===----------------------------------------------------------------------===//
#include "LeafEmitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

namespace {

class NestEmitter {
public:
  NestEmitter(LeafEmitter &emitter, const Nest &original)
      : e(emitter), b(emitter.b), nest(original) {}
  LogicalResult run();

private:
  LeafEmitter &e;
  Code &b;
  Nest nest;

  struct AccessInfo {
    View view;
    bool written = false;
    int64_t vectorStride = 0;
    bool aligned = false; // `width` elements along the vector loop are one access
  };
  SmallVector<AccessInfo> accesses;
  static constexpr int none = -1, rowLoop = -2;
  int vectorLoop = none;
  int64_t width = 1;
  int tileLoop = none;
  int64_t tile = 1;
  int64_t group = 1; // threads that share a point
  SmallVector<int> parallelLoops, reducedLoops;
  bool reduces = false;

  /// One thread's place: for each part of the tile the row and offsets.
  struct Part {
    Value row;
    Value valid; // null: always
    SmallVector<Value> offsets;
    SmallVector<Value> loops;
  };
  struct Point {
    SmallVector<Part> parts;
    DenseMap<std::pair<int, int64_t>, SmallVector<Value>> loaded; // by access and part: the lanes
  };
  using Carried = SmallVector<Value>; // by part, lane, reduction

  int accessOf(const View &view) const;
  void findAccesses();
  bool canShareReductions() const;
  int64_t scoreOf(int loop) const;
  void chooseLoops();
  void chooseTile();
  bool variesWithTile(const View &view) const;
  int64_t maxPoints() const;

  Point start(ArrayRef<std::pair<int, Value>> indices, Value row);
  void advance(Part &part, int loop, Value by) const;
  Value lane(Point &point, int access, int64_t part, int64_t lane);
  LogicalResult evaluate(Point &point, Carried &carried);
  LogicalResult emitReduced(unsigned depth, Point point, Carried &carried, Value laneInGroup);
  SmallVector<std::pair<Member *, unsigned>> reductions();
  Carried neutral();
  LogicalResult storeResults(Point &point, const Carried &carried);
  void storeLanes(Point &point, int access, int64_t part, ArrayRef<Value> lanes);
  FailureOr<Value> acrossThreads(Member &member, unsigned result, Value value, Value row,
                                 unsigned slot);
  std::pair<scf::ForOp, Value> threadLoop(Value total, std::optional<int64_t> fixed, Value thread,
                                          int64_t count, ValueRange carried = {});
  LogicalResult emitPrivate();
  LogicalResult emitShared();
  LogicalResult emitTiled();
};

} // namespace

int NestEmitter::accessOf(const View &view) const {
  for (auto [i, access] : llvm::enumerate(accesses))
    if (access.view == view)
      return i;
  return -1;
}

void NestEmitter::findAccesses() {
  auto add = [&](const View &view, bool written) {
    int known = accessOf(view);
    if (known < 0) {
      known = accesses.size();
      accesses.push_back({view});
    }
    accesses[known].written |= written;
  };
  for (const Member &member : nest.members) {
    for (const View &view : member.reads)
      add(view, false);
    for (const View &view : member.inits)
      add(view, false);
    for (const View &view : member.writes)
      add(view, true);
  }
}

bool NestEmitter::canShareReductions() const {
  for (const Member &member : nest.members)
    for (Operation *combiner : member.combiners)
      if (!combiner || !arith::getNeutralElement(combiner))
        return false;
  return true;
}

/// How well lanes go along a loop: by the accesses that become adjacent.
int64_t NestEmitter::scoreOf(int loop) const {
  int64_t score = 0;
  for (const AccessInfo &access : accesses) {
    if (access.view.isSplat() || !e.graph.buffers[access.view.buffer].inMemory)
      continue;
    int64_t stride = access.view.strides[loop];
    if (stride == 1)
      score += 40;
    else if (stride != 0)
      score -= access.written ? 60 : 80;
  }
  return score;
}

int64_t NestEmitter::maxPoints() const {
  int64_t points = nest.batched ? e.maxRows : 1;
  for (int loop : parallelLoops)
    points *= nest.sizes[loop];
  return points;
}

void NestEmitter::chooseLoops() {
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    (nest.reduced[loop] ? reducedLoops : parallelLoops).push_back(loop);
  auto best = [&](ArrayRef<int> loops) {
    int found = none;
    for (int loop : loops)
      if (found == none || scoreOf(loop) > scoreOf(found))
        found = loop;
    return found;
  };
  vectorLoop = best(parallelLoops);
  int reduced = reduces && canShareReductions() ? best(reducedLoops) : none;
  if (reduced != none) {
    int64_t points = maxPoints(), size = nest.sizes[reduced];
    bool few = points * 4 <= e.threads.count && size >= 32;
    bool adjacent = size >= 32 && (vectorLoop == none || scoreOf(reduced) > scoreOf(vectorLoop));
    if (few || adjacent) {
      vectorLoop = reduced;
      group = points * 32 * 2 <= e.threads.count && size > 64 ? e.threads.count : 32;
    }
  }
  if (vectorLoop != none) {
    auto &loops = group > 1 ? reducedLoops : parallelLoops;
    loops.erase(llvm::find(loops, vectorLoop));
    loops.push_back(vectorLoop); // fastest
  }
}

bool NestEmitter::variesWithTile(const View &view) const {
  if (view.isSplat() || tileLoop == none)
    return false;
  if (tileLoop == rowLoop)
    return e.graph.isBatched(view);
  return view.strides[tileLoop] != 0;
}

void NestEmitter::chooseTile() {
  // As many adjacent elements as 16 bytes hold, where that divides the loop.
  int64_t bytes = 1;
  for (AccessInfo &access : accesses) {
    access.vectorStride =
        vectorLoop == none || access.view.isSplat() ? 0 : access.view.strides[vectorLoop];
    if (access.vectorStride == 1)
      bytes = std::max(bytes, bytesOf(e.graph.buffers[access.view.buffer].elementType));
  }
  bool adjacent = llvm::any_of(accesses, [](const AccessInfo &a) { return a.vectorStride == 1; });
  int64_t points = maxPoints();
  if (adjacent) {
    width = std::min<int64_t>(16 / std::min<int64_t>(bytes, 16), 4);
    auto tooWide = [&] {
      int64_t size = nest.sizes[vectorLoop];
      if (size % width != 0)
        return true;
      return group > 1 ? size < width * group : points < width * e.threads.count;
    };
    while (width > 1 && tooWide())
      width /= 2;
  }
  for (AccessInfo &access : accesses) {
    if (access.vectorStride != 1 || width == 1)
      continue;
    const View &view = access.view;
    bool aligned = view.offset % width == 0 &&
                   e.graph.buffers[view.buffer].numElements % width == 0 &&
                   width * bytesOf(e.graph.buffers[view.buffer].elementType) <= 16;
    for (auto [loop, stride] : llvm::enumerate(view.strides))
      aligned &= int(loop) == vectorLoop || stride % width == 0;
    for (const DynamicTerm &term : view.terms)
      aligned &= term.stride % width == 0;
    access.aligned = aligned;
  }

  // Parts of a tile share the operands that do not change along its loop: worth
  // it in reductions.
  if (!reduces)
    return;
  auto saves = [&](int loop) {
    tileLoop = loop;
    bool fixed = false;
    for (const Member &member : nest.members)
      for (const View &view : member.reads)
        fixed |= !view.isSplat() && !variesWithTile(view) &&
                 llvm::any_of(nest.reduced, [](bool r) { return r; });
    tileLoop = none;
    return fixed;
  };
  SmallVector<int> candidates;
  if (nest.batched && e.maxRows > 1)
    candidates.push_back(rowLoop);
  for (int loop : parallelLoops)
    if (loop != vectorLoop)
      candidates.push_back(loop);
  for (int loop : candidates) {
    if (!saves(loop))
      continue;
    int64_t size = loop == rowLoop ? e.maxRows : nest.sizes[loop];
    for (int64_t t : {8, 4, 2})
      if (size >= t && (loop != rowLoop || t == 4) && (loop == rowLoop || size % t == 0) &&
          points >= width * t * (group > 1 ? e.threads.count / group : e.threads.count)) {
        tileLoop = loop;
        tile = t;
        return;
      }
  }
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void NestEmitter::advance(Part &part, int loop, Value by) const {
  for (auto [access, offset] : llvm::zip_equal(accesses, part.offsets))
    if (!access.view.isSplat() && access.view.strides[loop] != 0)
      offset = b.add(offset, b.mul(by, access.view.strides[loop]));
  part.loops[loop] = part.loops[loop] ? b.add(part.loops[loop], by) : by;
}

/// The tile that begins at these loop indices and this row.
NestEmitter::Point NestEmitter::start(ArrayRef<std::pair<int, Value>> indices, Value row) {
  Point point;
  Value last = b.add(e.rows, -1);
  for (int64_t p = 0; p < tile; ++p) {
    Part part;
    part.row = row;
    if (tileLoop == rowLoop) {
      part.row = b.add(row, p);
      if (p > 0) { // the last tile may be short: its parts repeat the last row and store nothing
        part.valid = b.less(part.row, e.rows);
        part.row = b.smaller(part.row, last);
      }
    }
    part.loops.resize(nest.sizes.size());
    for (const AccessInfo &access : accesses) {
      bool used = !access.view.isSplat() && e.graph.buffers[access.view.buffer].inMemory;
      part.offsets.push_back(used ? e.beginOf(access.view, part.row) : b.number(0));
    }
    for (auto [loop, index] : indices)
      advance(part, loop, loop == tileLoop ? b.add(index, p) : index);
    point.parts.push_back(std::move(part));
  }
  return point;
}

Value NestEmitter::lane(Point &point, int number, int64_t part, int64_t lane) {
  const AccessInfo &access = accesses[number];
  if (!access.written && !variesWithTile(access.view))
    part = 0;
  SmallVector<Value> &lanes = point.loaded[{number, part}];
  if (lanes.empty()) {
    int64_t count = access.vectorStride == 0 ? 1 : width;
    lanes = e.load(access.view, point.parts[part].offsets[number], point.parts[part].row,
                   access.vectorStride, count, access.aligned);
  }
  return lanes.size() == 1 ? lanes.front() : lanes[lane];
}

SmallVector<std::pair<Member *, unsigned>> NestEmitter::reductions() {
  SmallVector<std::pair<Member *, unsigned>> result;
  for (Member &member : nest.members)
    for (unsigned i = 0; i < member.accumulators.size(); ++i)
      result.push_back({&member, i});
  return result;
}

void NestEmitter::storeLanes(Point &point, int number, int64_t part, ArrayRef<Value> lanes) {
  const AccessInfo &access = accesses[number];
  const Buffer &buffer = e.graph.buffers[access.view.buffer];
  if (!buffer.inMemory)
    return;
  const Memory &memory = e.memories[access.view.buffer];
  const Part &at = point.parts[part];
  std::optional<OpBuilder::InsertionGuard> guard;
  if (at.valid) {
    guard.emplace(b);
    auto branch = scf::IfOp::create(b, at.valid, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  Value start = at.offsets[number];
  if (memory.rowStride)
    start = b.add(start, b.mul(at.row, memory.rowStride));
  Type element = buffer.elementType;
  if (lanes.size() == 1 || access.vectorStride == 0)
    b.store(lanes.front(), b.at(memory.pointer, start, element), element);
  else if (access.vectorStride == 1)
    b.storeAdjacent(lanes, b.at(memory.pointer, start, element), element,
                    access.aligned && memory.aligned);
  else
    for (auto [i, value] : llvm::enumerate(lanes))
      b.store(value, b.at(memory.pointer, b.add(start, int64_t(i) * access.vectorStride), element),
              element);
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// All members at one tile; `carried` goes one step further.
LogicalResult NestEmitter::evaluate(Point &point, Carried &carried) {
  unsigned numReductions = reductions().size(), before = 0;
  for (const Member &member : nest.members) {
    b.setLoc(member.op->getLoc());
    unsigned own = member.accumulators.size();
    for (int64_t part = 0; part < tile; ++part) {
      SmallVector<SmallVector<Value>> results(member.writes.size());
      for (int64_t l = 0; l < width; ++l) {
        auto slot = [&](unsigned i) -> Value & {
          return carried[(part * width + l) * numReductions + before + i];
        };
        ScalarBody body(e, member, point.parts[part].row);
        auto loopIndex = [&](int loop) {
          Value at = point.parts[part].loops[loop];
          return loop == vectorLoop ? b.add(at, l) : at;
        };
        body.loopIndex = loopIndex;
        if (member.copy) {
          Value value = lane(point, accessOf(member.reads.front()), part, l);
          const Buffer &to = e.graph.buffers[member.writes.front().buffer];
          if (isHalf(value.getType()) && !isHalf(to.elementType)) // a copy may also extend halves
            value = b.toFloat32(value);
          results[0].push_back(b.toElement(value, to.elementType));
          continue;
        }
        for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
          body.map(argument, lane(point, accessOf(view), part, l));
        for (auto [i, accumulator] : llvm::enumerate(member.accumulators))
          body.map(accumulator, slot(i));
        if (failed(body.run()))
          return failure();
        for (unsigned i = 0; i < member.yields.size(); ++i) {
          if (own > 0)
            slot(i) = b.toFloat32(body.result(i));
          else
            results[i].push_back(
                b.toElement(body.result(i), e.graph.buffers[member.writes[i].buffer].elementType));
        }
      }
      if (own > 0)
        continue;
      for (auto [values, view] : llvm::zip_equal(results, member.writes)) {
        int number = accessOf(view);
        point.loaded[{number, part}] = values;
        storeLanes(point, number, part, values);
      }
    }
    before += own;
  }
  return success();
}

NestEmitter::Carried NestEmitter::neutral() {
  Carried carried;
  for (int64_t i = 0; i < tile * width; ++i)
    for (auto [member, result] : reductions()) {
      TypedAttr value = *arith::getNeutralElement(member->combiners[result]);
      if (value.getType().isIndex())
        value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
      carried.push_back(b.toFloat32(arith::ConstantOp::create(b, value)));
    }
  return carried;
}

/// Loops over what is reduced. The last one is shared by the lanes of a group.
LogicalResult NestEmitter::emitReduced(unsigned depth, Point point, Carried &carried,
                                       Value laneInGroup) {
  if (depth == reducedLoops.size())
    return evaluate(point, carried);
  int loop = reducedLoops[depth];
  OpBuilder::InsertionGuard guard(b);
  bool sharedLoop = laneInGroup && loop == vectorLoop;
  int64_t size = sharedLoop ? nest.sizes[loop] / width : nest.sizes[loop];
  Value index;
  scf::ForOp created;
  if (sharedLoop) {
    std::tie(created, index) = threadLoop(b.number32(size), size, laneInGroup, group, carried);
  } else {
    // A large tile has enough independent work; more copies only fill the instruction cache.
    int64_t unroll = tile * width >= 16 ? 4 : 8;
    created =
        b.loop(b.number32(0), b.number32(size), b.number32(1), carried, size <= 4 ? 0 : unroll);
    index = created.getInductionVar();
  }
  index = b.extend(index);
  for (Part &part : point.parts)
    advance(part, loop, sharedLoop ? b.mul(index, width) : index);
  Carried inner = llvm::to_vector_of<Value>(created.getRegionIterArgs());
  if (failed(emitReduced(depth + 1, std::move(point), inner, laneInGroup)))
    return failure();
  if (!inner.empty())
    scf::YieldOp::create(b, inner);
  carried = llvm::to_vector_of<Value>(created.getResults());
  return success();
}

LogicalResult NestEmitter::storeResults(Point &point, const Carried &carried) {
  auto all = reductions();
  for (auto [r, reduction] : llvm::enumerate(all)) {
    const View &view = reduction.first->writes[reduction.second];
    int number = accessOf(view);
    for (int64_t part = 0; part < tile; ++part) {
      SmallVector<Value> lanes;
      for (int64_t l = 0; l < (group > 1 ? 1 : width); ++l)
        lanes.push_back(b.toElement(carried[(part * width + l) * all.size() + r],
                                    e.graph.buffers[view.buffer].elementType));
      storeLanes(point, number, part, lanes);
    }
  }
  return success();
}

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

/// Index `flat` over counts, the first of which may be unknown: digits, first the slowest.
static SmallVector<Value> digitsOf(Code &b, Value flat, ArrayRef<int64_t> counts) {
  SmallVector<Value> digits(counts.size());
  for (int64_t i = int64_t(counts.size()) - 1; i >= 0; --i) {
    if (i == 0) {
      digits[i] = flat;
    } else {
      Value count = b.number32(counts[i]);
      digits[i] = b.createOrFold<arith::RemUIOp>(flat, count);
      flat = b.createOrFold<arith::DivUIOp>(flat, count);
    }
  }
  return digits;
}

LogicalResult NestEmitter::emitPrivate() {
  // Rows are slowest, then loops, the vector loop fastest.
  SmallVector<int64_t> counts;
  int64_t fixed = 1;
  for (int loop : parallelLoops) {
    counts.push_back(nest.sizes[loop] / (loop == tileLoop ? tile : loop == vectorLoop ? width : 1));
    fixed *= counts.back();
  }
  if (nest.batched)
    counts.insert(counts.begin(), -1);
  Value total = b.number(fixed);
  if (nest.batched)
    total = b.mul(tileLoop == rowLoop ? b.ceilDiv(e.rows, b.number(tile)) : e.rows, fixed);
  total = b.createOrFold<arith::TruncIOp>(b.getI32Type(), total);

  OpBuilder::InsertionGuard guard(b);
  auto [created, flat] = threadLoop(total, nest.batched ? std::nullopt : std::optional(fixed),
                                    e.threads.id, e.threads.count);
  SmallVector<Value> digits = digitsOf(b, flat, counts);
  Value row = b.number(0);
  ArrayRef<Value> rest = digits;
  if (nest.batched) {
    row = b.mul(b.extend(rest.front()), tileLoop == rowLoop ? tile : 1);
    rest = rest.drop_front();
  }
  SmallVector<std::pair<int, Value>> indices;
  for (auto [loop, digit] : llvm::zip_equal(parallelLoops, rest))
    indices.push_back({loop, b.mul(b.extend(digit), loop == tileLoop     ? tile
                                                    : loop == vectorLoop ? width
                                                                         : 1)});
  Point point = start(indices, row);

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

//===----------------------------------------------------------------------===//
// A point for a warp or for all threads
//===----------------------------------------------------------------------===//

FailureOr<Value> NestEmitter::acrossThreads(Member &member, unsigned result, Value value, Value row,
                                            unsigned slot) {
  ScalarBody body(e, member, row);
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
  SmallVector<int64_t> counts;
  int64_t fixed = 1;
  for (int loop : parallelLoops) {
    counts.push_back(nest.sizes[loop] / (loop == tileLoop ? tile : 1));
    fixed *= counts.back();
  }
  if (nest.batched)
    counts.insert(counts.begin(), -1);
  Value total = b.number(fixed);
  if (nest.batched)
    total = b.mul(tileLoop == rowLoop ? b.ceilDiv(e.rows, b.number(tile)) : e.rows, fixed);
  total = b.createOrFold<arith::TruncIOp>(b.getI32Type(), total);

  bool whole = group != 32;
  Value first = b.number32(0), laneInGroup = e.threads.id;
  if (!whole) {
    first = arith::ShRUIOp::create(b, e.threads.id, b.number32(5));
    laneInGroup = arith::AndIOp::create(b, e.threads.id, b.number32(31));
  }
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = b.loop(first, total, b.number32(whole ? 1 : e.threads.count / 32));
  SmallVector<Value> digits = digitsOf(b, created.getInductionVar(), counts);
  Value row = b.number(0);
  ArrayRef<Value> rest = digits;
  if (nest.batched) {
    row = b.mul(b.extend(rest.front()), tileLoop == rowLoop ? tile : 1);
    rest = rest.drop_front();
  }
  SmallVector<std::pair<int, Value>> indices;
  for (auto [loop, digit] : llvm::zip_equal(parallelLoops, rest))
    indices.push_back({loop, b.mul(b.extend(digit), loop == tileLoop ? tile : 1)});
  Point point = start(indices, row);

  Carried carried = neutral();
  if (failed(emitReduced(0, point, carried, laneInGroup)))
    return failure();
  auto all = reductions();
  unsigned slot = 0;
  for (int64_t part = 0; part < tile; ++part)
    for (auto [r, reduction] : llvm::enumerate(all)) {
      auto [member, result] = reduction;
      Value &value = carried[part * width * all.size() + r];
      ScalarBody body(e, *member, point.parts[part].row);
      for (int64_t l = 1; l < width; ++l) {
        FailureOr<Value> both = body.combine(member->combiners[result], value,
                                             carried[(part * width + l) * all.size() + r]);
        if (failed(both))
          return failure();
        value = *both;
      }
      FailureOr<Value> together =
          acrossThreads(*member, result, value, point.parts[part].row, slot++);
      if (failed(together))
        return failure();
      Value init = b.toFloat32(lane(point, accessOf(member->inits[result]), part, 0));
      FailureOr<Value> with = body.combine(member->combiners[result], init, *together);
      if (failed(with))
        return failure();
      value = *with;
    }
  if (whole && (nest.batched || fixed > 1))
    b.barrier(); // the scratch memory is free for the next point
  Value leader = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneInGroup, b.number32(0));
  auto branch = scf::IfOp::create(b, leader, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard inner(b);
  b.setInsertionPointToStart(branch.thenBlock());
  return storeResults(point, carried);
}

LogicalResult NestEmitter::run() {
  for (auto [size, reduced] : llvm::zip_equal(nest.sizes, nest.reduced))
    if (size == 0 && !reduced)
      return success();
  collapseLoops(nest);
  findAccesses();
  for (const Member &member : nest.members)
    reduces |= member.isReduction();
  nest.batched &= e.maxRows > 1;
  chooseLoops();
  chooseTile();
  if (group > 1 && group != 32 &&
      reductions().size() * tile > 8) // what the scratch memory has room for
    group = 32;
  if (tileLoop != rowLoop)
    return emitTiled();
  // How many rows there are the host decides: fewer than a tile are computed one by one.
  Value enough = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, e.rows, b.number(tile));
  auto branch = scf::IfOp::create(b, enough, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitTiled()))
    return failure();
  b.setInsertionPointToStart(branch.elseBlock());
  tileLoop = none;
  tile = 1;
  return emitTiled();
}

LogicalResult NestEmitter::emitTiled() {
  e.usesTiles |= tile > 1;
  return group > 1 ? emitShared() : emitPrivate();
}

LogicalResult mlir::ft::togpu::emitNest(LeafEmitter &emitter, const Nest &nest) {
  return NestEmitter(emitter, nest).run();
}
