//===- DivideNest.cpp - a nest as what waits and what does not ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outer sequential dimensions become a block around, in which the rest of the
// nest stands after what can be computed before it. Dimensions that are maps go
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

/// Own dimensions that some region does not declare a map, in their order.
static SmallVector<unsigned> getSequentialDims(ArrayRef<BlockOp> regions) {
  SmallVector<unsigned> dims;
  BlockOp front = regions.front();
  for (unsigned d = 0; d < front.getNumOwnDims(); ++d)
    if (llvm::any_of(regions, [d](BlockOp block) { return block.getOperator(d) != ft::OperatorKind::Map; }))
      dims.push_back(d);
  return dims;
}

/// Whether there is a loop in order, and a product.
static bool mayBeDividedHere(ArrayRef<BlockOp> regions, Operation *item) {
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

/// A block over the own dimensions `outer` of the item in its place, without items; null where they have
/// no ranges.
static BlockOp makeAround(GraphOp graph, Operation *item, ArrayRef<unsigned> outer,
                          SmallVectorImpl<LengthAttr> &lengths) {
  SmallVector<BlockOp> regions = blocksOf(item);
  BlockOp front = regions.front();
  MLIRContext *context = graph.getContext();
  SmallVector<DimRange> ranges = getOwnRanges(regions, SymbolSpace(graph));
  BlockBuilder spec;
  if (auto name = front.getBlockName())
    spec.name = (*name + "_around").str();
  SmallVector<StringAttr> names = front.getDimNames();
  spec.numAncestors = front.getNumAncestors();
  spec.dims.assign(names.begin(), names.begin() + spec.numAncestors);
  SmallVector<AffineExpr> constraints;
  for (unsigned d : outer) {
    if (!addRange(spec, ranges[d], spec.dims.size(), context, constraints))
      return {};
    spec.dims.push_back(names[spec.numAncestors + d]);
    spec.operators.push_back(ft::OperatorKind::ScanL);
    lengths.push_back(ranges[d].getLength());
  }
  spec.domain = IntegerSet::get(spec.dims.size(), spec.symbols.size(), constraints,
                                SmallVector<bool>(constraints.size(), false));
  OpBuilder builder(item);
  BlockOp around = spec.build(builder, item->getLoc(), {});
  builder.setInsertionPointToEnd(&around.getBody().front());
  YieldOp::create(builder, item->getLoc(), ValueRange());
  return around;
}

/// Ancestors first, then dimensions of the block around, then the others in their order.
static void moveInside(BlockOp region, ArrayRef<unsigned> outer) {
  unsigned ancestors = region.getNumAncestors(), own = region.getNumOwnDims();
  SmallVector<StringAttr> names = region.getDimNames();
  BlockRemap remap;
  remap.numAncestors = ancestors + outer.size();
  SmallVector<unsigned> order;
  for (unsigned d = 0; d < ancestors; ++d)
    order.push_back(d);
  for (unsigned d : outer)
    order.push_back(ancestors + d);
  for (unsigned d = 0; d < own; ++d)
    if (!llvm::is_contained(outer, d))
      order.push_back(ancestors + d);
  remap.exprs.resize(order.size());
  for (auto [position, d] : llvm::enumerate(order)) {
    remap.dims.push_back(names[d]);
    if (position >= remap.numAncestors)
      remap.operators.push_back(region.getOperator(d - ancestors));
    remap.exprs[d] = getAffineDimExpr(position, region.getContext());
  }
  remapBlock(region, remap);
}

/// The nests and blocks in the bodies of an item's regions.
static SmallVector<Operation *> getInside(Operation *item) {
  SmallVector<Operation *> inside;
  for (BlockOp region : blocksOf(item))
    if (!region.isLeaf())
      for (Operation &op : region.getBody().front())
        if (isa<NestOp, BlockOp>(op))
          inside.push_back(&op);
  return inside;
}

/// Sequential dimensions of an item and of what stands in its bodies.
static unsigned countDeepest(Operation *item) {
  unsigned most = 0;
  for (Operation *inner : getInside(item))
    most = std::max(most, countDeepest(inner));
  return most + getSequentialDims(blocksOf(item)).size();
}

/// Planes were counted for the order as declared.
static void keepAllPlanes(ArrayRef<BlockOp> regions) {
  for (BlockOp region : regions)
    region->walk([&](BlockOp block) {
      for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
        if (auto buffer = block.getBuffers()[write.getOperand()].getDefiningOp<BufferOp>())
          if (!region->isProperAncestor(buffer))
            buffer.removeLiveAttr();
    });
}

/// One nest or block with sequential dimensions. False where nothing was taken out of it.
static bool divideSite(GraphOp graph, Operation *item, Division division, DividedNest &divided) {
  SmallVector<BlockOp> regions = blocksOf(item);
  SmallVector<unsigned> sequential = getSequentialDims(regions);
  unsigned outer = division.outer;
  if (division.first >= std::max<size_t>(sequential.size(), 1))
    return false;
  if (division.first > 0)
    keepAllPlanes(regions);
  std::rotate(sequential.begin(), sequential.begin() + division.first, sequential.begin() + division.first + 1);
  // All of its loops stay around: what stands in its bodies is divided there.
  if (outer >= sequential.size()) {
    bool isDivided = false;
    for (Operation *inner : getInside(item))
      isDivided |= divideSite(graph, inner, {static_cast<unsigned>(outer - sequential.size())}, divided);
    return isDivided;
  }
  Block *body = item->getBlock();
  SmallVector<LengthAttr> lengths;
  Operation *around = nullptr;
  if (outer > 0) {
    SmallVector<unsigned> dims(ArrayRef<unsigned>(sequential).take_front(outer));
    BlockOp block = makeAround(graph, item, dims, lengths);
    if (!block)
      return false;
    around = block;
    body = &block.getBody().front();
    item->moveBefore(body->getTerminator());
    for (BlockOp region : regions)
      moveInside(region, dims);
  }
  SmallVector<BufferOp> buffers = computeBefore(graph, *body, item);
  if (around)
    divided.around.push_back(around);
  for (BufferOp buffer : buffers) {
    divided.buffers.push_back(buffer);
    divided.times.push_back(lengths);
  }
  return !buffers.empty();
}

/// The outermost nests and blocks with sequential dimensions, inside of blocks of maps.
static void collectSites(Operation *item, SmallVectorImpl<Operation *> &sites) {
  SmallVector<BlockOp> regions = blocksOf(item);
  if (!getSequentialDims(regions).empty()) {
    if (mayBeDividedHere(regions, item))
      sites.push_back(item);
    return;
  }
  for (Operation *inner : getInside(item))
    collectSites(inner, sites);
}

bool etdg::mayBeDivided(Operation *item) {
  SmallVector<Operation *> sites;
  collectSites(item, sites);
  return !sites.empty();
}

unsigned etdg::countSequentialDims(Operation *item) {
  SmallVector<Operation *> sites;
  collectSites(item, sites);
  unsigned most = 0;
  for (Operation *site : sites)
    most = std::max(most, countDeepest(site));
  return most;
}

SmallVector<DivisionSite> etdg::getDivisionSites(Operation *item) {
  SmallVector<Operation *> ops;
  collectSites(item, ops);
  return llvm::map_to_vector(ops, [](Operation *op) { return DivisionSite{op, getSequentialDims(blocksOf(op))}; });
}

std::optional<DividedNest> etdg::divideNest(GraphOp graph, Operation *item, const Division &division) {
  DividedNest divided;
  SmallVector<Operation *> sites;
  collectSites(item, sites);
  bool isDivided = false;
  for (Operation *site : sites)
    isDivided |= divideSite(graph, site, division, divided);
  return isDivided ? std::optional(std::move(divided)) : std::nullopt;
}
