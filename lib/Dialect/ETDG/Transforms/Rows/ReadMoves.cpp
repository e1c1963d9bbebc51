//===- ReadMoves.cpp - operations that only move elements are reads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transposition, a concatenation, a division of dimensions, a padding with one number and a part that takes
// its place in a tensor compute nothing. Each becomes a copy whose read says, piece by
// piece, where an element comes from. A copy has rows as any statement, and access
// fusion lets its readers read what it reads.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

#include "ft/Dialect/ETDG/Transforms/Filled.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::etdg;

/// Pieces of a read that are chosen among at each row, and proved disjoint by pairs; what has more parts stays one operation.
static constexpr unsigned mostPieces = 16;

namespace {
/// Pieces that a moved tensor has, over the dimensions of its elements.
class MovedRead {
public:
  explicit MovedRead(Statement &statement)
      : block(statement.block), spec(BlockBuilder::from(statement.block)), context(statement.block.getContext()),
        type(cast<RankedTensorType>(statement.op->getResult(0).getType())) {}

  /// False where the operation is none that only moves.
  bool describe(Operation *op);
  /// The copy in the statement's place.
  BlockOp write();

private:
  bool transpose(linalg::TransposeOp op);
  bool expand(tensor::ExpandShapeOp op);
  bool concat(tensor::ConcatOp op);
  bool pad(tensor::PadOp op);
  bool insert(tensor::InsertSliceOp op);
  AffineExpr dim(unsigned d) const { return getAffineDimExpr(d, context); }
  /// Element `index` of an operand of the body, where all constraints are at least 0.
  bool take(Value operand, ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> where);
  void splat(TypedAttr value, ArrayRef<AffineExpr> where);
  IntegerSet setOf(ArrayRef<AffineExpr> where) const;
  /// What lies outside of a box, as boxes that don't overlap: those below and above it along each dimension, inside of it along
  /// those before.
  SmallVector<SmallVector<AffineExpr>> outsideOf(ArrayRef<int64_t> low, ArrayRef<int64_t> size) const;
  /// The conditions of an index being in the box.
  SmallVector<AffineExpr> insideOf(ArrayRef<int64_t> low, ArrayRef<int64_t> size, unsigned count) const;

  BlockOp block;
  BlockBuilder spec;
  MLIRContext *context;
  RankedTensorType type;
  SmallVector<PieceAttr> pieces;
};
} // namespace

IntegerSet MovedRead::setOf(ArrayRef<AffineExpr> where) const {
  if (where.empty())
    return getUniverse(context, type.getRank(), spec.symbols.size());
  return IntegerSet::get(type.getRank(), spec.symbols.size(), where, SmallVector<bool>(where.size(), false));
}

void MovedRead::splat(TypedAttr value, ArrayRef<AffineExpr> where) {
  auto nothing = AffineMap::get(type.getRank(), spec.symbols.size(), {}, context);
  pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(setOf(where)), SourceKind::Splat, -1,
                                  AffineMapAttr::get(nothing), {}, value));
}

/// The number that the one statement that writes a whole buffer fills it with, or null.
static TypedAttr filledWith(Value buffer) {
  TypedAttr number;
  for (Operation *user : buffer.getUsers()) {
    auto writer = dyn_cast<BlockOp>(user);
    for (unsigned w = 0; writer && w < writer.getNumWrites(); ++w) {
      if (writer.getBuffers()[writer.getWrite(w).getOperand()] != buffer)
        continue;
      bool isWhole = !number && writer.isLeaf() && writer.getNumDims() == 0;
      auto fill = isWhole ? writer.getYield().getOperand(w).getDefiningOp<linalg::FillOp>() : linalg::FillOp();
      if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&number)))
        return nullptr;
    }
  }
  return number;
}

