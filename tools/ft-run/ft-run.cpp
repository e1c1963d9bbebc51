//===- ft-run.cpp - Thin main ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/InitAll.h"
#include "ft/Runtime/Program/RunBundle.h"
#include "ft/Tools/ToolMains.h"
#include "mlir/IR/DialectRegistry.h"

#include <string_view>

int main(int argc, char **argv) {
  // A bundle needs no compiler.
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).ends_with(".ftb"))
      return ft::rt::runBundleMain(argc, argv);
  mlir::DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  return mlir::ft::runMain(argc, argv, registry);
}
