//===- CpuMachine.cpp - what a processor can do ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Machine/CpuMachine.h"

#include "ft/Machine/Machine.h"

#include <algorithm>

using namespace mlir::ft;

static CpuMachine fromMachine(const Machine &from) {
  CpuMachine machine;
  machine.name = from.name;
  machine.cores = from.units;
  for (const Machine::Level &level : from.levels)
    machine.levels.push_back({level.name, level.bytes, level.shared, level.unitReadBytesPerSecond});
  machine.productFlopsByRows = from.unit.productFlopsByRows;
  machine.elementwisePerSecond = from.unit.elementwise;
  machine.elementaryPerSecond = from.unit.elementary;
  machine.launchSeconds = from.sync.launch;
  machine.barrierSeconds = from.sync.barrier;
  machine.leafCallSeconds = from.sync.leafCall;
  return machine;
}

llvm::Expected<CpuMachine> CpuMachine::load(llvm::StringRef path) {
  llvm::Expected<std::shared_ptr<const Machine>> machine = Machine::find(path, Machine::Kind::CPU);
  if (!machine)
    return machine.takeError();
  return fromMachine(**machine);
}

const CpuMachine &CpuMachine::builtin() {
  static const CpuMachine machine = fromMachine(Machine::cpuDefault());
  return machine;
}

const CpuMachine::Level &CpuMachine::levelFor(double bytes) const {
  for (const Level &level : levels)
    if (level.bytes == 0 || bytes <= level.bytes)
      return level;
  return levels.back();
}

CpuMachine::Source CpuMachine::sourceFor(double bytes) const {
  const Level &level = levelFor(bytes);
  unsigned number = &level - levels.begin();
  if (number < 2)
    return {number, level.bytesPerSecond};
  const Level &nearer = levels[number - 1];
  double hits = std::clamp(2 - bytes / nearer.bytes, 0.0, 1.0);
  return {hits < 0.5 ? number : number - 1,
          1 / (hits / nearer.bytesPerSecond + (1 - hits) / level.bytesPerSecond)};
}

llvm::SmallVector<std::pair<int64_t, int64_t>, 4> CpuMachine::tilesOf(int64_t rows) const {
  const int64_t tile = productFlopsByRows.size();
  rows = std::max<int64_t>(rows, 1);
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> tiles;
  auto take = [&](int64_t size, int64_t part) {
    if (int64_t count = part / size)
      tiles.push_back({size, count});
    return part % size;
  };
  // Two tiles of four for the last eight rows.
  bool eight = tile == 6 && rows >= 8 && rows % tile == 2;
  int64_t rest = take(tile, eight ? rows - 8 : rows) + (eight ? 8 : 0);
  for (int64_t size : {4, 2, 1})
    if (size < tile)
      rest = take(size, rest);
  return tiles;
}
