//===- FoldTransposes.cpp - permuted tensors are read as they lie ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product with a transposed tensor reads that tensor through another map. So the
// transposed one need not exist, and its rows need not wait for all of it. What is
// left, and permutes rows that one statement writes (heads that are merged back), goes
// into the map of that write.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::etdg;

/// The order in which a statement that only permutes takes its operand's dimensions:
/// dimension k of its result is dimension `order[k]` there; empty where it is none.
static SmallVector<int64_t> getOrder(Statement &statement) {
  auto transpose = dyn_cast_or_null<linalg::TransposeOp>(statement.op);
  if (!transpose || statement.block.getNumReads() != 1 || statement.block.getNumWrites() != 1 ||
      !statement.block.getSymbolNames().empty() || !isa<BlockArgument>(transpose.getInput()))
    return {};
  return SmallVector<int64_t>(transpose.getPermutation());
}

/// The statement's operands that are a buffer as a whole.
static SmallVector<unsigned> getUses(Statement &statement, Value buffer) {
  SmallVector<unsigned> uses;
  if (!isa_and_nonnull<linalg::LinalgOp>(statement.op))
    return uses;
  for (OpOperand *input : cast<linalg::LinalgOp>(statement.op).getDpsInputOperands()) {
    auto argument = dyn_cast<BlockArgument>(input->get());
    if (!argument || argument.getOwner() != &statement.block.getBody().front() ||
        argument.getType() != cast<BufferType>(buffer.getType()).getElement()) // (one element of it, say)
      continue;
    ReadAttr read = statement.block.getRead(argument.getArgNumber());
    if (read.getElementRank() == 0 && read.getPieces().size() == 1 &&
        read.getPieces().front().getKind() == SourceKind::Buffer &&
        statement.block.getBuffers()[read.getPieces().front().getOperand()] == buffer)
      uses.push_back(input->getOperandNumber());
  }
  return uses;
}

/// A map to places of the permuted tensor, as one to places of what it is made from.
static AffineMap permute(AffineMap map, ArrayRef<int64_t> order) {
  SmallVector<AffineExpr> results(order.size());
  for (auto [k, from] : llvm::enumerate(order))
    results[from] = map.getResult(k);
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}

/// Gives a reader the permutation's own read for one operand; false where that would cost it rows.
static bool foldInto(Statement &reader, unsigned operand, Statement &permutation, ArrayRef<int64_t> order) {
  auto op = cast<linalg::LinalgOp>(reader.op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand] = permute(maps[operand], order);
  RowSpace space = getRowSpace(op, maps);
  if (chooseRowsAlone(op, space) < chooseRowsAlone(op, reader.space))
    return false;
  IRRewriter rewriter(op);
  auto generic = dyn_cast<linalg::GenericOp>(reader.op);
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return false;
    generic = *made;
  }
  BlockBuilder spec = BlockBuilder::from(reader.block);
  BlockOp source = permutation.block;
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : source.getRead(0).getPieces()) {
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(gather.getContext(), gather.getPosition(),
                                        spec.operandFor(source.getBuffers()[gather.getOperand()]), gather.getMap()));
    int64_t from = piece.getKind() == SourceKind::Buffer ? spec.operandFor(source.getBuffers()[piece.getOperand()]) : -1;
    pieces.push_back(PieceAttr::get(piece.getContext(), piece.getSet(), piece.getKind(), from, piece.getMap(), gathers,
                                    piece.getValue()));
  }
  spec.reads.push_back(ReadAttr::get(op->getContext(), pieces, source.getRead(0).getElementRank()));
  Block &body = reader.block.getBody().front();
  auto old = cast<BlockArgument>(generic->getOperand(operand));
  Value fresh = body.addArgument(source.getBody().getArgument(0).getType(), old.getLoc());
  generic->setOperand(operand, fresh);
  generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  if (old.use_empty()) {
    spec.reads.erase(spec.reads.begin() + old.getArgNumber());
    body.eraseArgument(old.getArgNumber());
  }
  spec.assign(reader.block);
  reader.op = generic;
  reader.space = space;
  return true;
}

void etdg::foldTransposes(SmallVectorImpl<Statement> &statements) {
  for (unsigned s = 0; s < statements.size();) {
    SmallVector<int64_t> order = getOrder(statements[s]);
    Value buffer = order.empty() ? Value() : statements[s].block.getBuffers()[statements[s].block.getWrite(0).getOperand()];
    if (!order.empty())
      for (Statement &reader : statements)
        for (unsigned operand : getUses(reader, buffer))
          foldInto(reader, operand, statements[s], order);
    if (order.empty() || !buffer.hasOneUse()) {
      ++s;
      continue;
    }
    statements[s].block.erase();
    buffer.getDefiningOp()->erase();
    statements.erase(statements.begin() + s);
  }
}

/// Whether a permutation moves nothing but the first `rows` dimensions.
static bool movesRows(ArrayRef<int64_t> order, unsigned rows) {
  for (auto [k, from] : llvm::enumerate(order))
    if (k < rows ? from >= int64_t(rows) : from != int64_t(k))
      return false;
  return !order.empty();
}

/// The statement that alone writes the buffer, with no other result, or null.
static Statement *findWriter(MutableArrayRef<Statement> statements, Value buffer) {
  for (Statement &statement : statements)
    if (statement.block.getNumWrites() == 1 &&
        statement.block.getBuffers()[statement.block.getWrite(0).getOperand()] == buffer)
      return &statement;
  return nullptr;
}

/// The buffer that a statement reads as a whole and that nothing but its writer and this one uses, or null.
static Value getOnlyRead(Statement &statement) {
  ReadAttr read = statement.block.getRead(0);
  if (read.getElementRank() != 0 || read.getPieces().size() != 1 || !read.getPieces().front().getGathers().empty() ||
      read.getPieces().front().getKind() != SourceKind::Buffer)
    return {};
  Value buffer = statement.block.getBuffers()[read.getPieces().front().getOperand()];
  bool isAlone = isa_and_nonnull<BufferOp>(buffer.getDefiningOp()) && llvm::range_size(buffer.getUses()) == 2;
  return isAlone ? buffer : Value();
}

/// Makes the writer of what a permutation reads write what that one would; false where it can't.
static bool foldIntoWriter(MutableArrayRef<Statement> statements, Statement &permutation) {
  SmallVector<int64_t> order = getOrder(permutation);
  Value from = order.empty() ? Value() : getOnlyRead(permutation);
  Statement *writer = from ? findWriter(statements, from) : nullptr;
  if (!writer || !writer->order.empty() || !movesRows(order, writer->rows))
    return false;
  BlockOp old = permutation.block;
  Value to = old.getBuffers()[old.getWrite(0).getOperand()];
  to.getDefiningOp()->moveBefore(writer->block);
  BlockBuilder spec = BlockBuilder::from(writer->block);
  for (Value &buffer : spec.buffers)
    if (buffer == from)
      buffer = to;
  spec.assign(writer->block);
  for (unsigned row = 0; row < writer->rows; ++row)
    writer->order.push_back(order[row]);
  old.erase();
  from.getDefiningOp()->erase();
  return true;
}

void etdg::foldIntoWriters(SmallVectorImpl<Statement> &statements) {
  for (unsigned s = 0; s < statements.size();)
    if (foldIntoWriter(statements, statements[s]))
      statements.erase(statements.begin() + s);
    else
      ++s;
}
