//===- BorderedReads.h - reads of a box with one scalar around --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_FUSION_BORDEREDREADS_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_FUSION_BORDEREDREADS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::etdg {

/// An element that is a box of one buffer, read in place, and one scalar around it.
struct BorderedRead {
  ReadAttr read;         // of the box alone
  RankedTensorType type; // of the box
  SmallVector<int64_t> low, high; // how far the element reaches beyond it
  TypedAttr value;
};

/// The form of a read whose pieces are such; none where a border depends on the iteration.
std::optional<BorderedRead> matchBorder(ReadAttr read, RankedTensorType type, ValueRange buffers, unsigned numDims);

/// Whether all that use an argument of a leaf compute on its elements where these lie, so that engines read a padded one in place.
bool isComputedInPlace(BlockArgument argument);

/// Why a padded tensor stays a copy, which other blocks read; empty: it need not.
StringRef whyCopied(tensor::PadOp op);

/// The leaf's argument becomes the box, which its body pads. The block reads it already.
void padArgument(BlockArgument argument, const BorderedRead &bordered);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_FUSION_BORDEREDREADS_H
