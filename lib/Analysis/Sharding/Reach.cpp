//===- Reach.cpp - how far results look over the ends of a shard ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank may run the program on its shard and some planes of its neighbours,
// and keep its own part of the results. The planes that it needs are what reads
// of reads look away from their own index. Conditions near the list's ends ask
// for more: at a cut between shards they must come out as in the whole list.
//
//===----------------------------------------------------------------------===//
#include "Judge.h"

#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class ReachFinder {
public:
  ReachFinder(const ShardingContext &context, unsigned root, StringAttr name) : context(context), root(root), name(name) {}
  std::optional<ShardingReach> run();

private:
  /// `dim * i + name * N + rest`, where the rest has neither.
  struct Split {
    int64_t dim = 0, name = 0;
    AffineExpr rest;
  };
  std::optional<Split> split(AffineExpr expr) const;
  bool addCondition(AffineExpr constraint, bool isEq, const SetBuilder &points, ShardingReach &reach) const;
  bool addConditions(IntegerSet set, const SetBuilder &points, ShardingReach &reach) const;
  bool addDomains(ShardingReach &reach);
  bool addPieces(ArrayAttr reads, TypeRange types, ShardingReach &reach) const;
  bool addAccess(Access &access, ShardingReach &reach) const;
  /// What one iteration of the leaf needs; none where that is no number of planes.
  std::optional<ShardingReach> getReach();

  const ShardingContext &context;
  unsigned root;
  StringAttr name;
  BlockOp leaf;
  std::optional<unsigned> dim; // of the leaf
  SmallVector<StringAttr> symbols;
  llvm::DenseMap<Value, ShardingReach> reaches;
};
} // namespace

std::optional<ReachFinder::Split> ReachFinder::split(AffineExpr expr) const {
  LinearForm form = LinearForm::of(expr), rest;
  rest.constant = form.constant;
  Split found;
  for (auto [atom, factor] : form.terms) {
    auto d = dyn_cast<AffineDimExpr>(atom);
    auto s = dyn_cast<AffineSymbolExpr>(atom);
    if (d && dim && d.getPosition() == *dim) {
      found.dim = factor;
    } else if (s && symbols[s.getPosition()] == name) {
      found.name = factor;
    } else {
      bool isMixed = false;
      atom.walk([&](AffineExpr e) {
        if (auto inner = dyn_cast<AffineDimExpr>(e))
          isMixed |= dim && inner.getPosition() == *dim;
        if (auto inner = dyn_cast<AffineSymbolExpr>(e))
          isMixed |= symbols[inner.getPosition()] == name;
      });
      if (isMixed)
        return std::nullopt;
      rest.terms.push_back({atom, factor});
    }
  }
  found.rest = rest.toExpr(expr.getContext());
  return found;
}

static std::optional<DistanceRange> getRange(SetBuilder points, AffineExpr expr, ArrayRef<StringAttr> symbols) {
  std::optional<LinearExpr> flat = points.flatten(expr, symbols);
  if (!flat || flat->overflow)
    return std::nullopt;
  return flat->isConstant() ? DistanceRange::constant(flat->constant) : DependenceAnalysis::getRange(points, *flat);
}

/// Far enough from the cut each constraint has one value: `i + c >= 0` holds there, as `N - i + c >= 0` does, and their
/// opposites don't. An equation holds only near one end.
bool ReachFinder::addCondition(AffineExpr constraint, bool isEq, const SetBuilder &points, ShardingReach &reach) const {
  std::optional<Split> form = split(constraint);
  if (!form)
    return false;
  if (!form->dim && !form->name)
    return true;
  bool isBegin = !form->name && std::abs(form->dim) == 1;
  bool isEnd = form->name == -form->dim && std::abs(form->dim) == 1;
  if (!isBegin && !isEnd)
    return false;
  std::optional<DistanceRange> rest = getRange(points, form->rest, symbols);
  if (!rest)
    return false;
  // The same with the sign that the end of a list has: i + rest, or N - i + rest.
  bool isOpposite = isBegin ? form->dim < 0 : form->dim > 0;
  std::optional<int64_t> least = rest->low;
  if (isOpposite)
    least = rest->high ? std::optional<int64_t>(-*rest->high) : std::nullopt;
  if (!least)
    return false;
  if (isOpposite && !isEq)
    --*least;
  if (isEq)
    --*least;
  if (isBegin)
    reach.before = std::max(reach.before, -*least);
  else
    reach.after = std::max(reach.after, -*least - 1);
  return true;
}

