//===- Genetic.cpp - DAT's genetic algorithm ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For graphs whose groups are too many to search one by one (DAT §4.1). An
// individual is a fusion flag for every binding tensor, a priority for every
// operator, and loops (order, tiles, hold depths) for every operator. It is read
// as a schedule: flags give groups, priorities the order in a group, loops are
// shared as far as they agree; tiles shrink until the group fits. Crossover
// exchanges the genes of a part of the graph; mutation changes a flag, a
// priority, an order or a tile.
//
//===----------------------------------------------------------------------===//

#include "Genetic.h"

#include "ft/Dataflow/LoopTree/GroupShape.h"

#include <algorithm>
#include <chrono>
#include <numeric>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// SplitMix64: the same numbers everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  Count below(Count bound) { return bound > 0 ? Count(next() % uint64_t(bound)) : 0; }

private:
  uint64_t state;
};

struct Individual {
  std::vector<bool> fused;        // by operator: whether its result is fused with its readers
  std::vector<unsigned> priority; // by operator
  std::vector<OpPlan> plans;      // by operator
  std::vector<GroupResult> groups;
  Count volume = tooLarge;
};

class Evolution {
public:
  Evolution(const Graph &graph, const Options &options, const GeneticOptions &genetic)
      : graph(graph), options(options), genetic(genetic), random(options.seed),
        start(std::chrono::steady_clock::now()) {}

  std::optional<std::vector<GroupResult>> run(const std::vector<Group> &seed) {
    Individual first = fromSchedule(seed);
    express(first);
    const Count before = sumOf(seed);
    std::vector<Individual> population{first};
    while (population.size() < genetic.population) {
      Individual next = first;
      for (unsigned k = 0; k < population.size(); ++k)
        mutate(next);
      express(next);
      population.push_back(next);
    }
    for (unsigned generation = 0; generation < genetic.generations && !outOfTime(); ++generation) {
      std::sort(population.begin(), population.end(),
                       [](const Individual &a, const Individual &b) { return a.volume < b.volume; });
      population.resize(std::max<size_t>(genetic.population / 4, 2));
      const size_t elite = population.size();
      while (population.size() < genetic.population && !outOfTime()) {
        Individual child = population[random.below(elite)];
        if (random.below(2))
          cross(child, population[random.below(elite)]);
        for (Count k = 1 + random.below(3); k > 0; --k)
          mutate(child);
        express(child);
        population.push_back(std::move(child));
      }
    }
    auto best = std::min_element(
        population.begin(), population.end(),
        [](const Individual &a, const Individual &b) { return a.volume < b.volume; });
    if (best->volume >= before)
      return std::nullopt;
    return best->groups;
  }

private:
  bool outOfTime() const {
    return genetic.seconds > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
               genetic.seconds;
  }

  Count sumOf(const std::vector<Group> &groups) const {
    Count sum = 0;
    for (const Group &group : groups)
      sum = add(sum, evaluate(graph, group, options.rules).volume);
    return sum;
  }

  Individual fromSchedule(const std::vector<Group> &groups) const {
    Individual result;
    const size_t count = graph.operators.size();
    result.fused.assign(count, false);
    result.priority.assign(count, 0);
    result.plans.resize(count);
    for (const Group &group : groups)
      for (unsigned i = 0; i < group.ops.size(); ++i) {
        int op = group.ops[i].op;
        result.plans[op] = group.ops[i];
        result.priority[op] = group.ops.size() - i;
        for (int consumer : graph.tensors[graph.operators[op].output.tensor].consumers)
          for (const OpPlan &other : group.ops)
            if (other.op == consumer)
              result.fused[op] = true;
      }
    return result;
  }

  // ---- operators of evolution ----

