//===- ScaleExponents.cpp - factors of exponentials in few instructions ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax subtracts a row's maximum from scaled numbers, and the special function
// unit wants the difference times log2 e. With factors multiplied beforehand a
// number takes one instruction before the unit, and none but the maximum itself
// before its row's maximum is known. The row's sum adds the powers as they are.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::ft {
#define GEN_PASS_DEF_TILESCALEEXPONENTS
#include "ft/Conversion/TileToNVVM/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;

/// The constant factor of a product of f32.
static std::optional<double> factorOf(arith::MulFOp product) {
  APFloat factor(0.0f);
  if (!product || !product.getType().isF32() || !matchPattern(product.getRhs(), m_ConstantFloat(&factor)) || !factor.isFinite())
    return std::nullopt;
  return factor.convertToDouble();
}

static Value constant(OpBuilder &b, Location loc, double value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value))); }

/// What a half was before it was rounded, alone or as one of a pair; null where that isn't seen.
static Value wideOf(Value half) {
  if (auto rounded = half.getDefiningOp<arith::TruncFOp>())
    return rounded.getIn();
  auto one = half.getDefiningOp<LLVM::ExtractElementOp>();
  auto rounded = one ? one.getVector().getDefiningOp<arith::TruncFOp>() : arith::TruncFOp();
  APInt place, other;
  if (!rounded || !matchPattern(one.getPosition(), m_ConstantInt(&place)))
    return {};
  auto put = rounded.getIn().getDefiningOp<LLVM::InsertElementOp>();
  while (put && matchPattern(put.getPosition(), m_ConstantInt(&other)) && place != other)
    put = put.getVector().getDefiningOp<LLVM::InsertElementOp>();
  return put && matchPattern(put.getPosition(), m_ConstantInt(&other)) ? put.getValue() : Value();
}

static bool standsForHalf(arith::FastMathFlags flags) { return bitEnumContainsAll(flags, arith::FastMathFlags::afn); }

namespace {
/// e^(s c - m) is 2^(s (c log2 e) - m log2 e).
struct UsePowersOfTwo : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp exp, PatternRewriter &rewriter) const override {
    if (!exp.getType().isF32() || !standsForHalf(exp.getFastmath()))
      return failure();
    constexpr double log2e = 1.4426950408889634;
    Location loc = exp.getLoc();
    auto difference = exp.getOperand().getDefiningOp<arith::SubFOp>();
    Value number = difference ? difference.getLhs() : exp.getOperand();
    auto scaled = number.getDefiningOp<arith::MulFOp>();
    std::optional<double> scale = factorOf(scaled);
    Value factor = constant(rewriter, loc, scale.value_or(1.0) * log2e);
    number = scale ? scaled.getLhs() : number;
    Value exponent;
    if (difference) { // (The subtrahend's product is the same for all numbers of a row.)
      Value less = arith::MulFOp::create(rewriter, loc, difference.getRhs(), constant(rewriter, loc, -log2e));
      exponent = math::FmaOp::create(rewriter, loc, number, factor, less);
    } else {
      exponent = arith::MulFOp::create(rewriter, loc, number, factor);
    }
    rewriter.replaceOpWithNewOp<math::Exp2Op>(exp, exponent, exp.getFastmath());
    return success();
  }
};

/// A power that stands for a half and goes on as f32 need not be rounded.
struct LeaveWide : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp extended, PatternRewriter &rewriter) const override {
    Value wide = wideOf(extended.getIn());
    auto power = wide ? wide.getDefiningOp<math::Exp2Op>() : math::Exp2Op();
    if (!power || power.getType() != extended.getType() || !standsForHalf(power.getFastmath()))
      return failure();
    rewriter.replaceOp(extended, power.getResult());
    return success();
  }
};

/// The greater one of a c and b c is the greater one of a and b, times c, to the last digit: roundings keep the order.
struct ScaleMaximum : OpRewritePattern<arith::MaximumFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MaximumFOp maximum, PatternRewriter &rewriter) const override {
    auto one = maximum.getLhs().getDefiningOp<arith::MulFOp>(), other = maximum.getRhs().getDefiningOp<arith::MulFOp>();
    std::optional<double> scale = factorOf(one);
    if (!scale || *scale <= 0.0 || scale != factorOf(other) || one == other || !one->hasOneUse() || !other->hasOneUse())
      return failure();
    Value greater = arith::MaximumFOp::create(rewriter, maximum.getLoc(), one.getLhs(), other.getLhs());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(maximum, greater, one.getRhs());
    return success();
  }
};

struct TileScaleExponents : mlir::ft::impl::TileScaleExponentsBase<TileScaleExponents> {
  using TileScaleExponentsBase::TileScaleExponentsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<UsePowersOfTwo, LeaveWide, ScaleMaximum>(&getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation()->emitError("the exponents' factors do not come to rest");
      signalPassFailure();
    }
  }
};
} // namespace
