//===- LowerChannels.cpp - roles and channels as mbarriers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "mbarrier": a phase completes when its arrivals and its bytes have
// come; who waits names the parity of a phase. A slot's first phase of "full" has
// parity 0. Nothing releases a slot before its first use: the phase before the
// first one, of parity 1, counts as complete.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"

#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILELOWERCHANNELS
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// A builder of what barriers are asked.
class BarrierCode : public ImplicitLocOpBuilder {
public:
  explicit BarrierCode(Operation *before) : ImplicitLocOpBuilder(before->getLoc(), before) {}

  Value number(int64_t value) { return arith::ConstantIntOp::create(*this, value, 32); }
  Value at(Value memory, int64_t bytes) {
    return LLVM::GEPOp::create(*this, memory.getType(), getI8Type(), memory, ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  /// Asks again until the phase is complete.
  void waitFor(Value barrier, Value parity) {
    OpBuilder::InsertionGuard guard(*this);
    auto loop = scf::WhileOp::create(*this, TypeRange(), ValueRange());
    createBlock(&loop.getBefore());
    auto scope = NVVM::MemScopeKindAttr::get(getContext(), NVVM::MemScopeKind::CTA);
    Value done = NVVM::MBarrierTryWaitOp::create(*this, getI1Type(), barrier, parity, Value(), scope);
    Value again = arith::XOrIOp::create(*this, done, arith::ConstantIntOp::create(*this, 1, 1));
    scf::ConditionOp::create(*this, again, ValueRange());
    createBlock(&loop.getAfter());
    scf::YieldOp::create(*this);
  }
  /// One thread of each warp arrives, after a phase of another barrier if it is given one.
  void arriveOnce(Value barrier, Value after = Value(), Value parity = Value()) {
    Value lane = arith::RemUIOp::create(*this, NVVM::ThreadIdXOp::create(*this, getI32Type()), number(warpThreads));
    Value isFirst = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, lane, number(0));
    auto branch = scf::IfOp::create(*this, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPoint(branch.thenBlock()->getTerminator());
    if (after)
      waitFor(after, parity);
    NVVM::MBarrierArriveOp::create(*this, getI64Type(), barrier, Value(), NVVM::MemScopeKindAttr::get(getContext(), NVVM::MemScopeKind::CTA));
  }
};

/// A builder of what a channel's barriers are asked.
class ChannelCode : public BarrierCode {
public:
  ChannelCode(ChannelOp channel, Operation *before) : BarrierCode(before), type(channel.getType()), memory(channel.getMemory()) {}

  Value at(Value bytes) {
    return LLVM::GEPOp::create(*this, memory.getType(), getI8Type(), memory, ArrayRef<LLVM::GEPArg>{bytes});
  }
  Value slotOf(Value position) { return createOrFold<arith::RemUIOp>(position, number(type.getSlots())); }
  Value parityOf(Value position) {
    return arith::AndIOp::create(*this, createOrFold<arith::DivUIOp>(position, number(type.getSlots())), number(1));
  }
  /// The barrier of a slot that says it is full, or free.
  Value barrierOf(Value slot, bool isFree) {
    Value inSlot = arith::MulIOp::create(*this, slot, number(ChannelType::barrierBytes));
    return at(arith::AddIOp::create(*this, inSlot, number(type.getSlots() * (type.getSlotBytes() + (isFree ? ChannelType::barrierBytes : 0)))));
  }
  SmallVector<Value> tilesOf(Value slot, ValueRange of) {
    SmallVector<Value> tiles;
    Value begin = arith::MulIOp::create(*this, slot, number(type.getSlotBytes()));
    int64_t before = 0;
    for (Type one : of.getTypes()) {
      auto tile = cast<SharedType>(one);
      tiles.push_back(SharedOp::create(*this, tile, at(arith::AddIOp::create(*this, begin, number(before)))));
      before += tile.getBytes();
    }
    return tiles;
  }

  const ChannelType type;
  Value memory;
};

/// Lowers the roles of one kernel.
class RoleLowering {
public:
  explicit RoleLowering(RolesOp roles) : roles(roles), pipeline(roles.getPipeline()) {}
  LogicalResult run();

private:
  void initialize(ArrayRef<ChannelOp> channels, ArrayRef<Value> flags, Value joins);
  LogicalResult lower(ChannelOp channel, Operation *op);
  FailureOr<Value> lower(FlagOp flag);
  void lower(RaisedOp raised, Value memory);
  LogicalResult lower(JoinOp join, Value memory);
  FailureOr<Value> lowerJoins();
  int64_t warps() const { return pipeline.getComputerThreads() / warpThreads; }
  Value groupOf(ImplicitLocOpBuilder &b);
  void branch();
  void setRegisters(OpBuilder &b, int64_t count, NVVM::SetMaxRegisterAction action) {
    NVVM::SetMaxRegisterOp::create(b, roles.getLoc(), b.getI32IntegerAttr(int32_t(count)), NVVM::SetMaxRegisterActionAttr::get(b.getContext(), action));
  }

  RolesOp roles;
  PipelineAttr pipeline;
};
} // namespace

/// Of a flag's memory: a word, and the barrier at which the computing warps have left it for good.
static constexpr int64_t flagBytes = 16, flagBarrier = 8;

/// Of joins: the barrier at which the computing warps arrive, and the one at which the loading role does.
static constexpr int64_t joinBytes = 16, seenBarrier = 8;

/// One thread makes the barriers, and all see them, TMA too.
void RoleLowering::initialize(ArrayRef<ChannelOp> channels, ArrayRef<Value> flags, Value joins) {
  ImplicitLocOpBuilder b(roles.getLoc(), roles);
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, arith::ConstantIntOp::create(b, 0, 32));
  auto once = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  for (ChannelOp channel : channels) {
    ChannelCode code(channel, once.thenBlock()->getTerminator());
    for (int64_t slot = 0; slot < channel.getType().getSlots(); ++slot)
      for (bool isFree : {false, true})
        NVVM::MBarrierInitOp::create(code, TypeRange(), code.barrierOf(code.number(slot), isFree), code.number(isFree ? warps() : 1), Value());
  }
  for (Value flag : flags) {
    BarrierCode code(once.thenBlock()->getTerminator());
    LLVM::StoreOp::create(code, code.number(0), flag);
    NVVM::MBarrierInitOp::create(code, TypeRange(), code.at(flag, flagBarrier), code.number(warps()), Value());
  }
  if (joins) {
    BarrierCode code(once.thenBlock()->getTerminator());
    NVVM::MBarrierInitOp::create(code, TypeRange(), joins, code.number(warps()), Value());
    NVVM::MBarrierInitOp::create(code, TypeRange(), code.at(joins, seenBarrier), code.number(1), Value());
  }
  b.setInsertionPoint(once.thenBlock()->getTerminator());
  NVVM::FenceMbarrierInitOp::create(b);
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
                             NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
  b.setInsertionPointAfter(once);
  NVVM::Barrier0Op::create(b);
}

