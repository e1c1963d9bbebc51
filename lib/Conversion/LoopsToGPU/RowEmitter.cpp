//===- RowEmitter.cpp - rows in registers ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowEmitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

namespace {
class RowEmitter {
public:
  RowEmitter(LeafEmitter &emitter, const RowPlan &plan) : e(emitter), b(emitter.b), plan(plan) {}
  LogicalResult run();

private:
  /// One of the rows that a lane has at a time.
  struct Part {
    At at;
    Value valid; // null: always
    SmallVector<Value> indices;
    SmallVector<Value> elements; // of each chunk the first one
    SmallVector<Value> holds;    // whether a chunk is inside the row; null: it is
  };
  struct Loaded {
    View view;
    SmallVector<SmallVector<Value>> lanes; // by part and chunk
  };

  /// An element: of a part the lane-th one of a chunk.
  struct Place {
    unsigned part;
    int64_t chunk, lane;
  };

  LogicalResult emitNest(const RowNest &form);
  int64_t widthOf(const RowNest &form) const { return form.rowLoop >= 0 ? plan.width : 1; }
  SmallVector<std::pair<Member *, unsigned>> reductionsOf(const RowNest &form);
  void fetchAll(const RowNest &form);
  SmallVector<Value> neutralSums(const RowNest &form);
  void keep(const RowNest &form, const View &view, const Place &at, Value value);
  LogicalResult evaluate(const RowNest &form, const Member &member, const Place &at, MutableArrayRef<Value> sums);
  void finishSums(const RowNest &form, ArrayRef<Value> carried);
  void storeOutputs(const RowNest &form);
  void placeChunks(Part &part, Value shift);
  Value shiftOf(Part &part);
  ArrayRef<Value> fetch(const RowNest &form, const View &view, unsigned part, int64_t chunk);
  Value read(const RowNest &form, const View &view, unsigned part, int64_t chunk, int64_t lane);
  Value offsetOf(const RowNest &form, const View &view, unsigned part, int64_t chunk);
  bool isAligned(const RowNest &form, const View &view) const;
  Value acrossLanes(Member &member, unsigned result, Value value, At at);
  void store(const RowNest &form, const View &view, unsigned part, ArrayRef<Value> values,
             bool isRow);

  LeafEmitter &e;
  Code &b;
  const RowPlan &plan;
  SmallVector<Part> parts;
  Value lane; // i64, in the group
  DenseMap<int, SmallVector<SmallVector<Value>>> rowValues; // by buffer, part, element
  DenseMap<int, SmallVector<Value>> pointValues;            // by buffer, part
  SmallVector<Loaded, 4> loaded;
  unsigned slot = 0;
};
} // namespace

/// Where a nest without the loop would be is the first element.
Value RowEmitter::offsetOf(const RowNest &form, const View &view, unsigned part, int64_t chunk) {
  Value offset = e.beginOf(view, parts[part].at);
  for (auto [loop, index] : llvm::zip_equal(form.pointLoops, parts[part].indices))
    if (view.strides[loop] != 0)
      offset = b.add(offset, b.mul(index, view.strides[loop]));
  if (form.rowLoop >= 0 && view.strides[form.rowLoop] != 0)
    offset = b.add(offset, b.mul(parts[part].elements[chunk], view.strides[form.rowLoop]));
  return offset;
}

bool RowEmitter::isAligned(const RowNest &form, const View &view) const {
  const Buffer &buffer = e.graph.buffers[view.buffer];
  int64_t width = plan.width;
  bool aligned = view.offset % width == 0 && buffer.numElements % width == 0 &&
                 width * bytesOf(buffer.elementType) <= accessBytes;
  for (int loop : form.pointLoops)
    aligned &= view.strides[loop] % width == 0;
  for (const DynamicTerm &term : view.terms)
    aligned &= term.stride % width == 0;
  return aligned;
}

