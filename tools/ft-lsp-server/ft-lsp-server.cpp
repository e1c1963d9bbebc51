//===- ft-lsp-server.cpp - Thin main ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/InitAll.h"
#include "ft/Tools/ToolMains.h"
#include "mlir/IR/DialectRegistry.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  return mlir::ft::lspMain(argc, argv, registry);
}
