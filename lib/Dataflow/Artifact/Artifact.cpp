//===- Artifact.cpp - the cost rules of DAT's public code -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Artifact/Artifact.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace ft::dataflow;
using namespace ft::dataflow::artifact;

bool Cost::operator<(const Cost &other) const {
  return std::tie(volume, time, pins, footprint, accesses) <
         std::tie(other.volume, other.time, other.pins, other.footprint, other.accesses);
}

Cost artifact::operator+(const Cost &a, const Cost &b) {
  return {add(a.volume, b.volume), add(a.time, b.time), a.pins + b.pins,
          std::max(a.footprint, b.footprint), add(a.accesses, b.accesses)};
}

OperandCost artifact::operandCost(const Graph &graph, const Operator &op, unsigned operand,
                                  const OpSchedule &schedule, Use use) {
  OperandCost cost;
  const uint32_t mask = op.mask(operand);
  const bool isOutput = operand == op.inputs.size();
  Count tile = 1, size = 1;
  for (unsigned d = 0; d < op.dims.size(); ++d)
    if (mask >> d & 1) {
      tile = multiply(tile, schedule.tiles[d]);
      size = multiply(size, graph.size(op, d));
    }

  cost.footprint = tile;
  if (use == Use::Moves) {
    // From the innermost loop over one of its dimensions outward, every step brings another tile.
    bool open = false;
    Count times = 1;
    for (uint8_t d : schedule.order) {
      open |= mask >> d & 1;
      if (open)
        times = multiply(times, graph.size(op, d) / schedule.tiles[d]);
    }
    cost.accesses = isOutput ? multiply(2, times) : times;
    cost.volume = multiply(times, tile);
    // Partial sums go out and come back; the first time nothing comes.
    if (isOutput)
      cost.volume = subtract(multiply(2, cost.volume), size);
    return cost;
  }

  // Below the outermost loop that it does not depend on, a held tensor is there whole.
  bool whole = false;
  for (size_t i = schedule.order.size(); i-- > 0;) {
    uint8_t d = schedule.order[i];
    if (!(mask >> d & 1)) {
      whole = true;
    } else if (whole) {
      cost.expanded |= 1u << d;
      cost.footprint = multiply(cost.footprint, graph.size(op, d) / schedule.tiles[d]);
    }
  }
  if (use == Use::Pinned) {
    cost.volume = size;
    cost.accesses = size / tile;
  }
  return cost;
}

Count artifact::computeTime(const Graph &graph, const Operator &op,
                            const std::vector<Count> &tiles, Count computePower) {
  using Wide = unsigned __int128;
  const Count points = graph.points(op);
  bool found = false;
  Wide bestUp = 0, bestDown = 1;
  for (unsigned x = 0; x < op.numOperands(); ++x) {
    const uint32_t mask = op.mask(x);
    Count tile = 1, reuse = 0;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      if (mask >> d & 1)
        tile = multiply(tile, tiles[d]);
      else
        reuse = std::max(reuse, tiles[d]);
    if (reuse == 0 || tile == tooLarge)
      continue;
    // ⌈tile/P⌉ (r+2) / (tile r), to be multiplied by the points.
    Wide up = Wide(ceilDivide(tile, computePower)) * Wide(reuse + 2), down = Wide(tile) * reuse;
    if (!found || up * bestDown < bestUp * down)
      bestUp = up, bestDown = down;
    found = true;
  }
  if (!found)
    return ceilDivide(points, computePower);
  // points · up / down in steps: points and down share the tile's factors.
  Wide whole = points / bestDown, rest = points % bestDown;
  Wide cycles = whole * bestUp + (rest * bestUp + bestDown - 1) / bestDown;
  return cycles > Wide(tooLarge) ? tooLarge : Count(cycles);
}

