//===- CheckPhases.cpp - channels that end as they should ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slots are taken and given back within one block of operations, which is the same
// on each path. What roles do of a channel is compared as a skeleton: the loops
// and conditions around its operations.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILECHECKPHASES
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// Checks what one role does of one channel.
class ChannelCheck {
public:
  ChannelCheck(ChannelOp channel) : channel(channel) {}
  LogicalResult run(Block &block);
  /// One letter for each operation, with the loops and conditions around.
  StringRef getSkeleton() const { return skeleton; }

private:
  LogicalResult take(Operation &op);
  LogicalResult checkRelease(Operation &op);
  InFlightDiagnostic fail(Operation &op, const Twine &text) {
    InFlightDiagnostic error = op.emitError(text);
    error.attachNote(channel.getLoc()) << "of this channel";
    return error;
  }

  ChannelOp channel;
  std::string skeleton;
  Operation *open = nullptr; // what took the slot that is not given back yet
};
} // namespace

/// A product that reads the slot is awaited before the slot is released.
LogicalResult ChannelCheck::checkRelease(Operation &op) {
  for (Value tile : open->getResults())
    for (Operation *user : tile.getUsers()) {
      Operation *there = op.getBlock()->findAncestorOpInBlock(*user);
      if (!there || op.isBeforeInBlock(there))
        return fail(op, "a slot is released before its tile is read for the last time");
      auto start = dyn_cast<StartMmaOp>(user);
      if (!start)
        continue;
      // Of the products that have started since then at least so many are done.
      bool isAwaited = llvm::any_of(start->getBlock()->getOps<AwaitOp>(), [&](AwaitOp await) {
        auto later = llvm::count_if(start->getBlock()->getOps<StartMmaOp>(),
                                    [&](StartMmaOp other) { return start->isBeforeInBlock(other) && other->isBeforeInBlock(await); });
        return int64_t(await.getBehind()) <= later && start->isBeforeInBlock(await) && (there != user || await->isBeforeInBlock(&op));
      });
      if (!isAwaited)
        return fail(op, "a slot is released while a product that reads it may be in flight");
    }
  return success();
}

LogicalResult ChannelCheck::take(Operation &op) {
  const bool takes = isa<AcquireOp, ReceiveOp>(op);
  if (takes && open)
    return fail(op, "a slot is taken before the one before it is given back");
  if (!takes && (!open || isa<AcquireOp>(open) != isa<PublishOp>(op)))
    return fail(op, "a slot is given back that was not taken before");
  if (isa<ReleaseOp>(op) && failed(checkRelease(op)))
    return failure();
  Value position = op.getOperand(op.getNumOperands() - 1);
  if (position != channel && !takes && position != open->getOperand(open->getNumOperands() - 1))
    return fail(op, "a slot is given back under another number than it was taken");
  open = takes ? &op : nullptr;
  skeleton += takes ? "(" : ")";
  return success();
}

LogicalResult ChannelCheck::run(Block &block) {
  for (Operation &op : block) {
    if (op.getNumOperands() && op.getOperand(0) == channel && isa<AcquireOp, PublishOp, ReceiveOp, ReleaseOp>(op)) {
      if (failed(take(op)))
        return failure();
      continue;
    }
    if (llvm::none_of(channel->getUsers(), [&](Operation *user) { return !isa<AheadOp>(user) && op.isProperAncestor(user); }))
      continue;
    if (open)
      return fail(op, "a slot is taken and not given back before this");
    skeleton += isa<scf::ForOp>(op) ? "for" : isa<scf::IfOp>(op) ? "if" : "other";
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        skeleton += "{";
        if (failed(run(inner)))
          return failure();
        skeleton += "}";
      }
  }
  if (open)
    return fail(*open, "a slot is taken and not given back on each path");
  return success();
}

/// What a role does before it has waited for the launches that its kernel overlaps.
static LogicalResult checkBeforeWait(Operation *op, LLVM::LLVMFuncOp kernel) {
  if (auto fetch = dyn_cast<StartFetchOp>(op))
    return isNeverWritten(kernel, fetch.getMap()) ? success() : fetch.emitError("a launch may write what is fetched before this kernel has waited for the launches before");
  if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op))
    return op->emitError("memory is touched before this kernel has waited for the launches before");
  return success();
}

