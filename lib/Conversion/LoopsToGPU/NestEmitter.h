//===- NestEmitter.h - one nest on a thread block ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread computes a small tile of points: some rows, or iterations of a
// loop along which an operand does not change, by some adjacent elements, which
// are loaded and stored as one access. Reductions run inside a thread; in slices
// by several threads where there are fewer tiles than threads; or across the lanes
// of a warp or all threads. The leaf's layouts say which (ft/Schedule/GpuLeaf.h).
// NestEmitter.cpp computes tiles, NestThreads.cpp gives them to threads.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_NESTEMITTER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_NESTEMITTER_H

#include "LeafEmitter.h"

#include "ft/Conversion/LeafGraph/NestAccesses.h"

namespace mlir::ft::togpu {

class NestEmitter {
public:
  NestEmitter(LeafEmitter &emitter, const leaf::Nest &original, NestSplit split, const Tiles &tiles)
      : e(emitter), b(emitter.b), nest(original), splitLoop(split.kind == NestSplit::shared ? split.loop : none),
        vectorLoop(tiles.vectorLoop), width(tiles.width), tileLoop(tiles.tileLoop), tile(tiles.tile),
        group(tiles.group), tiles(tiles), unroll(tiles.unroll) {}
  LogicalResult run();

private:
  LeafEmitter &e;
  Code &b;
  leaf::Nest nest;

  struct AccessInfo : leaf::NestAccess {
    int64_t vectorStride = 0;
    bool variesInVector = false;
    bool aligned = false; // `width` elements along the vector loop are one access
  };
  SmallVector<AccessInfo> accesses;
  static constexpr int none = Tiles::none, rowLoop = Tiles::rowLoop;
  int splitLoop; // its iterations are those of the columns of this block of threads
  bool lifted = false;
  int vectorLoop;
  int64_t width;
  int tileLoop;
  int64_t tile;
  int64_t group; // threads that share a point
  const Tiles &tiles;
  ArrayRef<int64_t> unroll; // copies of the loop over tiles, of those of the sums
  SmallVector<int> parallelLoops, reducedLoops;
  bool reduces = false;
  /// The threads that would be idle take slices of the outermost reduced loop: its ends, in
  /// granules.
  Value sliceBegin, sliceEnd;

  /// One thread's place: for each part of the tile the row and offsets.
  struct Part {
    At at;
    Value valid; // null: always
    SmallVector<Value> offsets;
    SmallVector<SmallVector<Value>> borders; // by access: the indices along them
    SmallVector<Value> loops;
  };
  struct Point {
    SmallVector<Part> parts;
    DenseMap<std::pair<int, int64_t>, SmallVector<Value>> loaded; // by access and part: the lanes
  };
  using Carried = SmallVector<Value>; // by part, lane, reduction

  void sortLoops();
  void findAdjacent();
  bool variesWithTile(const leaf::View &view) const;
  int64_t bytesOfSums() { return schedule::bytesOfSums(nest, tile * width); }
  /// Whether threads take slices of sums: few rows or columns are known only at run time.
  bool isSliced() { return schedule::cutsSums(tiles, nest, tile * width, e.threads.sums); }
  /// What LLVM is to make of the loop over tiles, or of the depth-th sum's: 1 keeps it, 0 leaves that open.
  int64_t copiesOfTiles() const { return unroll.empty() ? 0 : unroll.front(); }
  int64_t copiesOfSum(unsigned depth) const { return depth + 1 < unroll.size() ? unroll[depth + 1] : 0; }
  /// Terms of a slice that are computed at a time.
  int64_t granule() const { return std::max<int64_t>(copiesOfSum(0), 1); }
  /// How many tiles there are (i32), and how many if that is fixed.
  std::pair<Value, std::optional<int64_t>> countTiles();

  /// The tile at one number of `countTiles`' order.
  Point startAt(Value flat);
  Point start(ArrayRef<std::pair<int, Value>> indices, At at);
  void advance(Part &part, int loop, Value by) const;
  Value lane(Point &point, int access, int64_t part, int64_t lane);
  LogicalResult evaluate(Point &point, Carried &carried);
  LogicalResult emitReduced(unsigned depth, Point point, Carried &carried, Value laneInGroup);
  Carried neutral();
  LogicalResult storeReductions(Point &point, const Carried &carried);
  void storePart(Point &point, int access, int64_t part, ArrayRef<Value> lanes);
  Value acrossThreads(leaf::Member &member, unsigned result, Value value, At at, unsigned slot);
  std::pair<scf::ForOp, Value> threadLoop(Value total, std::optional<int64_t> fixed, Value thread,
                                          int64_t count, int64_t copies, ValueRange carried = {});
  LogicalResult emitPrivate();
  void loadFirst(Point &point);
  LogicalResult emitTogether(Value total, int64_t copies);
  LogicalResult emitEach(Value total, std::optional<int64_t> fixed);
  struct Sharing;
  Sharing shareTiles(Value total);
  Value cellOf(const Sharing &sharing, int64_t number, Value thread);
  FailureOr<Carried> sumSlice(const Sharing &sharing);
  FailureOr<Carried> addPartner(const Sharing &sharing, ValueRange sums, Value half, Value left);
  FailureOr<Carried> joinSlices(const Sharing &sharing, const Carried &sums);
  LogicalResult emitSliced(Value total);
  LogicalResult emitShared();
  LogicalResult emitTiled();
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_NESTEMITTER_H
