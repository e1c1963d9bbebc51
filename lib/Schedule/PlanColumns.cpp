//===- PlanColumns.cpp - columns that tasks of a CPU share ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks share the columns of a leaf where its points and rows alone are too few for
// the cores, as those of a vector times a matrix; or where a product's right-hand
// side is larger than the second cache: then a call that has many rows and some
// columns reads each part of it once, and what is computed from its results finds
// them in that cache.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/LeafGraph/LeafGraph.h"
#include "ft/Schedule/CostModel.h"
#include "ft/Schedule/Dimensions.h"
#include "ft/Schedule/LeafColumns.h"

#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Bytes of a row of the leaf generator's widest register tile: tasks don't cut those.
static constexpr int64_t tileBytes = 256;
/// Such tiles of a task that has them for the sake of the caches.
static constexpr int64_t tilesForCaches = 4;
/// Rows beyond which a call that packs columns gains nothing more.
static constexpr int64_t mostColumnRows = 512;
/// Tasks of a thread that even out how long they take, and times of a launch that the whole is to last.
static constexpr int64_t tasksOfThread = 4, leastLaunches = 4;

bool schedule::canShareColumns(ArrayRef<BlockOp> nest, const NestPlan &plan) {
  return nest.size() == 1 && BlockOp(nest.front()).isLeaf() && plan.team.empty() && plan.inner.empty() && !plan.listed &&
         plan.rectangular;
}

/// Columns that are computed together anyway: of a row of a register tile, where they are neighbours.
static int64_t unitOf(BlockOp leaf, const LeafColumns &columns) {
  if (!columns.adjacent)
    return 1;
  int64_t bytes = 1;
  for (Value result : leaf.getYield().getOperands())
    bytes = std::max<int64_t>(bytes, leaf::storageBytes(getElementTypeOrSelf(result.getType())));
  return std::max<int64_t>(tileBytes / bytes, 1);
}

/// Bytes that one row of a leaf reads for itself.
static int64_t bytesOfRow(BlockOp leaf, ArrayRef<bool> batched) {
  int64_t bytes = 1;
  for (auto [argument, varies] : llvm::zip_equal(leaf.getBody().getArguments(), batched))
    if (varies)
      bytes += bytesOf(cast<RankedTensorType>(argument.getType()));
  return bytes;
}

int64_t CostModel::columnsForCaches(BlockOp leaf, const LeafColumns &columns, const NestPlan &plan, double rows) {
  SmallVector<bool> batched = batchedReads(leaf, plan.row);
  bool isLarge = llvm::any_of(workOf(leaf).products, [&](const Product &product) {
    return product.read && !batched[*product.read] && product.bytes > machine.levels[1].bytes / 2;
  });
  if (!columns.adjacent || !plan.row || rows < leaf::Contraction::leastPanelRows || !isLarge)
    return 0;
  return tilesForCaches * unitOf(leaf, columns);
}

void CostModel::chooseColumns(ArrayRef<BlockOp> nest, NestPlan &plan) {
  if (!canShareColumns(nest, plan))
    return;
  BlockOp leaf = nest.front();
  Context context;
  context.dims.resize(leaf.getNumDims());
  double points = 1, rows = plan.row ? rangeOf(nest, *plan.row, context).size() : 1;
  for (unsigned dim : plan.shared)
    points *= rangeOf(nest, dim, context).size();
  bool isFew = points * rows < numThreads * (workOf(leaf).products.empty() ? 1 : tileRows());
  if (points * rows < 1 || (options.planSeed == 0 && estimate(nest, plan).seconds < leastLaunches * machine.sync.launch))
    return;
  SmallVector<bool> batched = batchedReads(leaf, plan.row);
  LeafColumns columns = findLeafColumns(leaf, batched);
  if (columns.count < 2)
    return;
  int64_t unit = unitOf(leaf, columns), tile = columnsForCaches(leaf, columns, plan, rows);
  if (isFew)
    tile = llvm::alignTo(llvm::divideCeil(columns.count, std::ceil(tasksOfThread * numThreads / points)), unit);
  if (options.planSeed != 0) {
    std::mt19937_64 generator(options.planSeed + 0x9e3779b97f4a7c15 * ++choices);
    tile = generator() % 2 ? 1 + generator() % columns.count : 0;
  } else if (numThreads == 1 && isFew) {
    return;
  }
  if (tile == 0 || tile >= columns.count)
    return;
  plan.columns = columns.count;
  plan.columnTile = tile;
  if (plan.row && options.planSeed == 0) {
    int64_t most = machine.levels[1].bytes / 2 / bytesOfRow(leaf, batched);
    most = std::min(most, mostColumnRows) / tileRows() * tileRows();
    plan.maxRows = std::max(plan.maxRows, most);
  }
}
