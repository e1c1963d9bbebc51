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

inline constexpr llvm::StringLiteral candidates = ETDGDialect::CandidatesAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral checks = ETDGDialect::ChecksAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral cut = ETDGDialect::CutAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral dims = ETDGDialect::DimsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral divisions = ETDGDialect::DivisionsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral excess = ETDGDialect::ExcessAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral inPlace = ETDGDialect::InPlaceAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral keptTogether = ETDGDialect::KeptTogetherAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral layouts = ETDGDialect::LayoutsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral merged = ETDGDialect::MergedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral rows = ETDGDialect::RowsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral slot = ETDGDialect::SlotAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral snapshots = ETDGDialect::SnapshotsAttrHelper::getNameStr();

// Of these the definition has no helper yet.
/// Of a graph: merges of two products that are left out, `"first+second"` by the names of the blocks.
inline constexpr llvm::StringLiteral apart = "etdg.apart";
/// Of a nest or block in a kernel of several: `"grid"`, thread blocks wait before it.
inline constexpr llvm::StringLiteral before = "etdg.before";
/// Of a kernel: the edges into its nests, `{from = n, kind = "grid", to = m}` each.
inline constexpr llvm::StringLiteral edges = "etdg.edges";
/// Of a leaf whose work the threads of a GPU share: pairs of a write and a dimension, by `etdg-hand-states`. The next iteration along the
/// dimension reads what the leaf writes there. Other code reads the last one alone (T15 of the validator). A thread with the state in
/// registers need not store it before the loop has ended.
inline constexpr llvm::StringLiteral handed = "etdg.handed";
/// Of a nest or block in a kernel: its number, by which edges name it.
inline constexpr llvm::StringLiteral number = "etdg.number";
/// Of a graph: by which mode its kernels were chosen. `etdg-schedule-for-gpu` joins no short nests then.
inline constexpr llvm::StringLiteral partitioned = "etdg.partitioned";
/// Of a graph: merges of two products that were made, as `etdg.apart` names them.
inline constexpr llvm::StringLiteral together = "etdg.together";

} // namespace mlir::etdg::names

#endif // FT_DIALECT_ETDG_IR_ATTRIBUTENAMES_H
