//===- AtOnce.cpp - several iterations of a reduction in one leaf ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AtOnce.h"

#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;

/// The only division in a form, if there is one and it counts once: its term, and what is left.
static std::optional<std::pair<AffineBinaryOpExpr, LinearForm>> splitDivision(AffineExpr expr, int64_t &sign) {
  LinearForm form = LinearForm::of(expr), rest;
  rest.constant = form.constant;
  AffineBinaryOpExpr division(nullptr);
  for (auto [atom, coefficient] : form.terms) {
    if (isa<AffineDimExpr, AffineSymbolExpr>(atom)) {
      rest.terms.emplace_back(atom, coefficient);
      continue;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
    if (division || !binary || binary.getKind() != AffineExprKind::FloorDiv || !isa<AffineConstantExpr>(binary.getRHS()) || std::abs(coefficient) != 1)
      return std::nullopt;
    division = binary;
    sign = coefficient;
  }
  return division ? std::optional(std::pair(division, rest)) : std::nullopt;
}

AffineExpr etdg::withoutDivision(AffineExpr constraint) {
  int64_t sign = 1;
  auto split = splitDivision(constraint, sign);
  if (!split)
    return constraint;
  auto [division, form] = *split;
  AffineExpr rest = form.toExpr(constraint.getContext());
  int64_t by = cast<AffineConstantExpr>(division.getRHS()).getValue();
  return sign > 0 ? division.getLHS() + rest * by : rest * by + (by - 1) - division.getLHS();
}

AffineExpr etdg::floorDivided(AffineExpr expr, int64_t by) {
  int64_t sign = 1;
  auto split = splitDivision(expr, sign);
  if (!split || sign < 0)
    return expr.floorDiv(by);
  auto [division, form] = *split;
  int64_t inner = cast<AffineConstantExpr>(division.getRHS()).getValue();
  return (division.getLHS() + form.toExpr(expr.getContext()) * inner).floorDiv(inner * by);
}

AffineMap AtOnce::at(AffineMap map, AffineExpr iteration) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(canonicalizeExpr(result.replace(dim, iteration), map.getNumDims(), map.getNumSymbols()));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

IntegerSet AtOnce::at(IntegerSet set, AffineExpr iteration) {
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(canonicalizeExpr(constraint.replace(dim, iteration), set.getNumDims(), set.getNumSymbols()));
  return IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, set.getEqFlags());
}

/// The leaf's domain with other bounds of the dimension.
IntegerSet AtOnce::domainOf(ArrayRef<AffineExpr> own, AffineExpr equal) {
  SmallVector<AffineExpr> constraints(own);
  SmallVector<bool> eqs(own.size(), false);
  if (equal)
    constraints.push_back(equal), eqs.push_back(true);
  for (auto [constraint, isEq] : llvm::zip_equal(old.domain.getConstraints(), old.domain.getEqFlags()))
    if (!constraint.isFunctionOfDim(reduction.dim)) {
      constraints.push_back(constraint);
      eqs.push_back(isEq);
    }
  return canonicalizeSet(IntegerSet::get(old.domain.getNumDims(), old.domain.getNumSymbols(), constraints, eqs));
}

/// What all of `count` iterations read, the first one being `begin`: their number is the first dimension of the element. A piece is read by those
/// of them that its set holds.
ReadAttr AtOnce::readOfAll(unsigned r, AffineExpr begin, AffineExpr there) {
  ReadAttr read = old.reads[r];
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(r).getType());
  unsigned numDims = unsigned(old.dims.size()), elementRank = unsigned(type.getRank()) + 1;
  AffineExpr number = getAffineDimExpr(numDims, context);
  auto ofAll = [&](AffineExpr expr, unsigned dims) { return expr.shiftDims(dims, 1, numDims).replace(dim, begin + number); };
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    IntegerSet set = piece.getSet().getValue();
    SmallVector<AffineExpr> constraints;
    for (AffineExpr constraint : set.getConstraints())
      constraints.push_back(ofAll(constraint, set.getNumDims()));
    SmallVector<bool> eqs(set.getEqFlags());
    if (there)
      constraints.push_back(withoutDivision(there - 1 - number)), eqs.push_back(false);
    auto where = IntegerSetAttr::get(canonicalizeSet(IntegerSet::get(numDims + elementRank, set.getNumSymbols(), constraints, eqs)));
    AffineMap map = piece.getMap().getValue();
    SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(ofAll(result, map.getNumDims()));
    if (read.getElementRank() == 0 && piece.getKind() == SourceKind::Buffer)
      for (unsigned d = 1; d < elementRank; ++d)
        results.push_back(getAffineDimExpr(numDims + d, context));
    for (AffineExpr &result : results)
      result = canonicalizeExpr(result, numDims + elementRank, map.getNumSymbols());
    auto to = AffineMapAttr::get(AffineMap::get(numDims + elementRank, map.getNumSymbols(), results, context));
    pieces.push_back(PieceAttr::get(context, where, piece.getKind(), piece.getOperand(), to, {}, piece.getValue()));
  }
  // Beyond the last iteration there is something that nothing reads.
  if (there) {
    IntegerSet beyond = IntegerSet::get(numDims + elementRank, unsigned(old.symbols.size()), {withoutDivision(number - there)}, {false});
    pieces.push_back(PieceAttr::getSplat(canonicalizeSet(beyond), cast<TypedAttr>(Builder(context).getZeroAttr(type.getElementType()))));
  }
  return ReadAttr::get(context, pieces, elementRank);
}

/// `block`, of which states and writes are said, with all that `count` iterations from `begin` read, `there` of which there are.
BlockOp AtOnce::writeAtOnce(OpBuilder &builder, BlockBuilder block, AffineExpr begin, AffineExpr there) {
  SmallVector<Type> types;
  for (auto [r, argument] : llvm::enumerate(leaf.getBody().getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (reduction.varies[r]) {
      block.reads[r] = readOfAll(unsigned(r), begin, there);
      SmallVector<int64_t> shape = {count};
      llvm::append_range(shape, type.getShape());
      type = type.clone(shape);
    }
    types.push_back(type);
  }
  if (there) {
    IntegerSet all = getUniverse(context, unsigned(block.dims.size()), unsigned(block.symbols.size()));
    block.reads.push_back(ReadAttr::get(context, PieceAttr::getIndex(all, there), 0));
    types.push_back(RankedTensorType::get({}, builder.getIndexType()));
  }
  BlockOp made = block.build(builder, leaf.getLoc(), types);
  std::string why;
  joinBodies(reduction, made, count, why, /*isMasked=*/bool(there));
  return made;
}

bool AtOnce::isEmpty(const BlockBuilder &block) {
  SetBuilder set(space, block.dims.size());
  return succeeded(set.add(block.domain, block.symbols)) && etdg::isEmpty(set.get());
}

bool AtOnce::areAll(const BlockBuilder &block, AffineExpr there) {
  BlockBuilder few = block;
  SmallVector<AffineExpr> constraints(block.domain.getConstraints());
  SmallVector<bool> eqs(block.domain.getEqFlags());
  constraints.push_back(withoutDivision(-there + (count - 1)));
  eqs.push_back(false);
  few.domain = IntegerSet::get(block.domain.getNumDims(), block.domain.getNumSymbols(), constraints, eqs);
  return isEmpty(few);
}
