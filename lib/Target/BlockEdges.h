//===- BlockEdges.h - edges of drawings of graphs ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_TARGET_BLOCKEDGES_H
#define FT_LIB_TARGET_BLOCKEDGES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// A leaf reads a buffer, or an index out of it, or writes it.
enum class EdgeKind { Read, Index, Write };

struct BlockEdge {
  EdgeKind kind;
  Value buffer;
  std::string label; // the access map, and where it holds
};

/// All that a leaf touches, in the order of its reads and writes; of other blocks nothing.
SmallVector<BlockEdge> getEdges(BlockOp block);

} // namespace mlir::etdg

#endif // FT_LIB_TARGET_BLOCKEDGES_H
