//===- Target.h - translations of task dependence graphs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TARGET_TARGET_H
#define FT_TARGET_TARGET_H

#include "ft/Analysis/GraphSummary.h"

namespace mlir {
class ModuleOp;
namespace etdg {

/// Nodes, domains, maps, depth, dimension, copies and bytes of each graph, its sharding and its tensor expressions.
/// `computeIntensive`: a machine's `planning.compute_intensive`, here and below.
void writeJson(ModuleOp module, llvm::raw_ostream &os, const LengthValues &lengths, double computeIntensive);

/// Statements, tensors and edges of each graph: which elements depend on which (Souffle §5.1 to §5.3).
void writeTensorExpressions(ModuleOp module, llvm::raw_ostream &os, double computeIntensive);

/// A table of the lengths of each graph: how each one can be divided over ranks, and what they exchange then.
void writeSharding(ModuleOp module, llvm::raw_ostream &os);

/// A drawing for Graphviz: nests as clusters, buffers as boxes, access maps on the edges.
void writeDot(ModuleOp module, llvm::raw_ostream &os);

/// A page to look at: each graph of `before`, the one of the same name in `after` (which
/// may be null), and iteration spaces coloured by step, at small lengths or those given.
void writeHtml(ModuleOp before, ModuleOp after, llvm::raw_ostream &os, const LengthValues &lengths, double computeIntensive);

} // namespace etdg
} // namespace mlir

#endif // FT_TARGET_TARGET_H
