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

inline constexpr llvm::StringLiteral binds = FTDialect::BindsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral bounds = FTDialect::BoundsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral checkpoint = FTDialect::CheckpointAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral gen = FTDialect::GenAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral held = FTDialect::HeldAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leaf = FTDialect::LeafAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafAliases = FTDialect::LeafAliasesAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafBatched = FTDialect::LeafBatchedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafChecks = FTDialect::LeafChecksAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafGuards = FTDialect::LeafGuardsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafLayouts = FTDialect::LeafLayoutsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafListed = FTDialect::LeafListedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafRowLoops = FTDialect::LeafRowLoopsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafScratch = FTDialect::LeafScratchAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral leafSums = FTDialect::LeafSumsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral lengths = FTDialect::LengthsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral partition = FTDialect::PartitionAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral product = FTDialect::ProductAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral residuals = FTDialect::ResidualsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral saved = FTDialect::SavedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral scratchFixed = FTDialect::ScratchFixedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral scratchPerRow = FTDialect::ScratchPerRowAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral strided = FTDialect::StridedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral strides = FTDialect::StridesAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral typical = FTDialect::TypicalAttrHelper::getNameStr();

} // namespace mlir::ft::names

#endif // FT_DIALECT_FT_IR_ATTRIBUTENAMES_H
