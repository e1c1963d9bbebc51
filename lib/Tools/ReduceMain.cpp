//===- ReduceMain.cpp - ft-reduce -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-reduce with our dialects. Upstream's main opens the file itself, so the
// limits are checked on every argument that names one.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/InputLimits.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

int mlir::ft::reduceMain(int argc, char **argv, DialectRegistry &registry) {
  setUpTool("ft-reduce");
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.starts_with("-") || !llvm::sys::fs::is_regular_file(argument))
      continue;
    if (!loadInput(argument, InputLimits(), {}, llvm::errs()))
      return EXIT_FAILURE;
  }
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
