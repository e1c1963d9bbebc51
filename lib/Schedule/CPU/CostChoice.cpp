//===- CostChoice.cpp - which plan takes the least time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/Dimensions.h"

#include "llvm/Support/Format.h"

#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

static unsigned questionOf(bool withTeam, bool fixedRow, ArrayRef<unsigned> fixed) {
  return fixed.size() * 4 + unsigned(withTeam) * 2 + fixedRow;
}

const std::vector<NestPlan> &CostModel::plansOf(ArrayRef<BlockOp> nest, bool withTeam,
                                                bool fixedRow, ArrayRef<unsigned> fixed) {
  BlockOp front = nest.front();
  auto [it, inserted] =
      plans.try_emplace({front.getOperation(), questionOf(withTeam, fixedRow, fixed)});
  if (!inserted)
    return it->second;
  std::vector<NestPlan> found = enumeratePlans(nest, withTeam, fixedRow, fixed, options.planSeed != 0);
  if (withTeam && !fixedRow)
    llvm::append_range(found, plansOfSteps(nest, fixed));
  it = plans.find({front.getOperation(), questionOf(withTeam, fixedRow, fixed)});
  it->second = std::move(found);
  // A tile that something wrote is a tile of rows, where its dimension can be rows.
  auto hasTile = [&](const NestPlan &plan) { return plan.row && !plan.listed && openTile(nest, *plan.row) > 0; };
  if (llvm::any_of(it->second, hasTile))
    llvm::erase_if(it->second, [&](const NestPlan &plan) { return !hasTile(plan); });
  return it->second;
}

std::pair<NestPlan, Estimate> CostModel::best(ArrayRef<BlockOp> nest, const Context &context,
                                              ArrayRef<unsigned> fixed) {
  std::optional<std::pair<NestPlan, Estimate>> found;
  // (A copy: estimating children adds plans.)
  bool withTeam = context.threads > 1, fixedRow = context.row.has_value();
  std::vector<NestPlan> all = plansOf(nest, withTeam, fixedRow, fixed);
  BlockOp front = nest.front();
  std::pair<Operation *, unsigned> key(front, questionOf(withTeam, fixedRow, fixed));
  auto price = [&](const NestPlan &plan) {
    ++priced;
    ++depth;
    Estimate estimate = ofNest(nest, plan, context);
    --depth;
    return estimate;
  };
  if (auto last = lastBest.find(key); depth > 0 && last != lastBest.end() && isOverBudget()) {
    const NestPlan &plan = all[last->second];
    return {plan, price(plan)};
  }
  unsigned number = 0;
  for (auto [i, plan] : llvm::enumerate(all)) {
    Estimate estimate = price(plan);
    if (!found) {
      found = {plan, estimate};
      continue;
    }
    const Estimate &before = found->second;
    // Threads that wait for each other lose more than the model knows: a plan with more team loops
    // has to be clearly better. Of equals, the one that reads less.
    double margin = plan.team.size() > found->first.team.size() ? machine.cpu.sureGain : machine.cpu.planGain;
    bool reads = plan.team.size() == found->first.team.size() && estimate.seconds <= machine.cpu.tieSeconds * before.seconds &&
                 estimate.streamed < machine.cpu.tieBytes * before.streamed;
    if (estimate.seconds < margin * before.seconds || reads) {
      found = {plan, estimate};
      number = i;
    }
  }
  lastBest[key] = number;
  return *found;
}

NestPlan CostModel::choose(ArrayRef<BlockOp> nest, bool withTeam, bool fixedRow,
                           ArrayRef<unsigned> fixed) {
  Context context;
  BlockOp front = nest.front();
  pricedBefore = priced;
  ofChosen.reset();
  context.threads = withTeam ? numThreads : 1;
  if (fixedRow)
    context.row = 0;
  const std::vector<NestPlan> &all = plansOf(nest, context.threads > 1, fixedRow, fixed);
  if (all.size() == 1)
    return all.front();
  if (options.planSeed != 0) {
    std::mt19937_64 generator(options.planSeed + 0x9e3779b97f4a7c15 * ++choices);
    return all[generator() % all.size()];
  }
  enterAround(front, context);
  for (unsigned d : fixed) {
    Range range = rangeOf(nest, d, context);
    context.dims[d] = range.lower + range.size() / 2;
    context.loops.push_back({d, static_cast<double>(std::max<int64_t>(range.size(), 1)), false});
  }
  auto [plan, estimate] = best(nest, context, fixed);
  ofChosen = estimate;
  return plan;
}

