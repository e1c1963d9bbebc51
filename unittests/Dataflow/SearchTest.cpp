//===- SearchTest.cpp - the exact search against brute force --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BruteForce.h"
#include "RandomPlans.h"
#include "ft/Dataflow/Graph/GraphJson.h"
#include "ft/Dataflow/Graph/Models.h"
#include "ft/Dataflow/Search/Search.h"
#include "gtest/gtest.h"

#include <map>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

std::vector<int> allOf(const Graph &graph) {
  std::vector<int> ops;
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    ops.push_back(i);
  return ops;
}

GroupSearchResult searchAll(const Graph &graph, Count buffer, Count cutoff = tooLarge) {
  Options options;
  options.buffer = buffer;
  options.sharedSlots = true;
  return searchGroup(graph, allOf(graph), options, cutoff, 0, nullptr);
}

Count searched(const Graph &graph, Count buffer) {
  GroupSearchResult result = searchAll(graph, buffer);
  EXPECT_TRUE(result.complete);
  if (!result.best)
    return tooLarge;
  EXPECT_EQ(check(graph, result.best->group), "");
  EXPECT_LE(result.best->cost.footprint, buffer);
  EXPECT_EQ(result.lowerBound, result.best->cost.volume);
  Replay replay = simulate(graph, result.best->group);
  EXPECT_EQ(replay.error, "");
  EXPECT_EQ(replay.volume, result.best->cost.volume) << print(graph, result.best->group) << buffer;
  EXPECT_EQ(replay.footprint, result.best->cost.footprint);
  // What is known before must not hide it, however near it is; nor is there anything better.
  GroupSearchResult again = searchAll(graph, buffer, result.best->cost.volume + 1);
  EXPECT_TRUE(again.complete && again.best) << "lost below a cutoff, buffer " << buffer;
  if (again.best)
    EXPECT_EQ(again.best->cost.volume, result.best->cost.volume);
  GroupSearchResult better = searchAll(graph, buffer, result.best->cost.volume);
  EXPECT_TRUE(better.complete && !better.best);
  EXPECT_EQ(better.lowerBound, result.best->cost.volume);
  return result.best->cost.volume;
}

/// In every buffer: the optimum, and that below the least buffer nothing fits.
void expectOptima(const Graph &graph) {
  BruteForce force(graph);
  for (Count buffer = force.smallest() - 1; buffer <= force.largest(); ++buffer)
    EXPECT_EQ(searched(graph, buffer), force.least(buffer)) << "buffer " << buffer;
}

Graph product(Count m, Count k, Count n) {
  Graph graph;
  graph.addDim("m", m), graph.addDim("k", k), graph.addDim("n", n);
  graph.add("C", Kind::Product, {{"A", {"m", "k"}}, {"B", {"k", "n"}}}, {"C", {"m", "n"}});
  graph.finish();
  return graph;
}

TEST(Search, oneProduct) {
  for (auto [m, k, n] : {std::tuple<Count, Count, Count>{4, 5, 3},
                         {7, 2, 5},
                         {1, 6, 4},
                         {5, 5, 5},
                         {6, 5, 4},
                         {4, 7, 3}})
    expectOptima(product(m, k, n));
}

TEST(Search, oneRowOperator) {
  Graph graph;
  graph.addDim("n", 4), graph.addDim("m", 6);
  graph.add("P", Kind::Row, {{"S", {"n", "m"}}}, {"P", {"n", "m"}}, {"m"});
  graph.finish();
  expectOptima(graph);
}

TEST(Search, backToBackProducts) {
  Graph graph;
  graph.addDim("m", 2), graph.addDim("k", 2), graph.addDim("l", 3), graph.addDim("n", 2);
  graph.add("C", Kind::Product, {{"A", {"m", "k"}}, {"B", {"k", "l"}}}, {"C", {"m", "l"}});
  graph.add("E", Kind::Product, {{"C", {"m", "l"}}, {"D", {"l", "n"}}}, {"E", {"m", "n"}});
  graph.finish();
  expectOptima(graph);
}

