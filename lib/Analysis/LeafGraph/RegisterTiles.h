//===- RegisterTiles.h - how a core computes a product ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ANALYSIS_LEAFGRAPH_REGISTERTILES_H
#define FT_LIB_ANALYSIS_LEAFGRAPH_REGISTERTILES_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "ft/Machine/CpuTarget.h"

namespace mlir::ft::leaf {

/// A nest that is a product, whose tile is to be found. Its operands are packed between the two halves of the decision.
struct TiledProduct {
  LeafGraph &graph;
  const Nest &nest;
  const Contraction &product;
  /// The processor that tiles are chosen for; null where they are given.
  const CpuTarget *target;

  /// The m loop that tiles run along: the longest, or none where rows of the leaf do instead.
  int chooseRowLoop() const;
  /// The reduced loop along which both operands are contiguous, where the right-hand side is not along the columns; -1.
  int termsLoop() const;
  /// Whether the rows of a call can be rows of the product: they read the same right-hand side. (Addresses that are themselves
  /// data are found in a loop over the rows.)
  bool canJoinRows() const;
  /// Whether they are; `given`: as it is given. An operand is packed as `choose` says, which asks for it.
  bool joinsRows(const RegisterTile *given) const;
  /// Rows, columns and vectors, and which operands are packed.
  RegisterTile choose() const;
  /// Whether, and from how many rows on, columns are copied into a panel, the steps of a block, and how far ahead columns are
  /// asked for.
  void chooseReads(RegisterTile &tile) const;
  /// Emit an error, and fail, where the product can't have the tile: before operands are packed, and then.
  LogicalResult check(const RegisterTile &tile) const;
  LogicalResult checkReads(const RegisterTile &tile) const;
  /// Memory for the columns of a tile, next to each other.
  int addPanel() const;

private:
  Type elementOf(const ElementView &view) const { return graph.buffers[view.buffer].elementType; }
  Type accumulated() const { return elementOf(nest.members.front().writes.front()); }
  const NestMember &member() const { return nest.members.front(); }
  const ElementView &left() const { return member().reads[product.lhs]; }
  const ElementView &right() const { return member().reads[product.rhs]; }
  /// Rows of the product in one row of the leaf.
  int64_t ownRows() const;
  /// Rows that use what is prepared of the right-hand side: how many a call has is not known here.
  int64_t uses() const;
  /// Rows that tiles are cut from: of the loop that they run along, as many as a tile has where the rows of a call are, else one.
  int64_t rowsOfTiles() const;
  void cutRows(RegisterTile &tile, int64_t most) const;
  /// Rows of a tile from which on it has time to hide what it asks for ahead: more than half of a full one's.
  int64_t rowsThatAsk() const { return target->rowTiles.rows / 2 + 1; }
  /// Whether the right-hand side sees elements of its memory more than once.
  bool isWindow() const;
  /// Elements from one term of the right-hand side to the next, of the loop with the most.
  int64_t longestStep() const;
  bool isFarApart(int64_t terms) const;
  void chooseCopies(RegisterTile &tile) const;
  bool movesAcrossBorders() const;
  bool hasKnownSteps(const RegisterTile &tile) const;
  int64_t termsAhead(const RegisterTile &tile, int64_t terms) const;
  /// Elements of the accumulators' type that a vector of the machine has.
  int64_t lanes() const;
  /// An eighth of the registers of vectors: with full tiles of rows, which are at most six of them, three quarters are sums.
  int64_t leastVectors() const { return std::max<int64_t>(target->vectorRegisters / 8, 1); }
  /// Vectors of columns beside each other in a tile of so many rows: twice as many as with full ones, where that leaves registers for what is
  /// multiplied.
  int64_t vectorsBeside(int64_t rows) const {
    return 2 * leastVectors() * rows + target->planning.operandRegisters <= int64_t(target->vectorRegisters) ? 2 * leastVectors() : leastVectors();
  }
  InFlightDiagnostic refuse() const { return nest.members.front().op->emitError("its product of matrices can't have this tile: "); }
};

} // namespace mlir::ft::leaf

#endif // FT_LIB_ANALYSIS_LEAFGRAPH_REGISTERTILES_H
