//===- ChooseDivisions.cpp - divisions that may be products with reciprocals -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those whose result is rounded as a quotient's though it is a product with the reciprocal get `fastmath<arcp>`
// (`loops-choose-divisions`); `tile-use-special-functions` computes them.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using leaf::isHalf;

/// Whether an operation yields the sum of a constant of at least 1 and what is not negative.
static bool isAtLeastOne(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  for (auto [one, other] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    APFloat constant(0.0);
    if (matchPattern(one, m_ConstantFloat(&constant)) && constant.convertToDouble() >= 1 &&
        isa_and_nonnull<math::ExpOp, math::Exp2Op, math::AbsFOp, math::SqrtOp>(other.getDefiningOp()))
      return true;
  }
  return false;
}

/// A logistic function's quotient, and others whose ends of range can't matter.
static bool isShare(arith::DivFOp division) {
  APFloat constant(0.0);
  return matchPattern(division.getLhs(), m_ConstantFloat(&constant)) && std::abs(constant.convertToDouble()) <= 1 &&
         isAtLeastOne(division.getRhs());
}

LogicalResult mlir::ft::chooseKernelDivisions(loops::ProgramOp program, const GpuScheduleOptions &options) {
  return eachKernel(program, options.getMachine(), [](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) {
    kernel.walk([](arith::DivFOp division) {
      Type element = getElementTypeOrSelf(division.getType());
      if ((element.isF32() || isHalf(element)) && isShare(division))
        division.setFastmath(division.getFastmath() | arith::FastMathFlags::arcp);
    });
    return success();
  });
}
