//===- RewriteMath.cpp - math operations that are a few others ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the type that they are written in: whether an f16 is normal, for one, can no
// longer be asked once it has been extended to an f32.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Math/Transforms/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {
/// A constant of a float type, or of a shaped type of them.
Value constantOf(OpBuilder &b, Location loc, Type type, const APFloat &value) {
  TypedAttr attr = FloatAttr::get(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

/// Tests of |x| against infinity and the smallest normal number. Comparisons are ordered: NaN is
/// neither finite nor infinite nor normal.
template <typename Op>
struct RewriteTest : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const final {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Type type = x.getType();
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasStaticShape())
      return b.notifyMatchFailure(op, "a constant has a static shape");
    if constexpr (std::is_same_v<Op, math::IsNaNOp>) {
      b.replaceOpWithNewOp<arith::CmpFOp>(op, arith::CmpFPredicate::UNO, x, x);
      return success();
    }
    const auto &semantics = cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
    Value size = math::AbsFOp::create(b, loc, x);
    Value infinity = constantOf(b, loc, type, APFloat::getInf(semantics));
    auto predicate = std::is_same_v<Op, math::IsInfOp> ? arith::CmpFPredicate::OEQ
                                                       : arith::CmpFPredicate::OLT;
    Value test = arith::CmpFOp::create(b, loc, predicate, size, infinity);
    if constexpr (std::is_same_v<Op, math::IsNormalOp>) {
      Value least = constantOf(b, loc, type, APFloat::getSmallestNormalized(semantics));
      Value isLarge = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, size, least);
      test = arith::AndIOp::create(b, loc, test, isLarge);
    }
    b.replaceOp(op, test);
    return success();
  }
};

/// min(max(x, low), high); NaN stays NaN.
struct RewriteClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op, PatternRewriter &b) const final {
    Value raised = arith::MaximumFOp::create(b, op.getLoc(), op.getOperand(0), op.getOperand(1));
    b.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getOperand(2));
    return success();
  }
};

struct RewriteSincos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SincosOp op, PatternRewriter &b) const final {
    Value sin = math::SinOp::create(b, op.getLoc(), op.getOperand());
    Value cos = math::CosOp::create(b, op.getLoc(), op.getOperand());
    b.replaceOp(op, ValueRange{sin, cos});
    return success();
  }
};
} // namespace

void mlir::ft::populateRewriteMathPatterns(RewritePatternSet &patterns) {
  patterns.add<RewriteTest<math::IsFiniteOp>, RewriteTest<math::IsInfOp>, RewriteTest<math::IsNaNOp>,
               RewriteTest<math::IsNormalOp>, RewriteClamp, RewriteSincos>(patterns.getContext());
}
