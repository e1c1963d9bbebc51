//===- FTForms.h - short forms of the ft dialect ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that stand for several upstream ones.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_FT_IR_FTFORMS_H
#define FT_DIALECT_FT_IR_FTFORMS_H

#include "ft/Dialect/FT/IR/FT.h"

#define GET_OP_CLASSES
#include "ft/Dialect/FT/IR/FTForms.h.inc"

namespace mlir::ft {

/// Whether the operation is a short form of tensor operations.
bool isShortForm(Operation *op);

/// The upstream operations that a short form stands for, at the builder's insertion point; the
/// value that takes the place of its result.
Value expandShortForm(OpBuilder &builder, Operation *op);

} // namespace mlir::ft

#endif // FT_DIALECT_FT_IR_FTFORMS_H
