//===- Repeats.h - what a thread block computes again -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_REPEATS_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_REPEATS_H

#include "Pipelined.h"

namespace mlir::tile {

/// What of a kernel is computed again as it was, once a flag has been raised.
class Repeats {
public:
  explicit Repeats(LLVM::LLVMFuncOp kernel) : kernel(kernel) {}

  /// The flag with which a thread block computes all of its tasks again that an operation is part of. It is called before that is changed. Null where they can't be
  /// computed twice: their results may lie where they read.
  Value flagOf(Operation *op);

private:
  LLVM::LLVMFuncOp kernel;
  llvm::DenseMap<Operation *, Value> flags; // by operations of the kernel's own block
};

/// Raises a flag where `isAsked` holds and a row's value is less than `least`. Rows beyond a matrix don't count.
void raiseAtLowRows(ImplicitLocOpBuilder &b, Value flag, Value rows, Value isAsked, double least);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_REPEATS_H
