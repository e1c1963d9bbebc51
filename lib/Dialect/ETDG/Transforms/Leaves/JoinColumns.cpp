//===- JoinColumns.cpp - leaves of a graph that walk one tensor -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements on whole tensors that have no rows to share (a vector times a matrix,
// its bias, its activation; a chain on one vector) are blocks that run once. What
// shares such a block is its columns (ft/Schedule, LeafColumns.h), and they stay
// those of the joined leaf where each statement reads of the others' results only
// the element that it computes. So a product is not joined with what it multiplies,
// nor a normalisation with its row: these need all of it.
//
//===----------------------------------------------------------------------===//
#include "JoinColumns.h"

#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;

/// Constants and empty tensors: each leaf has its own.
static bool isGiven(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op); }

namespace {
/// The bodies of two leaves as they would be one.
class Columns {
public:
  Columns(BlockOp producer, BlockOp reader) : producer(producer), reader(reader) {}
  bool stay();

private:
  bool isComputed(Value value);
  bool keepsElements(Operation &op);
  bool hasShape(Type type);
  bool writesOf(Value buffer);

  BlockOp producer, reader;
  std::optional<ArrayRef<int64_t>> shape; // of all that is computed
};
} // namespace

bool Columns::writesOf(Value buffer) {
  return llvm::any_of(llvm::seq(producer.getNumWrites()), [&](unsigned w) {
    return producer.getBuffers()[producer.getWrite(w).getOperand()] == buffer;
  });
}

/// Whether one of the two leaves computes a value that one of them uses.
bool Columns::isComputed(Value value) {
  if (auto pad = value.getDefiningOp<tensor::PadOp>()) // read in place
    return isComputed(pad.getSource());
  if (Operation *op = value.getDefiningOp())
    return !isGiven(op);
  auto argument = cast<BlockArgument>(value);
  if (argument.getOwner() != &reader.getBody().front())
    return false;
  for (PieceAttr piece : reader.getRead(argument.getArgNumber()).getPieces())
    if (piece.getKind() == SourceKind::Buffer && writesOf(reader.getBuffers()[piece.getOperand()]))
      return true;
  return false;
}

bool Columns::hasShape(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || (shape && *shape != tensor.getShape()))
    return false;
  shape = tensor.getShape();
  return true;
}

/// Whether an element of the results needs of what is computed that element alone.
bool Columns::keepsElements(Operation &op) {
  if (OpTrait::hasElementwiseMappableTraits(&op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.hasIndexSemantics())
    return false;
  AffineMap result = structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
  for (OpOperand &init : structured.getDpsInitsMutable())
    if (structured.getMatchingIndexingMap(&init) != result)
      return false;
  if (!result.isProjectedPermutation())
    return false;
  return llvm::all_of(structured.getDpsInputOperands(), [&](OpOperand *input) {
    return !isComputed(input->get()) || structured.getMatchingIndexingMap(input) == result;
  });
}

bool Columns::stay() {
  for (BlockOp leaf : {producer, reader})
    for (Operation &op : leaf.getBody().front().without_terminator()) {
      if (isGiven(&op) || isa<tensor::PadOp>(op))
        continue;
      if (op.getNumResults() == 0 || !llvm::all_of(op.getResultTypes(), [&](Type type) { return hasShape(type); }) ||
          !keepsElements(op))
        return false;
    }
  return true;
}

/// A leaf of the graph's own body that runs once.
static bool isWholeLeaf(Operation *op) {
  auto block = dyn_cast_or_null<BlockOp>(op);
  return block && block.isLeaf() && block.getNumDims() == 0 && block.getCombine().empty() && !block.getSchedule();
}

/// Whether an item between the two uses what the first one writes.
static bool isNeededBetween(BlockOp first, Operation *last) {
  for (unsigned w = 0; w < first.getNumWrites(); ++w)
    for (Operation *user : first.getBuffers()[first.getWrite(w).getOperand()].getUsers()) {
      Operation *item = first->getBlock()->findAncestorOpInBlock(*user);
      if (item && item != first && item->isBeforeInBlock(last) && first->isBeforeInBlock(item))
        return true;
    }
  return false;
}

/// A producer of an operand with which the leaf can be one, or null.
static BlockOp findProducer(BlockOp leaf, int64_t maxOperations) {
  int64_t size = leaf.getBody().front().getOperations().size();
  for (Value buffer : leaf.getBuffers())
    for (Operation *user : buffer.getUsers()) {
      if (user == leaf || user->getBlock() != leaf->getBlock() || !user->isBeforeInBlock(leaf) || !isWholeLeaf(user))
        continue;
      auto producer = cast<BlockOp>(user);
      bool writes = llvm::any_of(llvm::seq(producer.getNumWrites()), [&](unsigned w) {
        return producer.getBuffers()[producer.getWrite(w).getOperand()] == buffer;
      });
      if (writes && size + int64_t(producer.getBody().front().getOperations().size()) <= maxOperations &&
          Columns(producer, leaf).stay() && canMergeLeaves(producer, leaf) && !isNeededBetween(producer, leaf))
        return producer;
    }
  return {};
}

SmallVector<BlockOp> etdg::joinByColumns(GraphOp graph, int64_t maxOperations) {
  SmallVector<BlockOp> all;
  if (graph.isExternal())
    return all;
  Operation *op = &graph.getBody().front().front();
  while (op) {
    Operation *next = op->getNextNode();
    if (isWholeLeaf(op)) {
      auto leaf = cast<BlockOp>(op);
      bool joined = false;
      while (BlockOp producer = findProducer(leaf, maxOperations)) {
        leaf = mergeLeaves(producer, leaf);
        joined = true;
      }
      if (joined)
        all.push_back(leaf);
    }
    op = next;
  }
  // (What was joined first may be a part of what was joined later.)
  SmallVector<BlockOp> left;
  for (BlockOp block : graph.getBody().getOps<BlockOp>())
    if (llvm::is_contained(all, block))
      left.push_back(block);
  return left;
}
