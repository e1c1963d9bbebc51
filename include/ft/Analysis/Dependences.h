//===- Dependences.h - flow dependences between iterations ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which iterations of a nest need which others. The unit is one iteration of a
// block with all that its body holds: the accesses of all leaves inside to
// buffers that outlive the iteration, seen over the block's own dimensions.
//
// A dependence is a write and a read of one element; with single assignment there
// are no others. A read through a gather reads its whole dimension. Answers are
// exact for all lengths that the graph's bounds allow (FT §5.2 takes Table 4
// instead, which holds for state read in place only; where the maps are of that
// form they are read off the same way here, without sets).
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_DEPENDENCES_H
#define FT_ANALYSIS_DEPENDENCES_H

#include "ft/Analysis/AccessMatrix.h"
#include <deque>

namespace mlir::etdg {

/// The values of an integer: [low, high], an end that is not bounded being none.
struct DistanceRange {
  std::optional<int64_t> low, high;

  static DistanceRange constant(int64_t value) { return {value, value}; }
  bool isConstant() const { return low && high && *low == *high; }
  bool isZero() const { return isConstant() && *low == 0; }
  bool operator==(const DistanceRange &other) const {
    return low == other.low && high == other.high;
  }
};
using DistanceVector = SmallVector<DistanceRange>;

/// `(0, 1, *)`: `*` any, `1..3`, `0..` and `..2` ranges.
std::string toString(ArrayRef<DistanceRange> distance);

/// Iterations of `sink` that read what iterations of `source` wrote, at equal
/// values of the common ancestors' dimensions.
struct Dependence {
  BlockOp source, sink; // the units: blocks of a body, not the leaves inside
  Access *write, *read; // of a leaf in each; owned by the analysis
  /// Within a nest: the first own dimension in which they differ, where the
  /// maps alone do not say the distance.
  std::optional<unsigned> level;
  /// sink − source in each own dimension, over all pairs; between nests of
  /// different dimensions, empty.
  DistanceVector distance;
  /// Read off the maps (FT Table 4's case).
  bool fromMaps = false;

  bool isConstant() const {
    return llvm::all_of(distance, [](const DistanceRange &range) { return range.isConstant(); });
  }
};

/// `buffer 'ys': block @r3 read 1 <- block @r1 write 0`.
std::string describe(const Dependence &dependence);

class DependenceAnalysis {
public:
  /// Which dependences of a nest to list: one for each pair of accesses, or one
  /// for each constant distance and each pair whose distance is not constant.
  enum class List { Pairs, Distances };

  explicit DependenceAnalysis(GraphOp graph);

  const SymbolSpace &getSpace() const { return space; }
  const GraphAccesses &getAccesses() const { return accesses; }
  /// The accesses of the leaves in `unit` to buffers that outlive an iteration of it.
  struct UnitAccesses {
    llvm::MapVector<Value, SmallVector<Access *>> writes, reads;
  };
  const UnitAccesses &getUnit(BlockOp unit);
  /// All accesses of a leaf.
  ArrayRef<Access *> getLeafAccesses(BlockOp leaf);

  /// Dependences among the iterations of a nest (a block that stands alone is a
  /// nest of one). `useMaps` = false asks the sets for all of them. Failure: a
  /// set or map is not quasi-affine.
  FailureOr<SmallVector<Dependence>> getCarried(ArrayRef<BlockOp> nest, List list = List::Pairs,
                                                bool useMaps = true);
  /// Dependences of one nest on another of the same body.
  FailureOr<SmallVector<Dependence>> getBetween(ArrayRef<BlockOp> before, ArrayRef<BlockOp> after);
  /// Whether `after` reads a buffer that `before` writes.
  bool shareBuffer(ArrayRef<BlockOp> before, ArrayRef<BlockOp> after);

  /// The pairs of a dependence: {ancestors, own dimensions of the source, own
  /// dimensions of the sink}. All other variables are existential.
  FailureOr<presburger::IntegerPolyhedron> getRelation(const Dependence &dependence);

  /// The same with a set builder that leaves room for constraints: variables
  /// `source` + d and `sink` + d are dimension d (ancestors count) of the ends.
  struct PairSet {
    SetBuilder builder;
    unsigned source, sink;
  };
  FailureOr<PairSet> getPairs(const Dependence &dependence);

  /// The values that an expression takes on a set that is not empty. Exact where
  /// it is constant; otherwise a bound may lie further out than the last value.
  static DistanceRange getRange(const SetBuilder &set, const LinearExpr &expr);

private:
  LogicalResult addPair(Dependence pair, unsigned numOwn, bool useMaps,
                        llvm::SmallDenseSet<Attribute> *known, SmallVectorImpl<Dependence> &all);
  const AccessMatrix &getMatrix(Access *access);

  GraphOp graph;
  SymbolSpace space;
  GraphAccesses accesses;
  std::deque<Access> pool;
  llvm::DenseMap<Operation *, SmallVector<Access *>> leaves;
  llvm::DenseMap<Operation *, std::unique_ptr<UnitAccesses>> units;
  llvm::DenseMap<Access *, std::unique_ptr<AccessMatrix>> matrices;
};

/// How the maps' forms relate two iterations: the distance in each own dimension
/// that they determine; for others, a range without ends. None when the accesses
/// never meet.
std::optional<DistanceVector> getDistanceFromMaps(const AccessMatrix &write,
                                                  const AccessMatrix &read, unsigned numAncestors,
                                                  unsigned numOwn);

/// One loop of an order of execution: a row over the own dimensions, run in
/// increasing order of its value, or all values at once.
struct OrderLoop {
  SmallVector<int64_t> row;
  bool parallel;
};

/// Whether an order of a nest keeps a dependence: at the outermost loop in which
/// the ends differ the sink comes later, and the loop is not parallel. Exact, by
/// the dependence's sets. On failure, a pair that is not kept is in `sample`.
FailureOr<bool> isKept(DependenceAnalysis &analysis, const Dependence &dependence,
                       ArrayRef<OrderLoop> loops, std::string *sample = nullptr);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_DEPENDENCES_H
