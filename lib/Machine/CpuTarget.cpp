//===- CpuTarget.cpp - what code for a processor asks of it ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Machine/CpuTarget.h"
#include "ft/Machine/Machine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::ft;

void CpuTarget::planFor(const Machine &machine) {
  auto bytesOf = [&](size_t level) {
    bool isBounded = level < machine.levels.size() && machine.levels[level].bytes > 0;
    return isBounded ? machine.levels[level].bytes : std::numeric_limits<int64_t>::max();
  };
  nearestBytes = bytesOf(0);
  secondBytes = bytesOf(1);
  lineBytes = machine.lineBytes();
  flopsAhead = machine.cpu.aheadSeconds * machine.productFlops();
  rowTiles = machine.rowTiles();
  planning = machine.cpu;
}

CpuTarget CpuTarget::host() {
  static const CpuTarget registers = [] {
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    CpuTarget found;
    if (!features.lookup("avx512f")) {
      found.vectorBytes = features.lookup("avx") ? 32 : 16;
      found.vectorRegisters = llvm::sys::getDefaultTargetTriple().starts_with("x86") ? 16 : 32;
    }
    return found;
  }();
  CpuTarget target = registers;
  target.planFor(Machine::cpuDefault());
  return target;
}
