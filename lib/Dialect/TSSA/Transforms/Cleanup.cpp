//===- Cleanup.cpp - what nothing needs goes ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of what was just written, reads and writes of parts of parts, carried values
// and results that are dead.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::tssa;

//===----------------------------------------------------------------------===//
// Accesses and assigns
//===----------------------------------------------------------------------===//

static Steps stepsOf(AccessOp op) { return getSteps(op.getSteps(), op.getNumbers()); }
static Steps stepsOf(AssignOp op) { return getSteps(op.getSteps(), op.getNumbers()); }

static bool countsInStorage(ArrayRef<Step> steps) {
  return llvm::any_of(steps, [](const Step &step) { return step.kind == StepKind::AsStrided; });
}

static bool isPrefix(ArrayRef<Step> prefix, ArrayRef<Step> steps) {
  return prefix.size() <= steps.size() && prefix == steps.take_front(prefix.size());
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static Value makeAccess(OpBuilder &b, Location loc, Type type, Value source, ArrayRef<Step> steps) {
  if (steps.empty() && source.getType() == type)
    return source;
  SmallVector<Value> numbers;
  ArrayAttr attrs = packSteps(b.getContext(), steps, numbers);
  return AccessOp::create(b, loc, type, source, attrs, numbers);
}

static Value makeAssign(OpBuilder &b, Location loc, Value value, Value dest, ArrayRef<Step> steps) {
  SmallVector<Value> numbers;
  ArrayAttr attrs = packSteps(b.getContext(), steps, numbers);
  return AssignOp::create(b, loc, dest.getType(), value, dest, attrs, numbers);
}

namespace {
/// A part of a part is a part; a read finds what was written, or reads past it where the
/// two are apart.
struct SimplifyAccess : OpRewritePattern<AccessOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AccessOp op, PatternRewriter &b) const override {
    Steps steps = stepsOf(op);
    if (auto inner = op.getSource().getDefiningOp<AccessOp>()) {
      if (countsInStorage(steps))
        return failure();
      Steps all = stepsOf(inner);
      llvm::append_range(all, steps);
      b.replaceOp(op, makeAccess(b, op.getLoc(), op.getType(), inner.getSource(), all));
      return success();
    }
    auto write = op.getSource().getDefiningOp<AssignOp>();
    if (!write)
      return failure();
    Steps written = stepsOf(write);
    Value found;
    if (isPrefix(written, steps) && (written.size() == steps.size() || !countsInStorage(steps)))
      found = makeAccess(b, op.getLoc(), op.getType(), write.getValue(),
                         ArrayRef(steps).drop_front(written.size()));
    else if (AliasKind kind = compareSteps(written, steps, shapeOf(write.getDest())); kind == AliasKind::No)
      found = makeAccess(b, op.getLoc(), op.getType(), write.getDest(), steps);
    else if (kind == AliasKind::Must && write.getValue().getType() == op.getType())
      found = write.getValue();
    if (!found || found.getType() != op.getType())
      return failure();
    b.replaceOp(op, found);
    return success();
  }
};

