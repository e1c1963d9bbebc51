//===- MergeLegality.h - may two blocks become one --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact test after a merge (FT §5.1). Table 3 of the paper is no rule here:
// (reduce, map) → reduce would fuse a sum with the division that needs all of it.
// Each dimension is aligned only if no iteration of the consumer needs one of the
// producer that the merged block runs later, which is the emptiness of a set.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_MERGELEGALITY_H
#define FT_DIALECT_ETDG_TRANSFORMS_MERGELEGALITY_H

#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/Transforms/MergeCoordinates.h"

namespace mlir::etdg {

/// What merging has done in this process: pairs of blocks whose dimensions it aligned, and accesses,
/// uses of buffers and children of blocks that it looked at. The same in every run of the same
/// graphs; what it asked of sets counts `getNumSetsAsked` (SetWork.h).
struct MergeWork {
  int64_t alignments = 0, visits = 0;
};
MergeWork getMergeWork();
void countMergeVisits(int64_t visits);

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

/// How many of the outermost own dimensions two blocks have in common, in the
/// coordinates that they are given.
struct Alignment {
  explicit Alignment(BlockOp a, BlockOp b) : a(a), b(b) {}
  Alignment(Coordinates a, Coordinates b) : a(std::move(a)), b(std::move(b)) {}

  Coordinates a, b;
  unsigned size = 0;
  /// The domain of the merged block with as many dimensions aligned, less one.
  SmallVector<OuterDomain> domains;
  /// Of the aligned dimensions in the merged block.
  SmallVector<ft::OperatorKind> operators;
  /// Aligned dimensions in which a map of the producer becomes a reduction of
  /// the consumer: its width is kept by cuts of the reduction alone.
  SmallVector<unsigned> narrowed;
  /// What stopped at dimension `size`.
  MergeRefusal stop;
};

class MergeLegality {
public:
  explicit MergeLegality(GraphOp graph) : space(graph), typical(graph) {}

  /// What `b` reads of what `a` writes, leaf by leaf. Cost: the uses of the
  /// buffers that the block with fewer leaves touches (`walkReader`: that is `b`).
  SmallVector<Flow, 0> getFlows(BlockOp a, BlockOp b, bool walkReader = true);

  /// Aligns dimensions from the outermost inwards, for a producer `a` and a
  /// consumer `b` with `flows`, or for two blocks without any between them.
  Alignment align(BlockOp a, BlockOp b, ArrayRef<Flow> flows);
  /// The same in given coordinates. Of a producer and its consumer, map dimensions may
  /// have other iterations where both together are one set: the union is the merged
  /// block's, and each runs at its own points.
  Alignment align(const Coordinates &a, const Coordinates &b, ArrayRef<Flow> flows);

  /// A domain that holds the iterations of both, with dimensions below `numDims`: what
  /// both satisfy of the conditions of either. None where that has no bounds (one may be longer
  /// or shorter than the other), or a bound follows from inner dimensions only. `mayDiffer`:
  /// else both must have the same.
  std::optional<OuterDomain> unite(const Coordinates &a, const Coordinates &b, unsigned numDims,
                                   bool mayDiffer);

  /// The outer domain of a block in its coordinates, for both.
  OuterDomain getOuterDomainOf(const Coordinates &block, unsigned numDims);

  /// Whether a block may run in the order of other coordinates, by what its own
  /// iterations need of each other.
  bool mayReorder(const Coordinates &coordinates);

  /// The conditions of a block's coordinates on dimensions below `numDims` that do not follow
  /// from the domain of the block that takes it in.
  Conditions getGuard(const Coordinates &block, const OuterDomain &outer, unsigned numDims);

  /// About how many iterations of the outer dimensions below `numDims` a set has at typical
  /// lengths.
  double getTypicalSize(IntegerSet set, ArrayRef<StringAttr> symbols, unsigned numAncestors,
                        unsigned numDims);

  /// Whether reasons come with an example; finding one costs time.
  bool explain = true;

private:
  std::string describeLate(Flow &flow, llvm::StringRef dimName, const SetBuilder &set, bool isLate);
  /// Whether dimension `dim` of a merged block with the operator keeps the order of a flow.
  bool keepsOrder(Flow &flow, unsigned dim, ft::OperatorKind kind, const Coordinates &a,
                  const Coordinates &b, std::string &why);
  /// The outer domain of a block in coordinates, with the conditions of the blocks around it.
  FailureOr<presburger::IntegerPolyhedron> getOuterPoints(const Coordinates &block,
                                                          unsigned numDims);

  SymbolSpace space;
  TypicalLengths typical;
};

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_MERGELEGALITY_H
