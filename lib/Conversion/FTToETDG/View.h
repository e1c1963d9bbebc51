//===- View.h - what a value reads, as pieces -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// During the conversion every ft value is a *view*: disjoint pieces, each a set
// and a source (docs/rationale/etdg.md, Pieces, not `select`). Access operators only
// rewrite views; nothing is materialised.
//
// The cell of an expression (graphwriter::Numbering) is the index in the list.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_FTTOETDG_VIEW_H
#define FT_LIB_CONVERSION_FTTOETDG_VIEW_H

#include "ft/Conversion/GraphWriter/GraphWriter.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"

namespace mlir::ft::toetdg {

using graphwriter::Constraint;
using graphwriter::Numbering;
using Piece = graphwriter::Piece<Value>;
/// Where a fresh list is written, too: over the iteration vector and the list's own dimensions.
using Place = graphwriter::Place<Value>;

/// One list of tensors (tuples are several views).
struct ListView {
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
  graphwriter::View<Value> pieces;
  unsigned depth() const { return lengths.size(); }
};

/// The view of a list of these lengths, whose element at a cell is the given one's at `cells`.
ListView withCells(const Numbering &names, const ListView &view, ArrayRef<AffineExpr> cells, ArrayRef<LengthAttr> lengths);
/// The view at index `index` of its outermost dimension.
ListView peel(const Numbering &names, const ListView &view, AffineExpr index);
Place peel(const Numbering &names, const Place &dest, AffineExpr index);

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
AccessStatus computeAccess(const Numbering &names, Operation *op, llvm::function_ref<ArrayRef<ListView>(Value)> viewsOf,
                           std::vector<ListView> &result, unsigned &copyOperand);
bool isAccessOp(Operation *op);

/// A set over `numDims` dimensions and the names.
inline IntegerSet makeSet(const Numbering &names, unsigned numDims, ArrayRef<Constraint> constraints) {
  return graphwriter::makeSet(names.context, numDims, names.names.size(), constraints);
}

} // namespace mlir::ft::toetdg

#endif // FT_LIB_CONVERSION_FTTOETDG_VIEW_H
