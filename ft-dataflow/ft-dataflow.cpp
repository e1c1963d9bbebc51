//===- ft-dataflow.cpp - Thin main ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dataflow/Tool.h"
#include "ft/Machine/Machine.h"

#include <cmath>

using ft::dataflow::Accelerator;
using mlir::ft::Machine;

/// What of a machine the search and its estimate ask.
static Accelerator toAccelerator(const Machine &machine) {
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

static std::optional<Accelerator> findMachine(const std::string &nameOrFile, std::string &error) {
  llvm::Expected<std::shared_ptr<const Machine>> found = Machine::find(nameOrFile);
  if (!found) {
    error = llvm::toString(found.takeError());
    if (error.find(": error: ") == std::string::npos)
      error = "ft-dataflow: error: " + error;
    return std::nullopt;
  }
  Accelerator result = toAccelerator(**found);
  if (result.globalBytes <= 0) {
    error = "ft-dataflow: error: machine '" + nameOrFile + "' has no buffer of a known size";
    return std::nullopt;
  }
  return result;
}

int main(int argc, char **argv) { return ft::dataflow::dataflowMain(argc, argv, findMachine); }