/// Elements from memory, loaded where they are wanted first.
ArrayRef<Value> RowEmitter::fetch(const RowNest &form, const View &view, unsigned part,
                                  int64_t chunk) {
  View normal = view;
  normal.strides.clear();
  bool varies = e.graph.isBatched(view);
  for (int loop : form.pointLoops) {
    normal.strides.push_back(view.strides[loop]);
    varies |= view.strides[loop] != 0;
  }
  int64_t stride = form.rowLoop < 0 ? 0 : view.strides[form.rowLoop];
  normal.strides.push_back(stride);
  if (!varies)
    part = 0;
  if (stride == 0)
    chunk = 0;
  auto found = llvm::find_if(loaded, [&](const Loaded &l) { return l.view == normal; });
  if (found == loaded.end()) {
    loaded.push_back({normal, {}});
    found = loaded.end() - 1;
    found->lanes.resize(parts.size() * plan.chunks);
  }
  SmallVector<Value> &lanes = found->lanes[part * plan.chunks + chunk];
  if (lanes.empty())
    lanes = e.load(view, offsetOf(form, view, part, chunk), parts[part].at, stride,
                   stride == 0 ? 1 : plan.width, stride == 1 && isAligned(form, view));
  return lanes;
}

Value RowEmitter::read(const RowNest &form, const View &view, unsigned part, int64_t chunk,
                       int64_t lane) {
  if (view.isSplat())
    return e.load(view, Value(), parts[part].at, 0, 1, false).front();
  if (auto row = rowValues.find(view.buffer); row != rowValues.end())
    return row->second[part][chunk * plan.width + lane];
  if (auto point = pointValues.find(view.buffer); point != pointValues.end())
    return point->second[part];
  ArrayRef<Value> lanes = fetch(form, view, part, chunk);
  return lanes.size() == 1 ? lanes.front() : lanes[lane];
}

/// The lanes of a row give their sums to each other; all of them get the whole.
Value RowEmitter::acrossLanes(Member &member, unsigned result, Value value, At at) {
  ScalarBody body(e, member, at);
  auto exchange = [&](int64_t from) {
    for (int64_t mask = from; mask >= 1; mask /= 2)
      value = body.combine(member.combiners[result], value, b.shuffle(value, mask));
  };
  exchange(std::min(plan.lanes, warpLanes) / 2);
  if (plan.lanes <= warpLanes)
    return value;
  // One partial result a warp goes through shared memory. Each reduction has a place of its own.
  int64_t warps = plan.lanes / warpLanes;
  Type type = value.getType();
  Value thread = e.threads.id;
  Value inWarp = arith::AndIOp::create(b, thread, b.number32(warpLanes - 1));
  Value base = b.at(e.threads.scratch, b.number(int64_t(slot++) * warps), b.getI64Type());
  {
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inWarp, b.number32(0));
    auto branch = scf::IfOp::create(b, first, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value warp = arith::ShRUIOp::create(b, thread, b.number32(5));
    b.store(value, b.at(base, b.extend(warp), b.getI64Type()), type);
  }
  b.barrier();
  Value mine = arith::AndIOp::create(b, inWarp, b.number32(warps - 1));
  value = b.load(b.at(base, b.extend(mine), b.getI64Type()), type);
  exchange(warps / 2);
  return value;
}

void RowEmitter::store(const RowNest &form, const View &view, unsigned part,
                       ArrayRef<Value> values, bool isRow) {
  const Buffer &buffer = e.graph.buffers[view.buffer];
  const Memory &memory = e.memories[view.buffer];
  auto under = [&](Value condition, llvm::function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(b);
    if (condition) {
      auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    emit();
  };
  auto both = [&](Value x, Value y) -> Value {
    return x && y ? b.createOrFold<arith::AndIOp>(x, y) : x ? x : y;
  };
  auto write = [&](int64_t chunk, ArrayRef<Value> lanes) {
    Value start = e.offsetAt(memory, offsetOf(form, view, part, chunk), parts[part].at);
    b.storeAdjacent(lanes, b.at(memory.pointer, start, buffer.elementType), buffer.elementType,
                    lanes.size() > 1 && isAligned(form, view) && memory.aligned);
  };
  Value valid = parts[part].valid;
  if (!isRow) {
    Value leads = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, b.number(0));
    under(both(leads, valid), [&] { write(0, values); });
    return;
  }
  under(valid, [&] {
    for (int64_t c = 0; c < plan.chunks; ++c)
      under(parts[part].holds[c],
            [&] { write(c, values.slice(c * plan.width, plan.width)); });
  });
}

