//===- FindMachine.cpp - the machine that an option names -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Machine/FindMachine.h"
#include "ft/Support/LocatedJson.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ft;

void mlir::ft::emitMachineErrors(Location loc, llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const FileError &wrong) {
        emitError(FileLineColLoc::get(loc.getContext(), wrong.file, wrong.at.line, wrong.at.column)) << wrong.what;
      },
      [&](const llvm::ErrorInfoBase &other) { emitError(loc) << other.message(); });
}

FailureOr<MachineRef> mlir::ft::findMachine(Location loc, StringRef nameOrPath, StringRef otherwise) {
  llvm::Expected<MachineRef> machine = Machine::find(nameOrPath.empty() ? otherwise : nameOrPath);
  if (machine)
    return *machine;
  emitMachineErrors(loc, machine.takeError());
  return failure();
}

FailureOr<MachineRef> mlir::ft::findMachine(Location loc, StringRef nameOrPath, StringRef otherwise,
                                            Machine::Kind kind) {
  llvm::Expected<MachineRef> machine = Machine::find(nameOrPath.empty() ? otherwise : nameOrPath, kind);
  if (machine)
    return *machine;
  emitMachineErrors(loc, machine.takeError());
  return failure();
}

std::string mlir::ft::listTargetsOf(Machine::Kind kind) {
  SmallVector<StringRef> all = targetsOf(kind);
  ArrayRef<StringRef> targets = all;
  if (targets.size() < 2)
    return targets.empty() ? "none" : targets.front().str();
  return llvm::join(targets.drop_back(), ", ") + " or " + targets.back().str();
}

/// Classes of processors are planned as `cpu`.
static bool servesAsPlanned(const Machine &machine, StringRef target) {
  return machine.serves(target) || (machine.serves("cpu") && !target.starts_with("sm_"));
}

LogicalResult mlir::ft::checkMachinesServe(Location loc, ArrayRef<std::string> machines,
                                           ArrayRef<std::string> targets) {
  for (const std::string &name : machines) {
    FailureOr<MachineRef> machine = findMachine(loc, name, "");
    if (failed(machine))
      return failure();
    if (llvm::none_of(targets, [&](StringRef target) { return servesAsPlanned(**machine, target); }))
      return emitError(loc) << "the machine '" << name << "' serves "
                            << ((*machine)->targets.empty() ? "no target" : llvm::join((*machine)->targets, ", "))
                            << ", none of those wanted: " << llvm::join(targets, ", ");
  }
  return success();
}

FailureOr<MachineRef> mlir::ft::findMachineFor(Location loc, StringRef target, ArrayRef<std::string> given) {
  for (const std::string &name : given) {
    FailureOr<MachineRef> machine = findMachine(loc, name, "");
    if (failed(machine) || servesAsPlanned(**machine, target))
      return machine;
  }
  StringRef own = Machine::nameForTarget(target);
  if (!own.empty())
    return findMachine(loc, own, "");
  emitError(loc) << "no machine for the target '" << target << "'";
  return failure();
}
