//===- ExactSearch.cpp - which operators to fuse under exact's rules ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traffic is a sum over groups, so the best fusion is the best partition of the
// operators into connected, convex sets. Sets are searched by size, small ones
// first, in rounds of a narrowing gap. A set is searched again only if its bound
// says that it may still improve the partition.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/Search.h"

#include "Genetic.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

const char *exact::name(Fusion fusion) {
  switch (fusion) {
  case Fusion::Intra:
    return "intra";
  case Fusion::Tangram:
    return "tangram";
  case Fusion::Flat:
    return "flat";
  case Fusion::Two:
    return "dat2";
  case Fusion::Any:
    return "dat";
  }
  return "";
}

std::optional<Fusion> exact::parseFusion(std::string_view text) {
  for (Fusion fusion : {Fusion::Intra, Fusion::Tangram, Fusion::Flat, Fusion::Two, Fusion::Any})
    if (text == name(fusion))
      return fusion;
  return std::nullopt;
}

namespace {

using Set = std::vector<int>; // sorted operators

/// Sets beyond which larger ones are left to the genetic algorithm.
constexpr size_t maxSets = 4000;

class Partition {
public:
  Partition(const Graph &graph, const Options &options)
      : graph(graph), options(options), start(std::chrono::steady_clock::now()) {}

  /// `known` are groups of narrower modes: what this one finds is no worse.
  Result run(const std::vector<GroupResult> &known) {
    Result result;
    enumerate();
    // Every operator by itself, exactly: what there always is.
    for (const Set &set : sets) {
      if (set.size() > 1)
        break;
      searchSet(set, 0, tooLarge);
      if (!entries[set].found) {
        result.misfit = set[0];
        result.needed = leastPlan(graph, set[0], options).cost.footprint;
        result.nodes = nodes;
        return result;
      }
    }
    for (const GroupResult &group : known)
      seed(group);
    report();
    for (double gap : {0.25, 0.05, 0.01, 0.0}) {
      if (outOfTime() || isGoodEnough())
        break;
      round(std::max(gap, options.gap));
      report();
    }
    if (!isGoodEnough() && options.fusion == Fusion::Any &&
        (options.budget <= 0 || seconds() < options.budget))
      evolve();
    assemble(result);
    return result;
  }

private:
  struct Entry {
    std::optional<GroupResult> found;
    Count lowerBound = 0;
    double searched = -1; // the gap of the last complete search; negative: none
  };

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  bool outOfTime() const { return options.budget > 0 && seconds() > options.budget * 0.95; }

  bool isGoodEnough() {
    Count bound = lowerBound();
    return double(upperBound()) <= double(bound) * (1 + options.gap);
  }

  void seed(const GroupResult &group) {
    Set set;
    for (const OpPlan &plan : group.group.ops)
      set.push_back(plan.op);
    std::sort(set.begin(), set.end());
    if (group.cost.volume < upperValue(set))
      entries[set].found = group;
  }

  // ---- the sets ----

  unsigned products(const Set &set) const {
    return std::count_if(set.begin(), set.end(), [&](int op) {
      return graph.operators[op].kind == Kind::Product;
    });
  }

  void enumerate() {
    std::set<Set> layer;
    for (int i = 0; i < int(graph.operators.size()); ++i)
      layer.insert({i});
    std::vector<Set> all;
    while (!layer.empty()) {
      if (all.size() + layer.size() > maxSets) {
        truncated = true;
        break;
      }
      all.insert(all.end(), layer.begin(), layer.end());
      std::set<Set> next;
      for (const Set &set : layer)
        if (options.fusion != Fusion::Intra)
          grow(set, next);
      layer = std::move(next);
    }
    for (const Set &set : all)
      if (set.size() == 1 || (isConvex(set) && fits(set)))
        sets.push_back(set);
  }

  void grow(const Set &set, std::set<Set> &into) const {
    auto put = [&](int op) {
      if (op < 0 || std::binary_search(set.begin(), set.end(), op))
        return;
      Set larger = set;
      larger.insert(std::lower_bound(larger.begin(), larger.end(), op), op);
      if (options.fusion == Fusion::Any || products(larger) <= 2)
        into.insert(std::move(larger));
    };
    for (int index : set) {
      const Operator &op = graph.operators[index];
      for (const Operand &input : op.inputs)
        put(graph.tensors[input.tensor].producer);
      for (int consumer : graph.tensors[op.output.tensor].consumers)
        put(consumer);
    }
  }

