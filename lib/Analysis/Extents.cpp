//===- Extents.cpp - how long dimensions are ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds are read off constraints with one dimension; that one of a block bounds
// the others too is asked of the sets.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/OuterExtents.h"
#include "ft/Analysis/AccessMatrix.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

#include <cmath>

using namespace mlir;
using namespace mlir::etdg;
using ft::LengthAttr;

/// What `ft.typical` says of each length, [least, greatest]: the verifier saw to it.
static void addTypicalRanges(GraphOp graph, llvm::DenseMap<StringAttr, int64_t> &values) {
  auto ranges = graph->getAttrOfType<DictionaryAttr>(ft::names::typical);
  if (!ranges)
    return;
  for (NamedAttribute entry : ranges) {
    auto range = dyn_cast<ArrayAttr>(entry.getValue());
    if (!range || range.size() != 2 || !llvm::all_of(range, llvm::IsaPred<IntegerAttr>))
      continue;
    int64_t least = cast<IntegerAttr>(range[0]).getInt(), greatest = cast<IntegerAttr>(range[1]).getInt();
    auto [it, isNew] = values.try_emplace(entry.getName(), 0);
    it->second = isNew ? std::llround(std::sqrt(double(least) * double(greatest)))
                       : std::clamp(it->second, least, std::max(least, greatest));
  }
}

TypicalLengths::TypicalLengths(GraphOp graph) {
  if (auto lengths = graph->getAttrOfType<DictionaryAttr>(ft::names::lengths))
    for (NamedAttribute entry : lengths)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        values[entry.getName()] = std::max<int64_t>(value.getInt(), 0);
  addTypicalRanges(graph, values);
  for (auto assume : graph.getBody().getOps<AssumeOp>()) {
    int64_t value =
        assume.getTypical().empty() ? get(assume.getLengthAttr()) : assume.getTypical().front();
    int64_t lo = assume.getLo(), hi = assume.getHi();
    values[assume.getLengthAttr()] = std::max<int64_t>(std::clamp(value, lo, hi), 0);
  }
}

int64_t TypicalLengths::get(StringAttr name) const {
  auto it = values.find(name);
  return it == values.end() ? unknown : it->second;
}

int64_t TypicalLengths::evaluate(LengthAttr length) const {
  if (!length)
    return unknown;
  auto value = length.evaluate([&](StringAttr name) { return std::optional(get(name)); });
  return value ? std::max<int64_t>(*value, 0) : unknown;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {
/// Bounds of one dimension in one block: x ≥ lower, x < upper.
struct Bounds {
  SmallVector<LengthAttr> lower, upper;
};
} // namespace

/// constraint = ±dim + e(symbols) → e; null in other cases.
static LengthAttr splitOff(AffineExpr constraint, unsigned dim, unsigned numDims,
                           ArrayRef<StringAttr> symbols, const SymbolSpace &space,
                           int64_t &coefficient) {
  AccessRow row = getAccessRow(constraint, numDims, symbols, space);
  MLIRContext *context = constraint.getContext();
  if (!row.isLinear) {
    // Divisions of symbols: the chunks of a length.
    LinearForm form = LinearForm::of(constraint);
    AffineExpr variable = getAffineDimExpr(dim, context);
    AffineExpr rest = constraint.replace(variable, getAffineConstantExpr(0, context));
    coefficient = form.coefficient(variable);
    if (std::abs(coefficient) != 1 || !form.isLinearIn(dim) || !rest.isSymbolicOrConstant())
      return {};
    return LengthAttr::get(context, symbols, rest);
  }
  coefficient = row.dims[dim];
  for (unsigned d = 0; d < numDims; ++d)
    if (d == dim ? std::abs(row.dims[d]) != 1 : row.dims[d] != 0)
      return {};
  LengthAttr rest = LengthAttr::get(context, row.offset);
  for (auto [s, c] : llvm::enumerate(row.symbols))
    if (c && rest)
      rest = rest + LengthAttr::get(context, c) * LengthAttr::get(space.getNames()[s]);
  return rest;
}

static SmallVector<Bounds> getBounds(BlockOp block, const SymbolSpace &space) {
  SmallVector<Bounds> bounds(block.getNumOwnDims());
  unsigned numDims = block.getNumDims();
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  IntegerSet set = block.getDomainSet();
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    AffineExpr constraint = set.getConstraint(i);
    for (unsigned own = 0; own < bounds.size(); ++own) {
      unsigned dim = block.getNumAncestors() + own;
      if (!constraint.isFunctionOfDim(dim))
        continue;
      int64_t coefficient = 0;
      LengthAttr rest = splitOff(constraint, dim, numDims, symbols, space, coefficient);
      if (!rest)
        continue;
      LengthAttr zero = LengthAttr::get(block.getContext(), 0);
      // x + e ≥ 0, −x + e ≥ 0, or one of them = 0.
      LengthAttr value = coefficient == 1 ? zero - rest : rest;
      if (!value)
        continue;
      if (set.isEq(i) || coefficient == 1)
        bounds[own].lower.push_back(value);
      if (set.isEq(i) || coefficient == -1)
        bounds[own].upper.push_back(value + 1);
    }
  }
  return bounds;
}

