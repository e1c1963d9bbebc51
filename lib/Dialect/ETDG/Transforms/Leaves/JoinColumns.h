//===- JoinColumns.h - leaves of a graph that walk one tensor ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_LEAVES_JOINCOLUMNS_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_LEAVES_JOINCOLUMNS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Joins leaves of the graph's own body that run once with what computes their operands, where the joined leaf
/// computes each element from that element alone of what it computed before. Gives what was joined.
SmallVector<BlockOp> joinByColumns(GraphOp graph, int64_t maxOperations);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_LEAVES_JOINCOLUMNS_H
