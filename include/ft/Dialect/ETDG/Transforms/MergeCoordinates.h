//===- MergeCoordinates.h - dimensions lined up for a merge -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A consumer may name the iterations of its producer in another order, reversed or
// some steps later: y[j, i] = f(t[i, j - 1]). Both blocks then get coordinates in which
// the element is written and read at one point (FT §5.1 aligns dimensions as they
// stand). What is found here is a proposal; `MergeLegality.h` judges it by sets.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_MERGECOORDINATES_H
#define FT_DIALECT_ETDG_TRANSFORMS_MERGECOORDINATES_H

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

namespace mlir::etdg {

/// A write and a read of the same buffer by two blocks.
struct Flow {
  Access write, read;
};

/// New own dimensions of a block, outermost first: each is an old one, forwards or
/// backwards, plus an offset over symbols. As many as it has.
struct Coordinates {
  struct Own {
    unsigned dim = 0; // old own dimension
    int64_t sign = 1;
    AffineExpr offset; // null: 0
  };

  /// The dimensions as they stand.
  explicit Coordinates(BlockOp block);

  BlockOp block;
  SmallVector<Own> own;
  /// Of the offsets, and of `domain`.
  SmallVector<StringAttr> symbols;
  /// The block's domain over the new dimensions; `setDomain` computes it.
  IntegerSet domain;

  void setDomain();
  /// Neither another order nor another direction.
  bool keepsOrder() const;
  bool isIdentity() const;
  ft::OperatorKind getOperator(unsigned ownDim) const {
    return BlockOp(block).getOperator(own[ownDim].dim);
  }
  StringRef getName(unsigned ownDim) const;
  SmallVector<StringAttr> getDimNames() const;
  /// For `remapBlock`.
  BlockRemap getRemap() const;
  /// A map of a block inside over the new dimensions, and over `names`, to which its
  /// symbols are added.
  AffineMap translate(AffineMap map, ArrayRef<StringAttr> mapSymbols,
                      SmallVectorImpl<StringAttr> &names) const;
  /// New own dimension d at the point that stands at `offset` of a set.
  std::optional<LinearExpr> getRow(SetBuilder &set, unsigned ownDim, unsigned offset) const;

  bool operator==(const Coordinates &other) const;
};

/// Coordinates of a producer and of its consumer in which an element is read where it
/// is written, by what their index maps name; none of those as they stand.
SmallVector<std::pair<Coordinates, Coordinates>, 0> findCoordinates(BlockOp a, BlockOp b,
                                                                    ArrayRef<Flow> flows);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_MERGECOORDINATES_H
