//===- Simplify.cpp - conditions that are data become selects -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A domain can't depend on data. Where both branches are pure and cheap, both are
// computed and a select chooses; an update in one branch alone becomes an update
// by the new value or the old one.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"

#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

/// More operations on tensors in a branch are not worth computing in vain. Those on numbers cost little.
static constexpr unsigned maxOps = 32;

/// Sums of a branch over so many elements in all take a core about as long as a host needs to look at a flag and to launch
/// what it chose: up to here both branches in one kernel are the faster form.
static constexpr int64_t maxSummed = 1 << 20;

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

static bool isRead(Operation *op) {
  auto access = dyn_cast<SubsetAccessOpInterface>(op);
  return access && !access.isWrite();
}

/// Pure, and of a form that can be computed in vain: `guardReads` sees to places that are data.
static bool isPure(Operation &op, bool loops) {
  if (isa<linalg::LinalgOp>(op))
    return true;
  if (loops && isa<scf::ForOp, scf::IfOp>(op))
    return llvm::all_of(op.getRegions(), [](Region &region) {
      return region.empty() || llvm::all_of(region.front(), [](Operation &inner) {
               return inner.hasTrait<OpTrait::IsTerminator>() || isPure(inner, true);
             });
    });
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op);
}

/// Over how many elements a sum goes, for all of its results; none: it is no sum, or its sizes are open.
static int64_t countSummed(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumReductionLoops() == 0)
    return 0;
  int64_t points = 1;
  for (int64_t size : structured.getStaticLoopRanges())
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(points, size, points))
      return maxSummed + 1;
  return points;
}

static bool isOnTensors(Operation &op) {
  return !isa<tensor::EmptyOp>(op) && !op.hasTrait<OpTrait::ConstantLike>() &&
         llvm::any_of(op.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

/// Whether a branch may be computed in vain. `cheap`: without loops, large sums and much else.
static bool isComputable(Region &region, bool cheap) {
  unsigned count = 0;
  int64_t summed = 0;
  for (Operation &op : region.front().without_terminator()) {
    if (!isPure(op, !cheap))
      return false;
    count += isOnTensors(op);
    if (cheap && (count > maxOps || (summed += std::min(countSummed(op), maxSummed + 1)) > maxSummed))
      return false;
  }
  return true;
}

/// `if going { the whole body }`: a loop that has ended runs on without doing anything.
static bool isSkip(scf::IfOp branch) {
  auto isIdle = [](Region &region) {
    return region.empty() || llvm::all_of(region.front().without_terminator(),
                                          [](Operation &op) { return op.hasTrait<OpTrait::ConstantLike>(); });
  };
  return isIdle(branch.getThenRegion()) || isIdle(branch.getElseRegion());
}

/// Reads at data go wrong where the branch is not taken: there they read at 0.
static void guardReads(Region &region, Value condition, bool isYes) {
  region.walk([&](Operation *op) {
    if (!isRead(op))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      Value yes = operand.get();
      if (!yes.getType().isIndex() || !isData(yes))
        continue;
      OpBuilder b(op);
      Value other = arith::ConstantIndexOp::create(b, op->getLoc(), 0);
      if (!isYes)
        std::swap(yes, other);
      operand.set(arith::SelectOp::create(b, op->getLoc(), condition, yes, other));
    }
  });
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

/// Whether `value` is `root` with parts overwritten; collects the operations that do so.
static bool isUpdateOf(Value value, Value root, llvm::SetVector<Operation *> &updates, unsigned depth = 0) {
  if (value == root)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result || depth > 64)
    return false;
  Operation *op = result.getOwner();
  auto isUpdate = [&](Value v, Value of) { return isUpdateOf(v, of, updates, depth + 1); };
  if (SubsetAccessOpInterface update = getUpdateOf(value)) {
    updates.insert(op);
    return isUpdate(update.getBase(), root);
  }
  unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isUpdate(loop.getYieldedValues()[number], loop.getRegionIterArg(number)) && isUpdate(loop.getInitArgs()[number], root);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isUpdate(branch.thenYield().getOperand(number), root) && isUpdate(branch.elseYield().getOperand(number), root);
  return false;
}

/// Writes the new value where the branch is taken, else what is there.
static void guardUpdate(SubsetAccessOpInterface update, Value condition, bool isYes) {
  OpBuilder b(update);
  Value made = update.getUpdate(), old = update.createReadOfSubset(b);
  if (!isYes)
    std::swap(made, old);
  update.getUpdateOperand()->set(arith::SelectOp::create(b, update.getLoc(), condition, made, old));
}

/// The value of `condition ? yes : no`; an update stays an update. Null where a whole array of open size would be copied.
static Value select(OpBuilder &b, Location loc, Value condition, Value yes, Value no) {
  if (yes == no)
    return yes;
  SubsetAccessOpInterface whereYes = getUpdateOf(yes), whereNo = getUpdateOf(no);
  if (whereYes && whereNo && whereYes.getBase() == whereNo.getBase() && whereYes.isSameSubset(whereNo) &&
      whereYes.getUpdate().getType() == whereNo.getUpdate().getType())
    return updateBy(b, whereYes,
                    arith::SelectOp::create(b, loc, condition, whereYes.getUpdate(), whereNo.getUpdate()));
  llvm::SetVector<Operation *> updates;
  if (isa<RankedTensorType>(yes.getType()) && isUpdateOf(yes, no, updates)) {
    for (Operation *update : updates)
      guardUpdate(cast<SubsetAccessOpInterface>(update), condition, true);
    return yes;
  }
  updates.clear();
  if (isa<RankedTensorType>(yes.getType()) && isUpdateOf(no, yes, updates)) {
    for (Operation *update : updates)
      guardUpdate(cast<SubsetAccessOpInterface>(update), condition, false);
    return no;
  }
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

LogicalResult mlir::ft::raising::selectData(func::FuncOp function, Refusal &refusal) {
  replaceInductions(function);
  forwardInvariants(function);
  SmallVector<scf::IfOp> branches;
  function.walk([&](scf::IfOp op) {
    if (isData(op.getCondition()))
      branches.push_back(op);
  });
  for (scf::IfOp branch : branches) {
    bool elseEmpty = branch.getElseRegion().empty();
    auto areComputable = [&](bool cheap) {
      return isComputable(branch.getThenRegion(), cheap) && (elseEmpty || isComputable(branch.getElseRegion(), cheap));
    };
    // In a loop, the other way is to come back to the host in each iteration.
    bool skips = branch->getParentOfType<scf::ForOp>() && isSkip(branch);
    if (!areComputable(/*cheap=*/!skips))
      return refusal.refuse(branch.getLoc(), "the condition is data, which no iteration domain can depend on, and "
                            "the branches are not "
                            "cheap: loops, sums over more than " +
                                Twine(maxSummed) + " elements or more than " + Twine(maxOps) + " tensor operations");
    guardReads(branch.getThenRegion(), branch.getCondition(), true);
    guardReads(branch.getElseRegion(), branch.getCondition(), false);
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
        return refusal.refuse(branch.getLoc(), "the condition is data, and result " +
                                  Twine(result.getResultNumber()) +
                                  " is a whole array of dynamic size in each branch");
      result.replaceAllUsesWith(chosen);
    }
    branch.erase();
  }
  // What a select made superfluous: an update that nothing reads.
  SmallVector<Operation *> dead;
  function.walk([&](SubsetAccessOpInterface op) {
    if (op.isWrite() && op->getNumResults() == 1 && op->use_empty())
      dead.push_back(op);
  });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  return success();
}
