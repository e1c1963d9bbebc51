//===- ObjectiveSearch.cpp - the least time or energy on an array ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set of operators takes at least its fewest cycles, the transfer of what it
// moves at least, and the energy of both; the search for traffic
// (NestSearch.h) bounds the second. Candidates are the nests of least traffic
// among those whose tiles are not below a threshold, for several thresholds, each
// improved tile by tile on the machine. The partition that is cheapest by its
// bounds says which sets are worth a search, as in ExactSearch.cpp.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/Search/Objective.h"

#include "BestPartition.h"
#include "GroupInfo.h"
#include "NestSearch.h"
#include "TileMoves.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

const char *ft::dataflow::name(Objective objective) {
  return objective == Objective::Time ? "time" : objective == Objective::Energy ? "energy" : "traffic";
}

std::optional<Objective> ft::dataflow::parseObjective(std::string_view text) {
  for (Objective objective : {Objective::Traffic, Objective::Time, Objective::Energy})
    if (text == name(objective))
      return objective;
  return std::nullopt;
}

namespace {

/// What one group costs, in picoseconds or picojoules: partitions add integers.
constexpr double unit = 1e-12;
/// Partial nests that one turn of a set's search looks at.
constexpr Count turn = 400;
/// Seconds without a budget.
constexpr double defaultSeconds = 60;

Count toCount(double value) {
  return value / unit < 9e18 ? Count(std::ceil(value / unit)) : tooLarge;
}

/// Values groups on a machine and bounds sets.
class Pricer {
public:
  Pricer(const Graph &graph, const Accelerator &machine, Objective objective)
      : graph(graph), machine(machine), objective(objective) {
    for (int op = 0; op < int(graph.operators.size()); ++op)
      floors.push_back(floorOf(op));
  }

  Count price(const GroupResult &group) {
    Estimate made = estimate(graph, {group}, machine, &cache);
    return toCount(objective == Objective::Time ? made.seconds : made.joules());
  }

  /// The same with a ten-thousandth of what the other objective asks: of equals, what moves less.
  Count rank(const GroupResult &group, Count price) const {
    const double offChip = double(group.cost.volume) * double(machine.elementBytes);
    return add(price, toCount(1e-4 * (objective == Objective::Time
                                          ? offChip / machine.offChipBytesPerSecond
                                          : offChip * machine.deviceJoulesPerByte)));
  }

  /// The least of any nest of these operators that moves at least `traffic` elements.
  Count bound(const Set &set, Count traffic) const {
    const double offChip = double(traffic) * double(machine.elementBytes);
    Floor sum;
    for (int op : set) {
      sum.computeSeconds += floors[op].computeSeconds;
      sum.onChipBytes += floors[op].onChipBytes;
      sum.joules += floors[op].joules;
    }
    const double seconds =
        std::max({sum.computeSeconds, sum.onChipBytes / machine.onChipBytesPerSecond,
                  offChip / machine.offChipBytesPerSecond});
    const double joules = sum.joules + (sum.onChipBytes + offChip) * machine.globalJoulesPerByte +
                          offChip * machine.deviceJoulesPerByte;
    // (Rounded down by a step of the doubles' last digits.)
    const double value = objective == Objective::Time ? seconds : joules;
    return Count(std::min(value / unit * (1 - 1e-12), 9e18));
  }

private:
  struct Floor {
    double computeSeconds = 0, onChipBytes = 0, joules = 0;
  };

  Floor floorOf(int index) const {
    const Operator &op = graph.operators[index];
    const double points = double(graph.points(op)), bytes = double(machine.elementBytes);
    Floor floor;
    if (op.kind == Kind::Product) {
      floor.computeSeconds = double(leastCycles(graph, index, machine)) / machine.cyclesPerSecond;
      // Each element of an operand is sent once at least.
      for (unsigned k = 0; k < op.numOperands(); ++k)
        floor.onChipBytes += double(graph.tensors[op.operand(k).tensor].size()) * bytes;
      floor.joules = points * (machine.macJoules + 3 * bytes * machine.localJoulesPerByte);
    } else {
      floor.computeSeconds = points * op.operations / machine.exponentialsPerSecond;
      floor.onChipBytes = points * double(op.numOperands()) * bytes;
      floor.joules = points * op.operations * machine.macJoules;
    }
    return floor;
  }

