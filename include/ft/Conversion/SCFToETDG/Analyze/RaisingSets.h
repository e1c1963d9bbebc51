//===- RaisingSets.h - the latest points of conditions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What raising asks of conjunctions beyond what front ends share: which point is the latest, and
// ranges of loops.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_SCFTOETDG_ANALYZE_RAISINGSETS_H
#define FT_CONVERSION_SCFTOETDG_ANALYZE_RAISINGSETS_H

#include "ft/Conversion/GraphWriter/ConstraintSets.h"

namespace mlir::ft::raising {

using graphwriter::Conjunction;
using graphwriter::Constraint;

/// The latest point of a set: on `when` it is `point`.
struct LatestPiece {
  Conjunction when;
  SmallVector<AffineExpr> point;
};

class RaisingSets : public graphwriter::ConstraintSets {
public:
  using ConstraintSets::ConstraintSets;

  /// The expression with its first dimensions replaced.
  AffineExpr withDims(AffineExpr expr, ArrayRef<AffineExpr> dims) const;
  /// The constraints of a domain without those that equalities, the context or one other
  /// constraint alone imply: ranges stay as the program wrote them.
  Conjunction reduce(ArrayRef<Constraint> all, ArrayRef<Constraint> context) const;
  /// The lexicographic maximum of dimensions [numFixed, numFixed + numFree), as a function of the
  /// dimensions before and of the cell. Its expressions use the fixed dimensions alone.
  FailureOr<SmallVector<LatestPiece>> latest(ArrayRef<Constraint> set, unsigned numFixed,
                                             unsigned numFree, unsigned numCells) const;
  /// An upper bound of `expr` over `domain` that uses names alone: each dimension takes the end of
  /// its range that makes the expression larger. Null when there is none.
  AffineExpr upperBound(AffineExpr expr, ArrayRef<SmallVector<AffineExpr>> lowers,
                        ArrayRef<SmallVector<AffineExpr>> uppers) const;

private:
  /// Whether `point` is in `set` for all of `domain`, and no greater point is.
  bool isLatest(ArrayRef<Constraint> set, const Conjunction &domain, ArrayRef<AffineExpr> point, unsigned numFixed) const;
  /// The expression with bounds in the place of quotients and remainders. Null where one has none.
  AffineExpr boundQuotients(AffineExpr expr, ArrayRef<SmallVector<AffineExpr>> lowers,
                            ArrayRef<SmallVector<AffineExpr>> uppers) const;
};

} // namespace mlir::ft::raising

#endif // FT_CONVERSION_SCFTOETDG_ANALYZE_RAISINGSETS_H
