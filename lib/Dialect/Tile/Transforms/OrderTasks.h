//===- OrderTasks.h - long tasks first --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_ORDERTASKS_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_ORDERTASKS_H

#include "Pipelined.h"

namespace mlir::tile {

/// Changes the order in which thread blocks take the tasks around `loop`, which has more iterations the greater `longer` is: those with many come first.
/// False where `longer` is no digit of a task's number.
bool orderTasks(scf::ForOp loop, Value longer);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_ORDERTASKS_H
