//===- ConfigurationsTest.cpp - optima of layers that are in use ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BruteForce.h"
#include "Configurations.h"
#include "RandomPlans.h"
#include "ft/Dataflow/Graph/GraphJson.h"
#include "ft/Dataflow/Search/Search.h"
#include "gtest/gtest.h"

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// The graph with its dimensions changed by a function of their sizes.
template <typename Change>
Graph scaled(const Configuration &entry, Change change) {
  std::string error;
  std::optional<Graph> graph = readGraph(entry.graph, entry.name, error);
  EXPECT_TRUE(graph) << error;
  if (!graph)
    return {};
  for (Dim &dim : graph->dims)
    dim.size = change(dim.size);
  EXPECT_TRUE(graph->finish().empty());
  return *graph;
}

/// The least buffer that every operator fits into by itself.
Count leastBuffer(const Graph &graph) {
  Count least = 0;
  for (unsigned op = 0; op < graph.operators.size(); ++op)
    least = std::max(least, leastPlan(graph, op, {}).cost.footprint);
  return least;
}

Result optimum(const Graph &graph, Count buffer, Fusion fusion = Fusion::Any) {
  Options options;
  options.buffer = buffer;
  options.fusion = fusion;
  return search(graph, options);
}

/// The simulator moves what a result says, in the buffer.
void expectReplayed(const Graph &graph, const Result &result, Count buffer) {
  Count volume = 0;
  for (const GroupResult &group : result.groups) {
    ASSERT_EQ(check(graph, group.group), "");
    Replay replay = simulate(graph, group.group);
    EXPECT_EQ(replay.error, "");
    EXPECT_EQ(replay.volume, group.cost.volume);
    EXPECT_LE(replay.footprint, buffer);
    volume = add(volume, replay.volume);
  }
  EXPECT_EQ(volume, result.volume);
}

/// Proved in small, middle and large buffers; what moves is what the simulator counts, and no mode that may fuse
/// more moves more.
TEST(Configurations, provedAndReplayed) {
  unsigned count = 0;
  for (const Configuration &entry : configurations) {
    SCOPED_TRACE(entry.name);
    Graph graph = scaled(entry, [](Count size) { return size; });
    Count before = tooLarge;
    for (Count factor : {1, 3, 12}) {
      const Count buffer = leastBuffer(graph) * factor + factor - 1;
      SCOPED_TRACE(buffer);
      Result result = optimum(graph, buffer);
      ASSERT_FALSE(result.groups.empty());
      EXPECT_TRUE(result.proved());
      expectReplayed(graph, result, buffer);
      EXPECT_LE(result.volume, before);
      before = result.volume;
      Result two = optimum(graph, buffer, Fusion::Two), alone = optimum(graph, buffer, Fusion::Intra);
      EXPECT_LE(result.volume, two.volume);
      EXPECT_LE(two.volume, alone.volume);
      ++count;
    }
    // Where everything fits, inputs and results move once.
    Count once = 0, all = 0;
    for (const Tensor &tensor : graph.tensors) {
      all += 2 * tensor.size();
      once += tensor.isResult ? tensor.size() : 0;
    }
    for (const Operator &op : graph.operators)
      for (const Operand &input : op.inputs)
        once += graph.tensors[input.tensor].producer < 0 ? graph.tensors[input.tensor].size() : 0;
    EXPECT_EQ(optimum(graph, 2 * all).volume, once);
  }
  EXPECT_GE(count, 90u);
}

/// Sizes in the hundreds of what has a hundred thousand points: the simulator agrees.
TEST(Configurations, replayedAtLargerSizes) {
  unsigned count = 0;
  for (const Configuration &entry : configurations) {
    SCOPED_TRACE(entry.name);
    Graph graph = scaled(entry, [](Count size) { return size > 4 ? 5 * size + 2 : size; });
    Count points = 0;
    for (const Operator &op : graph.operators)
      points = add(points, graph.points(op));
    if (points > 2'000'000)
      continue;
    const Count buffer = 5 * leastBuffer(graph) + 301;
    Result result = optimum(graph, buffer);
    ASSERT_FALSE(result.groups.empty());
    EXPECT_LE(result.lowerBound, result.volume);
    EXPECT_TRUE(result.proved());
    expectReplayed(graph, result, buffer);
    ++count;
  }
  EXPECT_GE(count, 28u);
}

