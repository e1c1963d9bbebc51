//===- MaximumShift.cpp - what a running maximum changes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of a softmax have the factor exp(-m). In o / s it cancels, in m + log s it is the summand -m: neither depends on
// m, whose cotangent is zero then.
//
//===----------------------------------------------------------------------===//
#include "MaximumShift.h"

#include "ft/Dialect/FT/IR/FTForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

using Dims = std::optional<SmallVector<int64_t>>;

static constexpr int64_t noDim = -1;

/// Of a loop nest with projected maps: a dimension of m may not be summed over.
static Dims moveThrough(linalg::LinalgOp op, Value source, ArrayRef<int64_t> dims) {
  if (op->getNumResults() != 1 || llvm::count(op->getOperands(), source) != 1)
    return std::nullopt;
  OpOperand *operand = llvm::find_if(op->getOpOperands(), [&](OpOperand &each) { return each.get() == source; });
  AffineMap from = op.getMatchingIndexingMap(operand), to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!op.isDpsInput(operand) || !from.isProjectedPermutation() || !to.isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> ofLoops(op.getNumLoops(), noDim), moved;
  for (auto [i, dim] : llvm::enumerate(dims))
    ofLoops[from.getDimPosition(i)] = dim;
  for (unsigned i = 0; i < to.getNumResults(); ++i) {
    moved.push_back(ofLoops[to.getDimPosition(i)]);
    ofLoops[to.getDimPosition(i)] = noDim;
  }
  if (llvm::any_of(ofLoops, [](int64_t dim) { return dim != noDim; }))
    return std::nullopt;
  return moved;
}

/// Between a shape and one with more dimensions of extent 1.
static Dims moveReshaped(ArrayRef<int64_t> dims, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> moved(to.size(), noDim), places;
  for (auto [i, extent] : llvm::enumerate(to))
    if (extent != 1)
      places.push_back(static_cast<int64_t>(i));
  size_t next = 0;
  for (auto [extent, dim] : llvm::zip_equal(from, dims)) {
    if (extent == 1) // its only index is that of any other
      continue;
    if (next == places.size() || to[places[next]] != extent)
      return std::nullopt;
    moved[places[next++]] = dim;
  }
  return next == places.size() ? Dims(moved) : std::nullopt;
}

Dims differentiate::moveDims(Operation *op, Value source, ArrayRef<int64_t> dims) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()), own = dyn_cast<RankedTensorType>(source.getType());
  if (!type || !own || !own.hasStaticShape() || !type.hasStaticShape())
    return std::nullopt;
  if (OpTrait::hasElementwiseMappableTraits(op))
    return SmallVector<int64_t>(dims);
  if (isa<BroadcastOp>(op)) {
    SmallVector<int64_t> moved(type.getRank() - own.getRank(), noDim);
    for (auto [i, dim] : llvm::enumerate(dims))
      moved.push_back(own.getDimSize(i) == type.getDimSize(moved.size()) ? dim : noDim);
    return moved;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return moveReshaped(dims, own.getShape(), type.getShape());
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  return loops ? moveThrough(loops, source, dims) : std::nullopt;
}

namespace {
/// Follows values through a block.
class Follower {
public:
  Follower(DenseMap<Value, MaximumShift> shifts, bool isBaseTwo) : shifts(std::move(shifts)), isBaseTwo(isBaseTwo) {}
  bool follow(Operation &op);

private:
  std::optional<MaximumShift> combine(Operation &op);
  MaximumShift of(Value value) const { return shifts.lookup(value); }

  DenseMap<Value, MaximumShift> shifts;
  bool isBaseTwo;
};
} // namespace

/// Of an operation that reads a value which follows m; nothing where no rule says how its result does.
std::optional<MaximumShift> Follower::combine(Operation &op) {
  MaximumShift made;
  if (isa<arith::MulFOp, arith::DivFOp, arith::AddFOp, arith::SubFOp>(op)) {
    MaximumShift a = of(op.getOperand(0)), b = of(op.getOperand(1));
    bool isSum = isa<arith::AddFOp, arith::SubFOp>(op), isSecondTaken = isa<arith::DivFOp, arith::SubFOp>(op);
    if (!a.isNone() && !b.isNone() && a.dims != b.dims)
      return std::nullopt;
    if (isSum ? a.power != b.power : a.shift != 0 || b.shift != 0)
      return std::nullopt;
    made.dims = a.isNone() ? b.dims : a.dims;
    made.power = isSum ? a.power : isSecondTaken ? a.power - b.power : a.power + b.power;
    made.shift = isSecondTaken ? a.shift - b.shift : a.shift + b.shift;
    return made;
  }
  Value source = op.getNumOperands() ? op.getOperand(0) : Value();
  if (!source || of(source).isNone() || llvm::any_of(llvm::drop_begin(op.getOperands()), [&](Value each) { return !of(each).isNone(); }))
    return std::nullopt;
  made = of(source);
  if (isBaseTwo ? isa<math::Log2Op>(op) : isa<math::LogOp>(op)) {
    if (made.shift != 0)
      return std::nullopt;
    return MaximumShift{0, -made.power, made.dims};
  }
  if (isa<arith::NegFOp>(op)) {
    made.shift = -made.shift;
    return made;
  }
  bool isSameNumber = isa<arith::ExtFOp, arith::TruncFOp, BroadcastOp, linalg::BroadcastOp, linalg::TransposeOp, tensor::ExpandShapeOp,
                          tensor::CollapseShapeOp>(op);
  std::optional<SmallVector<int64_t>> dims = isSameNumber ? moveDims(&op, source, made.dims) : std::nullopt;
  if (!dims)
    return std::nullopt;
  made.dims = *dims;
  return made;
}

bool Follower::follow(Operation &op) {
  bool captures = false;
  for (Region &region : op.getRegions())
    region.walk([&](Operation *inner) {
      captures |= llvm::any_of(inner->getOperands(), [&](Value operand) { return !of(operand).isNone(); });
    });
  if (captures)
    return false;
  if (llvm::all_of(op.getOperands(), [&](Value operand) { return of(operand).isNone(); }))
    return true;
  if (op.getNumResults() != 1)
    return false;
  std::optional<MaximumShift> made = combine(op);
  if (made)
    shifts[op.getResult(0)] = *made;
  return made.has_value();
}

bool differentiate::isFreeOfMaximum(Block &block, DenseMap<Value, MaximumShift> shifts, bool isBaseTwo) {
  Follower follower(std::move(shifts), isBaseTwo);
  return llvm::all_of(block, [&](Operation &op) { return follower.follow(op); });
}
