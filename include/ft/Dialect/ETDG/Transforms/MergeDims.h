//===- MergeDims.h - two dimensions as one, and one as two ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Depth-wise coarsening (FT §5.1) and its inverse.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_MERGEDIMS_H
#define FT_DIALECT_ETDG_TRANSFORMS_MERGEDIMS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Merges own dimensions `dim` and `dim + 1` of a block that stands alone into one,
/// c = m·i + j with m the length of the inner one. That is done only where it
/// leaves every index affine without divisions: each constraint and index has them
/// as that sum or not at all, or two indices of a buffer that is no argument and
/// no result are the pair itself. Blocks that share such a buffer are merged with
/// it. With a symbolic m only the latter is possible, and its product with the
/// outer length is a symbol of its own. Returns whether it was done; `why` says
/// what is in the way.
bool mergeDims(BlockOp block, unsigned dim, std::string &why);

/// Splits own dimension `dim` of a block, or of all blocks of its nest, into
/// `size`·o + i with 0 ≤ i < size, in this order: the lexicographic order of the
/// two is the old one. Both have the old operator. Fails on a dimension without a
/// lower and an upper bound, or where `size` < 1.
LogicalResult splitDim(BlockOp block, unsigned dim, int64_t size);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_MERGEDIMS_H
