//===- Tile.h - the tile dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts, types and operations of the tile dialect.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_TILE_IR_TILE_H
#define FT_DIALECT_TILE_IR_TILE_H

#include "ft/Support/NestLayout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {

/// What PTX and the driver fix of tensor maps: dimensions at most, elements of a box along one of them,
constexpr int64_t mostMapDims = 5, mostBoxSize = 256;
/// bytes that rows of a box are swizzled over, 0 for none,
constexpr int64_t mapSwizzles[] = {0, 32, 64, 128};
/// and a descriptor's bytes and what they are aligned to as a kernel's argument.
constexpr int64_t mapBytes = 128, mapAlignment = 64;

} // namespace mlir::tile

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/Tile/IR/TileAttrs.h.inc"

// After the attributes: its helpers for discardable ones name their classes.
#include "ft/Dialect/Tile/IR/TileDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "ft/Dialect/Tile/IR/TileOps.h.inc"

namespace mlir::tile {

/// What PTX fixes for every GPU that it is for, so that it is no machine's: bytes that one access of memory moves at most, at addresses
/// that are multiples of as many,
constexpr int64_t accessBytes = 16;
/// threads of a warp, which run together and exchange registers,
constexpr int64_t warpThreads = 32;
/// bytes of a row of a slab that warp groups multiply out of,
constexpr int64_t groupSwizzle = 128;
/// the spaces of pointers to memory of the device and to what a thread block shares,
constexpr int deviceSpace = 1, sharedSpace = 3;
/// and the bytes that `cp.async` may move at once.
constexpr int64_t asyncBytes[] = {4, 8, 16};

/// Why there is no `!tile.tensor_map` of such boxes; empty: there is one.
std::string describeWrongMap(ArrayRef<int64_t> box, Type elementType, int64_t swizzle);
/// Of a tile in shared memory or in registers.
ArrayRef<int64_t> shapeOf(Type tile);
Type elementOf(Type tile);
/// What `wgmma` asks of its sums and operands (condition 5 of `tile.mma`), the left one in either place; `terms` of a step.
llvm::LogicalResult verifyGroupProduct(Operation *op, RegistersType sums, Type lhs, SharedType rhs, int64_t terms);

/// The tensor map whose descriptor an argument of a function is; null: none.
TensorMapType getTensorMap(BlockArgument argument);

} // namespace mlir::tile

#endif // FT_DIALECT_TILE_IR_TILE_H
