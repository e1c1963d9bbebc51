//===- ETDGVerify.cpp - the pass etdg-verify ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGVERIFY
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;

namespace {
struct ETDGVerify : etdg::impl::ETDGVerifyBase<ETDGVerify> {
  void runOnOperation() override {
    if (failed(etdg::verifyGraph(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
