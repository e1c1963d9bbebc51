//===- CostNest.cpp - seconds that a nest takes under a plan --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of the team's loops after the other, at sampled values: which points
// it has, how threads share them, into which calls of leaves they go, what the
// loops around a call repeat.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/Dimensions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Values of a range that are looked at: of team loops, of others.
static constexpr unsigned teamSamples = 9, otherSamples = 4;

namespace mlir::ft::schedule {
class CostModel::NestCost {
public:
  NestCost(CostModel &model, ArrayRef<BlockOp> nest, const NestPlan &plan, const Context &outer);
  Estimate run();

private:
  /// Of a part: rows of its calls and how many calls have them, if one thread had them all; where
  /// one of its points is.
  struct Share {
    SmallVector<std::pair<double, double>> calls;
    double points = 0, lines = 0; // that one thread would have, and ranges of rows in which they are
    Context at;
    BlockOp block;
    void add(double rows, double count) {
      auto *same = llvm::find_if(calls, [&](auto &call) { return call.first == rows; });
      if (same != calls.end())
        same->second += count;
      else
        calls.push_back({rows, count});
    }
  };
  /// One step: all loops of the team are fixed.
  struct Step {
    Context context, middle;
    double weight = 1;
    std::vector<Share> shares; // by part
    double units = 0, tiles = 0, lines = 0;
    SmallVector<double> own; // points of the row dimensions, by part
    // What a thread has of it.
    double mine = 0, perPoint = 0, rows = 1, extent = 1;
  };

  void visitTeam(unsigned i, Context context, double weight);
  void visitStep(Context context, double weight);
  void visitShared(Step &step, unsigned i, double share);
  double visitRows(Step &step, unsigned i, double share);
  void addPoints(Step &step, Range range, double share);
  void enter(const Step &step, Context &at, double rows, double perPoint) const;
  void addCalls(const Estimate &body, double count);
  void addParts(Step &step);
  bool addInner(Step &step);
  struct Inner {
    Context at;
    SmallVector<std::optional<Estimate>> bodies; // by block
    SmallVector<double> times;                   // that it is the dearest
    double sampled = 0;
  };
  void sampleInner(const Step &step, unsigned i, double share, Inner &inner);

  CostModel &model;
  ArrayRef<BlockOp> nest;
  const NestPlan &plan;
  const Context &outer;
  const bool distributed;
  const SmallVector<unsigned> rowDims;
  const int64_t maxRows;
  bool leaves = false;
  /// Parts of the points that calls of leaves have for themselves: regions, or those of one list.
  SmallVector<SmallVector<BlockOp>> parts;
  Estimate total;
  double points = 0, weights = 0, calledRows = 0, calls = 0;
};
} // namespace mlir::ft::schedule

int64_t CostModel::lengthOfParts(int64_t total, int64_t mostRows) const {
  int64_t parts = std::max<int64_t>(llvm::divideCeil(total, mostRows), 1);
  int64_t tiles = llvm::divideCeil(llvm::divideCeil(total, parts), tileRows());
  return std::clamp<int64_t>(tiles * tileRows(), 1, mostRows);
}

int64_t CostModel::rowsOfCalls(ArrayRef<BlockOp> nest, const NestPlan &plan) const {
  if (plan.maxRows)
    return plan.maxRows;
  SmallVector<unsigned> rowDims = plan.rowDims();
  return plan.listed ? mostListedRows(nest, rowDims) : plan.row ? chooseMaxRows(nest, rowDims, machine) : 1;
}

CostModel::NestCost::NestCost(CostModel &model, ArrayRef<BlockOp> nest, const NestPlan &plan, const Context &outer)
    : model(model), nest(nest), plan(plan), outer(outer), distributed(outer.threads > 1 && plan.isParallel()),
      rowDims(plan.rowDims()), maxRows(model.rowsOfCalls(nest, plan)) {
  leaves = llvm::all_of(nest, [](BlockOp block) { return block.isLeaf(); });
  if (plan.listed)
    for (RowGroup &group : groupRegions(nest, rowDims))
      parts.push_back(std::move(group.regions));
  else
    for (BlockOp block : nest)
      parts.push_back({block});
  total.steps = 0;
}

/// The points of a range of rows, of each part.
void CostModel::NestCost::addPoints(Step &step, Range range, double share) {
  for (auto [p, part] : llvm::enumerate(parts))
    for (BlockOp block : part) {
      if (nest.size() > 1 && !model.holds(block, step.context))
        continue;
      Range mine = plan.row && nest.size() > 1 ? model.rangeOf({block}, *plan.row, step.context) : range;
      if (mine.size() == 0)
        continue;
      step.own[p] += share * mine.size();
      step.shares[p].block = block;
      step.shares[p].at = step.context;
      if (plan.row)
        step.shares[p].at.dims[*plan.row] = mine.lower + mine.size() / 2;
    }
}