/// Whether x < bound (or x ≥ bound) in all of the block.
static bool isBound(BlockOp block, unsigned own, LengthAttr bound, bool isUpper,
                    const SymbolSpace &space) {
  SetBuilder builder(space, block.getNumDims());
  if (failed(addDomain(builder, block)))
    return false;
  std::optional<LinearExpr> beyond = builder.flatten(bound.getExpr(), bound.getNames());
  if (!beyond)
    return false;
  // Beyond it: x − bound ≥ 0, or bound − 1 − x ≥ 0.
  LinearExpr x = builder.variable(block.getNumAncestors() + own);
  LinearExpr &negated = isUpper ? *beyond : x;
  negated *= -1;
  *beyond += x;
  if (!isUpper)
    beyond->constant -= 1;
  builder.add(*beyond, false);
  return isEmpty(builder.get());
}

/// The tightest of `candidates` that bounds every block: the first one that does
/// where constants don't decide.
static LengthAttr getCommon(ArrayRef<BlockOp> nest, ArrayRef<SmallVector<Bounds>> bounds,
                            unsigned own, bool isUpper, const SymbolSpace &space) {
  auto of = [&](unsigned b) -> ArrayRef<LengthAttr> {
    return isUpper ? bounds[b][own].upper : bounds[b][own].lower;
  };
  // Those of most blocks first: a boundary's own bound seldom holds elsewhere.
  llvm::MapVector<Attribute, unsigned> votes;
  for (unsigned b = 0; b < nest.size(); ++b)
    for (LengthAttr bound : of(b))
      if (bound)
        ++votes[bound];
  SmallVector<LengthAttr> candidates;
  for (auto &[bound, count] : votes)
    candidates.push_back(cast<LengthAttr>(bound));
  // Constants tell best: the largest lower bound, the smallest upper one first.
  llvm::stable_sort(candidates, [&](LengthAttr x, LengthAttr y) {
    auto a = x.getConstant(), b = y.getConstant();
    if (a && b)
      return isUpper ? *a < *b : *a > *b;
    return a.has_value() && !b.has_value();
  });
  for (LengthAttr candidate : candidates) {
    bool holds = true;
    for (unsigned b = 0; b < nest.size() && holds; ++b)
      holds =
          llvm::is_contained(of(b), candidate) || isBound(nest[b], own, candidate, isUpper, space);
    if (holds)
      return candidate;
  }
  return {};
}

bool etdg::isAtLeast(LengthAttr a, LengthAttr b, const SymbolSpace &space) {
  SetBuilder builder(space, 0);
  std::optional<LinearExpr> x = builder.flatten(a.getExpr(), a.getNames());
  std::optional<LinearExpr> y = builder.flatten(b.getExpr(), b.getNames());
  if (!x || !y)
    return false;
  // b − a − 1 ≥ 0 has no solution.
  *x *= -1;
  *x += *y;
  x->constant -= 1;
  builder.add(*x, false);
  return isEmpty(builder.get());
}

