//===- ElementForm.cpp - buffers whose element becomes lengths ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map to scalars says the same whether a dimension of a buffer is a length or the
// element's: so a read is written as such a map, the buffer gets its new type, and what
// is a read of whole elements then is written as that again.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

using namespace mlir;
using namespace mlir::etdg;

ReadAttr etdg::toScalars(ReadAttr read, RankedTensorType type, unsigned numDims) {
  if (read.getElementRank() != 0 || type.getRank() == 0)
    return read;
  MLIRContext *context = read.getContext();
  unsigned rank = type.getRank();
  auto widen = [&](AffineMap map, bool byScalars) {
    SmallVector<AffineExpr> results(map.getResults());
    for (unsigned e = 0; byScalars && e < rank; ++e)
      results.push_back(getAffineDimExpr(numDims + e, context));
    return AffineMap::get(numDims + rank, map.getNumSymbols(), results, context);
  };
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    IntegerSet set = piece.getSet().getValue();
    set = IntegerSet::get(numDims + rank, set.getNumSymbols(), set.getConstraints(), set.getEqFlags());
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(context, gather.getPosition(), gather.getOperand(),
                                        AffineMapAttr::get(widen(gather.getMap().getValue(), false))));
    AffineMap map = widen(piece.getMap().getValue(), piece.getKind() == SourceKind::Buffer);
    pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(set), piece.getKind(), piece.getOperand(),
                                    AffineMapAttr::get(map), gathers, piece.getValue()));
  }
  return ReadAttr::get(context, pieces, rank);
}

static bool usesDims(AffineExpr expr, unsigned first, unsigned count) {
  for (unsigned d = first; d < first + count; ++d)
    if (expr.isFunctionOfDim(d))
      return true;
  return false;
}

std::optional<unsigned> etdg::getPlainDepth(PieceAttr piece, unsigned elementRank) {
  AffineMap map = piece.getMap().getValue();
  unsigned first = map.getNumDims() - elementRank;
  if (map.getNumResults() < elementRank)
    return std::nullopt;
  unsigned depth = map.getNumResults() - elementRank;
  for (unsigned p = 0; p < depth; ++p)
    if (usesDims(map.getResult(p), first, elementRank))
      return std::nullopt;
  for (unsigned e = 0; e < elementRank; ++e)
    if (map.getResult(depth + e) != getAffineDimExpr(first + e, map.getContext()))
      return std::nullopt;
  return depth;
}

/// The read without the element's dimensions, or null.
static ReadAttr withoutElement(ReadAttr read, RankedTensorType type, ValueRange buffers) {
  unsigned rank = read.getElementRank();
  SmallVector<PieceAttr> pieces;
  MLIRContext *context = read.getContext();
  for (PieceAttr piece : read.getPieces()) {
    AffineMap map = piece.getMap().getValue();
    IntegerSet set = piece.getSet().getValue();
    unsigned numDims = map.getNumDims() - rank, kept = map.getNumResults();
    if (llvm::any_of(set.getConstraints(), [&](AffineExpr e) { return usesDims(e, numDims, rank); }))
      return {};
    if (piece.getKind() == SourceKind::Buffer) {
      auto source = cast<BufferType>(buffers[piece.getOperand()].getType());
      if (getPlainDepth(piece, rank) != source.getDepth() || source.getElement() != type)
        return {};
      kept = source.getDepth();
    } else if (piece.getKind() == SourceKind::Index && usesDims(map.getResult(0), numDims, rank)) {
      return {};
    }
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers()) {
      AffineMap at = gather.getMap().getValue();
      if (gather.getPosition() >= int64_t(kept) ||
          llvm::any_of(at.getResults(), [&](AffineExpr e) { return usesDims(e, numDims, rank); }))
        return {};
      gathers.push_back(GatherAttr::get(
          context, gather.getPosition(), gather.getOperand(),
          AffineMapAttr::get(AffineMap::get(numDims, at.getNumSymbols(), at.getResults(), context))));
    }
    auto plain = AffineMap::get(numDims, map.getNumSymbols(), map.getResults().take_front(kept), context);
    auto where = IntegerSet::get(numDims, set.getNumSymbols(), set.getConstraints(), set.getEqFlags());
    pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(where), piece.getKind(), piece.getOperand(),
                                    AffineMapAttr::get(plain), gathers, piece.getValue()));
  }
  return ReadAttr::get(context, pieces, 0);
}

void etdg::simplifyReads(BlockOp block) {
  BlockBuilder spec = BlockBuilder::from(block);
  bool changed = false;
  auto simplify = [&](ReadAttr &read, Type type) {
    if (read.getElementRank() == 0)
      return;
    if (ReadAttr plain = withoutElement(read, cast<RankedTensorType>(type), spec.buffers)) {
      read = plain;
      changed = true;
    }
  };
  for (auto [read, argument] : llvm::zip_equal(spec.reads, block.getBody().getArguments()))
    simplify(read, argument.getType());
  if (changed)
    spec.assign(block);
}

void etdg::splitElement(Value buffer, unsigned depth) {
  auto old = cast<BufferType>(buffer.getType());
  MLIRContext *context = buffer.getContext();
  llvm::SetVector<Operation *> users(buffer.user_begin(), buffer.user_end());
  for (Operation *user : users) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block)
      continue;
    BlockBuilder spec = BlockBuilder::from(block);
    auto reads = [&](ReadAttr read) {
      return llvm::any_of(read.getPieces(), [&](PieceAttr piece) {
        return piece.getKind() == SourceKind::Buffer && spec.buffers[piece.getOperand()] == buffer;
      });
    };
    for (auto [i, read] : llvm::enumerate(spec.reads))
      if (reads(read))
        read = toScalars(read, cast<RankedTensorType>(block.getBody().getArgument(i).getType()), spec.dims.size());
    for (ReadAttr &read : spec.identity)
      if (reads(read))
        read = toScalars(read, old.getElement(), spec.dims.size());
    spec.assign(block);
  }
  SmallVector<ft::LengthAttr> lengths;
  for (int64_t extent : old.getElement().getShape().take_front(depth))
    lengths.push_back(ft::LengthAttr::get(context, extent));
  buffer.setType(BufferType::get(context, lengths, dropLeading(old.getElement(), depth)));
  if (auto definition = buffer.getDefiningOp<BufferOp>())
    definition.removeLiveAttr();
  for (Operation *user : users)
    if (auto block = dyn_cast<BlockOp>(user))
      simplifyReads(block);
}

bool etdg::hasConstantSteps(ReadAttr read, ValueRange buffers, unsigned numDims) {
  if (read.getPieces().size() != 1)
    return false;
  PieceAttr piece = read.getPieces().front();
  if (piece.getKind() != SourceKind::Buffer || !piece.getGathers().empty())
    return false;
  auto type = cast<BufferType>(buffers[piece.getOperand()].getType());
  AffineMap map = piece.getMap().getValue();
  auto usesElement = [&](AffineExpr expr) { return usesDims(expr, numDims, read.getElementRank()); };
  for (auto [p, expr] : llvm::enumerate(map.getResults())) {
    if (!usesElement(expr))
      continue;
    bool divides = false;
    expr.walk([&](AffineExpr e) {
      bool isQuotient = e.getKind() == AffineExprKind::FloorDiv || e.getKind() == AffineExprKind::CeilDiv ||
                        e.getKind() == AffineExprKind::Mod;
      divides |= isQuotient && usesElement(e);
    });
    if (divides)
      return false;
    for (unsigned q = p + 1; q < type.getDepth(); ++q)
      if (!type.getLengths()[q].getConstant())
        return false;
  }
  return true;
}
