//===- ConstraintSets.h - questions about conditions on points --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What front ends ask of conditions: is there a point, does one follow from others, what is left of a set
// without others. Exact, for all lengths that the bounds of a function allow.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_GRAPHWRITER_CONSTRAINTSETS_H
#define FT_CONVERSION_GRAPHWRITER_CONSTRAINTSETS_H

#include "ft/Analysis/Sets.h"
#include "ft/Conversion/GraphWriter/GraphWriter.h"

namespace mlir::ft::graphwriter {

/// Dimensions are the loops around a point, the cell is the index in the value that is spoken of.
class ConstraintSets : public Numbering {
public:
  ConstraintSets(MLIRContext *context, ArrayRef<StringAttr> sortedNames, BoundsAttr bounds)
      : Numbering{context, SmallVector<StringAttr>(sortedNames)}, bounds(bounds), space(names) {}

  ArrayRef<StringAttr> getNames() const { return names; }
  MLIRContext *getContext() const { return context; }

  /// No integer point. False where the constraints are not affine: nothing is known then.
  bool isEmpty(ArrayRef<Constraint> all) const;
  bool isEmpty(ArrayRef<Constraint> a, ArrayRef<Constraint> b) const;
  bool isImplied(ArrayRef<Constraint> context, Constraint constraint) const;
  /// The constraints of `candidate`, as they stand, that `context` and those before do not imply; none where the two
  /// exclude each other.
  std::optional<Conjunction> withoutImplied(ArrayRef<Constraint> candidate, ArrayRef<Constraint> context) const;
  /// As few of them as can be, equalities first, an equality for two inequalities that say one.
  std::optional<Conjunction> simplify(ArrayRef<Constraint> candidate, ArrayRef<Constraint> context) const;
  /// `set` without `minus`, as disjoint conjunctions.
  FailureOr<SmallVector<Conjunction>> subtract(ArrayRef<Constraint> set, ArrayRef<Conjunction> minus) const;

protected:
  struct Size {
    unsigned dims = 0, cells = 0;
  };
  Size sizeOf(ArrayRef<Constraint> all) const;
  /// Variables: `dims` dimensions without the free ones, the cell, the free dimensions.
  LogicalResult build(etdg::SetBuilder &builder, ArrayRef<Constraint> all, unsigned numFixed, unsigned numCells) const;
  LogicalResult toConjunctions(const presburger::PresburgerSet &set, unsigned numDims, unsigned numCells,
                               SmallVectorImpl<Conjunction> &result) const;

  BoundsAttr bounds;
  etdg::SymbolSpace space;
};

/// Σ row · variables + constant.
AffineExpr toExpr(ArrayRef<llvm::DynamicAPInt> row, ArrayRef<AffineExpr> variables, MLIRContext *context);
/// Appends an expression for each division; false when one has none.
bool addDivisions(const presburger::DivisionRepr &divisions, SmallVectorImpl<AffineExpr> &variables, MLIRContext *context);

} // namespace mlir::ft::graphwriter

#endif // FT_CONVERSION_GRAPHWRITER_CONSTRAINTSETS_H
