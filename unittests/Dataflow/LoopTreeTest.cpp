//===- LoopTreeTest.cpp - the closed form against the simulator -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomPlans.h"
#include "ft/Dataflow/Graph/Models.h"
#include "gtest/gtest.h"

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// Thousands of legal loop nests: what the closed form says is what the simulator counts.
TEST(LoopTree, closedFormIsWhatTheSimulatorCounts) {
  Random random(13);
  unsigned legal = 0, online = 0, swept = 0, shared = 0;
  for (unsigned round = 0; round < 200000 && legal < 6000; ++round) {
    Graph graph = randomGraph(random, 4, 7);
    Group group = randomGroup(random, graph);
    if (!check(graph, group).empty())
      continue;
    ++legal;
    for (bool doubled : {false, true}) {
      Rules rules{doubled};
      GroupCost cost = evaluate(graph, group, rules);
      Replay replay = simulate(graph, group, rules);
      ASSERT_EQ(replay.error, "") << print(graph, group);
      ASSERT_EQ(cost.volume, replay.volume) << print(graph, group);
      ASSERT_EQ(cost.accesses, replay.accesses) << print(graph, group);
      ASSERT_EQ(cost.footprint, replay.footprint) << print(graph, group);
    }
    for (unsigned i = 0; i < group.ops.size(); ++i) {
      online += isOnline(graph, group, i);
      swept += graph.operators[group.ops[i].op].normalizes() && !isOnline(graph, group, i);
      shared += group.ops[i].shared > 1;
    }
  }
  EXPECT_EQ(legal, 6000u);
  EXPECT_GE(online, 50u);
  EXPECT_GE(swept, 50u);
  EXPECT_GE(shared, 500u);
}

/// The same where operators share slots of what they read from outside.
TEST(LoopTree, sharedSlotsReplay) {
  Random random(17);
  unsigned legal = 0, sharing = 0, changing = 0;
  for (unsigned round = 0; round < 400000 && legal < 4000; ++round) {
    Graph graph = randomSharing(random, 6);
    Group group = randomGroup(random, graph);
    shareSlots(random, graph, group);
    if (!check(graph, group).empty())
      continue;
    ++legal;
    for (bool doubled : {false, true}) {
      Rules rules{doubled};
      GroupCost cost = evaluate(graph, group, rules);
      Replay replay = simulate(graph, group, rules);
      ASSERT_EQ(replay.error, "") << print(graph, group);
      ASSERT_EQ(cost.volume, replay.volume) << print(graph, group);
      ASSERT_EQ(cost.accesses, replay.accesses) << print(graph, group);
      ASSERT_EQ(cost.footprint, replay.footprint) << print(graph, group);
      for (const OperandTraffic &operand : cost.operands) {
        sharing += operand.isReused;
        changing += operand.isReused && operand.block < graph.tensors[graph.operators[operand.op].operand(operand.operand).tensor].size();
      }
    }
  }
  EXPECT_EQ(legal, 4000u);
  EXPECT_GE(sharing, 1000u);
  EXPECT_GE(changing, 100u);
}

/// Two products of X's rows: a shared block is read once, and must be the same.
TEST(LoopTree, sharedBlocksAreTheSame) {
  Graph graph;
  for (auto [dim, size] : {std::pair<const char *, Count>{"n", 6}, {"l", 4}, {"q", 3}})
    graph.addDim(dim, size);
  graph.add("P", Kind::Product, {{"X", {"n", "l"}}, {"V", {"l", "q"}}}, {"Y", {"n", "q"}});
  graph.add("Q", Kind::Product, {{"X", {"n", "l"}}, {"W", {"l", "q"}}}, {"Z", {"n", "q"}});
  ASSERT_TRUE(graph.finish().empty());
  // Both: n q l, of which n is shared, in tiles of 2; X in blocks of 2 x 4, the weights held.
  Group group{{OpPlan{0, 0, {0, 1, 2}, {2, 1, 4}, {1, 0, 3}, {1, 0}},
               OpPlan{1, 1, {0, 1, 2}, {2, 1, 4}, {1, 0, 3}, {1, 0}}}};
  ASSERT_EQ(check(graph, group), "");
  GroupCost cost = evaluate(graph, group);
  EXPECT_EQ(cost.volume, 6 * 4 + 2 * 4 * 3 + 2 * 6 * 3);
  EXPECT_EQ(cost.footprint, 2 * 4 + 2 * 4 * 3 + 2 * 1);
  EXPECT_TRUE(cost.operands[3].isReused);
  EXPECT_EQ(cost.operands[3].volume, 0);
  // With slots of their own both read it, and one after another they hold as much.
  for (OpPlan &plan : group.ops)
    plan.slots.clear();
  EXPECT_EQ(evaluate(graph, group).volume, cost.volume + 6 * 4);
  for (OpPlan &plan : group.ops)
    plan.slots = {1, 0};
  // One after another over n, in tiles of 2: the second begins again.
  group.ops[1].shared = 0;
  EXPECT_EQ(check(graph, group), "'P' and 'Q' share a slot for 'X' and hold different blocks of it");
  EXPECT_NE(simulate(graph, group).error, "");
  // Whole it may stay.
  group.ops[0].holds[0] = group.ops[1].holds[0] = 0;
  EXPECT_EQ(check(graph, group), "");
  EXPECT_EQ(evaluate(graph, group).volume, cost.volume);
}