/// One bound of each block, but those that another one is further out than; none where a block
/// has none.
static SmallVector<LengthAttr> getOutermost(ArrayRef<BlockOp> nest,
                                            ArrayRef<SmallVector<Bounds>> bounds, unsigned own,
                                            bool isUpper, const SymbolSpace &space) {
  SmallVector<LengthAttr> all;
  for (unsigned b = 0; b < nest.size(); ++b) {
    ArrayRef<LengthAttr> of = isUpper ? bounds[b][own].upper : bounds[b][own].lower;
    LengthAttr best;
    for (LengthAttr bound : of)
      if (bound && (!best || (bound.isConstant() && !best.isConstant())))
        best = bound;
    if (!best)
      return {};
    if (!llvm::is_contained(all, best))
      all.push_back(best);
  }
  // Of two that are the same by what is known, the first one stays.
  for (unsigned i = 0; i < all.size();) {
    bool isInside = false;
    for (unsigned k = 0; k < all.size() && !isInside; ++k)
      isInside = k != i && (isUpper ? isAtLeast(all[k], all[i], space)
                                    : isAtLeast(all[i], all[k], space));
    if (isInside)
      all.erase(all.begin() + i);
    else
      ++i;
  }
  return all;
}

/// The only one, or a name that says what would have to be computed.
static LengthAttr join(LengthAttr one, ArrayRef<LengthAttr> several, StringRef function) {
  if (one || several.empty())
    return one;
  if (several.size() == 1)
    return several.front();
  std::string text;
  for (LengthAttr bound : several)
    text += (text.empty() ? "" : ", ") + bound.str();
  return LengthAttr::get(
      StringAttr::get(several.front().getContext(), function + "(" + text + ")"));
}

LengthAttr OuterRange::getBegin() const { return join(lower, lowers, "min"); }
LengthAttr OuterRange::getEnd() const { return join(upper, uppers, "max"); }
LengthAttr OuterRange::getLength() const {
  LengthAttr begin = getBegin(), end = getEnd();
  return begin && end ? end - begin : LengthAttr();
}

/// [lower, upper) of each dimension where one expression bounds it, and in `outer` what there is
/// where none does.
static SmallVector<DimRange> getRanges(ArrayRef<BlockOp> nest, const SymbolSpace &space,
                                       SmallVectorImpl<OuterRange> *outer) {
  SmallVector<SmallVector<Bounds>> bounds;
  for (BlockOp block : nest)
    bounds.push_back(getBounds(block, space));
  BlockOp first = nest.front();
  SmallVector<DimRange> ranges(first.getNumOwnDims());
  for (auto [own, range] : llvm::enumerate(ranges)) {
    range.lower = getCommon(nest, bounds, own, false, space);
    range.upper = getCommon(nest, bounds, own, true, space);
    if (!outer)
      continue;
    OuterRange &wide = outer->emplace_back();
    wide.lower = range.lower;
    wide.upper = range.upper;
    if (!range.lower)
      wide.lowers = getOutermost(nest, bounds, own, false, space);
    if (!range.upper)
      wide.uppers = getOutermost(nest, bounds, own, true, space);
  }
  return ranges;
}

SmallVector<DimRange> etdg::getOwnRanges(ArrayRef<BlockOp> nest, const SymbolSpace &space) {
  return getRanges(nest, space, nullptr);
}

SmallVector<OuterRange> etdg::getOuterRanges(ArrayRef<BlockOp> nest, const SymbolSpace &space) {
  SmallVector<OuterRange> ranges;
  getRanges(nest, space, &ranges);
  return ranges;
}

SmallVector<int64_t> etdg::getTypicalExtents(ArrayRef<DimRange> ranges,
                                             const TypicalLengths &lengths) {
  SmallVector<int64_t> extents;
  for (const DimRange &range : ranges)
    extents.push_back(std::max<int64_t>(lengths.evaluate(range.getLength()), 1));
  return extents;
}

SmallVector<int64_t> etdg::getTypicalExtents(ArrayRef<OuterRange> ranges,
                                             const TypicalLengths &lengths) {
  // The furthest of several bounds.
  auto evaluate = [&](LengthAttr one, ArrayRef<LengthAttr> several, bool isUpper) {
    if (one || several.empty())
      return lengths.evaluate(one);
    int64_t end = lengths.evaluate(several.front());
    for (LengthAttr bound : several.drop_front()) {
      int64_t value = lengths.evaluate(bound);
      end = isUpper ? std::max(end, value) : std::min(end, value);
    }
    return end;
  };
  SmallVector<int64_t> extents;
  for (const OuterRange &range : ranges) {
    int64_t extent = range.lower && range.upper ? lengths.evaluate(range.getLength())
                     : range.getBegin() && range.getEnd()
                         ? evaluate(range.upper, range.uppers, true) -
                               evaluate(range.lower, range.lowers, false)
                         : lengths.evaluate(LengthAttr());
    extents.push_back(std::max<int64_t>(extent, 1));
  }
  return extents;
}