  const Graph &graph;
  const Accelerator &machine;
  const Objective objective;
  MappingCache cache;
  std::vector<Floor> floors; // by operator
};

class Searcher {
public:
  Searcher(const Graph &graph, const Options &options, const Accelerator &machine,
           Objective objective)
      : graph(graph), options(options), machine(machine), pricer(graph, machine, objective),
        start(std::chrono::steady_clock::now()),
        sets(fusibleSets(graph, options, truncated)), partition(graph, sets),
        states(sets.size()) {
    for (size_t s = 0; s < sets.size(); ++s) {
      numbers[sets[s]] = s;
      states[s].traffic = GroupInfo(graph, sets[s], options).compulsory();
      states[s].lower = pricer.bound(sets[s], states[s].traffic);
    }
    thresholds();
  }

  ObjectiveResult run() {
    ObjectiveResult result;
    if (!seeds(result.schedule))
      return result;
    while (!outOfTime()) {
      std::vector<size_t> cheapest;
      bound(cheapest);
      if (isGoodEnough() || !advance(cheapest))
        break;
    }
    assemble(result);
    return result;
  }

private:
  /// What is known of one set.
  struct State {
    std::optional<GroupResult> found;
    Count value = tooLarge, rank = tooLarge, lower = 0;
    Count traffic = 0;     // what it moves at least
    size_t threshold = 0;  // the one whose search is under way
    std::unique_ptr<NestSearch> search;
    Options options;       // of that search, which refers to them
    bool decided = false;
  };

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  double budget() const { return options.budget > 0 ? options.budget : defaultSeconds; }
  bool outOfTime() const { return seconds() > budget() * 0.95; }
  bool isGoodEnough() const {
    return value <= lower || double(value) <= double(lower) * (1 + options.gap);
  }

  /// Least tiles from what is allowed up to four times the side of an element's array.
  void thresholds() {
    for (Count tile = std::max<Count>(options.minTile, 1); tile <= 4 * machine.leastTile(); tile *= 2)
      leastTiles.push_back(tile);
    if (leastTiles.empty())
      leastTiles.push_back(options.minTile);
  }

  // ---- candidates ----

  /// The schedules of least traffic of every narrower mode and threshold. False if nothing fits.
  bool seeds(Result &result) {
    for (int mode = 0; mode <= int(options.fusion); ++mode)
      for (size_t t = 0; t < leastTiles.size(); ++t) {
        const bool first = mode == 0 && t == 0;
        if (!first && seconds() > budget() * 0.4)
          continue;
        Options part = options;
        part.fusion = Fusion(mode);
        part.minTile = leastTiles[t];
        part.progress = nullptr;
        part.budget = first ? 0 : budget() * 0.1;
        part.start = known;
        Result found = search(graph, part);
        nodes += found.nodes;
        if (found.groups.empty()) {
          if (!first)
            continue; // tiles as large as that do not fit
          result = found;
          return false;
        }
        if (mode == int(options.fusion) && t == 0)
          trafficBound = found.lowerBound;
        for (const GroupResult &group : found.groups) {
          offer(group);
          if (t == 0)
            known.push_back(group);
        }
        update();
      }
    return true;
  }

  /// Improves a nest and keeps it where it is better than what is known of its operators.
  void offer(GroupResult group) {
    auto at = numbers.find(operatorsOf(group.group));
    if (at == numbers.end())
      return;
    State &state = states[at->second];
    Count price = pricer.price(group);
    improve(group, price, state.lower);
    const Count rank = pricer.rank(group, price);
    if (rank >= state.rank)
      return;
    state.value = price;
    state.rank = rank;
    state.found = std::move(group);
  }

  /// Changes one tile at a time as long as that is better.
  void improve(GroupResult &group, Count &price, Count floor) {
    for (bool better = true; better && price > floor && !outOfTime();) {
      better = false;
      for (unsigned i = 0; i < group.group.ops.size(); ++i)
        for (unsigned p = group.group.ops[i].shared; p < group.group.ops[i].order.size(); ++p)
          for (Count tile : moves(group.group, i, p))
            better |= attempt(group, price, i, p, tile);
    }
  }

  std::vector<Count> moves(const Group &group, unsigned i, unsigned p) const {
    const OpPlan &plan = group.ops[i];
    const unsigned d = plan.order[p];
    const Count tile = plan.tiles[d], size = graph.size(graph.operators[plan.op], d);
    const Count side = machine.leastTile();
    const Count least = std::min(size, leastTile(graph, options, graph.operators[plan.op].dims[d]));
    std::vector<Count> result;
    // Doubled, halved, of equal parts, and a multiple of the array's side.
    for (Count next : {std::min(size, tile * 2), ceilDivide(tile, 2), ceilDivide(size, ceilDivide(size, tile)),
                       tile / side * side, std::min(size, ceilDivide(tile, side) * side), size}) {
      if (options.granularity > 1 && next != size)
        next = next / options.granularity * options.granularity;
      if (next >= std::max<Count>(least, 1) && next != tile &&
          std::find(result.begin(), result.end(), next) == result.end())
        result.push_back(next);
    }
    return result;
  }

