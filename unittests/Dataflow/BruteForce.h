//===- BruteForce.h - every plan of a small group ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_DATAFLOW_BRUTEFORCE_H
#define FT_UNITTESTS_DATAFLOW_BRUTEFORCE_H

#include "ft/Dataflow/LoopTree/LoopTree.h"

#include <algorithm>
#include <map>

namespace ft::dataflow::exact {

/// The least traffic of one group over every plan there is: all orders, shared loops, tiles and hold
/// depths, nothing left out and nothing clever. One walk over all plans answers for every buffer.
class BruteForce {
public:
  /// Of all operators of the graph, or of some of them.
  explicit BruteForce(const Graph &graph, std::vector<unsigned> ops = {})
      : graph(graph), sequence(std::move(ops)) {
    if (sequence.empty())
      for (unsigned i = 0; i < graph.operators.size(); ++i)
        sequence.push_back(i);
    std::sort(sequence.begin(), sequence.end());
    do {
      place(0);
    } while (std::next_permutation(sequence.begin(), sequence.end()));
  }

  Count least(Count buffer) const {
    Count best = tooLarge;
    for (auto [footprint, volume] : volumes)
      if (footprint <= buffer)
        best = std::min(best, volume);
    return best;
  }
  /// From the least buffer that anything fits into to one that nothing asks more than.
  Count smallest() const { return volumes.begin()->first; }
  Count largest() const { return volumes.rbegin()->first; }

private:
  bool has(int op) const {
    return op >= 0 && std::find(sequence.begin(), sequence.end(), unsigned(op)) != sequence.end();
  }

  void place(unsigned at) {
    if (at == sequence.size()) {
      if (!check(graph, group).empty())
        return;
      GroupCost cost = evaluate(graph, group);
      auto [entry, isNew] = volumes.emplace(cost.footprint, cost.volume);
      entry->second = std::min(entry->second, cost.volume);
      return;
    }
    const unsigned i = sequence[at];
    const Operator &op = graph.operators[i];
    for (const Operand &input : op.inputs) // producers first
      if (int producer = graph.tensors[input.tensor].producer;
          has(producer) &&
          std::find(sequence.begin(), sequence.begin() + at, producer) == sequence.begin() + at)
        return;
    OpPlan plan;
    plan.op = i;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      plan.order.push_back(d);
    do {
      plan.tiles.assign(op.dims.size(), 1);
      tiles(at, plan, 0);
    } while (std::next_permutation(plan.order.begin(), plan.order.end()));
  }

  void tiles(unsigned at, OpPlan &plan, unsigned d) {
    const Operator &op = graph.operators[plan.op];
    if (d == op.dims.size()) {
      plan.holds.assign(op.numOperands(), 0);
      return holds(at, plan, 0);
    }
    for (Count tile = 1; tile <= graph.size(op, d); ++tile) {
      plan.tiles[d] = tile;
      tiles(at, plan, d + 1);
    }
  }

  void holds(unsigned at, OpPlan &plan, unsigned k) {
    const Operator &op = graph.operators[plan.op];
    if (k == op.numOperands()) {
      plan.slots.assign(op.inputs.size(), 0);
      return slots(at, plan, 0);
    }
    const Tensor &tensor = graph.tensors[op.operand(k).tensor];
    bool inside = k < op.inputs.size()
                      ? has(tensor.producer)
                      : std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                    [&](int reader) { return has(reader); });
    for (unsigned depth = inside ? plan.order.size() : 0; depth <= plan.order.size(); ++depth) {
      // Inside a loop over another dimension the block is the one outside of it.
      if (!inside && depth > 0 && !(op.mask(k) >> plan.order[depth - 1] & 1))
        continue;
      plan.holds[k] = depth;
      holds(at, plan, k + 1);
    }
  }

  /// The slots of a tensor that operators placed before have.
  unsigned slotsOf(int tensor) const {
    unsigned most = 0;
    for (const OpPlan &plan : group.ops)
      for (unsigned k = 0; k < graph.operators[plan.op].inputs.size(); ++k)
        if (graph.operators[plan.op].inputs[k].tensor == tensor)
          most = std::max(most, plan.slot(k));
    return most;
  }

  /// One of the slots that are there, or the next one.
  void slots(unsigned at, OpPlan &plan, unsigned k) {
    const Operator &op = graph.operators[plan.op];
    if (k == op.inputs.size())
      return shared(at, plan);
    const int tensor = op.inputs[k].tensor;
    const unsigned most = has(graph.tensors[tensor].producer) ? 0 : slotsOf(tensor) + 1;
    for (plan.slots[k] = std::min(most, 1u); plan.slots[k] <= most; ++plan.slots[k])
      slots(at, plan, k + 1);
    plan.slots[k] = 0;
  }

  void shared(unsigned at, OpPlan &plan) {
    plan.shared = 0;
    for (;;) {
      group.ops.push_back(plan);
      place(at + 1);
      group.ops.pop_back();
      if (at == 0)
        return;
      const OpPlan &before = group.ops.back();
      const Operator &op = graph.operators[plan.op], &other = graph.operators[before.op];
      if (plan.shared == std::min(plan.order.size(), before.order.size()))
        return;
      unsigned a = before.order[plan.shared], b = plan.order[plan.shared];
      if (other.dims[a] != op.dims[b] || before.tiles[a] != plan.tiles[b])
        return;
      ++plan.shared;
    }
  }

  const Graph &graph;
  std::vector<unsigned> sequence;
  std::map<Count, Count> volumes; // by footprint, the least
  Group group;
};

} // namespace ft::dataflow::exact

#endif // FT_UNITTESTS_DATAFLOW_BRUTEFORCE_H
