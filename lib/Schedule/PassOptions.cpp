//===- PassOptions.cpp - options of passes and of their callers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/PassOptions.h"

#include "ft/Machine/FindMachine.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::ft;
using Steps = GpuScheduleOptions::Steps;

SmallVector<std::string> mlir::ft::lengthsAsText(const CpuScheduleOptions &options) {
  SmallVector<std::string> texts;
  for (auto [name, value] : options.lengths)
    texts.push_back((name.getValue() + "=" + Twine(value)).str());
  return texts;
}

std::string mlir::ft::machineAsText(const std::shared_ptr<const Machine> &machine) {
  return machine ? machine->reference : "";
}

StringRef mlir::ft::stepsAsText(Steps steps) {
  switch (steps) {
  case Steps::choose:
    return "choose";
  case Steps::always:
    return "always";
  case Steps::never:
    return "never";
  }
  llvm_unreachable("an enumerator without a name");
}

FailureOr<NamedLengths> mlir::ft::readLengths(Location loc, ArrayRef<std::string> lengths) {
  NamedLengths named;
  for (StringRef text : lengths) {
    auto [name, number] = text.split('=');
    int64_t value;
    if (name.empty() || number.getAsInteger(10, value) || value < 0)
      return emitError(loc) << "lengths: expected NAME=NUMBER with a number of at least 0, found '" << text << "'";
    named.emplace_back(StringAttr::get(loc.getContext(), name), value);
  }
  return named;
}

FailureOr<CpuScheduleOptions> mlir::ft::readCpuOptions(Location loc, StringRef machine, unsigned threads,
                                                       ArrayRef<std::string> lengths) {
  CpuScheduleOptions options;
  FailureOr<MachineRef> found = findMachine(loc, machine, "cpu", Machine::Kind::CPU);
  if (failed(found))
    return failure();
  options.machine = *found;
  options.threads = threads;
  FailureOr<NamedLengths> named = readLengths(loc, lengths);
  if (failed(named))
    return failure();
  options.lengths = *named;
  return options;
}

FailureOr<GpuScheduleOptions> mlir::ft::readGpuOptions(Location loc, StringRef target, StringRef machine, StringRef steps) {
  GpuScheduleOptions options;
  options.target = target.str();
  if (!llvm::is_contained(targetsOf(Machine::Kind::GPU), target))
    return emitError(loc) << "etdg-schedule-for-gpu: expected target = " << listTargetsOf(Machine::Kind::GPU) << ", found '" << target << "'";
  FailureOr<MachineRef> found = findMachine(loc, machine, Machine::nameForTarget(target), Machine::Kind::GPU);
  if (failed(found))
    return failure();
  options.machine = *found;
  for (Steps known : {Steps::choose, Steps::always, Steps::never})
    if (steps == stepsAsText(known)) {
      options.steps = known;
      return options;
    }
  return emitError(loc) << "etdg-schedule-for-gpu: expected steps = choose, always or never, found '" << steps << "'";
}

FailureOr<GpuScheduleOptions> mlir::ft::readGpuOptions(Location loc, const GpuPassOptions &options) {
  FailureOr<GpuScheduleOptions> read = readGpuOptions(loc, options.target, options.machine, options.steps);
  if (failed(read))
    return failure();
  read->multiprocessors = options.multiprocessors;
  read->planSeed = options.planSeed;
  return read;
}
