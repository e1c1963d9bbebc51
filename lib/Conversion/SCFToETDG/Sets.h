//===- Sets.h - conditions over loops, names and cells ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conjunctions of quasi-affine constraints and the exact questions that raising
// asks of them. Dimensions are the loops around a point, and the cell is the index
// in the tensor that is spoken of.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_SCFTOETDG_SETS_H
#define FT_LIB_CONVERSION_SCFTOETDG_SETS_H

#include "ft/Analysis/Sets.h"
#include "ft/Conversion/GraphWriter/GraphWriter.h"

namespace mlir::ft::raising {

using graphwriter::Conjunction;
using graphwriter::Constraint;

/// The latest point of a set: on `when` it is `point`.
struct LatestPiece {
  Conjunction when;
  SmallVector<AffineExpr> point;
};

class Sets : public graphwriter::Numbering {
public:
  Sets(MLIRContext *context, ArrayRef<StringAttr> sortedNames, BoundsAttr bounds)
      : Numbering{context, SmallVector<StringAttr>(sortedNames)}, bounds(bounds), space(names) {}

  ArrayRef<StringAttr> getNames() const { return names; }
  MLIRContext *getContext() const { return context; }

  /// The expression with its first dimensions replaced.
  AffineExpr withDims(AffineExpr expr, ArrayRef<AffineExpr> dims) const;

  /// No integer point, for all lengths that the bounds allow. False where the
  /// constraints are not affine: nothing is known then.
  bool isEmpty(ArrayRef<Constraint> all) const;
  bool isEmpty(ArrayRef<Constraint> a, ArrayRef<Constraint> b) const;
  bool isImplied(ArrayRef<Constraint> context, Constraint constraint) const;
  /// What `context` does not already imply; none where the two exclude each other.
  std::optional<Conjunction> simplify(ArrayRef<Constraint> candidate,
                                      ArrayRef<Constraint> context) const;
  /// The constraints of a domain without those that equalities, the context or one other
  /// constraint alone imply: ranges stay as the program wrote them.
  Conjunction reduce(ArrayRef<Constraint> all, ArrayRef<Constraint> context) const;
  /// `set` without `minus`, as disjoint conjunctions.
  FailureOr<SmallVector<Conjunction>> subtract(ArrayRef<Constraint> set,
                                               ArrayRef<Conjunction> minus) const;
  /// The lexicographic maximum of dimensions [numFixed, numFixed + numFree), as a function of the
  /// dimensions before and of the cell. Its expressions use the fixed dimensions alone.
  FailureOr<SmallVector<LatestPiece>> latest(ArrayRef<Constraint> set, unsigned numFixed,
                                             unsigned numFree, unsigned numCells) const;
  /// An upper bound of `expr` over `domain` that uses names alone: each dimension takes the end of
  /// its range that makes the expression larger. Null when there is none.
  AffineExpr upperBound(AffineExpr expr, ArrayRef<SmallVector<AffineExpr>> lowers,
                        ArrayRef<SmallVector<AffineExpr>> uppers) const;

private:
  struct Size {
    unsigned dims = 0, cells = 0;
  };
  Size sizeOf(ArrayRef<Constraint> all) const;
  /// Variables: `dims` dimensions without the free ones, the cell, the free dimensions.
  LogicalResult build(etdg::SetBuilder &builder, ArrayRef<Constraint> all, unsigned numFixed,
                      unsigned numCells) const;
  LogicalResult toConjunctions(const presburger::PresburgerSet &set, unsigned numDims,
                               unsigned numCells, SmallVectorImpl<Conjunction> &result) const;

  BoundsAttr bounds;
  etdg::SymbolSpace space;
};

} // namespace mlir::ft::raising

#endif // FT_LIB_CONVERSION_SCFTOETDG_SETS_H
