//===- KeptPlanes.h - planes and bounds, as engines read them ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each conversion of a scheduled graph reads in the same way: how many planes
// the phase `storage` has kept of each buffer, and whether a dimension can be a loop.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_KEPTPLANES_H
#define FT_SCHEDULE_ANALYSIS_KEPTPLANES_H

#include "ft/Schedule/CPU/Plan.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::ft::schedule {

/// The planes of the buffers of a graph. What was not declared keeps all: arguments, results, constants.
class KeptPlanes {
public:
  /// Those of all buffers of a graph. (Of a result all planes are the caller's.)
  static KeptPlanes ofGraph(etdg::GraphOp graph);
  /// Notes the planes that a buffer says of itself, and returns them.
  ArrayRef<int64_t> declare(etdg::BufferOp buffer);
  /// Planes kept along a buffer's dimension; 0: all.
  int64_t at(Value buffer, unsigned dim) const;
  /// The same for all dimensions; empty: all planes of each.
  ArrayRef<int64_t> of(Value buffer) const;

private:
  llvm::DenseMap<Value, SmallVector<int64_t>> planes;
};

/// An error where a block of the nest has no bound of `dim` from the dimensions that are `known`: `engine`
/// (CPU, GPU) can't run it as a loop then.
LogicalResult checkLoopBounds(ArrayRef<BlockOp> nest, unsigned dim, llvm::function_ref<bool(unsigned)> known,
                              StringRef engine);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_KEPTPLANES_H
