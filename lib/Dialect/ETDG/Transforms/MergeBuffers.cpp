//===- MergeBuffers.cpp - buffers that become private ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After a merge a plane often lives in one iteration of the merged block: its
// buffer moves inside and loses the dimensions that name the iteration.
//
//===----------------------------------------------------------------------===//
#include "MergeInternal.h"
#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;

void etdg::dropPositions(Value buffer, Value replacement, ArrayRef<unsigned> positions) {
  auto keptResults = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (auto [p, result] : llvm::enumerate(map.getResults()))
      if (!llvm::is_contained(positions, p))
        results.push_back(result);
    return AffineMapAttr::get(
        AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext()));
  };
  llvm::SetVector<Operation *> users(buffer.user_begin(), buffer.user_end());
  for (Operation *user : users) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block)
      continue;
    BlockBuilder b = BlockBuilder::from(block);
    auto isOurs = [&](int64_t operand) { return operand >= 0 && b.buffers[operand] == buffer; };
    auto changeRead = [&](ReadAttr read) {
      return transformRead(
          read,
          [&](AffineMap map, int64_t operand) {
            return isOurs(operand) ? keptResults(map).getValue() : map;
          },
          [](IntegerSet set) { return set; }, [](int64_t operand) { return operand; },
          [&](int64_t operand, int64_t position) {
            return !isOurs(operand) ? position
                                    : position - llvm::count_if(positions, [&](unsigned p) {
                                        return static_cast<int64_t>(p) < position;
                                      });
          });
    };
    for (ReadAttr &read : b.reads)
      read = changeRead(read);
    for (ReadAttr &read : b.identity)
      read = changeRead(read);
    for (WriteAttr &write : b.writes)
      if (isOurs(write.getOperand()))
        write = WriteAttr::get(write.getContext(), write.getOperand(),
                               keptResults(write.getMap().getValue()));
    for (Value &operand : b.buffers)
      if (operand == buffer)
        operand = replacement;
    b.assign(block);
  }
}

/// Positions that name the iterations between the buffer's owner and `owner`.
static FailureOr<SmallVector<unsigned>> getOwnPositions(Value buffer, BlockOp owner) {
  auto def = buffer.getDefiningOp<BufferOp>();
  if (!def || owner->isAncestor(def))
    return failure();
  unsigned from = getNumOwnerDims(buffer), to = owner.getNumDims();
  unsigned depth = cast<BufferType>(buffer.getType()).getDepth();
  SmallVector<unsigned> positions;
  for (unsigned d = from; d < to; ++d) {
    std::optional<unsigned> found;
    for (unsigned p = 0; p < depth && !found; ++p) {
      if (llvm::is_contained(positions, p))
        continue;
      bool all = true;
      for (Operation *user :
           llvm::SmallPtrSet<Operation *, 8>(buffer.user_begin(), buffer.user_end())) {
        auto block = dyn_cast<BlockOp>(user);
        if (!block || !owner->isProperAncestor(block) || !block.isLeaf())
          return failure();
        for (Access &access : getAccesses(block)) {
          if (access.buffer != buffer)
            continue;
          // Identities are read where a dimension is cut.
          if (access.kind == Access::Identity)
            return failure();
          all &= !access.getGather(p) &&
                 access.map.getResult(p) == getAffineDimExpr(d, buffer.getContext());
        }
      }
      if (all)
        found = p;
    }
    if (!found)
      return failure();
    positions.push_back(*found);
  }
  return positions;
}

static BufferType dropLengths(BufferType type, ArrayRef<unsigned> positions) {
  SmallVector<ft::LengthAttr> lengths;
  for (auto [p, length] : llvm::enumerate(type.getLengths()))
    if (!llvm::is_contained(positions, p))
      lengths.push_back(length);
  return BufferType::get(type.getContext(), lengths, type.getElement());
}

BufferType etdg::getPrivateType(Value buffer, BlockOp owner) {
  FailureOr<SmallVector<unsigned>> positions = getOwnPositions(buffer, owner);
  if (failed(positions))
    return {};
  return dropLengths(cast<BufferType>(buffer.getType()), *positions);
}

Value etdg::makePrivate(Value buffer, BlockOp owner) {
  FailureOr<SmallVector<unsigned>> positions = getOwnPositions(buffer, owner);
  if (failed(positions))
    return {};
  auto def = buffer.getDefiningOp<BufferOp>();
  DenseI64ArrayAttr live;
  if (std::optional<ArrayRef<int64_t>> old = def.getLive()) {
    SmallVector<int64_t> kept;
    for (auto [p, planes] : llvm::enumerate(*old))
      if (!llvm::is_contained(*positions, p))
        kept.push_back(planes);
    if (!kept.empty())
      live = DenseI64ArrayAttr::get(buffer.getContext(), kept);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&owner.getBody().front());
  auto replacement =
      BufferOp::create(builder, def.getLoc(), dropLengths(def.getResult().getType(), *positions),
                       live, def.getNameHintAttr());
  replacement->setDiscardableAttrs(def->getDiscardableAttrDictionary());
  dropPositions(buffer, replacement.getResult(), *positions);
  def.erase();
  return replacement.getResult();
}
