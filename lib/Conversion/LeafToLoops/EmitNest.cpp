//===- EmitNest.cpp - Elementwise nests and reductions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop with the most unit strides becomes vectors. Where it is reduced, the
// partial results are vectors that are folded after the loops; else reductions
// run inside of it. The static remainder is one masked vector.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft::leaf;

/// Two loops that every access walks as if they were one become one.
void mlir::ft::leaf::collapseLoops(Nest &nest, int *kept) {
  SmallVector<bool> pinned(nest.sizes.size());
  if (kept)
    pinned[*kept] = true;
  for (const Member &member : nest.members)
    if (member.body)
      for (auto index : member.body->getOps<linalg::IndexOp>())
        if (int loop = member.loops[index.getDim()]; loop >= 0)
          pinned[loop] = true;
  auto forViews = [&](auto callback) {
    for (Member &member : nest.members)
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (View &view : *views)
          callback(view);
  };
  auto erase = [](auto &list, unsigned i) { list.erase(list.begin() + i); };
  for (unsigned outer = 0; outer < nest.sizes.size();) {
    int with = -1;
    for (unsigned inner = 0; inner < nest.sizes.size() && with < 0; ++inner) {
      bool merges = inner != outer && !pinned[inner] && !pinned[outer] &&
                    nest.reduced[inner] == nest.reduced[outer];
      forViews([&](View &view) {
        merges &= view.isSplat() || view.strides[outer] == view.strides[inner] * nest.sizes[inner];
      });
      if (merges)
        with = inner;
    }
    if (with < 0) {
      ++outer;
      continue;
    }
    nest.sizes[with] *= nest.sizes[outer];
    erase(nest.sizes, outer);
    erase(nest.reduced, outer);
    erase(pinned, outer);
    if (kept && *kept > int(outer))
      --*kept;
    forViews([&](View &view) { erase(view.strides, outer); });
    for (Member &member : nest.members)
      for (int &loop : member.loops)
        loop = loop == int(outer) ? -1 : loop > int(outer) ? loop - 1 : loop;
    outer = 0;
  }
}

namespace {

class NestEmitter {
public:
  NestEmitter(Emitter &emitter, const Nest &original) : e(emitter), b(emitter.b), nest(original) {}
  void run();

private:
  Emitter &e;
  ImplicitLocOpBuilder &b;
  Nest nest;

  struct AccessInfo {
    View view;
    bool written = false; // by a member of the nest
    int64_t vectorStride = 0;
  };
  SmallVector<AccessInfo> accesses;
  int vectorLoop = -1;
  int64_t width = 1;
  unsigned interleave = 1;
  SmallVector<int> outerLoops, innerLoops; // without the vector loop; inner: reduced
  bool reduces = false;

  /// Where the nest is: offsets per access, loop indices, values loaded so far
  /// by (access, copy).
  struct Point {
    SmallVector<Value> offsets, loops;
    DenseMap<std::pair<int, unsigned>, Value> loaded;
  };

  int accessOf(const View &view) const;
  void findAccesses();
  void chooseVectorLoop();
  int64_t scoreOf(int loop) const;
  bool canReduceInLanes() const;

  void advance(Point &point, int loop, Value by) const;
  void preload(Point &point, ArrayRef<int> remaining, bool vectorRemains, LaneShape shape,
               unsigned copies);
  Value load(Point &point, int access, LaneShape shape, unsigned copy);
  void emitOuter(unsigned depth, Point point);
  void emitVectorLoop(Point point);
  void emitBlock(Point point, LaneShape shape, unsigned copies);
  void emitLaneReduction(Point point);
  SmallVector<Value> emitInner(unsigned depth, Point point, ValueRange carried,
                               llvm::function_ref<SmallVector<Value>(Point &, ValueRange)> body);
  SmallVector<Value> evaluate(Point &point, LaneShape shape, unsigned copy, ValueRange carried);
  SmallVector<std::pair<Member *, unsigned>> reductions();
  Value initial(Point &point, const Member &member, unsigned result, LaneShape shape,
                unsigned copy);
  void storeResults(Point &point, LaneShape shape, unsigned copy, ValueRange values);
  Value foldLanes(const Member &member, unsigned result, Value value);
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
    for (const auto &[value, view] : member.captured) { // known in all loops
      if (!view.isSplat())
        (void)e.rowOffset(view.buffer);
      for (const DynamicTerm &term : view.terms)
        (void)e.rowOffset(term.buffer);
    }
  }
}

