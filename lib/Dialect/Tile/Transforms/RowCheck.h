//===- RowCheck.h - what a kernel refuses of its rows' values ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_ROWCHECK_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_ROWCHECK_H

#include "Pipelined.h"

namespace mlir::tile {

/// Ends the call with an error where `isAsked` holds and a row's value is less than `least`. Rows beyond a matrix don't count.
llvm::LogicalResult checkRows(ImplicitLocOpBuilder &b, Value rows, Value isAsked, double least);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_ROWCHECK_H
