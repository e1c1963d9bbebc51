//===- MachineTest.cpp - the model of machines ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Machine/Machine.h"
#include "ft/Machine/TilesLeft.h"

#include "llvm/ADT/ScopeExit.h"
#include "gtest/gtest.h"
#include <cstdlib>

using mlir::ft::Machine;
using llvm::StringRef;

static const char text[] = R"({"name": "toy", "kind": "cpu", "targets": ["cpu"], "source": "none",
  "unit": {"name": "core", "count": 3},
  "memory": [{"level": "l1", "bytes": 100, "line_bytes": 32, "unit_read_bytes_per_second": 8},
             {"level": "l2", "bytes": 1000, "shared": true, "unit_read_bytes_per_second": 4},
             {"level": "device", "unit_read_bytes_per_second": 1}],
  "unit_rates": {"f32_product_flop_per_second_by_rows": [1, 2, 3, 6, 5, 6],
                 "f32_elementwise_per_second": 2, "f32_elementary_per_second": 1},
  "sync_seconds": {"launch": 1, "barrier": 2, "leaf_call": 3},
  "planning": {"most_rows": 64, "row_bytes": 10,
               "panel_rows": 24, "panel_rows_in_line": 64, "block_terms": 32, "typical_rows": 8, "turn_rows": 24,
               "turn_few_rows": 4, "widen_rows": 16, "widen_columns": 16, "outlined_work": 2048, "adjacent_gain": 40,
               "strided_read_loss": 80, "strided_write_loss": 160, "reduced_loss": 8, "long_loop": 16, "strided_lanes": 16,
               "beside_in_sums": 4, "square_rows": 16, "fused_ops": 96, "written_out_terms": 8, "least_columns": 4, "least_work": 64, "operand_registers": 8, "least_square": 4, "column_bytes": 256, "column_tiles": 4, "column_rows": 1024,
               "thread_tasks": 4, "least_launches": 4, "column_repeat": 16,
               "plan_gain": 0.97, "compute_intensive": 3, "tie_seconds": 1.01, "tie_bytes": 0.8, "sure_gain": 0.9}})";

static Machine parse(StringRef from = text) {
  llvm::Expected<Machine> machine = Machine::parse(from, "toy.json");
  if (machine)
    return std::move(*machine);
  ADD_FAILURE() << llvm::toString(machine.takeError());
  return {};
}

static std::string replaced(StringRef old, StringRef now) {
  std::string result = text;
  size_t at = result.find(old);
  EXPECT_NE(at, std::string::npos) << old.str();
  return result.replace(at, old.size(), now.str());
}

TEST(Machine, ReadsItsFile) {
  Machine machine = parse();
  EXPECT_EQ(machine.units, 3u);
  EXPECT_EQ(machine.sync.barrier, 2);
  EXPECT_EQ(machine.cpu.rowBytes, 10);
  EXPECT_EQ(machine.levelFor(100).name, "l1");
  EXPECT_EQ(machine.levelFor(101).name, "l2");
  EXPECT_TRUE(machine.levelFor(101).shared);
  EXPECT_EQ(machine.levelFor(1e9).name, "device");
  EXPECT_TRUE(machine.serves("cpu"));
  EXPECT_FALSE(machine.serves("sm_80"));
}

TEST(Machine, HitsAPartOfACacheThatIsTooSmall) {
  Machine machine = parse();
  auto expect = [&](double bytes, unsigned level, double rate) {
    Machine::Source source = machine.sourceFor(bytes);
    EXPECT_EQ(source.level, level) << bytes;
    EXPECT_DOUBLE_EQ(source.bytesPerSecond, rate) << bytes;
  };
  expect(100, 0, 8);
  expect(150, 1, 4);
  expect(1000, 1, 4);
  // Three quarters of the time at 4, one at 1: 1 / (0.75 / 4 + 0.25 / 1).
  expect(1250, 1, 1 / 0.4375);
  expect(1750, 2, 1 / 0.8125);
  expect(2000, 2, 1);
  expect(1e9, 2, 1);
}

