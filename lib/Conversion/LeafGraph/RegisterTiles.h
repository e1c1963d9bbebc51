//===- RegisterTiles.h - how a core computes a product ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LEAFGRAPH_REGISTERTILES_H
#define FT_LIB_CONVERSION_LEAFGRAPH_REGISTERTILES_H

#include "ft/Conversion/LeafGraph/LeafGraph.h"

namespace mlir::ft::leaf {

/// A nest that is a product, whose tile is to be found. Its operands are packed between the two halves of the decision.
struct TiledProduct {
  LeafGraph &graph;
  const Nest &nest;
  const Contraction &product;
  const CpuTarget &target;

  /// The m loop that tiles run along: the longest, or none where rows of the leaf do instead.
  int tileLoop() const;
  /// The reduced loop along which both operands are contiguous, where the right-hand side is not along the columns; -1.
  int termsLoop() const;
  /// Rows, columns and vectors; `uses`: rows that use what is prepared of the right-hand side.
  RegisterTile choose(int64_t uses) const;
  /// Whether, and from how many rows on, columns are copied into a panel, and the steps of a block.
  void chooseReads(RegisterTile &tile) const;
  /// Emit an error, and fail, where the product can't have the tile: before operands are packed, and then.
  LogicalResult check(const RegisterTile &tile) const;
  LogicalResult checkReads(const RegisterTile &tile) const;
  /// Memory for the columns of a tile, next to each other.
  int addPanel() const;

private:
  Type elementOf(const View &view) const { return graph.buffers[view.buffer].elementType; }
  Type accumulated() const { return elementOf(nest.members.front().writes.front()); }
  /// Elements of the accumulators' type that a vector of the machine has.
  int64_t lanes() const;
  bool manyRegisters() const { return target.vectorRegisters >= 32; }
  InFlightDiagnostic refuse() const { return nest.members.front().op->emitError("its product of matrices can't have this tile: "); }
};

} // namespace mlir::ft::leaf

#endif // FT_LIB_CONVERSION_LEAFGRAPH_REGISTERTILES_H
