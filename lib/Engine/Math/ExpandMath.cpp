//===- ExpandMath.cpp - Elementary functions as polynomials ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

void mlir::ft::populateExpandMathPatterns(RewritePatternSet &) {}

namespace {
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  StringRef getArgument() const final { return "ft-expand-math"; }
  StringRef getDescription() const final { return "Expand elementary functions into polynomials"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() final {}
};
} // namespace

std::unique_ptr<Pass> mlir::ft::createExpandMathPass() {
  return std::make_unique<ExpandMathPass>();
}
