//===- FormLeaves.h - statements of a body as one leaf ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_LEAVES_FORMLEAVES_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_LEAVES_FORMLEAVES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// The blocks of a graph that hold others, inner ones before those around them.
SmallVector<BlockOp> graphBlocksOf(GraphOp graph);

/// Joins leaves of zero dimensions in a graph block's body. Returns how many disappeared.
unsigned joinStatements(Block &body, int64_t maxOperations);

/// Statements bring their constants along; a leaf needs each once.
void shareConstants(BlockOp leaf);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_LEAVES_FORMLEAVES_H
