//===- ProductEmitter.h - products of matrices as tiles ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_PRODUCTEMITTER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_PRODUCTEMITTER_H

#include "LeafEmitter.h"

namespace mlir::ft::togpu {

/// Emits nest `number` of the emitter's leaf, and those after it that its layout computes with it. `memory`: shared
/// memory for the operands' stages, which nothing else uses meanwhile.
LogicalResult emitProduct(LeafEmitter &emitter, unsigned number, const schedule::ProductTiles &product,
                          Value memory);

/// The tiles of a sum that stays in registers through a loop, as the emitter's leaf reads it before the first iteration.
SmallVector<Value> loadKept(LeafEmitter &emitter, const KeptSum &sum);
/// Stores them where the leaf does.
void storeKept(LeafEmitter &emitter, const KeptSum &sum, ValueRange tiles);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_PRODUCTEMITTER_H
