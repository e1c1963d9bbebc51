//===- TypicalWork.cpp - work inside of a loop, for GPUs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TypicalWork.h"

#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Machine/TilesLeft.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::etdg;

static double flopsOfLeaf(BlockOp leaf) {
  double flops = 0;
  leaf.getBody().walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    double points = 1;
    for (int64_t range : op.getStaticLoopRanges())
      points *= ShapedType::isDynamic(range) ? 1 : static_cast<double>(range);
    flops += 2 * points;
  });
  return flops;
}

/// FLOPs of products at one iteration of the first `from` own dimensions.
static double flopsOf(BlockOp block, unsigned from, MergeLegality &legality) {
  double inside = 0;
  if (block.isLeaf())
    inside = flopsOfLeaf(block);
  else
    block.getBody().walk<WalkOrder::PreOrder>([&](BlockOp inner) {
      inside += flopsOf(inner, 0, legality);
      return WalkResult::skip();
    });
  if (inside == 0)
    return 0;
  BlockBuilder spec = BlockBuilder::from(block);
  return inside * legality.getTypicalSize(spec.domain, spec.symbols, spec.numAncestors + from, block.getNumDims());
}

TypicalWork etdg::workInside(Operation *item, unsigned from, MergeLegality &legality) {
  TypicalWork work;
  for (BlockOp region : blocksOf(item)) {
    BlockBuilder spec = BlockBuilder::from(region);
    double points = 1;
    for (unsigned d = from; d < region.getNumOwnDims(); ++d)
      if (region.getOperator(d) == ft::OperatorKind::Map)
        points *= legality.getTypicalSize(spec.domain, spec.symbols, spec.numAncestors + d, spec.numAncestors + d + 1);
    work.points = std::max(work.points, points);
    work.flops += flopsOf(region, from, legality);
  }
  return work;
}

double etdg::tilesOfWork(double points, const TypicalWork &inside, const ft::Machine &machine) {
  return ft::tilesLeft({points, inside.flops, inside.points}, machine);
}
