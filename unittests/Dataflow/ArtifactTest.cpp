//===- ArtifactTest.cpp - the records of DAT's public code ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are those of the public code's own unit tests and of the log in
// its README, and optima found by enumerating everything. Times are not tested;
// the work of a search is the number of its nodes, the same in every run.
//
//===----------------------------------------------------------------------===//
#include "ft/Dataflow/Artifact/Artifact.h"
#include "ft/Dataflow/Graph/Models.h"
#include "gtest/gtest.h"

#include <set>

using namespace ft::dataflow;
using namespace ft::dataflow::artifact;

namespace {

const std::vector<std::string> nl{"n", "l"}, lq{"l", "q"}, nq{"n", "q"}, mq{"m", "q"}, nm{"n", "m"};

/// The two products of the unit tests: mul_q and mul_s.
Graph twoProducts() {
  Graph graph;
  for (const char *dim : {"n", "l", "m"})
    graph.addDim(dim, 512);
  graph.addDim("q", 64);
  graph.add("mul_q", Kind::Product, {{"I", nl}, {"Wq", lq}}, {"Q", nq});
  graph.add("mul_s", Kind::Product, {{"Q", nq}, {"K", mq}}, {"S", nm});
  EXPECT_TRUE(graph.finish().empty());
  return graph;
}

Graph twoBatchedProducts() {
  Graph graph;
  for (const char *dim : {"n", "l", "m"})
    graph.addDim(dim, 512);
  graph.addDim("q", 64);
  graph.addDim("b", 8);
  graph.addDim("h", 16);
  graph.add("mul_q", Kind::Product, {{"I", {"n", "l", "b"}}, {"Wq", {"l", "q", "h"}}},
            {"Q", {"n", "q", "b", "h"}});
  graph.add("mul_s", Kind::Product, {{"Q", {"n", "q", "b", "h"}}, {"K", {"m", "q", "b", "h"}}},
            {"S", {"n", "m", "b", "h"}});
  EXPECT_TRUE(graph.finish().empty());
  return graph;
}

/// The schedule of an operator: the dimensions of `order` that it has, innermost first.
OpSchedule scheduleOf(const Graph &graph, int op, std::string_view order,
                      const std::set<std::string> &pinned, auto tileOf) {
  const Operator &what = graph.operators[op];
  OpSchedule schedule{op, {}, std::vector<Count>(what.dims.size()), 0};
  for (char dim : order) {
    int local = what.local(graph.findDim(std::string(1, dim)));
    if (local < 0)
      continue;
    schedule.order.push_back(local);
    schedule.tiles[local] = tileOf(dim);
  }
  for (unsigned k = 0; k < what.numOperands(); ++k)
    if (pinned.count(graph.tensors[what.operand(k).tensor].name))
      schedule.pins |= 1u << k;
  return schedule;
}

struct Golden {
  std::string_view order;
  std::set<std::string> fused;
  Count accesses, volume, footprint;
};

void expectGolden(const Graph &graph, const Golden &golden) {
  auto tileOf = [](char dim) -> Count { return dim == 'b' ? 2 : dim == 'h' ? 4 : 16; };
  Chain chain;
  for (int op : {1, 0})
    chain.ops.push_back(scheduleOf(graph, op, golden.order, golden.fused, tileOf));
  for (OpSchedule &schedule : chain.ops) // Q is fused, no pin
    for (unsigned k = 0; k < 3; ++k)
      if (graph.tensors[graph.operators[schedule.op].operand(k).tensor].name == "Q")
        schedule.pins &= ~(1u << k);
  Cost cost = evaluate(graph, chain);
  EXPECT_EQ(cost.accesses, golden.accesses) << golden.order;
  EXPECT_EQ(cost.volume, golden.volume) << golden.order;
  EXPECT_EQ(cost.footprint, golden.footprint) << golden.order;
}

TEST(Artifact, unitGoldens) {
  const std::set<std::string> q{"Q"}, qi{"Q", "I"}, qis{"Q", "I", "S"};
  const Graph flat = twoProducts(), batched = twoBatchedProducts();
  for (const Golden &golden : std::vector<Golden>{{"lqmn", q, 14336, 3407872, 2048},
                                                  {"qlmn", q, 11264, 2621440, 2048},
                                                  {"mlqn", q, 20480, 4980736, 768},
                                                  {"nlqm", q, 12544, 2949120, 33792},
                                                  {"lqmn", qi, 11264, 2621440, 9984},
                                                  {"qlmn", qi, 11264, 2621440, 2048},
                                                  {"mlqn", qi, 17408, 4194304, 8704},
                                                  {"nlqm", qi, 9472, 2162688, 295680},
                                                  {"lqmn", qis, 10240, 2621440, 9984},
                                                  {"qlmn", qis, 10240, 2621440, 2048},
                                                  {"mlqn", qis, 10240, 2621440, 8704},
                                                  {"nlqm", qis, 2304, 589824, 303616}})
    expectGolden(flat, golden);
  for (const Golden &golden : std::vector<Golden>{{"lqmnbh", q, 229376, 268435456, 13824},
                                                  {"qlmnbh", q, 180224, 243269632, 13824},
                                                  {"mlqnbh", q, 327680, 469762048, 6144},
                                                  {"nlqmbh", q, 200704, 274726912, 267776}})
    expectGolden(batched, golden);
}

Graph bert() { return attentionGraph(*findModel("bert"), /*softmax=*/false); }

Result best(const Graph &graph, Count buffer, Mode mode = Mode::Any) {
  Options options;
  options.buffer = buffer;
  options.mode = mode;
  return search(graph, options);
}

/// The schedule that the README's log records: logits output-stationary, attention
/// input-stationary with keys and values pinned, projections output-stationary.
TEST(Artifact, bertRecord) {
  Graph graph = bert();
  auto tile = [&](char dim) -> Count {
    return dim == 'n' ? 32 : dim == 'm' ? 1024 : dim == 'b' || dim == 'h' ? 1 : 16;
  };
  const int a = 4, s = 3;
  Chain attention{{scheduleOf(graph, a, "dmnbh", {"V"}, tile),
                   scheduleOf(graph, s, "qmnbh", {"K"}, tile)}};
  ASSERT_TRUE(tilesAgree(graph, attention));
  Cost cost = evaluate(graph, attention);
  EXPECT_EQ(cost.volume, 50331648);
  EXPECT_EQ(cost.accesses, 75264);
  EXPECT_EQ(cost.footprint, 98816);
  EXPECT_EQ(cost.time, 2 * 13369344);
  Cost total = cost;
  Count operations = 2 * graph.points(graph.operators[s]);
  for (int projection : {0, 1, 2}) {
    auto tiles = [&](char dim) -> Count {
      return dim == 'n' || dim == 'm'   ? 256
             : dim == 'q' || dim == 'd' ? 64
             : dim == 'h'               ? 6
             : dim == 'b'               ? 1
                                        : 16;
    };
    const std::string_view orders[] = {"lbhnq", "kbhmq", "pbhmd"};
    Chain chain{{scheduleOf(graph, projection, orders[projection], {}, tiles)}};
    Cost single = evaluate(graph, chain);
    EXPECT_EQ(single.volume, 75497472);
    EXPECT_EQ(single.accesses, 12544);
    EXPECT_EQ(single.footprint, 108544);
    EXPECT_EQ(single.time, 9510912);
    total = total + single;
    operations += graph.points(graph.operators[projection]);
  }
  EXPECT_EQ(total.volume, 276824064);
  EXPECT_EQ(total.time, 55271424);
  EXPECT_EQ(operations, 54760833024);
}

TEST(Artifact, bertOptimum) {
  Graph graph = bert();
  Result result = best(graph, 131072);
  EXPECT_TRUE(result.proved());
  EXPECT_EQ(result.total.volume, 276824064);
  ASSERT_EQ(result.fused.size(), 1u);
  EXPECT_EQ(graph.tensors[result.fused[0]].name, "S");
  // No schedule with this traffic takes more time than the record needs.
  EXPECT_LE(result.total.time, 55271424);
  ASSERT_EQ(result.chains.size(), 4u);
  for (int projection : {0, 1, 2}) {
    const Cost &cost = result.chains[projection].cost;
    EXPECT_EQ(cost.volume, 75497472);
    EXPECT_EQ(cost.accesses, 12544);
    EXPECT_EQ(cost.footprint, 108544);
    EXPECT_EQ(cost.time, 9510912);
  }
  EXPECT_EQ(result.chains[3].cost.volume, 50331648);
  // The work that proves it (75 seconds when everything was enumerated).
  EXPECT_LT(result.nodes, 10'000'000);
  EXPECT_EQ(best(graph, 131072, Mode::Intra).total.volume, 679477248);
}

TEST(Artifact, bertOptimumAtTwoMegabytes) {
  Graph graph = bert();
  Options options;
  options.buffer = 2097152;
  const int q = 0, k = 1, s = 3, a = 4;
  auto chain = [&](const std::vector<int> &ops) {
    ChainSearchResult result = searchChain(graph, ops, options);
    EXPECT_TRUE(result.complete && result.best);
    return result.best->cost.volume;
  };
  const Count projection = chain({k});
  EXPECT_EQ(projection, 25755648);
  EXPECT_EQ(chain({s, a}) + 3 * projection, 127598592);
  EXPECT_EQ(chain({q, s, a}) + 2 * projection, 102432768);
  EXPECT_EQ(chain({q, k, s, a}) + projection, 77266944);
  EXPECT_EQ(best(graph, 2097152, Mode::Two).total.volume, 127598592);
  Result all = best(graph, 2097152);
  EXPECT_TRUE(all.proved());
  EXPECT_EQ(all.total.volume, 52101120);
  EXPECT_EQ(all.fused.size(), 4u);
  EXPECT_LT(all.nodes, 20'000'000);
  EXPECT_EQ(best(graph, 2097152, Mode::Intra).total.volume, 530251776);
}

TEST(Artifact, gptOptimum) {
  Graph graph = attentionGraph(*findModel("gpt"), false);
  Result result = best(graph, 131072);
  EXPECT_TRUE(result.proved());
  EXPECT_EQ(result.total.volume, 603979776);
  ASSERT_EQ(result.chains.size(), 4u);
  for (const ChainResult &chain : result.chains)
    EXPECT_EQ(chain.cost.volume, 150994944);
  EXPECT_EQ(best(graph, 131072, Mode::Intra).total.volume, 2214592512);
}

/// What is known before must not hide an optimum, however near it is; nor is anything better.
TEST(Artifact, cutoffsHideNothing) {
  Graph graph = bert();
  const int q = 0, k = 1, s = 3, a = 4;
  for (Count buffer : {16384, 131072, 2097152})
    for (const std::vector<int> &ops : std::vector<std::vector<int>>{{k}, {s}, {s, a}, {q, s}, {q, s, a}}) {
      Options options;
      options.buffer = buffer;
      ChainSearchResult first = searchChain(graph, ops, options);
      ASSERT_TRUE(first.complete);
      if (!first.best)
        continue;
      Cost cutoff = first.best->cost;
      cutoff.volume += 1;
      ChainSearchResult again = searchChain(graph, ops, options, &cutoff);
      ASSERT_TRUE(again.best) << "lost below a cutoff, buffer " << buffer;
      EXPECT_EQ(again.best->cost.volume, first.best->cost.volume);
      cutoff.volume -= 1;
      EXPECT_FALSE(searchChain(graph, ops, options, &cutoff).best);
    }
}

/// LLaMA2 at 64K is proved, too, and with less work than ten seconds allow.
TEST(Artifact, llamaAt64K) {
  ModelSizes sizes = *findModel("llama2");
  sizes.sequence = 65536;
  Result result = best(attentionGraph(sizes, false), 2097152);
  EXPECT_TRUE(result.proved());
  EXPECT_EQ(result.total.volume, 193273528320);
  EXPECT_LT(result.nodes, 40'000'000);
}

/// The public tests' optima of one instance, each product alone.
TEST(Artifact, oneInstance) {
  ModelSizes sizes{"instance", 1, 512, 512, 1};
  Graph graph = attentionGraph(sizes, false);
  for (Dim &dim : graph.dims)
    if (dim.name == "q" || dim.name == "d")
      dim.size = 64;
  ASSERT_TRUE(graph.finish().empty());
  auto volume = [&](Count buffer, Mode mode) {
    Options options;
    options.buffer = buffer;
    options.mode = mode;
    options.minTile = 1; // these tests have no least tile
    Result result = search(graph, options);
    EXPECT_TRUE(result.proved());
    return result.total.volume;
  };
  EXPECT_EQ(volume(10240, Mode::Intra), 2129920);
  EXPECT_EQ(volume(102400, Mode::Intra), 1638400);
}

/// Wider fusion never moves more.
TEST(Artifact, modesNest) {
  for (Count buffer : {16384, 131072, 2097152}) {
    Graph graph = bert();
    Count any = best(graph, buffer).total.volume, two = best(graph, buffer, Mode::Two).total.volume;
    EXPECT_LE(any, two);
    for (Mode mode : {Mode::Intra, Mode::Tangram, Mode::Flat})
      EXPECT_LE(two, best(graph, buffer, mode).total.volume);
  }
}

TEST(Artifact, tooSmallABuffer) {
  Result result = best(bert(), 700);
  EXPECT_TRUE(result.chains.empty());
  EXPECT_GE(result.misfit, 0);
  EXPECT_EQ(result.needed, 3 * 256);
}

/// Fig. 5's bookkeeping at fixed tiles: A 512×768, B 768×64, D 64×512; 12 heads, 16 batches; elements
/// of one byte, a gigabyte of 10⁹ bytes; 16 tiles of M, 2 of L.
TEST(Artifact, figure5) {
  Graph graph;
  for (auto [dim, size] : {std::pair<const char *, Count>{"M", 512}, {"K", 768}, {"L", 64}, {"N", 512}})
    graph.addDim(dim, size);
  graph.add("mm1", Kind::Product, {{"A", {"M", "K"}}, {"B", {"K", "L"}}}, {"C", {"M", "L"}});
  graph.add("mm2", Kind::Product, {{"C", {"M", "L"}}, {"D", {"L", "N"}}}, {"E", {"M", "N"}});
  ASSERT_TRUE(graph.finish().empty());
  Count tileL = 32;
  auto tile = [&](char dim) -> Count { return dim == 'L' ? tileL : dim == 'K' ? 16 : 32; };
  auto gigabytes = [&](const Chain &chain) {
    return double(evaluate(graph, chain).volume) * 12 * 16 / 1e9;
  };
  // OS: K innermost. IS: N innermost, C stationary.
  OpSchedule outputStationary = scheduleOf(graph, 0, "KLM", {}, tile);
  OpSchedule inputStationary = scheduleOf(graph, 1, "NLM", {}, tile);
  double unfused = gigabytes(Chain{{outputStationary}}) + gigabytes(Chain{{inputStationary}});
  EXPECT_NEAR(unfused, 0.5662, 5e-5);
  EXPECT_NEAR(gigabytes(Chain{{inputStationary, outputStationary}}), 0.5536, 5e-5);
  // DAT: IS-IS with one tile of L in mm2.
  tileL = 64;
  OpSchedule wide = scheduleOf(graph, 1, "NLM", {}, tile);
  tileL = 32;
  OpSchedule narrow = scheduleOf(graph, 0, "LKM", {}, tile);
  EXPECT_NEAR(gigabytes(Chain{{wide, narrow}}), 0.3775, 5e-5);
}

} // namespace
