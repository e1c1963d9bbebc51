//===- TypicalRanges.cpp - ranges of loops at typical lengths -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/TypicalRanges.h"
#include "ft/Schedule/Dimensions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

TypicalRanges::TypicalRanges(etdg::GraphOp graph, ArrayRef<std::pair<StringAttr, int64_t>> lengths) : typical(graph) {
  for (auto [name, value] : lengths)
    given[name] = value;
}

int64_t TypicalRanges::lengthOf(StringAttr name) {
  auto it = given.find(name);
  return it == given.end() ? typical.get(name) : it->second;
}

double TypicalRanges::typically(LengthAttr length) {
  std::optional<int64_t> value =
      length ? length.evaluate([&](StringAttr name) -> std::optional<int64_t> { return lengthOf(name); }) : std::nullopt;
  return value ? std::max<int64_t>(*value, 0) : typical.evaluate(length);
}

double TypicalRanges::bytesTypically(etdg::BufferType buffer) {
  double bytes = bytesOf(buffer.getElement());
  for (LengthAttr length : buffer.getLengths())
    bytes *= typically(length);
  return bytes;
}

std::optional<int64_t> TypicalRanges::evaluate(AffineExpr expr, BlockOp block,
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

const DimBounds &TypicalRanges::boundsAt(BlockOp block, unsigned dim, ArrayRef<std::optional<int64_t>> dims) {
  auto known = [&](unsigned d) { return d < dims.size() && dims[d].has_value(); };
  std::pair<unsigned, uint64_t> key(dim, 0);
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    if (known(d) && d < bitsOfKey)
      key.second |= uint64_t(1) << d;
  auto [it, inserted] = bounds[block.getOperation()].try_emplace(key);
  if (inserted)
    it->second = boundsOf(block, dim, known);
  return it->second;
}

TypicalRanges::Range TypicalRanges::rangeOf(ArrayRef<BlockOp> nest, unsigned dim, ArrayRef<std::optional<int64_t>> dims) {
  std::optional<Range> all;
  for (BlockOp block : nest) {
    // A region that has no point here says nothing.
    if (nest.size() > 1 && !holds(block, dims))
      continue;
    const DimBounds &bounds = boundsAt(block, dim, dims);
    std::optional<int64_t> lower, upper;
    for (AffineExpr e : bounds.lowers)
      if (std::optional<int64_t> v = evaluate(e, block, dims))
        lower = std::max(lower.value_or(*v), *v);
    for (AffineExpr e : bounds.uppers)
      if (std::optional<int64_t> v = evaluate(e, block, dims))
        upper = std::min(upper.value_or(*v), *v);
    if (!lower || !upper || *upper <= *lower)
      continue;
    all = all ? Range{std::min(all->lower, *lower), std::max(all->upper, *upper)}
              : Range{*lower, *upper};
  }
  return all.value_or(Range{0, 0});
}

SmallVector<TypicalRanges::Sample> TypicalRanges::sample(Range range, unsigned most) {
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

bool TypicalRanges::holds(BlockOp block, ArrayRef<std::optional<int64_t>> dims) {
  IntegerSet set = block.getDomainSet();
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    if (std::optional<int64_t> v = evaluate(expr, block, dims))
      if (equality ? *v != 0 : *v < 0)
        return false;
  return true;
}
