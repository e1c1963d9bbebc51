//===- EmulatorTest.cpp - threads, barriers and races, by hand ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels written as functions of the host, with a fault of each kind and without.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace ft::emulate;

namespace {
/// What a kernel of these tests gets, by its first argument.
struct Arguments {
  int32_t *data = nullptr;
  uint32_t *counter = nullptr;
  std::vector<uint32_t> order; // of threads, as they run
};

Grid &grid() { return *Grid::current; }
uint32_t tid() { return grid().readRegister(uint32_t(Register::tid)); }
uint32_t ctaid() { return grid().readRegister(uint32_t(Register::ctaid)); }
uint32_t ntid() { return grid().readRegister(uint32_t(Register::ntid)); }
uint32_t nctaid() { return grid().readRegister(uint32_t(Register::nctaid)); }

int32_t load(int32_t *p, uint32_t site = 0) {
  grid().access(reinterpret_cast<uint64_t>(p), 4, 4, AccessKind::read, site);
  return *p;
}
void store(int32_t *p, int32_t value, uint32_t site = 1) {
  grid().access(reinterpret_cast<uint64_t>(p), 4, 4, AccessKind::write, site);
  *p = value;
}
int32_t *shared() { return static_cast<int32_t *>(grid().sharedMemory()); }
/// The barrier of a grid as kernels write it: block 0 adds what the others leave to 2^31.
void gridBarrier(Arguments &a, bool front = true, bool back = true) {
  if (front)
    grid().barrier(2);
  if (tid() == 0)
    grid().gridBarrier(a.counter, ctaid() == 0 ? 0x80000000u - (nctaid() - 1) : 1, 3);
  if (back)
    grid().barrier(4);
}

class EmulatorTest : public testing::Test {
protected:
  EmulatorTest() : sites(10, "site") {
    memories.granule = 4;
    memory = &memories.add("the array", data.data(), data.size() * 4, /*isDefined=*/false);
    memories.add("the counter", &counter, 4, /*isDefined=*/true);
    arguments.data = data.data();
    arguments.counter = &counter;
  }

  /// The error of a kernel, or nothing.
  std::string run(Kernel kernel, uint32_t blocks, uint32_t threads, bool cooperative = false, uint64_t seed = 0,
                  uint32_t sharedBytes = 1024) {
    Grid grid(memories, sites, seed);
    Shape shape;
    shape.grid[0] = blocks;
    shape.block[0] = threads;
    shape.cooperative = cooperative;
    shape.sharedBytes = sharedBytes;
    void *pointer = &arguments;
    void *parameters[] = {pointer};
    arguments.order.clear();
    return grid.run("test", kernel, shape, parameters);
  }
  /// Every seed must give an error that begins so.
  void expectError(const std::string &what, Kernel kernel, uint32_t blocks, uint32_t threads, bool cooperative = false) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      counter = 0;
      std::string error = run(kernel, blocks, threads, cooperative, seed);
      EXPECT_NE(error.find(what), std::string::npos) << "expected " << what << ", found " << error;
    }
  }
  void expectNone(Kernel kernel, uint32_t blocks, uint32_t threads, bool cooperative = false) {
    for (uint64_t seed = 0; seed < 6; ++seed)
      EXPECT_EQ(run(kernel, blocks, threads, cooperative, seed), "");
  }

  Memories memories;
  std::vector<std::string> sites;
  alignas(256) uint32_t counter = 0;
  alignas(256) std::array<int32_t, 4096> data{};
  alignas(256) std::array<int32_t, 64> behind{}; // what is no one's
  Memory *memory = nullptr;
  Arguments arguments;
};

Arguments &of(void **parameters) { return *static_cast<Arguments *>(parameters[0]); }

/// Each thread's number through shared memory, reversed in the block.
template <bool withBarrier>
void reverse(void **parameters) {
  store(shared() + tid(), int32_t(tid()));
  if (withBarrier)
    grid().barrier(2);
  store(of(parameters).data + ctaid() * ntid() + tid(), load(shared() + ntid() - 1 - tid()));
}
} // namespace