bool NestEmitter::canReduceInLanes() const {
  for (const Member &member : nest.members)
    for (Operation *combiner : member.combiners)
      if (!combiner || !arith::getNeutralElement(combiner))
        return false;
  return true;
}

/// What an access gains as one of adjacent elements, and loses as one of each element alone: the place of a vector's lane
/// costs a shuffle, a scattered store a store each. Of loops that are equally good the longer one is taken, up to `longLoop`.
static constexpr int64_t adjacentGain = 40, stridedReadLoss = 80, stridedWriteLoss = 160, longLoop = 16;
/// Lanes whose bits are packed at a time.
static constexpr int64_t mostMaskLanes = 16;

int64_t NestEmitter::scoreOf(int loop) const {
  if (nest.sizes[loop] < 2 || (nest.reduced[loop] && !canReduceInLanes()))
    return INT64_MIN;
  int64_t score = 0;
  for (const AccessInfo &access : accesses) {
    if (access.view.isSplat())
      continue;
    int64_t stride = access.view.strides[loop];
    if (stride == 1)
      score += adjacentGain;
    else if (stride != 0)
      score -= access.written ? stridedWriteLoss : stridedReadLoss;
  }
  // Short loops fill vectors badly; reductions in lanes need a fold at the end.
  score += std::min<int64_t>(nest.sizes[loop], longLoop) - (nest.reduced[loop] ? 8 : 0);
  return score;
}