SmallVector<std::pair<Member *, unsigned>> RowEmitter::reductionsOf(const RowNest &form) {
  SmallVector<std::pair<Member *, unsigned>> reductions;
  for (Member &member : const_cast<Nest *>(form.nest)->members)
    for (unsigned i = 0; i < member.accumulators.size(); ++i)
      reductions.push_back({&member, i});
  return reductions;
}

/// All loads are on their way before the first value is wanted.
void RowEmitter::fetchAll(const RowNest &form) {
  int64_t chunks = form.rowLoop >= 0 ? plan.chunks : 1;
  for (const Member &member : form.nest->members)
    for (const View &view : member.reads)
      if (!view.isSplat() && !rowValues.contains(view.buffer) &&
          !pointValues.contains(view.buffer)) {
        bool own = llvm::any_of(form.nest->members, [&](const Member &other) {
          return llvm::any_of(other.writes,
                              [&](const View &w) { return w.buffer == view.buffer; });
        });
        for (unsigned part = 0; part < parts.size() && !own; ++part)
          for (int64_t chunk = 0; chunk < chunks; ++chunk)
            (void)fetch(form, view, part, chunk);
      }
}

/// With what the sums of each part and lane begin.
SmallVector<Value> RowEmitter::neutralSums(const RowNest &form) {
  SmallVector<Value> neutral;
  for (auto [member, result] : reductionsOf(form)) {
    TypedAttr value = *arith::getNeutralElement(member->combiners[result]);
    if (value.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    neutral.push_back(b.toFloat32(arith::ConstantOp::create(b, value)));
  }
  SmallVector<Value> carried;
  for (int64_t i = 0; i < int64_t(parts.size()) * widthOf(form); ++i)
    llvm::append_range(carried, neutral);
  return carried;
}

void RowEmitter::keep(const RowNest &form, const View &view, const Place &at, Value value) {
  value = b.toElement(value, e.graph.buffers[view.buffer].elementType);
  if (form.rowLoop < 0) {
    pointValues[view.buffer].resize(parts.size());
    pointValues[view.buffer][at.part] = value;
    return;
  }
  auto &row = rowValues[view.buffer];
  row.resize(parts.size());
  row[at.part].resize(plan.chunks * plan.width);
  row[at.part][at.chunk * widthOf(form) + at.lane] = value;
}

/// A member at one element; `sums` are its own there.
LogicalResult RowEmitter::evaluate(const RowNest &form, const Member &member, const Place &at, MutableArrayRef<Value> sums) {
  Part &part = parts[at.part];
  ScalarBody body(e, member, part.at);
  auto loopIndex = [&](int loop) -> Value {
    if (loop == form.rowLoop)
      return b.add(part.elements[at.chunk], at.lane);
    for (auto [known, index] : llvm::zip_equal(form.pointLoops, part.indices))
      if (known == loop)
        return index;
    return b.number(0);
  };
  body.loopIndex = loopIndex;
  if (member.copy) {
    Value value = read(form, member.reads.front(), at.part, at.chunk, at.lane);
    if (isHalf(value.getType()) &&
        !isHalf(e.graph.buffers[member.writes.front().buffer].elementType))
      value = b.toFloat32(value);
    keep(form, member.writes.front(), at, value);
    return success();
  }
  for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
    body.map(argument, read(form, view, at.part, at.chunk, at.lane));
  for (auto [sum, accumulator] : llvm::zip_equal(sums, member.accumulators))
    body.map(accumulator, sum);
  if (failed(body.evaluate()))
    return failure();
  Value holds = form.rowLoop >= 0 ? part.holds[at.chunk] : Value();
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value next = b.toFloat32(body.result(i));
    sum = holds ? Value(arith::SelectOp::create(b, holds, next, sum)) : next;
  }
  SmallVector<Value> results;
  for (unsigned i = 0; sums.empty() && i < member.yields.size(); ++i)
    results.push_back(body.result(i));
  for (auto [view, value] : llvm::zip(member.writes, results))
    keep(form, view, at, value);
  return success();
}

