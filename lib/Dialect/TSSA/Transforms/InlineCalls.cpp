//===- InlineCalls.cpp - calls of imperative functions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that writes into its arguments, or returns a view of one, is understood by
// its body: it takes the call's place.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"

#include "ft/Support/InlineCall.h"

using namespace mlir;
using namespace mlir::tssa;

namespace {
class Inliner {
public:
  explicit Inliner(ModuleOp module) : module(module) {}
  LogicalResult run();

private:
  LogicalResult inlineInto(func::FuncOp function);
  LogicalResult inlineCall(func::CallOp call, func::FuncOp callee);

  ModuleOp module;
  SymbolTableCollection symbols;
  SmallVector<func::FuncOp> active;
  llvm::DenseSet<Operation *> done, inlined;
  size_t total = 0;
};
} // namespace

LogicalResult Inliner::inlineCall(func::CallOp call, func::FuncOp callee) {
  if (failed(ft::inlineOneBlock(call, callee, total)))
    return failure();
  inlined.insert(callee);
  return success();
}

/// Callees first, so that what is inlined holds no calls itself.
LogicalResult Inliner::inlineInto(func::FuncOp function) {
  if (done.contains(function))
    return success();
  active.push_back(function);
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    bool isImperative = llvm::any_of(call->getOperandTypes(), [](Type t) { return isMutable(t); }) ||
                        llvm::any_of(call->getResultTypes(), [](Type t) { return isMutable(t); });
    if (!callee || (!isImperative && (callee.isExternal() || !hasMutableTensors(callee))))
      continue;
    if (callee.isExternal() || !callee.getBody().hasOneBlock()) {
      InFlightDiagnostic diag = call.emitOpError("passes mutable tensors to a function whose effects "
                                                 "are not known: it needs a body of one block");
      diag.attachNote(callee.getLoc()) << "the callee is here";
      return diag;
    }
    if (llvm::is_contained(active, callee)) {
      InFlightDiagnostic diag =
          call.emitOpError("is recursive: a function with mutable tensors can't call itself");
      diag.attachNote(callee.getLoc()) << "the callee is here";
      return diag;
    }
    if (failed(inlineInto(callee)) || failed(inlineCall(call, callee)))
      return failure();
  }
  active.pop_back();
  done.insert(function);
  return success();
}

LogicalResult Inliner::run() {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isExternal() && failed(inlineInto(function)))
      return failure();
  for (bool changed = true; changed;) {
    changed = false;
    for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (inlined.contains(function) && function.isPrivate() &&
          SymbolTable::symbolKnownUseEmpty(function, module)) {
        inlined.erase(function);
        function.erase();
        changed = true;
      }
  }
  return success();
}

LogicalResult mlir::tssa::inlineCalls(ModuleOp module) { return Inliner(module).run(); }
