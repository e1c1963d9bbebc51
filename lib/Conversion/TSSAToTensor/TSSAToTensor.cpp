//===- TSSAToTensor.cpp - accesses and assigns to upstream dialects -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `convert-tssa-to-tensor`: after it a functionalized program is upstream's alone.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/TSSAToTensor/TSSAToTensor.h"
#include "Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTTSSATOTENSOR
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::tssa;

namespace {
struct ConvertTSSAToTensor : ft::impl::ConvertTSSAToTensorBase<ConvertTSSAToTensor> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    bool failed_ = false;
    getOperation()->walk([&](Operation *op) {
      if (!isa_and_nonnull<TSSADialect>(op->getDialect()))
        return;
      if (isa<AccessOp, AssignOp, IndexOp, IndexPutOp>(op)) {
        ops.push_back(op);
        return;
      }
      op->emitError("works on mutable tensors: run tssa-functionalize first");
      failed_ = true;
    });
    if (failed_)
      return signalPassFailure();
    for (Operation *op : ops)
      lower(op);
  }

  void lower(Operation *op) {
    OpBuilder b(op);
    StepLowering lowering(b, op->getLoc());
    Value made;
    if (auto access = dyn_cast<AccessOp>(op))
      made = lowering.access(access.getSource(), getSteps(access.getSteps(), access.getNumbers()));
    else if (auto assign = dyn_cast<AssignOp>(op))
      made = lowering.assign(assign.getValue(), assign.getDest(),
                             getSteps(assign.getSteps(), assign.getNumbers()));
    else if (auto index = dyn_cast<IndexOp>(op))
      made = lowerIndex(b, index);
    else
      made = lowerIndexPut(b, cast<IndexPutOp>(op));
    op->getResult(0).replaceAllUsesWith(lowering.castTo(made, op->getResult(0).getType()));
    op->erase();
  }
};
} // namespace
