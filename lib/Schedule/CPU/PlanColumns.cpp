//===- PlanColumns.cpp - columns that tasks of a CPU share ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks share the columns of a leaf where its points and rows alone are too few for
// the cores, as those of a vector times a matrix; or where a product's right-hand
// side is larger than the second cache: then a call that has many rows and some
// columns packs each part of it once for all of them, and what is computed from its
// results finds them in that cache.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/Analysis/LeafColumns.h"

#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

bool schedule::canShareColumns(ArrayRef<BlockOp> nest, const NestPlan &plan) {
  if (!llvm::all_of(nest, [](BlockOp block) { return block.isLeaf(); }) || !plan.inner.empty() || plan.listed)
    return false;
  if (plan.team.empty())
    return nest.size() == 1 && plan.rectangular && !plan.columnsFirst;
  return plan.shared.empty() && plan.columnsFirst == plan.row.has_value();
}

/// Columns that are computed together anyway: of a row of a register tile, where they are neighbours.
static int64_t unitOf(BlockOp leaf, const LeafColumns &columns, const Machine &machine) {
  if (!columns.adjacent)
    return 1;
  int64_t bytes = 1;
  for (Value result : leaf.getYield().getOperands())
    bytes = std::max<int64_t>(bytes, leaf::storageBytes(getElementTypeOrSelf(result.getType())));
  return std::max<int64_t>(machine.cpu.columnBytes / bytes, 1);
}

/// Bytes of the results in one row of `tile` columns out of `count`. (What a row reads for itself need not stay in a
/// cache: each register tile takes a few rows from their begin to their end, as a processor prefetches.)
static int64_t bytesOfRow(BlockOp leaf, int64_t tile, int64_t count) {
  int64_t bytes = 1;
  for (Value result : leaf.getYield().getOperands())
    bytes += llvm::divideCeil(bytesOf(cast<RankedTensorType>(result.getType())) * tile, count);
  return bytes;
}

int64_t CostModel::columnsForCaches(BlockOp leaf, const LeafColumns &columns, const NestPlan &plan, double rows) {
  SmallVector<bool> batched = batchedReads(leaf, plan.row);
  bool isLarge = llvm::any_of(workOf(leaf).products, [&](const Product &product) {
    return product.read && !batched[*product.read] && product.bytes > machine.levels[1].bytes / 2;
  });
  if (!columns.adjacent || !plan.row || rows < machine.cpu.panelRows || !isLarge)
    return 0;
  return machine.cpu.columnTiles * unitOf(leaf, columns, machine);
}

LeafColumns CostModel::columnsOfSteps(ArrayRef<BlockOp> nest, std::optional<unsigned> row) {
  LeafColumns found;
  for (BlockOp leaf : nest) {
    LeafColumns own = chooseLeafColumns(leaf, batchedReads(leaf, row), machine.cpu, *leaves, /*inSteps=*/true);
    if (own.count == 0 || (found.count && own.count != found.count))
      return {};
    found = std::move(own);
  }
  return found;
}

std::optional<NestPlan> CostModel::withColumns(ArrayRef<BlockOp> nest, NestPlan plan) {
  LeafColumns columns = columnsOfSteps(nest, plan.row);
  int64_t tile = llvm::alignTo(llvm::divideCeil(columns.count, int64_t(numThreads)), unitOf(nest.front(), columns, machine));
  if (options.planSeed != 0 && columns.count > 1)
    tile = 1 + std::mt19937_64(options.planSeed)() % columns.count;
  if (tile >= columns.count)
    return std::nullopt;
  plan.rectangular = false;
  plan.columns = columns.count;
  plan.columnTile = tile;
  plan.columnsFirst = plan.row.has_value();
  return plan;
}

SmallVector<NestPlan, 2> CostModel::plansOfSteps(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed) {
  if (numThreads < 2 || (nest.size() > 1 && !fixed.empty()) || !llvm::all_of(nest, [](BlockOp block) { return block.isLeaf(); }) ||
      llvm::all_of(nest, [&](BlockOp leaf) { return workOf(leaf).products.empty(); }))
    return {};
  NestPlan points, rows;
  SmallVector<unsigned> parallel;
  for (const NestLoops::Loop &loop : getLoops(nest, fixed).loops) {
    points.team.push_back(loop.dim);
    (loop.parallel ? parallel : rows.team).push_back(loop.dim);
  }
  SmallVector<NestPlan, 2> plans;
  if (std::optional<NestPlan> plan = withColumns(nest, std::move(points)))
    plans.push_back(std::move(*plan));
  if (!fixed.empty() || rows.team.empty() || parallel.size() != 1 || !canBeRow(nest, parallel.front(), {}))
    return plans;
  rows.row = parallel.front();
  if (std::optional<NestPlan> plan = withColumns(nest, std::move(rows)))
    plans.push_back(std::move(*plan));
  return plans;
}

void CostModel::chooseColumns(ArrayRef<BlockOp> nest, NestPlan &plan) {
  if (plan.columns || !plan.team.empty() || !canShareColumns(nest, plan))
    return;
  BlockOp leaf = nest.front();
  Context context;
  context.dims.resize(leaf.getNumDims());
  double points = 1, rows = plan.row ? rangeOf(nest, *plan.row, context).size() : 1;
  for (unsigned dim : plan.shared)
    points *= rangeOf(nest, dim, context).size();
  bool multiplies = !workOf(leaf).products.empty();
  bool isFew = points * rows < numThreads * (multiplies ? tileRows() : 1);
  if (points * rows < 1 || (options.planSeed == 0 && estimate(nest, plan).seconds < machine.cpu.leastLaunches * machine.sync.launch))
    return;
  SmallVector<bool> batched = batchedReads(leaf, plan.row);
  LeafColumns columns = chooseLeafColumns(leaf, batched, machine.cpu, *leaves);
  if (columns.count < 2)
    return;
  int64_t unit = unitOf(leaf, columns, machine), tile = columnsForCaches(leaf, columns, plan, rows);
  if (isFew) {
    // Tasks of a product meet each page of a right-hand side again, so that one of a thread is best.
    double tasks = std::ceil((multiplies ? 1 : machine.cpu.threadTasks) * numThreads / points);
    tile = llvm::alignTo(llvm::divideCeil(columns.count, tasks), unit);
  }
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
    int64_t most = machine.levels[1].bytes / bytesOfRow(leaf, tile, columns.count);
    most = llvm::alignTo(std::min(most, machine.cpu.columnRows), tileRows());
    plan.maxRows = std::max(plan.maxRows, most);
  }
}
