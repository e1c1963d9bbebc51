//===- MachineAccelerator.cpp - a machine as dataflow searches see it -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/ETDGToDataflow/MachineAccelerator.h"

#include <cmath>

using ::ft::dataflow::Accelerator;
using mlir::ft::Machine;

Accelerator mlir::ft::toAccelerator(const Machine &machine) {
  Accelerator result;
  result.name = machine.name;
  result.elementBytes = machine.elementBytes > 0 ? machine.elementBytes : 4;
  if (machine.kind != Machine::Kind::Array) {
    // A buffer alone: a multiprocessor's shared memory, a core's last own cache.
    result.units = 0;
    for (const Machine::Level &level : machine.levels)
      if (machine.kind == Machine::Kind::GPU ? level.name == "shared" : !level.shared && level.bytes > 0)
        result.globalBytes = level.bytes;
    return result;
  }
  const Machine::Level &local = machine.levels.front(), &device = machine.levels.back();
  const Machine::Level &global = machine.levels[machine.levels.size() - 2];
  result.units = machine.units;
  // A processing element makes one exponential in a cycle.
  result.exponentialsPerSecond = machine.rates.exponentials;
  result.cyclesPerSecond = machine.rates.exponentials / machine.units;
  result.macsPerUnit = static_cast<unsigned>(
      std::max(1.0, std::round(machine.rates.macs / machine.units / result.cyclesPerSecond)));
  result.localBytes = local.bytes;
  result.globalBytes = global.bytes;
  result.onChipBytesPerSecond = global.readBytesPerSecond;
  result.offChipBytesPerSecond = device.readBytesPerSecond;
  result.macJoules = machine.energy.mac;
  result.localJoulesPerByte = local.joulesPerByte;
  result.globalJoulesPerByte = global.joulesPerByte;
  result.deviceJoulesPerByte = device.joulesPerByte;
  return result;
}
