//===- CallBounds.h - what a call must guarantee ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_FT_TRANSFORMS_CALLBOUNDS_H
#define FT_LIB_DIALECT_FT_TRANSFORMS_CALLBOUNDS_H

#include "ft/Dialect/FT/IR/FT.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {

/// Whether types or body of a function are of the ft dialect.
bool isListFunction(func::FuncOp function);

/// The bounds of `callee` must follow from those at `call`; the names are the
/// same on both sides because the types are.
LogicalResult verifyCallBounds(func::CallOp call, func::FuncOp callee);

/// An error that shows the cycle when `function` is reached from itself.
LogicalResult verifyNoRecursion(func::FuncOp function, SymbolTableCollection &symbols);

} // namespace mlir::ft

#endif // FT_LIB_DIALECT_FT_TRANSFORMS_CALLBOUNDS_H