TEST_F(EmulatorTest, BarriersOrderABlock) {
  expectNone(reverse<true>, 7, 64);
  for (int i = 0; i < 7 * 64; ++i)
    EXPECT_EQ(data[size_t(i)], 63 - i % 64);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    std::string error = run(reverse<false>, 2, 64, false, seed);
    // What comes first decides what it looks like.
    EXPECT_TRUE(error.find("(E3)") != error.npos || error.find("(E2)") != error.npos) << error;
    EXPECT_NE(error.find("shared memory of block"), error.npos) << error;
  }
}

TEST_F(EmulatorTest, RunsInManyOrders) {
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(run([](void **p) { of(p).order.push_back(ctaid() * ntid() + tid()); }, 3, 8, false, seed), "");
    std::vector<uint32_t> sorted = arguments.order, all(24);
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all); // each thread once
    orders.insert(arguments.order);
  }
  EXPECT_EQ(orders.size(), 8u);
  std::vector<uint32_t> before = arguments.order;
  run([](void **p) { of(p).order.push_back(ctaid() * ntid() + tid()); }, 3, 8, false, 7);
  EXPECT_EQ(arguments.order, before); // a seed's order is its own
}

TEST_F(EmulatorTest, Races) {
  expectError("(E3) writes the array", [](void **p) { store(of(p).data, 1); }, 1, 2);
  expectError("(E3) writes the array", [](void **p) { store(of(p).data, 1); }, 2, 1);
  // Two blocks have no barrier in common.
  expectError("(E3)", [](void **p) {
    if (ctaid() == 0)
      store(of(p).data + tid(), 1);
    grid().barrier(2);
    if (ctaid() == 1)
      store(of(p).data + tid(), 2);
  }, 2, 32);
  memory->setDefined(true);
  // Many readers, then one who writes, in the same block and in another.
  expectError("(E3)", [](void **p) {
    load(of(p).data);
    if (tid() == 5)
      store(of(p).data, 1);
  }, 1, 32);
  expectError("(E3)", [](void **p) {
    load(of(p).data);
    grid().barrier(2);
    if (tid() == 5 && ctaid() == 1)
      store(of(p).data, 1);
  }, 3, 32);
  // One who writes and one who reads, whichever comes first: in the same block, in another.
  expectError("(E3)", [](void **p) {
    if (tid() == 0)
      store(of(p).data, 1);
    else
      load(of(p).data);
  }, 1, 2);
  expectError("(E3)", [](void **p) {
    if (ctaid() == 0)
      store(of(p).data, 1);
    else
      load(of(p).data);
  }, 2, 1);
  // No race: readers, a barrier, one writer, a barrier, readers.
  expectNone([](void **p) {
    load(of(p).data);
    grid().barrier(2);
    if (tid() == 5)
      store(of(p).data, 1);
    grid().barrier(3);
    load(of(p).data);
  }, 1, 32);
  // The launch before is over.
  expectNone([](void **p) { store(of(p).data + tid() + ctaid() * ntid(), 1); }, 4, 32);
  expectNone([](void **p) { store(of(p).data + 127 - tid() - ctaid() * ntid(), 1); }, 4, 32);
}

TEST_F(EmulatorTest, MemoryFaults) {
  expectError("(E2) reads the array + 40 of 16384 bytes", [](void **p) { load(of(p).data + 10); }, 1, 1);
  expectError("(E1) accesses 4 bytes outside all memory, at the array + 16384", [](void **p) { store(of(p).data + 4096, 1); }, 1, 1);
  expectError("(E1)", [](void **) { store(shared() + 256, 1); }, 2, 1);
  expectError("(E2)", [](void **) { load(shared()); }, 1, 1);
  expectError("(E1) accesses the array + 4 of 16384 bytes, which is not aligned to 16 bytes", [](void **p) {
    grid().access(reinterpret_cast<uint64_t>(of(p).data + 1), 16, 16, AccessKind::write, 0);
  }, 1, 1);
  static const int32_t constant[4] = {};
  memories.add("a constant", constant, 16, true, /*isConstant=*/true);
  expectNone([](void **) { load(const_cast<int32_t *>(constant)); }, 2, 32);
  expectError("(E1) writes to a constant", [](void **) { store(const_cast<int32_t *>(constant), 1); }, 1, 1);
}

