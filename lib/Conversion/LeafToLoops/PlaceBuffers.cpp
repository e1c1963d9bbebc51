//===- PlaceBuffers.cpp - Where intermediate values live ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only lives inside of a loop over the rows (RowLoops.cpp) needs memory for a
// single row, which stays in the cache. The rest of the scratch has memory for all rows, contiguous, so that
// rows are the rows of a matrix. Values whose lifetimes are apart share memory.
// What is chosen is written on the leaf (`#loops.scratch`); what is written there is
// checked, and obeyed.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "ft/Support/FirstFit.h"
#include "ft/Support/MemoryAlignment.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

int64_t mlir::ft::leaf::storageBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

namespace {
/// Use of a buffer: first and last nest, first and last segment.
struct Lifetime {
  unsigned firstNest = ~0u, lastNest = 0, firstSegment = ~0u, lastSegment = 0;
  bool used() const { return firstNest != ~0u; }
};
} // namespace

SmallVector<int> mlir::ft::leaf::scratchValues(const LeafGraph &graph) {
  SmallVector<int> values;
  for (auto [i, buffer] : llvm::enumerate(graph.buffers))
    if (buffer.kind == Buffer::Kind::Scratch)
      values.push_back(int(i));
  return values;
}

/// How long each buffer is used.
static SmallVector<Lifetime> findLifetimes(const LeafGraph &graph, ArrayRef<Segment> segments) {
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
      auto touchView = [&, s = s](const ElementView &view) {
        touch(view.buffer, n, s);
        for (const DynamicTerm &term : view.terms)
          touch(term.buffer, n, s);
      };
      if (graph.nests[n].contraction)
        touch(graph.nests[n].contraction->panel, n, s);
      for (const NestMember &member : graph.nests[n].members) {
        llvm::for_each(member.reads, touchView);
        llvm::for_each(member.inits, touchView);
        llvm::for_each(member.writes, touchView);
        for (const auto &[value, view] : member.captured)
          touchView(view);
      }
    }
  return lifetimes;
}

static int64_t paddedBytes(const Buffer &buffer) { return llvm::alignTo(buffer.numElements * storageBytes(buffer.elementType), memoryAlignment); }

/// Whether one row's memory can serve all rows: a loop over the rows is all that uses it.
static bool isOfOneLoop(const Buffer &buffer, const Lifetime &life, ArrayRef<Segment> segments) {
  return buffer.batched && life.firstSegment == life.lastSegment && segments[life.firstSegment].perRow;
}

/// The nests from the first to the last that a value lives through. A loop over rows comes back to its first nest: what is shared with
/// other rows lives through all of it.
static std::pair<unsigned, unsigned> nestsOf(const Lifetime &life, ArrayRef<Segment> segments, ScratchPlace::Kind kind) {
  if (kind == ScratchPlace::Kind::Row)
    return {life.firstNest, life.lastNest};
  return {segments[life.firstSegment].begin, segments[life.lastSegment].end - 1};
}

ScratchPlaces mlir::ft::leaf::choosePlaces(const LeafGraph &graph, ArrayRef<Segment> segments) {
  SmallVector<Lifetime> lifetimes = findLifetimes(graph, segments);
  ScratchPlaces places;
  FirstFit fixedBlocks, rowBlocks;
  for (int number : scratchValues(graph)) {
    const Buffer &buffer = graph.buffers[number];
    const Lifetime &life = lifetimes[number];
    places.emplace_back();
    if (!buffer.inMemory || !life.used())
      continue;
    ScratchPlace place;
    place.kind = !buffer.batched                          ? ScratchPlace::Kind::Once
                 : isOfOneLoop(buffer, life, segments) ? ScratchPlace::Kind::Row
                                                          : ScratchPlace::Kind::Rows;
    place.bytes = paddedBytes(buffer);
    auto [first, last] = nestsOf(life, segments, place.kind);
    place.offset = (place.kind == ScratchPlace::Kind::Rows ? rowBlocks : fixedBlocks).place(place.bytes, first, last);
    places.back() = place;
  }
  return places;
}

namespace {
/// Takes places that are written, if values can have them.
struct Placing {
  LeafGraph &graph;
  ArrayRef<Segment> segments;
  SmallVector<Lifetime> lifetimes;

  struct Taken : FirstFit::Allocation {
    int value;
    bool isOfRows;
  };
  SmallVector<Taken> taken;

  /// An error at what computes a value.
  InFlightDiagnostic errorOf(int buffer, int value) const {
    Operation *at = graph.func;
    for (const Nest &nest : llvm::reverse(graph.nests))
      for (const NestMember &member : nest.members)
        if (llvm::any_of(member.writes, [&](const ElementView &view) { return view.buffer == buffer; }) ||
            (nest.contraction && nest.contraction->panel == buffer))
          at = member.op;
    return at->emitError("value ") << value << " between its loop nests can't be in this place: ";
  }
  LogicalResult placeValue(int buffer, int value, const ScratchPlace &place);
};
} // namespace

LogicalResult Placing::placeValue(int number, int value, const ScratchPlace &place) {
  using Kind = ScratchPlace::Kind;
  Buffer &buffer = graph.buffers[number];
  const Lifetime &life = lifetimes[number];
  if (!life.used())
    return errorOf(number, value) << "no loop nest computes it";
  if (buffer.batched == (place.kind == Kind::Once))
    return errorOf(number, value) << (buffer.batched ? "rows have their own, found `once`" : "all rows share it, expected `once`");
  if (place.kind == Kind::Row && !isOfOneLoop(buffer, life, segments))
    return errorOf(number, value) << "more than one loop over rows uses it, expected `rows`";
  if (place.bytes < paddedBytes(buffer))
    return errorOf(number, value) << "it has " << paddedBytes(buffer) << " bytes, found " << place.bytes;
  auto [first, last] = nestsOf(life, segments, place.kind);
  bool isOfRows = place.kind == Kind::Rows;
  for (const Taken &other : taken)
    if (other.isOfRows == isOfRows && other.first <= last && first <= other.last && place.offset < other.offset + other.size &&
        other.offset < place.offset + place.bytes)
      return errorOf(number, value) << "value " << other.value << " is needed while it is, and has bytes " << other.offset << " to "
                                   << other.offset + other.size;
  taken.push_back({{place.offset, place.bytes, first, last}, value, isOfRows});
  buffer.inMemory = true;
  buffer.oneRow = place.kind == Kind::Row;
  buffer.byteOffset = place.offset;
  int64_t &total = isOfRows ? graph.scratch.bytesPerRow : graph.scratch.fixedBytes;
  total = std::max(total, place.offset + place.bytes);
  return success();
}

LogicalResult mlir::ft::leaf::placeBuffers(LeafGraph &graph, ArrayRef<Segment> segments, const ScratchPlaces &places) {
  Placing placing{graph, segments, findLifetimes(graph, segments), {}};
  SmallVector<int> values = scratchValues(graph);
  for (size_t i = values.size(); i < places.size(); ++i)
    if (places[i])
      return graph.func.emitError("its loop nests hand on ") << values.size() << " values, found a place of value " << i;
  for (auto [i, number] : llvm::enumerate(values)) {
    const Buffer &buffer = graph.buffers[number];
    if (i < places.size() && places[i]) {
      if (failed(placing.placeValue(number, int(i), *places[i])))
        return failure();
    } else if (buffer.inMemory && placing.lifetimes[number].used()) {
      return placing.errorOf(number, int(i)) << "it is read from memory, expected a #loops.scratch of " << paddedBytes(buffer) << " bytes";
    }
  }
  return success();
}
