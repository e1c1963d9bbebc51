//===- SearchTest.cpp - the exact search against brute force --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomPlans.h"
#include "ft/Dataflow/Models.h"
#include "ft/Dataflow/Search.h"
#include "gtest/gtest.h"

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// The least traffic of one group over every plan there is: all orders, shared loops, tiles and hold
/// depths, nothing left out and nothing clever.
class BruteForce {
public:
  BruteForce(const Graph &graph, Count buffer) : graph(graph), buffer(buffer) {}

  Count run() {
    place(0);
    return best;
  }

private:
  void place(unsigned i) {
    if (i == graph.operators.size()) {
      if (!check(graph, group).empty())
        return;
      GroupCost cost = evaluate(graph, group);
      if (cost.footprint <= buffer)
        best = std::min(best, cost.volume);
      return;
    }
    const Operator &op = graph.operators[i];
    OpPlan plan;
    plan.op = i;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      plan.order.push_back(d);
    do {
      plan.tiles.assign(op.dims.size(), 1);
      tiles(i, plan, 0);
    } while (std::next_permutation(plan.order.begin(), plan.order.end()));
  }

  void tiles(unsigned i, OpPlan &plan, unsigned d) {
    const Operator &op = graph.operators[i];
    if (d == op.dims.size()) {
      plan.holds.assign(op.numOperands(), 0);
      return holds(i, plan, 0);
    }
    for (Count tile = 1; tile <= graph.size(op, d); ++tile) {
      plan.tiles[d] = tile;
      tiles(i, plan, d + 1);
    }
  }

  void holds(unsigned i, OpPlan &plan, unsigned k) {
    const Operator &op = graph.operators[i];
    if (k == op.numOperands())
      return shared(i, plan);
    const Tensor &tensor = graph.tensors[op.operand(k).tensor];
    bool inside = k < op.inputs.size() ? tensor.producer >= 0 : !tensor.consumers.empty();
    for (unsigned depth = inside ? plan.order.size() : 0; depth <= plan.order.size(); ++depth) {
      // Inside a loop over another dimension the block is the one outside of it.
      if (!inside && depth > 0 && !(op.mask(k) >> plan.order[depth - 1] & 1))
        continue;
      plan.holds[k] = depth;
      holds(i, plan, k + 1);
    }
  }

  void shared(unsigned i, OpPlan &plan) {
    plan.shared = 0;
    for (;;) {
      group.ops.push_back(plan);
      place(i + 1);
      group.ops.pop_back();
      if (i == 0)
        return;
      const OpPlan &before = group.ops.back();
      const Operator &op = graph.operators[i], &other = graph.operators[i - 1];
      if (plan.shared == std::min(plan.order.size(), before.order.size()))
        return;
      unsigned a = before.order[plan.shared], b = plan.order[plan.shared];
      if (other.dims[a] != op.dims[b] || before.tiles[a] != plan.tiles[b])
        return;
      ++plan.shared;
    }
  }

  const Graph &graph;
  Count buffer, best = tooLarge;
  Group group;
};

Count searched(const Graph &graph, Count buffer) {
  std::vector<int> ops;
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    ops.push_back(i);
  Options options;
  options.buffer = buffer;
  GroupSearchResult result = searchGroup(graph, ops, options, tooLarge, 0, nullptr);
  EXPECT_TRUE(result.complete);
  if (!result.best)
    return tooLarge;
  EXPECT_EQ(check(graph, result.best->group), "");
  EXPECT_LE(result.best->cost.footprint, buffer);
  EXPECT_EQ(result.lowerBound, result.best->cost.volume);
  Replay replay = simulate(graph, result.best->group);
  EXPECT_EQ(replay.error, "");
  EXPECT_EQ(replay.volume, result.best->cost.volume);
  EXPECT_EQ(replay.footprint, result.best->cost.footprint);
  return result.best->cost.volume;
}

void expectOptimum(const Graph &graph, Count buffer) {
  Count expected = BruteForce(graph, buffer).run(), found = searched(graph, buffer);
  EXPECT_EQ(found, expected) << "buffer " << buffer;
}

Graph product(Count m, Count k, Count n) {
  Graph graph;
  graph.addDim("m", m), graph.addDim("k", k), graph.addDim("n", n);
  graph.add("C", Kind::Product, {{"A", {"m", "k"}}, {"B", {"k", "n"}}}, {"C", {"m", "n"}});
  graph.finish();
  return graph;
}

TEST(Search, oneProduct) {
  for (auto [m, k, n] : {std::tuple<Count, Count, Count>{4, 5, 3}, {7, 2, 5}, {1, 6, 4}, {5, 5, 5}})
    for (Count buffer : {3, 5, 7, 10, 14, 20, 33, 50, 80})
      expectOptimum(product(m, k, n), buffer);
}

/// Every buffer in turn: structures whose optima are near each other change places.
TEST(Search, oneProductInEveryBuffer) {
  for (auto [m, k, n] : {std::tuple<Count, Count, Count>{6, 5, 4}, {4, 7, 3}})
    for (Count buffer = 3; buffer < 40; ++buffer)
      expectOptimum(product(m, k, n), buffer);
}

TEST(Search, oneRowOperator) {
  Graph graph;
  graph.addDim("n", 4), graph.addDim("m", 6);
  graph.add("P", Kind::Row, {{"S", {"n", "m"}}}, {"P", {"n", "m"}}, {"m"});
  graph.finish();
  for (Count buffer : {3, 4, 5, 9, 13, 14, 15, 30})
    expectOptimum(graph, buffer);
}

TEST(Search, backToBackProducts) {
  Graph graph;
  graph.addDim("m", 2), graph.addDim("k", 2), graph.addDim("l", 3), graph.addDim("n", 2);
  graph.add("C", Kind::Product, {{"A", {"m", "k"}}, {"B", {"k", "l"}}}, {"C", {"m", "l"}});
  graph.add("E", Kind::Product, {{"C", {"m", "l"}}, {"D", {"l", "n"}}}, {"E", {"m", "n"}});
  graph.finish();
  for (Count buffer : {3, 5, 7, 9, 12})
    expectOptimum(graph, buffer);
}

TEST(Search, softmaxBetweenProducts) {
  Graph graph;
  graph.addDim("n", 2), graph.addDim("m", 2), graph.addDim("q", 1), graph.addDim("d", 1);
  graph.add("S", Kind::Product, {{"Q", {"n", "q"}}, {"K", {"m", "q"}}}, {"S", {"n", "m"}});
  graph.add("P", Kind::Row, {{"S", {"n", "m"}}}, {"P", {"n", "m"}}, {"m"});
  graph.add("A", Kind::Product, {{"P", {"n", "m"}}, {"V", {"m", "d"}}}, {"A", {"n", "d"}});
  graph.finish();
  for (Count buffer : {4, 6})
    expectOptimum(graph, buffer);
}

TEST(Search, randomPairs) {
  Random random(5);
  for (unsigned round = 0; round < 10; ++round) {
    Graph graph = randomGraph(random, 2, 2);
    if (graph.dims.size() > 4)
      continue;
    expectOptimum(graph, 3 + random.below(12));
  }
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
