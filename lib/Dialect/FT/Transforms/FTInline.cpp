//===- FTInline.cpp - inline functions over lists and over values ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One nest of operators, or of loops, per entry point is what the task graph is made from.
//
//===----------------------------------------------------------------------===//
#include "CallBounds.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Support/InlineCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTINLINE
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// Whether a call passes tensors and numbers alone: its body can take its place wherever it stands.
static bool isOverValues(func::CallOp call) {
  return llvm::all_of(llvm::concat<const Type>(call->getOperandTypes(), call->getResultTypes()),
                      [](Type type) { return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat(); });
}

namespace {
class FTInline : public ft::impl::FTInlineBase<FTInline> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (isListFunction(function) && failed(verifyNoRecursion(function, symbols)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      if (isListFunction(function) && failed(inlineCalls(function, symbols)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      if (!isListFunction(function) && failed(inlineValues(function, symbols)))
        return signalPassFailure();

    // Callers come before what they call only in the worst case: again until
    // nothing goes.
    for (bool changed = true; changed;) {
      changed = false;
      for (func::FuncOp function :
           llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
        if (inlined.contains(function) && function.isPrivate() &&
            SymbolTable::symbolKnownUseEmpty(function, getOperation())) {
          inlined.erase(function);
          function.erase();
          changed = true;
        }
    }
  }

  /// Callees first, so that what is inlined holds no calls itself.
  LogicalResult inlineCalls(func::FuncOp function, SymbolTableCollection &symbols) {
    if (!done.insert(function).second)
      return success();
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        continue;
      if (failed(inlineCalls(callee, symbols)) || failed(verifyCallBounds(call, callee)) ||
          failed(inlineCall(call, callee)))
        return failure();
    }
    return success();
  }

  /// In a function over tensors. Calls that have no form without a call (of themselves, of several blocks) stay: the code that
  /// takes the function says so, or runs it as it is.
  LogicalResult inlineValues(func::FuncOp function, SymbolTableCollection &symbols) {
    if (!done.insert(function).second || function.isExternal())
      return success();
    active.push_back(function);
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal() || !isOverValues(call) || llvm::is_contained(active, callee))
        continue;
      if (failed(inlineValues(callee, symbols)))
        return failure();
      if (!callee.getBody().hasOneBlock() || !isa<func::ReturnOp>(callee.front().back()) || !isCallFree(callee))
        continue;
      if (failed(inlineCall(call, callee)))
        return failure();
    }
    active.pop_back();
    return success();
  }

  static bool isCallFree(func::FuncOp function) {
    return !function.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  LogicalResult inlineCall(func::CallOp call, func::FuncOp callee) {
    if (!callee.getBody().hasOneBlock() || !isa<func::ReturnOp>(callee.front().back())) {
      InFlightDiagnostic diag =
          call.emitOpError("cannot be inlined: the callee must have one block "
                           "that ends in 'func.return'");
      diag.attachNote(callee.getLoc()) << "the callee is here";
      return diag;
    }
    if (failed(inlineOneBlock(call, callee, total)))
      return failure();
    inlined.insert(callee);
    return success();
  }

  DenseSet<Operation *> done, inlined;
  SmallVector<func::FuncOp> active;
  size_t total = 0;
};
} // namespace