namespace {

/// What a chain needs besides its operators: who consumes whose result.
struct ChainShape {
  ChainShape(const Graph &graph, const Chain &chain) {
    std::map<int, int> place;
    for (size_t i = 0; i < chain.ops.size(); ++i)
      place[chain.ops[i].op] = i;
    parent.assign(chain.ops.size(), -1);
    operand.assign(chain.ops.size(), 0);
    internal.assign(chain.ops.size(), 0);
    for (size_t i = 0; i < chain.ops.size(); ++i) {
      const Operator &op = graph.operators[chain.ops[i].op];
      for (unsigned k = 0; k < op.inputs.size(); ++k) {
        auto producer = place.find(graph.tensors[op.inputs[k].tensor].producer);
        if (producer == place.end())
          continue;
        parent[producer->second] = i;
        operand[producer->second] = k;
        internal[i] |= 1u << k;
        const Operator &writer = graph.operators[producer->first];
        internal[producer->second] |= 1u << writer.inputs.size();
      }
    }
  }
  std::vector<int> parent;       // place of the consumer in the chain, or -1
  std::vector<unsigned> operand; // which of the consumer's inputs
  std::vector<uint32_t> internal;
};

} // namespace

static Use useOf(const OpSchedule &schedule, uint32_t internal, unsigned operand) {
  if (internal >> operand & 1)
    return Use::Internal;
  return schedule.pins >> operand & 1 ? Use::Pinned : Use::Moves;
}

namespace {

/// The footprint of a chain: groups, what waits between them, and their best order.
class Footprint {
public:
  Footprint(const Graph &graph, const Chain &chain, const ChainShape &shape) {
    const size_t count = chain.ops.size();
    std::vector<int> group(count, -1);
    // Held binding tensors, by producer.
    std::vector<Count> held(count, 0);
    for (size_t i = 0; i < count; ++i) {
      const OpSchedule &schedule = chain.ops[i];
      const Operator &op = graph.operators[schedule.op];
      // The consumer comes before its producers: its group is known.
      group[i] = joins(graph, chain, shape, i) ? group[shape.parent[i]] : newGroup();
      for (unsigned k = 0; k < op.numOperands(); ++k) {
        Use use = useOf(schedule, shape.internal[i], k);
        Count size = operandCost(graph, op, k, schedule, use).footprint;
        if (use != Use::Internal)
          own[group[i]] = add(own[group[i]], size);
        else if (k == op.inputs.size())
          held[i] = std::max(held[i], size);
        else
          held[producerOf(shape, i, k)] = std::max(held[producerOf(shape, i, k)], size);
      }
    }
    for (size_t i = 0; i < count; ++i)
      if (shape.parent[i] >= 0)
        bindings.push_back({group[i], group[shape.parent[i]], held[i]});
  }

  Count peak() const {
    const size_t count = own.size();
    if (count > 12)
      return inOrder();
    // The best order of groups: best[done] is the least peak of a run of just these groups first.
    std::vector<Count> best(size_t(1) << count, tooLarge);
    best[0] = 0;
    for (uint32_t done = 0; done + 1 < best.size(); ++done) {
      if (best[done] == tooLarge)
        continue;
      for (unsigned g = 0; g < count; ++g) {
        if ((done >> g & 1) || !ready(g, done))
          continue;
        Count &into = best[done | 1u << g];
        into = std::min(into, std::max(best[done], whileRunning(g, done)));
      }
    }
    return best.back();
  }

private:
  struct Binding {
    int from, to;
    Count size;
  };

  int newGroup() {
    own.push_back(0);
    return own.size() - 1;
  }

  static int producerOf(const ChainShape &shape, size_t consumer, unsigned operand) {
    for (size_t i = 0; i < shape.parent.size(); ++i)
      if (shape.parent[i] == int(consumer) && shape.operand[i] == operand)
        return i;
    return -1;
  }

  static bool joins(const Graph &graph, const Chain &chain, const ChainShape &shape, size_t i) {
    int consumer = shape.parent[i];
    if (consumer < 0)
      return false;
    const Operator &op = graph.operators[chain.ops[consumer].op];
    OperandCost binding =
        operandCost(graph, op, shape.operand[i], chain.ops[consumer], Use::Internal);
    return binding.expanded & op.reduced();
  }

  bool ready(int g, uint32_t done) const {
    for (const Binding &binding : bindings)
      if (binding.to == g && binding.from != g && !(done >> binding.from & 1))
        return false;
    return true;
  }

