//===- MakeChannels.cpp - fetched tiles go through channels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both roles have the same fetches in the same order, since one is a slice of the
// other. The n-th group of fetches of the one is the n-th of the other.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEMAKECHANNELS
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
using Group = SmallVector<FetchOp, 2>;

/// Makes the channels of one kernel.
class ChannelMaker {
public:
  ChannelMaker(RolesOp roles, int64_t sharedBytes) : roles(roles), sharedBytes(sharedBytes) {}
  LogicalResult run();

private:
  static SmallVector<Group> findGroups(Region &role);
  FailureOr<Value> makeChannel(Group group);
  static void load(Group group, Value channel);
  LogicalResult compute(Group group, Value channel) const;

  RolesOp roles;
  int64_t sharedBytes;
  int64_t used = 0; // by the channels before
};
} // namespace

/// Fetches of one block between which nothing else has an effect.
SmallVector<Group> ChannelMaker::findGroups(Region &role) {
  SmallVector<Group> groups;
  role.walk<WalkOrder::PreOrder>([&](Block *block) {
    Group open;
    auto close = [&] {
      if (!open.empty())
        groups.push_back(std::move(open));
      open.clear();
    };
    for (Operation &op : *block) {
      if (auto fetch = dyn_cast<FetchOp>(op))
        open.push_back(fetch);
      else if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
        close();
    }
    close();
  });
  return groups;
}

FailureOr<Value> ChannelMaker::makeChannel(Group group) {
  ImplicitLocOpBuilder b(group.front().getLoc(), roles);
  SmallVector<SharedType> tiles;
  for (FetchOp fetch : group) {
    if (fetch.getType().getBytes() % ChannelType::alignment != 0)
      return fetch.emitError() << "a slot of a channel has tiles of a multiple of " << ChannelType::alignment << " bytes, found " << fetch.getType();
    tiles.push_back(fetch.getType());
  }
  auto type = ChannelType::get(b.getContext(), tiles, roles.getPipeline().getSlots());
  auto kernel = cast<LLVM::LLVMFuncOp>(roles->getParentOp());
  FailureOr<int64_t> begin = addSharedMemory(kernel, type.getBytes(), ChannelType::alignment, sharedBytes, used);
  if (failed(begin))
    return failure();
  used = *begin + type.getBytes();
  constexpr StringLiteral memoryName = "ft_shared"; // all that the kernels of a module share within a block
  auto memory = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(kernel, StringAttr::get(b.getContext(), memoryName));
  if (!memory)
    return kernel.emitError() << "expected shared memory '" << memoryName << "' beside a kernel with roles";
  memory.setAlignment(std::max<uint64_t>(memory.getAlignment().value_or(1), ChannelType::alignment));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), sharedSpace);
  Value all = LLVM::AddressOfOp::create(b, pointer, memoryName);
  Value own = LLVM::GEPOp::create(b, pointer, b.getI8Type(), all, ArrayRef<LLVM::GEPArg>{int32_t(*begin)});
  return ChannelOp::create(b, type, own).getResult();
}

void ChannelMaker::load(Group group, Value channel) {
  // After the last one, where all coordinates are known.
  ImplicitLocOpBuilder b(group.back().getLoc(), group.back());
  auto type = cast<ChannelType>(channel.getType());
  SmallVector<Type> tiles(type.getTiles().begin(), type.getTiles().end());
  auto acquire = AcquireOp::create(b, tiles, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), channel, Value());
  for (auto [fetch, tile] : llvm::zip_equal(group, acquire.getTiles()))
    StartFetchOp::create(b, fetch.getLoc(), fetch.getMap(), fetch.getCoordinates(), tile, acquire.getBarrier());
  PublishOp::create(b, channel, Value());
  for (FetchOp fetch : group)
    fetch.erase();
}

LogicalResult ChannelMaker::compute(Group group, Value channel) const {
  ImplicitLocOpBuilder b(group.back().getLoc(), group.back());
  Block *block = group.front()->getBlock();
  Operation *last = group.back();
  for (FetchOp fetch : group)
    for (Operation *user : fetch->getUsers()) {
      Operation *inBlock = block->findAncestorOpInBlock(*user);
      if (!inBlock || isa<scf::YieldOp>(inBlock))
        return fetch.emitError("a fetched tile is read where it is fetched: found a use elsewhere");
      last = last->isBeforeInBlock(inBlock) ? inBlock : last;
    }
  auto type = cast<ChannelType>(channel.getType());
  SmallVector<Type> tiles(type.getTiles().begin(), type.getTiles().end());
  auto receive = ReceiveOp::create(b, tiles, channel, Value());
  for (auto [fetch, tile] : llvm::zip_equal(group, receive.getTiles()))
    fetch.replaceAllUsesWith(tile);
  b.setInsertionPointAfter(last);
  ReleaseOp::create(b, channel, Value());
  for (FetchOp fetch : group)
    fetch.erase();
  return success();
}

LogicalResult ChannelMaker::run() {
  SmallVector<Group> loads = findGroups(roles.getLoad()), computes = findGroups(roles.getCompute());
  if (loads.empty() && computes.empty())
    return success();
  auto sizes = [](ArrayRef<Group> groups) { return llvm::map_to_vector(groups, [](const Group &group) { return group.size(); }); };
  if (sizes(loads) != sizes(computes))
    return roles.emitError() << "both roles fetch the same: found " << loads.size() << " and " << computes.size() << " groups of fetches";
  for (auto [from, to] : llvm::zip_equal(loads, computes)) {
    FailureOr<Value> channel = makeChannel(from);
    if (failed(channel))
      return failure();
    load(from, *channel);
    if (failed(compute(to, *channel)))
      return failure();
  }
  return success();
}

namespace {
struct TileMakeChannels : tile::impl::TileMakeChannelsBase<TileMakeChannels> {
  using TileMakeChannelsBase::TileMakeChannelsBase;
  void runOnOperation() override {
    if (failed(eachRoles(getOperation(), [&](RolesOp roles) { return ChannelMaker(roles, sharedBytes).run(); })))
      signalPassFailure();
  }
};
} // namespace