LogicalResult RoleLowering::lower(ChannelOp channel, Operation *op) {
  ChannelCode b(channel, op);
  if (op->getNumOperands() != 2)
    return op->emitError("a channel's slots have no numbers yet: tile-place-slots gives them");
  Value position = op->getOperand(1), slot = b.slotOf(position);
  auto scope = NVVM::MemScopeKindAttr::get(b.getContext(), NVVM::MemScopeKind::CTA);
  if (auto acquire = dyn_cast<AcquireOp>(op)) {
    b.waitFor(b.barrierOf(slot, /*isFree=*/true), arith::XOrIOp::create(b, b.parityOf(position), b.number(1)));
    SmallVector<Value> results = b.tilesOf(slot, acquire.getTiles());
    results.push_back(b.barrierOf(slot, /*isFree=*/false));
    acquire->replaceAllUsesWith(results);
  } else if (auto ahead = dyn_cast<AheadOp>(op)) {
    SmallVector<Value> results = b.tilesOf(slot, ahead.getTiles());
    results.push_back(b.barrierOf(slot, /*isFree=*/false));
    ahead->replaceAllUsesWith(results);
  } else if (auto publish = dyn_cast<PublishOp>(op)) {
    const int64_t bytes = publish.getBytes() ? int64_t(publish.getBytes()) : b.type.getSlotBytes();
    NVVM::MBarrierArriveExpectTxOp::create(b, Type(), b.barrierOf(slot, /*isFree=*/false), b.number(bytes), scope, BoolAttr(), Value());
  } else if (auto receive = dyn_cast<ReceiveOp>(op)) {
    b.waitFor(b.barrierOf(slot, /*isFree=*/false), b.parityOf(position));
    receive->replaceAllUsesWith(b.tilesOf(slot, receive.getTiles()));
  } else {
    b.arriveOnce(b.barrierOf(slot, /*isFree=*/true));
  }
  op->erase();
  return success();
}

