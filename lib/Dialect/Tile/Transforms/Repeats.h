//===- Repeats.h - what a thread block computes again -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_REPEATS_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_REPEATS_H

#include "Pipelined.h"

namespace mlir::tile {

/// Tasks that may be computed a second time.
struct Repeat {
  Value flag;    // says for which tasks that is so
  Value isFirst; // whether this is the first time
  Value bit;     // the flag's bit of the task
};

/// Which tasks of a kernel's thread blocks are computed again as they were.
class Repeats {
public:
  explicit Repeats(LLVM::LLVMFuncOp kernel) : kernel(kernel) {}

  /// Whether the tasks that an operation is part of may be computed twice: no result lies where they read.
  bool mayRepeat(Operation *op);
  /// Has those tasks computed again for which a flag will be raised. What is left out the first time must not be so the second time.
  Repeat repeat(Operation *op);

private:
  Operation *wholeOf(Operation *op) { return kernel.getBody().front().findAncestorOpInBlock(*op); }

  LLVM::LLVMFuncOp kernel;
  llvm::DenseMap<Operation *, Repeat> repeats; // by operations of the kernel's own block
};

/// Raises a flag for the task here where `isAsked` holds and a row's value is less than `least`. Rows beyond a matrix don't count.
void raiseAtLowRows(ImplicitLocOpBuilder &b, const Repeat &repeat, Value rows, Value isAsked, double least);

/// Whether threads may do their parts of an operation in any order: none reads what another one writes, and one writes each place.
bool needsNoBarriers(Operation *op, LLVM::LLVMFuncOp kernel);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_REPEATS_H
