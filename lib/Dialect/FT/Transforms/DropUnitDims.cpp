//===- DropUnitDims.cpp - dimensions of one element that a reshape adds ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mean with `keepdim` has a dimension of one element, as has a vector that is laid
// beside an image. What computes on such a value needs no loop over it. So the loop is
// dropped where a reshape has added the dimension, until whatever reads the value drops
// it again; what is left between is a value of the rank that its elements have.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTDROPUNITDIMS
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;

/// A reshape of a static shape that adds dimensions of one element, and nothing else.
static tensor::ExpandShapeOp addsUnits(Value value) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || !expand.getResultType().hasStaticShape() || expand.getSrcType().getNumElements() <= 1)
    return {};
  for (ReassociationIndices &group : expand.getReassociationIndices())
    if (llvm::count_if(group, [&](int64_t d) { return expand.getResultType().getDimSize(d) != 1; }) > 1)
      return {};
  return expand;
}

/// The dimensions of its result that such a reshape adds: of each group, all but the one that has its elements, or but the first.
static llvm::SmallBitVector unitsOf(tensor::ExpandShapeOp expand) {
  llvm::SmallBitVector added(expand.getResultType().getRank());
  for (ReassociationIndices &group : expand.getReassociationIndices()) {
    auto kept = llvm::find_if(group, [&](int64_t d) { return expand.getResultType().getDimSize(d) != 1; });
    for (int64_t d : group)
      if (d != (kept == group.end() ? group.front() : *kept))
        added.set(d);
  }
  return added;
}

/// A value of another rank with the same elements.
static Value reshape(IRRewriter &rewriter, Location loc, RankedTensorType type, Value value) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  std::optional<SmallVector<ReassociationIndices>> groups = getReassociationIndicesForReshape(from, type);
  if (!groups)
    return {};
  if (from.getRank() > type.getRank())
    return tensor::CollapseShapeOp::create(rewriter, loc, type, value, *groups);
  return tensor::ExpandShapeOp::create(rewriter, loc, type, value, *groups);
}

/// What takes all of such a value, without dimensions of one element, takes the value that it is made of.
static bool skipReshape(IRRewriter &rewriter, Operation *op) {
  RankedTensorType type;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!slice.hasUnitStride() || !slice.hasZeroOffset() || !slice.getSizes().empty() || slice.getStaticSizes() != slice.getSourceType().getShape())
      return false;
    type = slice.getType();
  } else if (auto collapsed = dyn_cast<tensor::CollapseShapeOp>(op)) {
    type = collapsed.getResultType();
  } else {
    return false;
  }
  auto expand = addsUnits(op->getOperand(0));
  if (!expand)
    return false;
  rewriter.setInsertionPoint(op);
  Value made = reshape(rewriter, op->getLoc(), type, expand.getSrc());
  if (!made)
    return false;
  rewriter.replaceOp(op, made);
  return true;
}

/// Loops of one iteration that a reshape of an operand is there for: those over dimensions that it adds, but for leading ones of the result, which
/// calls have (a batch of one).
static SmallVector<unsigned> loopsOfUnits(linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  llvm::SmallBitVector loops(ranges.size());
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto expand = addsUnits(input->get()))
      for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(input).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && unitsOf(expand).test(d) && ranges[dim.getPosition()] == 1)
          loops.set(dim.getPosition());
  for (OpOperand &init : op.getDpsInitsMutable())
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || ranges[dim.getPosition()] != 1)
        break;
      loops.reset(dim.getPosition());
    }
  return llvm::to_vector_of<unsigned>(loops.set_bits());
}

/// The operation without these loops, or null.
static linalg::GenericOp dropLoops(IRRewriter &rewriter, linalg::GenericOp op) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || (isa<RankedTensorType>(type) && shaped.hasStaticShape());
  };
  if (!llvm::all_of(op->getOperandTypes(), isStatic) || op.hasIndexSemantics())
    return {};
  SmallVector<unsigned> loops = loopsOfUnits(op);
  if (loops.empty())
    return {};
  linalg::ControlDropUnitDims control;
  control.controlFn = [&](Operation *) { return loops; };
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::DropUnitDimsResult> dropped = linalg::dropUnitDims(rewriter, op, control);
  if (failed(dropped))
    return {};
  rewriter.replaceOp(op, dropped->replacements);
  auto made = dyn_cast<linalg::GenericOp>(dropped->resultOp.getOperation());
  // A reshape of a tensor without contents is another such tensor.
  if (!made)
    return {};
  for (OpOperand &init : made.getDpsInitsMutable())
    if (auto collapsed = init.get().getDefiningOp<tensor::CollapseShapeOp>(); collapsed && collapsed.getSrc().getDefiningOp<tensor::EmptyOp>()) {
      rewriter.setInsertionPoint(collapsed);
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(collapsed, collapsed.getResultType().getShape(), collapsed.getResultType().getElementType());
    }
  return made;
}

/// Reads what a reshape is of, where the operation names its dimensions of one element by their only index.
static bool readSource(IRRewriter &rewriter, linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto expand = addsUnits(input->get());
    if (!expand)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    llvm::SmallBitVector added = unitsOf(expand);
    SmallVector<AffineExpr> results;
    bool isNamed = true;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      if (!added.test(d))
        results.push_back(expr);
      else
        isNamed &= expr == getAffineConstantExpr(0, expr.getContext());
    }
    if (!isNamed)
      continue;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[input->getOperandNumber()] = AffineMap::get(map.getNumDims(), 0, results, map.getContext());
    if (!inversePermutation(concatAffineMaps(maps, map.getContext())))
      continue; // (what is left would not say how long a loop is)
    rewriter.modifyOpInPlace(op, [&] {
      input->set(expand.getSrc());
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return true;
  }
  return false;
}

namespace {
struct FTDropUnitDims : ft::impl::FTDropUnitDimsBase<FTDropUnitDims> {
  using FTDropUnitDimsBase::FTDropUnitDimsBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    IRRewriter rewriter(&getContext());
    // In order: what is dropped before an operation its own reshapes follow from.
    for (Block &block : function.getBody())
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (skipReshape(rewriter, &op))
          continue;
        auto generic = dyn_cast<linalg::GenericOp>(op);
        if (!generic)
          continue;
        linalg::GenericOp made = dropLoops(rewriter, generic);
        bool changed = made != nullptr;
        while (readSource(rewriter, made ? made : generic))
          changed = true;
        numOperations += changed;
      }
  }
};
} // namespace
