//===- FetchEarly.cpp - fetches before the launches before have ended ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that overlaps the launches before it waits for them before it reads what
// they may write. Weights and a call's other inputs are written by no launch: their
// tiles of a channel's first slots are on their way before the wait. Nothing has
// used these slots, and a slot's barrier counts bytes in any order: the slot is full
// once it is published and all of its tiles are there.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEFETCHEARLY
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// The first elements that one operation of the loading role acquires: those of the first iteration of all loops around, but for the innermost one.
class FirstElements {
public:
  explicit FirstElements(AcquireOp acquire) : acquire(acquire), channel(acquire.getChannel().getDefiningOp<ChannelOp>()) {}
  /// Whether they are the channel's first ones, and some of their tiles can be fetched early.
  bool find(LLVM::LLVMFuncOp kernel, RolesOp roles);
  /// Fetches these tiles here, and those of later elements where they were fetched; `here` is in the loading role.
  void fetch(OpBuilder &here);

private:
  bool need(Value value);
  bool needPath(Region &role);
  Value cloneBlock(Block &from, OpBuilder &b, Value count);
  Value cloneOnPath(Operation *op, OpBuilder &b, Value count);
  Value cloneOnce(scf::ForOp loop, OpBuilder &b, Value count);
  Value cloneInnermost(scf::ForOp loop, OpBuilder &b, Value count);
  Value startFetches(OpBuilder &b, Value count);

  AcquireOp acquire;
  ChannelOp channel;
  SmallVector<StartFetchOp> fetches;
  scf::ForOp innermost;                // around the acquire; null: none
  llvm::DenseSet<Operation *> path;    // the acquire, and what is around it
  llvm::DenseSet<Operation *> needed;  // by the path and the fetches
  llvm::DenseSet<Value> known;         // that have been asked for
  SmallVector<unsigned> carried;       // of the innermost loop's values
  IRMapping mapping;
};
} // namespace

//===----------------------------------------------------------------------===//
// What may be early
//===----------------------------------------------------------------------===//

static bool isPathOp(Operation *op) { return isa<scf::ForOp, scf::IfOp>(op); }

/// Notes what a value is computed from; false: of something that has an effect, or of a loop's result.
bool FirstElements::need(Value value) {
  Region &role = acquire->getParentOfType<RolesOp>().getLoad();
  if (!role.isAncestor(value.getParentRegion()) || !known.insert(value).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (argument.getArgNumber() == 0)
      return true;
    const unsigned number = argument.getArgNumber() - 1;
    if (loop == innermost)
      carried.push_back(number);
    return need(loop.getInitArgs()[number]) && (loop != innermost || need(loop.getYieldedValues()[number]));
  }
  Operation *op = value.getDefiningOp();
  needed.insert(op);
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return need(operand); });
}

bool FirstElements::needPath(Region &role) {
  path.insert(acquire);
  for (Operation *op = acquire->getParentOp(); op != role.getParentOp(); op = op->getParentOp()) {
    if (!isPathOp(op))
      return false;
    path.insert(op);
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !innermost)
      innermost = loop;
  }
  return llvm::all_of(path, [&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    auto branch = dyn_cast<scf::IfOp>(op);
    return (!loop || (need(loop.getLowerBound()) && need(loop.getUpperBound()) && need(loop.getStep()))) && (!branch || need(branch.getCondition()));
  });
}

bool FirstElements::find(LLVM::LLVMFuncOp kernel, RolesOp roles) {
  for (Operation *user : acquire.getBarrier().getUsers())
    if (auto fetch = dyn_cast<StartFetchOp>(user); fetch && fetch->getBlock() == acquire->getBlock() && isNeverWritten(kernel, fetch.getMap()))
      fetches.push_back(fetch);
  llvm::sort(fetches, [](StartFetchOp one, StartFetchOp other) { return one->isBeforeInBlock(other); });
  if (fetches.empty() || !needPath(roles.getLoad()))
    return false;
  // Of the same loop another one would have every other slot.
  bool isAlone = llvm::none_of(channel->getUsers(), [&](Operation *user) { return user != acquire && isa<AcquireOp>(user) && innermost && innermost->isAncestor(user); });
  return isAlone && llvm::all_of(fetches, [&](StartFetchOp fetch) { return need(fetch.getMap()) && llvm::all_of(fetch.getCoordinates(), [&](Value value) { return need(value); }); });
}

