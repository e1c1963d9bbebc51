//===- FlattenProducts.cpp - products with as few loops as they need ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A 1x1 convolution sums over channels for each pixel, and is written as a convolution
// over the rows and columns of an image and of a window. Its window has one element, so
// that these loops are none; and rows and columns of the image are one loop over pixels,
// where everything in the leaf walks them so. What is left is a product of matrices. The
// elements stay where they are in memory: reshapes inside a leaf are views.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGFLATTENPRODUCTS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

/// A sum of products of two tensors whose shapes are known.
static bool isProduct(linalg::GenericOp op) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() == 2 && op->getNumResults() == 1 && llvm::all_of(op->getOperandTypes(), isKnown) &&
         !op.hasIndexSemantics() && llvm::any_of(op.getRegion().front(), llvm::IsaPred<arith::MulFOp, arith::MulIOp>);
}

/// Its sums without the loops that run once.
static linalg::GenericOp dropLoopsOfOne(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<unsigned> once;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  bool sums = false;
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (kinds[loop] == utils::IteratorType::reduction) {
      if (ranges[loop] == 1)
        once.push_back(loop);
      else
        sums = true;
    }
  if (once.empty() || !sums) // (a sum of one term stays one)
    return op;
  linalg::ControlDropUnitDims control;
  control.controlFn = [&](Operation *) { return once; };
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::DropUnitDimsResult> dropped = linalg::dropUnitDims(rewriter, op, control);
  if (failed(dropped))
    return op;
  auto made = dyn_cast<linalg::GenericOp>(dropped->resultOp.getOperation());
  rewriter.replaceOp(op, dropped->replacements);
  return made;
}

/// Adjacent parallel loops from `first` on, as many as every operand walks in order.
static unsigned runFrom(linalg::GenericOp op, unsigned first) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return 1;
  unsigned count = 0;
  ReassociationIndices run;
  for (unsigned loop = first; loop < kinds.size() && kinds[loop] == utils::IteratorType::parallel; ++loop, ++count) {
    run.push_back(loop);
    if (!linalg::areDimSequencesPreserved(maps, {run}))
      break;
  }
  return count;
}

static SmallVector<int64_t> sizesOf(linalg::GenericOp op, unsigned first, unsigned count) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return SmallVector<int64_t>(ArrayRef(ranges).slice(first, count));
}

/// Where a list has the sizes of a run next to each other, or nothing.
static std::optional<unsigned> findSizes(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  for (unsigned first = 0; first + sizes.size() <= shape.size(); ++first)
    if (shape.slice(first, sizes.size()) == sizes)
      return first;
  return std::nullopt;
}

namespace {
/// What of a leaf has to walk the loops of a run as one: for each operation the first of them.
struct Run {
  SmallVector<int64_t> sizes;
  SmallVector<std::pair<Operation *, unsigned>> operations;
};
} // namespace

static bool isElementwise(Operation &op) {
  auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
  return type && type.hasStaticShape() && OpTrait::hasElementwiseMappableTraits(&op) && llvm::all_of(op.getOperandTypes(), [&](Type operand) {
           auto shaped = dyn_cast<RankedTensorType>(operand);
           return !shaped || shaped.getShape() == type.getShape();
         });
}

/// Adds all operations of the body that have these loops; false where one of them can't have them as one.
static bool collect(Block &body, Run &run) {
  for (Operation &op : body.without_terminator()) {
    if (isElementwise(op)) {
      if (std::optional<unsigned> first = findSizes(cast<RankedTensorType>(op.getResult(0).getType()).getShape(), run.sizes))
        run.operations.push_back({&op, *first});
      continue;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || isa<linalg::FillOp>(op))
      continue;
    SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
    std::optional<unsigned> first = findSizes(ranges, run.sizes);
    if (!first)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.hasIndexSemantics() || runFrom(generic, *first) < run.sizes.size())
      return false;
    run.operations.push_back({&op, *first});
  }
  return true;
}

static SmallVector<ReassociationIndices> groupsOf(unsigned rank, unsigned first, unsigned count) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned d = 0; d < rank; ++d)
    if (d > first && d < first + count)
      groups.back().push_back(d);
    else
      groups.push_back({int64_t(d)});
  return groups;
}

static void collapseElementwise(IRRewriter &rewriter, Operation *op, unsigned first, unsigned count) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<ReassociationIndices> groups = groupsOf(type.getRank(), first, count);
  rewriter.setInsertionPoint(op);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !mapping.contains(operand))
      mapping.map(operand, tensor::CollapseShapeOp::create(rewriter, op->getLoc(), operand, groups).getResult());
  Operation *made = rewriter.clone(*op, mapping);
  made->getResult(0).setType(tensor::CollapseShapeOp::inferCollapsedType(type, groups));
  rewriter.replaceOp(op, tensor::ExpandShapeOp::create(rewriter, op->getLoc(), type, made->getResult(0), groups).getResult());
}

static LogicalResult collapse(IRRewriter &rewriter, const Run &run) {
  for (auto [op, first] : run.operations) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      collapseElementwise(rewriter, op, first, run.sizes.size());
      continue;
    }
    ReassociationIndices loops;
    for (unsigned loop = first; loop < first + run.sizes.size(); ++loop)
      loops.push_back(loop);
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(generic, {loops}, rewriter);
    if (failed(collapsed))
      return failure();
    rewriter.replaceOp(op, collapsed->results);
  }
  return success();
}

/// Makes one loop of those that the products of a leaf, and all beside them, walk as one.
static bool collapseProducts(IRRewriter &rewriter, BlockOp leaf) {
  Block &body = leaf.getBody().front();
  for (auto product : body.getOps<linalg::GenericOp>()) {
    if (!isProduct(product))
      continue;
    for (unsigned first = 0, end = product.getNumLoops(); first < end; ++first) {
      unsigned count = runFrom(product, first);
      if (count < 2)
        continue;
      Run run{sizesOf(product, first, count), {}};
      if (collect(body, run))
        return succeeded(collapse(rewriter, run));
      first += count - 1;
    }
  }
  return false;
}

namespace {
struct ETDGFlattenProducts : etdg::impl::ETDGFlattenProductsBase<ETDGFlattenProducts> {
  using ETDGFlattenProductsBase::ETDGFlattenProductsBase;
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    RewritePatternSet patterns(&getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    FrozenRewritePatternSet reshapes(std::move(patterns));
    SmallVector<BlockOp> leaves;
    getOperation()->walk([&](BlockOp block) {
      if (block.isLeaf())
        leaves.push_back(block);
    });
    for (BlockOp leaf : leaves) {
      bool changed = false;
      for (auto op : llvm::to_vector(leaf.getBody().front().getOps<linalg::GenericOp>()))
        if (isProduct(op))
          changed |= dropLoopsOfOne(rewriter, op) != op;
      while (collapseProducts(rewriter, leaf))
        changed = true;
      if (!changed)
        continue;
      ++numLeaves;
      SmallVector<Operation *> moved;
      for (Operation &op : leaf.getBody().front())
        if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
          moved.push_back(&op);
      (void)applyOpPatternsGreedily(moved, reshapes);
    }
  }
};
} // namespace
