//===- AttributeNames.h - names of the attributes of tile -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the discardable attributes that the definition of the dialect lists, to find them by. Its description says what each of them means.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_TILE_IR_ATTRIBUTENAMES_H
#define FT_DIALECT_TILE_IR_ATTRIBUTENAMES_H

#include "ft/Dialect/Tile/IR/Tile.h"

namespace mlir::tile::names {

inline constexpr llvm::StringLiteral inTurn = TileDialect::InTurnAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral pipeline = TileDialect::PipelineAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral plan = TileDialect::PlanAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral target = TileDialect::TargetAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral tensorMap = TileDialect::TensorMapAttrHelper::getNameStr();

} // namespace mlir::tile::names

#endif // FT_DIALECT_TILE_IR_ATTRIBUTENAMES_H
