//===- ExpandMath.cpp - Elementary functions as polynomials ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/ExpandMath.h"

#include "MathBuilder.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ft;

namespace {

/// Scalars and vectors of floats; halves are computed in f32.
template <typename Op>
struct ExpandPattern : OpRewritePattern<Op> {
  using Function = Value (*)(const MathBuilder &, ValueRange);
  Function function;

  ExpandPattern(MLIRContext *context, Function function)
      : OpRewritePattern<Op>(context), function(function) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    Type type = op->getResult(0).getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!isa<FloatType>(type) && !(vector && !vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "only scalars and vectors are expanded");
    Type element = getElementTypeOrSelf(type), computed = element;
    if (element.isF16() || element.isBF16())
      computed = rewriter.getF32Type();
    if (!computed.isF32() && !computed.isF64())
      return rewriter.notifyMatchFailure(op, "only f16, bf16, f32 and f64 are expanded");
    Type wide = vector ? Type(vector.clone(computed)) : computed;
    SmallVector<Value> operands = llvm::to_vector_of<Value>(op->getOperands());
    if (computed != element)
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(rewriter, op.getLoc(), wide, operand);
    Value result = function(MathBuilder(rewriter, op.getLoc(), wide), operands);
    if (computed != element)
      result = arith::TruncFOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)

  StringRef getArgument() const final { return "ft-expand-math"; }
  StringRef getDescription() const final { return "Expand elementary functions into polynomials"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

/// Calls the C library, one element at a time, for what has neither a
/// polynomial nor an instruction.
struct CallMathLibraryPass : PassWrapper<CallMathLibraryPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallMathLibraryPass)

  StringRef getArgument() const final { return "ft-call-math-library"; }
  StringRef getDescription() const final {
    return "Call the C library for the functions that ft-expand-math leaves";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry
        .insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, vector::VectorDialect>();
  }
  void runOnOperation() final {
    ConversionTarget target(getContext());
    target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::Atan2Op,
                        math::AtanhOp, math::CbrtOp, math::CoshOp, math::ErfcOp, math::SinhOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

template <typename Op, Value (*function)(const MathBuilder &, Value)>
static void addUnary(RewritePatternSet &patterns) {
  patterns.add<ExpandPattern<Op>>(
      patterns.getContext(),
      [](const MathBuilder &m, ValueRange operands) { return function(m, operands[0]); });
}

static Value buildRsqrt(const MathBuilder &m, Value x) {
  return m.div(m.c(1), math::SqrtOp::create(m.b, x));
}

void mlir::ft::populateExpandMathPatterns(RewritePatternSet &patterns) {
  addUnary<math::ExpOp, buildExp>(patterns);
  addUnary<math::Exp2Op, buildExp2>(patterns);
  addUnary<math::ExpM1Op, buildExpM1>(patterns);
  addUnary<math::TanhOp, buildTanh>(patterns);
  addUnary<math::LogOp, buildLog>(patterns);
  addUnary<math::Log2Op, buildLog2>(patterns);
  addUnary<math::Log10Op, buildLog10>(patterns);
  addUnary<math::Log1pOp, buildLog1p>(patterns);
  addUnary<math::SinOp, buildSin>(patterns);
  addUnary<math::CosOp, buildCos>(patterns);
  addUnary<math::TanOp, buildTan>(patterns);
  addUnary<math::AtanOp, buildAtan>(patterns);
  addUnary<math::ErfOp, buildErf>(patterns);
  addUnary<math::RsqrtOp, buildRsqrt>(patterns);
  patterns.add<ExpandPattern<math::PowFOp>>(patterns.getContext(),
                                            [](const MathBuilder &m, ValueRange operands) {
                                              return buildPow(m, operands[0], operands[1]);
                                            });
}

std::unique_ptr<Pass> mlir::ft::createExpandMathPass() {
  return std::make_unique<ExpandMathPass>();
}

std::unique_ptr<Pass> mlir::ft::createCallMathLibraryPass() {
  return std::make_unique<CallMathLibraryPass>();
}
