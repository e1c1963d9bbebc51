//===- ToolHelp.h - what --help of a tool shows -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tool's own options come first. MLIR and LLVM register hundreds more, which --help-hidden shows.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TOOLS_TOOLHELP_H
#define FT_TOOLS_TOOLHELP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::ft::tools {

/// The group of our own options. Groups stand in the order of their names, and this one comes before MLIR's.
llvm::cl::OptionCategory &ownOptions();

/// Calls `registerOptions`, and hides what it registered but `shown`, which stand in a group after our own.
void registerUpstream(llvm::function_ref<void()> registerOptions, llvm::ArrayRef<llvm::StringRef> shown);

/// Whether the command line asks for the short help.
bool asksForHelp(int argc, char **argv);

/// Prints our passes by the phases that run them, and those that no phase runs. Each name has been registered as an option.
void printPassesByPhase();

} // namespace mlir::ft::tools

#endif // FT_TOOLS_TOOLHELP_H
