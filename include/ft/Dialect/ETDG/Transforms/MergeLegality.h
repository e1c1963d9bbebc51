//===- MergeLegality.h - may two blocks become one --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact test behind a merge (FT §5.1). Table 3 of the paper is no rule here:
// (reduce, map) → reduce would fuse a sum with the division that needs all of it.
// Each dimension is aligned only if no iteration of the consumer needs one of the
// producer that the merged block runs later, which is the emptiness of a set.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_MERGELEGALITY_H
#define FT_DIALECT_ETDG_TRANSFORMS_MERGELEGALITY_H

#include "ft/Analysis/Accesses.h"

namespace mlir::etdg {

/// Why two blocks stay two, by the name of the rule:
///   `domain`     the dimension has other iterations in the other block;
///   `dependence` an iteration needs one that would run later, or in parallel;
///   `width`      a map dimension would become one that runs in order;
///   `pipeline`   two recurrences that can overlap would become one chain;
///   `combine`    one combines partial states, the other can't;
///   `cost`       no byte is saved;
///   `order`      what stands between them is in the way.
struct MergeRefusal {
  std::string rule, reason;
  explicit operator bool() const { return !rule.empty(); }
};

/// How many of the outermost own dimensions two blocks have in common.
struct Alignment {
  unsigned size = 0;
  /// Of the aligned dimensions in the merged block.
  SmallVector<ft::OperatorKind> operators;
  /// Aligned dimensions in which a map of the producer becomes a reduction of
  /// the consumer: its width is kept by cuts of the reduction alone.
  SmallVector<unsigned> narrowed;
  /// What stopped at dimension `size`.
  MergeRefusal stop;
};

/// A write and a read of the same buffer by two blocks.
struct Flow {
  Access write, read;
};

class MergeLegality {
public:
  explicit MergeLegality(GraphOp graph) : space(graph) {}

  /// What `b` reads of what `a` writes, leaf by leaf. Cost: the uses of the
  /// buffers that the block with fewer leaves touches (`walkReader`: that is `b`).
  SmallVector<Flow, 0> getFlows(BlockOp a, BlockOp b, bool walkReader = true);

  /// Aligns dimensions from the outermost inwards, for a producer `a` and a
  /// consumer `b` with `flows`, or for two blocks without any between them.
  Alignment align(BlockOp a, BlockOp b, ArrayRef<Flow> flows);

  /// Whether the outer domains, with dimensions below `numDims`, are the same set.
  bool haveEqualOuterDomains(BlockOp a, BlockOp b, unsigned numDims);

  /// Whether reasons come with an example; finding one costs time.
  bool explain = true;

private:
  /// Whether dimension `dim` of a merged block with the operator keeps the order of a flow.
  bool keepsOrder(Flow &flow, unsigned dim, ft::OperatorKind kind, std::string &why);

  SymbolSpace space;
};

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_MERGELEGALITY_H