TEST(Search, softmaxBetweenProducts) {
  Graph graph;
  graph.addDim("n", 2), graph.addDim("m", 2), graph.addDim("q", 1), graph.addDim("d", 1);
  graph.add("S", Kind::Product, {{"Q", {"n", "q"}}, {"K", {"m", "q"}}}, {"S", {"n", "m"}});
  graph.add("P", Kind::Row, {{"S", {"n", "m"}}}, {"P", {"n", "m"}}, {"m"});
  graph.add("A", Kind::Product, {{"P", {"n", "m"}}, {"V", {"m", "d"}}}, {"A", {"n", "d"}});
  graph.finish();
  expectOptima(graph);
}

/// About how many plans brute force looks at.
Count plansOf(const Graph &graph) {
  Count product = 1;
  for (const Operator &op : graph.operators) {
    for (unsigned d = 0; d < op.dims.size(); ++d)
      product = multiply(product, (d + 1) * graph.size(op, d));
    for (unsigned k = 0; k < op.numOperands(); ++k)
      product = multiply(product, op.dims.size());
  }
  return product;
}

/// Two products of the same rows, or of rows that the second one calls otherwise.
Graph readersOfOne(Count n, Count l, Count q, const char *row) {
  Graph graph;
  graph.addDim("n", n), graph.addDim("m", n), graph.addDim("l", l), graph.addDim("q", q);
  graph.add("P", Kind::Product, {{"X", {"n", "l"}}, {"V", {"l", "q"}}}, {"Y", {"n", "q"}});
  graph.add("Q", Kind::Product, {{"X", {row, "l"}}, {"W", {"l", "q"}}}, {"Z", {row, "q"}});
  EXPECT_TRUE(graph.finish().empty());
  return graph;
}

/// Operators that read one tensor from outside, in every buffer.
TEST(Search, sharedInputs) {
  expectOptima(readersOfOne(2, 2, 1, "n"));
  expectOptima(readersOfOne(2, 1, 2, "n"));
  expectOptima(readersOfOne(2, 2, 1, "m"));
  // Three readers, of which any two or all may share.
  Graph three;
  three.addDim("n", 2), three.addDim("l", 2);
  three.add("P", Kind::Row, {{"X", {"n", "l"}}}, {"P", {"n", "l"}}, {"l"});
  three.add("R", Kind::Row, {{"X", {"n", "l"}}}, {"R", {"n"}}, {"l"});
  three.add("S", Kind::Row, {{"X", {"n", "l"}}}, {"S", {"l"}}, {"n"});
  ASSERT_TRUE(three.finish().empty());
  expectOptima(three);
}

/// A whole search finds what a group with a shared slot saves, and only if it may share.
TEST(Search, sharingIsAnOption) {
  Graph graph;
  graph.addDim("n", 40), graph.addDim("l", 30), graph.addDim("q", 5);
  for (const char *name : {"Q", "K", "V"})
    graph.add(name, Kind::Product, {{"X", {"n", "l"}}, {std::string("W") + name, {"l", "q"}}},
              {std::string("Y") + name, {"n", "q"}});
  ASSERT_TRUE(graph.finish().empty());
  Options options;
  options.buffer = 500;
  Result own = search(graph, options);
  options.sharedSlots = true;
  Result shared = search(graph, options);
  // The weights, 450 elements, stay beside a row of X, 30, and one result.
  const Count rest = 3 * (30 * 5 + 40 * 5), rows = 40 * 30;
  EXPECT_TRUE(own.proved() && shared.proved());
  EXPECT_EQ(own.volume, rest + 3 * rows);
  EXPECT_EQ(shared.volume, rest + rows);
  EXPECT_EQ(shared.groups.size(), 1u);
  EXPECT_TRUE(shared.fused.empty());
}

