//===- FastMath.cpp - elementary functions in f32 -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the special function unit's base-2 exponential and logarithm, with the
// reduction done in full precision, so that results are within a few units in
// the last place. No libdevice. Which divisions may be products with a reciprocal
// leaves say (`fastmath<arcp>`): `loops-choose-divisions` finds those whose result
// is rounded as a quotient's.
//
//===----------------------------------------------------------------------===//
#include "Code.h"

#include "ft/Conversion/LoopsToGPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace mlir::ft {
#define GEN_PASS_DEF_TILEUSESPECIALFUNCTIONS
#include "ft/Conversion/LoopsToGPU/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

namespace {
struct Float {
  static constexpr double log2e = 1.4426950408889634;
  Code &b;
  Value constant(double value) const {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
  }
  Value instruction(StringRef name, Value x) const {
    return LLVM::InlineAsmOp::create(b, b.getF32Type(), ValueRange{x}, (name + " $0, $1;").str(),
                                     "=f,f",
                                     /*has_side_effects=*/false, /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, x, y); }
  /// 1/x to the last digit, without a branch for what is near the ends of the range; 0 above 2^126.
  Value reciprocal(Value x) const { return instruction("rcp.approx.ftz.f32", x); }
  Value fma(Value x, Value y, Value z) const { return math::FmaOp::create(b, x, y, z); }
  Value less(Value x, Value y) const {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  Value select(Value c, Value x, Value y) const { return arith::SelectOp::create(b, c, x, y); }
  Value abs(Value x) const { return math::AbsFOp::create(b, x); }

  /// exp x = 2^i 2^f, i an integer, f at most a half: the unit raises to f + 1, and 2^(i - 1) is put together from bits. Roundings
  /// and powers of the unit would be four times as slow as sums.
  Value exp(Value x) const {
    // Beyond these the result is infinity or, below twice the least normal number, 0.
    Value high = arith::MinimumFOp::create(b, x, constant(89.0));
    Value inside = arith::MaximumFOp::create(b, high, constant(-87.6));
    // A number of 23 digits has no fraction: the sum rounds, and its last digits are those of i - 1 with the exponent's bias.
    constexpr double noFraction = 12582912.0, bias = 126.0;
    Value rounded = fma(inside, constant(log2e), constant(noFraction + bias));
    Value whole = sub(rounded, constant(noFraction + bias));
    // ln 2 in two parts, the first with trailing zeros: x - i ln 2 is exact to f32.
    Value rest = fma(whole, constant(-0.693145751953125), inside);
    rest = fma(whole, constant(-1.42860682030941723212e-6), rest);
    Value fraction = instruction("ex2.approx.ftz.f32", fma(rest, constant(log2e), constant(1.0)));
    constexpr int64_t digits = 23; // of f32, after which its exponent begins
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), rounded);
    Value power = arith::ShLIOp::create(b, bits, b.number32(digits));
    return mul(fraction, arith::BitcastOp::create(b, b.getF32Type(), power));
  }
  /// x / y for a constant x of at most 1 and y of at least 1: rounded as a division is, but that results below the least normal
  /// number are 0. What is computed of one thread's values has no branches then, and the machine computes several of them at a time.
  Value shareOf(Value x, Value y) const {
    Value inverse = reciprocal(y), quotient = mul(x, inverse);
    Value rest = fma(arith::NegFOp::create(b, y), quotient, x);
    Value refined = fma(rest, inverse, quotient);
    // (Infinity times 0 is no number.)
    Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, refined, refined);
    return select(isNumber, refined, quotient);
  }
  Value log(Value x) const {
    return mul(instruction("lg2.approx.f32", x), constant(0.69314718055994531));
  }
  Value tanh(Value x) const {
    Value size = abs(x);
    // Near 0 the quotient below would lose its leading digits.
    Value z = mul(x, x);
    Value p = fma(z, constant(-5.70498872745e-3), constant(2.06390887954e-2));
    p = fma(p, z, constant(-5.37397155531e-2));
    p = fma(p, z, constant(1.33314422036e-1));
    p = fma(p, z, constant(-3.33332819422e-1));
    Value small = fma(mul(p, z), x, x);
    Value twice = exp(add(size, size));
    Value large = sub(constant(1.0), mul(constant(2.0), reciprocal(add(twice, constant(1.0)))));
    large = math::CopySignOp::create(b, large, x);
    return select(less(size, constant(0.625)), small, large);
  }
  Value expm1(Value x) const {
    // A polynomial where 1 would swallow the digits.
    Value p = constant(1.0 / 5040);
    for (double c : {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0})
      p = fma(p, x, constant(c));
    return select(less(abs(x), constant(0.35)), mul(p, x), sub(exp(x), constant(1.0)));
  }
  Value log1p(Value x) const {
    Value y = add(x, constant(1.0));
    // What the sum rounded away is put back to first order.
    Value lost = sub(x, sub(y, constant(1.0)));
    // (At -1 and at infinity nothing was lost that a quotient could say.)
    Value correction = mul(lost, reciprocal(y));
    Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, correction, correction);
    Value far = add(log(y), select(isNumber, correction, constant(0.0)));
    Value p = constant(-1.0 / 8);
    for (double c : {1.0 / 7, -1.0 / 6, 0.2, -0.25, 1.0 / 3, -0.5, 1.0})
      p = fma(p, x, constant(c));
    return select(less(abs(x), constant(0.125)), mul(p, x), far);
  }
  Value erf(Value x) const { // Abramowitz and Stegun 7.1.26, to 1.5e-7
    Value size = abs(x);
    Value t = reciprocal(fma(size, constant(0.3275911), constant(1.0)));
    Value p = constant(1.061405429);
    for (double c : {-1.453152027, 1.421413741, -0.284496736, 0.254829592})
      p = fma(p, t, constant(c));
    Value tail = mul(mul(p, t), exp(sub(constant(0.0), mul(size, size))));
    return math::CopySignOp::create(b, sub(constant(1.0), tail), x);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// A function of f32 by the device's instructions; null if there is no rule.
static Value useInstructions(Code &b, Operation *op) {
  Value x = op->getOperand(0);
  Float f{b};
  auto standsForHalf = [](auto power) { return bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn); };
  // (`tile-scale-exponents` writes it as a power of 2, which the unit computes alone to 2^-17 of the result.)
  if (auto exp = dyn_cast<math::ExpOp>(op))
    return standsForHalf(exp) ? Value() : f.exp(x);
  if (auto division = dyn_cast<arith::DivFOp>(op))
    return bitEnumContainsAll(division.getFastmath(), arith::FastMathFlags::arcp) ? f.shareOf(x, division.getRhs()) : Value();
  if (auto power = dyn_cast<math::Exp2Op>(op))
    return f.instruction(standsForHalf(power) ? "ex2.approx.ftz.f32" : "ex2.approx.f32", x);
  if (isa<math::ExpM1Op>(op))
    return f.expm1(x);
  if (isa<math::LogOp>(op))
    return f.log(x);
  if (isa<math::Log2Op>(op))
    return f.instruction("lg2.approx.f32", x);
  if (isa<math::Log1pOp>(op))
    return f.log1p(x);
  if (isa<math::TanhOp>(op))
    return f.tanh(x);
  if (isa<math::RsqrtOp>(op))
    return f.instruction("rsqrt.approx.f32", x);
  if (isa<math::ErfOp>(op))
    return f.erf(x);
  return Value();
}

namespace {
struct TileUseSpecialFunctions : mlir::ft::impl::TileUseSpecialFunctionsBase<TileUseSpecialFunctions> {
  using TileUseSpecialFunctionsBase::TileUseSpecialFunctionsBase;

  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !op->getOperand(0).getType().isF32())
        return;
      Code b(op->getLoc(), OpBuilder(op));
      if (Value value = useInstructions(b, op)) {
        op->replaceAllUsesWith(ValueRange{value});
        op->erase();
      }
    });
  }
};
} // namespace
