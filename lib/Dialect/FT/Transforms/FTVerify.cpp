//===- FTVerify.cpp - the contract of the ft phase ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists everything in a module that the rest of the compiler may not meet.
//
//===----------------------------------------------------------------------===//
#include "CallBounds.h"
#include "ft/Dialect/FT/IR/FunctionForm.h"
#include "ft/Dialect/FT/IR/VerifyNames.h"
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTVERIFY
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

namespace {
class FTVerify : public ft::impl::FTVerifyBase<FTVerify> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isListFunction(function))
        verify(function, symbols);
  }

  /// `result`, noting a failure for the pass.
  void check(LogicalResult result) {
    if (failed(result))
      signalPassFailure();
  }

  void verify(func::FuncOp function, SymbolTableCollection &symbols) {
    verifySignature(function);
    if (function.isExternal())
      return;
    check(verifyNoRecursion(function, symbols)); // V2
    check(verifyOneBlock(function));             // V5

    function.walk([&](Operation *op) {
      verifyTypes(op);
      if (isa<ComputeOp>(op))
        verifyEffects(op);
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()))
          check(verifyCallBounds(call, callee)); // V2
    });
  }

  void verifySignature(func::FuncOp function) {
    SmallVector<StringAttr> bound = getBoundNames(function.getArgumentTypes());
    FunctionType type = function.getFunctionType();
    for (auto [index, input] : llvm::enumerate(type.getInputs())) // V1
      check(ft::detail::verifyTypeNames(input, bound, function, [&, index = index] {
        return function.emitOpError("(V1) argument ") << index << ": ";
      }));
    for (auto [index, output] : llvm::enumerate(type.getResults())) // V1
      check(ft::detail::verifyTypeNames(output, bound, function, [&, index = index] {
        return function.emitOpError("(V1) result ") << index << ": ";
      }));
  }

  void verifyTypes(Operation *op) {
    auto isAllowed = [](Type type) { return isValueType(type) || type.isIntOrIndexOrFloat(); };
    for (Type type : op->getResultTypes())
      if (!isAllowed(type)) // V3
        check(op->emitOpError(
                  "(V3) values are lists, static tensors, tuples of these or scalars, found ")
              << type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (!isAllowed(argument.getType())) // V3
            check(mlir::emitError(argument.getLoc())
                  << "(V3) values are lists, static tensors, tuples of these or scalars, found "
                  << argument.getType());
  }

  void verifyEffects(Operation *compute) {
    for (Region &region : compute->getRegions())
      for (Operation &op : region.getOps())
        // Nested operators report for their own bodies.
        if (!isa<ComputeOp>(op) && !isa<func::CallOp>(op) && !isMemoryEffectFree(&op)) { // V4
          InFlightDiagnostic diag =
              op.emitOpError("(V4) has side effects in the body of an operator "
                             "whose order of iteration is free");
          diag.attachNote(compute->getLoc()) << "the operator is here";
          check(diag);
        }
  }
};
} // namespace