/// Roles wait by themselves, both of them, or the whole block does.
static LogicalResult checkWaits(RolesOp roles) {
  auto kernel = cast<LLVM::LLVMFuncOp>(roles->getParentOp());
  auto findWait = [](Region &role) {
    auto waits = llvm::make_filter_range(role.getOps<NVVM::GriddepcontrolOp>(), [](NVVM::GriddepcontrolOp control) { return control.getKind() == NVVM::GridDepActionKind::wait; });
    return waits.empty() ? NVVM::GriddepcontrolOp() : *waits.begin();
  };
  NVVM::GriddepcontrolOp load = findWait(roles.getLoad()), compute = findWait(roles.getCompute());
  if (bool(load) != bool(compute))
    return roles.emitError("both roles wait for the launches before: found one that does");
  for (NVVM::GriddepcontrolOp wait : {load, compute}) {
    if (!wait)
      continue;
    for (Operation &op : llvm::make_range(wait->getBlock()->begin(), wait->getIterator())) {
      WalkResult walked = op.walk([&](Operation *inner) { return WalkResult(checkBeforeWait(inner, kernel)); });
      if (walked.wasInterrupted())
        return failure();
    }
  }
  return success();
}

/// One letter for each join of a role, with the loops and conditions around.
static std::string skeletonOfJoins(Block &block) {
  std::string skeleton;
  for (Operation &op : block) {
    if (isa<JoinOp>(op))
      skeleton += "j";
    std::string inside;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        inside += "{" + skeletonOfJoins(inner) + "}";
    if (inside.find('j') != std::string::npos)
      skeleton += (isa<scf::ForOp>(op) ? "for" : isa<scf::IfOp>(op) ? "if" : "other") + inside;
  }
  return skeleton;
}

/// A join that one role alone comes to lets it wait for ever.
static LogicalResult checkJoins(RolesOp roles) {
  std::string load = skeletonOfJoins(roles.getLoad().front()), compute = skeletonOfJoins(roles.getCompute().front());
  if (load == compute)
    return success();
  return roles.emitError("both roles join in the same loops and conditions: found '") << load << "' and '" << compute << "'";
}

static LogicalResult checkPhases(RolesOp roles) {
  if (failed(checkWaits(roles)) || failed(checkJoins(roles)))
    return failure();
  for (Region *role : {&roles.getLoad(), &roles.getCompute()}) {
    WalkResult walked = role->walk([&](Operation *op) {
      return isa<BarrierOp, NVVM::Barrier0Op>(op) ? WalkResult(op->emitError("a barrier of the whole block stands in a role, whose threads alone come to it"))
                                                  : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  for (ChannelOp channel : roles->getBlock()->getOps<ChannelOp>()) {
    for (Operation *user : channel->getUsers()) {
      Region *expected = isa<AcquireOp, AheadOp, PublishOp>(user) ? &roles.getLoad() : &roles.getCompute();
      if (!expected->isAncestor(user->getParentRegion())) {
        InFlightDiagnostic error = user->emitError("the loading role writes a channel, and the computing one reads it");
        error.attachNote(channel.getLoc()) << "of this channel";
        return error;
      }
    }
    ChannelCheck load(channel), compute(channel);
    if (failed(load.run(roles.getLoad().front())) || failed(compute.run(roles.getCompute().front())))
      return failure();
    if (load.getSkeleton() != compute.getSkeleton())
      return channel.emitError("both roles take the slots of a channel in the same loops and conditions: found '")
             << load.getSkeleton() << "' and '" << compute.getSkeleton() << "'";
  }
  return success();
}

namespace {
struct TileCheckPhases : tile::impl::TileCheckPhasesBase<TileCheckPhases> {
  void runOnOperation() override {
    if (failed(eachRoles(getOperation(), checkPhases)))
      signalPassFailure();
  }
};
} // namespace
