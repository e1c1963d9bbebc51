//===- Search.h - the least traffic under the rules `exact` -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches fusion, order, hold depths and tiles of an operator graph for the
// least traffic that a buffer allows (DAT §4.1-4.2), exactly where time allows
// and with a proven gap where it does not.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_SEARCH_SEARCH_H
#define FT_DATAFLOW_SEARCH_SEARCH_H

#include "ft/Dataflow/LoopTree/LoopTree.h"

#include <functional>
#include <optional>

namespace ft::dataflow::exact {

/// What may be fused.
enum class Fusion {
  Intra,   // nothing
  Tangram, // two products: an output-stationary producer, an input-stationary consumer, equal tiles
  Flat,    // two products and what is between them, in whole rows of the tensor between
  Two,     // groups with at most two products (DAT-2)
  Any,     // everything (DAT-∞)
};
const char *name(Fusion fusion);
std::optional<Fusion> parseFusion(std::string_view name);

struct GroupResult {
  Group group;
  GroupCost cost;
};

struct Options {
  Count buffer = 0; // elements
  Rules rules;
  Fusion fusion = Fusion::Any;
  /// Whether operators of a group that read one tensor from outside may share a slot (OpPlan::slots).
  bool sharedSlots = false;
  /// Tiles are multiples of this, or the whole dimension.
  Count granularity = 1;
  /// Tiles are at least this (or the whole dimension), but for batch and heads (Graph::batch), along which
  /// instances are independent.
  Count minTile = 1;
  /// Stop when the traffic is proved to be within this of the optimum; 0: at the optimum.
  double gap = 0;
  /// Seconds for the whole search; 0: no limit.
  double budget = 0;
  /// Seeds the genetic algorithm.
  uint64_t seed = 1;
  /// Groups to start from, of narrower modes: what is found is no worse. Empty: these modes are
  /// searched first, within a share of the time.
  std::vector<GroupResult> start;
  /// Called now and then with the best traffic and the lower bound so far.
  std::function<void(Count, Count)> progress;
};

/// What the search of one group found.
struct GroupSearchResult {
  std::optional<GroupResult> best;
  /// No legal loop nest of this group that fits moves less.
  Count lowerBound = 0;
  bool complete = false;
  Count nodes = 0;
};

struct Result {
  /// In the order of execution; empty if nothing fits.
  std::vector<GroupResult> groups;
  Count volume = 0, accesses = 0, footprint = 0;
  Count lowerBound = 0;
  bool proved() const { return !groups.empty() && lowerBound == volume; }
  Count nodes = 0;
  std::vector<int> fused; // tensors that never move
  /// If nothing fits: the operator, and the elements that it needs at least.
  int misfit = -1;
  Count needed = 0;
};

/// The best schedule of a graph.
Result search(const Graph &graph, const Options &options);

/// The best loop nest of these operators (sorted) as one group, better than `cutoff`; within a
/// factor of 1+gap of it. `stop` is asked now and then.
GroupSearchResult searchGroup(const Graph &graph, const std::vector<int> &ops,
                              const Options &options, Count cutoff, double gap,
                              const std::function<bool()> &stop);

/// The same nest in fewer steps: other tiles that move no more and fit. What a search returns is grown.
void growTiles(const Graph &graph, GroupResult &group, const Options &options);

/// The least tile that is allowed in a dimension of the graph.
Count leastTile(const Graph &graph, const Options &options, int dim);

/// The plan of an operator by itself that needs the least buffer.
GroupResult leastPlan(const Graph &graph, int op, const Options &options);

} // namespace ft::dataflow::exact

#endif // FT_DATAFLOW_SEARCH_SEARCH_H