/// What raises it writes the word. The computing role waits for all of its threads, and the loading role for the computing warps.
void RoleLowering::lower(RaisedOp raised, Value memory) {
  constexpr int64_t id = 1; // as other barriers of the computing groups
  BarrierCode b(raised);
  Value barrier = b.at(memory, flagBarrier);
  if (roles.getLoad().isAncestor(raised->getParentRegion())) {
    b.waitFor(barrier, b.number(0));
  } else {
    NVVM::BarrierOp::create(b, TypeRange(), b.number(id), b.number(pipeline.getComputerThreads()), NVVM::BarrierReductionAttr(), Value());
    b.arriveOnce(barrier);
  }
  raised.getResult().replaceAllUsesWith(LLVM::LoadOp::create(b, b.getI32Type(), memory).getResult());
  raised.erase();
}

FailureOr<Value> RoleLowering::lower(FlagOp flag) {
  ImplicitLocOpBuilder b(flag.getLoc(), flag);
  int64_t after = 0;
  FailureOr<Value> memory = makeSharedMemory(b, cast<LLVM::LLVMFuncOp>(roles->getParentOp()), flagBytes, flagBytes, /*most=*/0, after);
  if (failed(memory))
    return failure();
  for (Operation *user : llvm::make_early_inc_range(flag->getUsers())) {
    if (auto raised = dyn_cast<RaisedOp>(user)) {
      lower(raised, *memory);
      continue;
    }
    BarrierCode code(user);
    LLVM::AtomicRMWOp::create(code, LLVM::AtomicBinOp::_or, *memory, cast<RaiseOp>(user).getBits(), LLVM::AtomicOrdering::monotonic, "block");
    user->erase();
  }
  flag.erase();
  return memory;
}

/// Computing warps arrive once the loading role has seen the join before: a phase is never two ahead of the thread that waits for it. (Lanes of a warp come
/// here one after the other: the lane that arrives waits, no other.) What the loading role fetches after is what threads wrote before.
LogicalResult RoleLowering::lower(JoinOp join, Value memory) {
  if (!join.getPosition())
    return join.emitError("joins have no numbers yet: tile-place-slots gives them");
  BarrierCode b(join);
  auto scope = NVVM::MemScopeKindAttr::get(b.getContext(), NVVM::MemScopeKind::CTA);
  Value parity = arith::AndIOp::create(b, join.getPosition(), b.number(1));
  if (roles.getLoad().isAncestor(join->getParentRegion())) {
    b.waitFor(memory, parity);
    NVVM::FenceProxyOp::create(b, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_global), NVVM::SharedSpaceAttr());
    NVVM::MBarrierArriveOp::create(b, b.getI64Type(), b.at(memory, seenBarrier), Value(), scope);
  } else {
    b.arriveOnce(memory, b.at(memory, seenBarrier), arith::XOrIOp::create(b, parity, b.number(1)));
  }
  join.erase();
  return success();
}

