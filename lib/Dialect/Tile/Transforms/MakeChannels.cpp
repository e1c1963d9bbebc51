//===- MakeChannels.cpp - fetched tiles go through channels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both roles have the same fetches in the same order, since one is a slice of the
// other: the n-th of the one is the n-th of the other. What the computing role has
// side by side is an element of a channel. Elements that are not in shared memory at
// the same time go through one channel.
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

/// Fetches of both roles that are an element of a channel.
struct Element {
  Group load, compute;
  Operation *last = nullptr; // that reads it, of the block that the computing role has it in
  bool stays = false;        // while elements of loops inside come and go

  int64_t getBytes() const {
    int64_t bytes = 0;
    for (FetchOp fetch : load)
      bytes += fetch.getType().getBytes();
    return bytes;
  }
};
using Elements = SmallVector<Element *>;

/// Makes the channels of one kernel.
class ChannelMaker {
public:
  ChannelMaker(RolesOp roles, int64_t sharedBytes) : roles(roles), sharedBytes(sharedBytes) {}
  LogicalResult run();

private:
  static SmallVector<Group> findGroups(Region &role);
  static LogicalResult addElements(const Group &group, ArrayRef<FetchOp> loads, SmallVectorImpl<Element> &elements);
  static SmallVector<Elements> divide(MutableArrayRef<Element> elements);
  FailureOr<Value> makeChannel(const Elements &elements);
  static void load(Element &element, Value channel);
  static void compute(Element &element, Value channel);

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

/// A product in flight reads its operands until it is awaited.
static SmallVector<Operation *> readersOf(Operation *user) {
  SmallVector<Operation *> readers = {user};
  if (isa<StartMmaOp>(user))
    llvm::append_range(readers, user->getUsers());
  return readers;
}

/// What reads a fetched tile last, in the block that has it.
static FailureOr<Operation *> findLast(FetchOp fetch) {
  Operation *last = fetch;
  for (Operation *user : fetch->getUsers())
    for (Operation *reader : readersOf(user)) {
      Operation *inBlock = fetch->getBlock()->findAncestorOpInBlock(*reader);
      if (!inBlock || isa<scf::YieldOp>(inBlock))
        return fetch.emitError("a fetched tile is read where it is fetched: found a use elsewhere");
      last = last->isBeforeInBlock(inBlock) ? inBlock : last;
    }
  return last;
}

/// Adds the elements that fetches side by side are: those that are read last by the same.
LogicalResult ChannelMaker::addElements(const Group &group, ArrayRef<FetchOp> loads, SmallVectorImpl<Element> &elements) {
  Element *open = nullptr;
  for (auto [fetch, load] : llvm::zip_equal(group, loads)) {
    FailureOr<Operation *> last = findLast(fetch);
    if (failed(last))
      return failure();
    if (!open || open->last != *last)
      open = &elements.emplace_back(Element{{}, {}, *last});
    open->load.push_back(load);
    open->compute.push_back(fetch);
  }
  return success();
}

/// Where, in the block of one element, another one comes while the first is still read; null: nowhere.
static Operation *findWithin(Element &element, Element &other) {
  Operation *there = element.compute.front()->getBlock()->findAncestorOpInBlock(*other.compute.back());
  bool isWithin = there && !there->isBeforeInBlock(element.compute.back()) && !element.last->isBeforeInBlock(there);
  return isWithin ? there : nullptr;
}

/// Elements that share a channel: of the same kind, none of which comes while another one is read.
SmallVector<Elements> ChannelMaker::divide(MutableArrayRef<Element> elements) {
  for (Element &element : elements)
    element.stays = llvm::any_of(elements, [&](Element &other) {
      Operation *there = &other == &element ? nullptr : findWithin(element, other);
      return there && there->getNumRegions() != 0;
    });
  SmallVector<Elements> channels;
  for (Element &element : elements) {
    auto *found = llvm::find_if(channels, [&](const Elements &own) {
      return llvm::all_of(own, [&](Element *other) {
        return other->stays == element.stays && !findWithin(*other, element) && !findWithin(element, *other);
      });
    });
    if (found == channels.end()) {
      channels.emplace_back();
      found = std::prev(channels.end());
    }
    found->push_back(&element);
  }
  return channels;
}

FailureOr<Value> ChannelMaker::makeChannel(const Elements &elements) {
  Element *largest = *llvm::max_element(elements, [](Element *a, Element *b) { return a->getBytes() < b->getBytes(); });
  ImplicitLocOpBuilder b(elements.front()->load.front().getLoc(), roles);
  SmallVector<SharedType> tiles;
  for (Element *element : elements)
    for (FetchOp fetch : element->load)
      if (fetch.getType().getBytes() % ChannelType::alignment != 0)
        return fetch.emitError() << "a slot of a channel has tiles of a multiple of " << ChannelType::alignment << " bytes, found " << fetch.getType();
  for (FetchOp fetch : largest->load)
    tiles.push_back(fetch.getType());
  auto type = ChannelType::get(b.getContext(), tiles, largest->stays ? 1 : roles.getPipeline().getSlots());
  auto kernel = cast<LLVM::LLVMFuncOp>(roles->getParentOp());
  FailureOr<Value> own = makeSharedMemory(b, kernel, type.getBytes(), ChannelType::alignment, sharedBytes, used);
  if (failed(own))
    return failure();
  return ChannelOp::create(b, type, *own).getResult();
}

static SmallVector<Type> typesOf(const Group &group) {
  return llvm::map_to_vector(group, [](FetchOp fetch) -> Type { return fetch.getType(); });
}

/// Begins to fetch all parts of a tile, or one of its alternatives.
static void start(FetchOp fetch, Value tile, Value barrier, ImplicitLocOpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  for (auto [i, map] : llvm::enumerate(fetch.getMaps())) {
    if (i < fetch.getConditions().size()) {
      auto branch = scf::IfOp::create(b, fetch.getConditions()[i], /*withElseRegion=*/true);
      OpBuilder then = branch.getThenBodyBuilder();
      StartFetchOp::create(then, fetch.getLoc(), map, fetch.getCoordinatesOf(unsigned(i)), tile, barrier);
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      continue;
    }
    const bool isPart = fetch.getConditions().empty();
    StartFetchOp::create(b, fetch.getLoc(), map, fetch.getCoordinatesOf(unsigned(i)), tile, barrier, uint64_t(isPart ? i : 0), uint64_t(fetch.getParts()));
  }
}

void ChannelMaker::load(Element &element, Value channel) {
  // After the last one, where all coordinates are known.
  Group &group = element.load;
  ImplicitLocOpBuilder b(group.back().getLoc(), group.back());
  const int64_t bytes = element.getBytes(), all = cast<ChannelType>(channel.getType()).getSlotBytes();
  auto acquire = AcquireOp::create(b, typesOf(group), LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), channel, Value());
  for (auto [fetch, tile] : llvm::zip_equal(group, acquire.getTiles()))
    start(fetch, tile, acquire.getBarrier(), b);
  PublishOp::create(b, channel, Value(), uint64_t(bytes == all ? 0 : bytes));
  for (FetchOp fetch : group)
    fetch.erase();
}