/// Sums of each lane's elements, of the lanes, with what they begin with.
void RowEmitter::finishSums(const RowNest &form, ArrayRef<Value> carried) {
  auto reductions = reductionsOf(form);
  int64_t width = widthOf(form);
  for (unsigned part = 0; part < parts.size(); ++part)
    for (auto [r, reduction] : llvm::enumerate(reductions)) {
      auto [member, result] = reduction;
      ScalarBody body(e, *member, parts[part].at);
      Operation *combiner = member->combiners[result];
      Value value = carried[part * width * reductions.size() + r];
      for (int64_t l = 1; l < width; ++l)
        value = body.combine(combiner, value, carried[(part * width + l) * reductions.size() + r]);
      Value together = acrossLanes(*member, result, value, parts[part].at);
      Value init = b.toFloat32(read(form, member->inits[result], part, 0, 0));
      Value with = body.combine(combiner, init, together);
      int buffer = member->writes[result].buffer;
      pointValues[buffer].resize(parts.size());
      pointValues[buffer][part] = b.toElement(with, e.graph.buffers[buffer].elementType);
    }
}

void RowEmitter::storeOutputs(const RowNest &form) {
  for (const Member &member : form.nest->members)
    for (const View &view : member.writes) {
      if (e.graph.buffers[view.buffer].kind != Buffer::Kind::Output)
        continue;
      bool isRow = form.rowLoop >= 0 && !member.isReduction();
      for (unsigned part = 0; part < parts.size(); ++part)
        store(form, view, part,
              isRow ? ArrayRef<Value>(rowValues[view.buffer][part])
                    : ArrayRef<Value>(pointValues[view.buffer][part]),
              isRow);
    }
}

LogicalResult RowEmitter::emitNest(const RowNest &form) {
  int64_t chunks = form.rowLoop >= 0 ? plan.chunks : 1, width = widthOf(form);
  size_t numSums = reductionsOf(form).size();
  fetchAll(form);
  SmallVector<Value> carried = neutralSums(form); // by part, lane, reduction
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    for (unsigned part = 0; part < parts.size(); ++part) {
      size_t before = 0;
      for (const Member &member : form.nest->members) {
        b.setLoc(member.op->getLoc());
        size_t own = member.accumulators.size();
        for (int64_t l = 0; l < width; ++l) {
          auto sums = MutableArrayRef<Value>(carried).slice((part * width + l) * numSums + before, own);
          if (failed(evaluate(form, member, {part, chunk, l}, sums)))
            return failure();
        }
        before += own;
      }
    }
  finishSums(form, carried);
  storeOutputs(form);
  return success();
}

/// Lanes outside of the row read its first or last elements again.
void RowEmitter::placeChunks(Part &part, Value shift) {
  for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
    int64_t first = chunk * plan.lanes;
    Value vector = b.add(lane, first), holds;
    if (shift)
      vector = b.sub(vector, shift);
    if (shift && first < RowPlan::lineVectors) {
      holds = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, vector, b.number(0));
      vector = b.larger(vector, b.number(0));
    }
    if (first + plan.lanes > plan.vectors()) {
      Value before = b.less(vector, b.number(plan.vectors()));
      holds = holds ? b.createOrFold<arith::AndIOp>(holds, before) : before;
      vector = b.smaller(vector, b.number(plan.vectors() - 1));
    }
    part.elements.push_back(b.mul(vector, plan.width));
    part.holds.push_back(holds);
  }
}

