//===- Artifact.h - the cost rules of DAT's public code ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules `artifact` count what the public code of DAT (DAC'24) counts, so
// that its records can be compared with, figure by figure. They differ from
// what a buffer really does (the rules `exact`, LoopTree.h):
//
//  * tiles divide their dimensions; a tile of a dimension is at least 16;
//  * batch and heads have tiles of 1 in a chain of several operators, and in
//    an operator all of whose operands they index;
//  * a tensor is fused, or pinned (held as if it were fused, and moved once),
//    or its single tile moves whenever a loop over one of its dimensions, or
//    one outside of such a loop, steps - also if that loop has one iteration;
//  * softmax is not there: its consumers read what it reads;
//  * the buffer holds the sum over a group of operators (see `evaluate`).
//
// A fused tensor has one reader. A connected set of operators with the fused
// tensors between them is a *chain*: a tree whose root is the last consumer.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_ARTIFACT_ARTIFACT_H
#define FT_DATAFLOW_ARTIFACT_ARTIFACT_H

#include "ft/Dataflow/Graph/Graph.h"

#include <array>
#include <functional>
#include <optional>

namespace ft::dataflow::artifact {

/// One operator's schedule.
struct OpSchedule {
  int op = -1;
  /// Places in Operator::dims, the innermost loop first.
  std::vector<uint8_t> order;
  /// By place in Operator::dims.
  std::vector<Count> tiles;
  /// Operands (by index, the output last) that are held whole below the loop that they depend on,
  /// and moved once.
  uint32_t pins = 0;
};

/// A chain: the root (the last consumer) first, every producer after its consumer.
struct Chain {
  std::vector<OpSchedule> ops;
};

/// What a chain costs.
struct Cost {
  Count volume = 0;    // elements moved between the memory and the buffer
  Count time = 0;      // cycles of computing, by computeTime
  Count pins = 0;      // operands that are held though they are not fused
  Count footprint = 0; // elements that the buffer must hold
  Count accesses = 0;  // tiles moved

  /// Whether this is better: by traffic, then time; what is left decides by pins, footprint, accesses.
  bool operator<(const Cost &other) const;
  bool operator==(const Cost &other) const = default;
};
Cost operator+(const Cost &a, const Cost &b); // footprint: the larger one

/// What one operand of one operator costs.
struct OperandCost {
  Count volume = 0, accesses = 0, footprint = 0;
  /// The dimensions (places in Operator::dims) that are held whole.
  uint32_t expanded = 0;
};
enum class Use { Moves, Pinned, Internal };
OperandCost operandCost(const Graph &graph, const Operator &op, unsigned operand,
                        const OpSchedule &schedule, Use use);

/// Cycles that `computePower` multiply-accumulate units need for an operator: the best choice of a
/// stationary operand X whose tile occupies them,
/// ⌈min over X of ⌈tile(X)/P⌉ · points/tile(X) · (r+2)/r⌉,
/// where r is the largest tile of a dimension that X lacks (filling and draining take two steps).
Count computeTime(const Graph &graph, const Operator &op, const std::vector<Count> &tiles,
                  Count computePower);

/// A chain's cost. Volume, accesses and time are sums over the operators. For the footprint the
/// operators form groups: a producer belongs to its consumer's group if the consumer sums over a
/// dimension of the binding tensor that is held whole (both then work in turn), else to its own. A
/// group holds the union of its tensors, and the binding tensors that wait while it runs; groups
/// run in the best order.
Cost evaluate(const Graph &graph, const Chain &chain, Count computePower = 1024);

/// Whether all tiles of binding tensors agree: those of a dimension that neither side holds whole.
bool tilesAgree(const Graph &graph, const Chain &chain);

/// The graph as these rules see it: row-wise and point-wise operators that change no shape are left
/// out. Sets `error` if another operator that is no product remains.
Graph withoutObstacles(const Graph &graph, std::string &error);

/// Which fusions are looked at (see `Fusion` in Search.h).
enum class Mode { Intra, Tangram, Flat, Two, Any };

struct Options {
  Count buffer = 0; // elements
  Count minTile = 16;
  Count computePower = 1024;
  Mode mode = Mode::Any;
  /// Asked now and then: whether to stop and return what there is. Empty: never.
  std::function<bool()> stop;
};

/// One chain of the best schedule.
struct ChainResult {
  Chain chain;
  Cost cost;
};

/// What a search of one chain found.
struct ChainSearchResult {
  /// The best chain, if one fits and is better than the cutoff.
  std::optional<ChainResult> best;
  /// No schedule of this chain moves less. Equal to the best one's traffic if `complete`.
  Count lowerBound = 0;
  /// Whether all was looked at.
  bool complete = true;
  /// Rows and combinations looked at: the same in every run that is not stopped.
  Count nodes = 0;
};

/// The optimum of the chain of just these operators, better than `cutoff` if there is one.
ChainSearchResult searchChain(const Graph &graph, const std::vector<int> &ops,
                              const Options &options, const Cost *cutoff = nullptr);

struct Result {
  /// In the order of execution. Empty if no schedule fits.
  std::vector<ChainResult> chains;
  Cost total;
  /// No schedule moves less; equal to total.volume if the optimum is proved.
  Count lowerBound = 0;
  bool proved() const { return !chains.empty() && lowerBound == total.volume; }
  Count nodes = 0;
  /// The fused tensors.
  std::vector<int> fused;
  /// If nothing fits: the operator that cannot run, and the elements that it needs.
  int misfit = -1;
  Count needed = 0;
};

/// The exact optimum over all chains, orders, pins and tiles. `graph` comes from withoutObstacles.
Result search(const Graph &graph, const Options &options);

} // namespace ft::dataflow::artifact

#endif // FT_DATAFLOW_ARTIFACT_ARTIFACT_H
