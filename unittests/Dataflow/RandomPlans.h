//===- RandomPlans.h - random graphs and schedules --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small random operator graphs, and random legal loop nests over them, from a
// seed: the same in every run and on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_DATAFLOW_RANDOMPLANS_H
#define FT_UNITTESTS_DATAFLOW_RANDOMPLANS_H

#include "ft/Dataflow/LoopTree.h"

#include <algorithm>
#include <string>

namespace ft::dataflow {

/// SplitMix64: a generator that is defined by its arithmetic.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Of [0, bound).
  Count below(Count bound) { return next() % bound; }
  bool coin() { return below(2); }

private:
  uint64_t state;
};

/// A chain of 1 to `most` operators of all kinds; dimensions of sizes up to `largest`, often odd; some
/// have a batch.
inline Graph randomGraph(Random &random, unsigned most, Count largest, bool batched = true) {
  Graph graph;
  auto dim = [&]() {
    std::string name = "d" + std::to_string(graph.dims.size());
    graph.addDim(name, 1 + random.below(largest));
    return name;
  };
  std::vector<std::string> batch;
  if (batched && random.coin())
    batch.push_back(dim());
  auto with = [&](std::vector<std::string> dims) {
    dims.insert(dims.begin(), batch.begin(), batch.end());
    return dims;
  };
  std::string row = dim(), column = dim();
  std::string current = "T0";
  const unsigned count = 1 + random.below(most);
  for (unsigned i = 0; i < count; ++i) {
    std::string next = "T" + std::to_string(i + 1), name = "op" + std::to_string(i);
    std::string other = "X" + std::to_string(i);
    switch (random.below(5)) {
    case 0:
      graph.add(name, Kind::Row, {{current, with({row, column})}}, {next, with({row, column})},
                {column});
      break;
    case 1:
      graph.add(name, Kind::Point,
                {{current, with({row, column})}, {other, random.coin() ? std::vector{column} : with({row, column})}},
                {next, with({row, column})});
      break;
    default: {
      std::string fresh = dim();
      bool shared = random.coin(); // weights that all of the batch read
      std::vector<std::string> weights{column, fresh};
      graph.add(name, Kind::Product,
                {{current, with({row, column})}, {other, shared ? weights : with(weights)}},
                {next, with({row, fresh})});
      column = fresh;
    }
    }
    current = next;
  }
  // Sometimes a tensor inside is wanted, too.
  graph.finish();
  if (random.below(4) == 0)
    graph.tensors[graph.findTensor("T1")].isResult = true;
  return graph;
}

/// A random plan for all operators as one group; legal or not.
inline exact::Group randomGroup(Random &random, const Graph &graph) {
  exact::Group group;
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    const Operator &op = graph.operators[i];
    exact::OpPlan plan;
    plan.op = i;
    plan.tiles.resize(op.dims.size());
    for (unsigned d = 0; d < op.dims.size(); ++d)
      plan.tiles[d] = 1 + random.below(graph.size(op, d));
    // A prefix of the operator before, as long as the dimensions allow and chance wants.
    if (i > 0) {
      const exact::OpPlan &before = group.ops.back();
      const Operator &other = graph.operators[i - 1];
      unsigned wanted = random.below(before.order.size() + 1);
      while (plan.shared < wanted) {
        int local = op.local(other.dims[before.order[plan.shared]]);
        if (local < 0)
          break;
        plan.order.push_back(local);
        plan.tiles[local] = before.tiles[before.order[plan.shared]];
        ++plan.shared;
      }
    }
    std::vector<uint8_t> rest;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      if (std::find(plan.order.begin(), plan.order.end(), d) == plan.order.end())
        rest.push_back(d);
    for (size_t k = rest.size(); k > 1; --k)
      std::swap(rest[k - 1], rest[random.below(k)]);
    plan.order.insert(plan.order.end(), rest.begin(), rest.end());
    for (unsigned k = 0; k < op.numOperands(); ++k)
      plan.holds.push_back(random.below(plan.order.size() + 1));
    group.ops.push_back(plan);
  }
  return group;
}

} // namespace ft::dataflow

#endif // FT_UNITTESTS_DATAFLOW_RANDOMPLANS_H
