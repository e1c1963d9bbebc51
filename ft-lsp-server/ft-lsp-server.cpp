//===- ft-lsp-server.cpp - Thin main ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/InitAll.h"
#include "ft/Tools/ToolMains.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  mlir::ft::setUpTool("ft-lsp-server");
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
