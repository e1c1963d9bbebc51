//===- PlaceSlots.cpp - how many slots a role has taken --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEPLACESLOTS
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// Counts slots of one channel through the operations of a role; or joins, without a channel.
class SlotCounter {
public:
  SlotCounter(Value channel, IRRewriter &rewriter) : channel(channel), rewriter(rewriter) {}
  /// Gives operations of a block their positions; the number after it of what was `count` before.
  Value walk(Block &block, Value count);

private:
  bool isCounted(Operation *op) const {
    if (!channel)
      return isa<JoinOp>(op);
    return op->getNumOperands() && op->getOperand(0) == channel && isa<AcquireOp, PublishOp, ReceiveOp, ReleaseOp>(op);
  }
  bool isUsedIn(Operation *op) const {
    return op->walk([&](Operation *inner) { return inner != op && isCounted(inner) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
  }
  Value walkLoop(scf::ForOp loop, Value count);
  Value walkBranch(scf::IfOp branch, Value count);

  Value channel;
  IRRewriter &rewriter;
};
} // namespace

Value SlotCounter::walkLoop(scf::ForOp loop, Value count) {
  rewriter.setInsertionPoint(loop);
  auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) { return SmallVector<Value>(arguments.begin(), arguments.end()); };
  FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(rewriter, count, /*replaceInitOperandUsesInLoop=*/false, keep);
  auto counted = cast<scf::ForOp>(replaced->getOperation());
  Value next = walk(*counted.getBody(), counted.getRegionIterArgs().back());
  auto yield = cast<scf::YieldOp>(counted.getBody()->getTerminator());
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(yield.getNumOperands() - 1, next); });
  return counted.getResults().back();
}

Value SlotCounter::walkBranch(scf::IfOp branch, Value count) {
  rewriter.setInsertionPoint(branch);
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(count.getType());
  auto counted = scf::IfOp::create(rewriter, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), counted->getRegions())) {
    if (!from.empty()) {
      to.takeBody(from);
    } else {
      rewriter.setInsertionPointToEnd(&to.front());
      if (to.front().empty())
        scf::YieldOp::create(rewriter, branch.getLoc());
    }
    Value next = walk(to.front(), count);
    auto yield = cast<scf::YieldOp>(to.front().getTerminator());
    yield->insertOperands(yield->getNumOperands(), next);
  }
  rewriter.replaceOp(branch, counted.getResults().drop_back());
  return counted.getResults().back();
}

Value SlotCounter::walk(Block &block, Value count) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && isUsedIn(loop)) {
      count = walkLoop(loop, count);
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && isUsedIn(branch)) {
      count = walkBranch(branch, count);
    } else if (isCounted(&op)) {
      op.insertOperands(op.getNumOperands(), count);
      if (!isa<PublishOp, ReleaseOp, JoinOp>(op))
        continue;
      rewriter.setInsertionPointAfter(&op);
      Value one = arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 32);
      count = arith::AddIOp::create(rewriter, op.getLoc(), count, one);
    }
  }
  return count;
}

static LogicalResult placeSlots(RolesOp roles) {
  IRRewriter rewriter(roles.getContext());
  SmallVector<ChannelOp> channels;
  for (ChannelOp channel : roles->getBlock()->getOps<ChannelOp>())
    channels.push_back(channel);
  auto count = [&](Value channel) {
    for (Region *role : {&roles.getLoad(), &roles.getCompute()}) {
      rewriter.setInsertionPointToStart(&role->front());
      Value none = arith::ConstantIntOp::create(rewriter, roles.getLoc(), 0, 32);
      SlotCounter(channel, rewriter).walk(role->front(), none);
    }
  };
  for (ChannelOp channel : channels)
    count(channel);
  if (hasJoins(roles))
    count(Value());
  return success();
}

namespace {
struct TilePlaceSlots : tile::impl::TilePlaceSlotsBase<TilePlaceSlots> {
  void runOnOperation() override {
    if (failed(eachRoles(getOperation(), placeSlots)))
      signalPassFailure();
  }
};
} // namespace