  /// No path leaves the set and comes back.
  bool isConvex(const Set &set) const {
    // What lies behind the set, outside of it, must not lead into it.
    std::vector<bool> behind(graph.operators.size(), false);
    for (int i = 0; i < int(graph.operators.size()); ++i) {
      bool inside = std::binary_search(set.begin(), set.end(), i);
      for (const Operand &input : graph.operators[i].inputs) {
        int producer = graph.tensors[input.tensor].producer;
        if (producer < 0)
          continue;
        bool from = std::binary_search(set.begin(), set.end(), producer);
        if (inside && behind[producer])
          return false;
        if (!inside && (from || behind[producer]))
          behind[i] = true;
      }
    }
    return true;
  }

  /// Whether the mode fuses such a set.
  bool fits(const Set &set) const {
    auto isProduct = [&](int op) { return graph.operators[op].kind == Kind::Product; };
    switch (options.fusion) {
    case Fusion::Tangram:
      return set.size() == 2 && products(set) == 2 && isChain(set);
    case Fusion::Flat:
      return products(set) == 2 && isProduct(set.front()) && isProduct(set.back()) &&
             isChain(set) && isLogit(set.front());
    case Fusion::Two:
      return products(set) <= 2;
    default:
      return true;
    }
  }

  /// Each operator reads the one before it.
  bool isChain(const Set &set) const {
    for (size_t k = 1; k < set.size(); ++k) {
      const Operator &op = graph.operators[set[k]];
      if (std::none_of(op.inputs.begin(), op.inputs.end(), [&](const Operand &input) {
            return graph.tensors[input.tensor].producer == set[k - 1];
          }))
        return false;
    }
    return true;
  }

  /// FLAT fuses attention's logits: a product of two activations, which both have the batch.
  bool isLogit(int index) const {
    const Operator &op = graph.operators[index];
    for (int dim : graph.batch) {
      int local = op.local(dim);
      for (unsigned k = 0; local >= 0 && k < op.numOperands(); ++k)
        if (!(op.mask(k) >> local & 1))
          return false;
    }
    return true;
  }

  // ---- partitions ----

  /// The best partition of a set into sets that satisfy `use`, by their `value`; every part holds the
  /// first operator that is left.
  template <typename Value>
  Count bestParts(const Set &whole, Value value, std::vector<const Set *> *parts) {
    std::map<Set, std::pair<Count, const Set *>> known;
    auto recurse = [&](auto &self, const Set &left) -> Count {
      if (left.empty())
        return 0;
      auto at = known.find(left);
      if (at != known.end())
        return at->second.first;
      Count least = tooLarge;
      const Set *chosen = nullptr;
      for (const Set *set : startingAt[left[0]]) {
        if (set->size() > left.size() ||
            !std::includes(left.begin(), left.end(), set->begin(), set->end()))
          continue;
        Count own = value(*set);
        if (own == tooLarge || own >= least)
          continue;
        Set rest;
        std::set_difference(left.begin(), left.end(), set->begin(), set->end(),
                            std::back_inserter(rest));
        Count sum = add(own, self(self, rest));
        if (sum < least)
          least = sum, chosen = set;
      }
      known[left] = {least, chosen};
      return least;
    };
    Count result = recurse(recurse, whole);
    if (parts)
      for (Set left = whole; !left.empty();) {
        const Set *set = known.at(left).second;
        parts->push_back(set);
        Set rest;
        std::set_difference(left.begin(), left.end(), set->begin(), set->end(),
                            std::back_inserter(rest));
        left = std::move(rest);
      }
    return result;
  }

  Set all() const {
    Set result;
    for (int i = 0; i < int(graph.operators.size()); ++i)
      result.push_back(i);
    return result;
  }

  Count upperValue(const Set &set) const {
    auto at = entries.find(set);
    return at == entries.end() || !at->second.found ? tooLarge : at->second.found->cost.volume;
  }
  Count lowerValue(const Set &set) const {
    auto at = entries.find(set);
    return std::max(floorOf(set), at == entries.end() ? 0 : at->second.lowerBound);
  }

  /// What a group of these operators moves at least. A product's own part of the nest is a schedule of
  /// that product alone, in which each tensor between operators would move just once more: it costs no
  /// less than the product's optimum less these tensors.
  Count floorOf(const Set &set) const {
    Count sum = 0;
    for (int op : set)
      sum = add(sum, floorOf(op, [&](int other) {
                  return std::binary_search(set.begin(), set.end(), other);
                }));
    return sum;
  }

  template <typename Inside>
  Count floorOf(int index, Inside inside) const {
    const Operator &op = graph.operators[index];
    Count outside = 0, between = 0;
    for (const Operand &input : op.inputs) {
      const Tensor &tensor = graph.tensors[input.tensor];
      Count &into = tensor.producer >= 0 && inside(tensor.producer) ? between : outside;
      into = add(into, tensor.size());
    }
    const Tensor &result = graph.tensors[op.output.tensor];
    bool leaves = result.isResult || result.consumers.empty();
    for (int consumer : result.consumers)
      leaves |= !inside(consumer);
    Count &into = leaves ? outside : between;
    into = add(into, result.size());
    auto alone = entries.find(Set{index});
    // What works in place, and what has its buffers twice, holds more by itself than in a group.
    if (op.kind != Kind::Product || options.rules.doubleBuffer || alone == entries.end() ||
        alone->second.lowerBound == tooLarge || outside == tooLarge)
      return outside;
    return std::max(outside, alone->second.lowerBound - std::min(between, alone->second.lowerBound));
  }

