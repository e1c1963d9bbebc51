//===- BufferIndices.h - buffers whose indices change -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_BUFFERINDICES_H
#define FT_DIALECT_ETDG_TRANSFORMS_BUFFERINDICES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {
class SymbolSpace;

/// Makes all blocks that read or write `buffer` do so with `replacement`, at the index that `mapOf` gives; `positionOf` says where a
/// position of the index is then.
void replaceBuffer(Value buffer, Value replacement, llvm::function_ref<AffineMap(AffineMap)> mapOf,
                   llvm::function_ref<int64_t(int64_t)> positionOf);

/// The lengths that a buffer of a block gets for the block's dimensions: indices
/// are the dimensions themselves. None where a range has no such bound.
std::optional<SmallVector<ft::LengthAttr>> getOuterLengths(BlockOp block, const SymbolSpace &space);

/// A private buffer of a block's body with planes of its own for each iteration of the block, made where the builder stands: it gets the block's
/// dimensions, of which there are so many (`getOuterLengths`), as its first indices. How many planes live at a time is open then.
BufferOp widenBuffer(OpBuilder &builder, BufferOp buffer, BlockOp block, ArrayRef<ft::LengthAttr> lengths);

/// What is written by the items of a block's body stays as long as anyone may read it: planes were counted for the order in which the items ran.
void keepAllPlanes(BlockOp block);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_BUFFERINDICES_H
