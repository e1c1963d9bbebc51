//===- ReorderSchedule.cpp - orders of a nest -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FT §5.2: the hyperplane that carries all dependences becomes the sequential
// loop, completed to a unimodular T; the other loops are parallel, those that
// carry reuse innermost.
//
//===----------------------------------------------------------------------===//
#include "ReorderSchedule.h"
#include "ft/Support/NamedAffine.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;
using ft::LengthAttr;

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

SmallVector<OrderLoop> Order::getLoops() const {
  SmallVector<OrderLoop> loops;
  for (unsigned r = 0; r < rows.getNumRows(); ++r)
    loops.push_back({SmallVector<int64_t>(rows.getRow(r)), parallel[r]});
  return loops;
}

static AffineExpr toExpr(ArrayRef<int64_t> row, MLIRContext *context) {
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (auto [d, c] : llvm::enumerate(row))
    if (c)
      expr = expr + getAffineDimExpr(d, context) * c;
  return expr;
}

ScheduleAttr Order::toSchedule(MLIRContext *context, int64_t offset) const {
  SmallVector<AffineExpr> results;
  SmallVector<LoopAttr> loops;
  for (unsigned r = 0; r < rows.getNumRows(); ++r) {
    results.push_back(toExpr(rows.getRow(r), context) + (r == 0 ? offset : 0));
    loops.push_back(LoopAttr::get(context, r, 1,
                                  parallel[r] ? LoopKind::Parallel : LoopKind::Sequential,
                                  StringAttr()));
  }
  auto map = AffineMap::get(rows.getNumColumns(), 0, results, context);
  return ScheduleAttr::get(context, AffineMapAttr::get(map), loops, {});
}