  Count whileRunning(int g, uint32_t done) const {
    Count sum = own[g];
    for (const Binding &binding : bindings) {
      bool touches = binding.from == g || binding.to == g;
      bool waits = (done >> binding.from & 1) && !(done >> binding.to & 1);
      if (touches || waits)
        sum = add(sum, binding.size);
    }
    return sum;
  }

  /// Too many groups for every order: producers first, the last group of the list first.
  Count inOrder() const {
    std::vector<bool> done(own.size(), false);
    Count peak = 0;
    for (size_t g = own.size(); g-- > 0;) {
      Count sum = own[g];
      for (const Binding &binding : bindings)
        if (binding.from == int(g) || binding.to == int(g) ||
            (done[binding.from] && !done[binding.to]))
          sum = add(sum, binding.size);
      done[g] = true;
      peak = std::max(peak, sum);
    }
    return peak;
  }

  std::vector<Count> own;
  std::vector<Binding> bindings;
};

} // namespace

Cost artifact::evaluate(const Graph &graph, const Chain &chain, Count computePower) {
  ChainShape shape(graph, chain);
  Cost cost;
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    const OpSchedule &schedule = chain.ops[i];
    const Operator &op = graph.operators[schedule.op];
    for (unsigned k = 0; k < op.numOperands(); ++k) {
      OperandCost operand =
          operandCost(graph, op, k, schedule, useOf(schedule, shape.internal[i], k));
      cost.volume = add(cost.volume, operand.volume);
      cost.accesses = add(cost.accesses, operand.accesses);
    }
    cost.time = add(cost.time, computeTime(graph, op, schedule.tiles, computePower));
    cost.pins += __builtin_popcount(schedule.pins);
  }
  cost.footprint = Footprint(graph, chain, shape).peak();
  return cost;
}

bool artifact::tilesAgree(const Graph &graph, const Chain &chain) {
  ChainShape shape(graph, chain);
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    if (shape.parent[i] < 0)
      continue;
    const OpSchedule &from = chain.ops[i], &to = chain.ops[shape.parent[i]];
    const Operator &writer = graph.operators[from.op], &reader = graph.operators[to.op];
    unsigned out = writer.inputs.size(), in = shape.operand[i];
    uint32_t wroteWhole = operandCost(graph, writer, out, from, Use::Internal).expanded;
    uint32_t readWhole = operandCost(graph, reader, in, to, Use::Internal).expanded;
    for (size_t k = 0; k < writer.output.dims.size(); ++k) {
      int w = writer.local(writer.output.dims[k]), r = reader.local(reader.inputs[in].dims[k]);
      if (from.tiles[w] != to.tiles[r] && !(wroteWhole >> w & 1) && !(readWhole >> r & 1))
        return false;
    }
  }
  return true;
}

Graph artifact::withoutObstacles(const Graph &graph, std::string &error) {
  Graph result;
  result.name = graph.name;
  result.dims = graph.dims;
  result.batch = graph.batch;
  result.batchGiven = graph.batchGiven;
  // What each tensor is replaced by, and whether what it replaces is a result.
  std::map<int, int> same;
  auto resolve = [&](int tensor) {
    while (same.count(tensor))
      tensor = same[tensor];
    return tensor;
  };
  for (const Operator &op : graph.operators) {
    if (op.kind == Kind::Product) {
      Operator copy = op;
      for (Operand &input : copy.inputs)
        input.tensor = result.tensor(graph.tensors[resolve(input.tensor)].name);
      copy.output.tensor = result.tensor(graph.tensors[op.output.tensor].name);
      result.operators.push_back(copy);
      continue;
    }
    if (op.inputs.size() != 1 || op.inputs[0].dims != op.output.dims) {
      error = "the artifact's rules know products only (and leave out what changes no shape, such "
              "as softmax); operator '" +
              op.name + "' is " + name(op.kind) + "-wise with other operands";
      return result;
    }
    same[op.output.tensor] = op.inputs[0].tensor;
  }
  for (const GraphError &problem : result.finish())
    error = problem.message;
  return result;
}
