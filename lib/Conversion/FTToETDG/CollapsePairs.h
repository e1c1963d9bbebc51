//===- CollapsePairs.h - two lengths as one ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_FTTOETDG_COLLAPSEPAIRS_H
#define FT_LIB_CONVERSION_FTTOETDG_COLLAPSEPAIRS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::toetdg {

inline constexpr llvm::StringLiteral takenApartName = "taken_apart";

/// Puts in the place of `function` a copy that `rewrite` has changed; all stays as it was where `rewrite` gives up.
bool rewriteCopy(func::FuncOp &function, llvm::function_ref<bool(func::FuncOp)> rewrite);

/// The function with every pair of symbolic lengths that all accesses use as one
/// dimension replaced by a fresh length; the same function where there is none. What
/// cannot be collapsed stays, and the conversion refuses it where it stands.
/// Such a flatten then says in the attribute `takenApartName` where its pair is taken apart.
func::FuncOp collapsePairs(func::FuncOp function);

/// Lists that are cut by a length, and used in no other way along that dimension, have two
/// dimensions from the start. Returns the function that stands in the place of `function` now.
func::FuncOp takeApart(func::FuncOp function);

} // namespace mlir::ft::toetdg

#endif // FT_LIB_CONVERSION_FTTOETDG_COLLAPSEPAIRS_H
