//===- Versions.cpp - updates cross control flow, then go -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block propagation and renaming (DAC'24 §4.1.2). Algorithm 1 adds a result for each
// update; here each operation carries a storage once, however often it is updated
// inside, and the version of each use is found in the order of execution.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"

using namespace mlir;
using namespace mlir::tssa;

//===----------------------------------------------------------------------===//
// Block propagation
//===----------------------------------------------------------------------===//

/// An update of each of `storages` by the value beside it, at `b`.
static void insertUpdates(OpBuilder &b, Location loc, ValueRange versions, ValueRange storages) {
  for (auto [version, storage] : llvm::zip_equal(versions, storages))
    UpdateOp::create(b, loc, version, storage);
}

static void updateAfter(Operation *op, ValueRange storages) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  insertUpdates(b, op->getLoc(), op->getResults().take_back(storages.size()), storages);
}

/// Makes `op` carry what it updates inside.
static void propagateThrough(Operation *op, ArrayRef<Value> storages) {
  unsigned count = storages.size();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    // The name itself: renaming finds the version at the end of each branch.
    updateAfter(addResults(branch, storages, storages), storages);
    return;
  }
  auto updateArguments = [&](Block &block, Operation *terminator) {
    OpBuilder b = OpBuilder::atBlockBegin(&block);
    insertUpdates(b, op->getLoc(), block.getArguments().take_back(count), storages);
    for (unsigned i = 0; i < count; ++i)
      terminator->setOperand(terminator->getNumOperands() - count + i, storages[i]);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    scf::ForOp made = addCarried(loop, storages);
    op = made;
    updateArguments(*made.getBody(), made.getBody()->getTerminator());
    updateAfter(made, storages);
    return;
  }
  scf::WhileOp made = addCarried(cast<scf::WhileOp>(op), storages);
  op = made;
  updateArguments(*made.getBeforeBody(), made.getConditionOp());
  updateArguments(*made.getAfterBody(), made.getYieldOp());
  updateAfter(made, storages);
}

LogicalResult mlir::tssa::propagateUpdates(func::FuncOp function) {
  // Inner operations first: what they carry is an update of those around them.
  SmallVector<Operation *> around;
  function.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (op != function && op->getNumRegions() > 0)
      around.push_back(op);
  });
  for (Operation *op : around) {
    llvm::SmallSetVector<Value, 4> storages;
    for (Region &region : op->getRegions())
      region.walk([&](UpdateOp update) {
        if (update.getOf().getParentRegion()->isProperAncestor(&region) ||
            update.getOf().getParentRegion()->isProperAncestor(update->getParentRegion()))
          if (!op->isAncestor(update.getOf().getParentBlock()->getParentOp()))
            storages.insert(update.getOf());
      });
    if (storages.empty())
      continue;
    if (!isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op)) {
      InFlightDiagnostic diag = op->emitError() << "a mutable tensor that lives outside is written in '" << op->getName()
                                                << "', which can't carry it; supported are scf.if, scf.for and scf.while";
      diag.attachNote(storages.front().getLoc()) << "the alias is made here";
      return diag;
    }
    propagateThrough(op, storages.getArrayRef());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

using VersionMap = llvm::DenseMap<Value, Value>;

static void renameBlock(Block &block, VersionMap versions) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto update = dyn_cast<UpdateOp>(op);
    for (OpOperand &operand : op.getOpOperands()) {
      if (update && operand.getOperandNumber() == 1)
        continue; // the name, not what it holds
      auto it = versions.find(operand.get());
      if (it != versions.end())
        operand.set(it->second);
    }
    if (update) {
      versions[update.getOf()] = update.getVersion();
      continue;
    }
    // What regions update, updates after the operation say.
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        renameBlock(inner, versions);
  }
}

void mlir::tssa::renameVersions(func::FuncOp function) {
  for (Block &block : function.getBody())
    renameBlock(block, VersionMap());
  function.walk([](UpdateOp update) { update.erase(); });
}
