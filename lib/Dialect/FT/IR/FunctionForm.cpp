//===- FunctionForm.cpp - the form that functions must have ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/FunctionForm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

LogicalResult mlir::ft::verifyOneBlock(func::FuncOp function) {
  if (function.isExternal())
    return success();
  Region &body = function.getBody();
  if (!body.hasOneBlock()) {
    InFlightDiagnostic diag =
        function.emitOpError("(V5) must have one block: control flow over lists is not branches but "
                             "map, fold and scan, that over tensors scf.for and scf.if; found ");
    diag << body.getBlocks().size() << " blocks";
    Block &entry = body.front();
    if (!entry.empty())
      diag.attachNote(entry.back().getLoc()) << "the first block ends here";
    return diag;
  }
  Block &block = body.front();
  if (!block.empty() && isa<func::ReturnOp>(block.back()))
    return success();
  InFlightDiagnostic diag = function.emitOpError("(V5) must end in 'func.return'");
  if (!block.empty())
    diag.attachNote(block.back().getLoc()) << "it ends in '" << block.back().getName() << "'";
  return diag;
}
