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

AffineProgram::AffineProgram(AffineExpr expr, Symbols symbols) { add(expr, symbols); }

void AffineProgram::addNumber(Number number) {
  fails |= !number;
  steps.push_back({Kind::Number, AffineExprKind::Constant, 0, number.value_or(0)});
}

void AffineProgram::add(AffineExpr expr, Symbols symbols) {
  if (expr.isSymbolicOrConstant())
    return addNumber(computeConstant(expr, symbols));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  AffineExpr last = binary && expr.getKind() == AffineExprKind::Add ? binary.getRHS() : AffineExpr();
  std::optional<Multiple> whole = getMultiple(expr, symbols), part = last ? getMultiple(last, symbols) : std::nullopt;
  if (std::optional<Multiple> multiple = whole ? whole : part) {
    whole ? addNumber(0) : add(binary.getLHS(), symbols);
    fails |= !multiple->factor;
    steps.push_back({Kind::AddDim, AffineExprKind::Add, multiple->dim, multiple->factor.value_or(0)});
    return;
  }
  add(binary.getLHS(), symbols);
  add(binary.getRHS(), symbols);
  steps.push_back({Kind::Binary, expr.getKind(), 0, 0});
}

Number AffineProgram::run(ArrayRef<Number> dims) const {
  if (fails)
    return std::nullopt;
  SmallVector<int64_t, 8> stack;
  for (const Step &step : steps) {
    switch (step.kind) {
    case Kind::Number:
      stack.push_back(step.number);
      break;
    case Kind::AddDim: {
      if (step.dim >= dims.size() || !dims[step.dim])
        return std::nullopt;
      int64_t multiple = 0;
      if (llvm::MulOverflow(*dims[step.dim], step.number, multiple) || llvm::AddOverflow(stack.back(), multiple, stack.back()))
        return std::nullopt;
      break;
    }
    case Kind::Binary: {
      int64_t b = stack.pop_back_val();
      Number result = compute(step.operation, stack.back(), b);
      if (!result)
        return std::nullopt;
      stack.back() = *result;
      break;
    }
    }
  }
  return stack.back();
}
