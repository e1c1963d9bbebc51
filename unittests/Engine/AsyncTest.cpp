//===- AsyncTest.cpp - mbarriers, TMA and wgmma, with planted faults ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product as a loader and a warp group that multiplies run it, written as a
// function of the host: right in every order, and with each of its faults found
// in every order, too.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include "ft/Runtime/Arrays/Float16.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

using namespace ft::emulate;

namespace {
constexpr uint32_t rows = 64, columns = 8, slab = 64, steps = 5, slots = 2, group = 128;
constexpr uint32_t leftBytes = rows * slab * 2, rightBytes = columns * slab * 2, slotBytes = leftBytes + rightBytes;
constexpr uint32_t terms = slab * steps - 8; // the last box lies over the border
constexpr uint32_t sharedBytes = slots * slotBytes + 16 * slots;

enum class Fault {
  none,
  noWaitForData,    // the product starts before its operands are there
  noWaitForSpace,   // the loader overwrites a slot in use
  wrongParity,      // of the wait for data
  fewBytes,         // expected
  manyBytes,
  noFenceOfInit,    // the loader's mbarriers are the generic proxy's still
  noBarrierOfInit,
  noProductFence,
  noWaitForProduct, // sums are read while the product is in flight
  earlyRelease,     // of a slot that a product reads
  oneReleases,      // a slot that all warps read
  manyArrivals,
};

struct Arguments {
  Fault fault = Fault::none;
  TensorMapData left, right;
  float *sums = nullptr;
};
Fault planted = Fault::none;
bool has(Fault fault) { return planted == fault; }

Grid &grid() { return *Grid::current; }
uint32_t tid() { return grid().readRegister(uint32_t(Register::tid)); }
uint64_t shared() { return reinterpret_cast<uint64_t>(grid().sharedMemory()); }
uint64_t full(uint32_t slot) { return shared() + slots * slotBytes + 8 * slot; }
uint64_t empty(uint32_t slot) { return full(slot) + 8 * slots; }
Arguments &of(void **parameters) { return *static_cast<Arguments *>(parameters[0]); }

/// PTX's description of a tile of rows of 128 bytes.
uint64_t describe(uint64_t address) {
  constexpr uint64_t stride = 8 * 128, swizzle128 = 1;
  return (address & 0x3ffff) >> 4 | (stride >> 4) << 32 | swizzle128 << 62;
}

void load(Arguments &a) {
  for (uint32_t step = 0; step < steps; ++step) {
    uint32_t slot = step % slots, turn = step / slots;
    if (!has(Fault::noWaitForSpace))
      grid().waitForPhase(empty(slot), (turn & 1) ^ 1, 1);
    uint32_t bytes = slotBytes;
    if (has(Fault::fewBytes))
      bytes -= rightBytes;
    if (has(Fault::manyBytes))
      bytes += 16;
    grid().expectBytes(full(slot), bytes, 2);
    grid().arrive(full(slot), 1, 2);
    int32_t at[] = {int32_t(step * slab), 0};
    grid().copyBox(shared() + slot * slotBytes, a.left, at, full(slot), 3);
    grid().copyBox(shared() + slot * slotBytes + leftBytes, a.right, at, full(slot), 4);
  }
}

/// One step's four products, of 16 terms each.
uint32_t multiply(uint32_t slot, float *sums) {
  uint32_t number = 0;
  if (!has(Fault::noProductFence))
    grid().fenceProduct();
  for (uint32_t k = 0; k < slab; k += 16) {
    uint64_t start = shared() + slot * slotBytes + k * 2;
    ProductForm form;
    form.columns = columns;
    number = grid().startProduct(describe(start), nullptr, describe(start + leftBytes), form, sums, 5);
  }
  grid().commitProducts();
  return number;
}

void compute(Arguments &a) {
  float sums[columns / 2] = {};
  uint32_t lane = tid() % 32, warp = tid() / 32 % 4, last = 0;
  for (uint32_t step = 0; step < steps; ++step) {
    uint32_t slot = step % slots, turn = step / slots;
    if (!has(Fault::noWaitForData))
      grid().waitForPhase(full(slot), (turn & 1) ^ (has(Fault::wrongParity) ? 1 : 0), 6);
    auto release = [&] {
      if (lane == 0 && (warp == 0 || !has(Fault::oneReleases)))
        grid().arrive(empty(slot), has(Fault::manyArrivals) ? 5 : 1, 7);
    };
    if (has(Fault::earlyRelease))
      release();
    last = multiply(slot, sums);
    if (!has(Fault::noWaitForProduct))
      grid().waitForProducts(0);
    if (!has(Fault::earlyRelease))
      release();
  }
  grid().readSums(last, 8);
  for (uint32_t i = 0; i < columns / 2; ++i) {
    float *to = a.sums + (16 * warp + lane / 4 + i / 2 * 8) * columns + lane % 4 * 2 + i % 2;
    grid().access(reinterpret_cast<uint64_t>(to), 4, 4, AccessKind::write, 9);
    *to = sums[i];
  }
}

void product(void **parameters) {
  if (tid() == 0) {
    for (uint32_t slot = 0; slot < slots; ++slot) {
      grid().initBarrier(full(slot), 1, 10);
      grid().initBarrier(empty(slot), has(Fault::oneReleases) ? 1 : 4, 10);
    }
    if (!has(Fault::noFenceOfInit))
      grid().fenceBarriers();
  }
  if (!has(Fault::noBarrierOfInit))
    grid().barrier(11);
  if (tid() >= group)
    return compute(of(parameters));
  if (tid() < 32 && grid().elect(~0u, 12))
    load(of(parameters));
}

class AsyncTest : public testing::Test {
protected:
  AsyncTest() : sites(20, "site"), left(rows * terms), right(columns * terms) {
    memories.granule = 2;
    memories.add("the left operand", left.data(), left.size() * 2, /*isDefined=*/true);
    memories.add("the right operand", right.data(), right.size() * 2, /*isDefined=*/true);
    memories.add("the sums", sums.data(), sums.size() * 4, /*isDefined=*/false);
    for (size_t i = 0; i < left.size(); ++i)
      left[i] = ft::rt::floatToHalf(float(int(i * 7 % 11) - 5));
    for (size_t i = 0; i < right.size(); ++i)
      right[i] = ft::rt::floatToHalf(float(int(i * 5 % 13) - 6));
    arguments.left = describe(left.data(), rows);
    arguments.right = describe(right.data(), columns);
    arguments.sums = sums.data();
  }
  ~AsyncTest() override { planted = Fault::none; }

