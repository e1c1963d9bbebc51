//===- LaneTiles.cpp - along which loop a nest runs in vectors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that is decided about a loop nest that is no product on a CPU: the loop that
// becomes vectors, the one with the most unit strides; their elements; how many are
// computed beside each other. Emission reads it.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "ft/Analysis/LeafGraph/NestAccesses.h"
#include "ft/Machine/CpuTarget.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// Lanes whose bits are packed at a time, by the code that emission writes.
static constexpr int64_t mostMaskLanes = 16;

namespace {
/// A nest whose vectors are to be found or checked.
struct LaneNest {
  LaneNest(const LeafGraph &graph, const Nest &original) : graph(graph), nest(original) {
    collapseLoops(nest);
    collectAccesses(nest, accesses);
  }
  bool needsScalars() const { return llvm::any_of(nest.members, LaneBody::needsScalars); }
  bool canReduceInLanes() const;
  int64_t scoreOf(int loop, const CpuPlanning &planning) const;
  int bestLoop(const CpuPlanning &planning) const;
  /// Bytes of the widest number that a body computes, halves as f32.
  int64_t widestBytes() const;
  /// Whether bits are read or written that others look at.
  bool hasBitsInMemory() const;

  const LeafGraph &graph;
  Nest nest;
  SmallVector<NestAccess> accesses;
};
} // namespace

bool LaneNest::canReduceInLanes() const {
  for (const NestMember &member : nest.members)
    for (Operation *combiner : member.combiners)
      if (!combiner || !arith::getNeutralElement(combiner))
        return false;
  return true;
}

/// What an access gains as one of adjacent elements, and loses as one of each element alone: the place of a vector's lane
/// costs a shuffle, a scattered store a store each.
int64_t LaneNest::scoreOf(int loop, const CpuPlanning &planning) const {
  if (nest.sizes[loop] < 2 || (nest.reduced[loop] && !canReduceInLanes()))
    return INT64_MIN;
  int64_t score = 0;
  for (const NestAccess &access : accesses) {
    if (access.view.isSplat())
      continue;
    int64_t stride = access.view.strides[loop];
    if (stride == 1)
      score += planning.adjacentGain;
    else if (stride != 0)
      score -= access.written ? planning.stridedWriteLoss : planning.stridedReadLoss;
  }
  // Short loops fill vectors badly; reductions in lanes need a fold at the end.
  return score + std::min(nest.sizes[loop], planning.longLoop) - (nest.reduced[loop] ? planning.reducedLoss : 0);
}

int LaneNest::bestLoop(const CpuPlanning &planning) const {
  if (needsScalars())
    return -1;
  int64_t best = INT64_MIN;
  int found = -1;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (int64_t score = scoreOf(loop, planning); score > best) {
      best = score;
      found = loop;
    }
  return found;
}

int64_t LaneNest::widestBytes() const {
  int64_t bytes = 1;
  auto note = [&](Type type) {
    type = getElementTypeOrSelf(type);
    bytes = std::max(bytes, isHalf(type) ? 4 : storageBytes(type));
  };
  for (const NestAccess &access : accesses)
    if (!access.view.isSplat())
      note(graph.buffers[access.view.buffer].elementType);
  for (const NestMember &member : nest.members)
    if (member.body)
      for (Operation &op : *member.body)
        llvm::for_each(op.getResultTypes(), note);
  return bytes;
}

bool LaneNest::hasBitsInMemory() const {
  return llvm::any_of(accesses, [&](const NestAccess &access) {
    return !access.view.isSplat() && graph.buffers[access.view.buffer].elementType.isInteger(1) &&
           graph.buffers[access.view.buffer].kind != Buffer::Kind::Scratch;
  });
}

LaneTile mlir::ft::leaf::chooseLanes(const LeafGraph &graph, const Nest &original, const CpuTarget &target) {
  LaneNest lanes(graph, original);
  LaneTile tile;
  tile.loop = lanes.bestLoop(target.planning);
  if (tile.loop < 0)
    return tile;
  tile.vector = std::max<int64_t>(1, target.vectorBytes / lanes.widestBytes());
  // Elements that are met one by one make long vectors worthless.
  bool isStrided = llvm::any_of(lanes.accesses, [&](const NestAccess &access) {
    return !access.view.isSplat() && access.view.strides[tile.loop] > 1;
  });
  if (isStrided)
    tile.vector = std::min(tile.vector, target.planning.stridedLanes);
  if (lanes.hasBitsInMemory())
    tile.vector = std::min(tile.vector, mostMaskLanes);
  tile.vector = std::min<int64_t>(tile.vector, llvm::PowerOf2Ceil(lanes.nest.sizes[tile.loop]));
  if (llvm::any_of(lanes.nest.members, [](const NestMember &member) { return member.isReduction(); }))
    tile.beside = target.planning.besideInSums;
  return tile;
}

LogicalResult mlir::ft::leaf::checkLanes(const LeafGraph &graph, const Nest &original, const LaneTile &tile) {
  LaneNest lanes(graph, original);
  auto refuse = [&]() { return original.members.front().op->emitError("its loop nest can't have these vectors: "); };
  if (tile.loop < 0)
    return success();
  if (tile.turned >= 0) {
    std::string why = describeUnturned(graph, original, tile);
    return why.empty() ? checkRests(graph, original, tile) : LogicalResult(refuse() << why);
  }
  if (tile.loop >= int64_t(lanes.nest.sizes.size()))
    return refuse() << "it has " << lanes.nest.sizes.size() << " loops, found loop " << tile.loop;
  if (lanes.needsScalars())
    return refuse() << "what it computes takes one element at a time (loop = -1)";
  if (lanes.nest.reduced[tile.loop] && !lanes.canReduceInLanes())
    return refuse() << "loop " << tile.loop << " is reduced, by what has no neutral element";
  if (lanes.hasBitsInMemory() && tile.vector > mostMaskLanes)
    return refuse() << "bits are packed " << mostMaskLanes << " at a time at most, found " << tile.vector;
  return success();
}
