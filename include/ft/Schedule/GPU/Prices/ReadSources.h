//===- ReadSources.h - from which memory leaves read ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a load waits depends on who has what it brings: shared memory or the
// cache beside it, where the thread block keeps reading the same; the cache that
// all SMs share; the device's memory, where nothing has touched it before
// or more has been touched since than that cache holds.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_PRICES_READSOURCES_H
#define FT_SCHEDULE_GPU_PRICES_READSOURCES_H

#include "ft/Schedule/GPU/Plan/GpuPlan.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"

#include "llvm/ADT/SmallBitVector.h"

namespace mlir::ft::schedule {

/// Nearest first.
enum class Source { Shared, Near, Common, Device };

/// What surrounds a leaf, as far as it decides where reads come from.
struct ReadPlace {
  /// Dimensions that a task goes through, one iteration after the other, and those of them after whose iterations all thread blocks
  /// wait: what the nearest cache has does not outlast that.
  llvm::SmallBitVector inTask, inSteps;
  /// Dimensions that are dealt: what does not move with each of them several tasks read.
  llvm::SmallBitVector dealt;
  double tasks = 1;       // of the machine at a time, and rows of each
  double rows = 1;
  bool fitsNear = false;  // whether the nearest cache holds all that is read in each iteration
  bool keepsTask = false; // and all else that a task touches
  bool isStaged = false;  // whether placements keep reads in shared memory
};

/// Of the pieces of a read the farthest.
Source sourceOf(BlockOp leaf, unsigned read, const ReadPlace &place, TypicalRanges &ranges, const Machine &machine);
/// Bytes of the reads of a leaf that are the same in all iterations which a task goes through.
double repeatedBytes(BlockOp leaf, const ReadPlace &place);
/// Bytes of what is another in each iteration, of all of them: arguments that a leaf reads, and the workspace of a block.
double passingBytes(BlockOp leaf, const ReadPlace &place, TypicalRanges &ranges);
double workspaceBytesOf(BlockOp block, TypicalRanges &ranges);
/// Bytes of shared memory that buffers inside of a block take, for so many rows.
double sharedBytesOf(BlockOp block, double rows);
/// Seconds from a load until what it brings is there.
double latencyOf(Source source, const Machine &machine);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_PRICES_READSOURCES_H
