//===- AccessFusionConnect.cpp - buffers that a copy connects -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer that one leaf moves whole into another is that other one (FT §5.1,
// access map fusion): its writers write there, at the iteration of the copy that
// the copy's read map names.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/Transforms/AccessFusion.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::etdg;

/// Rewrites the accesses of `user` to the source of a copy: they are of the target.
bool AccessFusion::connectUser(BufferOp source, BufferOp target, BlockOp copy, BlockOp user,
                               BlockBuilder &builder) {
  MLIRContext *context = user.getContext();
  unsigned depth = source.getResult().getType().getDepth();
  BlockBuilder from = BlockBuilder::from(copy);
  BlockImporter importer(builder, from);
  AffineMap read = importer.map(from.reads[0].getPieces()[0].getMap().getValue());
  AffineMap write = importer.map(from.writes[0].getMap().getValue());
  // The element of the target, where every element that is accessed is copied.
  auto translate = [&](AffineMap map, IntegerSet set,
                       ArrayRef<int64_t> shape) -> std::optional<AffineMap> {
    SmallVector<AffineExpr> dims;
    if (!invert(copy, read, getNumOwnerDims(source.getResult()), builder, map, dims))
      return std::nullopt;
    for (unsigned d = 0, e = getNumOwnerDims(target.getResult()); d < e; ++d)
      if (dims[d] != getAffineDimExpr(d, context))
        return std::nullopt;
    SmallVector<AffineExpr> constraints;
    SmallVector<bool> eqs;
    BlockOp owner = source->getParentOfType<BlockOp>();
    addDomains(copy, owner, builder, dims, constraints, eqs);
    for (unsigned p = 0; p < depth; ++p) {
      constraints.push_back(read.getResult(p).replaceDims(dims) - map.getResult(p));
      eqs.push_back(true);
    }
    unsigned pointSize = builder.dims.size() + shape.size();
    if (!constraints.empty()) {
      IntegerSet copied =
          canonicalizeSet(IntegerSet::get(pointSize, builder.symbols.size(), constraints, eqs));
      std::optional<IntegerSet> left = simplify(user, builder, copied, shape, set);
      if (!left || !isUniverse(*left)) {
        refuse(describeBlock(user) + " accesses elements that are not copied");
        return std::nullopt;
      }
    }
    SmallVector<AffineExpr> results;
    for (AffineExpr result : write.getResults())
      results.push_back(result.replaceDims(dims));
    for (unsigned e = depth; e < map.getNumResults(); ++e)
      results.push_back(map.getResult(e));
    return AffineMap::get(pointSize, builder.symbols.size(), results, context);
  };
  int64_t to = builder.operandFor(target.getResult());
  auto isSource = [&](int64_t operand) {
    return operand >= 0 && builder.buffers[operand] == source.getResult();
  };
  for (WriteAttr &w : builder.writes) {
    if (!isSource(w.getOperand()))
      continue;
    std::optional<AffineMap> map = translate(w.getMap().getValue(), IntegerSet(), {});
    if (!map)
      return false;
    w = WriteAttr::get(context, to, AffineMapAttr::get(*map));
  }
  for (auto [i, r] : llvm::enumerate(builder.reads)) {
    SmallVector<int64_t> shape;
    if (r.getElementRank())
      llvm::append_range(
          shape, cast<RankedTensorType>(user.getBody().getArgument(i).getType()).getShape());
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : r.getPieces()) {
      for (GatherAttr gather : piece.getGathers())
        if (isSource(gather.getOperand()))
          return refuse("it holds indices of a gather");
      if (piece.getKind() != SourceKind::Buffer || !isSource(piece.getOperand())) {
        pieces.push_back(piece);
        continue;
      }
      if (!piece.getGathers().empty())
        return refuse("a read of " + describeBlock(user) + " takes its index from data");
      std::optional<AffineMap> map =
          translate(piece.getMap().getValue(), piece.getSet().getValue(), shape);
      if (!map)
        return false;
      pieces.push_back(PieceAttr::getBuffer(piece.getSet().getValue(), to, *map));
    }
    r = ReadAttr::get(context, pieces, r.getElementRank());
  }
  return true;
}

/// A buffer that one copy moves whole into another is that other one: its writers write there.
bool AccessFusion::connect(BufferOp source) {
  if (!source.keepsAllPlanes())
    return false;
  BlockOp copy;
  llvm::MapVector<Operation *, BlockBuilder> users;
  for (Operation *user : source.getResult().getUsers()) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block || !block.isLeaf() || !block.getIdentity().empty())
      return false; // returned, or an identity
    bool copies = isCopyBlock(block) && block.getNumReads() == 1 && block.getNumWrites() == 1 &&
                  block.getRead(0).getPieces().size() == 1 &&
                  block.getRead(0).getElementRank() == 0 &&
                  block.getRead(0).getPieces()[0].getGathers().empty() &&
                  isUniverse(block.getRead(0).getPieces()[0].getSet().getValue()) &&
                  block.getBuffers()[block.getWrite(0).getOperand()] != source.getResult() &&
                  // Whole elements: a part of one may be read with as few dimensions.
                  cast<BufferType>(block.getBuffers()[block.getWrite(0).getOperand()].getType()).getElement() ==
                      source.getType().getElement();
    // One that another buffer is copied from: where several do, the first is as good.
    if (copies && !copy)
      copy = block;
    else
      users.insert({block, BlockBuilder::from(block)});
  }
  if (!copy || copy->getParentOfType<VariantsOp>()) // a variant always copies, or computes
    return false;
  auto target = copy.getBuffers()[copy.getWrite(0).getOperand()].getDefiningOp<BufferOp>();
  if (!target || !target.keepsAllPlanes() || users.contains(copy))
    return false;
  why.clear();
  for (auto &[op, builder] : users)
    if (!target->getParentOp()->isAncestor(op) ||
        !connectUser(source, target, copy, cast<BlockOp>(op), builder))
      return false;
  // The target is there before the first that uses it.
  for (auto &[op, builder] : users)
    if (Operation *item = target->getBlock()->findAncestorOpInBlock(*op);
        item && item->isBeforeInBlock(target))
      target->moveBefore(item);
  for (auto &[op, builder] : users)
    builder.assign(cast<BlockOp>(op));
  remark::passed(source.getLoc(), remark::RemarkOpts::name("connect").category("coarsen"))
      << remark::reason("{0} is the buffer that it was copied to",
                        describeBuffer(source.getResult()))
      << remark::metric("bytes", getLiveBytes(source).str());
  // What wrote it copies nothing any more.
  Operation *gone = copy;
  for (;;) {
    Operation *parent = gone->getParentOp();
    bool alone = isa<BlockOp, NestOp>(parent) && !parent->isAncestor(source);
    for (Operation &op : *gone->getBlock())
      alone &= &op == gone || !isa<BlockOp, NestOp, KernelOp, BufferOp>(op);
    if (!alone)
      break;
    gone = parent;
  }
  gone->erase();
  source.erase();
  return true;
}
