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

#include "ft/Machine/CpuTarget.h"

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

/// What squares leave of a copy, whose loops are collapsed.
static SmallVector<Nest, 2> restsOf(const Nest &nest, const LaneTile &tile) {
  const int from = int(tile.turned), to = int(tile.loop);
  int64_t fromEnd = nest.sizes[from] / tile.vector * tile.vector, toEnd = nest.sizes[to] / tile.vector * tile.vector;
  SmallVector<Nest, 2> rests;
  if (fromEnd < nest.sizes[from])
    rests.push_back(part(nest, from, fromEnd, nest.sizes[from] - fromEnd));
  if (toEnd < nest.sizes[to])
    rests.push_back(part(part(nest, from, 0, fromEnd), to, toEnd, nest.sizes[to] - toEnd));
  return rests;
}

/// The loops that are contiguous where a copy reads, and where it writes, of a matrix that it turns; `nest`: with collapsed loops.
static std::optional<std::pair<int, int>> findTurned(const LeafGraph &graph, const Nest &nest) {
  if (nest.members.size() != 1 || !nest.members.front().copy)
    return std::nullopt;
  const View &read = nest.members.front().reads.front();
  const View &write = nest.members.front().writes.front();
  if (read.isSplat() || read.hasBorders())
    return std::nullopt;
  int from = -1, to = -1;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop) {
    if (read.strides[loop] == 1 && write.strides[loop] != 1)
      from = loop;
    if (write.strides[loop] == 1 && read.strides[loop] != 1)
      to = loop;
  }
  if (from < 0 || to < 0 || read.strides[to] == 0)
    return std::nullopt;
  Type stored = graph.buffers[write.buffer].elementType;
  Type loaded = graph.buffers[read.buffer].elementType;
  // Bits in memory are not vectors, and other pairs of types do not occur.
  bool extends = stored.isF32() && isHalf(loaded);
  if (stored.isInteger(1) || (stored != loaded && !extends))
    return std::nullopt;
  return std::pair(from, to);
}

std::optional<LaneTile> mlir::ft::leaf::chooseTurn(const LeafGraph &graph, const Nest &original, const CpuTarget &target) {
  constexpr int64_t leastSide = 4; // of a square that pays its shuffles
  Nest nest = original;
  collapseLoops(nest);
  std::optional<std::pair<int, int>> loops = findTurned(graph, nest);
  if (!loops)
    return std::nullopt;
  auto [from, to] = *loops;
  Type stored = graph.buffers[nest.members.front().writes.front().buffer].elementType;
  int64_t side = std::min<int64_t>(target.planning.squareRows, target.vectorBytes / storageBytes(stored));
  if (side < leastSide || nest.sizes[from] < side || nest.sizes[to] < side)
    return std::nullopt;
  LaneTile tile{to, side, /*beside=*/1, from, {}};
  for (const Nest &rest : restsOf(nest, tile))
    tile.rests.push_back(chooseLanes(graph, rest, target));
  return tile;
}

std::string mlir::ft::leaf::describeUnturned(const LeafGraph &graph, const Nest &original, const LaneTile &tile) {
  Nest nest = original;
  collapseLoops(nest);
  std::optional<std::pair<int, int>> loops = findTurned(graph, nest);
  if (!loops || *loops != std::pair(int(tile.turned), int(tile.loop)))
    return "it is no copy that turns a matrix with these loops (turned)";
  int64_t least = std::min(nest.sizes[tile.loop], nest.sizes[tile.turned]);
  if (tile.vector > least)
    return "a square has at most " + std::to_string(least) + " rows and columns, found " + std::to_string(tile.vector);
  size_t rests = restsOf(nest, tile).size();
  return rests == tile.rests.size() ? ""
                                    : "squares leave " + std::to_string(rests) + " parts, expected vectors of each (rests), found " +
                                          std::to_string(tile.rests.size());
}

LogicalResult mlir::ft::leaf::checkRests(const LeafGraph &graph, const Nest &original, const LaneTile &tile) {
  Nest nest = original;
  collapseLoops(nest);
  for (auto [rest, lanes] : llvm::zip_equal(restsOf(nest, tile), tile.rests))
    if (failed(checkLanes(graph, rest, lanes)))
      return failure();
  return success();
}

void Emitter::emitTurned(const Nest &original, const LaneTile &tile) {
  Nest nest = original;
  collapseLoops(nest);
  const int from = int(tile.turned), to = int(tile.loop);
  const int64_t width = tile.vector;
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
  for (auto [rest, lanes] : llvm::zip_equal(restsOf(nest, tile), tile.rests))
    emitLoopNest(rest, lanes);
}
