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
    loops.push_back(LoopAttr::get(
        context, r, 1, parallel[r] ? LoopKind::Parallel : LoopKind::Sequential));
  }
  auto map = AffineMap::get(rows.getNumColumns(), 0, results, context);
  return ScheduleAttr::get(context, AffineMapAttr::get(map), loops);
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

bool reorder::isScheduled(Operation *item) {
  return scheduleOf(item) || llvm::any_of(blocksOf(item), [](BlockOp block) { return bool(block.getScheduleAttr()); });
}

bool reorder::isOnTrial(Operation *op) {
  auto graph = dyn_cast<GraphOp>(op);
  if (!graph)
    graph = op->getParentOfType<GraphOp>();
  return !graph->getParentOp();
}

SmallVector<StringAttr> Nest::getOwnNames() const {
  BlockOp first = blocks.front();
  SmallVector<StringAttr> names = first.getDimNames();
  names.erase(names.begin(), names.begin() + first.getNumAncestors());
  return names;
}

/// Whether every region declares the dimension parallel.
static bool isMap(ArrayRef<BlockOp> blocks, unsigned own) {
  return llvm::all_of(
      blocks, [&](BlockOp block) { return block.getOperator(own) == ft::OperatorKind::Map; });
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
    LengthAttr term = last ? last * LengthAttr::get(op->getContext(), std::abs(c)) : LengthAttr();
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

double Nest::getTypicalDeclaredSteps() const {
  double steps = 1;
  for (unsigned d = 0; d < numOwn; ++d)
    if (!isMap(blocks, d))
      steps *= extents[d];
  return steps;
}

double Nest::getTypicalSteps(const Order &order) const {
  double steps = 1;
  for (unsigned r = 0; r < numOwn; ++r)
    if (!order.parallel[r])
      steps *= getTypicalSteps(order.rows.getRow(r));
  return steps;
}

double Nest::getTypicalIterations() const {
  double iterations = 1;
  for (int64_t extent : extents)
    iterations *= extent;
  return iterations;
}

int64_t Nest::getTypicalSteps(ArrayRef<int64_t> row) const {
  int64_t steps = 1;
  for (auto [c, extent] : llvm::zip(row, extents))
    steps += std::abs(c) * (extent - 1);
  return steps;
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
                        [&](ArrayRef<DistanceRange> distance) { return !distance[dim].isZero(); });
  }
  /// Adds the order if the exact test agrees.
  std::optional<Order> add(const IntegerMatrix &rows);
  LogicalResult buildWavefront(ArrayRef<int64_t> hyperplane);
  /// Where no row carries all: plain dimensions outside, a wavefront inside.
  LogicalResult buildNested();

  Nest &nest;
  DependenceAnalysis &analysis;
  const NestReuse &reuse;
  unsigned numOwn;
};
} // namespace

/// row · distance, an end that is not bounded being none.
static DistanceRange applyRow(ArrayRef<int64_t> row, ArrayRef<DistanceRange> distance) {
  DistanceRange sum = DistanceRange::constant(0);
  auto add = [](std::optional<int64_t> &to, std::optional<int64_t> end, int64_t factor) {
    int64_t product;
    if (!to || !end || llvm::MulOverflow(*end, factor, product) ||
        llvm::AddOverflow(*to, product, *to))
      to.reset();
  };
  for (auto [c, range] : llvm::zip(row, distance)) {
    if (c == 0)
      continue;
    add(sum.low, c > 0 ? range.low : range.high, c);
    add(sum.high, c > 0 ? range.high : range.low, c);
  }
  return sum;
}

