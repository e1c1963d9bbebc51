//===- ArtifactFusion.cpp - which tensors to fuse under artifact's rules --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binding tensors with one reader make a forest; fusing some of them cuts it
// into trees, the chains, whose costs add up. All connected sets of operators
// are looked at, small ones first: the best cut of a set into smaller sets is
// what its own fusion has to beat.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/Artifact/Artifact.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ft::dataflow;
using namespace ft::dataflow::artifact;

namespace {

/// Connected sets beyond which the larger ones are left out (and the bound says so).
constexpr size_t maxSets = 20000;

using Set = std::vector<int>; // sorted operators

class Fusion {
public:
  Fusion(const Graph &graph, const Options &options) : graph(graph), options(options) {}

  Result run() {
    Result result;
    findEdges();
    enumerate();
    for (const Set &set : sets)
      if (!visit(set, result))
        return result;
    assemble(result);
    return result;
  }

private:
  struct Best {
    Cost cost;
    Count lowerBound = 0;
    std::optional<ChainResult> chain; // if the set itself is fused
    int cut = -1;                     // else the edge that is cut
  };
  struct Edge {
    int from, to, tensor;
  };

  void findEdges() {
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      const Tensor &tensor = graph.tensors[t];
      if (tensor.producer < 0 || tensor.consumers.size() != 1 || tensor.isResult)
        continue;
      const Operator &reader = graph.operators[tensor.consumers[0]];
      auto reads = [&](const Operand &input) { return input.tensor == int(t); };
      if (std::count_if(reader.inputs.begin(), reader.inputs.end(), reads) != 1)
        continue;
      if (mayFuse(graph.operators[tensor.producer]))
        edges.push_back({tensor.producer, tensor.consumers[0], int(t)});
    }
  }

  /// FLAT fuses attention's logits: the product of two activations, each of which has the batch.
  bool mayFuse(const Operator &producer) const {
    if (options.mode == Mode::Intra)
      return false;
    if (options.mode != Mode::Flat)
      return true;
    for (int dim : graph.batch) {
      int local = producer.local(dim);
      for (unsigned k = 0; local >= 0 && k < producer.numOperands(); ++k)
        if (!(producer.mask(k) >> local & 1))
          return false;
    }
    return true;
  }

  /// All connected sets of operators, by size.
  void enumerate() {
    std::set<Set> layer;
    for (int i = 0; i < int(graph.operators.size()); ++i)
      layer.insert({i});
    const size_t largest = options.mode == Mode::Intra ? 1
                           : options.mode == Mode::Any ? graph.operators.size()
                                                       : 2;
    for (size_t size = 1; size <= largest && !layer.empty(); ++size) {
      if (sets.size() + layer.size() > maxSets) {
        truncated = true;
        return;
      }
      sets.insert(sets.end(), layer.begin(), layer.end());
      std::set<Set> next;
      for (const Set &set : layer)
        for (const Edge &edge : edges) {
          bool from = std::binary_search(set.begin(), set.end(), edge.from);
          bool to = std::binary_search(set.begin(), set.end(), edge.to);
          if (from == to)
            continue;
          Set larger = set;
          int added = from ? edge.to : edge.from;
          larger.insert(std::lower_bound(larger.begin(), larger.end(), added), added);
          next.insert(std::move(larger));
        }
      layer = std::move(next);
    }
  }

  /// The two parts of a set when an edge inside of it is cut.
  std::pair<Set, Set> parts(const Set &set, const Edge &cut) const {
    Set from{cut.from};
    for (bool grown = true; grown;) {
      grown = false;
      for (const Edge &edge : edges) {
        if (edge.tensor == cut.tensor || !inside(set, edge))
          continue;
        bool hasFrom = std::find(from.begin(), from.end(), edge.from) != from.end();
        bool hasTo = std::find(from.begin(), from.end(), edge.to) != from.end();
        if (hasFrom == hasTo)
          continue;
        from.push_back(hasFrom ? edge.to : edge.from);
        grown = true;
      }
    }
    std::sort(from.begin(), from.end());
    Set to;
    std::set_difference(set.begin(), set.end(), from.begin(), from.end(), std::back_inserter(to));
    return {from, to};
  }

