//===- FTExpand.cpp - short forms to upstream operations ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/FTForms.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"
#include "ft/Support/DataIndices.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTEXPAND
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

namespace {
struct FTExpand : ft::impl::FTExpandBase<FTExpand> {
  void runOnOperation() override {
    SmallVector<Operation *> forms;
    getOperation().walk([&](Operation *op) {
      if (isShortForm(op))
        forms.push_back(op);
    });
    for (Operation *op : forms) {
      OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(expandShortForm(builder, op));
      op->erase();
    }
    keepDataIndices(getOperation());
    expandFloorQuotients(getOperation());
  }
};
} // namespace
