//===- NestCode.h - what one thread does for a nest -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread computes tiles of points (`#tile.point_tiles`): NestPoints.cpp has its places in memory, NestTerms.cpp what is computed
// at a tile and along reduced loops, NestSlices.cpp and NestLanes.cpp how several threads share a tile, LowerNests.cpp which
// tiles are a thread's own.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_TILETONVVM_NESTCODE_H
#define FT_LIB_CONVERSION_TILETONVVM_NESTCODE_H

#include "RowCode.h"

namespace mlir::tile {

/// What several points of a nest read or write: reads and writes of one place are one.
struct NestAccess {
  MemoryOp memory;
  PointPlaceAttr place;
  Region *begin;
  int64_t width = 1; // elements of one access
  bool isWritten = false;
  // Of the layout's vector and tile:
  int64_t vectorStride = 0;
  bool variesInVector = false, variesInTile = false;
};

/// One iteration of the tile's loop, or one of its rows, as a thread goes through it.
struct TilePart {
  Value row, lift;
  Value valid;                              // null: always
  SmallVector<Value> offsets;               // by access
  SmallVector<SmallVector<Value>> borders;  // by access: the indices along them
  SmallVector<Value> loops;
};

/// Where a thread is, and what it has there.
struct PointTile {
  SmallVector<TilePart> parts;
  llvm::DenseMap<std::pair<Value, int64_t>, SmallVector<Value>> known; // by value and part: adjacent elements
};

using Sums = SmallVector<Value>; // by part, element, reduction

class NestCode : public RowCode {
public:
  NestCode(NestOp nest, OpBuilder &builder);
  void run();

private:
  /// One result of a reduction.
  struct Reduction {
    ReducePointsOp op;
    unsigned number;
    TypedAttr neutral() { return cast<TypedAttr>((*op.getNeutral())[number]); }
    Value init() { return op.getInits()[number]; }
    Value result() { return op->getResult(number); }
    Block &combiner() { return op.getCombiners()[number].front(); }
  };
  struct Slices;

  // LowerNests.cpp
  std::pair<Value, std::optional<int64_t>> countTiles();
  /// A loop over [0, total) that so many threads share. Where all of them go round equally often, the loop says how often.
  std::pair<scf::ForOp, Value> threadLoop(Value total, std::optional<int64_t> fixed, Value thread, int64_t count, int64_t copies,
                                          ValueRange inits = {});
  scf::ForOp loop(Value begin, Value end, Value step, ValueRange inits, int64_t copies);
  void runEach(Value total, std::optional<int64_t> fixed);
  void runTogether(Value total);

  // NestPoints.cpp
  void addAccess(Operation *op, MemoryOp memory, PointPlaceAttr place, Region &begin, int64_t width, bool isWritten);
  bool movesWithRows(const NestAccess &access) const;
  PointTile startAt(Value flat);
  TilePart startPart(ArrayRef<std::pair<int64_t, Value>> indices, Value row, Value lift, Value lastRow, int64_t number);
  void advance(TilePart &part, int64_t loop, Value by);
  Value elementOf(PointTile &tile, Value value, int64_t part, int64_t lane);
  SmallVector<Value> load(const NestAccess &access, Value offset, const TilePart &at, int64_t stride, int64_t count);
  SmallVector<Value> loadInside(const NestAccess &access, Value offset, const TilePart &at, ArrayRef<Value> places, int64_t count);
  SmallVector<Value> valueOf(const NestAccess &access, const TilePart &at, int64_t count);
  void store(WriteOp write, const TilePart &at, ArrayRef<Value> values);
  Value offsetIn(MemoryOp memory, Value offset, const TilePart &at);
  /// Where an element lies, by how far it is after where memory begins.
  Value addressIn(MemoryOp memory, Value start);
  SmallVector<Value> loadFrom(MemoryOp memory, Value start, int64_t count, bool isOne);
  void storeTo(MemoryOp memory, Value start, ArrayRef<Value> values, bool isOne);

  // NestTerms.cpp
  SmallVector<Value> cloneBody(Block &body, ValueRange arguments, const TilePart &at, int64_t lane = 0);
  Value combine(Reduction &reduction, Value a, Value b);
  void evaluate(PointTile &tile, Sums &sums);
  /// What is written of an operation's results, in order.
  SmallVector<WriteOp> writesOf(Operation *op);
  void map(MapPointsOp op, PointTile &tile, int64_t part);
  void reduce(ReducePointsOp op, PointTile &tile, int64_t part, Sums &sums, size_t first);
  void runReduced(unsigned depth, PointTile tile, Sums &sums, Value laneInGroup);
  void runGranules(PointTile &tile, Sums &sums);
  Sums neutral();
  void storeSums(PointTile &tile, ArrayRef<Value> sums);
  /// The tile's elements begin to be copied.
  void copyAsync(const PointTile &tile);
  void loadFirst(PointTile &tile);
  Value toFloat32(Value value);

  // NestSlices.cpp
  void runSlices(Value total);
  Slices shareTiles(Value total);
  Value cellOf(const Slices &slices, int64_t number, Value thread);
  Sums sumSlice(const Slices &slices);
  Sums addPartner(const Slices &slices, ValueRange sums, Value half, Value left);
  Sums joinSlices(const Slices &slices, const Sums &sums);

  // NestLanes.cpp
  void runLanes(Value total, std::optional<int64_t> fixed);
  PointTile startGroup(Value total, std::optional<int64_t> fixed, Value group, int64_t groups);
  Value acrossLanes(Reduction &reduction, Value value, int64_t slot);

  size_t slotOf(int64_t part, int64_t lane, size_t reduction) const {
    return size_t(part * width + lane) * reductions.size() + reduction;
  }

  NestOp nest;
  PointTilesAttr layout;
  int64_t width, tile; // of the layout
  SmallVector<int64_t> parallelLoops, reducedLoops;
  SmallVector<NestAccess> accesses;
  llvm::DenseMap<Operation *, size_t> accessOf; // reads and writes
  SmallVector<Reduction> reductions;
  /// Of the slice that is summed: its ends, in granules.
  Value sliceBegin, sliceEnd;
};

} // namespace mlir::tile

#endif // FT_LIB_CONVERSION_TILETONVVM_NESTCODE_H
