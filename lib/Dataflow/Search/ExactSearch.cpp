//===- ExactSearch.cpp - which operators to fuse under exact's rules ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traffic is a sum over groups, so the best fusion is the best partition of the
// operators into connected, convex sets. Of every set a lower bound is known;
// the partition that is cheapest by these bounds says which sets are worth a
// search, a little at a time: either one is found to be as good as its bound,
// or the bound rises and another partition is cheapest. So most sets are never
// searched, and the bound of the whole is proved at any time.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/Search/Search.h"

#include "BestPartition.h"
#include "Genetic.h"
#include "GroupInfo.h"
#include "NestSearch.h"

#include <algorithm>
#include <chrono>
#include <map>

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

/// Operators of a set of about a transformer's layer.
constexpr size_t smallSize = 16;
/// Partial nests that the search of a pair of readers looks at, for its bound.
constexpr Count jointNodes = 20000;

/// Searches sets of operators as groups, and puts the best of them together.
class Partition {
public:
  Partition(const Graph &graph, const Options &options)
      : graph(graph), options(options), start(std::chrono::steady_clock::now()),
        sets(fusibleSets(graph, options, truncated)), partition(graph, sets) {
    for (size_t s = 0; s < sets.size(); ++s)
      numbers[sets[s]] = s;
  }

  /// `known` are groups of narrower modes: what this one finds is no worse.
  Result run(const std::vector<GroupResult> &known) {
    Result result;
    join();
    if (!singles(result))
      return result;
    boundReaders();
    for (const GroupResult &group : known)
      seed(group);
    update();
    smallSets();
    for (double gap : {0.25, 0.05, 0.01, 0.0}) {
      if (outOfTime() || isGoodEnough())
        break;
      refine(std::max(gap, options.gap));
      report();
    }
    if (!isGoodEnough() && options.fusion == Fusion::Any &&
        (options.budget <= 0 || seconds() < options.budget))
      evolve();
    assemble(result);
    return result;
  }

private:
  /// What is known of sets that differ in names only.
  struct Entry {
    Set set; // the first of them
    std::optional<GroupResult> found;
    Count lowerBound = 0;
    /// The search that is under way, its gap, and the nodes of its next turn.
    std::unique_ptr<NestSearch> search;
    double gap = 1e9;
    Count turn = 32;
    double complete = 1e9; // the gap within which it is decided
  };

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  bool outOfTime() const {
    return seconds() > timeLimit || (options.budget > 0 && seconds() > options.budget * 0.95);
  }
  bool isGoodEnough() const { return double(upper()) <= double(lower) * (1 + options.gap); }
  Count upper() const { return std::min(partsVolume, evolvedVolume); }

  /// One entry for all sets that are alike.
  void join() {
    std::map<std::vector<Count>, size_t> known;
    for (const Set &set : sets) {
      auto [at, isNew] = known.emplace(signatureOf(graph, set), entries.size());
      if (isNew)
        entries.emplace_back().set = set;
      entryOf.push_back(at->second);
    }
  }

  /// Every operator by itself, exactly: what there always is. False if one does not fit.
  bool singles(Result &result) {
    alone.assign(graph.operators.size(), 0);
    for (size_t s = 0; s < sets.size() && sets[s].size() == 1; ++s) {
      Entry &entry = entries[entryOf[s]];
      const int op = sets[s].front();
      if (entry.complete > 0) {
        GroupSearchResult single = searchGroup(graph, sets[s], options, tooLarge, 0, nullptr);
        nodes += single.nodes;
        entry.complete = 0;
        entry.found = single.best;
        entry.lowerBound = single.lowerBound;
      }
      alone[op] = entry.lowerBound;
      if (!entry.found) {
        result.misfit = op;
        result.needed = leastPlan(graph, op, options).cost.footprint;
        result.nodes = nodes;
        return false;
      }
    }
    return true;
  }