void NestEmitter::chooseVectorLoop() {
  int64_t best = INT64_MIN;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (int64_t score = scoreOf(loop); score > best) {
      best = score;
      vectorLoop = loop;
    }
  int64_t bytes = 1;
  bool bits = false;
  auto note = [&](Type type) {
    type = getElementTypeOrSelf(type);
    if (isHalf(type))
      bytes = std::max<int64_t>(bytes, 4);
    else if (type.isIndex())
      bytes = std::max<int64_t>(bytes, 8);
    else
      bytes = std::max<int64_t>(bytes, llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  };
  for (const AccessInfo &access : accesses)
    if (!access.view.isSplat()) {
      const Buffer &buffer = e.graph.buffers[access.view.buffer];
      note(buffer.elementType);
      bits |= buffer.elementType.isInteger(1) && buffer.kind != Buffer::Kind::Scratch;
      // Elements that are met one by one make long vectors worthless.
      bits |= vectorLoop >= 0 && access.view.strides[vectorLoop] > 1;
    }
  bool scalars = vectorLoop < 0;
  for (const Member &member : nest.members) {
    scalars |= BodyEvaluator::needsScalars(member);
    if (member.body)
      for (Operation &op : *member.body)
        for (Type type : op.getResultTypes())
          note(type);
  }
  if (scalars) {
    vectorLoop = -1;
    return;
  }
  width = std::max<int64_t>(1, e.target.vectorBytes / bytes);
  if (bits)
    width = std::min(width, mostMaskLanes);
  width = std::min<int64_t>(width, llvm::PowerOf2Ceil(nest.sizes[vectorLoop]));
  for (AccessInfo &access : accesses)
    access.vectorStride = access.view.isSplat() ? 0 : access.view.strides[vectorLoop];
}

void NestEmitter::advance(Point &point, int loop, Value by) const {
  for (auto [access, offset] : llvm::zip_equal(accesses, point.offsets))
    if (!access.view.isSplat() && access.view.strides[loop] != 0)
      offset = e.add(offset, e.mul(by, access.view.strides[loop]));
  point.loops[loop] = point.loops[loop] ? e.add(point.loops[loop], by) : by;
}

/// Loads what the loops that remain do not change.
void NestEmitter::preload(Point &point, ArrayRef<int> remaining, bool vectorRemains,
                          LaneShape shape, unsigned copies) {
  for (const Member &member : nest.members)
    for (const View &view : member.reads) {
      int number = accessOf(view);
      const AccessInfo &access = accesses[number];
      if (access.written || view.isSplat() || (vectorRemains && access.vectorStride != 0) ||
          llvm::any_of(remaining, [&](int loop) { return view.strides[loop] != 0; }))
        continue;
      for (unsigned copy = 0; copy < copies; ++copy)
        load(point, number, shape, copy);
    }
}

Value NestEmitter::load(Point &point, int number, LaneShape shape, unsigned copy) {
  const AccessInfo &access = accesses[number];
  if (access.vectorStride == 0 && !access.written)
    copy = 0;
  Value &value = point.loaded[{number, copy}];
  if (!value) {
    Value offset = e.add(point.offsets[number], int64_t(copy) * shape.width * access.vectorStride);
    value = e.loadLanes(access.view, offset, access.vectorStride, shape);
  }
  return value;
}

/// All members at one point; returns what the reductions carry on.
SmallVector<Value> NestEmitter::evaluate(Point &point, LaneShape shape, unsigned copy,
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
  for (const Member &member : nest.members) {
    b.setLoc(member.op->getLoc());
    BodyEvaluator body(e, member, shape);
    body.loopIndex = loopIndex;
    SmallVector<Value> results;
    if (member.copy) {
      results.push_back(load(point, accessOf(member.reads.front()), shape, copy));
    } else {
      for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
        body.map(argument, load(point, accessOf(view), shape, copy));
      for (Value accumulator : member.accumulators) {
        body.map(accumulator, carried.front());
        carried = carried.drop_front();
      }
      body.run();
      for (unsigned i = 0; i < member.yields.size(); ++i)
        results.push_back(body.result(i));
    }
    if (member.isReduction()) {
      for (auto [result, accumulator] : llvm::zip_equal(results, member.accumulators))
        next.push_back(e.broadcast(e.toFloat32(result), shape.width));
      continue;
    }
    for (auto [result, view] : llvm::zip_equal(results, member.writes)) {
      int number = accessOf(view);
      const AccessInfo &access = accesses[number];
      const Buffer &buffer = e.graph.buffers[view.buffer];
      // A copy may also extend halves.
      Value value = member.copy && !isHalf(buffer.elementType)
                        ? e.toFloat32(result)
                        : e.toElementType(result, buffer.elementType);
      point.loaded[{number, copy}] = value;
      if (buffer.inMemory)
        e.storeLanes(
            view, e.add(point.offsets[number], int64_t(copy) * shape.width * access.vectorStride),
            access.vectorStride, shape, value);
    }
  }
  return next;
}

SmallVector<std::pair<Member *, unsigned>> NestEmitter::reductions() {
  SmallVector<std::pair<Member *, unsigned>> result;
  for (Member &member : nest.members)
    for (unsigned i = 0; i < member.accumulators.size(); ++i)
      result.push_back({&member, i});
  return result;
}

Value NestEmitter::initial(Point &point, const Member &member, unsigned result, LaneShape shape,
                           unsigned copy) {
  Value value = load(point, accessOf(member.inits[result]), shape, copy);
  return e.broadcast(e.toFloat32(value), shape.width);
}

void NestEmitter::storeResults(Point &point, LaneShape shape, unsigned copy, ValueRange values) {
  for (auto [reduction, value] : llvm::zip_equal(reductions(), values)) {
    const View &view = reduction.first->writes[reduction.second];
    int number = accessOf(view);
    if (!e.graph.buffers[view.buffer].inMemory)
      continue;
    int64_t stride = accesses[number].vectorStride;
    e.storeLanes(view, e.add(point.offsets[number], int64_t(copy) * shape.width * stride), stride,
                 shape, value);
  }
}

/// Loops over what is reduced, carrying `carried`.
SmallVector<Value>
NestEmitter::emitInner(unsigned depth, Point point, ValueRange carried,
                       llvm::function_ref<SmallVector<Value>(Point &, ValueRange)> body) {
  if (depth == innerLoops.size())
    return body(point, carried);
  int loop = innerLoops[depth];
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.loop(e.index(0), e.index(nest.sizes[loop]), 1, carried);
  advance(point, loop, created.getInductionVar());
  SmallVector<Value> next = emitInner(depth + 1, point, created.getRegionIterArgs(), body);
  if (!next.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(created.getResults());
}

/// `copies` vectors beside each other, reductions inside.
void NestEmitter::emitBlock(Point point, LaneShape shape, unsigned copies) {
  SmallVector<Value> carried;
  auto all = reductions();
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
                         evaluate(inner, shape, copy, values.slice(copy * all.size(), all.size())));
    return next;
  });
  for (unsigned copy = 0; copy < copies; ++copy)
    storeResults(point, shape, copy, ArrayRef<Value>(results).slice(copy * all.size(), all.size()));
}

