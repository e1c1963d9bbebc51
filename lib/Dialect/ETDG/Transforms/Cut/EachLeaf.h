//===- EachLeaf.h - what passes that cut and join leaves share --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_CUT_EACHLEAF_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_CUT_EACHLEAF_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Calls `visit` for each leaf of a graph, not for those that it makes. An error where fewer are `asked` for at a time than `least`, which `expected`
/// says in words.
LogicalResult eachLeaf(GraphOp graph, int64_t asked, int64_t least, StringRef expected, llvm::function_ref<void(BlockOp)> visit);

/// Whether a dimension of the block is another one than a map's.
bool hasReduction(BlockOp block);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_CUT_EACHLEAF_H