  void mutate(Individual &individual) {
    const int op = random.below(graph.operators.size());
    OpPlan &plan = individual.plans[op];
    const Operator &what = graph.operators[op];
    switch (random.below(options.sharedSlots ? 6 : 5)) {
    case 0:
      individual.fused[op] = !individual.fused[op];
      break;
    case 1:
      individual.priority[op] = random.below(graph.operators.size());
      break;
    case 2: {
      size_t a = random.below(plan.order.size()), b = random.below(plan.order.size());
      std::swap(plan.order[a], plan.order[b]);
      break;
    }
    case 3: {
      unsigned d = random.below(plan.tiles.size());
      Count size = graph.size(what, d);
      plan.tiles[d] = random.below(2) ? std::min(size, plan.tiles[d] * 2)
                                      : std::max<Count>(1, plan.tiles[d] / 2);
      // What a producer and a reader share, they share with one tile.
      for (size_t other = 0; other < individual.plans.size() && random.below(4); ++other) {
        int local = graph.operators[other].local(what.dims[d]);
        if (local >= 0)
          individual.plans[other].tiles[local] = plan.tiles[d];
      }
      break;
    }
    case 5: {
      // All readers of an input come to share its slot, or to have their own.
      const int tensor = what.inputs[random.below(what.inputs.size())].tensor;
      const bool shares = random.below(2);
      for (int reader : graph.tensors[tensor].consumers)
        setSlots(individual.plans[reader], tensor, shares);
      break;
    }
    default:
      plan.holds[random.below(plan.holds.size())] = random.below(plan.order.size() + 1);
    }
  }

