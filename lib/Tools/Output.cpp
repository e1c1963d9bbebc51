//===- Output.cpp - what a tool writes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Tools/Output.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

bool ft::tools::flushOutput(llvm::raw_fd_ostream &os, llvm::StringRef name) {
  os.flush();
  if (!os.has_error())
    return true;
  llvm::errs() << "error: cannot write " << name << ": " << os.error().message() << '\n';
  os.clear_error();
  return false;
}

bool ft::tools::writeOutput(llvm::StringRef file, llvm::StringRef text) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(file, &message);
  if (!output) {
    llvm::errs() << "error: " << message << '\n';
    return false;
  }
  output->os() << text;
  if (!flushOutput(output->os(), file == "-" ? "standard output" : ("'" + file + "'").str()))
    return false;
  output->keep();
  return true;
}