//===----------------------------------------------------------------------===//
// The fetches
//===----------------------------------------------------------------------===//

Value FirstElements::startFetches(OpBuilder &b, Value count) {
  Location loc = acquire.getLoc();
  auto ahead = AheadOp::create(b, loc, llvm::to_vector(acquire.getTiles().getTypes()), acquire.getBarrier().getType(), channel, count);
  for (StartFetchOp fetch : fetches) {
    auto coordinates = llvm::map_to_vector(fetch.getCoordinates(), [&](Value value) { return mapping.lookupOrDefault(value); });
    Value tile = ahead.getTiles()[cast<OpResult>(fetch.getTile()).getResultNumber()];
    StartFetchOp::create(b, fetch.getLoc(), mapping.lookupOrDefault(Value(fetch.getMap())), coordinates, tile, ahead.getBarrier(), fetch.getPart(),
                         fetch.getParts());
  }
  return arith::AddIOp::create(b, loc, count, arith::ConstantIntOp::create(b, loc, 1, 32));
}

/// The operations of a block that are needed, and how many elements have been begun after it.
Value FirstElements::cloneBlock(Block &from, OpBuilder &b, Value count) {
  for (Operation &op : from) {
    if (path.contains(&op))
      return cloneOnPath(&op, b, count);
    if (needed.contains(&op))
      b.clone(op, mapping);
  }
  llvm_unreachable("a path leads to the operation that acquires");
}

/// The first iteration, if there is one.
Value FirstElements::cloneOnce(scf::ForOp loop, OpBuilder &b, Value count) {
  Location loc = loop.getLoc();
  Value lower = mapping.lookupOrDefault(loop.getLowerBound()), upper = mapping.lookupOrDefault(loop.getUpperBound());
  mapping.map(loop.getInductionVar(), lower);
  for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    mapping.map(argument, mapping.lookupOrDefault(init));
  Value isAny = arith::CmpIOp::create(b, loc, loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, lower, upper);
  auto first = scf::IfOp::create(b, loc, count.getType(), isAny, /*withElseRegion=*/true);
  OpBuilder then = first.getThenBodyBuilder(), otherwise = first.getElseBodyBuilder();
  scf::YieldOp::create(then, loc, cloneBlock(*loop.getBody(), then, count));
  scf::YieldOp::create(otherwise, loc, count);
  return first.getResult(0);
}

/// As many iterations as the channel has slots.
Value FirstElements::cloneInnermost(scf::ForOp loop, OpBuilder &b, Value count) {
  Location loc = loop.getLoc();
  Value lower = mapping.lookupOrDefault(loop.getLowerBound()), upper = mapping.lookupOrDefault(loop.getUpperBound()), step = mapping.lookupOrDefault(loop.getStep());
  Value slots = arith::ConstantOp::create(b, loc, b.getIntegerAttr(step.getType(), channel.getType().getSlots()));
  Value limit = arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, step, slots));
  Value end = loop.getUnsignedCmp() ? arith::MinUIOp::create(b, loc, upper, limit).getResult() : arith::MinSIOp::create(b, loc, upper, limit).getResult();
  llvm::sort(carried);
  SmallVector<Value> inits = llvm::map_to_vector(carried, [&](unsigned number) { return mapping.lookupOrDefault(loop.getInitArgs()[number]); });
  inits.push_back(count);
  auto few = scf::ForOp::create(b, loc, lower, end, step, inits, nullptr, loop.getUnsignedCmp());
  mapping.map(loop.getInductionVar(), few.getInductionVar());
  for (auto [i, number] : llvm::enumerate(carried))
    mapping.map(loop.getRegionIterArg(number), few.getRegionIterArg(unsigned(i)));
  OpBuilder inside = OpBuilder::atBlockEnd(few.getBody());
  Value next = few.getRegionIterArgs().back();
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (path.contains(&op))
      next = cloneOnPath(&op, inside, next);
    else if (needed.contains(&op))
      inside.clone(op, mapping);
  }
  SmallVector<Value> yields = llvm::map_to_vector(carried, [&](unsigned number) { return mapping.lookupOrDefault(loop.getYieldedValues()[number]); });
  yields.push_back(next);
  scf::YieldOp::create(inside, loc, yields);
  return few.getResults().back();
}

