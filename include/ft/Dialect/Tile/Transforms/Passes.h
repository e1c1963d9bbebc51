//===- Passes.h - passes over tile ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_TILE_TRANSFORMS_PASSES_H
#define FT_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Pass/Pass.h"

namespace mlir::tile {
#define GEN_PASS_DECL
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"

/// registerTilePipelinePasses() and one function for each pass.
#define GEN_PASS_REGISTRATION
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#endif // FT_DIALECT_TILE_TRANSFORMS_PASSES_H