  static TensorMapData describe(const uint16_t *data, uint32_t lines) {
    TensorMapData map;
    map.magic = TensorMapData::isMap;
    map.rank = 2;
    map.elementBytes = 2;
    map.swizzleBytes = 128;
    map.base = reinterpret_cast<uint64_t>(data);
    map.extents[0] = terms;
    map.extents[1] = lines;
    map.strides[0] = terms * 2;
    map.box[0] = slab;
    map.box[1] = lines;
    return map;
  }

  std::string run(Kernel kernel, uint32_t threads, uint64_t seed) {
    Grid grid(memories, sites, seed);
    Shape shape;
    shape.block[0] = threads;
    shape.sharedBytes = sharedBytes;
    void *parameters[] = {&arguments};
    return grid.run("test", kernel, shape, parameters);
  }
  void expectNone(Kernel kernel, uint32_t threads) {
    for (uint64_t seed = 0; seed < 6; ++seed)
      ASSERT_EQ(run(kernel, threads, seed), "");
  }
  /// Every seed must give an error of one of these kinds.
  void expectError(std::initializer_list<const char *> kinds, Kernel kernel, uint32_t threads) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      std::string error = run(kernel, threads, seed);
      bool found = std::any_of(kinds.begin(), kinds.end(), [&](const char *kind) { return error.find(kind) != error.npos; });
      EXPECT_TRUE(found) << "fault " << int(planted) << ", expected " << *kinds.begin() << ", found " << error;
    }
  }
  void expectFault(Fault fault, std::initializer_list<const char *> kinds) {
    planted = fault;
    expectError(kinds, product, 2 * group);
  }

  Memories memories;
  std::vector<std::string> sites;
  std::vector<uint16_t> left, right;
  alignas(256) std::array<float, rows * columns> sums{};
  Arguments arguments;
};
} // namespace

