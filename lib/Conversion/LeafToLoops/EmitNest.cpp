//===- EmitNest.cpp - Elementwise nests and reductions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop becomes vectors (LaneTiles.cpp). Where it is reduced, the partial
// results are vectors that are folded after the loops; else reductions
// run inside of it. The static remainder is one masked vector.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "ft/Analysis/LeafGraph/NestAccesses.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

namespace {

class LaneNestEmitter {
public:
  LaneNestEmitter(Emitter &emitter, const Nest &original, const LaneTile &lanes)
      : e(emitter), b(emitter.b), nest(original), vectorLoop(int(lanes.loop)), width(lanes.vector), interleave(unsigned(lanes.beside)) {}
  void emitLanes();

private:
  Emitter &e;
  ImplicitLocOpBuilder &b;
  Nest nest;

  struct AccessInfo : NestAccess {
    int64_t vectorStride = 0;
    bool variesInVector = false;
  };
  SmallVector<AccessInfo> accesses;
  int vectorLoop;
  int64_t width;
  unsigned interleave;
  SmallVector<int> outerLoops, innerLoops; // without the vector loop; inner: reduced
  bool reduces = false;

  /// Where the nest is: offsets per access, and places along its borders, loop indices, values loaded so far
  /// by (access, copy).
  struct Point {
    SmallVector<Value> offsets, loops;
    SmallVector<SmallVector<Value>> borders;
    DenseMap<std::pair<int, unsigned>, Value> loaded;
  };

  void findCaptured();

  void advanceOffsets(Point &point, int loop, Value by) const;
  void preload(Point &point, ArrayRef<int> remaining, bool vectorRemains, LaneShape shape,
               unsigned copies);
  Value lanesAt(Point &point, int access, LaneShape shape, unsigned copy);
  void emitOuter(unsigned depth, Point point);
  void emitVectorLoop(Point point);
  void emitVectors(Point point, LaneShape shape, unsigned copies);
  void emitLaneReduction(Point point);
  SmallVector<Value> emitInner(unsigned depth, Point point, ValueRange carried,
                               llvm::function_ref<SmallVector<Value>(Point &, ValueRange)> body);
  SmallVector<Value> evaluateLanes(Point &point, LaneShape shape, unsigned copy, ValueRange carried);
  Value initial(Point &point, const NestMember &member, unsigned result, LaneShape shape,
                unsigned copy);
  void storeReduced(Point &point, LaneShape shape, unsigned copy, ValueRange values);
  Value foldLanes(const NestMember &member, unsigned result, Value value);
};

} // namespace

/// What bodies capture is known in all loops.
void LaneNestEmitter::findCaptured() {
  for (const NestMember &member : nest.members)
    for (const auto &[value, view] : member.captured) {
      if (!view.isSplat())
        (void)e.rowOffset(view.buffer);
      for (const DynamicTerm &term : view.terms)
        (void)e.rowOffset(term.buffer);
    }
}

void LaneNestEmitter::advanceOffsets(Point &point, int loop, Value by) const {
  for (auto [access, offset] : llvm::zip_equal(accesses, point.offsets))
    if (!access.view.isSplat() && access.view.strides[loop] != 0)
      offset = e.addIndex(offset, e.mulIndex(by, access.view.strides[loop]));
  for (auto [access, places] : llvm::zip_equal(accesses, point.borders))
    e.moveAlongBorders(access.view, loop, by, places);
  point.loops[loop] = point.loops[loop] ? e.addIndex(point.loops[loop], by) : by;
}

/// Loads what the loops that remain do not change.
void LaneNestEmitter::preload(Point &point, ArrayRef<int> remaining, bool vectorRemains,
                          LaneShape shape, unsigned copies) {
  for (const NestMember &member : nest.members)
    for (const ElementView &view : member.reads) {
      int number = findAccess(accesses, view);
      const AccessInfo &access = accesses[number];
      if (access.written || view.isSplat() || (vectorRemains && access.variesInVector) ||
          llvm::any_of(remaining, [&](int loop) { return view.movesWith(loop); }))
        continue;
      for (unsigned copy = 0; copy < copies; ++copy)
        lanesAt(point, number, shape, copy);
    }
}

