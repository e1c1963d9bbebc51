//===- ReorderSplit.h - imperfect nests as one nest -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSPLIT_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSPLIT_H

#include "ReorderKernels.h"
#include <deque>

namespace mlir::etdg::reorder {

/// What is to be done to a graph.
struct Plan {
  std::deque<Nest> nests; // addresses stay
  SmallVector<Group, 0> groups;
  SmallVector<Refusal, 0> refusals;
};
Plan makePlan(GraphOp graph, DependenceAnalysis &analysis, const TypicalLengths &lengths);

/// A nest or lone block whose body could be distributed.
struct Site {
  Operation *item;
  /// Its own dimensions are all parallel: each item becomes a nest of its own, for
  /// a kernel with nests outside.
  bool forKernel;
};

/// The nests and lone blocks of a body, but those inside kernels.
SmallVector<Operation *> getItems(Region &body);

/// Whether every private buffer can get the parent's dimensions as indices.
bool canDistribute(const Site &site, const SymbolSpace &space);
/// Takes the nest or block apart; the nests and blocks that stand now.
SmallVector<Operation *> distribute(const Site &site, const SymbolSpace &space);

/// Distributes nests over the items of their bodies where that gains a wavefront:
/// `scan j { map k; scan k }` becomes one nest over (j, s, k), s being the number
/// of the item. Each item then has a schedule of its own in one wavefront. A
/// private buffer gets the parent's dimensions as leading ones. Remarks say where
/// it was done and where not.
void splitNests(GraphOp graph);

/// Splits dimensions in which all distances are multiples of some number into that many
/// chains, which are independent, where that takes fewer steps than `plan`. Returns
/// whether something changed: `plan` and its analysis are stale then.
bool splitChains(GraphOp graph, const Plan &plan);

} // namespace mlir::etdg::reorder

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSPLIT_H
