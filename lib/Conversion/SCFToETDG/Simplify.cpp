//===- Simplify.cpp - conditions that are data become selects -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A domain can't depend on data. Where both branches are pure and cheap, both are
// computed and a select chooses; an update in one branch alone becomes an update
// by the new value or the old one.
//
//===----------------------------------------------------------------------===//
#include "Raiser.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

/// More operations in a branch are not worth computing in vain.
static constexpr unsigned maxOps = 32;

/// Whether a scalar is computed from the contents of tensors or from a loop's state.
static bool isData(Value value, unsigned depth = 0) {
  if (depth > 64)
    return true;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return arg != loop.getInductionVar();
    return !isa<scf::ForallOp>(parent);
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::DimOp>(op))
    return false;
  if (isa<SubsetAccessOpInterface, arith::CmpFOp, scf::ForOp, scf::ForallOp>(op) ||
      isa<FloatType>(value.getType()))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value v) { return isData(v, depth + 1); });
}

/// Pure, without loops or products: cheap enough to be computed in vain.
static bool isCheap(Region &region) {
  unsigned count = 0;
  for (Operation &op : region.front().without_terminator()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      if (structured.getNumReductionLoops() > 0)
        return false;
    } else if (op.getNumRegions() > 0 || !isMemoryEffectFree(&op) ||
               (isa_and_nonnull<arith::ArithDialect>(op.getDialect()) && !isSpeculatable(&op))) {
      return false;
    }
    if (++count > maxOps)
      return false;
  }
  return true;
}

/// The operation by which `value` is an update of a part of another tensor, if it is one.
static SubsetAccessOpInterface getUpdateOf(Value value) {
  auto access = value.getDefiningOp<SubsetAccessOpInterface>();
  return access && access.isWrite() ? access : SubsetAccessOpInterface();
}

/// The same update of the same base by another value.
static Value updateBy(OpBuilder &b, SubsetAccessOpInterface update, Value by) {
  Operation *clone = b.clone(*update);
  cast<SubsetAccessOpInterface>(clone).getUpdateOperand()->set(by);
  return clone->getResult(0);
}

/// The value of `condition ? yes : no`; an update stays an update.
static Value select(OpBuilder &b, Location loc, Value condition, Value yes, Value no) {
  if (yes == no)
    return yes;
  SubsetAccessOpInterface whereYes = getUpdateOf(yes), whereNo = getUpdateOf(no);
  // In one branch alone: the other keeps what was there.
  if (whereYes && whereYes.getBase() == no) {
    Value old = whereYes.createReadOfSubset(b);
    return updateBy(b, whereYes, arith::SelectOp::create(b, loc, condition, whereYes.getUpdate(), old));
  }
  if (whereNo && whereNo.getBase() == yes) {
    Value old = whereNo.createReadOfSubset(b);
    return updateBy(b, whereNo, arith::SelectOp::create(b, loc, condition, old, whereNo.getUpdate()));
  }
  if (whereYes && whereNo && whereYes.getBase() == whereNo.getBase() && whereYes.isSameSubset(whereNo) &&
      whereYes.getUpdate().getType() == whereNo.getUpdate().getType())
    return updateBy(b, whereYes,
                    arith::SelectOp::create(b, loc, condition, whereYes.getUpdate(), whereNo.getUpdate()));
  auto type = dyn_cast<RankedTensorType>(yes.getType());
  if (type && !type.hasStaticShape())
    return Value();
  return arith::SelectOp::create(b, loc, condition, yes, no);
}

/// What a loop or a condition only passes on is the value itself: no state, no update.
static void forwardInvariants(func::FuncOp function) {
  function.walk<WalkOrder::PostOrder>([](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [arg, init, yielded, result] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(),
                           loop.getResults()))
        if (yielded == arg || yielded == init) {
          arg.replaceAllUsesWith(init);
          result.replaceAllUsesWith(init);
        }
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() > 0) {
      for (OpResult result : branch.getResults()) {
        Value yes = branch.thenYield().getOperand(result.getResultNumber());
        if (yes == branch.elseYield().getOperand(result.getResultNumber()))
          result.replaceAllUsesWith(yes);
      }
    }
  });
}

LogicalResult Raiser::selectData() {
  replaceInductions(function);
  forwardInvariants(function);
  SmallVector<scf::IfOp> branches;
  function.walk([&](scf::IfOp op) {
    if (isData(op.getCondition()))
      branches.push_back(op);
  });
  for (scf::IfOp branch : branches) {
    bool cheap = isCheap(branch.getThenRegion()) &&
                 (branch.getElseRegion().empty() || isCheap(branch.getElseRegion()));
    if (!cheap)
      return refuse(branch, "the condition is data, which no iteration domain can depend on, and "
                            "the branches are not "
                            "cheap: they hold loops, reductions or more than " +
                                Twine(maxOps) + " operations");
    OpBuilder b(branch);
    SmallVector<Value> yes, no;
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      if (region->empty())
        continue;
      auto yield = cast<scf::YieldOp>(region->front().getTerminator());
      (region == &branch.getThenRegion() ? yes : no)
          .assign(yield.operand_begin(), yield.operand_end());
      for (Operation &op : llvm::make_early_inc_range(region->front().without_terminator()))
        op.moveBefore(branch);
    }
    for (auto [result, a, c] : llvm::zip(branch.getResults(), yes, no)) {
      Value chosen = select(b, branch.getLoc(), branch.getCondition(), a, c);
      if (!chosen)
        return refuse(branch, "the condition is data, and result " +
                                  Twine(result.getResultNumber()) +
                                  " is a whole array of dynamic size in each branch");
      result.replaceAllUsesWith(chosen);
    }
    branch.erase();
  }
  // What a select made superfluous: an update that nobody reads.
  SmallVector<Operation *> dead;
  function.walk([&](SubsetAccessOpInterface op) {
    if (op.isWrite() && op->getNumResults() == 1 && op->use_empty())
      dead.push_back(op);
  });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  return success();
}