TEST_F(AsyncTest, ALoaderAndAGroupThatMultiplies) {
  expectNone(product, 2 * group);
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < columns; ++j) {
      float expected = 0;
      for (uint32_t k = 0; k < terms; ++k)
        expected += ft::rt::halfToFloat(left[i * terms + k]) * ft::rt::halfToFloat(right[j * terms + k]);
      ASSERT_EQ(sums[i * columns + j], expected) << i << ", " << j;
    }
}

TEST_F(AsyncTest, FaultsOfWaits) {
  expectFault(Fault::noWaitForData, {"(E3) reads shared memory", "(E2)"});
  expectFault(Fault::wrongParity, {"(E3) reads shared memory", "(E2)", "(E10) waits for phase"});
  expectFault(Fault::noWaitForSpace, {"(E11) writes shared memory", "(E3) writes shared memory", "(E10)"});
  expectFault(Fault::noBarrierOfInit, {"(E10) takes", "(E3) takes an mbarrier"});
}

TEST_F(AsyncTest, BytesAndArrivalsThatDontAddUp) {
  expectFault(Fault::fewBytes, {"(E10)"});
  expectFault(Fault::manyBytes, {"(E10) waits for phase 0 of an mbarrier, which never comes: 0 arrivals and 16 bytes are missing"});
  expectFault(Fault::manyArrivals, {"(E10) arrives at an mbarrier that expects 4 arrivals"});
}

TEST_F(AsyncTest, FaultsOfFences) {
  expectFault(Fault::noFenceOfInit, {"(E9) gives the async proxy an mbarrier"});
  expectFault(Fault::noProductFence, {"(E11) starts a product with no wgmma fence"});
}

TEST_F(AsyncTest, ProductsInFlight) {
  expectFault(Fault::noWaitForProduct, {"(E11) reads sums", "(E11) writes shared memory"});
  // The loader comes first, or the product that has lost its slot.
  expectFault(Fault::earlyRelease, {"(E11) writes shared memory", "(E3) reads shared memory"});
  expectFault(Fault::oneReleases, {"(E11) writes shared memory", "(E3) reads shared memory", "(E10)"});
}

namespace {
/// Both operands in the first slot by the threads themselves.
void fill(uint32_t threads) {
  for (uint64_t at = shared() + tid() * 2; at < shared() + slotBytes; at += threads * 2) {
    grid().access(at, 2, 2, AccessKind::write, 1);
    uint16_t value = ft::rt::floatToHalf(1);
    std::memcpy(reinterpret_cast<void *>(at), &value, 2);
  }
}
template <bool withFence, bool withBarrier>
void productOfStores(void **parameters) {
  fill(group);
  if (withFence)
    grid().fenceProxy();
  if (withBarrier)
    grid().barrier(2);
  float sums[columns / 2] = {};
  grid().readSums(multiply(0, sums) - 1, 3);
  grid().waitForProducts(0);
  for (uint32_t i = 0; i < columns / 2; ++i)
    if (sums[i] != slab)
      grid().fail("is wrong", 4);
  (void)parameters;
}
/// Threads read, or write, what a copy then overwrites.
template <bool writes, bool withFence>
void overwrite(void **parameters) {
  fill(group);
  grid().fenceProxy();
  grid().barrier(1);
  grid().access(shared() + tid() * 2, 2, 2, writes ? AccessKind::write : AccessKind::read, 2);
  if (withFence)
    grid().fenceProxy();
  if (tid() == 0) {
    grid().initBarrier(full(0), 1, 3);
    grid().fenceBarriers();
  }
  grid().barrier(4);
  if (tid() == 0) {
    int32_t at[] = {0, 0};
    grid().expectBytes(full(0), leftBytes, 5);
    grid().arrive(full(0), 1, 5);
    grid().copyBox(shared(), of(parameters).left, at, full(0), 6);
  }
  grid().waitForPhase(full(0), 0, 7);
  grid().access(shared() + tid() * 2, 2, 2, AccessKind::read, 8);
}
} // namespace

