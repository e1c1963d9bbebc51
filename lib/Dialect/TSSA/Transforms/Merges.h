//===- Merges.h - where control flow merges mutable tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A merge is a carried value or a result that has a mutable type: it may name one of
// several storages or parts. Two ways out, both rewrites of the program:
//
// * a *copy*: control flow carries the value, and the merge is new storage that holds it.
//   Right where it is unknown: no write through one name is seen through the other
//   (CopyMerges.cpp);
// * a *choice*: control flow carries which of the alternatives it is, and the numbers
//   of its view; reads and writes ask (ChooseMerges.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_TSSA_TRANSFORMS_MERGES_H
#define LIB_FT_DIALECT_TSSA_TRANSFORMS_MERGES_H

#include "Functionalize.h"

namespace mlir::tssa {

/// One merge: its names, and what comes in from where.
struct Merge {
  Operation *op = nullptr;
  SmallVector<Value, 2> names;          // block argument, result
  SmallVector<OpOperand *, 2> incoming; // initial value, yielded values
};

/// The merges of an scf operation with mutable types.
SmallVector<Merge> mergesOf(Operation *op);

/// Replaces a merge of one and the same mutable tensor by it. Null merges have nothing left.
bool resolveTrivial(const Merge &merge);
/// Whether new storage in place of the merge makes no difference.
bool canCopy(const Merge &merge, const AliasGraph &graph);
/// Gives the new storage of each name.
SmallVector<std::pair<Value, Value>, 2> copyMerge(const Merge &merge);

/// What a name is: one of several parts of storages or of other names. Without a tag there
/// is one alternative.
struct Choice {
  struct Alternative {
    Value base;
    Steps steps;
  };
  Value tag;
  SmallVector<Alternative, 2> alternatives;
};
using ChoiceMap = llvm::DenseMap<Value, Choice>;

/// Makes choices of the merges of `op` that have none; those inside have theirs already.
/// An error names what can't be told.
LogicalResult chooseMerges(Operation *op, ChoiceMap &choices);
/// Reads and writes ask what their name is; then the names go.
void rewriteChoices(func::FuncOp function, const ChoiceMap &choices);

} // namespace mlir::tssa

#endif // LIB_FT_DIALECT_TSSA_TRANSFORMS_MERGES_H