std::pair<NestPlan, Estimate> CostModel::chooseAtTop(ArrayRef<BlockOp> nest) {
  NestPlan plan = choose(nest, /*withTeam=*/true, /*fixedRow=*/false);
  // Within the budget it would be priced alike once more.
  if (!ofChosen || exceeded)
    return {plan, estimate(nest, plan)};
  ofChosen->seconds += machine.sync.launch;
  return {plan, *ofChosen};
}

// Of the dimensions outside nothing is known but that they are in the middle of their ranges.
void CostModel::enterAround(BlockOp front, Context &context) {
  SmallVector<BlockOp> chain;
  for (BlockOp parent = front.getParentBlock(); parent; parent = parent.getParentBlock())
    chain.insert(chain.begin(), parent);
  for (BlockOp parent : chain) {
    context.dims.resize(parent.getNumDims());
    for (unsigned d = parent.getNumAncestors(); d < parent.getNumDims(); ++d) {
      Range range = rangeOf({parent}, d, context);
      context.dims[d] = range.lower + range.size() / 2;
      context.loops.push_back({d, static_cast<double>(std::max<int64_t>(range.size(), 1)), false});
    }
  }
  context.dims.resize(front.getNumDims());
}

Estimate CostModel::estimateInside(ArrayRef<BlockOp> nest) {
  Context context;
  context.threads = numThreads;
  enterAround(nest.front(), context);
  pricedBefore = priced;
  return best(nest, context).second;
}

Estimate CostModel::estimateSteps(ArrayRef<BlockOp> nest, ArrayRef<unsigned> steps) {
  Context context;
  context.threads = numThreads;
  context.dims.resize(BlockOp(nest.front()).getNumDims());
  double times = 1;
  for (unsigned d : steps) {
    Range range = rangeOf(nest, d, context);
    context.dims[d] = range.lower + range.size() / 2;
    context.loops.push_back({d, static_cast<double>(std::max<int64_t>(range.size(), 1)), false});
    times *= std::max<int64_t>(range.size(), 0);
  }
  pricedBefore = priced;
  Estimate one = best(nest, context, steps).second;
  one.seconds = times * (one.seconds + machine.sync.barrier);
  one.barriers = times * (one.barriers + 1);
  one.steps = times * one.steps;
  one.streamed *= times;
  return one;
}

Estimate CostModel::estimate(ArrayRef<BlockOp> nest, const NestPlan &plan) {
  Context context;
  context.threads = numThreads;
  // Inside of the nest as if `best` had asked.
  pricedBefore = priced;
  ++depth;
  Estimate result = ofNest(nest, plan, context);
  --depth;
  result.seconds += machine.sync.launch;
  return result;
}

/// Of the plural of a number that is printed without decimals.
static const char *ending(double number) { return number >= 0.5 && number < 1.5 ? "" : "s"; }

std::string CostModel::describe(ArrayRef<BlockOp> nest, const NestPlan &plan,
                                const Estimate &estimate) {
  std::string text = schedule::describe(nest, plan);
  llvm::raw_string_ostream out(text);
  out << llvm::format(
      ": %.0f step%s of %.1f points, %.1f rows a call, %.0f barrier%s, %.3g MB streamed, %.3g us",
      estimate.steps, ending(estimate.steps), estimate.width, estimate.rows, estimate.barriers, ending(estimate.barriers),
      estimate.streamed / 1e6, estimate.seconds * 1e6);
  return text;
}

Estimate CostModel::estimateBest(ArrayRef<BlockOp> nest) {
  Context context;
  context.threads = numThreads;
  pricedBefore = priced;
  Estimate result = best(nest, context).second;
  result.seconds += machine.sync.launch;
  return result;
}
