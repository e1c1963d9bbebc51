//===- Output.h - what a tool writes --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TOOLS_OUTPUT_H
#define FT_TOOLS_OUTPUT_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_fd_ostream;
} // namespace llvm

namespace mlir::ft::tools {

/// Writes a whole text to a file ("-" is standard output); false, after printing an error, where that
/// fails, and then no file is left. LLVM's streams would end the process in their destructors.
bool writeOutput(llvm::StringRef file, llvm::StringRef text);

/// Whether everything went out that was written to a stream so far; else an error is printed.
bool flushOutput(llvm::raw_fd_ostream &os, llvm::StringRef name);

} // namespace mlir::ft::tools

#endif // FT_TOOLS_OUTPUT_H