Value LaneNestEmitter::lanesAt(Point &point, int number, LaneShape shape, unsigned copy) {
  const AccessInfo &access = accesses[number];
  if (!access.variesInVector && !access.written)
    copy = 0;
  Value &value = point.loaded[{number, copy}];
  if (!value) {
    int64_t first = int64_t(copy) * shape.width;
    Value offset = e.addIndex(point.offsets[number], first * access.vectorStride);
    Value inside = e.isInside(access.view, point.borders[number], vectorLoop, first, shape);
    value = e.loadLanesInside(access.view, offset, access.vectorStride, shape, inside);
  }
  return value;
}

/// All members at one point; returns what the reductions carry on.
SmallVector<Value> LaneNestEmitter::evaluateLanes(Point &point, LaneShape shape, unsigned copy,
                                         ValueRange carried) {
  SmallVector<Value> next;
  auto loopIndex = [&](int loop) -> Value {
    Value at = point.loops[loop];
    if (loop != vectorLoop || shape.width == 1)
      return at;
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < shape.width; ++lane)
      lanes.push_back(int64_t(copy) * shape.width + lane);
    Value steps = arith::ConstantOp::create(b, b.getIndexVectorAttr(lanes));
    return arith::AddIOp::create(b, e.broadcast(at, shape.width), steps);
  };
  for (const NestMember &member : nest.members) {
    b.setLoc(member.op->getLoc());
    LaneBody body(e, member, shape);
    body.loopIndex = loopIndex;
    SmallVector<Value> results;
    if (member.copy) {
      results.push_back(lanesAt(point, findAccess(accesses, member.reads.front()), shape, copy));
    } else {
      for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
        body.map(argument, lanesAt(point, findAccess(accesses, view), shape, copy));
      for (Value accumulator : member.accumulators) {
        body.map(accumulator, carried.front());
        carried = carried.drop_front();
      }
      (void)body.evaluate();
      for (unsigned i = 0; i < member.yields.size(); ++i)
        results.push_back(body.result(i));
    }
    if (member.isReduction()) {
      for (auto [result, accumulator] : llvm::zip_equal(results, member.accumulators))
        next.push_back(e.broadcast(e.lanesToFloat32(result), shape.width));
      continue;
    }
    for (auto [result, view] : llvm::zip_equal(results, member.writes)) {
      int number = findAccess(accesses, view);
      const AccessInfo &access = accesses[number];
      const Buffer &buffer = e.graph.buffers[view.buffer];
      // A copy may also extend halves.
      Value value = member.copy && !isHalf(buffer.elementType)
                        ? e.lanesToFloat32(result)
                        : e.toElementType(result, buffer.elementType);
      point.loaded[{number, copy}] = value;
      if (buffer.inMemory)
        e.storeLanes(
            view, e.addIndex(point.offsets[number], int64_t(copy) * shape.width * access.vectorStride),
            access.vectorStride, shape, value);
    }
  }
  return next;
}

Value LaneNestEmitter::initial(Point &point, const NestMember &member, unsigned result, LaneShape shape,
                           unsigned copy) {
  Value value = lanesAt(point, findAccess(accesses, member.inits[result]), shape, copy);
  return e.broadcast(e.lanesToFloat32(value), shape.width);
}

void LaneNestEmitter::storeReduced(Point &point, LaneShape shape, unsigned copy, ValueRange values) {
  for (auto [reduction, value] : llvm::zip_equal(getReductions(nest), values)) {
    const ElementView &view = reduction.first->writes[reduction.second];
    int number = findAccess(accesses, view);
    if (!e.graph.buffers[view.buffer].inMemory)
      continue;
    int64_t stride = accesses[number].vectorStride;
    e.storeLanes(view, e.addIndex(point.offsets[number], int64_t(copy) * shape.width * stride), stride,
                 shape, value);
  }
}