/// The points of the row dimensions from the i-th on: of all regions, and of each part.
double CostModel::NestCost::visitRows(Step &step, unsigned i, double share) {
  Context &context = step.context;
  if (i + 1 < rowDims.size()) {
    double found = 0;
    for (Sample s : sample(model.rangeOf(nest, rowDims[i], context),
                           model.samplesOf(nest, rowDims, rowDims[i], otherSamples))) {
      context.dims[rowDims[i]] = s.value;
      found += visitRows(step, i + 1, share * s.weight);
    }
    context.dims[rowDims[i]] = std::nullopt;
    return found;
  }
  Range range = plan.row ? model.rangeOf(nest, *plan.row, context) : Range{0, 1};
  if (range.size() == 0)
    return 0;
  if (plan.row)
    context.dims[*plan.row] = range.lower + range.size() / 2;
  step.middle = context;
  if (plan.row)
    context.dims[*plan.row] = std::nullopt;
  step.lines += share;
  addPoints(step, range, share);
  return share * range.size();
}

/// The points of the shared dimensions from the i-th on.
void CostModel::NestCost::visitShared(Step &step, unsigned i, double share) {
  Context &context = step.context;
  if (i < plan.shared.size()) {
    Range range = model.rangeOf(nest, plan.shared[i], context);
    for (Sample s : sample(range, model.samplesOf(nest, plan.shared, plan.shared[i], otherSamples))) {
      context.dims[plan.shared[i]] = s.value;
      visitShared(step, i + 1, share * s.weight);
    }
    context.dims[plan.shared[i]] = std::nullopt;
    return;
  }
  llvm::fill(step.own, 0);
  double linesBefore = std::exchange(step.lines, 0);
  double rows = visitRows(step, 0, 1);
  step.lines = linesBefore + share * step.lines;
  if (rows <= 0)
    return;
  step.units += share * rows;
  step.tiles += share;
  for (auto [points, part] : llvm::zip_equal(step.own, step.shares))
    if (points > 0) {
      double most = plan.listed ? model.lengthOfParts(std::ceil(points), maxRows) : maxRows;
      double full = std::floor(points / most), rest = points - full * most;
      part.points += share * points;
      part.lines += share;
      if (full > 0)
        part.add(most, share * full);
      if (rest > 0)
        part.add(rest, share);
    }
}

/// The loops between the step's and a call of so many rows.
void CostModel::NestCost::enter(const Step &step, Context &at, double rows, double perPoint) const {
  // All threads are in a body together only where none of the loops around it is shared or one thread's.
  at.threads = plan.isParallel() || !plan.inner.empty() ? 1 : outer.threads;
  if (plan.columns)
    at.columns = double(plan.columnTile) / plan.columns;
  for (unsigned d : plan.shared) {
    // The outermost one takes what the threads leave of the product of all.
    at.loops.push_back({d, d == plan.shared.front() ? step.extent : 1.0, false});
  }
  if (plan.row) {
    at.row = plan.row;
    at.rows = rows;
    // A thread's rows may be several calls of the leaf.
    if (double tiles = std::ceil((plan.columnsFirst ? perPoint : std::min(perPoint, step.mine)) / rows); tiles > 1)
      at.loops.push_back({*plan.row, tiles, false, plan.lines});
    at.loops.push_back({*plan.row, rows, true, plan.lines});
  }
}

void CostModel::NestCost::addCalls(const Estimate &body, double count) {
  total.seconds += count * body.seconds;
  total.streamed += count * body.streamed;
  total.barriers += count * body.barriers;
  calls += count;
  calledRows += count * body.rows;
}

/// Each part has its own calls, of which a thread makes its share.
void CostModel::NestCost::addParts(Step &step) {
  for (Share &part : step.shares) {
    if (!leaves && part.calls.size() > 1) { // an average is enough, and cheaper
      double points = 0, calls = 0;
      for (auto [rows, count] : part.calls) {
        points += rows * count;
        calls += count;
      }
      part.calls = {{points / calls, calls}};
    }
    for (auto [all, count] : part.calls) {
      double rows = plan.columnsFirst ? all : plan.row ? std::max(1.0, std::min(all, all * step.mine / step.perPoint)) : 1;
      Context at = part.at;
      enter(step, at, rows, part.points / part.lines);
      addCalls(model.ofBody(part.block, at), all * count * step.mine / step.units / rows * step.weight);
    }
  }
}

/// Of the blocks that share a point of the inner loops from the i-th on each has the work of one of them, the dearest
/// stands for all: how often which does. Which ones share it is sampled; what a block costs does not depend on the point.
void CostModel::NestCost::sampleInner(const Step &step, unsigned i, double share, Inner &inner) {
  if (i < plan.inner.size()) {
    for (Sample s : sample(model.rangeOf(nest, plan.inner[i], inner.at),
                           model.samplesOf(nest, plan.inner, plan.inner[i], otherSamples))) {
      inner.at.dims[plan.inner[i]] = s.value;
      sampleInner(step, i + 1, share * s.weight, inner);
    }
    inner.at.dims[plan.inner[i]] = std::nullopt;
    return;
  }
  std::optional<unsigned> dearest;
  for (auto [b, block] : llvm::enumerate(nest)) {
    if (nest.size() > 1 && !model.holds(block, inner.at))
      continue;
    if (!inner.bodies[b]) {
      Context here = step.middle;
      here.dims = inner.at.dims;
      inner.bodies[b] = model.ofBody(block, here);
    }
    if (!dearest || inner.bodies[b]->seconds >= inner.bodies[*dearest]->seconds)
      dearest = b;
  }
  inner.sampled += share;
  if (dearest)
    inner.times[*dearest] += share;
}