bool MovedRead::take(Value operand, ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> where) {
  if (TypedAttr number = getFilled(operand)) {
    splat(number, where);
    return true;
  }
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument || argument.getOwner() != &block.getBody().front())
    return false;
  ArrayRef<PieceAttr> whole = spec.reads[argument.getArgNumber()].getPieces();
  if (whole.size() == 1 && whole.front().getKind() == SourceKind::Buffer && whole.front().getGathers().empty())
    if (TypedAttr number = filledWith(spec.buffers[whole.front().getOperand()])) {
      splat(number, where);
      return true;
    }
  ReadAttr read = toScalars(spec.reads[argument.getArgNumber()], cast<RankedTensorType>(argument.getType()), 0);
  unsigned rank = type.getRank(), numSymbols = spec.symbols.size();
  SmallVector<AffineExpr> symbols;
  for (unsigned s = 0; s < numSymbols; ++s)
    symbols.push_back(getAffineSymbolExpr(s, context));
  auto at = [&](AffineMap map) {
    return AffineMapAttr::get(simplifyAffineMap(map.replaceDimsAndSymbols(index, symbols, rank, numSymbols)));
  };
  for (PieceAttr piece : read.getPieces()) {
    IntegerSet from = piece.getSet().getValue().replaceDimsAndSymbols(index, symbols, rank, numSymbols);
    SmallVector<AffineExpr> constraints(from.getConstraints());
    SmallVector<bool> eqs(from.getEqFlags());
    if (isUniverse(piece.getSet().getValue())) {
      constraints.clear();
      eqs.clear();
    }
    llvm::append_range(constraints, where);
    eqs.resize(constraints.size(), false);
    IntegerSet set = constraints.empty() ? getUniverse(context, rank, numSymbols)
                                         : canonicalizeSet(IntegerSet::get(rank, numSymbols, constraints, eqs));
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(context, gather.getPosition(), gather.getOperand(), at(gather.getMap().getValue())));
    pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(set), piece.getKind(), piece.getOperand(),
                                    at(piece.getMap().getValue()), gathers, piece.getValue()));
  }
  return true;
}

SmallVector<AffineExpr> MovedRead::insideOf(ArrayRef<int64_t> low, ArrayRef<int64_t> size, unsigned count) const {
  SmallVector<AffineExpr> where;
  for (unsigned d = 0; d < count; ++d) {
    if (low[d] > 0)
      where.push_back(dim(d) - low[d]);
    if (low[d] + size[d] < type.getDimSize(d))
      where.push_back(low[d] + size[d] - 1 - dim(d));
  }
  return where;
}

SmallVector<SmallVector<AffineExpr>> MovedRead::outsideOf(ArrayRef<int64_t> low, ArrayRef<int64_t> size) const {
  SmallVector<SmallVector<AffineExpr>> boxes;
  for (unsigned d = 0; d < low.size(); ++d) {
    SmallVector<AffineExpr> before = insideOf(low, size, d);
    if (low[d] > 0) {
      boxes.push_back(before);
      boxes.back().push_back(low[d] - 1 - dim(d));
    }
    if (low[d] + size[d] < type.getDimSize(d)) {
      boxes.push_back(before);
      boxes.back().push_back(dim(d) - low[d] - size[d]);
    }
  }
  return boxes;
}

bool MovedRead::transpose(linalg::TransposeOp op) {
  SmallVector<AffineExpr> index(type.getRank());
  for (auto [k, from] : llvm::enumerate(op.getPermutation()))
    index[from] = dim(k);
  return take(op.getInput(), index, {});
}

/// Dimensions that one was divided into are its digits.
bool MovedRead::expand(tensor::ExpandShapeOp op) {
  SmallVector<AffineExpr> index;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    AffineExpr place = getAffineConstantExpr(0, context);
    for (int64_t d : group)
      place = place * type.getDimSize(d) + dim(d);
    index.push_back(place);
  }
  return take(op.getSrc(), index, {});
}