  static bool inside(const Set &set, const Edge &edge) {
    return std::binary_search(set.begin(), set.end(), edge.from) &&
           std::binary_search(set.begin(), set.end(), edge.to);
  }

  /// Operators that differ in names only have the same optimum.
  std::vector<Count> signature(const Set &set) const {
    std::vector<Count> result;
    std::map<int, int> dims, tensors;
    for (int index : set) {
      const Operator &op = graph.operators[index];
      for (unsigned k = 0; k < op.numOperands(); ++k) {
        const Operand &operand = op.operand(k);
        result.push_back(-1 - tensors.emplace(operand.tensor, tensors.size()).first->second);
        for (int dim : operand.dims) {
          bool batch = std::find(graph.batch.begin(), graph.batch.end(), dim) != graph.batch.end();
          result.push_back(dims.emplace(dim, dims.size()).first->second);
          result.push_back(graph.dims[dim].size * 2 + batch);
        }
      }
      result.push_back(tooLarge);
    }
    return result;
  }

  bool visit(const Set &set, Result &result) {
    Best entry;
    bool hasCut = false;
    entry.lowerBound = tooLarge;
    for (size_t e = 0; e < edges.size(); ++e) {
      if (!inside(set, edges[e]))
        continue;
      auto [from, to] = parts(set, edges[e]);
      const Best &a = best.at(from), &b = best.at(to);
      Cost cost = a.cost + b.cost;
      if (!hasCut || cost < entry.cost)
        entry.cost = cost, entry.cut = e;
      entry.lowerBound = std::min(entry.lowerBound, add(a.lowerBound, b.lowerBound));
      hasCut = true;
    }
    ChainSearchResult search = searchOnce(set, hasCut ? &entry.cost : nullptr);
    result.nodes += search.nodes;
    entry.lowerBound = std::min(entry.lowerBound, search.lowerBound);
    if (search.best)
      entry.cost = search.best->cost, entry.chain = search.best, entry.cut = -1;
    else if (!hasCut)
      return explainMisfit(set[0], result);
    best[set] = entry;
    return true;
  }

  ChainSearchResult searchOnce(const Set &set, const Cost *cutoff) {
    auto key = std::make_pair(signature(set), cutoff ? cutoff->volume : -1);
    auto found = known.find(key);
    if (found == known.end()) {
      ChainSearchResult result = searchChain(graph, set, options, cutoff);
      known[key] = {set, result};
      return result;
    }
    ChainSearchResult result = found->second.second;
    result.nodes = 0;
    if (result.best)
      for (OpSchedule &schedule : result.best->chain.ops) {
        const Set &other = found->second.first;
        schedule.op = set[std::find(other.begin(), other.end(), schedule.op) - other.begin()];
      }
    return result;
  }

  bool explainMisfit(int op, Result &result) {
    result.misfit = op;
    Options unlimited = options;
    unlimited.buffer = tooLarge - 1;
    // The least that the smallest tiles need.
    const Operator &what = graph.operators[op];
    OpSchedule least{op, {}, {}, 0};
    for (unsigned d = 0; d < what.dims.size(); ++d) {
      least.order.push_back(d);
      bool batch = std::find(graph.batch.begin(), graph.batch.end(), what.dims[d]) !=
                   graph.batch.end();
      Count size = graph.size(what, d), tile = size;
      for (Count t = size; t >= 1; --t)
        if (size % t == 0 && t >= (batch ? 1 : std::min(size, options.minTile)))
          tile = t;
      least.tiles.push_back(tile);
    }
    result.needed = evaluate(graph, Chain{{least}}, options.computePower).footprint;
    return false;
  }

