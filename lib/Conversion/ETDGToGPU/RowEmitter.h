//===- RowEmitter.h - leaves that work row by row ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax, layer norm and their like walk each row several times: sums along it,
// then values that need these sums. Here a group of lanes keeps its row in
// registers from the first load to the last store, so that memory is read once
// and nobody waits for the other rows of a block of threads. Short rows share a
// warp, long ones have a block.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOGPU_ROWEMITTER_H
#define FT_LIB_CONVERSION_ETDGTOGPU_ROWEMITTER_H

#include "LeafEmitter.h"
#include "ft/Machine/Machine.h"

namespace mlir::ft::togpu {

/// One nest, its loops told apart.
struct RowNest {
  const leaf::Nest *nest;
  SmallVector<int> pointLoops; // in the order of RowPlan::points
  int rowLoop = -1;            // -1: one value for each point
  bool hoisted = false;        // the same for all points
};

struct RowPlan {
  SmallVector<int64_t> points; // extents of a leaf's row-wise points
  int64_t length = 0;          // elements of a row
  int64_t width = 1;           // adjacent elements of an access
  int64_t lanes = 32;          // that share a row: up to a warp, or a block of threads
  int64_t chunks = 1;          // accesses of a lane
  int64_t parts = 1;           // rows of a lane at a time
  /// Rows begin anywhere: lanes take their elements as if a row began where a line of memory does,
  /// so that a warp meets one line and not two.
  bool shifted = false;
  int64_t threads = 256;
  int64_t registers = 32; // that the values of a row take, about
  SmallVector<RowNest> nests;

  int64_t numPoints() const {
    int64_t count = 1;
    for (int64_t extent : points)
      count *= extent;
    return count;
  }
  /// Points that a block of threads computes at a time.
  int64_t pointsAtOnce() const { return threads / lanes * parts; }
  int64_t vectors() const { return length / width; }
  static constexpr int64_t lineVectors = 32; // what a warp accesses at a time
};

/// How a leaf is computed row by row; nothing if it has another form.
std::optional<RowPlan> planRows(const leaf::LeafGraph &graph, bool hasRows, const Machine::GpuPlanning &planning);

LogicalResult emitRows(LeafEmitter &emitter, const RowPlan &plan);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_ETDGTOGPU_ROWEMITTER_H
