//===- SymbolGroups.h - the lengths that a question depends on --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of hundreds of lengths asks each of its questions of a few of them. Sets over the others, too,
// would make the time of each question grow with the square of their number.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_SYMBOLGROUPS_H
#define FT_ANALYSIS_SYMBOLGROUPS_H

#include "ft/Analysis/Sets.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::etdg {

/// Symbols of a graph, and what is known of them.
struct SymbolPart {
  SymbolSpace space;
  /// Facts that the space does not have by itself.
  SmallVector<ft::LengthAttr> facts;

  /// A set of all points, with the facts. The part has to outlive it.
  SetBuilder makeSet(unsigned numDims) const;
};

/// Which symbols of a graph facts tie together.
class SymbolGroups {
public:
  explicit SymbolGroups(GraphOp graph);

  const SymbolSpace &getSpace() const { return space; }
  unsigned size() const { return space.size(); }

  /// Marks the names in an expression, in a buffer's lengths, and in the domains and accesses
  /// of a block and those around it.
  void collect(AffineExpr expr, ArrayRef<StringAttr> names, llvm::SmallBitVector &used) const;
  void collect(BufferType type, llvm::SmallBitVector &used) const;
  void collect(BlockOp block, llvm::SmallBitVector &used) const;
  /// The marked symbols with all that facts and products tie them to. A question about them has
  /// the same answer there, and more quickly; all symbols where no lengths satisfy the facts.
  SymbolPart restrictTo(const llvm::SmallBitVector &used) const;

private:
  SymbolSpace space;
  /// Of each symbol the number of its group; of each fact that of one of its names.
  SmallVector<unsigned> groups, factGroups;
  /// Groups in which a symbol may be negative: a product of differences.
  llvm::SmallBitVector mayBeNegative;
  bool isSatisfiable = true;
};

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SYMBOLGROUPS_H
