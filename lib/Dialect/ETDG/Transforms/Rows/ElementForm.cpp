//===- ElementForm.cpp - buffers whose element becomes lengths ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map to scalars says the same whether a dimension of a buffer is a length or the
// element's: so a read is written as such a map, the buffer gets its new type, and what
// is a read of whole elements then is written as that again.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

/// The read where a dimension of the element that has one iteration counts as 0 in sums, or null: which iterations read the same is seen then.
static ReadAttr withoutUnits(ReadAttr read, RankedTensorType type) {
  MLIRContext *context = read.getContext();
  unsigned rank = read.getElementRank();
  bool changed = false;
  auto simplify = [&](AffineMapAttr attribute) {
    AffineMap map = attribute.getValue();
    unsigned first = map.getNumDims() - rank;
    SmallVector<AffineExpr> results(map.getResults());
    for (AffineExpr &result : results)
      for (unsigned e = 0; e < rank; ++e)
        if (type.getDimSize(e) == 1 && !isa<AffineDimExpr>(result) && result.isFunctionOfDim(first + e)) {
          result = simplifyAffineExpr(result.replace(getAffineDimExpr(first + e, context), getAffineConstantExpr(0, context)), map.getNumDims(), map.getNumSymbols());
          changed = true;
        }
    return AffineMapAttr::get(AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context));
  };
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(context, gather.getPosition(), gather.getOperand(), simplify(gather.getMap())));
    pieces.push_back(PieceAttr::get(context, piece.getSet(), piece.getKind(), piece.getOperand(), simplify(piece.getMap()), gathers, piece.getValue()));
  }
  return changed ? ReadAttr::get(context, pieces, rank) : ReadAttr();
}

void etdg::simplifyReads(BlockOp block) {
  BlockBuilder spec = BlockBuilder::from(block);
  bool changed = false;
  auto simplify = [&](ReadAttr &read, Type type) {
    if (read.getElementRank() == 0)
      return;
    ReadAttr plain = withoutElement(read, cast<RankedTensorType>(type), spec.buffers);
    if (!plain)
      plain = withoutUnits(read, cast<RankedTensorType>(type));
    if (plain) {
      read = plain;
      changed = true;
    }
  };
  for (auto [read, argument] : llvm::zip_equal(spec.reads, block.getBody().getArguments()))
    simplify(read, argument.getType());
  if (changed)
    spec.assign(block);
}

//===----------------------------------------------------------------------===//
// Dimensions that a read divides
//===----------------------------------------------------------------------===//

namespace {
/// Dimension `dim` of an element is the pair of indices `at`, `at + 1`, the second of `size`.
struct Divided {
  unsigned dim = 0, at = 0;
  int64_t size = 1;
};
} // namespace

/// A dimension that a read divides into two that lie after one another in memory, or nothing.
static std::optional<Divided> findDivided(PieceAttr piece, unsigned rank, BufferType buffer) {
  AffineMap map = piece.getMap().getValue();
  unsigned numDims = map.getNumDims() - rank;
  for (unsigned p = 0; p + 1 < map.getNumResults(); ++p) {
    auto quotient = dyn_cast<AffineBinaryOpExpr>(map.getResult(p)), rest = dyn_cast<AffineBinaryOpExpr>(map.getResult(p + 1));
    if (!quotient || !rest || quotient.getKind() != AffineExprKind::FloorDiv || rest.getKind() != AffineExprKind::Mod || quotient.getLHS() != rest.getLHS() ||
        quotient.getRHS() != rest.getRHS())
      continue;
    auto dim = dyn_cast<AffineDimExpr>(quotient.getLHS());
    auto size = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (!dim || !size || dim.getPosition() < numDims)
      continue;
    std::optional<int64_t> length = p + 1 < buffer.getDepth() ? buffer.getLengths()[p + 1].getConstant()
                                                              : std::optional<int64_t>(buffer.getElement().getDimSize(p + 1 - buffer.getDepth()));
    bool isElsewhere = false;
    for (AffineExpr expr : piece.getSet().getValue().getConstraints())
      isElsewhere |= usesDims(expr, dim.getPosition(), 1);
    for (auto [q, expr] : llvm::enumerate(map.getResults()))
      isElsewhere |= q != p && q != p + 1 && usesDims(expr, dim.getPosition(), 1);
    if (!isElsewhere && length == size.getValue())
      return Divided{dim.getPosition() - numDims, p, size.getValue()};
  }
  return std::nullopt;
}

/// The read with one dimension more, in the place of a divided one.
static ReadAttr withDivided(ReadAttr read, PieceAttr piece, const Divided &divided) {
  MLIRContext *context = read.getContext();
  AffineMap map = piece.getMap().getValue();
  IntegerSet set = piece.getSet().getValue();
  unsigned numDims = map.getNumDims(), dim = numDims - read.getElementRank() + divided.dim;
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(d + (d > dim), context));
  SmallVector<AffineExpr> results, constraints;
  for (auto [p, expr] : llvm::enumerate(map.getResults()))
    results.push_back(p == divided.at || p == divided.at + 1 ? getAffineDimExpr(dim + p - divided.at, context) : expr.replaceDims(dims));
  for (AffineExpr expr : set.getConstraints())
    constraints.push_back(expr.replaceDims(dims));
  auto places = AffineMap::get(numDims + 1, map.getNumSymbols(), results, context);
  auto where = IntegerSet::get(numDims + 1, set.getNumSymbols(), constraints, set.getEqFlags());
  auto made = PieceAttr::get(context, IntegerSetAttr::get(where), piece.getKind(), piece.getOperand(), AffineMapAttr::get(places), {}, piece.getValue());
  return ReadAttr::get(context, {made}, read.getElementRank() + 1);
}

void etdg::splitDividedReads(BlockOp leaf) {
  BlockBuilder spec = BlockBuilder::from(leaf);
  bool changed = false;
  for (auto [i, read] : llvm::enumerate(spec.reads)) {
    ArrayRef<PieceAttr> pieces = read.getPieces();
    if (pieces.size() != 1 || pieces.front().getKind() != SourceKind::Buffer || !pieces.front().getGathers().empty())
      continue;
    BlockArgument argument = leaf.getBody().getArgument(unsigned(i));
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    std::optional<Divided> divided =
        type && read.getElementRank() ? findDivided(pieces.front(), read.getElementRank(), cast<BufferType>(spec.buffers[pieces.front().getOperand()].getType()))
                                      : std::nullopt;
    if (!divided || type.getDimSize(divided->dim) % divided->size != 0)
      continue;
    SmallVector<int64_t> shape(type.getShape());
    shape[divided->dim] /= divided->size;
    shape.insert(shape.begin() + divided->dim + 1, divided->size);
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      if (d == divided->dim + 1)
        groups.back().push_back(d);
      else
        groups.push_back({d});
    read = withDivided(read, pieces.front(), *divided);
    argument.setType(RankedTensorType::get(shape, type.getElementType()));
    OpBuilder builder = OpBuilder::atBlockBegin(&leaf.getBody().front());
    auto whole = tensor::CollapseShapeOp::create(builder, leaf.getLoc(), type, argument, groups);
    argument.replaceAllUsesExcept(whole, whole);
    changed = true;
  }
  if (changed)
    spec.assign(leaf);
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