  void index() {
    startingAt.assign(graph.operators.size(), {});
    for (const Set &set : sets)
      startingAt[set[0]].push_back(&set);
  }

  Count upperBound() {
    if (startingAt.empty())
      index();
    Count parts = bestParts(all(), [&](const Set &set) { return upperValue(set); }, nullptr);
    return std::min(parts, evolved ? evolvedVolume : tooLarge);
  }

  Count lowerBound() {
    if (startingAt.empty())
      index();
    Count bound = bestParts(all(), [&](const Set &set) { return lowerValue(set); }, nullptr);
    return truncated ? std::min(bound, floorOf(all())) : bound;
  }

  // ---- rounds ----

  void round(double gap) {
    for (const Set &set : sets) {
      if (set.size() == 1)
        continue;
      if (outOfTime())
        return;
      Entry &entry = entries[set];
      if (entry.searched >= 0 && entry.searched <= gap)
        continue;
      // What its parts do without it.
      Count parts = bestParts(
          set, [&](const Set &part) { return part == set ? tooLarge : upperValue(part); }, nullptr);
      entry.lowerBound = std::max(entry.lowerBound, floorOf(set));
      if (double(entry.lowerBound) * (1 + gap) >= double(parts))
        continue; // can't be better by more than the gap
      searchSet(set, gap, std::min(parts, upperValue(set)));
    }
  }

  void searchSet(const Set &set, double gap, Count cutoff) {
    Entry &entry = entries[set];
    double until = 1e30;
    // No set takes more than a share of what is left; single operators are quick, and always searched.
    if (options.budget > 0 && set.size() > 1) {
      double left = options.budget * 0.95 - seconds();
      until = seconds() + std::max(left * 0.1, 0.01);
    }
    auto key = std::make_tuple(signature(set), cutoff, gap);
    auto known = same.find(key);
    GroupSearchResult result;
    if (known != same.end()) {
      result = rename(known->second.second, known->second.first, set);
    } else {
      result = searchGroup(graph, set, options, cutoff, gap, [&]() { return seconds() > until; });
      nodes += result.nodes;
      if (result.complete)
        same[key] = {set, result};
    }
    if (result.best && result.best->cost.volume < upperValue(set))
      entry.found = result.best;
    // A complete search proves its bound, or that nothing is better than the cutoff.
    entry.lowerBound = std::max({entry.lowerBound, result.lowerBound, floorOf(set)});
    if (result.complete)
      entry.searched = gap;
    report();
  }

  /// Sets that differ in names only have the same optimum.
  std::vector<Count> signature(const Set &set) const {
    std::vector<Count> result;
    std::map<int, int> dims, tensors;
    for (int index : set) {
      const Operator &op = graph.operators[index];
      result.push_back(int(op.kind));
      result.push_back(op.states);
      for (int dim : op.over)
        result.push_back(op.local(dim));
      for (unsigned k = 0; k < op.numOperands(); ++k) {
        const Operand &operand = op.operand(k);
        const Tensor &tensor = graph.tensors[operand.tensor];
        bool leaves = tensor.isResult;
        for (int consumer : tensor.consumers)
          leaves |= !std::binary_search(set.begin(), set.end(), consumer);
        result.push_back(-1 - tensors.emplace(operand.tensor, tensors.size()).first->second);
        result.push_back(leaves);
        for (int dim : operand.dims) {
          result.push_back(dims.emplace(dim, dims.size()).first->second);
          result.push_back(graph.dims[dim].size);
        }
      }
      result.push_back(tooLarge);
    }
    return result;
  }

  GroupSearchResult rename(GroupSearchResult result, const Set &from, const Set &to) const {
    if (!result.best)
      return result;
    for (OpPlan &plan : result.best->group.ops)
      plan.op = to[std::find(from.begin(), from.end(), plan.op) - from.begin()];
    result.best->cost = evaluate(graph, result.best->group, options.rules);
    return result;
  }

  void report() {
    if (!options.progress)
      return;
    Count upper = upperBound(), lower = lowerBound();
    if (std::make_pair(upper, lower) == reported)
      return;
    reported = {upper, lower};
    options.progress(upper, lower);
  }