bool MovedRead::concat(tensor::ConcatOp op) {
  unsigned along = op.getDim();
  int64_t begin = 0;
  for (Value input : op.getInputs()) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(along);
    SmallVector<AffineExpr> index, where;
    for (unsigned d = 0; d < type.getRank(); ++d)
      index.push_back(d == along ? dim(d) - begin : dim(d));
    if (begin > 0)
      where.push_back(dim(along) - begin);
    if (begin + size < type.getDimSize(along))
      where.push_back(begin + size - 1 - dim(along));
    if (size > 0 && !take(input, index, where))
      return false;
    begin += size;
  }
  return true;
}

bool MovedRead::pad(tensor::PadOp op) {
  Value value = op.getConstantPaddingValue();
  TypedAttr padding;
  if (!value || !matchPattern(value, m_Constant(&padding)) || !op.getLow().empty() || !op.getHigh().empty())
    return false;
  auto negative = [](int64_t amount) { return amount < 0; };
  if (llvm::any_of(op.getStaticLow(), negative) || llvm::any_of(op.getStaticHigh(), negative))
    return false;
  SmallVector<AffineExpr> index;
  for (auto [d, low] : llvm::enumerate(op.getStaticLow()))
    index.push_back(dim(d) - low);
  ArrayRef<int64_t> size = op.getSourceType().getShape();
  if (!take(op.getSource(), index, insideOf(op.getStaticLow(), size, size.size())))
    return false;
  for (ArrayRef<AffineExpr> box : outsideOf(op.getStaticLow(), size))
    splat(padding, box);
  return true;
}

bool MovedRead::insert(tensor::InsertSliceOp op) {
  if (!op.getOffsets().empty() || !op.getSizes().empty() || !op.getStrides().empty() ||
      llvm::any_of(op.getStaticStrides(), [](int64_t s) { return s != 1; }))
    return false;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  ArrayRef<int64_t> low = op.getStaticOffsets(), size = op.getStaticSizes();
  SmallVector<AffineExpr> index, same;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    same.push_back(dim(d));
    if (!dropped.test(d))
      index.push_back(dim(d) - low[d]);
  }
  if (llvm::is_contained(size, 0) || !take(op.getSource(), index, insideOf(low, size, size.size())))
    return false;
  return llvm::all_of(outsideOf(low, size), [&](ArrayRef<AffineExpr> box) { return take(op.getDest(), same, box); });
}

bool MovedRead::describe(Operation *op) {
  bool moves = TypeSwitch<Operation *, bool>(op)
                   .Case([&](tensor::ExpandShapeOp expansion) { return expand(expansion); })
                   .Case([&](linalg::TransposeOp transposition) { return transpose(transposition); })
                   .Case([&](tensor::ConcatOp parts) { return concat(parts); })
                   .Case([&](tensor::PadOp padding) { return pad(padding); })
                   .Case([&](tensor::InsertSliceOp part) { return insert(part); })
                   .Default([](Operation *) { return false; });
  return moves && pieces.size() <= mostPieces;
}

BlockOp MovedRead::write() {
  spec.reads = {ReadAttr::get(context, pieces, type.getRank())};
  OpBuilder builder(block);
  BlockOp copy = spec.build(builder, block.getLoc(), {Type(type)});
  builder.setInsertionPointToStart(&copy.getBody().front());
  YieldOp::create(builder, block.getLoc(), ValueRange{copy.getBody().getArgument(0)});
  block.erase();
  return copy;
}

void etdg::readMoves(MutableArrayRef<Statement> statements, bool transpositions) {
  for (Statement &statement : statements) {
    if (!statement.op || isa<linalg::TransposeOp>(statement.op) != transpositions || statement.op->getNumResults() != 1 ||
        statement.block.getNumWrites() != 1)
      continue;
    auto type = dyn_cast<RankedTensorType>(statement.op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || type.getRank() == 0 || type.getNumElements() == 0)
      continue;
    MovedRead moved(statement);
    if (!moved.describe(statement.op))
      continue;
    statement.block = moved.write();
    statement.op = nullptr;
    statement.space = getCopySpace({Type(type)}, type.getContext());
    statement.rows = chooseRowsAlone(nullptr, statement.space);
  }
}