/// Lowers all joins; the memory of their barriers, null: there is none.
FailureOr<Value> RoleLowering::lowerJoins() {
  SmallVector<JoinOp> joins;
  roles->walk([&](JoinOp join) { joins.push_back(join); });
  if (joins.empty())
    return Value();
  ImplicitLocOpBuilder b(roles.getLoc(), roles);
  int64_t after = 0;
  FailureOr<Value> memory = makeSharedMemory(b, cast<LLVM::LLVMFuncOp>(roles->getParentOp()), joinBytes, joinBytes, /*most=*/0, after);
  for (JoinOp join : joins)
    if (failed(memory) || failed(lower(join, *memory)))
      return failure();
  return memory;
}

/// The number of this thread's warp group, which the warp knows to be one for all of its lanes.
Value RoleLowering::groupOf(ImplicitLocOpBuilder &b) {
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, value, 32); };
  Value group = arith::DivUIOp::create(b, NVVM::ThreadIdXOp::create(b, b.getI32Type()), number(PipelineAttr::groupThreads));
  return NVVM::ShflOp::create(b, b.getI32Type(), number(-1), group, number(0), number(warpThreads - 1), NVVM::ShflKind::idx, UnitAttr());
}

void RoleLowering::branch() {
  ImplicitLocOpBuilder b(roles.getLoc(), roles);
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, value, 32); };
  Value group = groupOf(b);
  Value loads = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, group, number(pipeline.getComputers()));
  auto branch = scf::IfOp::create(b, loads, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  setRegisters(b, pipeline.getRegisters()[0], NVVM::SetMaxRegisterAction::decrease);
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  Value isWarp = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread, number(pipeline.getComputerThreads() + warpThreads));
  auto waits = roles.getLoad().getOps<NVVM::GriddepcontrolOp>();
  const bool isWaiting = !waits.empty(); // as all threads do
  auto warp = scf::IfOp::create(b, isWarp, isWaiting);
  b.setInsertionPointToStart(warp.thenBlock());
  auto elected = scf::IfOp::create(b, NVVM::ElectSyncOp::create(b, b.getI1Type(), Value()), isWaiting);
  for (scf::IfOp branch : {warp, elected})
    if (isWaiting)
      branch.getElseBodyBuilder().clone(**waits.begin());
  Block &load = roles.getLoad().front(), &compute = roles.getCompute().front();
  elected.thenBlock()->getOperations().splice(elected.thenBlock()->begin(), load.getOperations());
  b.setInsertionPointToStart(branch.elseBlock());
  setRegisters(b, pipeline.getRegisters()[1], NVVM::SetMaxRegisterAction::increase);
  branch.elseBlock()->getOperations().splice(std::prev(branch.elseBlock()->end()), compute.getOperations());
  roles->getParentOp()->removeAttr(tile::names::pipeline); // which is done
  roles.erase();
}

LogicalResult RoleLowering::run() {
  SmallVector<ChannelOp> channels;
  for (ChannelOp channel : roles->getBlock()->getOps<ChannelOp>())
    channels.push_back(channel);
  for (ChannelOp channel : channels)
    for (Operation *user : llvm::make_early_inc_range(channel->getUsers()))
      if (failed(lower(channel, user)))
        return failure();
  SmallVector<Value> flags;
  for (FlagOp flag : llvm::make_early_inc_range(roles->getBlock()->getOps<FlagOp>())) {
    FailureOr<Value> memory = lower(flag);
    if (failed(memory))
      return failure();
    flags.push_back(*memory);
  }
  FailureOr<Value> joins = lowerJoins();
  if (failed(joins))
    return failure();
  initialize(channels, flags, *joins);
  branch();
  for (ChannelOp channel : channels)
    channel.erase();
  return success();
}

namespace {
struct TileLowerChannels : tile::impl::TileLowerChannelsBase<TileLowerChannels> {
  void runOnOperation() override {
    if (failed(eachRoles(getOperation(), [](RolesOp roles) { return RoleLowering(roles).run(); })))
      signalPassFailure();
  }
};
} // namespace
