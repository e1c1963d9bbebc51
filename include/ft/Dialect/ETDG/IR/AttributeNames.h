//===- AttributeNames.h - names of the attributes of etdg -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the discardable attributes that the definition of the dialect lists, to find them by. Its description says what each of them means.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_ATTRIBUTENAMES_H
#define FT_DIALECT_ETDG_IR_ATTRIBUTENAMES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg::names {

inline constexpr llvm::StringLiteral apart = ETDGDialect::ApartAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral before = ETDGDialect::BeforeAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral candidates = ETDGDialect::CandidatesAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral checks = ETDGDialect::ChecksAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral cut = ETDGDialect::CutAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral dims = ETDGDialect::DimsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral divisions = ETDGDialect::DivisionsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral edges = ETDGDialect::EdgesAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral excess = ETDGDialect::ExcessAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral handed = ETDGDialect::HandedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral inPlace = ETDGDialect::InPlaceAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral keptTogether = ETDGDialect::KeptTogetherAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral layouts = ETDGDialect::LayoutsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral merged = ETDGDialect::MergedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral number = ETDGDialect::NumberAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral partitioned = ETDGDialect::PartitionedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral rows = ETDGDialect::RowsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral slot = ETDGDialect::SlotAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral snapshots = ETDGDialect::SnapshotsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral together = ETDGDialect::TogetherAttrHelper::getNameStr();

} // namespace mlir::etdg::names

#endif // FT_DIALECT_ETDG_IR_ATTRIBUTENAMES_H
