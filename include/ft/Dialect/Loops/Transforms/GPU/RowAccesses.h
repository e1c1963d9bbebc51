//===- RowAccesses.h - places of rows in memory, and accesses there -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf whose lanes keep rows in registers reads them from some places in memory and leaves them at others: how many adjacent elements are one access
// there, and from which of them lanes count, is `#tile.row_accesses`. `loops-choose-points` writes it, emission reads it.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ROWACCESSES_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ROWACCESSES_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

namespace mlir::ft::togpu {

/// A view of one of the nests as the points and the row walk it: strides along the points, then along the row.
leaf::ElementView viewOverRow(const schedule::RowNest &form, const leaf::ElementView &view);

/// The places of a leaf, in the order of `widths`, by their views over points and row.
SmallVector<leaf::ElementView> placesOfRows(const leaf::LeafGraph &graph, const schedule::RowPlan &plan);

/// The widest accesses, and where lanes count from.
tile::RowAccessesAttr chooseRowAccesses(loops::LeafOp leaf, const LeafInBlock &own, const schedule::RowPlan &plan, ArrayRef<BufferFacts> facts,
                                        const Machine &machine);
/// What the leaf says of them. An error at it where that is missing or does not fit.
FailureOr<tile::RowAccessesAttr> readRowAccesses(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, const LeafPlaces &places,
                                                 const Machine &machine);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ROWACCESSES_H
