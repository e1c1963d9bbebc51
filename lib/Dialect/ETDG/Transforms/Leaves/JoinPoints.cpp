//===- JoinPoints.cpp - a few points of maps as one leaf ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gates of a recurrent cell are points of a map inside of its step: one leaf each,
// and what takes their results another. As one leaf they have columns in common: column
// c of the state needs column c of each gate, so that units can share the step by
// columns, where there are as few gates as units, or fewer (docs/cpu-engine.md, Columns).
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/JoinPoints.h"
#include "FormLeaves.h"

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGJOINPOINTS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// The numbers [lower, upper) that a dimension goes through.
struct Numbers {
  std::optional<int64_t> lower, upper;
};
} // namespace

/// A constraint as a bound of one dimension by a number; false where it is something else.
static bool takeBound(AffineExpr constraint, bool isEquality, unsigned numAncestors, MutableArrayRef<Numbers> own) {
  LinearForm form = LinearForm::of(constraint);
  if (form.terms.empty()) // (a set has one constraint at least)
    return isEquality ? form.constant == 0 : form.constant >= 0;
  auto dim = form.terms.size() == 1 ? dyn_cast<AffineDimExpr>(form.terms.front().first) : nullptr;
  if (!dim || dim.getPosition() < numAncestors || std::abs(form.terms.front().second) != 1)
    return false;
  Numbers &numbers = own[dim.getPosition() - numAncestors];
  bool isLower = form.terms.front().second == 1; // d + c >= 0, or c - d >= 0
  int64_t first = isLower ? -form.constant : form.constant;
  if (isLower || isEquality)
    numbers.lower = std::max(numbers.lower.value_or(first), first);
  if (!isLower || isEquality)
    numbers.upper = std::min(numbers.upper.value_or(first + 1), first + 1);
  return true;
}

/// The numbers of a leaf's own dimensions, which are a box of maps; nothing where they are something else.
static std::optional<SmallVector<Numbers>> boxOf(BlockOp leaf) {
  if (!leaf.isLeaf() || !leaf.getCombine().empty())
    return std::nullopt;
  SmallVector<Numbers> own(leaf.getNumOwnDims());
  IntegerSet set = leaf.getDomainSet();
  for (auto [constraint, isEquality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    if (!takeBound(constraint, isEquality, leaf.getNumAncestors(), own))
      return std::nullopt;
  for (auto [d, numbers] : llvm::enumerate(own))
    if (leaf.getOperator(d) != ft::OperatorKind::Map || !numbers.lower || !numbers.upper)
      return std::nullopt;
  return own;
}

static int64_t countPoints(ArrayRef<Numbers> box) {
  int64_t points = 1;
  for (const Numbers &numbers : box)
    points *= std::max<int64_t>(*numbers.upper - *numbers.lower, 0);
  return points;
}

/// Writes each point of a leaf as a statement in its place.
static void writePoints(BlockOp leaf, ArrayRef<Numbers> box) {
  OpBuilder builder(leaf);
  BlockRemap remap;
  remap.numAncestors = leaf.getNumAncestors();
  for (unsigned d = 0; d < remap.numAncestors; ++d) {
    remap.dims.push_back(leaf.getDimNames()[d]);
    remap.exprs.push_back(builder.getAffineDimExpr(d));
  }
  remap.symbols = llvm::to_vector(leaf.getSymbolNames());
  for (int64_t point = 0, count = countPoints(box); point < count; ++point) {
    BlockRemap at = remap;
    int64_t rest = point;
    SmallVector<int64_t> digits(box.size());
    for (unsigned d = box.size(); d > 0; --d) { // the last dimension goes fastest
      int64_t extent = *box[d - 1].upper - *box[d - 1].lower;
      digits[d - 1] = *box[d - 1].lower + rest % extent;
      rest /= extent;
    }
    for (int64_t digit : digits)
      at.exprs.push_back(builder.getAffineConstantExpr(digit));
    remapBlock(cast<BlockOp>(builder.clone(*leaf)), at);
  }
  leaf.erase();
}

/// The points of all children; nothing where they are not to be joined.
static std::optional<SmallVector<SmallVector<Numbers>>> boxesOf(BlockOp block, int64_t mostPoints) {
  if (block.isLeaf() || !block.getCombine().empty())
    return std::nullopt;
  SmallVector<SmallVector<Numbers>> boxes;
  int64_t points = 0;
  for (Operation &op : block.getBody().front()) {
    if (isa<BufferOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    auto leaf = dyn_cast<BlockOp>(op);
    std::optional<SmallVector<Numbers>> box = leaf ? boxOf(leaf) : std::nullopt;
    if (!box || (points += countPoints(*box)) > mostPoints)
      return std::nullopt;
    boxes.push_back(std::move(*box));
  }
  return boxes;
}

BlockOp etdg::joinPoints(BlockOp block, int64_t mostPoints) {
  std::optional<SmallVector<SmallVector<Numbers>>> boxes = boxesOf(block, mostPoints);
  if (!boxes)
    return {};
  OpBuilder builder(block);
  BlockOp copy = cloneBlock(builder, block);
  SmallVector<BlockOp> leaves(copy.getBody().getOps<BlockOp>());
  for (auto [leaf, box] : llvm::zip_equal(leaves, *boxes))
    if (!box.empty())
      writePoints(leaf, box);
  joinStatements(copy.getBody().front(), std::numeric_limits<int64_t>::max());
  copy = flattenBlock(copy);
  if (!copy.isLeaf()) {
    copy.erase();
    return {};
  }
  shareConstants(copy);
  block.erase();
  return copy;
}

namespace {
struct ETDGJoinPoints : etdg::impl::ETDGJoinPointsBase<ETDGJoinPoints> {
  using ETDGJoinPointsBase::ETDGJoinPointsBase;
  void runOnOperation() override {
    for (BlockOp block : graphBlocksOf(getOperation())) {
      std::string name = block.getBlockName().value_or("").str();
      if (BlockOp leaf = joinPoints(block, mostPoints))
        remark::passed(leaf.getLoc(), remark::RemarkOpts::name("join-points").category("coarsen"))
            << remark::reason("the points inside of a block are one leaf") << remark::metric("block", name);
    }
  }
};
} // namespace