TEST(Machine, TakesRowsApartAsTheLeavesDo) {
  Machine machine = parse();
  using Tiles = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;
  EXPECT_EQ(machine.tilesOf(1), (Tiles{{1, 1}}));
  EXPECT_EQ(machine.tilesOf(3), (Tiles{{2, 1}, {1, 1}}));
  EXPECT_EQ(machine.tilesOf(5), (Tiles{{4, 1}, {1, 1}}));
  EXPECT_EQ(machine.tilesOf(7), (Tiles{{6, 1}, {1, 1}}));
  // 4 + 4, not 6 + 2; and 6 + 4 + 4.
  EXPECT_EQ(machine.tilesOf(8), (Tiles{{4, 2}}));
  EXPECT_EQ(machine.tilesOf(14), (Tiles{{6, 1}, {4, 2}}));
  EXPECT_EQ(machine.tilesOf(18), (Tiles{{6, 3}}));
  EXPECT_EQ(machine.tilesOf(0), (Tiles{{1, 1}}));
  EXPECT_DOUBLE_EQ(machine.tileFlops(4), 6);
}

TEST(Machine, CutsRowsByItsRates) {
  using Rests = llvm::SmallVector<int64_t, 4>;
  using Tiles = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;
  auto cut = [](StringRef rates) { return parse(replaced("[1, 2, 3, 6, 5, 6]", rates)); };
  mlir::ft::RowTiles six = parse().rowTiles();
  EXPECT_EQ(six.rows, 6);
  EXPECT_EQ(six.rests, (Rests{4, 2, 1}));
  EXPECT_EQ(six.join, 2);
  // Two tiles of four rows take 8/3, one of six and one of two 2.
  EXPECT_EQ(cut("[1, 2, 3, 3, 5, 6]").rowTiles().join, 0);
  EXPECT_EQ(cut("[1, 2, 3, 3, 5, 6]").tilesOf(8), (Tiles{{6, 1}, {2, 1}}));
  // Five, and three that are left, are 1 + 1 + 1; two tiles of four 4/3.
  EXPECT_EQ(cut("[1, 2, 3, 6, 5]").rowTiles().join, 3);
  EXPECT_EQ(cut("[1, 2, 3, 6, 5]").tilesOf(13), (Tiles{{5, 1}, {4, 2}}));
  // Seven rows leave one: 7/7 + 1 and 4/3.
  EXPECT_EQ(cut("[1, 2, 3, 6, 5, 6, 7]").rowTiles().join, 1);
  EXPECT_EQ(cut("[1, 2, 3, 6]").rowTiles().rests, (Rests{2, 1}));
  EXPECT_EQ(cut("[1, 2, 3, 6]").rowTiles().join, 0);
  EXPECT_EQ(cut("[1, 2, 3, 6]").tilesOf(7), (Tiles{{4, 1}, {2, 1}, {1, 1}}));
  EXPECT_EQ(cut("[1]").tilesOf(3), (Tiles{{1, 3}}));
}

TEST(Machine, HasLinesWhereOneLevelSaysSo) {
  EXPECT_EQ(parse().lineBytes(), 32);
  EXPECT_EQ((*Machine::find("h200"))->lineBytes(), 128);
  llvm::Expected<Machine> machine = Machine::parse(replaced("\"line_bytes\": 32, ", ""), "toy.json");
  ASSERT_FALSE(bool(machine));
  EXPECT_EQ(llvm::toString(machine.takeError()),
            "toy.json:3:13: error: 'memory': expected 'line_bytes' of the nearest level whose lines are known, found none");
}

