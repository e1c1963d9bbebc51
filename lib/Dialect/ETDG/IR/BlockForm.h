//===- BlockForm.h - the canonical form of blocks ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the builder and the parser of etdg.block.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_IR_BLOCKFORM_H
#define FT_LIB_DIALECT_ETDG_IR_BLOCKFORM_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

namespace mlir::etdg {

/// Sorts symbols and drops unused ones, puts sets and maps in canonical form and
/// operands (where there are any) in order of first use.
void canonicalizeBlock(BlockBuilder &block);

void setBlockAttributes(BlockBuilder &block, MLIRContext *context, BlockOp::Properties &properties);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_IR_BLOCKFORM_H