struct SimplifyAssign : OpRewritePattern<AssignOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AssignOp op, PatternRewriter &b) const override {
    Steps steps = stepsOf(op);
    // What is put back where it came from.
    if (auto read = op.getValue().getDefiningOp<AccessOp>();
        read && read.getSource() == op.getDest() && stepsOf(read) == steps) {
      b.replaceOp(op, op.getDest());
      return success();
    }
    // A part of a part that is put back.
    if (auto inner = op.getValue().getDefiningOp<AssignOp>()) {
      auto read = inner.getDest().getDefiningOp<AccessOp>();
      Steps rest = stepsOf(inner);
      if (read && read.getSource() == op.getDest() && stepsOf(read) == steps && !countsInStorage(rest)) {
        llvm::append_range(steps, rest);
        b.replaceOp(op, makeAssign(b, op.getLoc(), inner.getValue(), op.getDest(), steps));
        return success();
      }
    }
    // What is overwritten has not been written.
    if (auto before = op.getDest().getDefiningOp<AssignOp>()) {
      Steps old = stepsOf(before);
      if (isPrefix(steps, old) && (steps.size() == old.size() || !countsInStorage(old))) {
        b.modifyOpInPlace(op, [&] { op.getDestMutable().assign(before.getDest()); });
        return success();
      }
    }
    return failure();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

namespace {
/// Marks what results, effects and conditions need; a carried value that only feeds
/// itself is not.
class Liveness {
public:
  explicit Liveness(func::FuncOp function) {
    function.walk([&](Operation *op) {
      if (isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op->getParentOp()))
        return;
      if (auto condition = dyn_cast<scf::ConditionOp>(op))
        return markLive(condition.getCondition());
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
          markLive(bound);
        return;
      }
      if (auto branch = dyn_cast<scf::IfOp>(op))
        return markLive(branch.getCondition());
      // Operations in a region of another one are its computation.
      Operation *parent = op->getParentOp();
      bool structured = isa<func::FuncOp, scf::ForOp, scf::IfOp, scf::WhileOp>(parent);
      if (!structured || op->hasTrait<OpTrait::IsTerminator>() ||
          (!isa<scf::WhileOp>(op) && !isMemoryEffectFree(op)))
        for (Value operand : op->getOperands())
          markLive(operand);
    });
    while (!worklist.empty())
      visit(worklist.pop_back_val());
  }
  bool isLive(Value value) const { return live.contains(value); }

private:
  void markLive(Value value) {
    if (live.insert(value).second)
      worklist.push_back(value);
  }
  void visit(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      unsigned number = argument.getArgNumber();
      if (auto loop = dyn_cast<scf::ForOp>(parent); loop && number > 0) {
        markLive(loop.getInitArgs()[number - 1]);
        markLive(loop.getYieldedValues()[number - 1]);
      } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
        if (argument.getOwner() == loop.getBeforeBody()) {
          markLive(loop.getInits()[number]);
          markLive(loop.getYieldOp().getOperand(number));
        } else {
          markLive(loop.getConditionOp().getArgs()[number]);
        }
      }
      return;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      markLive(loop.getRegionIterArgs()[number]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      markLive(branch.thenYield().getOperand(number));
      markLive(branch.elseYield().getOperand(number));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      markLive(loop.getConditionOp().getArgs()[number]);
    } else {
      for (Value operand : op->getOperands())
        markLive(operand);
    }
  }

  llvm::DenseSet<Value> live;
  SmallVector<Value> worklist;
};
} // namespace

/// Positions of values that are dead.
static llvm::SmallBitVector deadOf(const Liveness &liveness, ValueRange values) {
  llvm::SmallBitVector dead(values.size());
  for (auto [i, value] : llvm::enumerate(values))
    if (!liveness.isLive(value))
      dead.set(i);
  return dead;
}

void mlir::tssa::pruneCarried(func::FuncOp function) {
  Liveness liveness(function);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      ops.push_back(op);
  });
  // What only dead values use goes with them: uses in dead computations first.
  auto isDead = [&](Operation *op) {
    return isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
           op->getNumResults() > 0 && !isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) &&
           llvm::none_of(op->getResults(), [&](Value v) { return liveness.isLive(v); });
  };
  // Terminators stop passing on what is dead, then nothing uses it.
  for (Operation *op : ops) {
    llvm::SmallBitVector dead = deadOf(liveness, op->getResults());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (unsigned i = 0; i < dead.size(); ++i)
        if (liveness.isLive(loop.getRegionIterArgs()[i]))
          dead.reset(i);
      for (unsigned i : dead.set_bits())
        loop.getBody()->getTerminator()->setOperand(i, loop.getInitArgs()[i]);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      llvm::SmallBitVector before = deadOf(liveness, loop.getBeforeArguments());
      for (unsigned i : before.set_bits())
        loop.getYieldOp()->setOperand(i, loop.getInits()[i]);
    }
  }
  SmallVector<Operation *> gone;
  function.walk([&](Operation *op) {
    if (isa_and_nonnull<func::FuncOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op->getParentOp()) && isDead(op))
      gone.push_back(op);
  });
  for (Operation *op : llvm::reverse(gone)) {
    op->dropAllUses();
    op->erase();
  }
  for (Operation *op : ops) {
    llvm::SmallBitVector dead = deadOf(liveness, op->getResults());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (unsigned i = 0; i < dead.size(); ++i)
        if (liveness.isLive(loop.getRegionIterArgs()[i]))
          dead.reset(i);
      for (unsigned i : dead.set_bits())
        loop.getRegionIterArgs()[i].dropAllUses();
      if (dead.any())
        dropCarried(loop, dead);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (dead.any())
        dropResults(branch, dead);
    } else {
      auto loop_ = cast<scf::WhileOp>(op);
      llvm::SmallBitVector before = deadOf(liveness, loop_.getBeforeArguments());
      llvm::SmallBitVector after = dead;
      for (unsigned i = 0; i < after.size(); ++i)
        if (liveness.isLive(loop_.getAfterArguments()[i]))
          after.reset(i);
      if (before.any() || after.any())
        dropCarried(loop_, before, after);
    }
  }
}

LogicalResult mlir::tssa::simplifyFunction(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  patterns.add<SimplifyAccess, SimplifyAssign>(context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (unsigned round = 0; round < 3; ++round) {
    if (failed(applyPatternsGreedily(function, frozen)))
      return failure();
    pruneCarried(function);
  }
  return success();
}