TEST_F(AsyncTest, StoresReachTheAsyncProxyAfterAFence) {
  expectNone(productOfStores<true, true>, group);
  expectError({"(E9) reads shared memory"}, productOfStores<false, true>, group);
  expectError({"(E3) reads shared memory", "(E2)"}, productOfStores<true, false>, group);
  expectNone(overwrite<false, false>, group);
  expectNone(overwrite<true, true>, group);
  expectError({"(E9) writes shared memory"}, overwrite<true, false>, group);
}

TEST_F(AsyncTest, ACopyThatNobodyWaitsFor) {
  expectError({"(E10) ends, and no thread of its block has waited for a copy"}, [](void **p) {
    grid().initBarrier(full(0), 1, 1);
    grid().fenceBarriers();
    int32_t at[] = {0, 0};
    grid().expectBytes(full(0), leftBytes, 2);
    grid().arrive(full(0), 1, 2);
    grid().copyBox(shared(), of(p).left, at, full(0), 3);
  }, 1);
}

TEST_F(AsyncTest, PhasesThatHavePassed) {
  // Thread 32 looks when two phases are over, which its parity can't tell from none.
  expectError({"(E10) waits for phase 0 of an mbarrier, which has passed"}, [](void **) {
    if (tid() == 0) {
      grid().initBarrier(full(0), 1, 1);
      grid().initBarrier(full(1), 1, 1);
    }
    grid().barrier(2);
    if (tid() == 0) {
      grid().arrive(full(0), 1, 3);
      grid().arrive(full(0), 1, 3);
    }
    grid().meet(4);
    if (tid() == 32)
      grid().waitForPhase(full(0), 0, 5);
  }, 64);
  expectError({"(E10) waits for phase 0 of an mbarrier, which never comes: 1 arrivals"}, [](void **) {
    if (tid() == 0)
      grid().initBarrier(full(0), 2, 1);
    grid().barrier(2);
    if (tid() < 1)
      grid().arrive(full(0), 1, 3);
    grid().waitForPhase(full(0), 0, 4);
  }, 32);
}

namespace {
/// A group writes and arrives, another one waits and reads; `early` arrives before it writes.
template <uint32_t count, bool early>
void handOver(void **) {
  uint64_t at = shared() + tid() % 64 * 4;
  if (tid() < 64) {
    if (early)
      grid().namedBarrier(1, count, /*waits=*/false, 1);
    grid().access(at, 4, 4, AccessKind::write, 2);
    if (!early)
      grid().namedBarrier(1, count, /*waits=*/false, 1);
  } else {
    grid().namedBarrier(1, 128, /*waits=*/true, 3);
    grid().access(at ^ 4, 4, 4, AccessKind::read, 4);
  }
}
} // namespace

TEST_F(AsyncTest, NamedBarriers) {
  expectNone(handOver<128, false>, 128);
  expectError({"(E3)", "(E2)"}, handOver<128, true>, 128);
  expectError({"(E4) takes barrier 1 for"}, handOver<64, false>, 128);
  expectError({"(E4) waits at barrier 3, which only 32 of 64 threads reach"}, [](void **) { 
    if (tid() < 32)
      grid().namedBarrier(3, 64, true, 1);
  }, 64);
  // Two groups with barriers of their own know nothing of each other.
  expectError({"(E3)", "(E2)"}, [](void **) {
    if (tid() == 0)
      grid().access(shared(), 4, 4, AccessKind::write, 1);
    grid().namedBarrier(1 + tid() / 64, 64, true, 2);
    if (tid() == 127)
      grid().access(shared(), 4, 4, AccessKind::read, 3);
  }, 128);
}

TEST_F(AsyncTest, ReadersOfEachGroupAreKept) {
  // Three groups read; the writer has waited for two of them only.
  expectError({"(E3) writes shared memory"}, [](void **) {
    uint32_t which = tid() / group;
    if (tid() == 0)
      grid().access(shared(), 4, 4, AccessKind::write, 1);
    grid().barrier(2);
    grid().access(shared(), 4, 4, AccessKind::read, 3);
    if (which != 2)
      grid().namedBarrier(1, 2 * group, true, 4);
    if (tid() == 0)
      grid().access(shared(), 4, 4, AccessKind::write, 5);
  }, 3 * group);
}
