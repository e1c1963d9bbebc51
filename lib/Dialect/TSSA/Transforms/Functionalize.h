//===- Functionalize.h - the steps of tssa-functionalize --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each step takes the function that the one before has left. A step that refuses
// emits the error.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_TSSA_TRANSFORMS_FUNCTIONALIZE_H
#define LIB_FT_DIALECT_TSSA_TRANSFORMS_FUNCTIONALIZE_H

#include "ft/Dialect/TSSA/Transforms/Aliases.h"
#include "ft/Dialect/TSSA/Transforms/Passes.h"

namespace mlir::tssa {

/// InlineCalls.cpp: the bodies of functions with mutable tensors take the place of calls.
LogicalResult inlineCalls(ModuleOp module);

/// ResolveMerges.cpp: control flow carries no mutable tensors any more.
LogicalResult resolveMerges(func::FuncOp function);

/// RewriteMutations.cpp: access, assign and update. `written` become further results.
LogicalResult rewriteMutations(func::FuncOp function, ArrayRef<unsigned> written);

/// Versions.cpp: updates cross control flow, then go.
LogicalResult propagateUpdates(func::FuncOp function);
void renameVersions(func::FuncOp function);

/// Cleanup.cpp: what nothing needs goes.
LogicalResult simplifyFunction(func::FuncOp function);
void pruneCarried(func::FuncOp function);

// Carried.cpp: operations with other carried values.

/// A loop with more carried values: arguments, yielded operands (the arguments, for
/// the caller to replace) and results are appended. The old one is erased.
scf::ForOp addCarried(scf::ForOp loop, ValueRange inits);
scf::IfOp addResults(scf::IfOp branch, ValueRange thenValues, ValueRange elseValues);
/// Adds to what `before` carries and, with the same values, to what it passes on.
scf::WhileOp addCarried(scf::WhileOp loop, ValueRange inits);
/// The same with others passed on: `passed` stands for what the condition gives, the caller
/// replaces it, and what is yielded.
scf::WhileOp addCarried(scf::WhileOp loop, ValueRange inits, ValueRange passed);
/// Takes carried values away that nothing uses.
scf::ForOp dropCarried(scf::ForOp loop, const llvm::SmallBitVector &dropped);
scf::IfOp dropResults(scf::IfOp branch, const llvm::SmallBitVector &dropped);
scf::WhileOp dropCarried(scf::WhileOp loop, const llvm::SmallBitVector &before,
                         const llvm::SmallBitVector &after);

// Values.cpp: small computations.

/// The size of a dimension: a constant, or `tensor.dim`.
OpFoldResult sizeOf(OpBuilder &b, Location loc, Value tensor, int64_t dim);
/// `value` broadcast to the sizes of `like` and cast to its element type.
Value convertTo(OpBuilder &b, Location loc, Value value, RankedTensorType type,
                function_ref<OpFoldResult(unsigned)> sizeOfDim);

} // namespace mlir::tssa

#endif // LIB_FT_DIALECT_TSSA_TRANSFORMS_FUNCTIONALIZE_H