bool ReachFinder::addConditions(IntegerSet set, const SetBuilder &points, ShardingReach &reach) const {
  for (auto [constraint, isEq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    if (!addCondition(constraint, isEq, points, reach))
      return false;
  return true;
}

bool ReachFinder::addDomains(ShardingReach &reach) {
  BlockOp innermost = leaf;
  SetBuilder points(context.space, innermost.getNumDims());
  if (failed(addDomain(points, innermost)))
    return false;
  for (BlockOp block = leaf; block; block = block.getParentBlock()) {
    symbols = block.getSymbolNames(); // each block has its own
    if (!addConditions(block.getDomainSet(), points, reach))
      return false;
  }
  symbols = leaf.getSymbolNames();
  return true;
}

bool ReachFinder::addPieces(ArrayAttr reads, TypeRange types, ShardingReach &reach) const {
  for (auto [i, read] : llvm::enumerate(reads.getAsRange<ReadAttr>())) {
    // An access stands for the read's points, in all of its pieces.
    Access all{Access::Read, leaf, Value(), static_cast<unsigned>(i), 0, AffineMap(), IntegerSet(), {}, {}};
    if (read.getElementRank())
      llvm::append_range(all.elementShape, cast<RankedTensorType>(types[i]).getShape());
    SetBuilder points(context.space, all.getPointSize());
    if (failed(addPoint(points, all)))
      return false;
    for (PieceAttr piece : read.getPieces()) {
      if (!addConditions(piece.getSet().getValue(), points, reach))
        return false;
      if (piece.getKind() != SourceKind::Index)
        continue;
      std::optional<Split> index = split(piece.getMap().getValue().getResult(0));
      if (!index || index->dim || index->name)
        return false;
    }
  }
  return true;
}

bool ReachFinder::addAccess(Access &access, ShardingReach &reach) const {
  std::optional<unsigned> row = context.dims.findRow(access.buffer, root);
  if (row && (!dim || access.getGather(*row)))
    return false;
  DistanceRange distance = DistanceRange::constant(0);
  for (auto [r, expr] : llvm::enumerate(access.map.getResults())) {
    std::optional<Split> index = split(expr);
    if (!index || index->name)
      return false;
    if (!row || r != *row) {
      if (index->dim)
        return false;
      continue;
    }
    SetBuilder points(context.space, access.getPointSize());
    std::optional<DistanceRange> rest;
    if (index->dim == 1 && succeeded(addPoint(points, access)))
      rest = getRange(points, index->rest, symbols);
    if (!rest || !rest->low || !rest->high)
      return false;
    distance = *rest;
  }
  ShardingReach read = reaches.lookup(access.buffer);
  reach.before = std::max(reach.before, read.before - *distance.low);
  reach.after = std::max(reach.after, read.after + *distance.high);
  return true;
}

std::optional<ShardingReach> ReachFinder::getReach() {
  ShardingReach reach;
  if (!addDomains(reach) || !addPieces(leaf.getReads(), leaf.getBody().getArgumentTypes(), reach))
    return std::nullopt;
  if (!leaf.getIdentity().empty() && !addPieces(leaf.getIdentity(), leaf.getCombine().getArgumentTypes(), reach))
    return std::nullopt;
  for (Access &access : getAccesses(leaf))
    if (!access.isWrite() && !addAccess(access, reach))
      return std::nullopt;
  return reach;
}

std::optional<ShardingReach> ReachFinder::run() {
  ArrayRef<BlockOp> leaves = context.accesses.getLeaves();
  bool changed = true;
  for (unsigned round = 0; changed && round <= leaves.size() + 1; ++round) {
    changed = false;
    for (BlockOp each : leaves) {
      leaf = each;
      dim = context.dims.findDim(leaf, root);
      std::optional<ShardingReach> reach = getReach();
      if (!reach)
        return std::nullopt;
      for (Access &access : getAccesses(leaf))
        if (access.isWrite()) {
          ShardingReach &known = reaches[access.buffer];
          changed |= reach->before > known.before || reach->after > known.after;
          known = {std::max(known.before, reach->before), std::max(known.after, reach->after)};
        }
    }
  }
  if (changed)
    return std::nullopt;
  ShardingReach most;
  for (Value result : cast<ReturnOp>(GraphOp(context.graph).getBody().front().back()).getOperands()) {
    ShardingReach own = reaches.lookup(result);
    most = {std::max(most.before, own.before), std::max(most.after, own.after)};
  }
  return most;
}

std::optional<ShardingReach> etdg::findReach(const ShardingContext &context, unsigned root, const ShardingClass &found) {
  ArrayRef<StringAttr> names = found.length.getNames();
  bool isHalo = found.kind == ShardingKind::Halo && names.size() == 1 &&
                llvm::all_of(found.reasons, [](const ShardingReason &reason) { return reason.kind == ShardingKind::Halo; }) &&
                llvm::none_of(found.members, [](const ShardingMember &member) { return member.isReversed; });
  if (!isHalo)
    return std::nullopt;
  ft::LengthAttr difference = found.length - ft::LengthAttr::get(names.front());
  if (!difference || !difference.isConstant())
    return std::nullopt;
  return ReachFinder(context, root, names.front()).run();
}
