//===- LoopBounds.h - parts of parallel loops -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Body and bounds of a parallel loop, whichever of its two forms it has: `scf.forall` of one dimension or `loops.chunks`.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_IR_LOOPBOUNDS_H
#define FT_DIALECT_LOOPS_IR_LOOPBOUNDS_H

#include "ft/Dialect/Loops/IR/Loops.h"

namespace mlir::loops {

inline Block &bodyOf(Operation *loop) { return loop->getRegion(0).front(); }

inline OpFoldResult lowerOf(Operation *loop) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.getLower();
  return cast<scf::ForallOp>(loop).getMixedLowerBound()[0];
}

inline OpFoldResult upperOf(Operation *loop) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.getUpper();
  return cast<scf::ForallOp>(loop).getMixedUpperBound()[0];
}

} // namespace mlir::loops

#endif // FT_DIALECT_LOOPS_IR_LOOPBOUNDS_H
