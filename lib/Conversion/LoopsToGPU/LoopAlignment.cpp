//===- LoopAlignment.cpp - where rows of leaves begin ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adjacent elements are one access where the first lies at a multiple of its bytes. What loops say of
// an address are sums and products: what divides them is read off these, up to one access.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

#include "ft/Dialect/Tile/IR/Tile.h" // bytes of an access

#include <numeric>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

namespace {
/// The greatest divisor of `unit` that is known to divide an index.
class Divisors {
public:
  Divisors(int64_t unit, llvm::function_ref<int64_t(BlockArgument)> ofArgument) : unit(unit), ofArgument(ofArgument) {}
  int64_t of(OpFoldResult value);

private:
  int64_t of(Value value);
  int64_t ofOperation(Operation *op, unsigned result);
  int64_t of(AffineExpr expr, ArrayRef<int64_t> operands, unsigned dims);
  int64_t product(int64_t a, int64_t b) const { return std::gcd(a * b, unit); } // (both are at most the unit)

  int64_t unit;
  llvm::function_ref<int64_t(BlockArgument)> ofArgument;
  llvm::DenseMap<Value, int64_t> known;
};
} // namespace

int64_t Divisors::of(OpFoldResult value) {
  if (auto constant = dyn_cast<Attribute>(value))
    return std::gcd(cast<IntegerAttr>(constant).getInt(), unit);
  return of(cast<Value>(value));
}

int64_t Divisors::of(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  int64_t divisor = 1;
  APInt constant;
  if (auto argument = dyn_cast<BlockArgument>(value))
    divisor = std::gcd(ofArgument(argument), unit);
  else if (matchPattern(value, m_ConstantInt(&constant)))
    divisor = std::gcd(constant.getSExtValue(), unit);
  else
    divisor = ofOperation(value.getDefiningOp(), cast<OpResult>(value).getResultNumber());
  known[value] = divisor;
  return divisor;
}

int64_t Divisors::ofOperation(Operation *op, unsigned result) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<int64_t> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(of(operand));
    return of(apply.getAffineMap().getResult(0), operands, apply.getAffineMap().getNumDims());
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return std::gcd(of(branch.thenYield().getOperand(result)), of(branch.elseYield().getOperand(result)));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::gcd(of(select.getTrueValue()), of(select.getFalseValue()));
  if (isa<arith::MulIOp>(op))
    return product(of(op->getOperand(0)), of(op->getOperand(1)));
  // (A remainder is the dividend less a multiple of the divisor; a minimum is one of both.)
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
  return 1;
}

int64_t Divisors::of(AffineExpr expr, ArrayRef<int64_t> operands, unsigned dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::gcd(constant.getValue(), unit);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[dims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = of(binary.getLHS(), operands, dims), right = of(binary.getRHS(), operands, dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::gcd(left, right);
  case AffineExprKind::Mul:
    return product(left, right);
  default:
    return 1;
  }
}

/// Whether memory begins where an access may: each buffer of a call and each part of a block's memory does.
static bool beginsEven(Value memory, func::FuncOp kernel) {
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return argument.getOwner() == &kernel.getBody().front();
  Operation *op = memory.getDefiningOp();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned result = cast<OpResult>(memory).getResultNumber();
    return beginsEven(branch.thenYield().getOperand(result), kernel) &&
           beginsEven(branch.elseYield().getOperand(result), kernel);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return beginsEven(select.getTrueValue(), kernel) && beginsEven(select.getFalseValue(), kernel);
  return isa<memref::AllocOp, loops::SplatOp>(op);
}

bool LoopWalker::isAligned(Value view, bool rowWise) {
  auto rows = view.getDefiningOp<memref::ReinterpretCastOp>();
  auto type = cast<MemRefType>(view.getType());
  const int64_t accessed = std::max<int64_t>(tile::accessBytes / bytesOf(type.getElementType()), 1);
  // Accesses are no wider than what divides an element, so rows need not begin at rounder numbers.
  int64_t elements = 1;
  for (int64_t extent : type.getShape().drop_front())
    elements *= extent;
  const int64_t unit = std::gcd(elements, accessed);
  auto ofArgument = [&](BlockArgument argument) -> int64_t {
    if (argument.getOwner() != &source.getBody().front())
      return 1;
    auto stride = launch.getArguments()[argument.getArgNumber()].getDefiningOp<loops::StrideOp>();
    if (!stride)
      return 1;
    // Callers' rows are checked to lie as evenly as rows without gaps.
    RankedTensorType element = cast<etdg::BufferType>(stride.getBuffer().getType()).getElement();
    return std::gcd(element.getNumElements(), tile::accessBytes / int64_t(bytesOf(element.getElementType())));
  };
  Divisors divisors(unit, ofArgument);
  return beginsEven(rows.getSource(), source) && divisors.of(rows.getMixedOffsets()[0]) == unit &&
         (!rowWise || divisors.of(rows.getMixedStrides()[0]) == unit);
}