void ChannelMaker::compute(Element &element, Value channel) {
  Group &group = element.compute;
  ImplicitLocOpBuilder b(group.back().getLoc(), group.back());
  auto receive = ReceiveOp::create(b, typesOf(group), channel, Value());
  for (auto [fetch, tile] : llvm::zip_equal(group, receive.getTiles()))
    fetch.replaceAllUsesWith(tile);
  b.setInsertionPointAfter(element.last);
  ReleaseOp::create(b, channel, Value());
  for (FetchOp fetch : group)
    fetch.erase();
}

LogicalResult ChannelMaker::run() {
  SmallVector<Group> groups = findGroups(roles.getCompute());
  SmallVector<FetchOp> loads;
  roles.getLoad().walk<WalkOrder::PreOrder>([&](Block *block) { llvm::append_range(loads, block->getOps<FetchOp>()); });
  size_t count = 0;
  for (const Group &group : groups)
    count += group.size();
  if (count != loads.size())
    return roles.emitError() << "both roles fetch the same: found " << loads.size() << " and " << count << " fetches";
  SmallVector<Element, 0> elements;
  ArrayRef<FetchOp> rest = loads;
  for (const Group &group : groups) {
    if (failed(addElements(group, rest.take_front(group.size()), elements)))
      return failure();
    rest = rest.drop_front(group.size());
  }
  for (const Elements &own : divide(elements)) {
    FailureOr<Value> channel = makeChannel(own);
    if (failed(channel))
      return failure();
    for (Element *element : own) {
      load(*element, *channel);
      compute(*element, *channel);
    }
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
