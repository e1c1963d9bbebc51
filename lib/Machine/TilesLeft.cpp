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
  const double flopsOfTile = machine.sync.launch * flopsOfUnit(machine);
  if (flopsOfTile <= 0)
    return group.points;
  const double worth = std::floor(group.flops / flopsOfTile);
  return group.points * std::clamp(worth, 1.0, std::max(group.elements, 1.0));
}
