//===- StagedReads.h - reads that thread blocks keep --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a recurrence reads the same weights as the step before. Where a nest's loops are dealt `fixed`, each thread
// block computes the same columns of the same point in every step, so it can keep the columns of the weights that it
// needs in its own shared memory: a placement of the schedule says so of a read, and they are copied once, before the
// nest's first loop.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_PLAN_STAGEDREADS_H
#define FT_SCHEDULE_GPU_PLAN_STAGEDREADS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"

#include <optional>

namespace mlir::ft::schedule {

/// The copy of a read that a thread block keeps: `rows` rows of `tile` columns, of the `columns` that the element has.
struct StagedRead {
  unsigned read = 0;
  int64_t rows = 0, columns = 0, tile = 0;
  SmallVector<int64_t> strides; // of the copy, by dimension of the element
  int64_t getElements() const { return rows * tile; }
};

/// What a leaf's schedule stages of one of its reads; nothing where it does not.
std::optional<StagedRead> getStagedRead(BlockOp leaf, unsigned read);
/// The same for a read that were staged by tiles of so many columns; nothing where its element has no such columns.
std::optional<StagedRead> makeStagedRead(BlockOp leaf, unsigned read, int64_t columns, int64_t tile);

/// The points of a nest whose steps are all there at once: of each dealt dimension, in the order of their loops, the constant
/// range that holds all of its iterations. What a thread block keeps it keeps for one of them, and one tile of columns.
struct FixedPoints {
  struct Range {
    unsigned dim;
    int64_t lower, extent;
  };
  SmallVector<Range> ranges;
  int64_t chunks = 1; // tiles of columns
  int64_t getCount() const;
};
/// Nothing where a range has no constant ends.
std::optional<FixedPoints> getFixedPoints(ArrayRef<BlockOp> nest, const GpuPlan &plan);

/// Why a nest's placement can't be served by thread blocks; empty where it can. `units`: how many there are at once.
std::string describeUnstaged(ArrayRef<BlockOp> nest, const GpuPlan &plan, etdg::PlacementAttr placement, int64_t units);

/// A leaf of the nests that writes the buffer, if any: nothing stages what is written while a kernel runs.
BlockOp findWriter(ArrayRef<SmallVector<BlockOp>> nests, Value buffer);

/// Whether each of a leaf's loop nests touches a read, whose rows have `columns` elements, in the columns alone that are its own.
bool readsOwnColumns(const LeafForm &form, unsigned read, int64_t columns);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_PLAN_STAGEDREADS_H
