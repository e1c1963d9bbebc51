//===- CpuMachineTest.cpp - the machine model of a CPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Machine/CpuMachine.h"

#include "gtest/gtest.h"

using mlir::ft::CpuMachine;

static const char text[] = R"({"name": "toy", "cores": 3,
  "memory": [{"level": "l1", "bytes": 100, "read_bytes_per_second": 8},
             {"level": "l2", "bytes": 1000, "shared": true, "read_bytes_per_second": 4},
             {"level": "device", "read_bytes_per_second": 1}],
  "units": {"f32_product_flop_per_second_by_rows": [1, 2, 3, 6, 5, 6],
            "f32_elementwise_per_second": 2, "f32_elementary_per_second": 1},
  "sync_seconds": {"launch": 1, "barrier": 2, "leaf_call": 3}})";

TEST(CpuMachine, ReadsItsFile) {
  llvm::Expected<CpuMachine> machine = CpuMachine::parse(text);
  ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
  EXPECT_EQ(machine->cores, 3u);
  EXPECT_EQ(machine->barrierSeconds, 2);
  EXPECT_EQ(machine->levelFor(100).name, "l1");
  EXPECT_EQ(machine->levelFor(101).name, "l2");
  EXPECT_TRUE(machine->levelFor(101).shared);
  EXPECT_EQ(machine->levelFor(1e9).name, "device");
}

TEST(CpuMachine, HitsAPartOfACacheThatIsTooSmall) {
  llvm::Expected<CpuMachine> machine = CpuMachine::parse(text);
  ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
  auto expect = [&](double bytes, unsigned level, double rate) {
    CpuMachine::Source source = machine->sourceFor(bytes);
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

TEST(CpuMachine, TakesRowsApartAsTheLeavesDo) {
  llvm::Expected<CpuMachine> machine = CpuMachine::parse(text);
  ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
  using Tiles = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;
  EXPECT_EQ(machine->tilesOf(1), (Tiles{{1, 1}}));
  EXPECT_EQ(machine->tilesOf(3), (Tiles{{2, 1}, {1, 1}}));
  EXPECT_EQ(machine->tilesOf(5), (Tiles{{4, 1}, {1, 1}}));
  EXPECT_EQ(machine->tilesOf(7), (Tiles{{6, 1}, {1, 1}}));
  // 4 + 4, not 6 + 2; and 6 + 4 + 4.
  EXPECT_EQ(machine->tilesOf(8), (Tiles{{4, 2}}));
  EXPECT_EQ(machine->tilesOf(14), (Tiles{{6, 1}, {4, 2}}));
  EXPECT_EQ(machine->tilesOf(18), (Tiles{{6, 3}}));
  EXPECT_EQ(machine->tilesOf(0), (Tiles{{1, 1}}));
  EXPECT_DOUBLE_EQ(machine->tileFlops(4), 6);
}

TEST(CpuMachine, RefusesWhatIsNotOne) {
  for (llvm::StringRef wrong :
       {"[]", "{", R"({"cores": 0})", R"({"cores": 1})",
        R"({"cores": 1, "memory": [], "units": {}, "sync_seconds": {}})",
        R"({"cores": 1, "memory": [{"level": "device", "read_bytes_per_second": -1}], "units": {}, "sync_seconds": {}})",
        R"({"cores": 1, "memory": [{"level": "device", "read_bytes_per_second": 1}],
            "units": {"f32_product_flop_per_second_by_rows": [0]}, "sync_seconds": {}})"}) {
    llvm::Expected<CpuMachine> machine = CpuMachine::parse(wrong);
    EXPECT_FALSE(bool(machine)) << wrong.str();
    if (!machine)
      llvm::consumeError(machine.takeError());
  }
  llvm::Expected<CpuMachine> missing = CpuMachine::load("/nowhere/cpu.json");
  EXPECT_FALSE(bool(missing));
  llvm::consumeError(missing.takeError());
}

TEST(CpuMachine, TheBuiltInOneIsWhole) {
  const CpuMachine &machine = CpuMachine::builtin();
  EXPECT_GE(machine.cores, 1u);
  EXPECT_GE(machine.levels.size(), 2u);
  EXPECT_EQ(machine.productFlopsByRows.size(), 6u);
}
