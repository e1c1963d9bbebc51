//===- OnlineSink.cpp - broadcasts move to where they are read ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block between two reductions often ends in a broadcast: the mean of each row,
// spread over the columns. Read through it, every column would have a mean of its
// own. The block hands over what is spread, and its readers spread it: nothing is
// computed again, and the buffer is smaller.
//
//===----------------------------------------------------------------------===//
#include "OnlineGroup.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

/// What `value` spreads or reshapes, or null.
static Value getSpread(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  Value source;
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
    source = broadcast.getInput();
  else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    source = op->getOperand(0);
  auto type = source ? dyn_cast<RankedTensorType>(source.getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getEncoding())
    return {};
  return source;
}

/// Whether all accesses are to whole elements, by leaves, and what isn't the buffer is a splat.
static bool hasWholeReads(Value buffer, const GraphAccesses &accesses) {
  for (Operation *user : buffer.getUsers())
    if (!isa<BlockOp>(user))
      return false;
  for (const Access &access : accesses.getReads(buffer)) {
    BlockOp reader = access.block;
    if (access.kind != Access::Read || !access.gathers.empty() || !access.elementShape.empty() ||
        access.map.getNumResults() != access.getBufferType().getDepth())
      return false;
    for (PieceAttr piece : reader.getRead(access.index).getPieces())
      if (piece.getKind() == SourceKind::Index ||
          (piece.getKind() == SourceKind::Buffer &&
           reader.getBuffers()[piece.getOperand()] != buffer))
        return false;
  }
  return true;
}

bool online::sinkBroadcasts(const OnlineGroup &group, const GraphAccesses &accesses) {
  for (const Parameter &parameter : group.parameters) {
    if (parameter.lastPlane)
      continue;
    BlockOp reader = parameter.reader;
    PieceAttr piece = reader.getRead(parameter.read).getPieces()[parameter.piece];
    Value buffer = reader.getBuffers()[piece.getOperand()];
    auto bufferOp = buffer.getDefiningOp<BufferOp>();
    ArrayRef<Access> writes = accesses.getWrites(buffer);
    if (!bufferOp || writes.size() != 1 || !hasWholeReads(buffer, accesses))
      continue;
    BlockOp writer = writes.front().block;
    unsigned w = writes.front().index;
    // A block that reads what it writes stays as it is.
    if (llvm::any_of(accesses.getReads(buffer),
                     [&](const Access &access) { return access.block == writer; }))
      continue;
    Value spread = writer.getYield().getOperand(w);
    Value source = getSpread(spread);
    if (!source)
      continue;
    OpBuilder builder(bufferOp);
    auto type = cast<RankedTensorType>(source.getType());
    auto made =
        BufferOp::create(builder, bufferOp.getLoc(),
                         BufferType::get(bufferOp.getContext(),
                                         cast<BufferType>(buffer.getType()).getLengths(), type),
                         bufferOp.getLiveAttr(), bufferOp.getNameHintAttr());
    Operation *op = spread.getDefiningOp();
    llvm::SetVector<std::pair<Operation *, unsigned>> reads;
    for (const Access &access : accesses.getReads(buffer))
      reads.insert({BlockOp(access.block).getOperation(), access.index});
    for (auto [block, r] : reads) {
      Block &body = cast<BlockOp>(block).getBody().front();
      BlockArgument argument = body.getArgument(r);
      OpBuilder inside(&body, body.begin());
      IRMapping mapping;
      if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
        auto wide = cast<RankedTensorType>(spread.getType());
        mapping.map(
            broadcast.getInit(),
            tensor::EmptyOp::create(inside, op->getLoc(), wide.getShape(), wide.getElementType())
                .getResult());
      }
      mapping.map(source, argument);
      Operation *again = inside.clone(*op, mapping);
      argument.replaceAllUsesExcept(again->getResult(0), again);
      argument.setType(type);
    }
    writer.getYield()->setOperand(w, source);
    buffer.replaceAllUsesWith(made.getResult());
    bufferOp.erase();
    if (op->use_empty())
      op->erase();
    return true;
  }
  return false;
}