/// One lane value from a vector of partial results.
Value NestEmitter::foldLanes(const Member &member, unsigned result, Value value) {
  BodyEvaluator body(e, member, {});
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    BodyEvaluator halves(e, member, {half, half});
    Value low = vector::ExtractStridedSliceOp::create(
        b, value, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        b, value, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    value = halves.combine(member.combiners[result], low, high);
  }
  return vector::ExtractOp::create(b, value, 0);
}

/// The vector loop itself is reduced.
void NestEmitter::emitLaneReduction(Point point) {
  int64_t size = nest.sizes[vectorLoop];
  LaneShape full{width, width};
  auto all = reductions();
  unsigned copies = std::clamp<int64_t>(size / width, 1, interleave);
  SmallVector<Value> carried;
  for (unsigned copy = 0; copy < copies; ++copy)
    for (auto [member, result] : all) {
      TypedAttr neutral = *arith::getNeutralElement(member->combiners[result]);
      Value value = e.constant(neutral.getType(), neutral);
      carried.push_back(e.broadcast(e.toFloat32(value), width));
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
        created = e.loop(e.index(0), e.index(mainEnd), step, now);
        advance(inner, vectorLoop, created.getInductionVar());
        now = llvm::to_vector_of<Value>(created.getRegionIterArgs());
      } else {
        inner.loops[vectorLoop] = e.index(0);
      }
      SmallVector<Value> next;
      for (unsigned copy = 0; copy < copies; ++copy)
        llvm::append_range(
            next,
            evaluate(inner, full, copy, ArrayRef<Value>(now).slice(copy * all.size(), all.size())));
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
      advance(inner, vectorLoop, e.index(begin));
      SmallVector<Value> before(now.begin(), now.begin() + all.size());
      SmallVector<Value> next = evaluate(inner, shape, 0, before);
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
    BodyEvaluator wide(e, *member, full), scalar(e, *member, {});
    Value value = partial[i];
    for (unsigned copy = 1; copy < copies; ++copy)
      value = wide.combine(member->combiners[result], value, partial[copy * all.size() + i]);
    value = foldLanes(*member, result, value);
    Value start = initial(point, *member, result, {}, 0);
    results.push_back(scalar.combine(member->combiners[result], start, value));
  }
  storeResults(point, {}, 0, results);
}

void NestEmitter::emitVectorLoop(Point point) {
  if (vectorLoop < 0) {
    emitBlock(point, {}, 1);
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
      scf::ForOp created = e.loop(e.index(begin), e.index(end), step);
      advance(inner, vectorLoop, created.getInductionVar());
    } else {
      advance(inner, vectorLoop, e.index(begin));
    }
    emitBlock(inner, {width, width}, copies);
    begin = end;
  }
  if (begin < size) {
    advance(point, vectorLoop, e.index(begin));
    int64_t left = size - begin;
    emitBlock(point, {int64_t(llvm::PowerOf2Ceil(left)), left}, 1);
  }
}

void NestEmitter::emitOuter(unsigned depth, Point point) {
  if (depth == outerLoops.size()) {
    emitVectorLoop(point);
    return;
  }
  int loop = outerLoops[depth];
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.loop(e.index(0), e.index(nest.sizes[loop]), 1);
  advance(point, loop, created.getInductionVar());
  emitOuter(depth + 1, point);
}

void NestEmitter::run() {
  for (auto [size, reduced] : llvm::zip_equal(nest.sizes, nest.reduced))
    if (size == 0 && !reduced)
      return;
  collapseLoops(nest);
  findAccesses();
  chooseVectorLoop();
  for (const Member &member : nest.members)
    reduces |= member.isReduction();
  if (reduces)
    interleave = 4;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (loop != vectorLoop)
      (nest.reduced[loop] ? innerLoops : outerLoops).push_back(loop);

  Point point;
  point.loops.resize(nest.sizes.size());
  for (const AccessInfo &access : accesses) {
    bool used = access.view.isSplat() || e.graph.buffers[access.view.buffer].inMemory;
    point.offsets.push_back(used ? e.beginOf(access.view) : e.index(0));
  }
  emitOuter(0, point);
}

void Emitter::emitNest(const Nest &nest) {
  if (!emitTranspose(nest))
    NestEmitter(*this, nest).run();
}
