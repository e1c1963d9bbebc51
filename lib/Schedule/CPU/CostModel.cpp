//===- CostModel.cpp - seconds that a plan takes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/Dimensions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

CostModel::CostModel(etdg::GraphOp graph, const CpuScheduleOptions &options, std::shared_ptr<LeafForms> known)
    : TypicalRanges(graph, options.lengths), options(options), machine(options.getMachine()),
      leaves(known ? std::move(known) : std::make_shared<LeafForms>()), numThreads(options.threads ? options.threads : machine.units) {}

void CostModel::setLengths(ArrayRef<std::pair<StringAttr, int64_t>> lengths) {
  TypicalRanges::setLengths(lengths);
  // Which plans there are does not depend on lengths, which one is best does.
  lastBest.clear();
  choices = priced = pricedBefore = 0;
  exceeded = false;
}

bool CostModel::isUniform(ArrayRef<BlockOp> nest, unsigned dim) {
  BlockOp front = nest.front();
  auto [it, isNew] = uniform.try_emplace({front.getOperation(), dim});
  if (!isNew)
    return it->second;
  bool asked = false;
  for (BlockOp block : nest)
    block->walk([&](BlockOp child) {
      asked |= child != block && llvm::any_of(child.getDomainSet().getConstraints(),
                                              [&](AffineExpr e) { return e.isFunctionOfDim(dim); });
    });
  return it->second = !asked && isRectangular(nest, dim);
}

unsigned CostModel::samplesOf(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, unsigned dim,
                              unsigned most) {
  if (isUniform(nest, dim) || isOverBudget())
    return 1;
  // All combinations are gone through: at most a few hundred.
  constexpr double mostPoints = 256;
  unsigned count = llvm::count_if(dims, [&](unsigned d) { return !isUniform(nest, d); });
  while (most > 1 && std::pow(most, count) > mostPoints)
    --most;
  return most;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

Estimate CostModel::ofBody(BlockOp block, const Context &context) {
  if (block.isLeaf())
    return ofLeaf(block, context);
  Estimate total;
  total.rows = context.rows;
  double weight = 0;
  auto nests = etdg::getNests(block.getBody());
  SmallVector<SmallVector<Read>> readsOf;
  for (ArrayRef<BlockOp> nest : nests) {
    readsOf.emplace_back();
    // Regions of a nest read alike: one stands for all.
    collectReads(nest.front(), context, readsOf.back());
  }
  bool isFirst = true;
  for (auto [n, nest] : llvm::enumerate(nests)) {
    // What has no point here takes no time.
    if (llvm::none_of(nest, [&](BlockOp child) { return holds(child, context); }))
      continue;
    Context inside = context;
    for (auto [other, reads] : llvm::enumerate(readsOf))
      if (other != n)
        llvm::append_range(inside.besides, reads);
    Estimate one = best(nest, inside).second;
    total.seconds += one.seconds;
    // All wait between nests; after the last one they wait for the step that it is a part of.
    total.barriers += one.barriers + (context.threads > 1 && !isFirst ? 1 : 0);
    isFirst = false;
    total.streamed += one.streamed;
    // The figures of the part that takes most of the time.
    if (one.seconds > weight) {
      weight = one.seconds;
      total.rows = one.rows;
      total.width = one.width;
    }
  }
  if (context.threads > 1)
    total.seconds += total.barriers * machine.sync.barrier;
  return total;
}

SmallVector<int64_t> CostModel::weightsOf(ArrayRef<BlockOp> nest) {
  constexpr int64_t most = 16; // shares: finer than estimates are right
  SmallVector<double> seconds;
  for (BlockOp block : nest) {
    if (!block.isLeaf())
      return {};
    Work work = workOf(block);
    double one = work.elementwise / machine.unit.elementwise +
                 work.elementary / machine.unit.elementary;
    for (const Product &product : work.products)
      one += product.flops / machine.tileFlops(tileRows());
    seconds.push_back(one);
  }
  double dearest = *llvm::max_element(seconds);
  if (dearest <= 0)
    return {};
  SmallVector<int64_t> weights;
  for (double one : seconds)
    weights.push_back(std::max<int64_t>(1, std::llround(most * one / dearest)));
  return llvm::all_equal(weights) ? SmallVector<int64_t>() : weights;
}

int64_t CostModel::mostListedRows(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims) const {
  int64_t most = chooseMaxRows(nest, dims, machine);
  return most < tileRows() ? most : most / tileRows() * tileRows();
}

void CostModel::finish(ArrayRef<BlockOp> nest, NestPlan &plan, bool isAlone) {
  SmallVector<unsigned> rows = plan.rowDims();
  plan.maxRows = plan.listed ? mostListedRows(nest, rows)
                 : plan.row  ? chooseMaxRows(nest, rows, machine)
                             : 1;
  if (int64_t tile = plan.row && !plan.listed ? openTile(nest, *plan.row) : 0)
    plan.maxRows = std::min(tile, mostCallRows);
  plan.rowUnit = plan.listed && tileRows() <= plan.maxRows ? tileRows() : 1;
  if (isAlone)
    chooseColumns(nest, plan);
  plan.inTurn = plan.team.empty() && !plan.listed && plan.rectangular && plan.isParallel();
  // Points that are less work weigh less, where threads have shares.
  if (plan.isParallel() && !plan.inTurn)
    plan.weights = weightsOf(nest);
}
