//===- Accelerator.cpp - time and energy on a spatial accelerator ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Graph/Accelerator.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// Searches how the tiles of one product lie on processing elements and their MAC units.
class Mapper {
public:
  Mapper(const Graph &graph, const OpPlan &plan, const Accelerator &machine)
      : graph(graph), op(graph.operators[plan.op]), plan(plan), machine(machine) {
    best.op = plan.op;
    partition.assign(op.dims.size(), 1);
    spatial.assign(op.dims.size(), 1);
  }

  Count fewestCycles() {
    partitions(0, machine.units);
    return best.cycles;
  }

  Mapping run() {
    partitions(0, machine.units);
    double macs = double(graph.points(op));
    best.utilization = macs / (double(best.cycles) * machine.units * machine.macsPerUnit);
    best.onChipElements = onChip();
    return best;
  }

private:
  /// Powers of two for each dimension, none beyond what the tile has.
  void partitions(unsigned d, Count left) {
    if (d == op.dims.size())
      return spatials(0, machine.macsPerUnit);
    for (Count factor = 1; factor <= left; factor *= 2) {
      partition[d] = factor;
      partitions(d + 1, left / factor);
      if (factor >= plan.tiles[d])
        break;
    }
    partition[d] = 1;
  }

  void spatials(unsigned d, Count left) {
    if (d == op.dims.size())
      return take();
    const Count share = ceilDivide(plan.tiles[d], partition[d]);
    for (Count factor = 1; factor <= left; factor *= 2) {
      spatial[d] = factor;
      spatials(d + 1, left / factor);
      if (factor >= share)
        break;
    }
    spatial[d] = 1;
  }

  /// Steps in time along a dimension, over all its tiles.
  Count steps(unsigned d) const {
    const Count size = graph.size(op, d), tile = plan.tiles[d];
    auto of = [&](Count extent) {
      return ceilDivide(ceilDivide(extent, partition[d]), spatial[d]);
    };
    Count sum = multiply(size / tile, of(tile));
    return size % tile ? add(sum, of(size % tile)) : sum;
  }

  void take() {
    Count cycles = 1;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      cycles = multiply(cycles, steps(d));
    if (found && cycles > best.cycles)
      return;
    // Of the fastest, the one whose elements hold the least in several copies.
    Count held = 0;
    for (unsigned k = 0; k < op.numOperands(); ++k) {
      Count size = 1;
      for (unsigned d = 0; d < op.dims.size(); ++d)
        size = multiply(size, op.mask(k) >> d & 1 ? ceilDivide(plan.tiles[d], partition[d]) : 1);
      held = add(held, size);
    }
    if (found && cycles == best.cycles && held >= leastHeld)
      return;
    found = true;
    leastHeld = held;
    best.cycles = cycles;
    best.partition = partition;
    best.spatial = spatial;
  }

  /// Elements between the global buffer and the local ones: every element of the array runs its share
  /// of a tile with the least traffic that its local buffer allows; what several of them read alike is
  /// sent once (multicast).
  Count onChip() const {
    Graph share;
    Count visits = 1;
    for (unsigned d = 0; d < op.dims.size(); ++d) {
      share.addDim("d" + std::to_string(d), ceilDivide(plan.tiles[d], best.partition[d]));
      visits = multiply(visits, ceilDivide(graph.size(op, d), plan.tiles[d]));
    }
    auto use = [&](unsigned k) {
      Graph::Use result{"T" + std::to_string(k), {}};
      for (int dim : op.operand(k).dims)
        result.dims.push_back("d" + std::to_string(op.local(dim)));
      return result;
    };
    std::vector<Graph::Use> inputs;
    for (unsigned k = 0; k < op.inputs.size(); ++k)
      inputs.push_back(use(k));
    share.add(op.name, op.kind, inputs, use(op.inputs.size()));
    if (!share.finish().empty())
      return 0;
    Options options;
    options.buffer = machine.localBytes / machine.elementBytes;
    GroupSearchResult result = searchGroup(share, {0}, options, tooLarge, 0.01, nullptr);
    if (!result.best)
      return tooLarge;
    Count sum = 0;
    for (const OperandTraffic &traffic : result.best->cost.operands) {
      Count copies = 1;
      const Operator &shared = share.operators[0];
      for (unsigned d = 0; d < shared.dims.size(); ++d)
        if (shared.mask(traffic.operand) >> d & 1)
          copies = multiply(copies, best.partition[shared.dims[d]]);
      sum = add(sum, multiply(multiply(traffic.volume, copies), visits));
    }
    return sum;
  }

