//===- Sharding.h - how each length of a graph can be divided ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions of iteration spaces and buffers are divided together when a
// program is divided over ranks, and what ranks have to tell each other then.
//
// A *class* holds dimensions that accesses couple: the block that writes
// `%ys[i, k]` couples the first dimension of `%ys` with its own `i`. Rank r owns
// one range of the class; what an access reads outside of it decides the kind.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_SHARDING_SHARDING_H
#define FT_ANALYSIS_SHARDING_SHARDING_H

#include "ft/Analysis/Dependences.h"

namespace mlir::etdg {

/// What ranks exchange, the cheapest kind first.
enum class ShardingKind {
  Local,     ///< nothing
  Partial,   ///< each rank has a part of a result, which a reduction joins
  Halo,      ///< planes of the neighbours, as many for any length
  Scan,      ///< states of the shards, joined in order
  Pipeline,  ///< the last planes of the rank before, in order
  Ring,      ///< every shard in turn, where what reads them has a `combine`
  AllGather, ///< every shard at once
  Refused    ///< no message that is known when the program is compiled
};
StringRef stringify(ShardingKind kind);

/// How parts of a result join.
enum class PartialKind { None, Sum, Product, Max, Min, Combine };
/// `sum`, `product`, `max`, `min`, `combine`: names of MLIR's `shard` dialect where it has them.
StringRef stringify(PartialKind kind);

/// One dimension of a class: of a buffer, or of a block. A block's is one of its own, and a nest's that of its first block.
struct ShardingMember {
  Value buffer;
  BlockOp block;
  unsigned dim = 0;
  /// Its index counts down while the class's counts up.
  bool isReversed = false;
};

/// Why a class is not of a cheaper kind.
struct ShardingReason {
  ShardingKind kind;
  Location loc;
  /// `block @r1 read 2 of buffer 'ys' at [i, k - 1]`.
  std::string text;
  /// Index read minus index of the iteration; for halo, scan, pipeline and partial.
  DistanceRange distance;
  /// Bytes of one message; null where they are no expression of lengths.
  ft::LengthAttr bytes;
};

/// How many planes before and after a shard its results depend on.
struct ShardingReach {
  int64_t before = 0, after = 0;
};

struct ShardingClass {
  ft::LengthAttr length;
  SmallVector<ShardingMember> members;
  ShardingKind kind = ShardingKind::Local;
  /// What makes it of this kind, in textual order; empty for a local one.
  SmallVector<ShardingReason> reasons;
  /// Where the program asks for an index or for the length as a number, so that a rank has to know the begin of its shard
  /// and the whole length.
  SmallVector<ShardingReason> positions;
  /// Of a partial class: where a block reads a part, so that parts have to be joined inside of the program.
  SmallVector<ShardingReason> joins;
  /// Of each result without the length: whether ranks have parts of it, or all the same.
  SmallVector<PartialKind> results;
  /// Of a halo: what ranks that run the program on their shards take of their neighbours'; none where that is not enough.
  std::optional<ShardingReach> reach;

  /// The dimension of an argument or result, if it is divided.
  std::optional<unsigned> getDim(Value buffer) const;
};

/// A length that callers can divide without the program's help: ranks that run the program on their shards have the shards of
/// its results, or parts of them. Where there is a reach, they run it on these and so many planes of their neighbours, and keep
/// their own part of the results.
struct ShardingRule {
  StringAttr length;
  /// Of each argument the dimension that is divided; none where each rank has all of it.
  SmallVector<std::optional<unsigned>> arguments;
  struct Result {
    std::optional<unsigned> dim;
    PartialKind partial = PartialKind::None;
  };
  SmallVector<Result> results;
  /// Shards have at least as many elements.
  int64_t least = 0;
  ShardingReach reach;
};

class ShardingAnalysis {
public:
  explicit ShardingAnalysis(GraphOp graph);

  /// A class for each length that is a name or an expression of names, arguments' dimensions first.
  ArrayRef<ShardingClass> getClasses() const { return classes; }
  /// The rules that hold, one for each name.
  ArrayRef<ShardingRule> getRules() const { return rules; }

private:
  void findRules(GraphOp graph);
  SmallVector<ShardingClass, 0> classes;
  SmallVector<ShardingRule> rules;
};

/// A table of classes, for people; `docs/distributed.md` explains its lines.
void printSharding(const ShardingAnalysis &analysis, GraphOp graph, raw_ostream &os);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SHARDING_SHARDING_H