  void assemble(Result &result) {
    // Components of the forest, cut as found.
    std::vector<bool> seen(graph.operators.size(), false);
    for (int i = 0; i < int(graph.operators.size()); ++i) {
      if (seen[i])
        continue;
      Set component{i};
      for (bool grown = true; grown;) {
        grown = false;
        for (const Edge &edge : edges) {
          bool from = std::binary_search(component.begin(), component.end(), edge.from);
          bool to = std::binary_search(component.begin(), component.end(), edge.to);
          if (from == to)
            continue;
          int added = from ? edge.to : edge.from;
          component.insert(std::lower_bound(component.begin(), component.end(), added), added);
          grown = true;
        }
      }
      for (int op : component)
        seen[op] = true;
      whole(component, result);
    }
    for (const ChainResult &chain : result.chains)
      result.total = result.total + chain.cost;
    std::sort(result.chains.begin(), result.chains.end(),
              [](const ChainResult &a, const ChainResult &b) {
                return a.chain.ops[0].op < b.chain.ops[0].op;
              });
    std::sort(result.fused.begin(), result.fused.end());
  }

  /// A component that is larger than the largest set that was visited is cut where it costs least.
  void whole(const Set &set, Result &result) {
    auto found = best.find(set);
    if (found == best.end())
      return cheapestCut(set, result);
    result.lowerBound = add(result.lowerBound, found->second.lowerBound);
    take(set, result);
  }

  void take(const Set &set, Result &result) {
    const Best &entry = best.at(set);
    if (!entry.chain) {
      auto [from, to] = parts(set, edges[entry.cut]);
      take(from, result);
      take(to, result);
      return;
    }
    result.chains.push_back(*entry.chain);
    for (const Edge &edge : edges)
      if (inside(set, edge))
        result.fused.push_back(edge.tensor);
  }

  /// A tree whose sets are limited in size: the best cut by dynamic programming from the first
  /// operators on. least[i]: the operators of the tree that lie below operator i, its set included.
  void cheapestCut(const Set &tree, Result &result) {
    std::map<int, Cost> least;
    std::map<int, Count> bound;
    std::map<int, const Set *> chosen;
    auto outside = [&](const Set &set, auto take) {
      // Producers of fusible tensors that the set reads without holding them.
      for (const Edge &edge : edges)
        if (std::binary_search(set.begin(), set.end(), edge.to) &&
            !std::binary_search(set.begin(), set.end(), edge.from))
          take(edge.from);
    };
    for (int op : tree) {
      for (const auto &[set, entry] : best) {
        // Operators are sorted producers first: the last one of a set is its root.
        if (set.back() != op || !entry.chain)
          continue;
        Cost cost = entry.chain->cost;
        outside(set, [&](int below) { cost = cost + least.at(below); });
        if (!chosen.count(op) || cost < least[op])
          least[op] = cost, chosen[op] = &set;
      }
      bound[op] = tooLarge;
      for (const auto &[set, entry] : best) {
        if (set.back() != op)
          continue;
        Count sum = entry.lowerBound;
        outside(set, [&](int below) { sum = add(sum, bound.at(below)); });
        bound[op] = std::min(bound[op], sum);
      }
    }
    auto emit = [&](auto &self, int op) -> void {
      const Set &set = *chosen.at(op);
      take(set, result);
      outside(set, [&](int below) { self(self, below); });
    };
    emit(emit, tree.back());
    Count below = bound[tree.back()];
    if (truncated)
      below = compulsory(tree); // longer chains were not looked at
    result.lowerBound = add(result.lowerBound, below);
  }

  Count compulsory(const Set &set) const {
    Count sum = 0;
    for (int index : set) {
      const Operator &op = graph.operators[index];
      for (unsigned k = 0; k < op.numOperands(); ++k) {
        int tensor = op.operand(k).tensor;
        bool internal = std::any_of(edges.begin(), edges.end(),
                                    [&](const Edge &edge) { return edge.tensor == tensor; });
        if (!internal)
          sum = add(sum, graph.tensors[tensor].size());
      }
    }
    return sum;
  }

  const Graph &graph;
  const Options &options;
  std::vector<Edge> edges;
  std::vector<Set> sets;
  bool truncated = false;
  std::map<Set, Best> best;
  std::map<std::pair<std::vector<Count>, Count>, std::pair<Set, ChainSearchResult>> known;
};

} // namespace

Result artifact::search(const Graph &graph, const Options &options) {
  return Fusion(graph, options).run();
}
