//===- TypicalRanges.cpp - ranges of loops at typical lengths -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/Analysis/TypicalRanges.h"
#include "ft/Schedule/Analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

TypicalRanges::TypicalRanges(etdg::GraphOp graph, ArrayRef<std::pair<StringAttr, int64_t>> lengths) : typical(graph) {
  setLengths(lengths);
}

void TypicalRanges::setLengths(ArrayRef<std::pair<StringAttr, int64_t>> lengths) {
  given.clear();
  for (auto [name, value] : lengths)
    given[name] = value;
  for (auto &[block, known] : blocks) {
    known->domain.reset();
    for (auto &[dim, bounds] : known->bounds)
      compile(bounds, *known);
  }
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

TypicalRanges::OfBlock &TypicalRanges::of(BlockOp block) {
  std::unique_ptr<OfBlock> &known = blocks[block.getOperation()];
  if (!known) {
    known = std::make_unique<OfBlock>();
    known->symbols = block.getSymbolNames();
  }
  return *known;
}

AffineProgram TypicalRanges::compile(AffineExpr expr, const OfBlock &known) {
  return AffineProgram(expr, [&](unsigned symbol) { return lengthOf(known.symbols[symbol]); });
}

void TypicalRanges::compile(Bounds &bounds, const OfBlock &known) {
  bounds.lowers.clear();
  bounds.uppers.clear();
  for (AffineExpr expr : bounds.bounds.lowers)
    bounds.lowers.push_back(compile(expr, known));
  for (AffineExpr expr : bounds.bounds.uppers)
    bounds.uppers.push_back(compile(expr, known));
}

/// Dimensions whose values a key of bounds tells apart; further ones are looked at as if unknown.
static constexpr unsigned bitsOfKey = 64;

const TypicalRanges::Bounds &TypicalRanges::boundsAt(OfBlock &own, BlockOp block, unsigned dim, Values dims) {
  std::pair<unsigned, uint64_t> key(dim, 0);
  for (unsigned d = 0; d < std::min<size_t>(dims.size(), bitsOfKey); ++d)
    if (dims[d])
      key.second |= uint64_t(1) << d;
  auto [it, inserted] = own.bounds.try_emplace(key);
  if (inserted) {
    it->second.bounds = boundsOf(block, dim, [&](unsigned d) { return d < dims.size() && dims[d].has_value(); });
    compile(it->second, own);
  }
  return it->second;
}

TypicalRanges::Range TypicalRanges::rangeOf(ArrayRef<BlockOp> nest, unsigned dim, ArrayRef<std::optional<int64_t>> dims) {
  std::optional<Range> all;
  for (BlockOp block : nest) {
    // A region that has no point here says nothing.
    OfBlock &own = of(block);
    if (nest.size() > 1 && !mayHavePoint(own, block, dims))
      continue;
    const Bounds &bounds = boundsAt(own, block, dim, dims);
    std::optional<int64_t> lower, upper;
    for (const AffineProgram &bound : bounds.lowers)
      if (std::optional<int64_t> v = bound.run(dims))
        lower = std::max(lower.value_or(*v), *v);
    for (const AffineProgram &bound : bounds.uppers)
      if (std::optional<int64_t> v = bound.run(dims))
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

bool TypicalRanges::holds(BlockOp block, Values dims) { return mayHavePoint(of(block), block, dims); }

bool TypicalRanges::mayHavePoint(OfBlock &own, BlockOp block, Values dims) {
  if (!own.domain) {
    own.domain.emplace();
    IntegerSet set = block.getDomainSet();
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
      own.domain->push_back({compile(expr, own), equality});
  }
  return llvm::all_of(*own.domain, [&](const Constraint &constraint) {
    std::optional<int64_t> value = constraint.value.run(dims);
    return !value || (constraint.isEquality ? *value == 0 : *value >= 0);
  });
}
