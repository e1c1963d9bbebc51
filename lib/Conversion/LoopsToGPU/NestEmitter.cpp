//===- NestEmitter.cpp - tiles of a nest ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestEmitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

void NestEmitter::sortLoops() {
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    (nest.reduced[loop] ? reducedLoops : parallelLoops).push_back(loop);
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
  return view.movesWith(tileLoop);
}

/// Which accesses are adjacent along the vector loop, and which of them are aligned.
void NestEmitter::findAdjacent() {
  for (AccessInfo &access : accesses) {
    const View &view = access.view;
    access.vectorStride = vectorLoop == none || view.isSplat() ? 0 : view.strides[vectorLoop];
    access.variesInVector = vectorLoop != none && view.movesWith(vectorLoop);
    if (access.vectorStride != 1 || width == 1)
      continue;
    bool aligned = view.offset % width == 0 && e.graph.buffers[view.buffer].numElements % width == 0 &&
                   width * bytesOf(e.graph.buffers[view.buffer].elementType) <= accessBytes;
    for (auto [loop, stride] : llvm::enumerate(view.strides))
      aligned &= int(loop) == vectorLoop || stride % width == 0;
    for (const DynamicTerm &term : view.terms)
      aligned &= term.stride % width == 0;
    access.aligned = aligned;
  }
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void NestEmitter::advance(Part &part, int loop, Value by) const {
  for (auto [access, offset] : llvm::zip_equal(accesses, part.offsets))
    if (!access.view.isSplat() && access.view.strides[loop] != 0)
      offset = b.add(offset, b.mul(by, access.view.strides[loop]));
  for (auto [access, places] : llvm::zip_equal(accesses, part.borders))
    for (auto [border, place] : llvm::zip_equal(access.view.borders, places))
      if (border.strides[loop] != 0)
        place = b.add(place, b.mul(by, border.strides[loop]));
  part.loops[loop] = part.loops[loop] ? b.add(part.loops[loop], by) : by;
}

/// The tile that begins at these loop indices and this row.
NestEmitter::Point NestEmitter::start(ArrayRef<std::pair<int, Value>> indices, At at) {
  Point point;
  Value last = b.add(e.rows, -1);
  for (int64_t p = 0; p < tile; ++p) {
    Part part;
    part.at = at;
    if (tileLoop == rowLoop) {
      part.at.row = b.add(at.row, p);
      if (p > 0) { // the last tile may be short: its parts repeat the last row and store nothing
        part.valid = b.less(part.at.row, e.rows);
        part.at.row = b.smaller(part.at.row, last);
      }
    }
    part.loops.resize(nest.sizes.size());
    for (const AccessInfo &access : accesses) {
      bool used = !access.view.isSplat() && e.graph.buffers[access.view.buffer].inMemory;
      part.offsets.push_back(used ? e.beginOf(access.view, part.at) : b.number(0));
      SmallVector<Value> &places = part.borders.emplace_back();
      for (const Border &border : access.view.borders)
        places.push_back(b.number(border.offset));
    }
    if (splitLoop != none)
      advance(part, splitLoop, e.columns->begin);
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
    int64_t count = access.variesInVector ? width : 1;
    const Part &at = point.parts[part];
    lanes = access.view.hasBorders()
                ? e.loadInside(access.view, at.offsets[number], at.borders[number], at.at, vectorLoop, count)
                : e.load(access.view, at.offsets[number], at.at, access.vectorStride, count, access.aligned);
  }
  return lanes.size() == 1 ? lanes.front() : lanes[lane];
}

void NestEmitter::storePart(Point &point, int number, int64_t part, ArrayRef<Value> lanes) {
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
  Value start = e.offsetAt(memory, at.offsets[number], at.at);
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
  unsigned numReductions = getReductions(nest).size(), before = 0;
  for (const Member &member : nest.members) {
    b.setLoc(member.op->getLoc());
    unsigned own = member.accumulators.size();
    for (int64_t part = 0; part < tile; ++part) {
      SmallVector<SmallVector<Value>> results(member.writes.size());
      for (int64_t l = 0; l < width; ++l) {
        auto slot = [&](unsigned i) -> Value & {
          return carried[(part * width + l) * numReductions + before + i];
        };
        ScalarBody body(e, member, point.parts[part].at);
        auto loopIndex = [&](int loop) {
          Value at = point.parts[part].loops[loop];
          return loop == vectorLoop ? b.add(at, l) : at;
        };
        body.loopIndex = loopIndex;
        if (member.copy) {
          Value value = lane(point, findAccess(accesses, member.reads.front()), part, l);
          const Buffer &to = e.graph.buffers[member.writes.front().buffer];
          if (isHalf(value.getType()) && !isHalf(to.elementType)) // a copy may also extend halves
            value = b.toFloat32(value);
          results[0].push_back(b.toElement(value, to.elementType));
          continue;
        }
        for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
          body.map(argument, lane(point, findAccess(accesses, view), part, l));
        for (auto [i, accumulator] : llvm::enumerate(member.accumulators))
          body.map(accumulator, slot(i));
        if (failed(body.evaluate()))
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
        int number = findAccess(accesses, view);
        point.loaded[{number, part}] = values;
        storePart(point, number, part, values);
      }
    }
    before += own;
  }
  return success();
}

NestEmitter::Carried NestEmitter::neutral() {
  Carried carried;
  for (int64_t i = 0; i < tile * width; ++i)
    for (auto [member, result] : getReductions(nest)) {
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
    std::tie(created, index) = threadLoop(b.number32(size), size, laneInGroup, group, copiesOfSum(depth), carried);
  } else {
    if (depth == 0 && sliceBegin) {
      created = b.loop(sliceBegin, sliceEnd, b.number32(1), carried, /*unroll=*/1);
      Value first = b.mul(b.extend(created.getInductionVar()), granule());
      Carried inner = llvm::to_vector_of<Value>(created.getRegionIterArgs());
      for (int64_t i = 0; i < granule(); ++i) {
        Point at = point;
        for (Part &part : at.parts)
          advance(part, loop, b.add(first, i));
        if (failed(emitReduced(depth + 1, std::move(at), inner, laneInGroup)))
          return failure();
      }
      scf::YieldOp::create(b, inner);
      carried = llvm::to_vector_of<Value>(created.getResults());
      return success();
    }
    created = b.loop(b.number32(0), b.number32(size), b.number32(1), carried, copiesOfSum(depth));
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

LogicalResult NestEmitter::storeReductions(Point &point, const Carried &carried) {
  auto all = getReductions(nest);
  for (auto [r, reduction] : llvm::enumerate(all)) {
    const View &view = reduction.first->writes[reduction.second];
    int number = findAccess(accesses, view);
    for (int64_t part = 0; part < tile; ++part) {
      SmallVector<Value> lanes;
      for (int64_t l = 0; l < (group > 1 ? 1 : width); ++l)
        lanes.push_back(b.toElement(carried[(part * width + l) * all.size() + r],
                                    e.graph.buffers[view.buffer].elementType));
      storePart(point, number, part, lanes);
    }
  }
  return success();
}

LogicalResult NestEmitter::run() {
  for (auto [size, reduced] : llvm::zip_equal(nest.sizes, nest.reduced))
    if (size == 0 && !reduced)
      return success();
  collapseLoops(nest, splitLoop == none ? nullptr : &splitLoop);
  collectAccesses(nest, accesses);
  for (const Member &member : nest.members) {
    reduces |= member.isReduction();
    for (const auto &[value, view] : member.captured)
      lifted |= e.isLifted(view);
  }
  for (const AccessInfo &access : accesses)
    lifted |= e.isLifted(access.view);
  nest.batched &= e.maxRows > 1;
  sortLoops();
  findAdjacent();
  // Where threads are idle anyway, a tile that is short of rows costs no time.
  if (tileLoop != rowLoop || isSliced())
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
  unroll = tiles.restUnroll;
  return emitTiled();
}

LogicalResult NestEmitter::emitTiled() {
  return group > 1 ? emitShared() : emitPrivate();
}

LogicalResult mlir::ft::togpu::emitNest(LeafEmitter &emitter, const Nest &nest, NestSplit split, const Tiles &tiles) {
  return NestEmitter(emitter, nest, split, tiles).run();
}
