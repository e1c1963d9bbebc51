//===- AtOnce.h - several iterations of a reduction in one leaf -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that read what several iterations of a leaf read, and compute what they come to at once (JoinBody.cpp): iterations that are joined, and
// shares that do not wait.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_CUT_ATONCE_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_CUT_ATONCE_H

#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"

namespace mlir::etdg {

/// A constraint that is there where `constraint`, with one division, is at least 0: floor(a / n) + b >= 0 where a + n b >= 0.
AffineExpr withoutDivision(AffineExpr constraint);
/// A quotient, of one division where it is one of one: floor((floor(a / m) + b) / n) is floor((a + m b) / (m n)).
AffineExpr floorDivided(AffineExpr expr, int64_t by);

class AtOnce {
protected:
  AtOnce(const JoinableReduction &reduction, int64_t count)
      : reduction(reduction), leaf(reduction.leaf), count(count), context(leaf.getContext()), old(BlockBuilder::from(leaf)),
        space(leaf->getParentOfType<GraphOp>()), dim(getAffineDimExpr(reduction.dim, context)) {}

  /// A map or a set with the dimension at another iteration.
  AffineMap at(AffineMap map, AffineExpr iteration);
  IntegerSet at(IntegerSet set, AffineExpr iteration);
  /// The leaf's domain with other bounds of the dimension, and, if any, what is 0.
  IntegerSet domainOf(ArrayRef<AffineExpr> own, AffineExpr equal = {});
  /// Without `there` all iterations are; else so many, after which elements are 0.
  ReadAttr readOfAll(unsigned r, AffineExpr begin, AffineExpr there);
  BlockOp writeAtOnce(OpBuilder &builder, BlockBuilder block, AffineExpr begin, AffineExpr there = {});
  bool isEmpty(const BlockBuilder &block);
  /// Whether `there` is at least the number of iterations at each point of a block.
  bool areAll(const BlockBuilder &block, AffineExpr there);

  const JoinableReduction &reduction;
  BlockOp leaf;
  int64_t count;
  MLIRContext *context;
  BlockBuilder old;
  SymbolSpace space;
  AffineExpr dim;
};

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_CUT_ATONCE_H
