//===- StoreTest.cpp - boxes to memory, and registers, with planted faults ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Grid.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

using namespace ft::emulate;

namespace {
constexpr uint32_t rows = 5, columns = 24, boxRows = 8, boxColumns = 16, threads = 64;
constexpr uint16_t nothing = 0x7777;

enum class Fault { none, noFence, noBarrier, noWait, waitOfReads, noCommit };
Fault planted = Fault::none;
bool has(Fault fault) { return planted == fault; }

Grid &grid() { return *Grid::current; }
uint32_t tid() { return grid().readRegister(uint32_t(Register::tid)); }
uint64_t shared() { return reinterpret_cast<uint64_t>(grid().sharedMemory()); }

struct Arguments {
  TensorMapData map;
  uint64_t result = 0;
};

void fill(uint32_t add, uint32_t by = threads) {
  for (uint32_t i = tid(); i < boxRows * boxColumns; i += by) {
    uint64_t at = shared() + i * 2;
    grid().access(at, 2, 2, AccessKind::write, 1);
    auto value = uint16_t(i + add);
    std::memcpy(reinterpret_cast<void *>(at), &value, 2);
  }
}

/// Two boxes one after the other through the same shared memory; the second lies over both borders.
void store(void **parameters) {
  const auto &a = *static_cast<const Arguments *>(parameters[0]);
  for (int32_t box : {0, 1}) {
    fill(uint32_t(box) * 1000);
    if (!has(Fault::noFence))
      grid().fenceProxy();
    if (!has(Fault::noBarrier))
      grid().barrier(2);
    if (tid() == 0) {
      int32_t at[] = {box * int32_t(boxColumns), 0};
      grid().storeBox(shared(), a.map, at, 3);
      if (!has(Fault::noCommit))
        grid().commitStores();
      if (!has(Fault::noWait))
        grid().waitForStores(0, /*readsAlone=*/true);
    }
    grid().barrier(4);
  }
  if (tid() != 0)
    return;
  grid().waitForStores(0, has(Fault::waitOfReads));
  grid().access(a.result, 2, 2, AccessKind::read, 5); // of the first box
  grid().access(a.result + 2 * boxColumns, 2, 2, AccessKind::read, 6);
}

class StoreTest : public testing::Test {
protected:
  StoreTest() : sites(20, "site") {
    memories.granule = 2;
    memories.add("the result", result.data(), result.size() * 2, /*isDefined=*/false);
    result.fill(nothing);
    TensorMapData &map = arguments.map;
    map.magic = TensorMapData::isMap;
    map.rank = 2;
    map.elementBytes = 2;
    map.base = arguments.result = reinterpret_cast<uint64_t>(result.data());
    map.extents[0] = columns;
    map.extents[1] = rows;
    map.strides[0] = columns * 2;
    map.box[0] = boxColumns;
    map.box[1] = boxRows;
  }
  ~StoreTest() override { planted = Fault::none; }

  std::string run(Kernel kernel, uint32_t count, uint64_t seed) {
    Grid grid(memories, sites, seed);
    Shape shape;
    shape.block[0] = count;
    shape.sharedBytes = 1024;
    void *parameters[] = {&arguments};
    return grid.run("test", kernel, shape, parameters);
  }
  void expectError(std::initializer_list<const char *> kinds, Kernel kernel, uint32_t count) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      std::string error = run(kernel, count, seed);
      bool found = std::any_of(kinds.begin(), kinds.end(), [&](const char *kind) { return error.find(kind) != error.npos; });
      EXPECT_TRUE(found) << "fault " << int(planted) << ", expected " << *kinds.begin() << ", found " << error;
    }
  }
  void expectFault(Fault fault, std::initializer_list<const char *> kinds) {
    planted = fault;
    expectError(kinds, store, threads);
  }

  Memories memories;
  std::vector<std::string> sites;
  alignas(256) std::array<uint16_t, rows * columns> result{};
  Arguments arguments;
};
} // namespace

TEST_F(StoreTest, BoxesOverABorder) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    ASSERT_EQ(run(store, threads, seed), "");
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t c = 0; c < columns; ++c)
        ASSERT_EQ(result[r * columns + c], c / boxColumns * 1000 + r * boxColumns + c % boxColumns) << r << ", " << c;
  }
}

TEST_F(StoreTest, Faults) {
  expectFault(Fault::noFence, {"(E9) reads shared memory"});
  expectFault(Fault::noBarrier, {"(E3) reads shared memory", "(E2)"});
  expectFault(Fault::noWait, {"(E3) writes shared memory"});
  expectFault(Fault::waitOfReads, {"(E3) reads the result", "(E2)"});
  expectFault(Fault::noCommit, {"(E3) writes shared memory"});
}

TEST_F(StoreTest, ABlockThatEndsWhileItIsRead) {
  expectError({"(E10) ends, and has not waited until its copies have read"}, [](void **p) {
    fill(0, 1);
    grid().fenceProxy();
    int32_t at[] = {0, 0};
    grid().storeBox(shared(), static_cast<const Arguments *>(p[0])->map, at, 1);
    grid().commitStores();
  }, 1);
}

namespace {
/// A group gives registers back, two others ask for more.
template <uint32_t loader, uint32_t computers>
void budget(void **) {
  bool loads = tid() < 128;
  grid().setRegisters(loads ? loader : computers, !loads, 1);
}
} // namespace

TEST_F(StoreTest, RegistersOfABlock) {
  EXPECT_EQ(run(budget<24, 240>, 384, 1), "");
  EXPECT_EQ(run(budget<32, 160>, 512, 2), "");
  expectError({"(E12) waits for 256 registers, and has 168"}, budget<40, 256>, 384);
  expectError({"(E12) asks for 30 registers"}, budget<30, 240>, 384);
  expectError({"(E12) decreases its registers to 200, and has 168"}, budget<200, 168>, 384);
}
