//===- PlaceBuffers.cpp - Where intermediate values live ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of nests that need no other row share one loop over the rows; what only
// lives inside of such a loop needs memory for a single row, which stays in the
// cache. The rest of the scratch has memory for all rows, contiguous, so that
// rows are the rows of a matrix. Values whose lifetimes are apart share memory.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

static constexpr int64_t alignment = 64;

static SmallVector<Segment> findSegments(LeafGraph &graph) {
  // What all rows share is computed first, once.
  std::vector<Nest> ordered;
  for (int rank : {0, 1, 2})
    for (Nest &nest : graph.nests)
      if (rank == (nest.last ? 2 : nest.batched ? 1 : 0))
        ordered.push_back(std::move(nest));
  graph.nests = std::move(ordered);
  SmallVector<Segment> segments;
  for (unsigned i = 0; i < graph.nests.size(); ++i) {
    const Nest &nest = graph.nests[i];
    bool perRow = nest.batched && !(nest.contraction && nest.contraction->rowsAreM);
    bool extends = perRow && !segments.empty() && segments.back().perRow &&
                   graph.nests[i - 1].last == nest.last;
    if (extends)
      segments.back().end = i + 1;
    else
      segments.push_back({i, i + 1, perRow});
  }
  return segments;
}

int64_t mlir::ft::leaf::storageBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

namespace {
/// Use of a buffer: first and last nest, first and last segment.
struct Lifetime {
  unsigned firstNest = ~0u, lastNest = 0, firstSegment = ~0u, lastSegment = 0;
  bool used() const { return firstNest != ~0u; }
};

struct Place {
  int64_t offset, size;
  unsigned first, last;
};
} // namespace

/// Lowest offset at which a buffer fits beside those that live at the same time.
static int64_t allocate(SmallVectorImpl<Place> &places, int64_t size, unsigned first,
                        unsigned last) {
  SmallVector<Place> alive;
  for (const Place &place : places)
    if (place.first <= last && first <= place.last)
      alive.push_back(place);
  llvm::sort(alive, [](const Place &a, const Place &b) { return a.offset < b.offset; });
  int64_t offset = 0;
  for (const Place &place : alive) {
    if (offset + size <= place.offset)
      break;
    offset = std::max(offset, place.offset + place.size);
  }
  places.push_back({offset, size, first, last});
  return offset;
}

SmallVector<Segment> mlir::ft::leaf::placeBuffers(LeafGraph &graph) {
  SmallVector<Segment> segments = findSegments(graph);
  SmallVector<Lifetime> lifetimes(graph.buffers.size());
  auto touch = [&](int buffer, unsigned nest, unsigned segment) {
    if (buffer < 0)
      return;
    Lifetime &life = lifetimes[buffer];
    life.firstNest = std::min(life.firstNest, nest);
    life.lastNest = std::max(life.lastNest, nest);
    life.firstSegment = std::min(life.firstSegment, segment);
    life.lastSegment = std::max(life.lastSegment, segment);
  };
  for (auto [s, segment] : llvm::enumerate(segments))
    for (unsigned n = segment.begin; n < segment.end; ++n) {
      auto touchView = [&, s = s](const View &view) {
        touch(view.buffer, n, s);
        for (const DynamicTerm &term : view.terms)
          touch(term.buffer, n, s);
      };
      if (graph.nests[n].contraction)
        touch(graph.nests[n].contraction->panel, n, s);
      for (const Member &member : graph.nests[n].members) {
        llvm::for_each(member.reads, touchView);
        llvm::for_each(member.inits, touchView);
        llvm::for_each(member.writes, touchView);
        for (const auto &[value, view] : member.captured)
          touchView(view);
      }
    }

  SmallVector<Place> fixedBlocks, rowBlocks;
  for (auto [i, buffer] : llvm::enumerate(graph.buffers)) {
    const Lifetime &life = lifetimes[i];
    if (buffer.kind != Buffer::Kind::Scratch || !buffer.inMemory || !life.used())
      continue;
    buffer.oneRow = buffer.batched && life.firstSegment == life.lastSegment &&
                    segments[life.firstSegment].perRow;
    int64_t bytes = llvm::alignTo(buffer.numElements * storageBytes(buffer.elementType), alignment);
    // A loop over rows comes back to its first nest: what it shares with other
    // rows lives through all of it.
    bool shared = !buffer.oneRow;
    unsigned first = shared ? segments[life.firstSegment].begin : life.firstNest;
    unsigned last = shared ? segments[life.lastSegment].end - 1 : life.lastNest;
    bool fixed = buffer.isFixed();
    buffer.byteOffset = allocate(fixed ? fixedBlocks : rowBlocks, bytes, first, last);
    int64_t &total = fixed ? graph.scratch.fixedBytes : graph.scratch.bytesPerRow;
    total = std::max(total, buffer.byteOffset + bytes);
  }
  return segments;
}