TEST_F(EmulatorTest, BarriersThatNotAllReach) {
  expectError("(E4)", [](void **) {
    if (tid() != 3)
      grid().barrier(2);
  }, 1, 32);
  expectError("(E4) waits at another barrier", [](void **) { grid().barrier(tid() == 3 ? 2 : 5); }, 1, 32);
  expectNone([](void **) {
    for (uint32_t i = 0; i < 5 + ctaid(); ++i) // blocks may differ
      grid().barrier(2);
  }, 3, 32);
}

TEST_F(EmulatorTest, Shuffles) {
  // Sums of warps by exchange; the same place of the code each time.
  expectNone([](void **p) {
    uint32_t sum = tid();
    for (uint32_t mask = 16; mask; mask /= 2)
      sum += grid().shuffle(ShuffleMode::bfly, ~0u, sum, mask, 31, 6);
    store(of(p).data + ctaid() * ntid() + tid(), int32_t(sum));
  }, 2, 64);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(data[size_t(i)], i % 64 < 32 ? 496 : 1520) << i;
  expectNone([](void **p) {
    uint32_t up = grid().shuffle(ShuffleMode::up, ~0u, tid(), 1, 0, 6);
    uint32_t down = grid().shuffle(ShuffleMode::down, ~0u, tid(), 4, 31, 7);
    uint32_t all = grid().shuffle(ShuffleMode::idx, ~0u, tid(), 9, 31, 8);
    store(of(p).data + tid(), int32_t(up * 10000 + down * 100 + all));
  }, 1, 32);
  EXPECT_EQ(data[0], 0 * 10000 + 4 * 100 + 9);
  EXPECT_EQ(data[7], 6 * 10000 + 11 * 100 + 9);
  EXPECT_EQ(data[30], 29 * 10000 + 30 * 100 + 9);
  expectError("(E4)", [](void **) {
    if (tid() != 3)
      grid().shuffle(ShuffleMode::bfly, ~0u, 1, 1, 31, 6);
  }, 1, 32);
  expectError("(E4) shuffles at another place", [](void **) { grid().shuffle(ShuffleMode::bfly, ~0u, 1, 1, 31, tid() == 3 ? 6 : 7); }, 1, 32);
  expectError("(E4) shuffles from a lane that does not take part", [](void **) { grid().shuffle(ShuffleMode::down, ~0u, 1, 8, 31, 6); }, 1, 16);
}

TEST_F(EmulatorTest, TheGridWaits) {
  // A step reads what the other blocks wrote in the step before.
  static constexpr auto steps = [](void **p, bool front, bool back) {
    uint32_t number = ctaid() * ntid() + tid(), all = nctaid() * ntid();
    store(of(p).data + number, int32_t(number));
    for (int step = 0; step < 3; ++step) {
      gridBarrier(of(p), front, back);
      int32_t value = load(of(p).data + step % 2 * 1024 + (number + ntid()) % all);
      store(of(p).data + (step + 1) % 2 * 1024 + number, value);
    }
  };
  expectNone([](void **p) { steps(p, true, true); }, 5, 32, /*cooperative=*/true);
  for (int i = 0; i < 160; ++i)
    EXPECT_EQ(data[size_t(1024 + i)], (i + 96) % 160);
  expectError("(E", [](void **p) { steps(p, false, true); }, 5, 32, true);
  expectError("(E", [](void **p) { steps(p, true, false); }, 5, 32, true);
  // What a thread does while its block has come to the barrier of the grid already is not before it.
  memory->setDefined(true);
  expectError("(E3)", [](void **p) {
    if (ctaid() == 0 && tid() == 1)
      store(of(p).data, 1);
    gridBarrier(of(p), /*front=*/false);
    if (ctaid() == 1)
      load(of(p).data);
  }, 2, 32, true);
  expectNone([](void **p) {
    if (ctaid() == 0 && tid() == 1)
      store(of(p).data, 1);
    gridBarrier(of(p));
    if (ctaid() == 1)
      load(of(p).data);
  }, 2, 32, true);
  expectError("(E5)", [](void **p) { steps(p, true, true); }, 5, 32, /*cooperative=*/false);
  expectError("(E5) waits at a barrier of the grid that never opens", [](void **p) {
    if (ctaid() != 1 && tid() == 0)
      grid().gridBarrier(of(p).counter, ctaid() == 0 ? 0x80000000u - (nctaid() - 1) : 1, 3);
  }, 3, 32, true);
}