SmallVector<bool> CandidateBuilder::getParallel(const IntegerMatrix &rows) {
  SmallVector<bool> parallel(numOwn, true);
  for (ArrayRef<DistanceRange> distance : nest.distances)
    for (unsigned r = 0; r < numOwn; ++r) {
      DistanceRange moved = applyRow(rows.getRow(r), distance);
      if (moved.isZero())
        continue;
      parallel[r] = false;
      if (moved.low && *moved.low >= 1)
        break;
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
  // Dimensions of the hyperplane; others in which distances go some way; and
  // those of no distance, which may stand anywhere.
  SmallVector<unsigned> inPlane, rest, crossed, untouched;
  for (unsigned d = 0; d < numOwn; ++d) {
    (hyperplane[d] ? inPlane : rest).push_back(d);
    (isInvolved(d) ? crossed : untouched).push_back(d);
  }
  // The sequential loop outermost; after it plain dimensions, first those that
  // it is made of (Fig. 6). Of these the one that is left out is what a point's steps go along: the one along which most is
  // read again, so that a unit that keeps a point keeps what it reads.
  auto reusedAlong = [&](unsigned d) {
    SmallVector<int64_t> unit(numOwn, 0);
    unit[d] = 1;
    return int(8 * reuse.getReusedBytes(unit) / std::max(reuse.getBytes(), 1.0) + 1e-9);
  };
  llvm::stable_sort(inPlane, [&](unsigned a, unsigned b) { return reusedAlong(a) < reusedAlong(b); });
  SmallVector<unsigned> preferred(inPlane);
  preferred.append(rest);
  IntegerMatrix first(0, numOwn);
  first.appendRow(hyperplane);
  std::optional<IntegerMatrix> rows = completeUnimodular(first, preferred);
  if (!rows)
    return failure();
  sortByReuse(*rows, 1, numOwn, reuse);

  // The wavefront once for each iteration of the dimensions that take no part.
  auto addInside = [&]() {
    if (untouched.empty())
      return;
    IntegerMatrix inside = toPermutation(untouched, numOwn);
    for (unsigned r = 0; r < numOwn; ++r)
      if (llvm::all_of(untouched, [&](unsigned d) { return rows->at(r, d) == 0; }))
        inside.appendRow(rows->getRow(r));
    if (inside.getNumRows() != numOwn)
      return;
    sortByReuse(inside, 0, untouched.size(), reuse);
    add(inside);
  };
  // Where one plain dimension carries all, outside of it nothing waits.
  bool plain = crossed.size() == 1;
  if (plain)
    addInside();
  nest.wavefront = add(*rows);
  if (!plain)
    addInside();
  // Nothing skewed: the dimensions that carry, in order, around the others.
  if (inPlane.size() > 1) {
    SmallVector<unsigned> around(crossed);
    around.append(untouched);
    IntegerMatrix unskewed = toPermutation(around, numOwn);
    sortByReuse(unskewed, crossed.size(), numOwn, reuse);
    add(unskewed);
  }
  return success(nest.wavefront.has_value());
}

LogicalResult CandidateBuilder::buildNested() {
  IntegerMatrix rows(0, numOwn);
  SmallVector<bool> used(numOwn, false);
  Distances left = nest.distances;
  while (!left.empty()) {
    if (rows.getNumRows() > 0)
      if (auto hyperplane = findHyperplane(left, nest.extents)) {
        rows.appendRow(*hyperplane);
        break;
      }
    // The outermost dimension in which nothing goes back and something forth.
    auto goesBack = [&](unsigned d) {
      return llvm::any_of(left,
                          [&](auto &distance) { return !distance[d].low || *distance[d].low < 0; });
    };
    auto carries = [](ArrayRef<DistanceRange> distance, unsigned d) {
      return distance[d].low && *distance[d].low >= 1;
    };
    unsigned dim = 0;
    while (dim < numOwn &&
           (used[dim] || goesBack(dim) ||
            llvm::none_of(left, [&](auto &distance) { return carries(distance, dim); })))
      ++dim;
    if (dim == numOwn)
      return failure();
    used[dim] = true;
    SmallVector<int64_t> unit(numOwn, 0);
    unit[dim] = 1;
    rows.appendRow(unit);
    llvm::erase_if(left, [&](auto &distance) { return carries(distance, dim); });
    // Inside, the ends agree in it.
    for (DistanceVector &distance : left)
      distance[dim] = DistanceRange::constant(0);
  }
  unsigned numSequential = rows.getNumRows();
  SmallVector<unsigned> preferred(numOwn);
  std::iota(preferred.begin(), preferred.end(), 0);
  std::optional<IntegerMatrix> all = completeUnimodular(rows, preferred);
  if (!all)
    return failure();
  sortByReuse(*all, numSequential, numOwn, reuse);
  std::optional<Order> order = add(*all);
  return success(order && nest.getTypicalSteps(*order) < nest.getTypicalDeclaredSteps());
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
  if (failed(hyperplane ? buildWavefront(*hyperplane) : buildNested())) {
    nest.candidates.clear();
    nest.wavefront.reset();
    return failure();
  }
  add(identity);
  return success();
}

Nest reorder::analyzeNest(Operation *op, DependenceAnalysis &analysis,
                          const TypicalLengths &lengths) {
  Nest nest{op, blocksOf(op)};
  BlockOp first = nest.blocks.front();
  nest.numOwn = first.getNumOwnDims();
  if (nest.numOwn == 0)
    return nest;
  // One dimension that is declared parallel, and is (V5): nothing to find out.
  if (nest.numOwn == 1 && isMap(nest.blocks, 0))
    return nest;
  nest.ranges = getOuterRanges(nest.blocks, analysis.getSpace());
  nest.extents = getTypicalExtents(nest.ranges, lengths);
  auto carried = analysis.getCarried(nest.blocks, DependenceAnalysis::List::Distances);
  if (failed(carried)) {
    nest.refusal = "a set or map is not quasi-affine";
    return nest;
  }
  nest.carried = std::move(*carried);
  for (const Dependence &dependence : nest.carried)
    if (!llvm::is_contained(nest.distances, dependence.distance))
      nest.distances.push_back(dependence.distance);
  NestReuse reuse(analysis, nest.blocks, lengths);
  if (failed(CandidateBuilder(nest, analysis, reuse).build())) {
    nest.refusal = "no hyperplane carries all dependences";
    for (const Dependence &dependence : nest.carried)
      if (!dependence.isConstant() && !nest.culprit) {
        nest.refusal = "a dependence has no constant distance";
        nest.culprit = dependence;
      }
  }
  return nest;
}
