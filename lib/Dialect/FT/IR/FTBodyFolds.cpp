//===- FTBodyFolds.cpp - constants in bodies ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What upstream's folders leave of numbers that programs compute from their own
// shapes, such as 1/√d: square roots of constants, in every float type.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;

namespace {
/// sqrt of a splat. In f16 and bf16, too: a root taken in f64 and rounded is the root
/// rounded once, for f64 has more than twice their digits.
struct FoldSqrt : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SqrtOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    SplatElementsAttr splat;
    if (!type || !type.hasStaticShape() || !matchPattern(op.getOperand(), m_Constant(&splat)))
      return failure();
    auto element = dyn_cast<FloatType>(type.getElementType());
    if (!element || element.getWidth() > 32)
      return failure(); // f64 has its folder
    double value = splat.getSplatValue<APFloat>().convertToDouble();
    if (!(value >= 0))
      return failure();
    bool inexact;
    APFloat root(std::sqrt(value));
    root.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, DenseElementsAttr::get(type, root));
    return success();
  }
};
} // namespace

void mlir::ft::detail::populateBodyFolds(RewritePatternSet &patterns) {
  patterns.add<FoldSqrt>(patterns.getContext());
}
