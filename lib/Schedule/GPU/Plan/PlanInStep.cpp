//===- PlanInStep.cpp - nests that nothing waits inside of -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nests of a kernel share its first loops, and thread blocks wait between
// them. A nest whose other loops are all parallel may take tiles of products, as a
// kernel of its own would; one whose order holds inside of what each thread block
// has for itself, and that reads no weights with others, needs no barriers.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Whether a product is in each of these steps; one that only the first one has is no more than what else is ahead of them.
static bool hasProductInSteps(ArrayRef<BlockOp> nest, ArrayRef<unsigned> steps) {
  return llvm::any_of(nest, [&](BlockOp block) {
    if (llvm::any_of(steps, [&](unsigned dim) { return constantExtent({block}, dim) == 1; }))
      return false;
    return block
        ->walk([](linalg::LinalgOp op) {
          return linalg::isaContractionOpInterface(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

/// The longest of these dimensions at the lengths that are planned for, and its iterations.
static std::pair<unsigned, int64_t> findLongest(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, const GpuScheduleOptions::Lengths &lengths) {
  TypicalRanges ranges(BlockOp(nest.front())->getParentOfType<etdg::GraphOp>(), lengths);
  SmallVector<std::optional<int64_t>> unknown(BlockOp(nest.front()).getNumDims());
  std::pair<unsigned, int64_t> longest(dims.front(), 0);
  for (unsigned dim : dims)
    if (int64_t size = ranges.rangeOf(nest, dim, unknown).size(); size > longest.second)
      longest = {dim, size};
  return longest;
}

LogicalResult GpuPlanner::planInStep(ArrayRef<BlockOp> nest, GpuPlan &plan, unsigned shared) {
  SmallVector<unsigned> free(plan.flat);
  if (free.empty() || !plan.outer.empty() || !plan.inner.empty())
    return success();
  if (plan.steps.size() == shared) {
    GpuPlan products = plan;
    products.flat.clear();
    auto [longest, size] = findLongest(nest, free, options.lengths);
    products.row = longest;
    FailureOr<bool> inTiles = planProducts(nest, free, products, plan.steps, {/*alone=*/true});
    if (failed(inTiles))
      return failure();
    // (Half of a tile's rows is what threads without one would have of it; all nests of a kernel have as many threads.)
    if (*inTiles && products.maxRows <= 2 * size && products.block.getThreads() >= planning.blockThreads.back())
      plan = std::move(products);
    return success();
  }
  // Columns of products are shared with a barrier after each step; all else is as long as its rows say.
  if (hasProductInSteps(nest, ArrayRef(plan.steps).drop_front(shared)) || !llvm::all_of(free, [&](unsigned d) { return isFreeMap(nest, d); }))
    return success();
  plan.inner.assign(plan.steps.begin() + shared, plan.steps.end());
  plan.steps.resize(shared);
  plan.waits.resize(shared);
  return success();
}
