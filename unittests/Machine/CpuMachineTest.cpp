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

TEST(CpuMachine, TakesRowsApartAsTheLeavesDo) {
  llvm::Expected<CpuMachine> machine = CpuMachine::parse(text);
  ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
  EXPECT_DOUBLE_EQ(machine->productFlops(1), 1);
  EXPECT_DOUBLE_EQ(machine->productFlops(6), 6);
  // 7 = 6 + 1: 6/6 + 1/1 seconds for a FLOP a row.
  EXPECT_DOUBLE_EQ(machine->productFlops(7), 3.5);
  // 8 = 4 + 4 takes 8/6, 6 + 2 takes 6/6 + 2/2.
  EXPECT_DOUBLE_EQ(machine->productFlops(8), 6);
  // 9 = 6 + 3: 6/6 + 3/3.
  EXPECT_DOUBLE_EQ(machine->productFlops(9), 4.5);
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
