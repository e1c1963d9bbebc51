//===- CutLeaves.h - shares of a leaf's own reduction -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of a whole tensor is one leaf, whose terms are data of its `linalg` operation: no dimension of the block could be cut. Here its longest
// reduced loop is: shares of it stand before the bar, as points that do not wait, and the leaf that is left joins what they come to.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_CUTLEAVES_H
#define FT_DIALECT_ETDG_TRANSFORMS_CUTLEAVES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace mlir::etdg {

/// A leaf some of whose operations reduce one and the same loop, so that shares of it can be computed apart.
struct LeafReduction {
  BlockOp leaf;
  /// How many iterations the loop has.
  int64_t extent = 0;
  /// Sizes of loops after it that are one with it: all that has the loop has these after it, so that their iterations follow each other.
  SmallVector<int64_t> inner;
  /// Values that have an element for each iteration, and along which of their dimensions.
  llvm::MapVector<Value, unsigned> along;
  /// Of each `linalg` operation that has the loop, which of its own it is.
  llvm::DenseMap<Operation *, unsigned> loops;
  /// Those whose results the loop reduces, in the order of the body.
  SmallVector<linalg::LinalgOp> sums;
  /// The dimension of the leaf at each index of what it writes first.
  SmallVector<unsigned> point;

  /// Terms of a sum that one iteration brings.
  int64_t getTerms() const;
};

/// The leaf as such a reduction: the outermost reduced loop that has `enough` iterations, else the longest one. Nothing, and why, where
/// shares of it can't be computed apart.
std::optional<LeafReduction> findLeafReduction(BlockOp leaf, int64_t enough, std::string &why);

/// What stands for the leaf then: shares, of which the last one may be shorter and a block of its own, or null; and the leaf itself, which joins them.
struct CutLeaf {
  BlockOp shares, rest, join;
};

/// Cuts the loop into shares of so many iterations, at most as many as it has.
CutLeaf cutLeaf(const LeafReduction &reduction, int64_t iterations);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_CUTLEAVES_H