TEST(Machine, NamesWhatIsWrongAndWhere) {
  auto errors = [](const std::string &wrong) {
    llvm::Expected<Machine> machine = Machine::parse(wrong, "toy.json");
    return machine ? std::string("none") : llvm::toString(machine.takeError());
  };
  EXPECT_EQ(errors(replaced(", \"barrier\": 2", "")), "toy.json:8:19: error: missing field 'sync_seconds.barrier'");
  EXPECT_EQ(errors(replaced("\"barrier\": 2", "\"barrier\": 0")),
            "toy.json:8:44: error: 'sync_seconds.barrier': expected a positive number, found 0");
  EXPECT_EQ(errors(replaced("\"bytes\": 1000", "\"bytes\": -1")),
            "toy.json:4:39: error: 'memory[1].bytes': expected a positive number, found -1");
  EXPECT_EQ(errors(replaced("\"bytes\": 1000", "\"bytes\": 10.5")),
            "toy.json:4:39: error: 'memory[1].bytes': expected a whole number of at most 1125899906842624, found 10.50");
  EXPECT_NE(errors(replaced("\"count\": 3", "\"count\": 3, \"cuont\": 3")).find("toy.json:2:40: error: unknown field 'unit.cuont'"),
            std::string::npos);
  EXPECT_EQ(errors(replaced("[1, 2, 3, 6, 5, 6]", "[]")),
            "toy.json:6:57: error: 'unit_rates.f32_product_flop_per_second_by_rows': expected at least one, found an empty list");
  EXPECT_EQ(errors(replaced("\"kind\": \"cpu\"", "\"kind\": \"fpga\"")),
            "toy.json:1:25: error: 'kind': expected \"cpu\", \"gpu\" or \"array\", found \"fpga\"");
  EXPECT_EQ(errors(replaced("\"shared\": true", "\"shared\": 1")),
            "toy.json:4:55: error: 'memory[1].shared': expected true or false, found a number");
  EXPECT_EQ(errors(replaced("\"most_rows\": 64", "\"most_rows\": 1073741825")),
            "toy.json:9:29: error: 'planning.most_rows': expected a whole number of at most 1073741824, found 1073741825");
  // Fields that are right one by one, and not together.
  EXPECT_EQ(errors(replaced("\"bytes\": 1000", "\"bytes\": 99")),
            "toy.json:4:39: error: 'memory[1].bytes': expected no less than the 100 of 'l1', which is nearer, found 99");
  EXPECT_EQ(errors(replaced("\"l2\"", "\"l1\"")),
            "toy.json:4:24: error: 'memory[1].level': expected a name that no level before it has, found 'l1'");
  EXPECT_EQ(errors(replaced("\"most_rows\": 64", "\"most_rows\": 5")),
            "toy.json:6:57: error: 'unit_rates.f32_product_flop_per_second_by_rows': expected at most 5 (planning.most_rows, the rows of a "
            "call: a tile has no more), found 6");
  EXPECT_NE(errors(replaced("\"sure_gain\": 0.9", "\"sure_gain\": 1.5")).find("'planning.sure_gain': expected at most 1 (it is a share), found 1.5"),
            std::string::npos);
  for (StringRef share : {"\"plan_gain\": 0.97", "\"tie_bytes\": 0.8"})
    EXPECT_NE(errors(replaced(share, (share.split(':').first + ": 1.5").str())).find("expected at most 1 (it is a share), found 1.5"), std::string::npos)
        << share.str();
  EXPECT_NE(errors(replaced("\"plan_gain\": 0.97, ", "")).find("missing field 'planning.plan_gain'"), std::string::npos);
  // Without a source of its own, or of an object around it, each number is an error.
  std::string sourceless = errors(replaced(", \"source\": \"none\"", ""));
  EXPECT_NE(sourceless.find("'unit.count' has no source"), std::string::npos) << sourceless;
  EXPECT_NE(sourceless.find("'planning.sure_gain' has no source"), std::string::npos) << sourceless;
  EXPECT_NE(sourceless.find("'memory[0].bytes' has no source"), std::string::npos) << sourceless;
  EXPECT_EQ(errors(replaced("\"launch\": 1", "\"source\": {\"lunch\": \"x\"}, \"launch\": 1")),
            "toy.json:8:31: error: a source of 'sync_seconds.lunch', which is not here");
  EXPECT_EQ(errors("[]"), "toy.json:1:1: error: expected an object, found a list");
}

TEST(Machine, HasLinksBetweenRanks) {
  EXPECT_TRUE(parse().links.empty());
  const std::string message = R"({"seconds": 2, "bytes_per_second": 8})";
  const std::string link = R"("links": [{"ranks": 2, "send": {"seconds": 3, "captured_seconds": 1, "bytes_per_second": 4}, "all_gather": )" +
                           message + R"(, "all_reduce": )" + message + "}],\n  ";
  Machine machine = parse(replaced("\"sync_seconds\"", link + "\"sync_seconds\""));
  ASSERT_EQ(machine.links.size(), 1u);
  EXPECT_EQ(machine.links[0].ranks, 2);
  EXPECT_EQ(machine.links[0].send.capturedSeconds, 1);
  EXPECT_EQ(machine.links[0].send.bytesPerSecond, 4);
  EXPECT_EQ(machine.links[0].allReduce.capturedSeconds, 0);
  EXPECT_EQ(machine.links[0].allReduce.seconds, 2);
}

