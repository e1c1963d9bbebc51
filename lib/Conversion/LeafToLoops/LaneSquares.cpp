//===- LaneSquares.cpp - copies that are turned in registers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that is decided about a copy that changes its contiguous dimension: which two loops
// its squares have, how large they are, and how what they leave is copied.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "ft/Machine/CpuTarget.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// The part of a copy that starts at `begin` of `loop` and has `size` steps.
static Nest part(const Nest &nest, int loop, int64_t begin, int64_t size) {
  Nest result = nest;
  NestMember &member = result.members.front();
  result.sizes[loop] = size;
  for (ElementView *view : {&member.reads.front(), &member.writes.front()})
    view->offset += begin * view->strides[loop];
  return result;
}

/// What squares leave of a copy, whose loops are collapsed.
SmallVector<Nest, 2> mlir::ft::leaf::restsOfSquares(const Nest &nest, const LaneTile &tile) {
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
  const ElementView &read = nest.members.front().reads.front();
  const ElementView &write = nest.members.front().writes.front();
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
  Nest nest = original;
  collapseLoops(nest);
  std::optional<std::pair<int, int>> loops = findTurned(graph, nest);
  if (!loops)
    return std::nullopt;
  auto [from, to] = *loops;
  Type stored = graph.buffers[nest.members.front().writes.front().buffer].elementType;
  int64_t side = std::min<int64_t>(target.planning.squareRows, target.vectorBytes / storageBytes(stored));
  if (side < target.planning.leastSquare || nest.sizes[from] < side || nest.sizes[to] < side)
    return std::nullopt;
  LaneTile tile{to, side, /*beside=*/1, from, {}};
  for (const Nest &rest : restsOfSquares(nest, tile))
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
  size_t rests = restsOfSquares(nest, tile).size();
  return rests == tile.rests.size() ? ""
                                    : "squares leave " + std::to_string(rests) + " parts, expected vectors of each (rests), found " +
                                          std::to_string(tile.rests.size());
}

LogicalResult mlir::ft::leaf::checkRests(const LeafGraph &graph, const Nest &original, const LaneTile &tile) {
  Nest nest = original;
  collapseLoops(nest);
  for (auto [rest, lanes] : llvm::zip_equal(restsOfSquares(nest, tile), tile.rests))
    if (failed(checkLanes(graph, rest, lanes)))
      return failure();
  return success();
}
