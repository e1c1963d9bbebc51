//===- View.h - what a value reads, as pieces -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// During the conversion every ft value is a *view*: disjoint pieces, each a set
// and a source (docs/rationale/etdg.md, Pieces, not `select`). Access operators only
// rewrite views; nothing is materialised.
//
// Numbering, chosen so that a view made outside a nest needs no change inside
// it: dimensions of an expression are the iteration vector (which grows at its
// end); symbols are first the graph's names, then the view's own list dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_FTTOETDG_VIEW_H
#define FT_LIB_CONVERSION_FTTOETDG_VIEW_H

#include "ft/Conversion/GraphWriter/GraphWriter.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"

namespace mlir::ft::toetdg {

using graphwriter::Constraint;

using Piece = graphwriter::Piece<Value>;

/// One list of tensors (tuples are several views).
struct View {
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
  std::vector<Piece> pieces;
  unsigned depth() const { return lengths.size(); }
};

/// Where a fresh list is written: an index as expressions over the iteration vector and the list's own dimensions.
using Dest = graphwriter::Place<Value>;

/// The names of the graph and shorthands for expressions over them.
struct Names {
  MLIRContext *context;
  SmallVector<StringAttr> names;

  AffineExpr viewDim(unsigned d) const { return getAffineSymbolExpr(names.size() + d, context); }
  AffineExpr length(LengthAttr length) const { return length.exprOver(names); }
  AffineExpr constant(int64_t value) const { return getAffineConstantExpr(value, context); }
};

/// Replaces the list dimensions of an expression: old dimension j by `dims[j]`.
AffineExpr substitute(const Names &names, AffineExpr expr, ArrayRef<AffineExpr> dims);
Piece substitute(const Names &names, const Piece &piece, ArrayRef<AffineExpr> dims);
/// The view with its list dimensions replaced and these lengths.
View substitute(const Names &names, const View &view, ArrayRef<AffineExpr> dims, ArrayRef<LengthAttr> lengths);
/// The view at index `index` of its outermost dimension.
View peel(const Names &names, const View &view, AffineExpr index);
Dest peel(const Names &names, const Dest &dest, AffineExpr index);

/// The member lists of a value's type: prefix lengths, then element, tuples taken apart.
struct Member {
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
};
void flattenType(Type type, SmallVectorImpl<Member> &members);
inline SmallVector<Member> flattened(Type type) {
  SmallVector<Member> members;
  flattenType(type, members);
  return members;
}

/// Why an access operator has no view.
enum class AccessStatus { Ok, Failed, NeedsCopy };

/// The views of an access operator's result from its operands'. `NeedsCopy`: operand
/// `copyOperand` must be in a buffer of its own first. An error has been emitted on `Failed`.
AccessStatus computeAccess(const Names &names, Operation *op, llvm::function_ref<ArrayRef<View>(Value)> viewsOf,
                           std::vector<View> &result, unsigned &copyOperand);
bool isAccessOp(Operation *op);

/// Presburger questions about constraints over an iteration vector and names.
class ConstraintSystem {
public:
  ConstraintSystem(const Names &names, BoundsAttr bounds) : names(names), bounds(bounds) {}
  /// No integer point satisfies `all` under the bounds.
  bool isEmpty(unsigned numDims, ArrayRef<Constraint> all) const;
  /// The constraints of `candidate` that `context` does not already imply; none when they
  /// exclude each other.
  std::optional<SmallVector<Constraint>> simplify(unsigned numDims, ArrayRef<Constraint> candidate,
                                                  ArrayRef<Constraint> context) const;

private:
  const Names &names;
  BoundsAttr bounds;
};

/// A set over `numDims` dimensions and the names.
inline IntegerSet makeSet(const Names &names, unsigned numDims, ArrayRef<Constraint> constraints) {
  return graphwriter::makeSet(names.context, numDims, names.names.size(), constraints);
}

} // namespace mlir::ft::toetdg

#endif // FT_LIB_CONVERSION_FTTOETDG_VIEW_H
