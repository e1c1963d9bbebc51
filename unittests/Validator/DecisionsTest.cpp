//===- DecisionsTest.cpp - mutants of who runs, waits and stages ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that are complete for a CPU or a GPU, each changed in its levels, its
// mapping, its waits and its placements: the validator and the enumeration agree
// on every change.
//
//===----------------------------------------------------------------------===//
#include "fttest/ValidatorTest.h"
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
struct Program {
  const char *name;
  std::string text; // of a graph; empty: an example
  const char *pass; // that completes its schedules; empty: they are complete
  std::vector<Sizes> sizes;
};

class DecisionsTest : public ValidatorTest {
protected:
  static void SetUpTestSuite() { ft::registerAllPasses(); }

  GraphOp make(const Program &program) {
    GraphOp graph = program.text.empty() ? load(program.name, ft::Phase::Schedule) : parse(program.text);
    if (!graph || !*program.pass)
      return graph;
    PassManager pm(&context);
    if (failed(parsePassPipeline(("etdg.graph(" + std::string(program.pass) + ")"), pm)) || failed(pm.run(*module)))
      return {};
    return *module->getOps<GraphOp>().begin();
  }

  struct Count {
    unsigned legal = 0, illegal = 0;
  };
  void judge(GraphOp graph, const Program &program, std::map<std::string, Count> &counts);
};
} // namespace

// Each step reads the one before: at the other end, or at the same place.
static std::string recurrence(const std::string &place) {
  return R"(
!x = tensor<1xf32>
etdg.graph @waits(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.block @r [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[k - 1, )" + place + R"(]} : !x) writes (%ys[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>,
          <dimension = 1, kind = parallel, level = core, mapping = block>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}
)";
}

// Nests that share a loop, or none, of which one needs another's result: on a CPU, on a GPU.
static std::string kernel(unsigned shared, bool isCpu) {
  std::string sync = isCpu ? "cores" : "grid", level = isCpu ? "core" : "grid";
  auto schedule = [&](bool waits) {
    return "schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = " + sync +
           ">, <dimension = 1, kind = parallel, level = " + level + ", mapping = block>]" + (waits ? " before = " + sync : "") +
           "> {\n";
  };
  const std::string buffer = "!etdg.buffer<[T, N], !x>", end = "etdg.yield %y : !x\n} : " + buffer + ", " + buffer;
  return "!x = tensor<1xf32>\netdg.graph @kernel(%xs: " + buffer + ") -> (" + buffer + ", " + buffer + ") {\n" +
         "%as = etdg.buffer : " + buffer + "\n%bs = etdg.buffer : " + buffer + "\n%cs = etdg.buffer : " + buffer +
         "\netdg.kernel shared " + std::to_string(shared) + " {\n" +
         "etdg.block @a [scanl, map] (t, i) in [0, T) x [0, N) reads (%x = %xs[t, i] : !x) writes (%as[t, i]) " + schedule(false) +
         "%y = math.exp %x : !x\n" + end + "\n" +
         "etdg.block @b [scanl, map] (t, i) in [0, T) x [0, N) reads (%x = %xs[t, i] : !x) writes (%bs[t, i]) " + schedule(false) +
         "%y = math.exp %x : !x\n" + end + "\n" +
         "etdg.block @c [scanl, map] (t, i) in [0, T) x [0, N) reads (%x = %as[t, N - 1 - i] : !x) writes (%cs[t, i]) " +
         schedule(true) + "%y = math.exp %x : !x\n" + end + "\n}\netdg.return %bs, %cs : " + buffer + ", " + buffer + "\n}\n";
}

