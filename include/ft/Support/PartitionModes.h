//===- PartitionModes.h - how graphs are cut into kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_PARTITIONMODES_H
#define FT_SUPPORT_PARTITIONMODES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::ft {

/// Ways to cut a graph into kernels of a GPU, as `etdg-partition`, options and the attribute `ft.partition` name them.
inline constexpr llvm::StringLiteral boundaryMode = "boundary", souffleMode = "souffle", costMode = "cost";
inline constexpr llvm::StringLiteral partitionModes[] = {boundaryMode, souffleMode, costMode};
/// The same for messages.
inline constexpr llvm::StringLiteral partitionModesText = "boundary, souffle or cost";

inline bool isPartitionMode(llvm::StringRef mode) { return llvm::is_contained(partitionModes, mode); }

} // namespace mlir::ft

#endif // FT_SUPPORT_PARTITIONMODES_H
