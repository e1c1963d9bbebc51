//===- RandomPlans.h - random graphs and schedules --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small random operator graphs, and random legal loop nests over them, from a
// seed: the same in every run and on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_DATAFLOW_RANDOMPLANS_H
#define FT_UNITTESTS_DATAFLOW_RANDOMPLANS_H

#include "ft/Dataflow/LoopTree/LoopTree.h"

#include <algorithm>
#include <cstdlib>
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

/// Two or three operators that read one tensor, as the projections of attention do; some by another name of its
/// rows. Sometimes the first results meet in a product.
inline Graph randomSharing(Random &random, Count largest) {
  Graph graph;
  auto dim = [&](const std::string &name, Count size) {
    graph.addDim(name, size);
    return name;
  };
  const Count rows = 1 + random.below(largest);
  const std::string n = dim("n", rows), m = dim("m", rows), l = dim("l", 1 + random.below(largest));
  const bool joins = random.coin();
  const unsigned count = 2 + random.below(2);
  const std::string q = dim("q", 1 + random.below(largest));
  for (unsigned i = 0; i < count; ++i) {
    const std::string at = std::to_string(i), row = (i == 1 && joins) || random.below(3) == 0 ? m : n;
    if (i == 2 && random.coin()) {
      graph.add("R" + at, Kind::Row, {{"X", {row, l}}}, {"Y" + at, {row, l}}, {l});
      continue;
    }
    const std::string column = joins && i < 2 ? q : dim("k" + at, 1 + random.below(largest));
    graph.add("P" + at, Kind::Product, {{"X", {row, l}}, {"W" + at, {l, column}}}, {"Y" + at, {row, column}});
  }
  const bool first = graph.operators[0].output.dims[0] == graph.findDim(n);
  if (joins && first)
    graph.add("S", Kind::Product, {{"Y0", {n, q}}, {"Y1", {m, q}}}, {"S", {n, m}});
  graph.finish();
  return graph;
}

/// Operators in any form: rows, points, products of the same tensors by either name of their dimensions, of results and of
/// what comes from outside; some of a batch. Without operators where chance made what is no graph.
class RandomDag {
public:
  RandomDag(Random &random, Count largest, unsigned most) : random(random), count(2 + random.below(most - 1)) {
    const Count rows = 1 + random.below(largest), columns = 1 + random.below(largest);
    for (const char *name : {"r", "s"})
      graph.addDim(name, rows);
    for (const char *name : {"c", "d"})
      graph.addDim(name, columns);
    if (random.below(3) == 0)
      graph.addDim("b", 1 + random.below(3));
    known = {{"X", graph.dims.size() > 4 && random.coin(), false}, {"Z", false, false}};
  }

  Graph run() {
    for (unsigned i = 0; i < count; ++i)
      add(i);
    if (!graph.finish().empty())
      return {};
    if (random.below(4) == 0)
      graph.tensors[graph.findTensor("T0")].isResult = true;
    return std::move(graph);
  }

private:
  struct Known {
    std::string name;
    bool batched, square; // rows by rows, or rows by columns
  };
  using Dims = std::vector<std::string>;

  Dims dims(const Known &tensor, const std::string &first, const std::string &second) const {
    return tensor.batched ? Dims{"b", first, second} : Dims{first, second};
  }

  void add(unsigned i) {
    const Known a = known[random.below(3) ? random.below(known.size()) : 0];
    const Known b = known[random.coin() ? random.below(known.size()) : 0];
    const std::string name = "op" + std::to_string(i);
    std::string row = "r", other = "s", column = random.coin() ? "c" : "d";
    if (random.coin())
      std::swap(row, other);
    Known out{"T" + std::to_string(i), a.batched, a.square};
    const std::string second = a.square ? other : column;
    const unsigned kind = random.below(4);
    if (kind == 0) {
      const std::string &over = random.below(4) ? second : row;
      graph.add(name, Kind::Row, {{a.name, dims(a, row, second)}}, {out.name, dims(out, row, second)}, {over});
    } else if (kind == 1 || (a.square && b.square)) {
      std::vector<Graph::Use> inputs{{a.name, dims(a, row, second)}};
      if (a.square == b.square && a.batched == b.batched && a.name != b.name)
        inputs.push_back({b.name, dims(b, row, second)});
      graph.add(name, Kind::Point, inputs, {out.name, dims(out, row, second)});
    } else {
      out.batched = a.batched || b.batched;
      out.square = !a.square && !b.square;
      const Known &left = b.square ? b : a, &right = b.square ? a : b;
      if (out.square) // a bᵀ
        graph.add(name, Kind::Product, {{a.name, dims(a, row, column)}, {b.name, dims(b, other, column)}},
                  {out.name, dims(out, row, other)});
      else
        graph.add(name, Kind::Product, {{left.name, dims(left, row, other)}, {right.name, dims(right, other, column)}},
                  {out.name, dims(out, row, column)});
    }
    known.push_back(out);
  }

  Random &random;
  Graph graph;
  std::vector<Known> known;
  const unsigned count;
};

/// The seed of a test, or another one that FT_DATAFLOW_SEED asks for.
inline uint64_t seedOr(uint64_t usual) {
  const char *asked = std::getenv("FT_DATAFLOW_SEED");
  return asked ? std::strtoull(asked, nullptr, 10) : usual;
}

/// Lets readers of one tensor from outside share its slot now and then, with a block that their common loops may
/// change. Often, not always, that is legal.
inline void shareSlots(Random &random, const Graph &graph, exact::Group &group) {
  for (unsigned i = 0; i < group.ops.size(); ++i) {
    const Operator &op = graph.operators[group.ops[i].op];
    group.ops[i].slots.assign(op.inputs.size(), 0);
    for (unsigned k = 0; k < op.inputs.size(); ++k)
      for (unsigned j = 0; j < i && random.coin(); ++j) {
        const Operator &other = graph.operators[group.ops[j].op];
        for (unsigned l = 0; l < other.inputs.size(); ++l)
          if (other.inputs[l].tensor == op.inputs[k].tensor) {
            const unsigned hold = random.below(exact::commonLoops(group, j, i) + 1);
            group.ops[i].slots[k] = group.ops[j].slots[l] = 1;
            group.ops[i].holds[k] = group.ops[j].holds[l] = hold;
          }
      }
  }
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
