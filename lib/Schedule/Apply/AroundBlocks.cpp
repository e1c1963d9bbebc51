//===- AroundBlocks.cpp - blocks in the body of another one ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AroundBlocks.h"

#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

using namespace mlir;
using namespace mlir::ft;
using etdg::BlockBuilder;
using etdg::BlockOp;

/// Whether a constraint asks something of dimensions from `first` on.
static bool asksBehind(AffineExpr expr, unsigned first, unsigned numDims) {
  return llvm::any_of(llvm::seq(first, numDims), [&](unsigned d) { return expr.isFunctionOfDim(d); });
}

static std::string textOf(const BlockBuilder &block, AffineExpr expr, bool isEqual) {
  std::string text;
  llvm::raw_string_ostream out(text);
  etdg::printCondition(out, expr, isEqual, block.dims, block.symbols);
  return text;
}

llvm::StringSet<> schedule::findCommon(ArrayRef<BlockOp> blocks, unsigned numOutside) {
  llvm::StringMap<size_t> counts;
  llvm::StringSet<> common;
  for (BlockOp block : blocks) {
    BlockBuilder own = BlockBuilder::from(block);
    for (auto [expr, equality] : llvm::zip_equal(own.domain.getConstraints(), own.domain.getEqFlags()))
      if (!asksBehind(expr, numOutside, own.dims.size()) && ++counts[textOf(own, expr, equality)] == blocks.size())
        common.insert(textOf(own, expr, equality));
  }
  return common;
}

IntegerSet schedule::selectConstraints(const BlockBuilder &block, llvm::function_ref<bool(AffineExpr, StringRef)> isKept) {
  IntegerSet set = block.domain;
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> equal;
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (!isKept(expr, textOf(block, expr, equality)))
      continue;
    exprs.push_back(expr);
    equal.push_back(equality);
  }
  return exprs.empty() ? etdg::getUniverse(set.getContext(), set.getNumDims(), set.getNumSymbols())
                       : IntegerSet::get(set.getNumDims(), set.getNumSymbols(), exprs, equal);
}

/// The ranges of the dimensions outside.
static void boundAround(BlockBuilder &around, ArrayRef<BlockOp> blocks, unsigned outer, const llvm::StringSet<> &common) {
  MLIRContext *context = around.domain.getContext();
  const unsigned numDims = around.numAncestors + outer;
  SmallVector<AffineExpr> same, constraints;
  for (unsigned d = 0; d < around.dims.size(); ++d)
    same.push_back(d < numDims ? getAffineDimExpr(d, context) : getAffineConstantExpr(0, context));
  IntegerSet all = etdg::remapSet(schedule::selectConstraints(around, [&](AffineExpr, StringRef text) { return common.contains(text); }), same,
                                  numDims, around.symbols.size());
  llvm::append_range(constraints, all.getConstraints());
  SmallVector<bool> equal(all.getEqFlags());
  SmallVector<etdg::DimRange> ranges;
  if (blocks.size() > 1)
    ranges = etdg::getOwnRanges(blocks, etdg::SymbolSpace(BlockOp(blocks.front())->getParentOfType<etdg::GraphOp>()));
  for (auto [d, range] : llvm::enumerate(ArrayRef(ranges).take_front(outer))) {
    AffineExpr own = getAffineDimExpr(around.numAncestors + d, context);
    auto isSaid = [&](int64_t sign) {
      return llvm::any_of(all.getConstraints(), [&](AffineExpr expr) { return etdg::LinearForm::of(expr).coefficient(own) * sign > 0; });
    };
    if (range.lower && !isSaid(1))
      constraints.push_back(own - around.importExpr(range.lower.getExpr(), range.lower.getNames()));
    if (range.upper && !isSaid(-1))
      constraints.push_back(around.importExpr(range.upper.getExpr(), range.upper.getNames()) - own - 1);
  }
  equal.resize(constraints.size(), false);
  around.domain = IntegerSet::get(numDims, around.symbols.size(), constraints, equal);
}

BlockOp schedule::buildAround(OpBuilder &builder, ArrayRef<BlockOp> blocks, unsigned outer, const llvm::StringSet<> &common) {
  BlockBuilder around = BlockBuilder::from(blocks.front());
  around.operators.truncate(outer);
  around.buffers.clear();
  around.reads.clear();
  around.writes.clear();
  around.identity.clear();
  boundAround(around, blocks, outer, common);
  around.dims.truncate(around.numAncestors + outer);
  Location loc = BlockOp(blocks.front()).getLoc();
  BlockOp made = around.build(builder, loc, {});
  OpBuilder inside = OpBuilder::atBlockEnd(&made.getBody().front());
  etdg::YieldOp::create(inside, loc, ValueRange());
  return made;
}

void schedule::enterAround(BlockBuilder &block, unsigned outer, const llvm::StringSet<> &common) {
  block.numAncestors += outer;
  block.operators.erase(block.operators.begin(), block.operators.begin() + outer);
  block.domain = selectConstraints(block, [&](AffineExpr, StringRef text) { return !common.contains(text); });
}

std::optional<std::pair<unsigned, int64_t>> schedule::tileOf(BlockOp block, unsigned dim) {
  AffineExpr own = getAffineDimExpr(dim, block.getContext());
  for (AffineExpr expr : block.getDomainSet().getConstraints()) {
    etdg::LinearForm form = etdg::LinearForm::of(expr);
    if (form.terms.size() != 2 || form.constant != 0 || form.coefficient(own) != 1)
      continue;
    auto [atom, factor] = form.terms[form.terms[0].first == own];
    if (auto tiles = dyn_cast<AffineDimExpr>(atom); tiles && factor < -1)
      return std::pair(tiles.getPosition(), -factor);
  }
  return std::nullopt;
}
