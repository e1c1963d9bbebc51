//===- TilesLeft.cpp - what a group leaves to share out -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Machine/TilesLeft.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::ft;

/// FLOP/s of products of one unit; 0 where the machine's file does not say.
static double flopsOfUnit(const Machine &machine) {
  if (machine.kind == Machine::Kind::CPU)
    return machine.productFlops();
  if (machine.rates.f32Flops > 0)
    return machine.rates.f32Flops / machine.units;
  return 2 * machine.rates.macs / machine.units;
}

double mlir::ft::tilesLeft(const TileGroup &group, const Machine &machine) {
  const double flopsOfTile = machine.tileSeconds() * flopsOfUnit(machine);
  if (flopsOfTile <= 0)
    return group.points;
  const double worth = std::floor(group.flops / flopsOfTile);
  return group.points * std::clamp(worth, 1.0, std::max(group.elements, 1.0));
}

double mlir::ft::tilesOf(const ProductIterations &product, const Machine &machine) {
  const auto side = double(std::max<int64_t>(machine.gpu.productSide, 1)); // a register tile of a CPU may have one row
  const double tiles = product.products * std::ceil(product.rows / side) * std::ceil(product.columns / side);
  const double flopsOfTile = machine.tileSeconds() * flopsOfUnit(machine);
  return flopsOfTile > 0 ? std::min(tiles, std::max(std::floor(product.flops / flopsOfTile), 1.0)) : tiles;
}

double mlir::ft::tilesOfTasks(const ProductIterations &whole, const ProductIterations &all, double bytes, const Machine &machine) {
  const auto side = double(std::max<int64_t>(machine.gpu.productSide, 1));
  const double inside = all.rows / whole.rows, together = std::min(whole.rows, std::ceil(side / inside));
  if (machine.gpu.sharedBytesOfTwo > 0 && together * bytes > double(machine.gpu.sharedBytesOfTwo) / 2)
    return 0;
  ProductIterations tasks = whole;
  tasks.rows = std::min(whole.rows * side, all.rows);
  tasks.columns = std::min(whole.columns * side, all.columns);
  return tilesOf(tasks, machine);
}

bool mlir::ft::sharesInnerLoops(const Machine &machine) { return machine.kind == Machine::Kind::CPU; }

double mlir::ft::sharedReadSeconds(const TileGroup &group, const Machine &machine) {
  if (machine.cpu.mostRows == 0 || machine.levels.size() < 2 || group.sharedBytes <= 0)
    return 0;
  // (As schedules cut columns: `columnsForCaches`.)
  bool takesColumns = group.elements > 1 && group.sharedBytes > double(machine.levels[1].bytes) / 2;
  double rows = takesColumns ? group.points : std::ceil(group.points / machine.units);
  double calls = takesColumns ? 1.0 / machine.units : std::ceil(rows / double(machine.cpu.mostRows));
  double seconds = calls * group.sharedBytes / machine.sourceFor(group.sharedBytes).bytesPerSecond;
  // Full calls copy columns before they compute; others read while they do.
  if (rows < double(machine.cpu.mostRows))
    seconds -= group.points * group.flops / (machine.units * machine.productFlops());
  return std::max(seconds, 0.0);
}