Value FirstElements::cloneOnPath(Operation *op, OpBuilder &b, Value count) {
  if (op == acquire)
    return startFetches(b, count);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop == innermost ? cloneInnermost(loop, b, count) : cloneOnce(loop, b, count);
  auto branch = cast<scf::IfOp>(op);
  auto copy = scf::IfOp::create(b, op->getLoc(), count.getType(), mapping.lookupOrDefault(branch.getCondition()), /*withElseRegion=*/true);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), copy->getRegions())) {
    OpBuilder inside = OpBuilder::atBlockEnd(&to.front());
    Value after = from.isAncestor(acquire->getParentRegion()) ? cloneBlock(from.front(), inside, count) : count;
    scf::YieldOp::create(inside, op->getLoc(), after);
  }
  return copy.getResult(0);
}

void FirstElements::fetch(OpBuilder &here) {
  Value none = arith::ConstantIntOp::create(here, acquire.getLoc(), 0, 32);
  Value early = cloneBlock(acquire->getParentOfType<RolesOp>().getLoad().front(), here, none);
  for (StartFetchOp fetch : fetches) {
    OpBuilder b(fetch);
    Value isLate = arith::CmpIOp::create(b, fetch.getLoc(), arith::CmpIPredicate::uge, acquire.getPosition(), early);
    auto late = scf::IfOp::create(b, fetch.getLoc(), isLate, /*withElseRegion=*/false);
    fetch->moveBefore(late.thenBlock()->getTerminator());
  }
}

//===----------------------------------------------------------------------===//
// The wait
//===----------------------------------------------------------------------===//

/// The first operation of the loading role that acquires a slot of a channel.
static AcquireOp firstOf(ChannelOp channel, RolesOp roles) {
  AcquireOp first;
  roles.getLoad().walk([&](AcquireOp acquire) {
    if (acquire.getChannel() != channel)
      return WalkResult::advance();
    first = acquire;
    return WalkResult::interrupt();
  });
  return first;
}

/// Each role waits by itself, the loading one after what it may fetch early.
static LogicalResult fetchEarly(RolesOp roles) {
  auto kernel = cast<LLVM::LLVMFuncOp>(roles->getParentOp());
  NVVM::GriddepcontrolOp wait;
  for (auto control : roles->getBlock()->getOps<NVVM::GriddepcontrolOp>())
    if (control.getKind() == NVVM::GridDepActionKind::wait)
      wait = control;
  if (!wait)
    return success();
  OpBuilder load = OpBuilder::atBlockBegin(&roles.getLoad().front());
  int64_t count = 0;
  for (ChannelOp channel : roles->getBlock()->getOps<ChannelOp>()) {
    AcquireOp acquire = firstOf(channel, roles);
    if (FirstElements elements(acquire); elements.find(kernel, roles)) {
      elements.fetch(load);
      ++count;
    }
  }
  load.clone(*wait);
  wait->moveBefore(&roles.getCompute().front(), roles.getCompute().front().begin());
  if (count > 0)
    remark::passed(roles.getLoc(), remark::RemarkOpts::name("fetch-early").category("gpu"))
        << remark::reason("the first slots of {0} channels are fetched before the launches before have ended", count);
  return success();
}

namespace {
struct TileFetchEarly : tile::impl::TileFetchEarlyBase<TileFetchEarly> {
  void runOnOperation() override {
    if (failed(eachRoles(getOperation(), fetchEarly)))
      signalPassFailure();
  }
};
} // namespace
