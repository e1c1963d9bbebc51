//===- GraphSummary.h - figures of a task dependence graph ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Depth and dimension (FT §4.4), copies, and bytes of buffers: what tests and
// readers ask of a graph as a whole.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_GRAPHSUMMARY_H
#define FT_ANALYSIS_GRAPHSUMMARY_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::etdg {

/// A tensor operation of a leaf as the leaf block that it is: its iteration
/// space, `parallel` as map and `reduction` as reduce.
struct OperationNode {
  Operation *op;
  SmallVector<ft::OperatorKind> operators;
  SmallVector<int64_t> sizes;
  /// Of each operand, where the operation is structured.
  SmallVector<AffineMap> maps;

  unsigned getDimension() const; // unit dimensions dropped
};

/// The linalg and elementwise operations of a leaf.
SmallVector<OperationNode> getOperationNodes(BlockOp leaf);

/// A leaf that yields its arguments and does nothing else.
bool isCopyBlock(BlockOp block);

/// Depth and dimension of the deepest, and of the widest, nesting path. Blocks
/// without dimensions and dimensions of one value do not count; a leaf's
/// operations count as blocks.
struct Nesting {
  unsigned depth = 0, dimension = 0;
};
Nesting getNesting(GraphOp graph);

/// Blocks and nests' blocks at the top of the graph.
SmallVector<BlockOp> getTopLevelBlocks(GraphOp graph);

/// The size in bytes of one instance of a buffer: with all its planes, or with
/// those that are `live`.
ft::LengthAttr getBytes(BufferType type);
ft::LengthAttr getLiveBytes(BufferOp buffer);

/// `NAME [map, scanl] (i, j | k)`: a block's name, its operators, and its dimensions after those of its ancestors.
std::string describeHeader(BlockOp block);

/// `[i, j - 1, gather]`: a map's results by name, those that data give as `gather`.
std::string describeMap(AffineMap map, ArrayRef<StringAttr> dims, ArrayRef<StringAttr> symbols,
                        ArrayRef<GatherAttr> gathers = {});

using LengthValues = llvm::StringMap<int64_t>;
/// The values of `ft.lengths` of a graph, replaced by those given.
LengthValues getLengthValues(GraphOp graph, const LengthValues &given);
std::optional<int64_t> evaluate(ft::LengthAttr length, const LengthValues &values);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_GRAPHSUMMARY_H
