//===- ElementForm.h - reads that address scalars ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read of whole elements can be written over the dimensions of its element as well:
// `%xs[i]` of `tensor<4xf32>` is `elem (e0) %xs[i, e0]`. In that form maps of reads compose,
// whatever part of an index is a length of the buffer and what is its element's.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_ELEMENTFORM_H
#define FT_DIALECT_ETDG_TRANSFORMS_ELEMENTFORM_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// The same read with a map to scalars, over the dimensions of its value (`type`) too. `numDims`: the block's.
ReadAttr toScalars(ReadAttr read, RankedTensorType type, unsigned numDims);

/// How many leading indices of a read by scalars are the iteration's alone where all others are
/// the element's dimensions in order; none where no number is such.
std::optional<unsigned> getPlainDepth(PieceAttr piece, unsigned elementRank);

/// Reads of whole elements, where all pieces of a read are such, are written as that; of others, dimensions of one iteration leave sums of indices.
void simplifyReads(BlockOp block);

/// A read that divides a dimension of its element, `elem (e0) %xs[i, floordiv(e0, 64), mod(e0, 64)]`, where both lie after one another in memory
/// (heads that are merged back), has both as dimensions of its element, which the body takes as one.
void splitDividedReads(BlockOp leaf);

/// Whether the scalars of a read by scalars have constant distances in memory: one piece of one buffer, no
/// index from data, no quotient of the element's dimensions, and no length of a name after one of these.
bool hasConstantSteps(ReadAttr read, ValueRange buffers, unsigned numDims);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_ELEMENTFORM_H
