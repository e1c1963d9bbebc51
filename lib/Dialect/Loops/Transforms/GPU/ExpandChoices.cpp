//===- ExpandChoices.cpp - branches that choose memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What chooses memory is an scf.if, which yields a memory and its indices. Upstream's canonicalization makes an arith.select
// of each of them, which none of our analyses has to know, since here it becomes a branch again.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Dialect/Loops/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::ft {
#define GEN_PASS_DEF_LOOPSEXPANDCHOICES
#include "ft/Dialect/Loops/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

static void expand(arith::SelectOp select) {
  OpBuilder b(select);
  Location loc = select.getLoc();
  auto branch = scf::IfOp::create(b, loc, select.getType(), select.getCondition(), /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, select.getTrueValue());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, select.getFalseValue());
  select.replaceAllUsesWith(branch.getResult(0));
  select.erase();
}

/// Those of memory, and of indices by the same condition, which are where in that memory something lies.
static void expandChoices(func::FuncOp kernel) {
  llvm::SetVector<Value> conditions;
  kernel.walk([&](Operation *op) {
    // (What has operations in it stays a branch, with some of its results.)
    if (isa<arith::SelectOp, scf::IfOp>(op) && llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>))
      conditions.insert(op->getOperand(0));
  });
  SmallVector<arith::SelectOp> selects;
  kernel.walk([&](arith::SelectOp select) {
    if (isa<MemRefType, IndexType>(select.getType()) && conditions.contains(select.getCondition()))
      selects.push_back(select);
  });
  llvm::for_each(selects, expand);
}

namespace {
struct LoopsExpandChoices : mlir::ft::impl::LoopsExpandChoicesBase<LoopsExpandChoices> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (loops::gridOf(kernel))
        expandChoices(kernel);
  }
};
} // namespace