/// The calls of a thread that runs inner loops; false where the nest has no point.
bool CostModel::NestCost::addInner(Step &step) {
  enter(step, step.middle, step.rows, step.perPoint);
  double repeats = 1;
  for (unsigned d : plan.inner) {
    Range range = model.rangeOf(nest, d, step.middle);
    // Between its regions a nest may have no point in the middle.
    if (range.size() == 0 && nest.size() == 1)
      return false;
    double extent = std::max<int64_t>(range.size(), 1);
    repeats *= extent;
    step.middle.dims[d] = (range.lower + range.upper) / 2;
    step.middle.loops.push_back({d, extent, false});
  }
  Inner inner;
  inner.bodies.resize(nest.size());
  inner.times.resize(nest.size());
  if (nest.size() == 1) {
    inner.times[0] = inner.sampled = repeats;
    inner.bodies[0] = model.ofBody(nest.front(), step.middle);
  } else {
    inner.at = step.middle;
    for (unsigned d : plan.inner)
      inner.at.dims[d] = std::nullopt;
    sampleInner(step, 0, 1, inner);
    // Where regions have ranges of their own, the middle may be that of the shortest: no fewer than there are.
    repeats = std::max(repeats, inner.sampled);
    if (inner.sampled <= 0)
      return false;
  }
  for (auto [body, count] : llvm::zip_equal(inner.bodies, inner.times))
    if (count > 0)
      addCalls(*body, step.mine / std::max(step.rows, 1.0) * repeats * count / inner.sampled * step.weight);
  step.lines *= repeats;
  step.mine *= repeats;
  return true;
}

void CostModel::NestCost::visitStep(Context context, double weight) {
  Step step;
  step.context = context;
  step.middle = std::move(context);
  step.weight = weight;
  step.shares.resize(parts.size());
  step.own.resize(parts.size());
  visitShared(step, 0, 1);
  total.steps += weight;
  if (step.units <= 0)
    return;
  unsigned threads = distributed ? outer.threads : 1;
  double columns = plan.columns ? llvm::divideCeil(plan.columns, plan.columnTile) : 1;
  // (Of columns that stand outside of rows a thread has whole tiles, for each row.)
  step.mine = plan.columnsFirst ? step.units * std::ceil(columns / threads) / columns : std::ceil(step.units * columns / threads) / columns;
  step.perPoint = step.units / step.tiles;
  step.rows = plan.row ? std::min({step.perPoint, static_cast<double>(maxRows), plan.columnsFirst ? step.perPoint : step.mine}) : 1;
  step.extent = std::max(1.0, step.mine / std::max(step.perPoint, 1.0));
  points += weight * step.units;
  weights += weight;
  if (plan.inner.empty())
    addParts(step);
  else if (!addInner(step))
    return;
  if (plan.listed) {
    // A line asks every region for its part, which costs as much as a call; of its rows, each
    // operand costs a store.
    BlockOp front = nest.front();
    total.seconds += weight * (step.lines / threads * nest.size() * model.machine.sync.leafCall +
                               step.mine * (front.getNumReads() + front.getNumWrites()) /
                                   model.machine.unit.elementwise);
  }
  if (outer.threads > 1 && !plan.team.empty()) {
    total.barriers += weight;
    total.seconds += weight * model.machine.sync.barrier;
  }
}

/// The steps of the team's loops from the i-th on.
void CostModel::NestCost::visitTeam(unsigned i, Context context, double weight) {
  if (i == plan.team.size())
    return visitStep(std::move(context), weight);
  Range range = model.rangeOf(nest, plan.team[i], context);
  context.loops.push_back(
      {plan.team[i], static_cast<double>(std::max<int64_t>(range.size(), 1)), false});
  unsigned most = plan.team.size() > 1 ? otherSamples : teamSamples;
  for (Sample s : sample(range, model.samplesOf(nest, plan.team, plan.team[i], most))) {
    context.dims[plan.team[i]] = s.value;
    visitTeam(i + 1, context, weight * s.weight);
  }
}

Estimate CostModel::NestCost::run() {
  Context context = outer;
  context.dims.resize(BlockOp(nest.front()).getNumDims());
  visitTeam(0, std::move(context), 1);
  total.width = weights > 0 ? points / weights : 0;
  total.rows = calls > 0 ? calledRows / calls : 1;
  return total;
}

Estimate CostModel::ofNest(ArrayRef<BlockOp> nest, const NestPlan &plan, const Context &outer) {
  return NestCost(*this, nest, plan, outer).run();
}
