//===- DivideNest.cpp - a nest as what waits and what does not ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outer sequential dimensions become a block around, in which the rest of the
// nest stands behind what can be computed before it. Dimensions that are maps go
// inside: no iteration of theirs waits for another one at equal values of what was
// outside of them, so they may stand further in.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::LengthAttr;

static SmallVector<BlockOp> getRegions(Operation *item) {
  if (auto block = dyn_cast<BlockOp>(item))
    return {block};
  return llvm::to_vector(cast<NestOp>(item).getBody().getOps<BlockOp>());
}

/// Own dimensions that some region does not declare a map, in their order.
static SmallVector<unsigned> getSequentialDims(ArrayRef<BlockOp> regions) {
  SmallVector<unsigned> dims;
  BlockOp front = regions.front();
  for (unsigned d = 0; d < front.getNumOwnDims(); ++d)
    if (llvm::any_of(regions, [d](BlockOp block) { return block.getOperator(d) != ft::OperatorKind::Map; }))
      dims.push_back(d);
  return dims;
}

unsigned etdg::countSequentialDims(Operation *item) { return getSequentialDims(getRegions(item)).size(); }

bool etdg::mayBeDivided(Operation *item) {
  SmallVector<BlockOp> regions = getRegions(item);
  bool isOrdered = false;
  for (BlockOp region : regions)
    for (unsigned d = 0; d < region.getNumOwnDims(); ++d)
      isOrdered |= llvm::is_contained({ft::OperatorKind::ScanL, ft::OperatorKind::FoldL}, region.getOperator(d));
  // Partial states are joined along dimensions that may be cut: those have their width already.
  if (!isOrdered || llvm::any_of(regions, [](BlockOp region) { return !region.getCombine().empty(); }))
    return false;
  return item->walk([](linalg::LinalgOp op) {
               return linalg::isaContractionOpInterface(op) ? WalkResult::interrupt() : WalkResult::advance();
             })
      .wasInterrupted();
}

/// lower ≤ d < upper as the domain of the block around; false where a bound is no expression.
static bool addRange(BlockBuilder &spec, const DimRange &range, unsigned d, MLIRContext *context,
                     SmallVectorImpl<AffineExpr> &constraints) {
  if (!range.lower || !range.upper)
    return false;
  auto over = [&](LengthAttr length) {
    return spec.importExpr(length.getExpr(), length.getNames());
  };
  AffineExpr dim = getAffineDimExpr(d, context);
  constraints.push_back(dim - over(range.lower));
  constraints.push_back(over(range.upper) - 1 - dim);
  return true;
}

/// A block over the own dimensions `outer` of the item in its place, without a body; null where they have
/// no ranges.
static BlockOp makeAround(GraphOp graph, Operation *item, ArrayRef<unsigned> outer,
                          SmallVectorImpl<LengthAttr> &lengths) {
  SmallVector<BlockOp> regions = getRegions(item);
  BlockOp front = regions.front();
  MLIRContext *context = graph.getContext();
  SmallVector<DimRange> ranges = getOwnRanges(regions, SymbolSpace(graph));
  BlockBuilder spec;
  if (auto name = front.getBlockName())
    spec.name = (*name + "_around").str();
  SmallVector<AffineExpr> constraints;
  for (auto [i, d] : llvm::enumerate(outer)) {
    spec.dims.push_back(front.getDimNames()[d]);
    spec.operators.push_back(ft::OperatorKind::ScanL);
    if (!addRange(spec, ranges[d], i, context, constraints))
      return {};
    lengths.push_back(ranges[d].getLength());
  }
  spec.domain = IntegerSet::get(outer.size(), spec.symbols.size(), constraints,
                                SmallVector<bool>(constraints.size(), false));
  OpBuilder builder(item);
  BlockOp around = spec.build(builder, item->getLoc(), {});
  builder.setInsertionPointToEnd(&around.getBody().front());
  YieldOp::create(builder, item->getLoc(), ValueRange());
  return around;
}

/// Dimensions of the block around first, then the others in their order.
static void moveInside(BlockOp region, ArrayRef<unsigned> outer) {
  unsigned own = region.getNumOwnDims();
  SmallVector<StringAttr> names = region.getDimNames();
  BlockRemap remap;
  remap.numAncestors = outer.size();
  SmallVector<unsigned> order(outer);
  for (unsigned d = 0; d < own; ++d)
    if (!llvm::is_contained(outer, d))
      order.push_back(d);
  remap.exprs.resize(own);
  for (auto [position, d] : llvm::enumerate(order)) {
    remap.dims.push_back(names[d]);
    if (position >= outer.size())
      remap.operators.push_back(region.getOperator(d));
    remap.exprs[d] = getAffineDimExpr(position, region.getContext());
  }
  remapBlock(region, remap);
}

std::optional<DividedNest> etdg::divideNest(GraphOp graph, Operation *item, unsigned outer) {
  DividedNest divided;
  divided.item = item;
  Block *body = item->getBlock();
  if (outer > 0) {
    SmallVector<BlockOp> regions = getRegions(item);
    SmallVector<unsigned> sequential = getSequentialDims(regions);
    if (outer >= sequential.size())
      return std::nullopt;
    SmallVector<unsigned> dims(ArrayRef<unsigned>(sequential).take_front(outer));
    BlockOp around = makeAround(graph, item, dims, divided.around);
    if (!around)
      return std::nullopt;
    body = &around.getBody().front();
    item->moveBefore(body->getTerminator());
    for (BlockOp region : regions)
      moveInside(region, dims);
    divided.item = around;
  }
  divided.buffers = computeBefore(graph, *body, item);
  if (divided.buffers.empty())
    return std::nullopt;
  return divided;
}
