//===- HoistDomain.h - domains without some of their dimensions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a value that repeats along some dimensions is needed: projections of
// domains, exact or refused, and their union as one convex set or as several
// disjoint ones.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTDOMAIN_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTDOMAIN_H

#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

namespace mlir::etdg::hoist {

/// A conjunction of inequalities `form ≥ 0` over a leaf's dimensions and named symbols.
class Domain {
public:
  void add(AffineExpr constraint, bool isEq);
  void add(LinearForm form);
  /// Makes dimension `dim` existential (Fourier–Motzkin). False where the result may have points
  /// that have no value of `dim`: coefficients other than ±1 on both sides, divisions of it.
  bool project(unsigned dim);
  ArrayRef<LinearForm> getForms() const { return forms; }

private:
  SmallVector<LinearForm> forms;
};

/// Questions about domains with the same dimensions and symbols, all inside of `outer`.
class DomainSolver {
public:
  DomainSolver(const SymbolSpace &space, const TypicalLengths &lengths, ArrayRef<StringAttr> names,
               unsigned numDims, MLIRContext *context)
      : space(space), lengths(lengths), names(names), numDims(numDims), context(context) {}

  /// Convex sets that are disjoint and have together exactly the points of all `parts`, as few as
  /// are found: one, or the parts themselves. Without what `outer` and the graph's facts imply.
  std::optional<SmallVector<Domain>> unite(ArrayRef<Domain> parts, const Domain &outer);

  /// How many values `dim` typically has, by the box around the domain (16 where that is not
  /// known).
  int64_t getTypicalExtent(const Domain &domain, unsigned dim);

  /// A length n ≥ 0 such that 0 ≤ dim < n in all of the domains, or null.
  ft::LengthAttr getLength(ArrayRef<Domain> domains, unsigned dim, const Domain &outer);

  /// The domain with its dimensions replaced (null where a dimension does not occur).
  IntegerSet toSet(const Domain &domain, ArrayRef<AffineExpr> replacement, unsigned newDims);

private:
  FailureOr<presburger::IntegerPolyhedron> toPolyhedron(ArrayRef<const Domain *> domains,
                                                        const LinearForm *negated = nullptr);
  bool implies(ArrayRef<const Domain *> domains, const LinearForm &form);
  Domain simplify(const Domain &domain, const Domain &outer);
  Domain onto(Domain domain, unsigned dim);

  const SymbolSpace &space;
  const TypicalLengths &lengths;
  ArrayRef<StringAttr> names;
  unsigned numDims;
  MLIRContext *context;
};

} // namespace mlir::etdg::hoist

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTDOMAIN_H
