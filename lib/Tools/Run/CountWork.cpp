//===- CountWork.cpp - how much a program computes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the points of the domains of leaves that have products. Dimensions on which no bound of a later one depends are
// factors; the others are enumerated.
//
//===----------------------------------------------------------------------===//
#include "CountWork.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;

/// Values of dimensions that are looked at before counting is given up.
static constexpr uint64_t mostVisits = 1 << 20;

/// Iterations of the loops of `scf` around an operation, as far as they are constant.
static double countLoopsAround(Operation *op, Operation *leaf) {
  double count = 1;
  for (Operation *parent = op->getParentOp(); parent && parent != leaf; parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      if (std::optional<APInt> trips = loop.getStaticTripCount())
        count *= double(trips->getZExtValue());
  return count;
}

static double countFlopsOfLeaf(etdg::BlockOp leaf) {
  double flops = 0;
  leaf.getBody().walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    double points = countLoopsAround(op, leaf);
    for (int64_t range : op.getStaticLoopRanges())
      points *= ShapedType::isDynamic(range) ? 1 : double(range);
    flops += 2 * points;
  });
  return flops;
}

namespace {
/// A sum over the dimensions of a domain that is at least 0: a coefficient for each, then the constant.
using Inequality = SmallVector<int64_t>;

/// Counts the integer points of a set.
class PointCounter {
public:
  PointCounter(unsigned numDims, ArrayRef<Inequality> forms) : numDims(numDims), ofDim(numDims), isUsed(numDims) {
    for (const Inequality &form : forms) {
      std::optional<unsigned> last;
      for (unsigned d = 0; d < numDims; ++d) {
        if (form[d] == 0)
          continue;
        if (last) // a bound of a later dimension asks for its value
          isUsed[*last] = true;
        last = d;
      }
      if (last)
        ofDim[*last].push_back(form);
      else
        isEmpty |= form.back() < 0;
    }
  }

  std::optional<double> count() {
    SmallVector<int64_t> point;
    double points = isEmpty ? 0 : count(point);
    return isOpen || visits > mostVisits ? std::nullopt : std::optional(points);
  }

private:
  double count(SmallVectorImpl<int64_t> &point) {
    const unsigned d = point.size();
    if (d == numDims)
      return 1;
    std::optional<int64_t> low, high;
    for (const Inequality &form : ofDim[d]) {
      int64_t rest = form.back();
      for (auto [factor, value] : llvm::zip(form, point))
        rest += factor * value;
      if (form[d] > 0)
        low = std::max(low.value_or(INT64_MIN), llvm::divideCeilSigned(-rest, form[d]));
      else
        high = std::min(high.value_or(INT64_MAX), llvm::divideFloorSigned(rest, -form[d]));
    }
    isOpen |= !low || !high;
    if (isOpen || *low > *high)
      return 0;
    double points = 0;
    const int64_t last = isUsed[d] ? *high : *low;
    for (int64_t value = *low; value <= last && ++visits <= mostVisits; ++value) {
      point.push_back(value);
      points += count(point);
      point.pop_back();
    }
    return isUsed[d] ? points : points * double(*high - *low + 1);
  }

  const unsigned numDims;
  SmallVector<SmallVector<Inequality>> ofDim; // by the last dimension that they have
  SmallVector<bool> isUsed;                   // in a bound of a later dimension
  bool isEmpty = false, isOpen = false;
  uint64_t visits = 0;
};
} // namespace

/// Adds the bounds of a block's domain at these lengths, as forms over `numDims` dimensions: its own, its ancestors' and those of
/// blocks in it. Fails where a bound is no sum, or a length is not known.
static LogicalResult addDomain(etdg::BlockOp block, const etdg::LengthValues &lengths, unsigned numDims, SmallVectorImpl<Inequality> &forms) {
  IntegerSet set = block.getDomainSet();
  SmallVector<int64_t> symbols;
  for (StringAttr name : block.getSymbolNames()) {
    auto value = lengths.find(name.getValue());
    if (value == lengths.end())
      return failure();
    symbols.push_back(value->second);
  }
  for (auto [constraint, isEquality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    SmallVector<int64_t> flat;
    if (failed(getFlattenedAffineExpr(constraint, set.getNumDims(), set.getNumSymbols(), &flat)) ||
        flat.size() != set.getNumDims() + symbols.size() + 1)
      return failure();
    Inequality form(flat.begin(), flat.begin() + set.getNumDims());
    form.resize(numDims);
    form.push_back(flat.back());
    for (auto [i, value] : llvm::enumerate(symbols))
      form.back() += flat[set.getNumDims() + i] * value;
    forms.push_back(form);
    if (!isEquality)
      continue;
    for (int64_t &factor : form)
      factor = -factor;
    forms.push_back(form);
  }
  return success();
}

/// Iterations of a block, with those of the blocks around it.
static std::optional<double> countPoints(etdg::BlockOp block, const etdg::LengthValues &lengths) {
  SmallVector<Inequality> forms;
  for (auto around = block; around; around = around->getParentOfType<etdg::BlockOp>())
    if (failed(addDomain(around, lengths, block.getNumDims(), forms)))
      return std::nullopt;
  return PointCounter(block.getNumDims(), forms).count();
}

std::optional<double> tools::countFlops(etdg::GraphOp graph, const etdg::LengthValues &lengths) {
  double flops = 0;
  WalkResult counted = graph.walk([&](etdg::BlockOp block) {
    double inside = block.isLeaf() ? countFlopsOfLeaf(block) : 0;
    if (inside == 0)
      return WalkResult::advance();
    std::optional<double> points = countPoints(block, lengths);
    flops += inside * points.value_or(0);
    return points ? WalkResult::advance() : WalkResult::interrupt();
  });
  return counted.wasInterrupted() ? std::nullopt : std::optional(flops);
}
