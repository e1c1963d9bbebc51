//===- Hooks.cpp - what emulated kernels call -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the C calling convention around the grid that runs, and the
// conversions that processors leave to a library.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"
#include "Instrument.h"

#include "ft/Runtime/Arrays/Float16.h"

#include <bit>
#include <cmath>

using namespace ft::emulate;

namespace {
void look(void *pointer, uint32_t bytes, uint32_t alignment, uint32_t kind, uint32_t site) {
  Grid::current->access(reinterpret_cast<uint64_t>(pointer), bytes, alignment, AccessKind(kind), site);
}
uint32_t readRegister(uint32_t which) { return Grid::current->readRegister(which); }
void *sharedMemory() { return Grid::current->sharedMemory(); }
void barrier(uint32_t site) { Grid::current->barrier(site); }
uint32_t shuffle(uint32_t mode, uint32_t mask, uint32_t value, uint32_t by, uint32_t clamp, uint32_t site) {
  return Grid::current->shuffle(ShuffleMode(mode), mask, value, by, clamp, site);
}
void gridBarrier(uint32_t *counter, uint32_t step, uint32_t site) {
  Grid::current->gridBarrier(counter, step, site);
}
void copyAsync(void *to, const void *from, uint32_t bytes, uint32_t read, uint32_t site) {
  Grid::current->copyAsync(static_cast<char *>(to), static_cast<const char *>(from), bytes, read, site);
}
void commitCopies() { Grid::current->commitCopies(); }
void waitForCopies(uint32_t groups) { Grid::current->waitForCopies(groups); }
void loadMatrix(void *pointer, uint32_t count, uint32_t transposed, uint32_t *words, uint32_t site) {
  Grid::current->loadMatrix(reinterpret_cast<uint64_t>(pointer), count, transposed != 0, words, site);
}
void multiplyMatrices(const uint32_t *words, uint32_t isBrain, float *sums, uint32_t site) {
  Grid::current->multiplyMatrices(words, isBrain != 0, sums, site);
}
uint64_t addressOf(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
void namedBarrier(uint32_t id, uint32_t count, uint32_t waits, uint32_t site) { Grid::current->namedBarrier(id, count, waits != 0, site); }
uint32_t elect(uint32_t mask, uint32_t site) { return Grid::current->elect(mask, site); }
void waitForLaunches() { Grid::current->waitForLaunches(); }
void fenceProxy(uint32_t space) { Grid::current->fenceProxy(ProxySpace(space)); }
void fenceBarriers() { Grid::current->fenceBarriers(); }
void initBarrier(void *barrier, uint32_t count, uint32_t site) { Grid::current->initBarrier(addressOf(barrier), count, site); }
void arrive(void *barrier, uint32_t count, uint32_t site) { Grid::current->arrive(addressOf(barrier), count, site); }
void expectBytes(void *barrier, uint32_t bytes, uint32_t site) { Grid::current->expectBytes(addressOf(barrier), bytes, site); }
void arriveAndExpect(void *barrier, uint32_t bytes, uint32_t site) {
  expectBytes(barrier, bytes, site);
  arrive(barrier, 1, site);
}
void waitForPhase(void *barrier, uint32_t parity, uint32_t site) { Grid::current->waitForPhase(addressOf(barrier), parity, site); }
void copyBox(void *to, const void *map, uint32_t rank, const int32_t *coordinates, void *barrier, uint32_t site) {
  const auto &data = *static_cast<const TensorMapData *>(map);
  if (data.magic == TensorMapData::isMap && data.rank != rank)
    Grid::current->fail("(E1) copies a box of " + std::to_string(rank) + " dimensions, the tensor map has " + std::to_string(data.rank), site);
  Grid::current->copyBox(addressOf(to), data, coordinates, addressOf(barrier), site);
}
void storeBox(void *from, const void *map, uint32_t rank, const int32_t *coordinates, uint32_t site) {
  const auto &data = *static_cast<const TensorMapData *>(map);
  if (data.magic == TensorMapData::isMap && data.rank != rank)
    Grid::current->fail("(E1) copies a box of " + std::to_string(rank) + " dimensions, the tensor map has " + std::to_string(data.rank), site);
  Grid::current->storeBox(addressOf(from), data, coordinates, site);
}
void commitStores() { Grid::current->commitStores(); }
void waitForStores(uint32_t groups, uint32_t readsAlone) { Grid::current->waitForStores(groups, readsAlone != 0); }
void setRegisters(uint32_t count, uint32_t isIncrease, uint32_t site) { Grid::current->setRegisters(count, isIncrease != 0, site); }
void fenceProduct() { Grid::current->fenceProduct(); }
void commitProducts() { Grid::current->commitProducts(); }
void waitForProducts(uint32_t groups) { Grid::current->waitForProducts(groups); }
uint32_t startProduct(uint64_t left, uint64_t right, uint32_t columns, uint32_t flags, float *sums, uint32_t site) {
  ProductForm form{columns, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
  return Grid::current->startProduct(left, nullptr, right, form, sums, site);
}
uint32_t startProductOfRegisters(const uint32_t *left, uint64_t right, uint32_t columns, uint32_t flags, float *sums, uint32_t site) {
  ProductForm form{columns, (flags & 1) != 0, false, (flags & 4) != 0};
  return Grid::current->startProduct(0, left, right, form, sums, site);
}
void readSums(uint32_t group, uint32_t site) { Grid::current->readSums(group, site); }
const TileOperation &tileOperation(uint32_t number) { return Grid::current->tileOperation(number); }
int64_t runTile(uint32_t op, const uint64_t *words) {
  return Grid::current->tiles().run(*Grid::current, tileOperation(op), words);
}
int64_t countOfTile(uint32_t op) { return Grid::current->tiles().count(*Grid::current, tileOperation(op)); }
int64_t placeInTile(uint32_t op, int64_t number) {
  return Grid::current->tiles().place(*Grid::current, tileOperation(op), number);
}
int64_t termOfTile(uint32_t op, int64_t row, int64_t number) {
  return Grid::current->tiles().term(*Grid::current, tileOperation(op), row, number);
}
uint64_t getOfTile(uint32_t op, int64_t tile, int64_t position) {
  return Grid::current->tiles().get(*Grid::current, tileOperation(op), tile, position);
}
void putIntoTile(int64_t tile, int64_t position, uint64_t word) { Grid::current->tiles().put(tile, position, word); }
void putRowOfTile(uint32_t op, int64_t tile, int64_t row, uint64_t word) {
  Grid::current->tiles().putRow(tileOperation(op), tile, row, word);
}
void joinTile(uint32_t op) { Grid::current->tiles().join(*Grid::current, tileOperation(op)); }
int64_t countOfRows(uint32_t op) { return Grid::current->tiles().countOfRows(tileOperation(op)); }
int64_t placeInRows(uint32_t op, int64_t points, int64_t number) {
  return Grid::current->tiles().placeInRows(*Grid::current, tileOperation(op), points, number);
}
int64_t slotOfLane(uint32_t op, int64_t number) {
  return Grid::current->tiles().slotOfLane(*Grid::current, tileOperation(op), number);
}
int64_t indexInRows(uint32_t op, int64_t points, int64_t position, int64_t which) {
  return Grid::current->tiles().indexInRows(tileOperation(op), points, position, which);
}
void fetchRows(uint32_t op, const uint64_t *words) { Grid::current->tiles().fetch(*Grid::current, tileOperation(op), words); }
int64_t countOfNest(uint32_t op, int64_t rows, int64_t columns) {
  return tileOperation(op).nest.count(Grid::current->threadInBlock(), rows, columns);
}
int64_t placeInNest(uint32_t op, int64_t salt, int64_t number, int64_t rows, int64_t columns) {
  return tileOperation(op).nest.place(Grid::current->threadInBlock(), uint64_t(salt), number, rows, columns);
}
int64_t indexInNest(uint32_t op, int64_t place, int64_t which, int64_t rows, int64_t columns) {
  return tileOperation(op).nest.index(place, which, rows, columns);
}
int64_t termInNest(int64_t salt, int64_t place, int64_t number, int64_t terms) {
  return TileNest::term(uint64_t(salt), place, number, terms);
}
void accessInNest(uint32_t op, uint64_t address, int64_t lane, int64_t bytes, int64_t width) {
  if ((address - uint64_t(lane * bytes)) % uint64_t(bytes * width) != 0)
    Grid::current->fail("(E8) takes " + std::to_string(width) + " elements at once, which are not aligned", tileOperation(op).site);
}
void copyInNest(uint32_t op, uint64_t to, uint64_t from, int64_t bytes) {
  Grid::current->copyAsync(reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from), uint32_t(bytes), uint32_t(bytes), tileOperation(op).site);
}
void dropTile(int64_t tile) { Grid::current->tiles().drop(*Grid::current, tile); }
void trap(uint32_t site) { Grid::current->fail("traps", site); }

/// The approximate functions of the special function unit, here as exact as floats are.
float reciprocal(float x) { return 1 / x; }
float reciprocalRoot(float x) { return 1 / std::sqrt(x); }
float exponential(float x) { return std::exp2(x); }
float logarithm(float x) { return std::log2(x); }
float tangent(float x) { return std::tanh(x); }
float root(float x) { return std::sqrt(x); }

/// Numbers of 16 bits come and go in the low bits of a vector register, as a float does.
float packed(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
float toHalf(float x) { return packed(ft::rt::floatToHalf(x)); }
float doubleToHalf(double x) { return packed(ft::rt::doubleToHalf(x)); }
float fromHalf(float x) { return ft::rt::halfToFloat(uint16_t(std::bit_cast<uint32_t>(x))); }
float toBrain(float x) { return packed(ft::rt::floatToBfloat(x)); }
float doubleToBrain(double x) { return packed(ft::rt::doubleToBfloat(x)); }

template <class F>
void *address(F *function) {
  return reinterpret_cast<void *>(function);
}
} // namespace

const std::vector<std::pair<const char *, void *>> ft::emulate::hooks = {
    {"ft_emulate_access", address(look)},
    {"ft_emulate_register", address(readRegister)},
    {"ft_emulate_shared", address(sharedMemory)},
    {"ft_emulate_barrier", address(barrier)},
    {"ft_emulate_shuffle", address(shuffle)},
    {"ft_emulate_grid_barrier", address(gridBarrier)},
    {"ft_emulate_copy_async", address(copyAsync)},
    {"ft_emulate_copy_commit", address(commitCopies)},
    {"ft_emulate_copy_wait", address(waitForCopies)},
    {"ft_emulate_load_matrix", address(loadMatrix)},
    {"ft_emulate_multiply_matrices", address(multiplyMatrices)},
    {"ft_emulate_named_barrier", address(namedBarrier)},
    {"ft_emulate_elect", address(elect)},
    {"ft_emulate_wait_for_launches", address(waitForLaunches)},
    {"ft_emulate_fence_proxy", address(fenceProxy)},
    {"ft_emulate_fence_barriers", address(fenceBarriers)},
    {"ft_emulate_init_barrier", address(initBarrier)},
    {"ft_emulate_arrive", address(arrive)},
    {"ft_emulate_expect_bytes", address(expectBytes)},
    {"ft_emulate_arrive_and_expect", address(arriveAndExpect)},
    {"ft_emulate_wait_for_phase", address(waitForPhase)},
    {"ft_emulate_copy_box", address(copyBox)},
    {"ft_emulate_store_box", address(storeBox)},
    {"ft_emulate_commit_stores", address(commitStores)},
    {"ft_emulate_wait_for_stores", address(waitForStores)},
    {"ft_emulate_set_registers", address(setRegisters)},
    {"ft_emulate_fence_product", address(fenceProduct)},
    {"ft_emulate_commit_products", address(commitProducts)},
    {"ft_emulate_wait_for_products", address(waitForProducts)},
    {"ft_emulate_start_product", address(startProduct)},
    {"ft_emulate_start_product_of_registers", address(startProductOfRegisters)},
    {"ft_emulate_read_sums", address(readSums)},
    {"ft_emulate_tile", address(runTile)},
    {"ft_emulate_tile_count", address(countOfTile)},
    {"ft_emulate_tile_place", address(placeInTile)},
    {"ft_emulate_tile_term", address(termOfTile)},
    {"ft_emulate_tile_get", address(getOfTile)},
    {"ft_emulate_tile_put", address(putIntoTile)},
    {"ft_emulate_tile_put_row", address(putRowOfTile)},
    {"ft_emulate_tile_join", address(joinTile)},
    {"ft_emulate_tile_drop", address(dropTile)},
    {"ft_emulate_rows_count", address(countOfRows)},
    {"ft_emulate_rows_place", address(placeInRows)},
    {"ft_emulate_rows_slot", address(slotOfLane)},
    {"ft_emulate_rows_index", address(indexInRows)},
    {"ft_emulate_rows_fetch", address(fetchRows)},
    {"ft_emulate_nest_count", address(countOfNest)},
    {"ft_emulate_nest_place", address(placeInNest)},
    {"ft_emulate_nest_index", address(indexInNest)},
    {"ft_emulate_nest_term", address(termInNest)},
    {"ft_emulate_nest_access", address(accessInNest)},
    {"ft_emulate_nest_copy", address(copyInNest)},
    {"ft_emulate_trap", address(trap)},
    {"ft_emulate_rcp", address(reciprocal)},
    {"ft_emulate_rsqrt", address(reciprocalRoot)},
    {"ft_emulate_ex2", address(exponential)},
    {"ft_emulate_lg2", address(logarithm)},
    {"ft_emulate_tanh", address(tangent)},
    {"ft_emulate_sqrt", address(root)},
    {"__truncsfhf2", address(toHalf)},
    {"__truncdfhf2", address(doubleToHalf)},
    {"__extendhfsf2", address(fromHalf)},
    {"__truncsfbf2", address(toBrain)},
    {"__truncdfbf2", address(doubleToBrain)},
};
