//===- ToolOptions.h - options that several tools have ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library itself has no options of the process: it may live in one that has
// options of its own, and twice. What tools ask for goes into structs.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_TOOLS_TOOLOPTIONS_H
#define FT_LIB_TOOLS_TOOLOPTIONS_H

#include "ft/Support/InputLimits.h"

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

} // namespace mlir::ft::tools

#endif // FT_LIB_TOOLS_TOOLOPTIONS_H