/// How many accesses a row begins behind the start of a line: of what is stored, if anything is.
/// Any value is right.
Value RowEmitter::shiftOf(Part &part) {
  const RowNest *where = nullptr;
  const View *chosen = nullptr;
  for (const RowNest &form : plan.nests)
    for (const Member &member : form.nest->members) {
      if (form.rowLoop < 0)
        continue;
      auto consider = [&](const View &view, Buffer::Kind kind) {
        if (view.isSplat() || view.strides[form.rowLoop] != 1 || !view.terms.empty() ||
            e.graph.buffers[view.buffer].kind != kind || !e.memories[view.buffer].pointer)
          return;
        bool isStored = kind == Buffer::Kind::Output;
        if (chosen && !isStored)
          return;
        where = &form;
        chosen = &view;
      };
      for (const View &view : member.writes)
        consider(view, Buffer::Kind::Output);
      for (const View &view : member.reads)
        consider(view, Buffer::Kind::Input);
    }
  if (!chosen)
    return Value();
  const Memory &memory = e.memories[chosen->buffer];
  Type element = e.graph.buffers[chosen->buffer].elementType;
  Value offset = b.number(chosen->offset);
  for (auto [loop, index] : llvm::zip_equal(where->pointLoops, part.indices))
    if (chosen->strides[loop] != 0)
      offset = b.add(offset, b.mul(index, chosen->strides[loop]));
  Value address = LLVM::PtrToIntOp::create(
      b, b.getI64Type(), b.at(memory.pointer, e.offsetAt(memory, offset, part.at), element));
  Value vector =
      b.createOrFold<arith::DivUIOp>(address, b.number(plan.width * bytesOf(element)));
  return b.createOrFold<arith::AndIOp>(vector, b.number(RowPlan::lineVectors - 1));
}

LogicalResult RowEmitter::run() {
  auto with = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  };
  int64_t groups = plan.threads / plan.lanes;
  Value thread = e.threads.id, group = b.number(0);
  lane = b.extend(thread);
  if (groups > 1) {
    lane = b.extend(
        b.createOrFold<arith::AndIOp>(thread, b.number32(plan.lanes - 1)));
    group = b.extend(b.createOrFold<arith::DivUIOp>(thread, b.number32(plan.lanes)));
  }
  // What is the same for all rows.
  Part any;
  any.at = {b.number(0), b.number(0)};
  any.indices.assign(plan.points.size(), b.number(0));
  placeChunks(any, Value());
  parts = {any};
  for (const RowNest &form : plan.nests)
    if (form.hoisted && failed(emitNest(form)))
      return failure();
  for (auto &[buffer, values] : pointValues)
    values.resize(plan.parts, values.front());
  loaded.clear();

  int64_t points = plan.numPoints();
  Value total = b.mul(e.rows, points);
  scf::ForOp loop =
      b.loop(b.number(0), total, b.number(plan.pointsAtOnce()), {}, /*unroll=*/1);
  parts.clear();
  for (int64_t p = 0; p < plan.parts; ++p) {
    Part part;
    Value index = b.add(b.add(loop.getInductionVar(), p * groups), group);
    if (plan.pointsAtOnce() > 1) { // the last ones may be missing: their lanes store nothing
      part.valid = with(arith::CmpIPredicate::slt, index, total);
      index = b.smaller(index, b.add(total, -1));
    }
    part.at = {index, b.number(0)};
    if (points > 1)
      part.at.row = b.createOrFold<arith::DivUIOp>(index, b.number(points));
    Value rest = points > 1 ? b.createOrFold<arith::RemUIOp>(index, b.number(points)) : Value();
    part.indices.resize(plan.points.size());
    for (int64_t d = int64_t(plan.points.size()) - 1; d >= 0; --d) {
      part.indices[d] =
          d == 0 ? rest : b.createOrFold<arith::RemUIOp>(rest, b.number(plan.points[d]));
      rest = b.createOrFold<arith::DivUIOp>(rest, b.number(plan.points[d]));
    }
    if (plan.shifted) {
      placeChunks(part, shiftOf(part));
    } else {
      part.elements = any.elements;
      part.holds = any.holds;
    }
    parts.push_back(std::move(part));
  }
  for (const RowNest &form : plan.nests)
    if (!form.hoisted && failed(emitNest(form)))
      return failure();
  if (plan.lanes > warpLanes)
    b.barrier(); // the places of partial results are free for the next row
  b.setInsertionPointAfter(loop);
  return success();
}

LogicalResult mlir::ft::togpu::emitRows(LeafEmitter &emitter, const RowPlan &plan) {
  return RowEmitter(emitter, plan).run();
}
