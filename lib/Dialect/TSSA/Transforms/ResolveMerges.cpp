//===- ResolveMerges.cpp - control flow without mutable tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After this step every mutable tensor is storage, or a view of one storage by one
// chain of steps.
//
//===----------------------------------------------------------------------===//
#include "Merges.h"

using namespace mlir;
using namespace mlir::tssa;

/// A select between mutable tensors is a branch.
static void branchSelects(func::FuncOp function) {
  SmallVector<arith::SelectOp> selects;
  function.walk([&](arith::SelectOp op) {
    if (isMutable(op.getType()))
      selects.push_back(op);
  });
  for (arith::SelectOp op : selects) {
    OpBuilder b(op);
    auto branch = scf::IfOp::create(
        b, op.getLoc(), op.getCondition(),
        [&](OpBuilder &nested, Location at) { scf::YieldOp::create(nested, at, op.getTrueValue()); },
        [&](OpBuilder &nested, Location at) { scf::YieldOp::create(nested, at, op.getFalseValue()); });
    op.getResult().replaceAllUsesWith(branch.getResult(0));
    op.erase();
  }
}

/// Drops the mutable merges of `op` that nothing uses any more.
static void dropResolved(Operation *op) {
  auto mutableOnes = [](ValueRange values) {
    llvm::SmallBitVector dropped(values.size());
    for (auto [i, value] : llvm::enumerate(values))
      if (isMutable(value) && value.use_empty())
        dropped.set(i);
    return dropped;
  };
  auto cut = [](Operation *user, unsigned number) { user->getOpOperand(number).set(nullptr); };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // An argument that is only yielded as itself is used by nothing.
    Operation *yield = loop.getBody()->getTerminator();
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (isMutable(loop.getResult(i)) && loop.getResult(i).use_empty() &&
          llvm::all_of(loop.getRegionIterArgs()[i].getUses(), [&](OpOperand &use) {
            return use.getOwner() == yield && isMutable(use.get());
          }))
        cut(yield, i);
    llvm::SmallBitVector dropped = mutableOnes(loop.getRegionIterArgs());
    dropped &= mutableOnes(loop.getResults());
    if (dropped.any())
      dropCarried(loop, dropped);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    llvm::SmallBitVector dropped = mutableOnes(branch.getResults());
    if (dropped.any())
      dropResults(branch, dropped);
  }
}

/// A merge whose names nothing uses but itself.
static bool isDone(const Merge &merge) {
  return llvm::all_of(merge.names, [&](Value name) {
    return llvm::all_of(name.getUses(), [&](OpOperand &use) { return llvm::is_contained(merge.incoming, &use); });
  });
}

LogicalResult mlir::tssa::resolveMerges(func::FuncOp function) {
  branchSelects(function);
  ChoiceMap choices;
  auto isOpen = [&](const Merge &merge) { return !choices.contains(merge.names.front()); };
  while (true) {
    std::optional<Merge> next;
    bool changed = false;
    SmallVector<Operation *> around;
    function.walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
        around.push_back(op);
    });
    for (Operation *op : around)
      for (const Merge &merge : mergesOf(op))
        changed |= isOpen(merge) && !isDone(merge) && resolveTrivial(merge);
    if (choices.empty())
      for (Operation *op : around)
        dropResolved(op);
    around.clear();
    function.walk([&](Operation *op) {
      if (llvm::any_of(mergesOf(op), isOpen))
        around.push_back(op);
    });
    if (around.empty()) {
      rewriteChoices(function, choices);
      return success();
    }
    AliasGraph graph(function);
    for (Operation *op : around) {
      for (const Merge &merge : mergesOf(op))
        if (!next && isOpen(merge) && canCopy(merge, graph))
          next = merge;
    }
    if (next) {
      // Choices inside may be of the names.
      for (auto [name, storage] : copyMerge(*next))
        for (auto &entry : choices)
          for (Choice::Alternative &alternative : entry.second.alternatives)
            if (alternative.base == name)
              alternative.base = storage;
      continue;
    }
    if (changed)
      continue;
    // Inner operations first: choices outside are made of theirs.
    if (failed(chooseMerges(around.front(), choices)))
      return failure();
  }
}
