//===- CostModel.cpp - seconds that a plan takes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/CostModel.h"
#include "ft/Schedule/Dimensions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Values of a range that are looked at: of team loops, of others.
static constexpr unsigned teamSamples = 9, otherSamples = 4;

CostModel::CostModel(etdg::GraphOp graph, const CpuScheduleOptions &options)
    : options(options), machine(options.getMachine()),
      numThreads(options.threads ? options.threads : machine.units), typical(graph) {
  for (auto [name, value] : options.lengths)
    given[name] = value;
}

int64_t CostModel::lengthOf(StringAttr name) {
  auto it = given.find(name);
  return it == given.end() ? typical.get(name) : it->second;
}

double CostModel::typically(LengthAttr length) {
  std::optional<int64_t> value =
      length ? length.evaluate([&](StringAttr name) -> std::optional<int64_t> { return lengthOf(name); }) : std::nullopt;
  return value ? std::max<int64_t>(*value, 0) : typical.evaluate(length);
}

double CostModel::bytesTypically(etdg::BufferType buffer) {
  double bytes = bytesOf(buffer.getElement());
  for (LengthAttr length : buffer.getLengths())
    bytes *= typically(length);
  return bytes;
}

std::optional<int64_t> CostModel::evaluate(AffineExpr expr, BlockOp block,
                                           ArrayRef<std::optional<int64_t>> dims) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue();
  case AffineExprKind::DimId: {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    return d < dims.size() ? dims[d] : std::nullopt;
  }
  case AffineExprKind::SymbolId:
    return lengthOf(
        cast<StringAttr>(block.getSymbols()[cast<AffineSymbolExpr>(expr).getPosition()]));
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(binary.getLHS(), block, dims),
                         b = evaluate(binary.getRHS(), block, dims);
  if (!a || !b)
    return std::nullopt;
  int64_t result = 0;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional<int64_t>(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*a, *b, result) ? std::nullopt : std::optional<int64_t>(result);
  default:
    break;
  }
  if (*b <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return llvm::divideFloorSigned(*a, *b);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return llvm::divideCeilSigned(*a, *b);
  return llvm::mod(*a, *b);
}

const DimBounds &CostModel::boundsAt(BlockOp block, unsigned dim, const Context &context) {
  auto known = [&](unsigned d) { return d < context.dims.size() && context.dims[d].has_value(); };
  std::pair<unsigned, uint64_t> key(dim, 0);
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    if (known(d) && d < 64)
      key.second |= uint64_t(1) << d;
  auto [it, inserted] = bounds[block.getOperation()].try_emplace(key);
  if (inserted)
    it->second = boundsOf(block, dim, known);
  return it->second;
}

CostModel::Range CostModel::rangeOf(ArrayRef<BlockOp> nest, unsigned dim, const Context &context) {
  std::optional<Range> all;
  for (BlockOp block : nest) {
    // A region that has no point here says nothing.
    if (nest.size() > 1 && !holds(block, context))
      continue;
    const DimBounds &bounds = boundsAt(block, dim, context);
    std::optional<int64_t> lower, upper;
    for (AffineExpr e : bounds.lowers)
      if (std::optional<int64_t> v = evaluate(e, block, context.dims))
        lower = std::max(lower.value_or(*v), *v);
    for (AffineExpr e : bounds.uppers)
      if (std::optional<int64_t> v = evaluate(e, block, context.dims))
        upper = std::min(upper.value_or(*v), *v);
    if (!lower || !upper || *upper <= *lower)
      continue;
    all = all ? Range{std::min(all->lower, *lower), std::max(all->upper, *upper)}
              : Range{*lower, *upper};
  }
  return all.value_or(Range{0, 0});
}