  const Graph &graph;
  const Operator &op;
  const OpPlan &plan;
  const Accelerator &machine;
  std::vector<Count> partition, spatial;
  bool found = false;
  Count leastHeld = 0;
  Mapping best;
};

} // namespace

Mapping ft::dataflow::mapProduct(const Graph &graph, const OpPlan &plan,
                                 const Accelerator &machine) {
  return Mapper(graph, plan, machine).run();
}

Count ft::dataflow::leastCycles(const Graph &graph, int op, const Accelerator &machine) {
  // The steps along a dimension are a sum of rounded-up parts, so they are fewest in one tile.
  const Operator &what = graph.operators[op];
  OpPlan plan;
  plan.op = op;
  for (unsigned d = 0; d < what.dims.size(); ++d)
    plan.tiles.push_back(graph.size(what, d));
  return Mapper(graph, plan, machine).fewestCycles();
}

Count Accelerator::leastTile() const {
  return std::max<Count>(1, Count(std::sqrt(double(macsPerUnit))));
}

static Mapping known(const Graph &graph, const OpPlan &plan, const Accelerator &machine,
                     MappingCache *cache) {
  if (!cache)
    return mapProduct(graph, plan, machine);
  auto [at, isNew] = cache->try_emplace({plan.op, plan.tiles});
  if (isNew)
    at->second = mapProduct(graph, plan, machine);
  return at->second;
}

Estimate ft::dataflow::estimate(const Graph &graph, const std::vector<GroupResult> &groups,
                                const Accelerator &machine, MappingCache *cache) {
  Estimate result;
  const double bytes = double(machine.elementBytes);
  double total = 0;
  for (const GroupResult &group : groups) {
    double compute = 0, onChip = 0;
    for (const OpPlan &plan : group.group.ops) {
      const Operator &op = graph.operators[plan.op];
      const double points = double(graph.points(op));
      if (op.kind == Kind::Product) {
        Mapping mapping = known(graph, plan, machine, cache);
        compute += double(mapping.cycles) / machine.cyclesPerSecond;
        onChip += double(mapping.onChipElements) * bytes;
        result.macs += points;
        // Two operands and a sum for each multiply-accumulate.
        result.localJoules += 3 * points * bytes * machine.localJoulesPerByte;
        result.macJoules += points * machine.macJoules;
        result.mappings.push_back(std::move(mapping));
      } else {
        compute += points * op.operations / machine.exponentialsPerSecond;
        onChip += points * double(op.numOperands()) * bytes;
        result.macJoules += points * op.operations * machine.macJoules;
      }
    }
    const double offChip = double(group.cost.volume) * bytes;
    // What comes from outside passes the global buffer, too.
    result.globalJoules += (onChip + offChip) * machine.globalJoulesPerByte;
    result.deviceJoules += offChip * machine.deviceJoulesPerByte;
    double onChipSeconds = onChip / machine.onChipBytesPerSecond;
    double offChipSeconds = offChip / machine.offChipBytesPerSecond;
    result.computeSeconds += compute;
    result.onChipSeconds += onChipSeconds;
    result.offChipSeconds += offChipSeconds;
    total += std::max({compute, onChipSeconds, offChipSeconds});
  }
  result.seconds = total;
  const double peak = double(machine.units) * machine.macsPerUnit * machine.cyclesPerSecond;
  result.utilization = total > 0 ? result.macs / total / peak : 0;
  return result;
}
