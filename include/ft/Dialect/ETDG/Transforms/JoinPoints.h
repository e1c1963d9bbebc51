//===- JoinPoints.h - a few points of maps as one leaf ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_JOINPOINTS_H
#define FT_DIALECT_ETDG_TRANSFORMS_JOINPOINTS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Makes a graph block whose children are leaves, each without dimensions or at a number of points of maps, one leaf, which
/// computes all of them, and takes its place. Null, with nothing changed, where its children are others, would be more than
/// `mostPoints` or can't be one leaf.
BlockOp joinPoints(BlockOp block, int64_t mostPoints);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_JOINPOINTS_H
