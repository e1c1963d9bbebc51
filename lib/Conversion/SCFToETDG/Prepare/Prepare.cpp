//===- Prepare.cpp - the form of programs that raising reads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions can be raised at all, and the rewrites in their order.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"

#include "ft/Conversion/GraphWriter/PlainForms.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ft::raising;

static LogicalResult checkSignature(func::FuncOp function, Refusal &refusal) {
  auto refuse = [&](const char *reason) { return refusal.refuse(function.getLoc(), reason); };
  if (!function.getBody().hasOneBlock())
    return refuse("has several basic blocks; control flow must be structured");
  if (!isa<func::ReturnOp>(function.getBody().front().back()))
    return refuse("does not end in 'func.return'");
  for (Type type : function.getResultTypes())
    if (!isa<RankedTensorType>(type))
      return refuse("a result is no ranked tensor");
  if (function.getNumResults() == 0)
    return refuse("has no results");
  return success();
}

/// Other control flow has states that the analysis does not look into.
static LogicalResult checkControlFlow(func::FuncOp function, Refusal &refusal) {
  WalkResult known = function.walk([&](Operation *op) {
    if (!isa_and_nonnull<scf::SCFDialect>(op->getDialect()) || op->getNumRegions() == 0 ||
        isa<scf::ForOp, scf::ForallOp, scf::InParallelOp, scf::IfOp>(op))
      return WalkResult::advance();
    (void)refusal.refuse(op->getLoc(), "'" + op->getName().getStringRef() + "' has no place in a graph");
    return WalkResult::interrupt();
  });
  return failure(known.wasInterrupted());
}

LogicalResult mlir::ft::raising::prepare(func::FuncOp function, Refusal &refusal) {
  ft::graphwriter::rewritePlainForms(function);
  if (sumsOverOpenSizes(function) && failed(loopOverOpenSizes(function, refusal)))
    return failure();
  if (failed(checkSignature(function, refusal)) || failed(boundWhiles(function, refusal)) ||
      failed(checkControlFlow(function, refusal)))
    return failure();
  return selectData(function, refusal);
}
