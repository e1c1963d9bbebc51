//===- BufferIndices.h - buffers whose indices change -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_BUFFERINDICES_H
#define FT_DIALECT_ETDG_TRANSFORMS_BUFFERINDICES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Makes all blocks that read or write `buffer` do so with `replacement`, at the index that `mapOf` gives; `positionOf` says where a
/// position of the index is then.
void replaceBuffer(Value buffer, Value replacement, llvm::function_ref<AffineMap(AffineMap)> mapOf,
                   llvm::function_ref<int64_t(int64_t)> positionOf);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_BUFFERINDICES_H
