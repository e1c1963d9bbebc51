//===- ProductPrices.cpp - seconds of products on a GPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a multiply-add takes, each with its share of the operands' way: from the
// cache that all SMs share, to registers. In tiles this leads through
// shared memory, which the threads of a block read together; without them through
// the nearest cache, for each thread anew.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Multiply-adds a second of all SMs, without matrix units.
static double plainRate(const ProductTiles &product, const Machine &machine) {
  const Machine::Rates &rates = machine.rates;
  return (product.sum.isF64() && rates.f64Flops > 0 ? rates.f64Flops : rates.f32Flops) / 2;
}

static double bytesOf(const ProductTiles &product) { return double(std::max(elementBytes(product.lhs), elementBytes(product.rhs))); }

/// Multiply-adds in whose time the common cache gives one element.
static double cacheCost(const ProductTiles &product, const Machine &machine, double rate) {
  const Machine::Level *cache = machine.findLevel("l2");
  return cache && cache->readBytesPerSecond > 0 ? bytesOf(product) * rate / cache->readBytesPerSecond : 0;
}

int64_t schedule::registersBeside(const ProductTiles &product, const Machine &machine, bool fuses) {
  const Machine::GpuPlanning &planning = machine.gpu;
  int64_t operands = usesMatrixUnits(product, machine)
                         ? planning.fragmentRegisters
                         : planning.productRegisters * int64_t(llvm::divideCeil(elementBytes(product.sum), int64_t(sizeof(float))));
  return operands + (fuses ? planning.fusedRegisters : 0);
}

int64_t schedule::registersOfSums(const ProductTiles &product, const Machine &machine, int64_t threads, int64_t resident, bool fuses, bool alone) {
  const Machine::Occupancy &limits = machine.occupancy;
  const int64_t full = machine.gpu.blockThreads.back();
  // Half of those that a thread has where two of the largest blocks share an SM, or one is alone there, which leaves room for anything else.
  // (Registers are given in eights.)
  int64_t blocks = alone ? 1 : 2;
  int64_t always = std::min<int64_t>(limits.registersPerUnit / (blocks * std::max(threads, full)), llvm::alignTo(limits.registersPerThread, 8)) / 2;
  // All threads of a block wait at its barriers: only beside another thread block is it worth having fewer of them, each with more sums.
  if (resident == 1)
    return std::max<int64_t>(always, 1);
  int64_t most = std::min<int64_t>(limits.registersPerUnit / (threads * resident), llvm::alignTo(limits.registersPerThread, 8));
  return std::max<int64_t>({always, most - registersBeside(product, machine, fuses), 1});
}

double schedule::secondsInTiles(const ProductTiles &product, const Machine &machine, const TileSides &sides) {
  double ways = 1.0 / double(sides.blockRows) + 1.0 / double(sides.blockColumns);
  if (usesMatrixUnits(product, machine)) {
    double rate = machine.rates.bf16MmaFlops / 2;
    // A warp reads its groups of 8 rows and of 8 columns (4 lanes with two each) once for all its lanes, 16 bytes a row.
    double reads = machine.rates.bf16MmaFlops / machine.rates.f32Flops / 4 * (1.0 / double(sides.rows) + 2.0 / double(sides.columns));
    return (1 + reads + cacheCost(product, machine, rate) * ways) / rate;
  }
  double reads = 1.0 / double(sides.rows) + 1.0 / double(sides.columns);
  return (1 + reads + double(machine.gpu.sharedCopyCost) * ways) / plainRate(product, machine);
}

double schedule::secondsInGroups(const ProductTiles &product, const Machine &machine, int64_t blockRows, int64_t blockColumns) {
  double rate = machine.rates.bf16MmaFlops / 2;
  double ways = 1.0 / double(blockRows) + 1.0 / double(blockColumns);
  return std::max(1.0, cacheCost(product, machine, rate) * ways) / rate;
}

double schedule::secondsInRows(const ProductTiles &product, const Machine &machine, double own, double rows, double columns) {
  double rate = plainRate(product, machine);
  double reads = double(machine.gpu.operandReadCost) * 2 / std::sqrt(std::max(own, 1.0));
  return (1 + reads + cacheCost(product, machine, rate) * (1 / rows + 1 / columns)) / rate;
}
