//===- CostModel.cpp - seconds that a plan takes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/CostModel.h"
#include "ft/Schedule/Dimensions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

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

/// Dimensions whose values a key of `bounds` tells apart; further ones are looked at as if unknown.
static constexpr unsigned bitsOfKey = 64;

const DimBounds &CostModel::boundsAt(BlockOp block, unsigned dim, const Context &context) {
  auto known = [&](unsigned d) { return d < context.dims.size() && context.dims[d].has_value(); };
  std::pair<unsigned, uint64_t> key(dim, 0);
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    if (known(d) && d < bitsOfKey)
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
