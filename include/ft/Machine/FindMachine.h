//===- FindMachine.h - the machine that an option names ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes and tools do with `machine=NAME|FILE` and `--target`: the model, or
// errors where the file is wrong.
//
//===----------------------------------------------------------------------===//
#ifndef FT_MACHINE_FINDMACHINE_H
#define FT_MACHINE_FINDMACHINE_H

#include "ft/Machine/Machine.h"
#include "mlir/IR/Location.h"

namespace mlir::ft {

using MachineRef = std::shared_ptr<const Machine>;

/// The machine of this name or file (empty: `otherwise`). Errors are emitted at the lines of the file,
/// or at `loc` where there is none.
FailureOr<MachineRef> findMachine(Location loc, StringRef nameOrPath, StringRef otherwise);
/// The same, and it has to be of this kind.
FailureOr<MachineRef> findMachine(Location loc, StringRef nameOrPath, StringRef otherwise, Machine::Kind kind);

/// What code is made for on machines of this kind: the targets of the built-in ones, sorted.
SmallVector<StringRef> targetsOf(Machine::Kind kind);
/// `sm_80 or sm_90a`: for messages.
std::string listTargetsOf(Machine::Kind kind);

/// The machine for which code of `target` is planned: the one of `given` (names or files) that serves
/// the target, else the built-in one. Emits errors as `findMachine`.
FailureOr<MachineRef> findMachineFor(Location loc, StringRef target, ArrayRef<std::string> given);

/// Each of the machines serves one of the targets, else an error: what is given and not used is a slip.
LogicalResult checkMachinesServe(Location loc, ArrayRef<std::string> machines, ArrayRef<std::string> targets);

/// Errors of machine files as diagnostics: at the place in the file, or at `loc`.
void emitMachineErrors(Location loc, llvm::Error error);

} // namespace mlir::ft

#endif // FT_MACHINE_FINDMACHINE_H
