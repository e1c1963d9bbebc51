//===- ExcessPrecision.h - halves that stay f32 in a body -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_EXCESSPRECISION_H
#define FT_DIALECT_ETDG_TRANSFORMS_EXCESSPRECISION_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Computes what stands between a leaf's reads and its results in f32, as `etdg-excess-precision` does. A failure, with nothing changed, where no
/// rounding can be left out.
LogicalResult leaveOutRoundings(BlockOp leaf);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_EXCESSPRECISION_H
