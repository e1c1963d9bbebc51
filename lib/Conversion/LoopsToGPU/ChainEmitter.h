//===- ChainEmitter.h - chains of products in registers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_CHAINEMITTER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_CHAINEMITTER_H

#include "LeafEmitter.h"

namespace mlir::ft::togpu {

/// Emits the emitter's leaf as the chain that its layout says.
LogicalResult emitChain(LeafEmitter &emitter);

/// What stays in registers through a loop, as the emitter's leaf reads it before the first iteration; and stores it where the leaf does.
Value loadKeptOfChain(LeafEmitter &emitter, const KeptSum &sum);
void storeKeptOfChain(LeafEmitter &emitter, const KeptSum &sum, Value kept);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_CHAINEMITTER_H
