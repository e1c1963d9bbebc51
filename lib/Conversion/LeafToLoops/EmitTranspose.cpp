//===- EmitTranspose.cpp - Copies that change the contiguous dimension ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Squares of one vector by one vector are loaded along the dimension that is
// contiguous in the source, transposed in registers and stored along the one
// that is contiguous in the destination. What the squares leave is copied as any
// other nest.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// Rows of a square matrix -> its columns. Each step exchanges the off-diagonal
/// blocks of half the size.
static void transposeInRegisters(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &rows) {
  int64_t size = rows.size();
  for (int64_t block = 1; block < size; block *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool right = lane & block;
      low.push_back(right ? size + lane - block : lane);
      high.push_back(right ? size + lane : lane + block);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & block)
        continue;
      Value top = rows[i], bottom = rows[i + block];
      rows[i] = vector::ShuffleOp::create(b, top, bottom, low);
      rows[i + block] = vector::ShuffleOp::create(b, top, bottom, high);
    }
  }
}

/// The part of a copy that starts at `begin` of `loop` and has `size` steps.
static Nest part(const Nest &nest, int loop, int64_t begin, int64_t size) {
  Nest result = nest;
  Member &member = result.members.front();
  result.sizes[loop] = size;
  for (View *view : {&member.reads.front(), &member.writes.front()})
    view->offset += begin * view->strides[loop];
  return result;
}

namespace {
/// The loops that are contiguous in the source and in the destination, and the side of a square.
struct Transposition {
  int from = -1, to = -1;
  int64_t width = 0;
};
} // namespace

/// `nest`: with collapsed loops.
static std::optional<Transposition> findTransposition(const LeafGraph &graph, const Nest &nest, const CpuTarget &target) {
  if (nest.members.size() != 1 || !nest.members.front().copy)
    return std::nullopt;
  const View &read = nest.members.front().reads.front();
  const View &write = nest.members.front().writes.front();
  if (read.isSplat() || read.hasBorders())
    return std::nullopt;
  Transposition found;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop) {
    if (read.strides[loop] == 1 && write.strides[loop] != 1)
      found.from = loop;
    if (write.strides[loop] == 1 && read.strides[loop] != 1)
      found.to = loop;
  }
  if (found.from < 0 || found.to < 0 || read.strides[found.to] == 0)
    return std::nullopt;
  Type stored = graph.buffers[write.buffer].elementType;
  Type loaded = graph.buffers[read.buffer].elementType;
  // Bits in memory are not vectors, and other pairs of types do not occur.
  bool extends = stored.isF32() && isHalf(loaded);
  if (stored.isInteger(1) || (stored != loaded && !extends))
    return std::nullopt;
  found.width = std::min<int64_t>(target.planning.squareRows, target.vectorBytes / storageBytes(stored));
  if (found.width < 4 || nest.sizes[found.from] < found.width || nest.sizes[found.to] < found.width)
    return std::nullopt;
  return found;
}

bool mlir::ft::leaf::isTransposition(const LeafGraph &graph, const Nest &original, const CpuTarget &target) {
  Nest nest = original;
  collapseLoops(nest);
  return findTransposition(graph, nest, target).has_value();
}

bool Emitter::emitTranspose(const Nest &original) {
  Nest nest = original;
  collapseLoops(nest);
  std::optional<Transposition> found = findTransposition(graph, nest, target);
  if (!found)
    return false;
  auto [from, to, width] = *found;
  const View &read = nest.members.front().reads.front();
  const View &write = nest.members.front().writes.front();
  bool extends = graph.buffers[write.buffer].elementType != graph.buffers[read.buffer].elementType;
  int64_t fromEnd = nest.sizes[from] / width * width, toEnd = nest.sizes[to] / width * width;

  SmallVector<int> order;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (loop != from && loop != to)
      order.push_back(loop);
  order.append({to, from});
  {
    OpBuilder::InsertionGuard guard(b);
    Value readAt = beginOfView(read), writeAt = beginOfView(write);
    for (int loop : order) {
      bool tiled = loop == from || loop == to;
      int64_t end = loop == from ? fromEnd : loop == to ? toEnd : nest.sizes[loop];
      scf::ForOp created = keptLoop(index(0), index(end), tiled ? width : 1);
      readAt = addIndex(readAt, mulIndex(created.getInductionVar(), read.strides[loop]));
      writeAt = addIndex(writeAt, mulIndex(created.getInductionVar(), write.strides[loop]));
    }
    LaneShape shape{width, width};
    SmallVector<Value> rows;
    for (int64_t i = 0; i < width; ++i) {
      Value row = loadLanes(read, addIndex(readAt, i * read.strides[to]), 1, shape);
      rows.push_back(extends ? lanesToFloat32(row) : row);
    }
    transposeInRegisters(b, rows);
    for (int64_t i = 0; i < width; ++i)
      storeLanes(write, addIndex(writeAt, i * write.strides[from]), 1, shape, rows[i]);
  }
  if (fromEnd < nest.sizes[from])
    emitLoopNest(part(nest, from, fromEnd, nest.sizes[from] - fromEnd));
  if (toEnd < nest.sizes[to])
    emitLoopNest(part(part(nest, from, 0, fromEnd), to, toEnd, nest.sizes[to] - toEnd));
  return true;
}