/// What the check refuses goes wrong when it runs: the simulator sees an incomplete tile.
TEST(LoopTree, partialSumsAreNotRead) {
  Graph graph;
  for (auto [dim, size] : {std::pair<const char *, Count>{"m", 4}, {"k", 6}, {"l", 3}})
    graph.addDim(dim, size);
  graph.add("C", Kind::Product, {{"A", {"m", "k"}}, {"B", {"k", "l"}}}, {"C", {"m", "l"}});
  graph.add("E", Kind::Product, {{"C", {"m", "l"}}, {"D", {"k", "l"}}}, {"E", {"m", "k"}});
  ASSERT_TRUE(graph.finish().empty());
  // C: m l k, E: m k l. Both walk m, then k: C's sums over k are not complete.
  Group group{{OpPlan{0, 0, {0, 2, 1}, {2, 3, 2}, {3, 3, 3}},
               OpPlan{1, 2, {0, 1, 2}, {2, 2, 3}, {3, 3, 3}}}};
  EXPECT_EQ(check(graph, group), "'C' is read while 'C' still sums");
  EXPECT_EQ(simulate(graph, group).error, "'C' is read before it is complete");
  group.ops[1].shared = 1;
  EXPECT_EQ(check(graph, group), "");
  EXPECT_EQ(simulate(graph, group).error, "");
}

/// Flash attention by hand: n in tiles of 2, m in tiles of 3, everything else whole.
TEST(LoopTree, flashAttention) {
  Graph graph;
  for (auto [dim, size] : {std::pair<const char *, Count>{"n", 8}, {"m", 9}, {"q", 4}, {"d", 5}})
    graph.addDim(dim, size);
  graph.add("S", Kind::Product, {{"Q", {"n", "q"}}, {"K", {"m", "q"}}}, {"S", {"n", "m"}});
  graph.add("P", Kind::Row, {{"S", {"n", "m"}}}, {"P", {"n", "m"}}, {"m"});
  graph.add("A", Kind::Product, {{"P", {"n", "m"}}, {"V", {"m", "d"}}}, {"A", {"n", "d"}});
  ASSERT_TRUE(graph.finish().empty());
  // S: n m q, P: n m, A: n d m.
  Group group{{OpPlan{0, 0, {0, 1, 2}, {2, 3, 4}, {3, 3, 3}},
               OpPlan{1, 2, {0, 1}, {2, 3}, {2, 2}},
               OpPlan{2, 2, {0, 2, 1}, {2, 5, 3}, {3, 3, 3}}}};
  ASSERT_EQ(check(graph, group), "");
  EXPECT_TRUE(isOnline(graph, group, 1));
  GroupCost cost = evaluate(graph, group);
  // Q and A once, K and V for each of four tiles of n.
  EXPECT_EQ(cost.volume, 8 * 4 + 8 * 5 + 4 * (9 * 4 + 9 * 5));
  // Q, the states of two rows, the tile of S and P, the sums; and the larger of K's and V's tiles.
  EXPECT_EQ(cost.footprint, 2 * 4 + 2 * 2 + 2 * 3 + 2 * 5 + 3 * 5);
  EXPECT_EQ(print(graph, group), "for n in 4 tiles of 2\n"
                                 "  for m in 3 tiles of 3\n"
                                 "    for q in 1 tiles of 4\n"
                                 "      S[n,m] = S(Q[n,q], K[m,q])\n"
                                 "    P[n,m] = P(S[n,m])  online\n"
                                 "    for d in 1 tiles of 5\n"
                                 "      A[n,d] = A(P[n,m], V[m,d])\n");
}

} // namespace