  void setSlots(OpPlan &plan, int tensor, bool shares) const {
    const std::vector<Operand> &inputs = graph.operators[plan.op].inputs;
    plan.slots.resize(inputs.size(), 0);
    for (size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].tensor == tensor)
        plan.slots[k] = shares;
  }

  /// Takes the genes of operators from a place on (an interval of the graph) from another one.
  void cross(Individual &individual, const Individual &other) {
    size_t from = random.below(graph.operators.size());
    size_t to = from + 1 + random.below(graph.operators.size() - from);
    for (size_t op = from; op < to; ++op) {
      individual.fused[op] = other.fused[op];
      individual.priority[op] = other.priority[op];
      individual.plans[op] = other.plans[op];
    }
  }

  // ---- reading the genes ----

  void express(Individual &individual) {
    individual.groups.clear();
    individual.volume = 0;
    // Components of fused tensors.
    const size_t count = graph.operators.size();
    std::vector<int> root(count);
    std::iota(root.begin(), root.end(), 0);
    auto find = [&](int op) {
      while (root[op] != op)
        op = root[op];
      return op;
    };
    for (size_t op = 0; op < count; ++op)
      if (individual.fused[op])
        for (int consumer : graph.tensors[graph.operators[op].output.tensor].consumers)
          root[find(op)] = find(consumer);
    for (size_t first = 0; first < count; ++first) {
      if (find(first) != int(first))
        continue;
      std::vector<int> members;
      for (size_t op = 0; op < count; ++op)
        if (find(op) == int(first))
          members.push_back(op);
      std::optional<GroupResult> group = build(individual, members);
      if (!group) {
        individual.volume = tooLarge;
        return;
      }
      individual.volume = add(individual.volume, group->cost.volume);
      individual.groups.push_back(*group);
    }
  }

  /// Producers first; among those that are ready, by priority.
  std::optional<std::vector<int>> orderOf(const Individual &individual,
                                          const std::vector<int> &members) const {
    std::vector<int> result;
    std::vector<int> left = members;
    auto isLeft = [&](int op) { return std::find(left.begin(), left.end(), op) != left.end(); };
    while (!left.empty()) {
      int chosen = -1;
      for (int op : left) {
        bool ready = true;
        for (const Operand &input : graph.operators[op].inputs)
          ready &= !isLeft(graph.tensors[input.tensor].producer);
        if (ready && (chosen < 0 || individual.priority[op] > individual.priority[chosen]))
          chosen = op;
      }
      if (chosen < 0)
        return std::nullopt;
      result.push_back(chosen);
      left.erase(std::find(left.begin(), left.end(), chosen));
    }
    return isConvex(members) ? std::optional(result) : std::nullopt;
  }

  bool isConvex(const std::vector<int> &members) const {
    std::vector<bool> behind(graph.operators.size(), false);
    auto inside = [&](int op) { return std::binary_search(members.begin(), members.end(), op); };
    for (int i = 0; i < int(graph.operators.size()); ++i)
      for (const Operand &input : graph.operators[i].inputs) {
        int producer = graph.tensors[input.tensor].producer;
        if (producer < 0)
          continue;
        if (inside(i) && behind[producer])
          return false;
        if (!inside(i) && (inside(producer) || behind[producer]))
          behind[i] = true;
      }
    return true;
  }

  std::optional<GroupResult> build(const Individual &individual, const std::vector<int> &members) {
    std::optional<std::vector<int>> order = orderOf(individual, members);
    if (!order)
      return std::nullopt;
    Group group;
    for (int op : *order) {
      OpPlan plan = individual.plans[op];
      plan.shared = 0;
      if (!group.ops.empty())
        share(group.ops.back(), plan);
      group.ops.push_back(plan);
    }
    // Less sharing until it is legal, first of slots; smaller tiles until it fits.
    for (unsigned attempt = 0; attempt < 64; ++attempt) {
      if (!check(graph, group).empty()) {
        bool less = false;
        for (OpPlan &plan : group.ops) {
          less |= std::any_of(plan.slots.begin(), plan.slots.end(), [](uint8_t slot) { return slot; });
          plan.slots.clear();
        }
        if (less)
          continue;
        for (size_t i = group.ops.size(); i-- > 0 && !less;)
          if (group.ops[i].shared > 0)
            --group.ops[i].shared, less = true;
        if (!less)
          return std::nullopt;
        continue;
      }
      GroupCost cost = evaluate(graph, group, options.rules);
      if (cost.footprint <= options.buffer)
        return GroupResult{group, cost};
      if (!shrink(group))
        return std::nullopt;
    }
    return std::nullopt;
  }

  /// Shares the leading loops that agree; a tile follows the operator before.
  void share(const OpPlan &before, OpPlan &plan) const {
    const Operator &other = graph.operators[before.op], &op = graph.operators[plan.op];
    while (plan.shared < std::min(before.order.size(), plan.order.size())) {
      unsigned a = before.order[plan.shared], b = plan.order[plan.shared];
      if (other.dims[a] != op.dims[b])
        return;
      plan.tiles[b] = before.tiles[a];
      ++plan.shared;
    }
  }

  Count roundUp(Count tile) const {
    return ceilDivide(tile, options.granularity) * options.granularity;
  }

  /// Halves the tiles of the dimension whose tile is largest, everywhere.
  bool shrink(Group &group) const {
    int dim = -1;
    Count largest = 1;
    for (const OpPlan &plan : group.ops)
      for (unsigned d = 0; d < plan.tiles.size(); ++d)
        if (const int own = graph.operators[plan.op].dims[d];
            plan.tiles[d] > std::max(largest, leastTile(graph, options, own)))
          largest = plan.tiles[d], dim = own;
    if (dim < 0)
      return false;
    for (OpPlan &plan : group.ops) {
      int local = graph.operators[plan.op].local(dim);
      if (local >= 0)
        plan.tiles[local] = std::min(
            plan.tiles[local], roundUp(std::max(largest / 2, leastTile(graph, options, dim))));
    }
    return true;
  }

  const Graph &graph;
  const Options &options;
  const GeneticOptions &genetic;
  Random random;
  const std::chrono::steady_clock::time_point start;
};

} // namespace

std::optional<std::vector<GroupResult>>
exact::evolveSchedule(const Graph &graph, const Options &options, const std::vector<Group> &seed,
                      const GeneticOptions &genetic) {
  return Evolution(graph, options, genetic).run(seed);
}