/// What is found for graphs with shared inputs is what the simulator counts; where all fits, each tensor moves once.
TEST(Search, sharingReplays) {
  Random random(41);
  for (unsigned round = 0; round < 60; ++round) {
    Graph graph = randomSharing(random, 5);
    SCOPED_TRACE(writeGraph(graph));
    Count all = 0, once = 0;
    for (const Tensor &tensor : graph.tensors) {
      all += 2 * tensor.size();
      once += tensor.isResult || tensor.producer < 0 ? tensor.size() : 0;
    }
    EXPECT_EQ(searched(graph, all), once);
    for (Count buffer = 3; buffer < 40; buffer += 1 + random.below(6))
      searched(graph, buffer);
  }
  for (auto [n, l, q] : {std::tuple<Count, Count, Count>{3, 2, 2}, {2, 3, 2}, {2, 2, 3}})
    for (const char *row : {"n", "m"}) {
      Graph graph = readersOfOne(n, l, q, row);
      for (Count buffer = 3; buffer < 32; ++buffer)
        searched(graph, buffer);
    }
}

/// A result with two readers, one of which needs it whole; and one that comes back beside what was
/// made of it.
TEST(Search, severalReaders) {
  Graph graph;
  graph.addDim("n", 3), graph.addDim("m", 3), graph.addDim("k", 2);
  graph.add("P", Kind::Row, {{"S", {"n", "m"}}}, {"P", {"n", "m"}}, {"m"});
  graph.add("R", Kind::Row, {{"P", {"n", "m"}}}, {"R", {"n"}}, {"m"});
  graph.add("Y", Kind::Point, {{"P", {"n", "m"}}, {"R", {"n"}}}, {"Y", {"n", "m"}});
  graph.finish();
  expectOptima(graph);
  Graph renamed; // Y = X·Xᵀ of X = f(Z): rows of one operand are columns of the other
  renamed.addDim("i", 3), renamed.addDim("j", 3), renamed.addDim("k", 2);
  renamed.add("X", Kind::Point, {{"Z", {"i", "k"}}}, {"X", {"i", "k"}});
  renamed.add("Y", Kind::Product, {{"X", {"i", "k"}}, {"X", {"j", "k"}}}, {"Y", {"i", "j"}});
  renamed.finish();
  expectOptima(renamed);
}

/// Y = x·xᵀ of x = f(z): x must be whole, and fits beside one element of z and of Y.
TEST(Search, wholeTensorsFillTheBuffer) {
  for (Count size : {40, 127}) {
    Graph graph;
    graph.addDim("i", size), graph.addDim("j", size);
    graph.add("x", Kind::Point, {{"z", {"i"}}}, {"x", {"i"}});
    graph.add("Y", Kind::Product, {{"x", {"i"}}, {"x", {"j"}}}, {"Y", {"i", "j"}});
    ASSERT_TRUE(graph.finish().empty());
    EXPECT_EQ(searched(graph, size + 1), size + size * size);
    EXPECT_EQ(searched(graph, size), tooLarge);
  }
}

