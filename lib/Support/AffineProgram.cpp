//===- AffineProgram.cpp - affine expressions for many points -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Support/AffineProgram.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;

using Number = std::optional<int64_t>;

static Number compute(AffineExprKind operation, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (operation) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(a, b, result) ? std::nullopt : Number(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(a, b, result) ? std::nullopt : Number(result);
  default:
    break;
  }
  if (b <= 0)
    return std::nullopt;
  if (operation == AffineExprKind::FloorDiv)
    return llvm::divideFloorSigned(a, b);
  return operation == AffineExprKind::CeilDiv ? llvm::divideCeilSigned(a, b) : llvm::mod(a, b);
}

/// Of an expression without dimensions.
static Number computeConstant(AffineExpr expr, AffineProgram::Symbols symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Number a = computeConstant(binary.getLHS(), symbols), b = computeConstant(binary.getRHS(), symbols);
  return a && b ? compute(expr.getKind(), *a, *b) : std::nullopt;
}

namespace {
/// `d` or `d * factor`.
struct Multiple {
  unsigned dim = 0;
  Number factor;
};
} // namespace

static std::optional<Multiple> getMultiple(AffineExpr expr, AffineProgram::Symbols symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Multiple{dim.getPosition(), 1};
  if (expr.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  if (!dim || !binary.getRHS().isSymbolicOrConstant())
    return std::nullopt;
  return Multiple{dim.getPosition(), computeConstant(binary.getRHS(), symbols)};
}

AffineProgram::AffineProgram(AffineExpr expr, Symbols symbols) {
  add(expr, symbols);
  isSum = llvm::all_of(llvm::drop_begin(steps), [](const Step &step) { return step.kind == Kind::AddDim || step.kind == Kind::AddNumber; });
}

void AffineProgram::addStep(Kind kind, Number number, unsigned dim) {
  fails |= !number;
  steps.push_back({kind, AffineExprKind::Constant, dim, number.value_or(0)});
}

void AffineProgram::add(AffineExpr expr, Symbols symbols) {
  if (expr.isSymbolicOrConstant())
    return addStep(Kind::Number, computeConstant(expr, symbols));
  if (std::optional<Multiple> multiple = getMultiple(expr, symbols)) {
    addStep(Kind::Number, 0);
    return addStep(Kind::AddDim, multiple->factor, multiple->dim);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  add(binary.getLHS(), symbols);
  if (expr.getKind() == AffineExprKind::Add) {
    if (binary.getRHS().isSymbolicOrConstant())
      return addStep(Kind::AddNumber, computeConstant(binary.getRHS(), symbols));
    if (std::optional<Multiple> multiple = getMultiple(binary.getRHS(), symbols))
      return addStep(Kind::AddDim, multiple->factor, multiple->dim);
  }
  add(binary.getRHS(), symbols);
  steps.push_back({Kind::Binary, expr.getKind(), 0, 0});
}

/// Adds a step to a sum; false where there is nothing to add, or too much.
bool AffineProgram::addTo(int64_t &sum, const Step &step, ArrayRef<Number> dims) {
  int64_t number = step.number;
  if (step.kind == Kind::AddDim &&
      (step.dim >= dims.size() || !dims[step.dim] || llvm::MulOverflow(*dims[step.dim], step.number, number)))
    return false;
  return !llvm::AddOverflow(sum, number, sum);
}

Number AffineProgram::runSum(ArrayRef<Number> dims) const {
  int64_t sum = steps.front().number;
  for (const Step &step : llvm::drop_begin(steps))
    if (!addTo(sum, step, dims))
      return std::nullopt;
  return sum;
}

Number AffineProgram::run(ArrayRef<Number> dims) const {
  if (fails)
    return std::nullopt;
  if (isSum)
    return runSum(dims);
  SmallVector<int64_t, 8> stack;
  for (const Step &step : steps) {
    if (step.kind == Kind::Number) {
      stack.push_back(step.number);
    } else if (step.kind == Kind::Binary) {
      int64_t last = stack.pop_back_val();
      Number result = compute(step.operation, stack.back(), last);
      if (!result)
        return std::nullopt;
      stack.back() = *result;
    } else if (!addTo(stack.back(), step, dims)) {
      return std::nullopt;
    }
  }
  return stack.back();
}