std::string Order::str(ArrayRef<StringAttr> dims) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (unsigned r = 0; r < rows.getNumRows(); ++r) {
    os << (r ? ", " : "");
    ft::printNamedExpr(os, toExpr(rows.getRow(r), dims.front().getContext()), dims, {});
    os << (parallel[r] ? " parallel" : " sequential");
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

SmallVector<BlockOp> reorder::getBlocks(Operation *item) {
  if (auto block = dyn_cast<BlockOp>(item))
    return {block};
  return llvm::to_vector(cast<NestOp>(item).getBody().getOps<BlockOp>());
}

SmallVector<StringAttr> Nest::getOwnNames() const {
  BlockOp first = blocks.front();
  SmallVector<StringAttr> names = first.getDimNames();
  names.erase(names.begin(), names.begin() + first.getNumAncestors());
  return names;
}

/// Whether every region declares the dimension parallel.
static bool isMap(ArrayRef<BlockOp> blocks, unsigned own) {
  return llvm::all_of(blocks, [&](BlockOp block) {
    return block.getOperator(own) == ft::OperatorKind::Map;
  });
}

Order Nest::getDeclared() const {
  Order order{IntegerMatrix::identity(numOwn), {}};
  for (unsigned d = 0; d < numOwn; ++d)
    order.parallel.push_back(isMap(blocks, d));
  return order;
}

LengthAttr Nest::getDeclaredSteps() const {
  LengthAttr steps = LengthAttr::get(op->getContext(), 1);
  for (unsigned d = 0; d < numOwn && steps; ++d)
    if (!isMap(blocks, d)) {
      LengthAttr length = ranges[d].getLength();
      steps = length ? steps * length : LengthAttr();
    }
  return steps;
}

LengthAttr Nest::getSteps(ArrayRef<int64_t> row) const {
  LengthAttr steps = LengthAttr::get(op->getContext(), 1);
  for (auto [d, c] : llvm::enumerate(row)) {
    if (c == 0 || !steps)
      continue;
    LengthAttr length = ranges[d].getLength();
    if (!length)
      return {};
    LengthAttr last = length - 1;
    LengthAttr term =
        last ? last * LengthAttr::get(op->getContext(), std::abs(c)) : LengthAttr();
    if (!term)
      return {};
    steps = steps + term;
  }
  return steps;
}

LengthAttr Nest::getSteps(const Order &order) const {
  LengthAttr steps = LengthAttr::get(op->getContext(), 1);
  for (unsigned r = 0; r < numOwn && steps; ++r)
    if (!order.parallel[r]) {
      LengthAttr length = getSteps(order.rows.getRow(r));
      steps = length ? steps * length : LengthAttr();
    }
  return steps;
}

int64_t Nest::getTypicalSteps(ArrayRef<int64_t> row) const {
  int64_t steps = 1;
  for (auto [c, extent] : llvm::zip(row, extents))
    steps += std::abs(c) * (extent - 1);
  return steps;
}

//===----------------------------------------------------------------------===//
// Hyperplanes
//===----------------------------------------------------------------------===//

static std::optional<int64_t> dot(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t sum = 0;
  for (auto [x, y] : llvm::zip(a, b)) {
    int64_t product;
    if (llvm::MulOverflow(x, y, product) || llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

static bool carriesAll(ArrayRef<int64_t> row, const Distances &distances) {
  return llvm::all_of(distances, [&](ArrayRef<int64_t> distance) {
    auto steps = dot(row, distance);
    return steps && *steps >= 1;
  });
}

/// One row that always exists: from the innermost dimension outwards, as large
/// as the distances that begin there need.
static std::optional<SmallVector<int64_t>> constructHyperplane(const Distances &distances,
                                                               unsigned numDims) {
  SmallVector<int64_t> row(numDims, 0);
  for (unsigned d = numDims; d-- > 0;)
    for (ArrayRef<int64_t> distance : distances) {
      unsigned first = llvm::find_if(distance, [](int64_t c) { return c != 0; }) - distance.begin();
      if (first != d || distance[d] < 0)
        continue;
      auto inner = dot(ArrayRef(row).drop_front(d + 1), distance.drop_front(d + 1));
      if (!inner)
        return std::nullopt;
      // row_d · distance_d ≥ 1 − inner
      int64_t least = llvm::divideCeilSigned(1 - *inner, distance[d]);
      row[d] = std::max(row[d], std::max<int64_t>(least, 0));
    }
  if (!carriesAll(row, distances))
    return std::nullopt;
  int64_t common = 0;
  for (int64_t c : row)
    common = std::gcd(common, c);
  for (int64_t &c : row)
    c /= common;
  return row;
}

namespace {
/// Fewer steps first, then smaller and less negative coefficients.
struct Cost {
  double steps;
  int64_t sum, negative;
  bool operator<(const Cost &other) const {
    return std::tie(steps, sum, negative) < std::tie(other.steps, other.sum, other.negative);
  }
};
} // namespace

static Cost getCost(ArrayRef<int64_t> row, ArrayRef<int64_t> extents) {
  Cost cost{1, 0, 0};
  for (auto [c, extent] : llvm::zip(row, extents)) {
    // A typical length of 1 says nothing of others.
    cost.steps += std::abs(double(c)) * std::max<double>(double(extent) - 1, 0.5);
    cost.sum += std::abs(c);
    cost.negative += c < 0;
  }
  return cost;
}

std::optional<SmallVector<int64_t>> reorder::findHyperplane(const Distances &distances,
                                                            ArrayRef<int64_t> extents) {
  unsigned numDims = extents.size();
  if (distances.empty())
    return std::nullopt;
  std::optional<SmallVector<int64_t>> best = constructHyperplane(distances, numDims);
  if (!best)
    return std::nullopt;
  // Dimensions that no distance has stay out.
  SmallVector<unsigned> involved;
  int64_t largest = 1;
  for (unsigned d = 0; d < numDims; ++d)
    if (llvm::any_of(distances, [&](ArrayRef<int64_t> distance) { return distance[d] != 0; }))
      involved.push_back(d);
  for (int64_t c : *best)
    largest = std::max(largest, c);
  // All rows with coefficients up to the largest one needed so far, as far as
  // they can be gone through.
  constexpr double maxRows = 50000;
  auto numRows = [&](int64_t reach) { return std::pow(2.0 * reach + 1, involved.size()); };
  int64_t reach = std::min<int64_t>(std::max<int64_t>(largest, 2), 64);
  while (reach > 1 && numRows(reach) > maxRows)
    --reach;
  if (numRows(reach) > maxRows)
    return best;
  Cost bestCost = getCost(*best, extents);
  SmallVector<int64_t> row(numDims, 0);
  for (unsigned d : involved)
    row[d] = -reach;
  while (true) {
    Cost cost = getCost(row, extents);
    if (cost < bestCost && carriesAll(row, distances)) {
      best = row;
      bestCost = cost;
    }
    unsigned i = 0;
    while (i < involved.size() && row[involved[i]] == reach)
      row[involved[i++]] = -reach;
    if (i == involved.size())
      break;
    ++row[involved[i]];
  }
  // A common factor would only spread the steps.
  int64_t common = 0;
  for (int64_t c : *best)
    common = std::gcd(common, c);
  for (int64_t &c : *best)
    c /= common;
  return best;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Sorts the rows [from, to) so that more reuse is further in. Only differences
/// of an eighth of all bytes count: few interchanges.
static void sortByReuse(IntegerMatrix &rows, unsigned from, unsigned to, const NestReuse &reuse) {
  std::optional<IntegerMatrix> inverse = rows.inverse();
  if (!inverse || to - from < 2)
    return;
  double all = std::max(reuse.getBytes(), 1.0);
  SmallVector<std::pair<int, unsigned>> order;
  for (unsigned r = from; r < to; ++r)
    order.push_back({int(8 * reuse.getReusedBytes(inverse->getColumn(r)) / all + 1e-9), r});
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first < b.first; });
  IntegerMatrix sorted = rows;
  for (auto [i, entry] : llvm::enumerate(order))
    for (unsigned c = 0; c < rows.getNumColumns(); ++c)
      sorted.at(from + i, c) = rows.at(entry.second, c);
  rows = sorted;
}

/// Rows of unit vectors.
static IntegerMatrix toPermutation(ArrayRef<unsigned> dims, unsigned numDims) {
  IntegerMatrix rows(0, numDims);
  for (unsigned d : dims) {
    SmallVector<int64_t> unit(numDims, 0);
    unit[d] = 1;
    rows.appendRow(unit);
  }
  return rows;
}

namespace {
class CandidateBuilder {
public:
  CandidateBuilder(Nest &nest, DependenceAnalysis &analysis, const NestReuse &reuse)
      : nest(nest), analysis(analysis), reuse(reuse), numOwn(nest.numOwn) {}
  LogicalResult build();

private:
  /// Which loops may run in parallel, by the distances.
  SmallVector<bool> getParallel(const IntegerMatrix &rows);
  bool isInvolved(unsigned dim) {
    return llvm::any_of(nest.distances,
                        [&](ArrayRef<int64_t> distance) { return distance[dim] != 0; });
  }
  /// Adds the order if the exact test agrees.
  std::optional<Order> add(const IntegerMatrix &rows);
  LogicalResult buildWavefront(ArrayRef<int64_t> hyperplane);

  Nest &nest;
  DependenceAnalysis &analysis;
  const NestReuse &reuse;
  unsigned numOwn;
};
} // namespace

SmallVector<bool> CandidateBuilder::getParallel(const IntegerMatrix &rows) {
  SmallVector<bool> parallel(numOwn, true);
  for (ArrayRef<int64_t> distance : nest.distances)
    if (auto moved = rows.apply(distance)) {
      unsigned carrier = llvm::find_if(*moved, [](int64_t c) { return c != 0; }) - moved->begin();
      if (carrier < numOwn)
        parallel[carrier] = false;
    }
  return parallel;
}

std::optional<Order> CandidateBuilder::add(const IntegerMatrix &rows) {
  if (!rows.isUnimodular())
    return std::nullopt;
  Order order{rows, getParallel(rows)};
  if (llvm::is_contained(nest.candidates, order))
    return order;
  for (const Dependence &dependence : nest.carried) {
    FailureOr<bool> kept = isKept(analysis, dependence, order.getLoops());
    if (failed(kept) || !*kept)
      return std::nullopt;
  }
  nest.candidates.push_back(order);
  return order;
}

LogicalResult CandidateBuilder::buildWavefront(ArrayRef<int64_t> hyperplane) {
  SmallVector<unsigned> involved, others;
  for (unsigned d = 0; d < numOwn; ++d)
    (isInvolved(d) ? involved : others).push_back(d);

  // The sequential loop outermost; plain dimensions after it, in their order.
  SmallVector<unsigned> preferred(involved);
  preferred.append(others);
  llvm::sort(preferred);
  IntegerMatrix first(0, numOwn);
  first.appendRow(hyperplane);
  std::optional<IntegerMatrix> rows = completeUnimodular(first, preferred);
  if (!rows)
    return failure();
  sortByReuse(*rows, 1, numOwn, reuse);

  if (involved.size() == 1) {
    // One plain dimension carries all: outside of it nothing waits for anything.
    SmallVector<unsigned> outside(others);
    outside.push_back(involved.front());
    IntegerMatrix noBarriers = toPermutation(outside, numOwn);
    sortByReuse(noBarriers, 0, numOwn - 1, reuse);
    add(noBarriers);
    nest.wavefront = add(*rows);
  } else {
    nest.wavefront = add(*rows);
    // The wavefront once for each iteration of the dimensions that take no part.
    if (!others.empty()) {
      IntegerMatrix inside = toPermutation(others, numOwn);
      for (unsigned r = 0; r < numOwn; ++r) {
        ArrayRef<int64_t> row = rows->getRow(r);
        bool plainOther = llvm::any_of(others, [&](unsigned d) { return row[d] != 0; });
        if (!plainOther)
          inside.appendRow(row);
      }
      if (inside.getNumRows() == numOwn)
        add(inside);
    }
    // Nothing skewed: the dimensions that carry, in order, around the others.
    SmallVector<unsigned> plain(involved);
    plain.append(others);
    IntegerMatrix around = toPermutation(plain, numOwn);
    sortByReuse(around, involved.size(), numOwn, reuse);
    add(around);
  }
  return success(nest.wavefront.has_value());
}

LogicalResult CandidateBuilder::build() {
  IntegerMatrix identity = IntegerMatrix::identity(numOwn);
  if (nest.distances.empty()) {
    IntegerMatrix rows = identity;
    sortByReuse(rows, 0, numOwn, reuse);
    add(rows);
    add(identity);
    return success();
  }
  std::optional<SmallVector<int64_t>> hyperplane = findHyperplane(nest.distances, nest.extents);
  if (!hyperplane || failed(buildWavefront(*hyperplane))) {
    nest.candidates.clear();
    nest.wavefront.reset();
    return failure();
  }
  add(identity);
  return success();
}

Nest reorder::analyzeNest(Operation *op, DependenceAnalysis &analysis,
                          const TypicalLengths &lengths) {
  Nest nest{op, getBlocks(op)};
  BlockOp first = nest.blocks.front();
  nest.numOwn = first.getNumOwnDims();
  if (nest.numOwn == 0)
    return nest;
  // One dimension that is declared parallel, and is (V5): nothing to find out.
  if (nest.numOwn == 1 && isMap(nest.blocks, 0))
    return nest;
  nest.ranges = getOwnRanges(nest.blocks, analysis.getSpace());
  nest.extents = getTypicalExtents(nest.ranges, lengths);
  auto carried = analysis.getCarried(nest.blocks, DependenceAnalysis::List::Distances);
  if (failed(carried)) {
    nest.refusal = "a set or map is not quasi-affine";
    return nest;
  }
  nest.carried = std::move(*carried);
  for (const Dependence &dependence : nest.carried) {
    if (!dependence.isConstant()) {
      nest.refusal = "a dependence has no constant distance";
      nest.culprit = dependence;
      nest.distances.clear();
      return nest;
    }
    nest.distances.push_back(dependence.getDistance());
  }
  NestReuse reuse(analysis, nest.blocks, lengths);
  if (failed(CandidateBuilder(nest, analysis, reuse).build()))
    nest.refusal = "no hyperplane carries all dependences";
  return nest;
}
