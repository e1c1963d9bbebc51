//===- Functionalize.cpp - tssa-functionalize -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass: its steps in order.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"
#include "ft/Support/Interrupt.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::tssa {
#define GEN_PASS_DEF_TSSAFUNCTIONALIZE
#define GEN_PASS_DEF_TSSAPRINTALIASES
#include "ft/Dialect/TSSA/Transforms/Passes.h.inc"
} // namespace mlir::tssa

using namespace mlir;
using namespace mlir::tssa;

/// What later steps rely on.
static LogicalResult checkForm(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has several basic blocks: control flow of a function with mutable "
                              "tensors must be scf's");
  LogicalResult ok = success();
  function.walk([&](Operation *op) {
    bool any = llvm::any_of(op->getOperandTypes(), [](Type t) { return isMutable(t); }) ||
               llvm::any_of(op->getResultTypes(), [](Type t) { return isMutable(t); });
    bool known = isa<NewOp, ReadOp, ViewOp, MutateOp, scf::ForOp, scf::IfOp, scf::WhileOp,
                     scf::YieldOp, scf::ConditionOp, arith::SelectOp, func::ReturnOp, func::CallOp>(op);
    if (any && !known) {
      op->emitError("takes or gives a mutable tensor, which only tssa, scf.for, scf.if, scf.while, "
                    "arith.select, calls and returns do");
      ok = failure();
    }
  });
  return ok;
}

namespace {
struct TSSAFunctionalize : tssa::impl::TSSAFunctionalizeBase<TSSAFunctionalize> {
  using TSSAFunctionalizeBase::TSSAFunctionalizeBase;

  void runOnOperation() override {
    static constexpr StringRef steps[] = {"", "inline", "merge", "rewrite", "propagate", "rename"};
    if (!llvm::is_contained(steps, stopAfter.getValue())) {
      getOperation().emitError("tssa-functionalize: stop-after: expected inline, merge, rewrite, "
                               "propagate or rename, found '")
          << stopAfter << "'";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> all(getOperation().getOps<func::FuncOp>()), functions;
    llvm::DenseMap<Operation *, SmallVector<unsigned>> written;
    for (func::FuncOp function : all) {
      if (function.isExternal() || !hasMutableTensors(function))
        continue;
      if (failed(checkForm(function)))
        return signalPassFailure();
      // Of the program as it was written: as its caller sees it.
      written[function] = AliasGraph(function).writtenArguments();
    }
    if (written.empty())
      return;
    if (failed(inlineCalls(getOperation())))
      return signalPassFailure();
    if (stopAfter == "inline")
      return;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (written.contains(function))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(run(function, written[function])))
        return signalPassFailure();
  }

  LogicalResult run(func::FuncOp function, ArrayRef<unsigned> written) {
    if (failed(resolveMerges(function)))
      return failure();
    if (stopAfter == "merge")
      return success();
    if (failed(rewriteMutations(function, written)))
      return failure();
    if (stopAfter == "rewrite")
      return success();
    if (failed(propagateUpdates(function)))
      return failure();
    if (stopAfter == "propagate")
      return success();
    renameVersions(function);
    if (stopAfter == "rename")
      return success();
    return cleanUp(function);
  }

  LogicalResult cleanUp(func::FuncOp function) {
    for (unsigned round = 0; round < 2; ++round) {
      if (failed(simplifyFunction(function)))
        return failure();
      OpPassManager pm(func::FuncOp::getOperationName());
      pm.addPass(createCanonicalizerPass());
      pm.addPass(createCSEPass());
      if (failed(ft::unlessInterrupted(runPipeline(pm, function))))
        return failure();
    }
    pruneCarried(function);
    return success();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<TSSADialect, arith::ArithDialect, scf::SCFDialect, tensor::TensorDialect,
                    linalg::LinalgDialect>();
  }
};

struct TSSAPrintAliases : tssa::impl::TSSAPrintAliasesBase<TSSAPrintAliases> {
  void runOnOperation() override {
    AliasGraph graph(getOperation());
    SmallVector<std::pair<std::string, Value>> named;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto name = op->getAttrOfType<StringAttr>("alias");
      if (!name || op->getNumResults() == 0 || !isMutable(op->getResult(0)))
        return;
      InFlightDiagnostic diag = op->emitRemark() << name.getValue() << ":";
      for (auto &[other, value] : named)
        diag << " " << other << " " << stringify(graph.alias(value, op->getResult(0)));
      named.push_back({name.str(), op->getResult(0)});
    });
  }
};
} // namespace
