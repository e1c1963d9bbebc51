//===- ExpandMath.cpp - Elementary functions as polynomials ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Math/Transforms/ExpandMath.h"

#include "MathBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
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
    for (Value &operand : operands)
      if (computed != element && operand.getType() == type) // no exponent that is an integer
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
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

/// Powers of integers.
struct ExpandIPowI : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const final {
    if (isa<TensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "only scalars and vectors are expanded");
    rewriter.replaceOp(op, buildIPowI(rewriter, op.getLoc(), op.getLhs(), op.getRhs()));
    return success();
  }
};

} // namespace

template <typename Op, Value (*function)(const MathBuilder &, Value)>
static void addUnary(RewritePatternSet &patterns) {
  patterns.add<ExpandPattern<Op>>(
      patterns.getContext(),
      [](const MathBuilder &m, ValueRange operands) { return function(m, operands[0]); });
}

template <typename Op, Value (*function)(const MathBuilder &, Value, Value)>
static void addBinary(RewritePatternSet &patterns) {
  patterns.add<ExpandPattern<Op>>(patterns.getContext(),
                                  [](const MathBuilder &m, ValueRange operands) {
                                    return function(m, operands[0], operands[1]);
                                  });
}

void mlir::ft::populateExpandMathPatterns(RewritePatternSet &patterns) {
  populateRewriteMathPatterns(patterns);
#define FT_MATH_ADD_Expanded(add, Name) add<math::Name##Op, build##Name>(patterns);
#define FT_MATH_ADD_Instruction(add, Name)
#define FT_MATH_ADD_Rewritten(add, Name)
#define FT_MATH_UNARY(Name, mnemonic, how, host) FT_MATH_ADD_##how(addUnary, Name)
#define FT_MATH_BINARY(Name, mnemonic, how, host) FT_MATH_ADD_##how(addBinary, Name)
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
  addBinary<math::FPowIOp, buildFPowI>(patterns);
  patterns.add<ExpandIPowI>(patterns.getContext());
}

bool mlir::ft::hasMathInstruction(Operation *op) {
#define FT_MATH_IS_Instruction(Name) || isa<math::Name##Op>(op)
#define FT_MATH_IS_Expanded(Name)
#define FT_MATH_IS_Rewritten(Name)
#define FT_MATH_OP(Name, mnemonic, how) FT_MATH_IS_##how(Name)
  return false
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
      ;
}

std::unique_ptr<Pass> mlir::ft::createExpandMathPass() {
  return std::make_unique<ExpandMathPass>();
}
