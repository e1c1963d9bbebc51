//===- TransformedDomain.h - domains under a schedule -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The domain of a block in the coordinates of a unimodular schedule: bounds of
// each transformed dimension by Fourier–Motzkin elimination (FT §5.2, Table 5).
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_TRANSFORMEDDOMAIN_H
#define FT_ANALYSIS_TRANSFORMEDDOMAIN_H

#include "ft/Analysis/Sets.h"

namespace mlir::etdg {

/// The inverse of a schedule's map: each own dimension as an expression over the
/// transformed ones. None unless the map is affine with constant offset, square
/// and unimodular (so that integer points map to integer points, each to one).
FailureOr<AffineMap> getInverseSchedule(AffineMap schedule);

/// A block's own domain over (ancestors, transformed dimensions), for a schedule
/// of its own dimensions; symbols are the block's.
///
/// For every transformed dimension the set has bounds that mention earlier
/// dimensions only, so that a loop nest can be read off it (`getLoopBounds`).
/// A constraint that the ones outside of it and the graph's facts imply is left
/// out. The points are exactly the images of the domain's points. Constraints
/// that are not linear in the own dimensions (a remainder) stay as they are,
/// rewritten, and bound nothing.
///
/// Fails where the schedule is not unimodular or numbers overflow.
FailureOr<IntegerSet> getTransformedDomain(BlockOp block, AffineMap schedule,
                                           const SymbolSpace &space);

/// `getTransformedDomain`, each answer found once. It serves a graph and its copies: their blocks have the same domains
/// again, and of lengths they know the same.
class TransformedDomains {
public:
  FailureOr<IntegerSet> get(BlockOp block, AffineMap schedule, const SymbolSpace &space);

private:
  /// By the schedule, and the domain and the symbols of the block and of each around it; null: there is none.
  llvm::DenseMap<Attribute, IntegerSetAttr> known;
};

/// Bounds of one dimension of a set over earlier dimensions and symbols: it is at
/// least each of `lowers` and less than each of `uppers`.
struct LoopBounds {
  SmallVector<AffineExpr> lowers, uppers;
  bool isComplete() const { return !lowers.empty() && !uppers.empty(); }
};

/// What the constraints of `set` whose last dimension is `dim` say of it.
/// Coefficients other than ±1 give `ceildiv` and `floordiv`.
LoopBounds getLoopBounds(IntegerSet set, unsigned dim);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_TRANSFORMEDDOMAIN_H
