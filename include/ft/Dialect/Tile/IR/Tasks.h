//===- Tasks.h - loops over the tasks of a thread block ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_TILE_IR_TASKS_H
#define FT_DIALECT_TILE_IR_TASKS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tile {

/// Of a loop over the tasks of a thread block (a unit attribute): nothing relies on which block takes which task, so that tasks may be dealt in another
/// order. What is dealt `fixed` has none: a block's memory may hold what it is given in each step, and no block waits for another one's task.
inline constexpr llvm::StringLiteral inTurnName = "tile.in_turn";

} // namespace mlir::tile

#endif // FT_DIALECT_TILE_IR_TASKS_H
