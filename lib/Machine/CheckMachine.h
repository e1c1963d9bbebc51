//===- CheckMachine.h - fields of a machine that contradict each other ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_MACHINE_CHECKMACHINE_H
#define FT_LIB_MACHINE_CHECKMACHINE_H

#include "ft/Machine/Machine.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

namespace mlir::ft {

/// Says of a machine whose fields are all there, each right by itself, what can't be together: the field's path
/// (`planning.block_threads[1]`), and what was expected of it and found.
void checkMachine(const Machine &machine, llvm::function_ref<void(llvm::StringRef field, const llvm::Twine &what)> wrong);

} // namespace mlir::ft

#endif // FT_LIB_MACHINE_CHECKMACHINE_H