SmallVector<CostModel::Sample> CostModel::sample(Range range, unsigned most) {
  SmallVector<Sample> samples;
  int64_t size = range.size();
  int64_t count = std::min<int64_t>(size, most);
  for (int64_t i = 0; i < count; ++i) {
    // The middle of the i-th of `count` equal parts.
    int64_t value =
        range.lower + static_cast<int64_t>((2 * i + 1) * static_cast<double>(size) / (2.0 * count));
    samples.push_back({std::min(value, range.upper - 1), static_cast<double>(size) / count});
  }
  return samples;
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

bool CostModel::holds(BlockOp block, const Context &context) {
  IntegerSet set = block.getDomainSet();
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    if (std::optional<int64_t> v = evaluate(expr, block, context.dims))
      if (equality ? *v != 0 : *v < 0)
        return false;
  return true;
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
    total.barriers += one.barriers + (context.threads > 1 ? 1 : 0);
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
  constexpr int64_t most = 16;
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

int64_t CostModel::lengthOfParts(int64_t total, int64_t mostRows) const {
  int64_t parts = std::max<int64_t>(llvm::divideCeil(total, mostRows), 1);
  int64_t tiles = llvm::divideCeil(llvm::divideCeil(total, parts), tileRows());
  return std::clamp<int64_t>(tiles * tileRows(), 1, mostRows);
}

Estimate CostModel::ofNest(ArrayRef<BlockOp> nest, const NestPlan &plan, const Context &outer) {
  Estimate total;
  total.steps = 0;
  double points = 0, weights = 0, calledRows = 0, calls = 0;
  bool distributed = outer.threads > 1 && plan.isParallel();
  SmallVector<unsigned> rowDims = plan.rowDims();
  int64_t maxRows = plan.maxRows  ? plan.maxRows
                    : plan.listed ? mostListedRows(nest, rowDims)
                    : plan.row    ? chooseMaxRows(nest, rowDims, machine)
                                  : 1;
  bool leaves = llvm::all_of(nest, [](BlockOp block) { return block.isLeaf(); });
  // Parts of the points that calls of leaves have for themselves: regions, or those of one list.
  SmallVector<SmallVector<BlockOp>> parts;
  if (plan.listed)
    for (RowGroup &group : groupRegions(nest, rowDims))
      parts.push_back(std::move(group.regions));
  else
    for (BlockOp block : nest)
      parts.push_back({block});

  // One step: all loops of the team are fixed.
  auto step = [&](Context context, double weight) {
    /// Of a part: rows of its calls and how many calls have them, if one thread had them all; where
    /// one of its points is.
    struct Share {
      SmallVector<std::pair<double, double>> calls;
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
    std::vector<Share> shares(parts.size());
    double units = 0, tiles = 0, lines = 0;
    Context middle = context;
    // The points of the row dimensions from the i-th on: of all regions, and of each part.
    SmallVector<double> own(parts.size());
    std::function<double(unsigned, double)> visitRows = [&](unsigned i, double share) -> double {
      if (i + 1 < rowDims.size()) {
        double found = 0;
        for (Sample s : sample(rangeOf(nest, rowDims[i], context),
                               samplesOf(nest, rowDims, rowDims[i], otherSamples))) {
          context.dims[rowDims[i]] = s.value;
          found += visitRows(i + 1, share * s.weight);
        }
        context.dims[rowDims[i]] = std::nullopt;
        return found;
      }
      Range range = plan.row ? rangeOf(nest, *plan.row, context) : Range{0, 1};
      if (range.size() == 0)
        return 0;
      if (plan.row)
        context.dims[*plan.row] = range.lower + range.size() / 2;
      middle = context;
      if (plan.row)
        context.dims[*plan.row] = std::nullopt;
      lines += share;
      for (auto [p, part] : llvm::enumerate(parts))
        for (BlockOp block : part) {
          if (nest.size() > 1 && !holds(block, context))
            continue;
          Range mine = plan.row && nest.size() > 1 ? rangeOf({block}, *plan.row, context) : range;
          if (mine.size() == 0)
            continue;
          own[p] += share * mine.size();
          shares[p].block = block;
          shares[p].at = context;
          if (plan.row)
            shares[p].at.dims[*plan.row] = mine.lower + mine.size() / 2;
        }
      return share * range.size();
    };
    std::function<void(unsigned, double)> visit = [&](unsigned i, double share) {
      if (i < plan.shared.size()) {
        Range range = rangeOf(nest, plan.shared[i], context);
        for (Sample s :
             sample(range, samplesOf(nest, plan.shared, plan.shared[i], otherSamples))) {
          context.dims[plan.shared[i]] = s.value;
          visit(i + 1, share * s.weight);
        }
        context.dims[plan.shared[i]] = std::nullopt;
        return;
      }
      llvm::fill(own, 0);
      double linesBefore = std::exchange(lines, 0);
      double rows = visitRows(0, 1);
      lines = linesBefore + share * lines;
      if (rows <= 0)
        return;
      units += share * rows;
      tiles += share;
      for (auto [points, part] : llvm::zip_equal(own, shares))
        if (points > 0) {
          double most = plan.listed ? lengthOfParts(std::ceil(points), maxRows) : maxRows;
          double full = std::floor(points / most), rest = points - full * most;
          if (full > 0)
            part.add(most, share * full);
          if (rest > 0)
            part.add(rest, share);
        }
    };
    visit(0, 1);
    total.steps += weight;
    if (units <= 0)
      return;
    unsigned threads = distributed ? outer.threads : 1;
    double parts = plan.columns ? llvm::divideCeil(plan.columns, plan.columnTile) : 1;
    double mine = std::ceil(units * parts / threads) / parts, perPoint = units / tiles;
    double rows = plan.row ? std::min({perPoint, static_cast<double>(maxRows), mine}) : 1;
    points += weight * units;
    weights += weight;
    double extent = std::max(1.0, mine / std::max(perPoint, 1.0));
    auto enter = [&](Context &at, double rows, double perPoint) {
      // All threads are in a body together only where none of the loops around it is shared or one thread's.
      at.threads = plan.isParallel() || !plan.inner.empty() ? 1 : outer.threads;
      for (unsigned d : plan.shared) {
        // The outermost one takes what the threads leave of the product of all.
        at.loops.push_back({d, d == plan.shared.front() ? extent : 1.0, false});
      }
      if (plan.row) {
        at.row = plan.row;
        at.rows = rows;
        // A thread's rows may be several calls of the leaf.
        if (double tiles = std::ceil(std::min(perPoint, mine) / rows); tiles > 1)
          at.loops.push_back({*plan.row, tiles, false, plan.lines});
        at.loops.push_back({*plan.row, rows, true, plan.lines});
      }
    };
    auto addCalls = [&](const Estimate &body, double count) {
      total.seconds += count * body.seconds;
      total.streamed += count * body.streamed;
      total.barriers += count * body.barriers;
      calls += count;
      calledRows += count * body.rows;
    };
    if (plan.inner.empty()) {
      // Each part has its own calls, of which a thread makes its share.
      for (Share &part : shares) {
        if (!leaves && part.calls.size() > 1) { // an average is enough, and cheaper
          double points = 0, calls = 0;
          for (auto [rows, count] : part.calls) {
            points += rows * count;
            calls += count;
          }
          part.calls = {{points / calls, calls}};
        }
        for (auto [all, count] : part.calls) {
          double rows = plan.row ? std::max(1.0, std::min(all, all * mine / perPoint)) : 1;
          Context at = part.at;
          enter(at, rows, all);
          addCalls(ofBody(part.block, at), all * count * mine / units / rows * weight);
        }
      }
    } else {
      enter(middle, rows, perPoint);
      double repeats = 1;
      for (unsigned d : plan.inner) {
        Range range = rangeOf(nest, d, middle);
        // Between its regions a nest may have no point in the middle.
        if (range.size() == 0 && nest.size() == 1)
          return;
        double extent = std::max<int64_t>(range.size(), 1);
        repeats *= extent;
        middle.dims[d] = (range.lower + range.upper) / 2;
        middle.loops.push_back({d, extent, false});
      }
      // Of the blocks that share a point of these loops each has the work of one of them, the dearest
      // stands for all. Which ones do is sampled; what a block costs does not depend on the point.
      SmallVector<std::optional<Estimate>> bodies(nest.size());
      SmallVector<double> times(nest.size());
      Context at = middle;
      for (unsigned d : plan.inner)
        at.dims[d] = std::nullopt;
      double sampled = 0;
      std::function<void(unsigned, double)> visitInner = [&](unsigned i, double share) {
        if (i < plan.inner.size()) {
          for (Sample s : sample(rangeOf(nest, plan.inner[i], at),
                                 samplesOf(nest, plan.inner, plan.inner[i], otherSamples))) {
            at.dims[plan.inner[i]] = s.value;
            visitInner(i + 1, share * s.weight);
          }
          at.dims[plan.inner[i]] = std::nullopt;
          return;
        }
        std::optional<unsigned> dearest;
        for (auto [b, block] : llvm::enumerate(nest)) {
          if (nest.size() > 1 && !holds(block, at))
            continue;
          if (!bodies[b]) {
            Context here = middle;
            here.dims = at.dims;
            bodies[b] = ofBody(block, here);
          }
          if (!dearest || bodies[b]->seconds >= bodies[*dearest]->seconds)
            dearest = b;
        }
        sampled += share;
        if (dearest)
          times[*dearest] += share;
      };
      if (nest.size() == 1) {
        times[0] = sampled = repeats;
        bodies[0] = ofBody(nest.front(), middle);
      } else {
        visitInner(0, 1);
        // Where regions have ranges of their own, the middle may be that of the shortest: no fewer than there are.
        repeats = std::max(repeats, sampled);
        if (sampled <= 0)
          return;
      }
      for (auto [body, count] : llvm::zip_equal(bodies, times))
        if (count > 0)
          addCalls(*body, mine / std::max(rows, 1.0) * repeats * count / sampled * weight);
      lines *= repeats;
      mine *= repeats;
    }
    if (plan.listed) {
      // A line asks every region for its part, which costs as much as a call; of its rows, each
      // operand costs a store.
      BlockOp front = nest.front();
      total.seconds += weight * (lines / threads * nest.size() * machine.sync.leafCall +
                                 mine * (front.getNumReads() + front.getNumWrites()) /
                                     machine.unit.elementwise);
    }
    if (outer.threads > 1 && !plan.team.empty()) {
      total.barriers += weight;
      total.seconds += weight * machine.sync.barrier;
    }
  };
  std::function<void(unsigned, Context, double)> team = [&](unsigned i, Context context,
                                                            double weight) {
    if (i == plan.team.size())
      return step(context, weight);
    Range range = rangeOf(nest, plan.team[i], context);
    context.loops.push_back(
        {plan.team[i], static_cast<double>(std::max<int64_t>(range.size(), 1)), false});
    unsigned most = plan.team.size() > 1 ? otherSamples : teamSamples;
    for (Sample s : sample(range, samplesOf(nest, plan.team, plan.team[i], most))) {
      context.dims[plan.team[i]] = s.value;
      team(i + 1, context, weight * s.weight);
    }
  };
  Context context = outer;
  context.dims.resize(BlockOp(nest.front()).getNumDims());
  team(0, context, 1);
  total.width = weights > 0 ? points / weights : 0;
  total.rows = calls > 0 ? calledRows / calls : 1;
  return total;
}
