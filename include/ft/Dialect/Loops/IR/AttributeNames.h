//===- AttributeNames.h - names of the attributes of loops ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the discardable attributes that the definition of the dialect lists, to find them by. Its description says what each of them means.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_IR_ATTRIBUTENAMES_H
#define FT_DIALECT_LOOPS_IR_ATTRIBUTENAMES_H

#include "ft/Dialect/Loops/IR/Loops.h"

namespace mlir::loops::names {

inline constexpr llvm::StringLiteral constant = LoopsDialect::ConstantAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral grid = LoopsDialect::GridAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral guards = LoopsDialect::GuardsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral handed = LoopsDialect::HandedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral joined = LoopsDialect::JoinedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kept = LoopsDialect::KeptAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kernel = LoopsDialect::KernelAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral roundsLast = LoopsDialect::RoundsLastAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral rowLoops = LoopsDialect::RowLoopsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral shared = LoopsDialect::SharedAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral syncs = LoopsDialect::SyncsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral team = LoopsDialect::TeamAttrHelper::getNameStr();

} // namespace mlir::loops::names

#endif // FT_DIALECT_LOOPS_IR_ATTRIBUTENAMES_H
