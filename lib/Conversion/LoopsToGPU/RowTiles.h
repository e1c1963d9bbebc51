//===- RowTiles.h - leaves that work row by row -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax, layer norm and their like walk each row several times: sums along it,
// then values that need these sums. Here they become operations on rows of the
// dialect `tile`: a group of lanes keeps its row in registers from the first load
// to the last store, so that memory is read once and nothing waits for the other
// rows of a thread block. Short rows share a warp, long ones have a block.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_ROWTILES_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_ROWTILES_H

#include "LeafEmitter.h"

namespace mlir::ft::togpu {

LogicalResult emitRows(LeafEmitter &emitter, const RowPlan &plan);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_ROWTILES_H