/// No random nest of a whole graph that fits moves less than what was proved.
TEST(Configurations, randomNestsAreNoBetter) {
  Random random(41);
  unsigned legal = 0;
  for (const Configuration &entry : configurations) {
    SCOPED_TRACE(entry.name);
    Graph graph = scaled(entry, [](Count size) { return std::min<Count>(size, 3); });
    std::map<Count, Count> least; // by footprint
    for (unsigned round = 0; round < 6000; ++round) {
      Group group = randomGroup(random, graph);
      if (!check(graph, group).empty())
        continue;
      GroupCost cost = evaluate(graph, group);
      auto [at, isNew] = least.emplace(cost.footprint, cost.volume);
      at->second = std::min(at->second, cost.volume);
      ++legal;
    }
    Count best = tooLarge;
    unsigned asked = 0;
    for (auto [footprint, volume] : least) {
      if (volume >= best || footprint < leastBuffer(graph) || ++asked > 4)
        continue;
      best = volume;
      EXPECT_LE(optimum(graph, footprint).volume, volume) << "buffer " << footprint;
    }
  }
  EXPECT_GE(legal, 10000u);
}

/// About how many plans brute force looks at.
Count plansOf(const Graph &graph, const std::vector<unsigned> &ops) {
  Count product = 1;
  for (unsigned op : ops) {
    const Operator &what = graph.operators[op];
    for (unsigned d = 0; d < what.dims.size(); ++d)
      product = multiply(product, (d + 1) * graph.size(what, d));
    for (unsigned k = 0; k < what.numOperands(); ++k)
      product = multiply(product, what.dims.size());
  }
  return product;
}

/// Of all operators and neighbours, at sizes up to two: every plan there is, in every buffer.
TEST(Configurations, bruteForce) {
  unsigned singles = 0, pairs = 0;
  for (const Configuration &entry : configurations) {
    SCOPED_TRACE(entry.name);
    for (Count most : {2, 3}) {
      Graph graph = scaled(entry, [&](Count size) { return std::min(size, most); });
      std::vector<std::vector<unsigned>> sets;
      for (unsigned i = 0; i < graph.operators.size(); ++i) {
        sets.push_back({i});
        for (int reader : graph.tensors[graph.operators[i].output.tensor].consumers)
          sets.push_back({i, unsigned(reader)});
      }
      for (const std::vector<unsigned> &set : sets) {
        if (plansOf(graph, set) > 120'000)
          continue;
        BruteForce force(graph, set);
        (set.size() == 1 ? singles : pairs) += 1;
        for (Count buffer = force.smallest(); buffer <= force.largest(); ++buffer) {
          Options options;
          options.buffer = buffer;
          GroupSearchResult found = searchGroup(graph, {set.begin(), set.end()}, options, tooLarge, 0, nullptr);
          ASSERT_TRUE(found.complete && found.best);
          EXPECT_EQ(found.best->cost.volume, force.least(buffer))
              << graph.operators[set.front()].name << ", buffer " << buffer;
        }
      }
    }
  }
  EXPECT_GE(singles, 60u);
  EXPECT_GE(pairs, 20u);
}

/// One tensor that many operators read: more sets than can be listed, which is the genetic algorithm's. Whatever its seed, it keeps
/// what the narrower modes found, and its bound holds.
TEST(Configurations, moreSetsThanCanBeListed) {
  Graph graph;
  graph.addDim("n", 6), graph.addDim("k", 4), graph.addDim("e", 5);
  graph.add("T", Kind::Product, {{"X", {"n", "e"}}, {"W", {"e", "k"}}}, {"T", {"n", "k"}});
  for (unsigned i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i), dim = "m" + number;
    graph.addDim(dim, 2 + i % 5);
    graph.add("Y" + number, Kind::Product, {{"T", {"n", "k"}}, {"W" + number, {"k", dim}}},
              {"Y" + number, {"n", dim}});
  }
  ASSERT_TRUE(graph.finish().empty());
  Options options;
  options.buffer = 60;
  options.budget = 6;
  options.fusion = Fusion::Two;
  Result two = search(graph, options);
  ASSERT_FALSE(two.groups.empty());
  options.fusion = Fusion::Any;
  options.start = two.groups;
  for (uint64_t seed : {1, 2, 3}) {
    options.seed = seed;
    Result result = search(graph, options);
    ASSERT_FALSE(result.groups.empty());
    EXPECT_LE(result.volume, two.volume);
    EXPECT_LE(result.footprint, options.buffer);
    EXPECT_LE(result.lowerBound, result.volume);
    EXPECT_GT(result.lowerBound, 0);
    expectReplayed(graph, result, options.buffer);
  }
}

} // namespace