/// Loops over what is reduced, carrying `carried`.
SmallVector<Value>
LaneNestEmitter::emitInner(unsigned depth, Point point, ValueRange carried,
                       llvm::function_ref<SmallVector<Value>(Point &, ValueRange)> body) {
  if (depth == innerLoops.size())
    return body(point, carried);
  int loop = innerLoops[depth];
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.keptLoop(e.index(0), e.index(nest.sizes[loop]), 1, carried);
  advanceOffsets(point, loop, created.getInductionVar());
  SmallVector<Value> next = emitInner(depth + 1, point, created.getRegionIterArgs(), body);
  if (!next.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(created.getResults());
}

/// `copies` vectors beside each other, reductions inside.
void LaneNestEmitter::emitVectors(Point point, LaneShape shape, unsigned copies) {
  SmallVector<Value> carried;
  auto all = getReductions(nest);
  if (reduces) {
    preload(point, innerLoops, false, shape, copies);
    for (unsigned copy = 0; copy < copies; ++copy)
      for (auto [member, result] : all)
        carried.push_back(initial(point, *member, result, shape, copy));
  }
  SmallVector<Value> results = emitInner(0, point, carried, [&](Point &inner, ValueRange values) {
    SmallVector<Value> next;
    for (unsigned copy = 0; copy < copies; ++copy)
      llvm::append_range(next,
                         evaluateLanes(inner, shape, copy, values.slice(copy * all.size(), all.size())));
    return next;
  });
  for (unsigned copy = 0; copy < copies; ++copy)
    storeReduced(point, shape, copy, ArrayRef<Value>(results).slice(copy * all.size(), all.size()));
}

/// One lane value from a vector of partial results.
Value LaneNestEmitter::foldLanes(const NestMember &member, unsigned result, Value value) {
  LaneBody body(e, member, {});
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    LaneBody halves(e, member, {half, half});
    Value low = vector::ExtractStridedSliceOp::create(
        b, value, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        b, value, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    value = halves.combine(member.combiners[result], low, high);
  }
  return vector::ExtractOp::create(b, value, 0);
}

/// The vector loop itself is reduced.
void LaneNestEmitter::emitLaneReduction(Point point) {
  int64_t size = nest.sizes[vectorLoop];
  LaneShape full{width, width};
  auto all = getReductions(nest);
  unsigned copies = std::clamp<int64_t>(size / width, 1, interleave);
  SmallVector<Value> carried;
  for (unsigned copy = 0; copy < copies; ++copy)
    for (auto [member, result] : all) {
      TypedAttr neutral = *arith::getNeutralElement(member->combiners[result]);
      Value value = e.constantOf(neutral.getType(), neutral);
      carried.push_back(e.broadcast(e.lanesToFloat32(value), width));
    }
  SmallVector<int> remaining = innerLoops;
  preload(point, remaining, true, full, 1);

  auto vectorBody = [&](Point &at, ValueRange values) -> SmallVector<Value> {
    SmallVector<Value> now = llvm::to_vector_of<Value>(values);
    int64_t step = width * copies, mainEnd = size / step * step;
    if (mainEnd > 0) {
      OpBuilder::InsertionGuard guard(b);
      Point inner = at;
      scf::ForOp created;
      if (mainEnd > step) {
        created = e.keptLoop(e.index(0), e.index(mainEnd), step, now);
        advanceOffsets(inner, vectorLoop, created.getInductionVar());
        now = llvm::to_vector_of<Value>(created.getRegionIterArgs());
      } else {
        inner.loops[vectorLoop] = e.index(0);
      }
      SmallVector<Value> next;
      for (unsigned copy = 0; copy < copies; ++copy)
        llvm::append_range(
            next,
            evaluateLanes(inner, full, copy, ArrayRef<Value>(now).slice(copy * all.size(), all.size())));
      now = next;
      if (created) {
        if (!next.empty())
          scf::YieldOp::create(b, next);
        now = llvm::to_vector_of<Value>(created.getResults());
      }
    }
    for (int64_t begin = mainEnd; begin < size; begin += width) {
      LaneShape shape{width, std::min(width, size - begin)};
      Point inner = at;
      advanceOffsets(inner, vectorLoop, e.index(begin));
      SmallVector<Value> before(now.begin(), now.begin() + all.size());
      SmallVector<Value> next = evaluateLanes(inner, shape, 0, before);
      for (auto [i, value] : llvm::enumerate(next))
        now[i] = shape.full()
                     ? value
                     : Value(arith::SelectOp::create(b, e.maskOf(shape), value, before[i]));
    }
    return now;
  };
  SmallVector<Value> partial = emitInner(0, point, carried, vectorBody);

  SmallVector<Value> results;
  for (auto [i, reduction] : llvm::enumerate(all)) {
    auto [member, result] = reduction;
    LaneBody wide(e, *member, full), scalar(e, *member, {});
    Value value = partial[i];
    for (unsigned copy = 1; copy < copies; ++copy)
      value = wide.combine(member->combiners[result], value, partial[copy * all.size() + i]);
    value = foldLanes(*member, result, value);
    Value start = initial(point, *member, result, {}, 0);
    results.push_back(scalar.combine(member->combiners[result], start, value));
  }
  storeReduced(point, {}, 0, results);
}

void LaneNestEmitter::emitVectorLoop(Point point) {
  if (vectorLoop < 0) {
    emitVectors(point, {}, 1);
    return;
  }
  if (nest.reduced[vectorLoop]) {
    emitLaneReduction(point);
    return;
  }
  preload(point, innerLoops, true, {width, width}, 1);
  int64_t size = nest.sizes[vectorLoop], begin = 0;
  // Several vectors at once hide the latency of a reduction.
  for (unsigned copies : {interleave, 1u}) {
    int64_t step = width * copies, end = begin + (size - begin) / step * step;
    if (end == begin)
      continue;
    OpBuilder::InsertionGuard guard(b);
    Point inner = point;
    if (end - begin > step) {
      scf::ForOp created = e.keptLoop(e.index(begin), e.index(end), step);
      advanceOffsets(inner, vectorLoop, created.getInductionVar());
    } else {
      advanceOffsets(inner, vectorLoop, e.index(begin));
    }
    emitVectors(inner, {width, width}, copies);
    begin = end;
  }
  if (begin < size) {
    advanceOffsets(point, vectorLoop, e.index(begin));
    int64_t left = size - begin;
    emitVectors(point, {int64_t(llvm::PowerOf2Ceil(left)), left}, 1);
  }
}

void LaneNestEmitter::emitOuter(unsigned depth, Point point) {
  if (depth == outerLoops.size()) {
    emitVectorLoop(point);
    return;
  }
  int loop = outerLoops[depth];
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.keptLoop(e.index(0), e.index(nest.sizes[loop]), 1);
  advanceOffsets(point, loop, created.getInductionVar());
  emitOuter(depth + 1, point);
}

void LaneNestEmitter::emitLanes() {
  for (auto [size, reduced] : llvm::zip_equal(nest.sizes, nest.reduced))
    if (size == 0 && !reduced)
      return;
  collapseLoops(nest);
  collectAccesses(nest, accesses);
  findCaptured();
  for (AccessInfo &access : accesses) {
    access.vectorStride = access.view.isSplat() || vectorLoop < 0 ? 0 : access.view.strides[vectorLoop];
    access.variesInVector = vectorLoop >= 0 && access.view.movesWith(vectorLoop);
  }
  for (const NestMember &member : nest.members)
    reduces |= member.isReduction();
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (loop != vectorLoop)
      (nest.reduced[loop] ? innerLoops : outerLoops).push_back(loop);

  Point point;
  point.loops.resize(nest.sizes.size());
  for (const AccessInfo &access : accesses) {
    bool used = access.view.isSplat() || e.graph.buffers[access.view.buffer].inMemory;
    point.offsets.push_back(used ? e.beginOfView(access.view) : e.index(0));
    point.borders.push_back(e.beginOfBorders(access.view));
  }
  emitOuter(0, point);
}

void Emitter::emitLoopNest(const Nest &nest) {
  emitLoopNest(nest, *options.lanes[nest.number]);
}

void Emitter::emitLoopNest(const Nest &nest, const LaneTile &tile) {
  if (tile.turned >= 0)
    emitTurned(nest, tile);
  else
    LaneNestEmitter(*this, nest, tile).emitLanes();
}
