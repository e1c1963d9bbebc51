//===- TileCalls.h - operations on tiles as calls ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ENGINE_EMULATOR_TILECALLS_H
#define FT_LIB_ENGINE_EMULATOR_TILECALLS_H

#include "TileMeaning.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft::emulate {

/// Operations of the dialect `tile` become calls of the interpreter's hooks, and tiles in registers numbers by which it knows
/// them. What the calls mean is added to `operations`. An operation that the interpreter has no rule for is a located error.
llvm::LogicalResult callTiles(mlir::Operation *module, std::vector<TileOperation> &operations);

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_TILECALLS_H