  bool attempt(GroupResult &group, Count &price, unsigned i, unsigned p, Count tile) {
    const OpPlan &plan = group.group.ops[i];
    if (plan.tiles[plan.order[p]] == tile)
      return false;
    GroupResult next{group.group, {}};
    setTile(graph, next.group, i, p, tile);
    if (!check(graph, next.group).empty())
      return false;
    next.cost = evaluate(graph, next.group, options.rules);
    if (next.cost.footprint > options.buffer)
      return false;
    const Count now = pricer.price(next);
    if (now >= price)
      return false;
    group = std::move(next);
    price = now;
    return true;
  }

  // ---- bounds ----

  void update() {
    parts.clear();
    partition.bestThatRuns([&](size_t s) { return states[s].rank; }, parts);
    value = 0;
    for (size_t s : parts)
      value = add(value, states[s].value);
  }

  void bound(std::vector<size_t> &cheapest) {
    Count found =
        partition.best(partition.all(), [&](size_t s) { return states[s].lower; }, &cheapest);
    // Of sets that were not even listed, only what all of the graph takes is known.
    if (truncated) {
      const Set all = partition.all();
      found = std::min(found, pricer.bound(all, GroupInfo(graph, all, options).compulsory()));
    }
    lower = std::min(std::max(lower, found), value);
  }

  /// A turn for each set of the partition that is not decided. False if all are.
  bool advance(const std::vector<size_t> &cheapest) {
    bool any = false;
    for (size_t s : cheapest) {
      State &state = states[s];
      if (state.value <= state.lower)
        state.decided = true;
      if (state.decided || outOfTime())
        continue;
      any = true;
      look(s);
    }
    if (any)
      update();
    return any;
  }

  void look(size_t s) {
    State &state = states[s];
    const auto stop = [&]() { return outOfTime(); };
    if (!state.search) {
      state.options = options;
      state.options.minTile = leastTiles[state.threshold];
      state.search = std::make_unique<NestSearch>(graph, sets[s], state.options, options.gap);
    }
    const Count before = state.search->nodes();
    state.search->advance(tooLarge, turn, stop);
    nodes += state.search->nodes() - before;
    if (state.threshold == 0)
      state.traffic = std::max(state.traffic, state.search->lowerBound());
    state.lower = std::max(state.lower, pricer.bound(sets[s], state.traffic));
    if (!state.search->finished())
      return;
    if (state.search->best())
      offer(*state.search->best());
    state.search.reset();
    if (++state.threshold == leastTiles.size())
      state.decided = true;
  }

  void assemble(ObjectiveResult &result) {
    std::vector<size_t> cheapest;
    bound(cheapest);
    Result &schedule = result.schedule;
    for (size_t s : parts)
      schedule.groups.push_back(*states[s].found);
    sortGroups(graph, schedule.groups);
    for (const GroupResult &group : schedule.groups) {
      schedule.volume = add(schedule.volume, group.cost.volume);
      schedule.accesses = add(schedule.accesses, group.cost.accesses);
      schedule.footprint = std::max(schedule.footprint, group.cost.footprint);
      for (const OperandTraffic &operand : group.cost.operands)
        if (operand.volume == 0 && !operand.isReused)
          schedule.fused.push_back(graph.operators[operand.op].operand(operand.operand).tensor);
    }
    std::sort(schedule.fused.begin(), schedule.fused.end());
    schedule.lowerBound = std::min(trafficBound, schedule.volume);
    schedule.nodes = nodes;
    result.value = double(value) * unit;
    result.lowerBound = double(lower) * unit;
  }

  const Graph &graph;
  const Options &options;
  const Accelerator &machine;
  Pricer pricer;
  const std::chrono::steady_clock::time_point start;
  bool truncated = false;
  const std::vector<Set> sets;
  const BestPartition partition;
  std::map<Set, size_t> numbers;
  std::vector<State> states; // by set
  std::vector<Count> leastTiles;
  std::vector<GroupResult> known;
  std::vector<size_t> parts;
  Count value = tooLarge, lower = 0, trafficBound = 0, nodes = 0;
};

} // namespace

ObjectiveResult ft::dataflow::searchObjective(const Graph &graph, const Options &options,
                                              const Accelerator &machine, Objective objective) {
  return Searcher(graph, options, machine, objective).run();
}
