//===- Hyperplane.h - the hyperplane method ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sequential row of a schedule (FT §5.2, after Lamport): which sum of
// dimensions grows along every dependence, in as few steps as can be.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_HYPERPLANE_H
#define FT_ANALYSIS_HYPERPLANE_H

#include "ft/Analysis/Dependences.h"

namespace mlir::etdg {

using Distances = SmallVector<DistanceVector>;

/// The primitive row π with π·d ≥ 1 for all distances whose steps
/// Σ |π_i| (extent_i − 1) + 1 are fewest; among those the smallest, least negative
/// coefficients. A dimension in which a distance has no bound may take part in
/// one direction alone, or not at all. None where there is no such row, or where
/// there are no distances.
///
/// Coefficients are searched up to the largest of one row that is constructed
/// (at least 2, at most 64), as far as 50,000 rows; the constructed row stands where
/// none is better. Paper: non-negative coefficients and constant distances.
std::optional<SmallVector<int64_t>> findHyperplane(const Distances &distances,
                                                   ArrayRef<int64_t> extents);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_HYPERPLANE_H