// A step of the cores: what one of them computes, then what all share.
static const char *body = R"(
!x = tensor<1xf32>
etdg.graph @body(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> !etdg.buffer<[T, N], !x>
    attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[T, N], !x>
  %cs = etdg.buffer : !etdg.buffer<[T], !x>
  etdg.block @step [scanl] (t) in [0, T)
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = cores>]> {
    etdg.block @sum [] (t |) reads (%a = %ts[t] : !x, %b = {t = 0: splat 1.0 : f32, t >= 1: %ys[t - 1, 0]} : !x) writes (%cs[t]) {
      %c = arith.addf %a, %b : !x
      etdg.yield %c : !x
    } : !etdg.buffer<[T], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T], !x>
    etdg.block @all [map] (t | i) in [0, N) reads (%x = %xs[i] : !x, %c = %cs[t] : !x) writes (%ys[t, i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>] before = cores> {
      %y = arith.addf %x, %c : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[T], !x>, !etdg.buffer<[T, N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[T, N], !x>
}
)";

void DecisionsTest::judge(GraphOp graph, const Program &program, std::map<std::string, Count> &counts) {
  std::string why;
  EXPECT_TRUE(isAccepted(graph, &why)) << program.name << ": " << why;
  for (const Sizes &sizes : program.sizes)
    EXPECT_EQ(findWrong(graph, sizes), "") << program.name;
  for (const Mutant &mutant : makeMutants(graph)) {
    if (!llvm::is_contained({"level", "mapping", "sync", "placement"}, mutant.kind))
      continue;
    OwningOpRef<ModuleOp> copy = ModuleOp::create(graph.getLoc());
    auto changed = cast<GraphOp>(graph->clone());
    copy->push_back(changed);
    mutant.apply(changed);
    std::string truth, reason;
    for (const Sizes &sizes : program.sizes)
      if (truth.empty())
        truth = findWrong(changed, sizes);
    bool accepted = isAccepted(changed, &reason);
    if (truth.empty() && !accepted)
      if (std::optional<Sizes> shown = sizesOf(reason, changed))
        truth = findWrong(changed, *shown);
    EXPECT_EQ(accepted, truth.empty()) << program.name << ", " << mutant.kind << ": " << mutant.what
                                       << "\n  truth: " << (truth.empty() ? "legal" : truth)
                                       << "\n  validator: " << (accepted ? "legal" : reason);
    ++(truth.empty() ? counts[mutant.kind].legal : counts[mutant.kind].illegal);
  }
}

TEST_F(DecisionsTest, AgreeWithEnumeration) {
  const std::vector<Sizes> steps = {{{"L", 3}, {"N", 3}}, {{"L", 1}, {"N", 2}}, {{"L", 4}, {"N", 1}}, {{"L", 0}, {"N", 2}}};
  const std::vector<Sizes> nests = {{{"T", 2}, {"N", 3}}, {{"T", 3}, {"N", 1}}, {{"T", 1}, {"N", 2}}, {{"T", 0}, {"N", 2}}};
  const std::vector<Sizes> stacked = {{{"N", 2}, {"D", 2}, {"L", 3}}, {{"N", 1}, {"D", 3}, {"L", 2}}, {{"N", 2}, {"D", 1}, {"L", 2}}};
  const std::vector<Sizes> chain = {{{"N", 2}, {"L", 5}}, {{"N", 1}, {"L", 7}}};
  const char *cpu = "etdg-schedule-for-cpu", *gpu = "etdg-schedule-for-gpu{target=sm_90a}";
  const std::vector<Program> programs = {
      {"far", recurrence("N - i - 1"), "", steps},
      {"near", recurrence("i"), "", steps},
      {"shared on cores", kernel(1, /*isCpu=*/true), "", nests},
      {"apart on cores", kernel(0, /*isCpu=*/true), "", nests},
      {"shared on a grid", kernel(1, /*isCpu=*/false), "", nests},
      {"apart on a grid", kernel(0, /*isCpu=*/false), "", nests},
      {"body", body, "", nests},
      {"stacked_rnn", "", cpu, stacked},
      {"stacked_rnn", "", gpu, stacked},
      {"dilated_rnn", "", gpu, chain},
      {"conv1d", "", cpu, chain},
  };
  std::map<std::string, Count> counts;
  for (const Program &program : programs) {
    GraphOp graph = make(program);
    ASSERT_TRUE(graph) << program.name;
    // (Enumeration knows no variants: each is a graph of its own.)
    EXPECT_TRUE(succeeded(forEachChoice(graph, [&](GraphOp chosen) {
      judge(chosen, program, counts);
      return success();
    })));
  }
  for (const char *kind : {"level", "mapping", "sync", "placement"}) {
    Count count = counts[kind];
    printf("  %-10s %4u legal %4u illegal\n", kind, count.legal, count.illegal);
    EXPECT_GE(count.legal, 3u) << kind;
    EXPECT_GE(count.illegal, 3u) << kind;
  }
}
