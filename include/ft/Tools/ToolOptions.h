//===- ToolOptions.h - options that several tools have ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library itself has no options of the process: it may live in one that has
// options of its own, and twice. What tools ask for goes into structs.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TOOLS_TOOLOPTIONS_H
#define FT_TOOLS_TOOLOPTIONS_H

#include "ft/Support/InputLimits.h"

#include <functional>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::ft::tools {

/// Adds --max-nesting, --allow-unsafe-bytecode and --type to the command line of a tool.
void registerInputOptions();

/// What the options of registerInputOptions() say; defaults when they were not registered.
InputLimits getInputLimits();

/// loadInput with what the command line says.
std::unique_ptr<llvm::MemoryBuffer> loadInput(llvm::StringRef file);

/// Adds --ft-validate and --rounding to the command line of a tool.
void registerPhaseOptions();

/// What --rounding says, `excess`, or `exact`.
std::string getRounding();

/// What --ft-validate says: true, unless it was registered and is off.
bool isValidating();

/// Adds MLIR's options of pass managers (--mlir-print-ir-after-all, --mlir-timing, --mlir-pass-statistics, …) to the command line of a tool.
void registerPassOptions();

/// Sets what these options say in each pass manager that it is called with. All of them share one report of times, which is printed when
/// the last copy of the function is gone.
std::function<void(PassManager &)> makePassSettings();

} // namespace mlir::ft::tools

#endif // FT_TOOLS_TOOLOPTIONS_H
