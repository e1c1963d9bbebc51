//===- PartitionAttributes.h - what a cut graph says of itself --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Discardable attributes by which kernels say how their nests wait for each other, and graphs which products are merged. The dialect
// verifies them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_PARTITIONATTRIBUTES_H
#define FT_DIALECT_ETDG_IR_PARTITIONATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::etdg {

/// Of a kernel: the edges into its nests, `{from = n, kind = "grid", to = m}` each.
inline constexpr llvm::StringLiteral edgesName = "etdg.edges";
/// Of a nest or block in a kernel: its number, by which edges name it.
inline constexpr llvm::StringLiteral numberName = "etdg.number";
/// Of a nest or block in a kernel of several: `"grid"`, thread blocks wait before it.
inline constexpr llvm::StringLiteral beforeName = "etdg.before";
/// Of a graph: by which mode its kernels were chosen. `etdg-schedule-for-gpu` joins no short nests then.
inline constexpr llvm::StringLiteral partitionedName = "etdg.partitioned";
/// Of a graph: merges of two blocks with products that are left out, and those that were made, `"first+second"` by the blocks' names.
inline constexpr llvm::StringLiteral apartName = "etdg.apart", togetherName = "etdg.together";

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_PARTITIONATTRIBUTES_H