TEST(Machine, SourcesMayBeGivenFieldByField) {
  parse(replaced("\"launch\": 1, \"barrier\": 2, \"leaf_call\": 3",
                 "\"source\": {\"launch\": \"a\", \"barrier\": \"b\"}, \"launch\": 1, \"barrier\": 2, \"leaf_call\": 3"));
}

TEST(Machine, TheBuiltInOnesAreWhole) {
  for (StringRef name : Machine::builtinNames()) {
    llvm::Expected<std::shared_ptr<const Machine>> machine = Machine::find(name);
    ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
    EXPECT_GE((*machine)->levels.size(), 2u) << name.str();
    EXPECT_EQ((*machine)->reference, name);
  }
  EXPECT_EQ(Machine::cpuDefault().unit.productFlopsByRows.size(), 6u);
  EXPECT_EQ(Machine::forTarget("sm_80")->units, 108u);
  EXPECT_EQ(Machine::forTarget("sm_90a")->units, 132u);
  EXPECT_EQ(Machine::forTarget("x86-64-v3").get(), Machine::forTarget("cpu").get());
  EXPECT_EQ(Machine::forTarget("sm_10"), nullptr);
}

TEST(Machine, IsFoundByNameFileAndKind) {
  // The built-in machines, whatever folder this run has been given.
  const char *given = std::getenv("FT_MACHINES");
  std::string folder = given ? given : "";
  unsetenv("FT_MACHINES");
  llvm::scope_exit restore([&] {
    if (!folder.empty())
      setenv("FT_MACHINES", folder.c_str(), /*overwrite=*/1);
  });
  auto fails = [](auto &&machine) {
    bool failed = !machine;
    std::string what = failed ? llvm::toString(machine.takeError()) : "";
    return what;
  };
  EXPECT_EQ(fails(Machine::find("/nowhere/cpu.json")),
            "can't read the machine file '/nowhere/cpu.json': No such file or directory");
  EXPECT_EQ(fails(Machine::find("h100")),
            "no machine 'h100': expected a100, cloud, cpu, edge, h200, or the path of a file");
  // (A folder that was named before this test may have given the machine: only its path differs.)
  EXPECT_TRUE(StringRef(fails(Machine::find("h200", Machine::Kind::CPU)))
                  .ends_with("h200.json: expected a machine of kind 'cpu', found one of kind 'gpu'"));
}

TEST(Machine, TilesLeft) {
  using namespace mlir::ft;
  Machine toy = parse(); // a launch takes as long as 6 FLOP
  EXPECT_EQ(tilesLeft({/*points=*/2, /*flops=*/18, /*elements=*/100}, toy), 6);
  EXPECT_EQ(tilesLeft({2, 18, 2}, toy), 4);
  EXPECT_EQ(tilesLeft({2, 3, 100}, toy), 2);
  // 128 rows for each of three cores, two calls; or a third of the columns, once, for all rows.
  EXPECT_EQ(sharedReadSeconds({384, 18, 1, 3000}, toy), 6000);
  EXPECT_EQ(sharedReadSeconds({384, 18, 10, 3000}, toy), 1000);
  // What the second cache keeps is not cut; what is not shared costs nothing.
  EXPECT_EQ(sharedReadSeconds({384, 18, 10, 400}, toy), 200);
  EXPECT_EQ(sharedReadSeconds({384, 18, 10, 0}, toy), 0);
  // Few rows are read for while cores compute.
  EXPECT_EQ(sharedReadSeconds({3, 600, 1, 3000}, toy), 2900);
  EXPECT_EQ(sharedReadSeconds({3, 60000, 1, 3000}, toy), 0);
  // On a GPU nothing is specified for it.
  EXPECT_EQ(sharedReadSeconds({384, 18, 1, 3000}, **Machine::find("h200")), 0);
}

TEST(Machine, SharesOfPlans) {
  mlir::ft::CpuPlanning planning = parse().cpu;
  EXPECT_EQ(planning.planGain, 0.97);
  EXPECT_EQ(planning.tieSeconds, 1.01);
  EXPECT_EQ(planning.tieBytes, 0.8);
}

TEST(Machine, AheadSeconds) {
  EXPECT_EQ(parse().cpu.aheadSeconds, 0);
  EXPECT_EQ(parse(replaced("\"sure_gain\": 0.9", "\"sure_gain\": 0.9, \"ahead_seconds\": 0.5")).cpu.aheadSeconds, 0.5);
}