TEST(Search, randomPairs) {
  Random random(5);
  unsigned several = 0;
  for (unsigned round = 0; round < 60; ++round) {
    Graph graph = randomGraph(random, 2, 2);
    if (plansOf(graph) > 150'000)
      continue;
    SCOPED_TRACE(writeGraph(graph));
    several += graph.operators.size() > 1;
    expectOptima(graph);
  }
  EXPECT_GE(several, 8u);
}

/// Modes nest, on every graph; nothing exceeds the buffer; bounds are bounds.
TEST(Search, modesNest) {
  Random random(11);
  unsigned counted = 0;
  for (unsigned round = 0; round < 24; ++round) {
    Graph graph = randomGraph(random, 3, 12);
    Options options;
    options.buffer = 12 + random.below(200);
    std::vector<Count> volumes;
    for (Fusion fusion : {Fusion::Intra, Fusion::Tangram, Fusion::Flat, Fusion::Two, Fusion::Any}) {
      options.fusion = fusion;
      options.gap = 0.05;
      Result result = search(graph, options);
      if (result.groups.empty())
        break;
      EXPECT_LE(result.footprint, options.buffer);
      EXPECT_LE(result.lowerBound, result.volume);
      volumes.push_back(result.volume);
    }
    if (volumes.size() < 5)
      continue;
    ++counted;
    EXPECT_LE(volumes[4], volumes[3]);
    for (unsigned narrow : {0, 1, 2})
      EXPECT_LE(volumes[3], volumes[narrow]);
  }
  EXPECT_GT(counted, 10u);
}

/// Whether a result is legal, fits, and moves what the simulator counts.
void expectReplays(const Graph &graph, const Result &result, const Options &options) {
  Count volume = 0;
  for (const GroupResult &group : result.groups) {
    ASSERT_EQ(check(graph, group.group), "");
    Replay replay = simulate(graph, group.group, options.rules);
    EXPECT_EQ(replay.error, "") << print(graph, group.group);
    EXPECT_EQ(replay.volume, group.cost.volume) << print(graph, group.group);
    EXPECT_EQ(replay.footprint, group.cost.footprint) << print(graph, group.group);
    EXPECT_LE(replay.footprint, options.buffer);
    volume = add(volume, replay.volume);
  }
  EXPECT_EQ(volume, result.volume);
}

/// Two thousand searches of graphs of any form, with slots that operators share and without: what is found is what the simulator
/// counts, modes nest, and sharing moves no more.
TEST(Search, randomGraphsReplay) {
  Random random(seedOr(53));
  unsigned searches = 0, better = 0, shared = 0;
  while (searches < 2000 && !::testing::Test::HasFailure()) {
    Graph graph = RandomDag(random, 4, 4).run();
    if (graph.operators.empty())
      continue;
    SCOPED_TRACE(writeGraph(graph));
    Options options;
    options.buffer = 4 + random.below(60);
    options.rules.doubleBuffer = random.below(4) == 0;
    SCOPED_TRACE(options.buffer);
    std::vector<Count> volumes;
    for (Fusion fusion : {Fusion::Intra, Fusion::Tangram, Fusion::Flat, Fusion::Two, Fusion::Any}) {
      options.fusion = fusion;
      Result result = search(graph, options);
      ++searches;
      if (result.groups.empty())
        break;
      expectReplays(graph, result, options);
      EXPECT_LE(result.lowerBound, result.volume);
      volumes.push_back(result.volume);
    }
    if (volumes.size() < 5)
      continue;
    EXPECT_LE(volumes[4], volumes[3]);
    for (unsigned narrow : {0, 1, 2})
      EXPECT_LE(volumes[3], volumes[narrow]);
    better += volumes[4] < volumes[0];
    options.sharedSlots = true;
    Result sharing = search(graph, options);
    ++searches;
    expectReplays(graph, sharing, options);
    EXPECT_LE(sharing.volume, volumes[4]);
    shared += sharing.volume < volumes[4];
  }
  EXPECT_GE(better, 50u);
  EXPECT_GE(shared, 5u);
}

/// The cheapest partition of small graphs: every part by itself, with nothing known before.
Count leastPartition(const Graph &graph, const std::vector<std::vector<int>> &partition, Count buffer) {
  Options options;
  options.buffer = buffer;
  Count sum = 0;
  for (const std::vector<int> &part : partition) {
    GroupSearchResult result = searchGroup(graph, part, options, tooLarge, 0, nullptr);
    sum = add(sum, result.best ? result.best->cost.volume : tooLarge);
  }
  return sum;
}

/// Of a chain all partitions are known; the search may not lose one, however small its gain is.
TEST(Search, partitionsOfChains) {
  Random random(29);
  unsigned close = 0;
  for (unsigned round = 0; round < 120; ++round) {
    Graph graph = randomGraph(random, 4, 9);
    const unsigned count = graph.operators.size();
    if (count < 3)
      continue;
    Options options;
    options.buffer = 16 + random.below(120);
    Count expected = tooLarge, second = tooLarge;
    for (unsigned cuts = 0; cuts < 1u << (count - 1); ++cuts) {
      std::vector<std::vector<int>> partition{{0}};
      for (unsigned i = 1; i < count; ++i) {
        if (cuts >> (i - 1) & 1)
          partition.emplace_back();
        partition.back().push_back(i);
      }
      Count volume = leastPartition(graph, partition, options.buffer);
      if (volume < expected)
        std::swap(volume, expected);
      if (volume > expected)
        second = std::min(second, volume);
    }
    Result result = search(graph, options);
    if (expected == tooLarge)
      continue;
    EXPECT_EQ(result.volume, expected) << writeGraph(graph) << options.buffer;
    EXPECT_TRUE(result.proved());
    close += double(expected) * 1.1 > double(second);
  }
  EXPECT_GE(close, 5u); // where a prune that is a tenth too eager would be seen
}

/// What a random legal nest moves is no less than what is proved of all.
TEST(Search, boundsHoldForRandomNests) {
  Random random(31);
  unsigned compared = 0;
  for (unsigned round = 0; round < 60; ++round) {
    // Dimensions of just the same operands are walked together, by convention: let there be none.
    Graph graph = randomGraph(random, 4, 7, /*batched=*/false);
    std::map<Count, Count> volumes; // by footprint, the least
    for (unsigned k = 0; k < 3000; ++k) {
      Group group = randomGroup(random, graph);
      if (!check(graph, group).empty())
        continue;
      GroupCost cost = evaluate(graph, group);
      auto [entry, isNew] = volumes.emplace(cost.footprint, cost.volume);
      entry->second = std::min(entry->second, cost.volume);
    }
    unsigned taken = 0;
    for (auto at = volumes.begin(); at != volumes.end() && taken < 4; ++at, ++taken) {
      GroupSearchResult result = searchAll(graph, at->first);
      ASSERT_TRUE(result.complete && result.best) << writeGraph(graph) << at->first;
      EXPECT_LE(result.best->cost.volume, at->second) << writeGraph(graph) << at->first;
      EXPECT_LE(result.best->cost.footprint, at->first);
      ++compared;
    }
  }
  EXPECT_GE(compared, 100u);
}

/// Whole layers of fourteen operators, on DAT's edge and cloud accelerators: optima proved within 5 %,
/// and with work that half a minute allows many times over.
TEST(Search, wholeLayers) {
  for (ModelSizes sizes : knownModels())
    for (Count buffer : {2097152, 33554432}) {
      Graph graph = layerGraph(sizes);
      Options options;
      options.buffer = buffer;
      options.gap = 0.05;
      Result result = search(graph, options);
      ASSERT_FALSE(result.groups.empty());
      EXPECT_LE(double(result.volume), 1.05 * double(result.lowerBound)) << sizes.name;
      EXPECT_LE(result.footprint, buffer);
      EXPECT_LT(result.nodes, 1'000'000) << sizes.name;
    }
}

/// One batch element at a time, the attention block runs as one group: what it reads, its result, and
/// the four weights sixteen times. The feed-forward network reads its weights thirteen times: more rows
/// do not fit beside their results.
TEST(Search, layerOfBertOnEdge) {
  Graph graph = layerGraph(*findModel("bert"));
  Options options;
  options.buffer = 2097152;
  Result result = search(graph, options);
  EXPECT_TRUE(result.proved());
  const Count activation = 16 * 1024 * 768, square = 768 * 768;
  EXPECT_EQ(result.volume, 3 * activation + 16 * 4 * square + 3 * activation + 13 * 8 * square);
  EXPECT_EQ(result.groups.size(), 2u);
}

/// Layers one after another: the result of one is the input of the next.
Graph stacked(const Graph &layer, unsigned count) {
  Graph graph;
  for (const Dim &dim : layer.dims)
    graph.addDim(dim.name, dim.size);
  for (unsigned at = 0; at < count; ++at)
    for (const Operator &op : layer.operators) {
      auto use = [&](const Operand &operand) {
        const std::string &name = layer.tensors[operand.tensor].name;
        Graph::Use result{name == "X" && at > 0 ? "Y" + std::to_string(at - 1)
                                                : name + std::to_string(at),
                          {}};
        for (int dim : operand.dims)
          result.dims.push_back(layer.dims[dim].name);
        return result;
      };
      std::vector<Graph::Use> inputs;
      for (const Operand &input : op.inputs)
        inputs.push_back(use(input));
      std::vector<std::string> over;
      for (int dim : op.over)
        over.push_back(layer.dims[dim].name);
      graph.add(op.name + std::to_string(at), op.kind, inputs, use(op.output),
                op.kind == Kind::Row ? over : std::vector<std::string>());
    }
  EXPECT_TRUE(graph.finish().empty());
  return graph;
}

/// Six layers, 84 operators: no worse than six times the optimum of one, within the gap.
TEST(Search, stackedLayers) {
  Graph graph = stacked(layerGraph(*findModel("bert")), 6);
  Options options;
  options.buffer = 2097152;
  options.gap = 0.05;
  Result result = search(graph, options);
  ASSERT_FALSE(result.groups.empty());
  EXPECT_LE(double(result.volume), 1.05 * 6 * 174587904);
  EXPECT_LE(result.lowerBound, result.volume);
}

TEST(Search, layersOfOddSizes) {
  for (auto [heads, sequence, hidden, batch, buffer] :
       {std::tuple<Count, Count, Count, Count, Count>{7, 1021, 931, 3, 2097152},
        {1, 127, 127, 1, 2000},
        {13, 1021, 1313, 5, 300007},
        {8, 1, 1024, 1, 65536},
        {3, 7, 21, 1, 100}}) {
    Graph graph = layerGraph(ModelSizes{"odd", heads, sequence, hidden, batch});
    Options options;
    options.buffer = buffer;
    Result result = search(graph, options);
    ASSERT_FALSE(result.groups.empty());
    EXPECT_TRUE(result.proved());
    EXPECT_LT(result.nodes, 3'000'000);
    for (const GroupResult &group : result.groups)
      EXPECT_EQ(check(graph, group.group), "");
  }
}

/// Attention of BERT is fused into the flash schedule: logits, online softmax and values share the
/// queries' and the keys' loops, and nothing between them moves.
TEST(Search, attentionFlashes) {
  Graph graph = attentionGraph(*findModel("bert"), /*softmax=*/true);
  Options options;
  options.buffer = 131072;
  GroupSearchResult result = searchGroup(graph, {3, 4, 5}, options, tooLarge, 0, nullptr);
  ASSERT_TRUE(result.best && result.complete);
  EXPECT_EQ(result.best->cost.volume, 75497472);
  EXPECT_TRUE(isOnline(graph, result.best->group, 1));
  EXPECT_LT(result.nodes, 1'000'000);
}

/// Of a product beyond 64 bits nothing wraps.
TEST(Search, tooLargeStaysTooLarge) {
  Count big = Count(1) << 40;
  EXPECT_EQ(multiply(big, big), tooLarge);
  EXPECT_EQ(add(tooLarge, 1), tooLarge);
  EXPECT_EQ(multiply(tooLarge, 0), 0);
  Graph graph;
  graph.addDim("m", big), graph.addDim("k", big), graph.addDim("n", 4);
  graph.add("C", Kind::Product, {{"A", {"m", "k"}}, {"B", {"k", "n"}}}, {"C", {"m", "n"}});
  std::vector<GraphError> errors = graph.finish();
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].message, "tensor 'A' has more elements than 64 bits can count");
}

} // namespace