  /// What two products that read one tensor move at least together: their slots may be one.
  void boundReaders() {
    if (!options.sharedSlots || options.rules.doubleBuffer || options.fusion == Fusion::Intra)
      return;
    std::map<size_t, Count> known; // by entry
    for (const Tensor &tensor : graph.tensors)
      for (int first : tensor.consumers)
        for (int second : tensor.consumers) {
          const Set pair{first, second};
          auto number = numbers.find(pair);
          if (first >= second || joint.count(pair) || number == numbers.end() ||
              graph.operators[first].kind != Kind::Product || graph.operators[second].kind != Kind::Product)
            continue;
          auto [at, isNew] = known.emplace(entryOf[number->second], 0);
          if (isNew) {
            NestSearch search(graph, pair, options, std::max(options.gap / 4, 0.001), alone);
            search.advance(tooLarge, jointNodes, [&] { return options.budget > 0 && seconds() > options.budget * 0.3; });
            nodes += search.nodes();
            at->second = search.lowerBound();
          }
          joint[pair] = at->second;
        }
  }

  void seed(const GroupResult &group) {
    const Set set = operatorsOf(group.group);
    auto at = numbers.find(set);
    if (at == numbers.end())
      return;
    Entry &entry = entries[entryOf[at->second]];
    if (!entry.found || group.cost.volume < entry.found->cost.volume)
      entry.found = GroupResult{renamed(group.group, set, entry.set), group.cost};
  }

  Count upperValue(size_t s) const {
    const Entry &entry = entries[entryOf[s]];
    return entry.found ? entry.found->cost.volume : tooLarge;
  }

  /// What a set moves at least. A set is asked for its first bound when a partition may use it.
  Count lowerValue(size_t s) {
    Entry &entry = entries[entryOf[s]];
    if (entry.lowerBound == 0 && sets[s].size() > 1)
      entry.lowerBound = compulsory(sets[s]);
    return entry.lowerBound;
  }

  Count compulsory(const Set &set) const { return GroupInfo(graph, set, options).compulsory(); }

  /// In large graphs (stacked layers) first the sets of about a layer, which repeat and are quickly decided: the
  /// bounds of larger ones are weak, and their searches are long.
  void smallSets() {
    if (graph.operators.size() <= size_t(smallSize))
      return;
    sizeLimit = smallSize;
    timeLimit = options.budget > 0 ? options.budget * 0.4 : 1e9;
    for (double gap : {0.25, 0.05, 0.0})
      refine(std::max(gap, options.gap));
    sizeLimit = 1u << 30;
    timeLimit = 1e9;
  }

  void update() {
    parts.clear();
    partsVolume = partition.bestThatRuns([&](size_t s) { return upperValue(s); }, parts);
    bound(nullptr);
  }

  /// The lower bound, and the partition that would reach it.
  void bound(std::vector<size_t> *cheapest) {
    Count found = partition.best(
        partition.all(),
        [&](size_t s) { return sets[s].size() > sizeLimit ? tooLarge : lowerValue(s); }, cheapest);
    limited = found;
    if (sizeLimit < graph.operators.size())
      return;
    // Of sets that were not even listed, only what all of the graph must move is known.
    lower = std::max(lower, truncated ? std::min(found, compulsory(partition.all())) : found);
    lower = std::min(lower, upper());
  }

  /// Until the bound is within the gap: the partition that looks cheapest is made of sets that are not
  /// decided; deciding these raises the bound, or finds it.
  void refine(double gap) {
    while (!outOfTime()) {
      std::vector<size_t> cheapest;
      bound(&cheapest);
      report();
      if (double(upper()) <= double(limited) * (1 + gap))
        return;
      bool any = false, better = false;
      for (size_t s : cheapest) {
        Entry &entry = entries[entryOf[s]];
        if (entry.complete <= gap || outOfTime())
          continue;
        any = true;
        better |= advance(s, gap);
      }
      if (!any)
        return;
      if (better)
        update();
    }
  }

