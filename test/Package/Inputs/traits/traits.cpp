// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether traits of upstream's operations and of ours are seen from a program that another compiler may have made.

#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/SymbolTable.h"

#include <cstdio>

int main() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::ft::FTDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  mlir::OperationName yield("ft.yield", &context);
  std::printf("symbols %d terminator %d\n", module->getOperation()->hasTrait<mlir::OpTrait::SymbolTable>(),
              yield.hasTrait<mlir::OpTrait::IsTerminator>());
}
