//===- FindAlignment.cpp - where rows of leaves begin ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adjacent elements are one access where the first lies at a multiple of its bytes. What loops say of
// an address are sums and products: what divides them is read off these, up to one access, and written on the
// leaf (`loops-find-alignment`). What is given there is compared with it.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "ft/Dialect/Tile/IR/Tile.h" // bytes of an access

#include <numeric>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// Elements of the widest access.
static int64_t elementsOfAccess(Type element) { return std::max<int64_t>(tile::accessBytes / schedule::elementBytes(element), 1); }

namespace {
/// The greatest divisor of `unit` that is known to divide an index.
class Divisors {
public:
  Divisors(int64_t unit, llvm::function_ref<int64_t(BlockArgument)> ofArgument) : unit(unit), ofArgument(ofArgument) {}
  int64_t of(OpFoldResult value);
  int64_t ofProduct(OpFoldResult a, OpFoldResult b) { return product(of(a), of(b)); }

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
  return isa<loops::AllocOp, loops::SplatOp>(op);
}

/// The index at which what a leaf reads of a view begins. In a block's own part of memory there are its columns alone, and the view begins
/// that many before: what accesses add to the one they take from the other.
static OpFoldResult beginOf(loops::ViewOp rows, const loops::ViewOp::Dim &dim) {
  OpFoldResult begin = dim.index;
  auto alloc = rows.getMemory().getDefiningOp<loops::AllocOp>();
  auto value = dyn_cast<Value>(begin);
  auto difference = value ? value.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  auto column = difference ? dyn_cast<BlockArgument>(difference.getRhs()) : BlockArgument();
  bool isOfColumns = column && column.getArgNumber() == 0 && isa<loops::ChunksOp>(column.getOwner()->getParentOp());
  return alloc && alloc.getParts() && isOfColumns ? OpFoldResult(difference.getLhs()) : begin;
}

/// What divides an argument of a kernel, wherever it is launched.
static int64_t divisorOf(BlockArgument argument, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
  if (argument.getOwner() != &kernel.getBody().front())
    return 1;
  int64_t divisor = 0;
  for (loops::LaunchOp launch : launches) {
    auto stride = launch.getArguments()[argument.getArgNumber()].getDefiningOp<loops::StrideOp>();
    if (!stride)
      return 1;
    // Callers' rows are checked to lie as evenly as rows without gaps.
    RankedTensorType element = cast<etdg::BufferType>(stride.getBuffer().getType()).getElement();
    divisor = std::gcd(divisor, std::gcd(element.getNumElements(), elementsOfAccess(element.getElementType())));
  }
  return divisor;
}

int64_t togpu::evenElements(MemRefType view) {
  int64_t elements = 1;
  for (int64_t extent : view.getShape().drop_front())
    elements *= extent;
  return std::gcd(elements, elementsOfAccess(view.getElementType()));
}

/// By how many bytes all rows of a view are known to begin evenly.
static int64_t findAlignment(Value view, bool rowWise, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
  auto rows = view.getDefiningOp<loops::ViewOp>();
  auto type = cast<MemRefType>(view.getType());
  auto ofArgument = [&](BlockArgument argument) { return divisorOf(argument, kernel, launches); };
  Divisors divisors(evenElements(type), ofArgument);
  int64_t even = beginsEven(rows.getMemory(), kernel) ? evenElements(type) : 1;
  for (const loops::ViewOp::Dim &dim : rows.getDims()) {
    even = std::gcd(even, divisors.ofProduct(beginOf(rows, dim), dim.stride));
    if (rowWise)
      even = std::gcd(even, divisors.ofProduct(dim.step, dim.stride));
  }
  return even * schedule::elementBytes(type.getElementType());
}

/// The same for each view of a leaf, inputs first.
static SmallVector<int64_t> findAlignments(loops::LeafOp leaf, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
  SmallVector<int64_t> found;
  bool hasRows = leaf.getMost() > 1;
  for (auto [view, varies] : llvm::zip_equal(leaf.getInputs(), leaf.getVaries()))
    found.push_back(findAlignment(view, hasRows && varies, kernel, launches));
  for (Value view : leaf.getOutputs())
    found.push_back(findAlignment(view, hasRows, kernel, launches));
  return found;
}

LogicalResult mlir::ft::findKernelAlignment(loops::ProgramOp program, const GpuScheduleOptions &options) {
  return eachKernel(program, options.getMachine(), [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
    kernel.walk([&](loops::LeafOp leaf) {
      if (!leaf.getAligned())
        leaf.setAligned(findAlignments(leaf, kernel, launches));
    });
    return success();
  });
}

LogicalResult togpu::checkAlignment(func::FuncOp kernel, loops::LaunchOp launch) {
  WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
    if (!leaf.getAligned())
      return WalkResult::advance();
    for (auto [i, known, said] : llvm::enumerate(findAlignments(leaf, kernel, launch), *leaf.getAligned()))
      if (known % said != 0) {
        leaf.emitError("the GPU engine can't run the leaf: rows of view ")
            << i << " are said to begin at multiples of " << said << " bytes, what is known of their addresses is a multiple of " << known;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
