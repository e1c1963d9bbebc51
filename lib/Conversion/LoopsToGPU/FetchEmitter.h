//===- FetchEmitter.h - fetches of operands ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_FETCHEMITTER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_FETCHEMITTER_H

#include "LeafEmitter.h"
#include "MapCoordinates.h"

#include "ft/Dialect/Loops/Transforms/GPU/OperandFetches.h"

namespace mlir::ft::togpu {

/// The tensors of an operand, as arguments of the kernel.
struct FetchedOperand {
  OperandFetch fetch;
  SmallVector<Value> tensors; // by place
};
/// An error where the operand is no tensor.
FailureOr<FetchedOperand> readOperand(LeafEmitter &e, unsigned nest, const schedule::ProductTiles &product, unsigned member, bool isLhs);

/// Fetches the tile that begins at this row and column of the operand's matrix; of several operands one part each, along whatever the type says.
Value emitFetch(LeafEmitter &e, tile::SharedType type, ArrayRef<FetchedOperand> operands, const MapIndices &indices, Value row, Value column);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_FETCHEMITTER_H
