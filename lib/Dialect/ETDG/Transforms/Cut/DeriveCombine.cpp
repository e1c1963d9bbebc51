//===- DeriveCombine.cpp - the combine of a sum or a maximum --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A `reduce` or `fold` without `combine` may be re-associated as well. Where each of its
// states grows by one operation that has a neutral element, of which only that operation
// sees the state, two partial states are joined by the same operation.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::etdg;

std::optional<arith::AtomicRMWKind> etdg::getCombinerKind(Operation *op) {
  using Kind = std::optional<arith::AtomicRMWKind>;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case([](arith::AddFOp) { return arith::AtomicRMWKind::addf; })
      .Case([](arith::MulFOp) { return arith::AtomicRMWKind::mulf; })
      .Case([](arith::MaximumFOp) { return arith::AtomicRMWKind::maximumf; })
      .Case([](arith::MinimumFOp) { return arith::AtomicRMWKind::minimumf; })
      .Case([](arith::AddIOp) { return arith::AtomicRMWKind::addi; })
      .Case([](arith::MulIOp) { return arith::AtomicRMWKind::muli; })
      .Case([](arith::AndIOp) { return arith::AtomicRMWKind::andi; })
      .Case([](arith::OrIOp) { return arith::AtomicRMWKind::ori; })
      .Case([](arith::MaxSIOp) { return arith::AtomicRMWKind::maxs; })
      .Case([](arith::MinSIOp) { return arith::AtomicRMWKind::mins; })
      .Case([](arith::MaxUIOp) { return arith::AtomicRMWKind::maxu; })
      .Case([](arith::MinUIOp) { return arith::AtomicRMWKind::minu; })
      .Default([](Operation *) { return Kind(); });
}

std::optional<arith::AtomicRMWKind> etdg::getCombiner(Value value, BlockArgument state) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || !state.hasOneUse() || *state.user_begin() != op || !value.hasOneUse())
    return std::nullopt;
  return getCombinerKind(op);
}

/// The read that brings in what write number `write` of the iteration before has written, if it is one.
static std::optional<unsigned> stateRead(BlockOp leaf, unsigned write) {
  std::optional<unsigned> found;
  for (unsigned r = 0; r < leaf.getNumReads(); ++r)
    for (PieceAttr piece : leaf.getRead(r).getPieces()) {
      if (piece.getKind() != SourceKind::Buffer || piece.getOperand() != leaf.getWrite(write).getOperand())
        continue;
      if (found && *found != r)
        return std::nullopt;
      found = r;
    }
  return found;
}

bool etdg::deriveCombine(BlockOp leaf) {
  auto isReduction = [&](unsigned d) {
    return leaf.getOperator(d) == ft::OperatorKind::Reduce || leaf.getOperator(d) == ft::OperatorKind::Fold;
  };
  if (!leaf.isLeaf() || !leaf.getCombine().empty() || llvm::none_of(llvm::seq(leaf.getNumOwnDims()), isReduction))
    return false;
  OpBuilder builder(leaf.getContext());
  Location loc = leaf.getLoc();
  SmallVector<Type> types;
  SmallVector<arith::AtomicRMWKind> kinds;
  SmallVector<Attribute> identities;
  for (auto [w, value] : llvm::enumerate(leaf.getYield().getOperands())) {
    std::optional<unsigned> read = stateRead(leaf, w);
    auto kind = read ? getCombiner(value, leaf.getBody().getArgument(*read)) : std::nullopt;
    auto type = cast<RankedTensorType>(value.getType());
    if (!kind || !isa<FloatType, IntegerType>(type.getElementType()))
      return false;
    types.push_back(type);
    kinds.push_back(*kind);
    auto neutral = cast<TypedAttr>(arith::getIdentityValueAttr(*kind, type.getElementType(), builder, loc));
    IntegerSet all = getUniverse(leaf.getContext(), leaf.getNumDims(), leaf.getSymbolNames().size());
    identities.push_back(ReadAttr::get(leaf.getContext(), PieceAttr::getSplat(all, neutral), 0));
  }
  Block &block = leaf.getCombine().emplaceBlock();
  for (unsigned side = 0; side < 2; ++side)
    for (Type type : types)
      block.addArgument(type, loc);
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> joined;
  for (auto [w, kind] : llvm::enumerate(kinds))
    joined.push_back(arith::getReductionOp(kind, builder, loc, block.getArgument(w), block.getArgument(types.size() + w)));
  YieldOp::create(builder, loc, joined);
  leaf.setIdentityAttr(builder.getArrayAttr(identities));
  return true;
}

void etdg::dropCombine(BlockOp leaf) {
  leaf.getCombine().getBlocks().clear();
  leaf.setIdentityAttr(ArrayAttr::get(leaf.getContext(), {}));
}
