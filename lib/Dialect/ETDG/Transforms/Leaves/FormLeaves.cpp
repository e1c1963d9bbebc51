//===- FormLeaves.cpp - statements back into big leaves -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse of LowerOperations.cpp, for engines: they fuse inside a leaf.
//
//===----------------------------------------------------------------------===//
#include "FormLeaves.h"
#include "ft/Dialect/ETDG/Transforms/ElementForm.h"
#include "JoinColumns.h"

#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGFORMLEAVES
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

/// The operation of `region` that holds `op`, or null.
static Operation *getItemIn(Block *body, Operation *op) { return body->findAncestorOpInBlock(*op); }

/// Whether an item strictly between the two reads (`reads`) or writes what `leaf` writes or reads.
static bool isTouchedBetween(BlockOp leaf, Operation *first, Operation *last) {
  for (Value buffer : leaf.getBuffers())
    for (Operation *user : buffer.getUsers()) {
      Operation *item = getItemIn(first->getBlock(), user);
      if (item && item != first && item != last && first->isBeforeInBlock(item) &&
          item->isBeforeInBlock(last))
        return true;
    }
  return false;
}

static bool isStatement(Operation &op) {
  auto block = dyn_cast<BlockOp>(op);
  return block && block.isLeaf() && block.getNumOwnDims() == 0;
}

unsigned etdg::joinStatements(Block &body, int64_t maxOperations) {
  unsigned joined = 0;
  BlockOp open;
  unsigned between = 0;
  int64_t size = 0;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isStatement(op)) {
      between += isa<BlockOp, NestOp>(op);
      continue;
    }
    auto leaf = cast<BlockOp>(op);
    int64_t own = leaf.getBody().front().getOperations().size();
    if (open && size + own <= maxOperations && canMergeLeaves(open, leaf)) {
      // The first one moves down to the second, or the second one up; what stands
      // between is after the joined leaf then.
      bool down = !between || !isTouchedBetween(open, open, leaf);
      bool up = !down && !isTouchedBetween(leaf, open, leaf);
      if (up)
        leaf->moveAfter(open);
      if (down || up) {
        open = mergeLeaves(open, leaf);
        size += own;
        between = up ? between : 0;
        ++joined;
        continue;
      }
    }
    open = leaf;
    size = own;
    between = 0;
  }
  return joined;
}

void etdg::shareConstants(BlockOp leaf) {
  llvm::SmallDenseMap<std::pair<Attribute, Type>, Value> constants;
  llvm::SmallDenseMap<Type, Value> empties;
  for (Operation &op : llvm::make_early_inc_range(leaf.getBody().front())) {
    Attribute value;
    Value *first = nullptr;
    if (matchPattern(&op, m_Constant(&value)))
      first =
          &constants.insert({{value, op.getResult(0).getType()}, op.getResult(0)}).first->second;
    else if (isa<tensor::EmptyOp>(op) && op.getNumOperands() == 0)
      first = &empties.insert({op.getResult(0).getType(), op.getResult(0)}).first->second;
    if (!first || *first == op.getResult(0))
      continue;
    op.getResult(0).replaceAllUsesWith(*first);
    op.erase();
  }
}

SmallVector<BlockOp> etdg::graphBlocksOf(GraphOp graph) {
  SmallVector<BlockOp> blocks;
  graph.walk([&](BlockOp block) {
    if (!block.isLeaf())
      blocks.push_back(block);
  });
  return blocks;
}

namespace {
struct ETDGFormLeaves : etdg::impl::ETDGFormLeavesBase<ETDGFormLeaves> {
  using ETDGFormLeavesBase::ETDGFormLeavesBase;
  void runOnOperation() override {
    if (namesReads(getOperation(), getArgument()))
      return markAllAnalysesPreserved();
    for (BlockOp block : graphBlocksOf(getOperation())) {
      std::string name = block.getBlockName().value_or("").str();
      Location loc = block.getLoc();
      unsigned joined = joinStatements(block.getBody().front(), maxOperations);
      block->walk([&](BlockOp leaf) {
        if (joined && leaf.isLeaf() && leaf->getParentOp() == block)
          shareConstants(leaf);
      });
      flattenBlock(block);
      if (joined)
        remark::passed(loc, remark::RemarkOpts::name("form-leaf").category("coarsen"))
            << remark::reason("statements at the same points are one leaf")
            << remark::metric("block", name) << remark::metric("joined", joined);
    }
    for (BlockOp leaf : joinByColumns(getOperation(), maxOperations)) {
      shareConstants(leaf);
      remark::passed(leaf.getLoc(), remark::RemarkOpts::name("form-leaf").category("coarsen"))
          << remark::reason("statements on whole tensors have the same columns, and are one leaf")
          << remark::metric("block", leaf.getBlockName().value_or("").str());
    }
    getOperation()->walk([](BlockOp block) {
      if (block.isLeaf())
        splitDividedReads(block);
    });
  }
};
} // namespace
