//===- Boxes.cpp - reads of scalars that lie in memory in order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Boxes.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

bool schedule::readsScalars(etdg::BlockOp block, etdg::ReadAttr read) {
  if (read.getElementRank() != 0)
    return true;
  return llvm::any_of(read.getPieces(), [&](etdg::PieceAttr piece) {
    return piece.getKind() == etdg::SourceKind::Buffer &&
           piece.getMap().getValue().getNumResults() >
               cast<etdg::BufferType>(block.getBuffers()[piece.getOperand()].getType()).getDepth();
  });
}

static bool isDivided(AffineExpr expr) {
  bool divides = false;
  expr.walk([&](AffineExpr e) {
    divides |= e.getKind() == AffineExprKind::FloorDiv || e.getKind() == AffineExprKind::CeilDiv ||
               e.getKind() == AffineExprKind::Mod;
  });
  return divides;
}

bool schedule::readsDivided(etdg::ReadAttr read) {
  return llvm::any_of(read.getPieces(), [](etdg::PieceAttr piece) {
    return piece.getKind() == etdg::SourceKind::Buffer && llvm::any_of(piece.getMap().getValue().getResults(), isDivided);
  });
}

/// Scalars between neighbours along each dimension, lengths first; none where a call decides it.
static SmallVector<std::optional<int64_t>> getStrides(Value buffer,
                                                      llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  auto type = cast<etdg::BufferType>(buffer.getType());
  SmallVector<std::optional<int64_t>> strides(type.getDepth() + type.getElementRank());
  std::optional<int64_t> size = 1;
  for (int64_t p = int64_t(strides.size()) - 1; p >= 0; --p) {
    strides[p] = size;
    if (p >= int64_t(type.getDepth())) {
      size = *size * type.getElement().getDimSize(p - type.getDepth());
      continue;
    }
    std::optional<int64_t> length = type.getLengths()[p].getConstant();
    if (size)
      size = length && planesOf(buffer, p) == 0 ? std::optional(*size * *length) : std::nullopt;
  }
  // Those that the caller gives.
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    if (auto graph = dyn_cast<etdg::GraphOp>(argument.getOwner()->getParentOp()))
      if (auto given = graph.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), ft::names::strided))
        std::fill_n(strides.begin(), std::min<size_t>(given.getInt(), strides.size()), std::nullopt);
  return strides;
}

/// The distances between scalars, which lie at `linear` over the iteration's dimensions and then the element's; false
/// where they are not constant.
static bool findSteps(Box &box, AffineExpr linear, RankedTensorType type, unsigned rank, unsigned numDims,
                      unsigned numSymbols) {
  MLIRContext *context = linear.getContext();
  unsigned all = numDims + rank;
  AffineExpr zero = getAffineConstantExpr(0, context), sum = box.offset;
  // (A read of a whole element has no dimensions of its own.)
  box.strides.assign(rank, 1);
  int64_t step = 1;
  for (int64_t e = int64_t(rank) - 1; e >= 0; --e) {
    AffineExpr dim = getAffineDimExpr(numDims + e, context);
    box.strides[e] = step;
    if (type.getDimSize(e) == 1) {
      linear = linear.replace(dim, zero);
      continue;
    }
    auto distance = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(linear.replace(dim, dim + 1) - linear, all, numSymbols));
    // (A reshape's expression may have a constant distance only once the other terms are simplified.)
    box.strides[e] = distance ? distance.getValue() : step;
    box.inOrder &= box.strides[e] == step;
    sum = sum + dim * box.strides[e];
    step *= type.getDimSize(e);
  }
  return simplifyAffineExpr(linear - sum, all, numSymbols) == zero;
}

std::optional<Box> schedule::getBox(etdg::BlockOp block, etdg::ReadAttr read, RankedTensorType type,
                                    llvm::function_ref<int64_t(Value, unsigned)> planesOf, bool strided) {
  if (read.getPieces().size() != 1)
    return std::nullopt;
  etdg::PieceAttr piece = read.getPieces().front();
  if (piece.getKind() != etdg::SourceKind::Buffer || !piece.getGathers().empty())
    return std::nullopt;
  MLIRContext *context = block.getContext();
  Value buffer = block.getBuffers()[piece.getOperand()];
  unsigned depth = cast<etdg::BufferType>(buffer.getType()).getDepth();
  AffineMap map = piece.getMap().getValue();
  unsigned rank = read.getElementRank(), numDims = map.getNumDims() - rank, numSymbols = map.getNumSymbols();
  SmallVector<std::optional<int64_t>> strides = getStrides(buffer, planesOf);
  if (map.getNumResults() != strides.size() && (rank > 0 || map.getNumResults() != depth))
    return std::nullopt;

  // What moves inside of the box, and what is inside of an element, is counted in scalars.
  AffineExpr zero = getAffineConstantExpr(0, context), linear = zero;
  SmallVector<AffineExpr> index;
  for (auto [p, expr] : llvm::enumerate(map.getResults())) {
    bool moves = p >= depth || (isDivided(expr) && strides[p] && planesOf(buffer, p) == 0);
    for (unsigned e = 0; e < rank && !moves; ++e)
      moves = expr.isFunctionOfDim(numDims + e);
    if (!moves) {
      index.push_back(expr);
      continue;
    }
    if (!strides[p] || (p < depth && planesOf(buffer, p) != 0))
      return std::nullopt;
    if (p < depth)
      index.push_back(zero);
    linear = linear + expr * *strides[p];
  }
  // The first scalar, and all others in the order of the element.
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(d, context));
  dims.append(rank, zero);
  AffineExpr first = simplifyAffineExpr(linear.replaceDims(dims), numDims, numSymbols);
  Box box{piece.getOperand(), AffineMap::get(numDims, numSymbols, index, context), first, {}};
  if (!findSteps(box, linear, type, rank, numDims, numSymbols) || (!strided && !box.inOrder))
    return std::nullopt;
  return box;
}