  /// Some more of the search of a set. Whether it found something better.
  bool advance(size_t s, double gap) {
    Entry &entry = entries[entryOf[s]];
    // What its parts do without it.
    Count cutoff = partition.best(
        sets[s], [&](size_t part) { return part == s ? tooLarge : upperValue(part); });
    cutoff = std::min(cutoff, upperValue(s));
    auto stop = [&]() { return outOfTime(); };
    if (options.fusion == Fusion::Tangram || options.fusion == Fusion::Flat) {
      GroupSearchResult result = searchGroup(graph, sets[s], options, cutoff, gap, stop);
      nodes += result.nodes;
      return take(s, gap, result.best, result.lowerBound, result.complete);
    }
    if (!entry.search || entry.gap > gap) {
      entry.search = std::make_unique<NestSearch>(graph, entry.set, options, gap, alone, joint);
      entry.gap = gap;
      entry.turn = 32;
    }
    const Count before = entry.search->nodes();
    entry.search->advance(cutoff, entry.turn, stop);
    nodes += entry.search->nodes() - before;
    entry.turn *= 2;
    std::optional<GroupResult> best = entry.search->best();
    const bool complete = entry.search->finished();
    const Count least = entry.search->lowerBound();
    if (complete)
      entry.search.reset();
    if (best)
      best->group = renamed(best->group, entry.set, sets[s]);
    return take(s, gap, best, least, complete);
  }

  bool take(size_t s, double gap, const std::optional<GroupResult> &best, Count least,
            bool complete) {
    Entry &entry = entries[entryOf[s]];
    entry.lowerBound = std::max(entry.lowerBound, least);
    if (complete)
      entry.complete = gap;
    if (!best || best->cost.volume >= upperValue(s))
      return false;
    entry.found = GroupResult{renamed(best->group, sets[s], entry.set), best->cost};
    return true;
  }

  void report() {
    if (!options.progress || std::make_pair(upper(), lower) == reported)
      return;
    reported = {upper(), lower};
    options.progress(upper(), lower);
  }

  std::vector<GroupResult> groups() const {
    std::vector<GroupResult> result;
    for (size_t s : parts) {
      const Entry &entry = entries[entryOf[s]];
      Group group = renamed(entry.found->group, entry.set, sets[s]);
      GroupCost cost = evaluate(graph, group, options.rules);
      result.push_back({std::move(group), std::move(cost)});
    }
    return result;
  }

  void evolve() {
    std::vector<Group> seed;
    for (const GroupResult &group : groups())
      seed.push_back(group.group);
    GeneticOptions genetic;
    genetic.seconds = options.budget > 0 ? std::max(options.budget - seconds(), 1e-3) : 0;
    std::optional<std::vector<GroupResult>> better = evolveSchedule(graph, options, seed, genetic);
    if (!better || !sortGroups(graph, *better))
      return;
    Count volume = 0;
    for (const GroupResult &group : *better)
      volume = add(volume, group.cost.volume);
    if (volume < upper()) {
      evolved = std::move(*better);
      evolvedVolume = volume;
    }
  }

  void assemble(Result &result) {
    result.groups = evolvedVolume < partsVolume ? evolved : groups();
    sortGroups(graph, result.groups);
    for (GroupResult &group : result.groups)
      growTiles(graph, group, options);
    for (const GroupResult &group : result.groups) {
      result.volume = add(result.volume, group.cost.volume);
      result.accesses = add(result.accesses, group.cost.accesses);
      result.footprint = std::max(result.footprint, group.cost.footprint);
      for (const OperandTraffic &operand : group.cost.operands)
        if (operand.volume == 0 && !operand.isReused)
          result.fused.push_back(
              graph.operators[operand.op].operand(operand.operand).tensor);
    }
    std::sort(result.fused.begin(), result.fused.end());
    result.lowerBound = std::min(lower, result.volume);
    result.nodes = nodes;
  }

  const Graph &graph;
  const Options &options;
  const std::chrono::steady_clock::time_point start;
  bool truncated = false;
  const std::vector<Set> sets;
  const BestPartition partition;
  std::map<Set, size_t> numbers;
  std::vector<size_t> entryOf; // by set
  std::vector<Entry> entries;
  AloneBounds alone;
  JointBounds joint;
  std::vector<size_t> parts; // the best partition
  size_t sizeLimit = 1u << 30; // of the sets that are looked at
  double timeLimit = 1e9;
  Count limited = 0; // what partitions into such sets move at least
  Count partsVolume = tooLarge, lower = 0;
  std::vector<GroupResult> evolved;
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
    plan.tiles.push_back(std::min(size, leastTile(graph, options, what.dims[d])));
  }
  plan.holds.assign(what.numOperands(), plan.order.size());
  Group group{{plan}};
  return {group, evaluate(graph, group, options.rules)};
}
