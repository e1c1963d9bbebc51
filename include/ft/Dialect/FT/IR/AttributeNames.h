//===- AttributeNames.h - names of the attributes of ft ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the discardable attributes that the definition of the dialect lists, to find them by. Its description says what each of them means.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_FT_IR_ATTRIBUTENAMES_H
#define FT_DIALECT_FT_IR_ATTRIBUTENAMES_H

#include "ft/Dialect/FT/IR/FT.h"

namespace mlir::ft::names {

inline constexpr llvm::StringLiteral lengths = FTDialect::LengthsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral strided = FTDialect::StridedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral strides = FTDialect::StridesAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral typical = FTDialect::TypicalAttrHelper::getNameStr();

// Of these the definition has no helper yet.
inline constexpr llvm::StringLiteral binds = "ft.binds";
inline constexpr llvm::StringLiteral bounds = "ft.bounds";
inline constexpr llvm::StringLiteral checkpoint = "ft.checkpoint";
inline constexpr llvm::StringLiteral gen = "ft.gen";
inline constexpr llvm::StringLiteral held = "ft.held";
inline constexpr llvm::StringLiteral leaf = "ft.leaf";
inline constexpr llvm::StringLiteral leafAliases = "ft.leaf_aliases";
inline constexpr llvm::StringLiteral leafBatched = "ft.leaf_batched";
inline constexpr llvm::StringLiteral leafChecks = "ft.leaf_checks";
inline constexpr llvm::StringLiteral leafGuards = "ft.leaf_guards";
inline constexpr llvm::StringLiteral leafLayouts = "ft.leaf_layouts";
inline constexpr llvm::StringLiteral leafListed = "ft.leaf_listed";
inline constexpr llvm::StringLiteral leafRowLoops = "ft.leaf_row_loops";
inline constexpr llvm::StringLiteral leafScratch = "ft.leaf_scratch";
inline constexpr llvm::StringLiteral leafSums = "ft.leaf_sums";
inline constexpr llvm::StringLiteral partition = "ft.partition";
inline constexpr llvm::StringLiteral product = "ft.product";
inline constexpr llvm::StringLiteral residuals = "ft.residuals";
inline constexpr llvm::StringLiteral saved = "ft.saved";
inline constexpr llvm::StringLiteral scratchFixed = "ft.scratch_fixed";
inline constexpr llvm::StringLiteral scratchPerRow = "ft.scratch_per_row";

} // namespace mlir::ft::names

#endif // FT_DIALECT_FT_IR_ATTRIBUTENAMES_H