  void evolve() {
    std::vector<const Set *> parts;
    bestParts(all(), [&](const Set &set) { return upperValue(set); }, &parts);
    std::vector<Group> seed;
    for (const Set *set : parts)
      seed.push_back(entries[*set].found->group);
    GeneticOptions genetic;
    genetic.seconds = options.budget > 0 ? std::max(options.budget - seconds(), 1e-3) : 0;
    std::optional<std::vector<GroupResult>> better = evolveSchedule(graph, options, seed, genetic);
    if (!better)
      return;
    evolved = better;
    evolvedVolume = 0;
    for (const GroupResult &group : *better)
      evolvedVolume = add(evolvedVolume, group.cost.volume);
  }

  void assemble(Result &result) {
    std::vector<const Set *> parts;
    Count volume = bestParts(all(), [&](const Set &set) { return upperValue(set); }, &parts);
    if (evolved && evolvedVolume < volume)
      result.groups = *evolved;
    else
      for (const Set *set : parts)
        result.groups.push_back(*entries[*set].found);
    order(result.groups);
    for (const GroupResult &group : result.groups) {
      result.volume = add(result.volume, group.cost.volume);
      result.accesses = add(result.accesses, group.cost.accesses);
      result.footprint = std::max(result.footprint, group.cost.footprint);
      for (const OperandTraffic &operand : group.cost.operands)
        if (operand.volume == 0)
          result.fused.push_back(
              graph.operators[operand.op].operand(operand.operand).tensor);
    }
    std::sort(result.fused.begin(), result.fused.end());
    result.lowerBound = std::min(lowerBound(), result.volume);
    result.nodes = nodes;
  }

  /// Groups whose producers have run come first.
  void order(std::vector<GroupResult> &groups) const {
    std::vector<GroupResult> sorted;
    std::set<int> done;
    std::vector<bool> taken(groups.size(), false);
    for (size_t round = 0; round < groups.size(); ++round)
      for (size_t g = 0; g < groups.size(); ++g) {
        if (taken[g])
          continue;
        std::set<int> own;
        for (const OpPlan &plan : groups[g].group.ops)
          own.insert(plan.op);
        bool ready = true;
        for (int op : own)
          for (const Operand &input : graph.operators[op].inputs) {
            int producer = graph.tensors[input.tensor].producer;
            ready &= producer < 0 || own.count(producer) || done.count(producer);
          }
        if (!ready)
          continue;
        taken[g] = true;
        done.insert(own.begin(), own.end());
        sorted.push_back(groups[g]);
        break;
      }
    if (sorted.size() == groups.size())
      groups = std::move(sorted);
  }

  const Graph &graph;
  const Options &options;
  const std::chrono::steady_clock::time_point start;
  std::vector<Set> sets;
  bool truncated = false;
  std::vector<std::vector<const Set *>> startingAt;
  std::map<Set, Entry> entries;
  std::map<std::tuple<std::vector<Count>, Count, double>, std::pair<Set, GroupSearchResult>> same;
  std::optional<std::vector<GroupResult>> evolved;
  Count evolvedVolume = tooLarge;
  std::pair<Count, Count> reported{-1, -1};
  Count nodes = 0;
};

} // namespace

Result exact::search(const Graph &graph, const Options &options) {
  // A mode starts from what the narrower ones find, within a share of the time.
  std::vector<Fusion> narrower;
  double share = 0;
  if (!options.start.empty())
    narrower.clear();
  else if (options.fusion == Fusion::Two)
    narrower = {Fusion::Tangram, Fusion::Flat}, share = 0.15;
  else if (options.fusion == Fusion::Any)
    narrower = {Fusion::Two}, share = 0.4;
  std::vector<GroupResult> known = options.start;
  Count nodes = 0;
  Options rest = options;
  for (Fusion fusion : narrower) {
    Options part = options;
    part.fusion = fusion;
    part.budget = options.budget * share;
    part.progress = nullptr;
    auto start = std::chrono::steady_clock::now();
    Result result = search(graph, part);
    if (options.budget > 0)
      rest.budget -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    known.insert(known.end(), result.groups.begin(), result.groups.end());
    nodes += result.nodes;
  }
  Result result = Partition(graph, rest).run(known);
  result.nodes += nodes;
  return result;
}

GroupResult exact::leastPlan(const Graph &graph, int op, const Options &options) {
  // One element of everything, or the least tile that is allowed.
  const Operator &what = graph.operators[op];
  OpPlan plan;
  plan.op = op;
  for (unsigned d = 0; d < what.dims.size(); ++d) {
    plan.order.push_back(d);
    Count size = graph.size(what, d);
    plan.tiles.push_back(std::min(size, std::max({options.minTile, options.granularity, Count(1)})));
  }
  plan.holds.assign(what.numOperands(), plan.order.size());
  Group group{{plan}};
  return {group, evaluate(graph, group, options.rules)};
}
