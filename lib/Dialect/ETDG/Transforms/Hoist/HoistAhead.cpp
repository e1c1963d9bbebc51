//===- HoistAhead.cpp - products that nothing waits for, ahead ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same machinery as for what repeats, asked another question: not whether a
// value is needed again and again, but whether all that it needs is there before
// the first iteration. Nothing is saved by it; the products of all steps become
// one with many rows.
//
//===----------------------------------------------------------------------===//
#include "HoistPlan.h"
#include "ft/Dialect/ETDG/Transforms/AccessFusion.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;

namespace {
/// A buffer that a group's values have, and whose they are.
struct Made {
  BufferOp buffer;
  Placement placement;
  bool isWhole; // no dimension was left out: as many values as points
  SmallVector<BlockOp> regions;
};

class AheadWriter {
public:
  AheadWriter(GraphOp graph, Block &body, Operation *item)
      : graph(graph), body(body), item(item), settings{ft::Machine::cpuDefault(), false, true, true},
        context(graph, settings), innermost(getInnermostSequential(item)) {}
  SmallVector<BufferOp> run();

private:
  static unsigned getInnermostSequential(Operation *item);
  /// Takes a value out of each leaf that has one; whether there was any.
  bool runRound();
  bool write(HoistGroup &group, SmallVectorImpl<Made> &made);
  /// The region of the item that holds a leaf.
  BlockOp getRegion(BlockOp leaf);
  /// A buffer of this round that has room for the values: those of other regions, at other points.
  Made *findRoom(const HoistGroup &group, const GroupPlan &plan, MutableArrayRef<Made> made);

  GraphOp graph;
  Block &body;
  Operation *item;
  Settings settings;
  Context context;
  const unsigned innermost; // of the sequential dimensions of the item, in iteration vectors
  SmallVector<BufferOp> buffers;
  bool copies = false;
};
} // namespace

unsigned AheadWriter::getInnermostSequential(Operation *item) {
  unsigned innermost = 0;
  for (BlockOp region : blocksOf(item))
    for (unsigned d = 0; d < region.getNumOwnDims(); ++d)
      if (region.getOperator(d) != ft::OperatorKind::Map)
        innermost = std::max<unsigned>(innermost, region.getNumAncestors() + d);
  return innermost;
}

BlockOp AheadWriter::getRegion(BlockOp leaf) {
  BlockOp region = leaf;
  while (region.getOperation() != item && region->getParentOp() != item)
    region = region->getParentOfType<BlockOp>();
  return region;
}

Made *AheadWriter::findRoom(const HoistGroup &group, const GroupPlan &plan, MutableArrayRef<Made> made) {
  if (!plan.repeated.empty())
    return nullptr;
  auto fits = [&](Made &other) {
    auto isElsewhere = [&](const Repeat &member) {
      return !llvm::is_contained(other.regions, getRegion(member.leaf));
    };
    return other.isWhole && other.placement.dims == plan.placement.dims &&
           other.placement.lengths == plan.placement.lengths &&
           other.buffer.getResult().getType().getElement() == group.members.front().getType() &&
           llvm::all_of(group.members, isElsewhere);
  };
  auto *it = llvm::find_if(made, fits);
  return it == made.end() ? nullptr : it;
}

bool AheadWriter::write(HoistGroup &group, SmallVectorImpl<Made> &made) {
  GroupPlan plan(context, group, body);
  BlockOp leaf = group.members.front().leaf;
  // What only a first iteration has (its state comes from outside) is one step of the same work.
  if (!plan.make() || !llvm::is_contained(plan.placement.dims, innermost))
    return false;
  StringRef name = leaf.getBlockName().value_or("");
  plan.placement.name = name.empty() ? "ahead" : (name + "_ahead").str();
  SmallVector<BlockOp> regions;
  for (const Repeat &member : group.members)
    regions.push_back(getRegion(member.leaf));
  Made *room = findRoom(group, plan, made);
  BufferOp buffer = room ? room->buffer : BufferOp();
  copies |= rewrite(group, plan.placement, body, context.names, buffer);
  if (room) {
    llvm::append_range(room->regions, regions);
    return true;
  }
  buffers.push_back(buffer);
  made.push_back({buffer, plan.placement, plan.repeated.empty(), regions});
  return true;
}

static bool writes(BlockOp block, BufferOp buffer) {
  return llvm::any_of(block.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
    return block.getBuffers()[write.getOperand()] == buffer.getResult();
  });
}

/// The blocks of a buffer that has several are the regions of one nest, as the readers are: they run where
/// their regions do. (Those of one round need nothing of each other.)
static void formNest(BufferOp buffer) {
  SmallVector<BlockOp> blocks;
  for (Operation *user : buffer.getResult().getUsers())
    if (auto block = dyn_cast<BlockOp>(user); block && writes(block, buffer))
      blocks.push_back(block);
  llvm::sort(blocks, [](BlockOp a, BlockOp b) { return a->isBeforeInBlock(b); });
  auto isLike = [&](BlockOp block) { return block.getDimNames() == blocks.front().getDimNames(); };
  if (blocks.size() < 2 || !llvm::all_of(blocks, isLike))
    return;
  OpBuilder builder(blocks.front());
  auto nest = NestOp::create(builder, blocks.front().getLoc(), ScheduleAttr());
  Block *body = nest.getBody().empty() ? builder.createBlock(&nest.getBody()) : &nest.getBody().front();
  for (BlockOp block : blocks)
    block->moveBefore(body, body->end());
}

bool AheadWriter::runRound() {
  CandidateFinder finder(body, context.space, settings);
  SmallVector<BlockOp> leaves;
  item->walk([&](BlockOp block) {
    if (block.isLeaf())
      leaves.push_back(block);
  });
  llvm::SmallDenseSet<Operation *> touched;
  SmallVector<Made, 0> made;
  for (HoistGroup &group : collectGroups(leaves, finder, context.names)) {
    if (llvm::any_of(group.members, [&](Repeat &r) { return touched.contains(r.leaf); }))
      continue;
    SmallVector<Operation *> readers;
    for (Repeat &member : group.members)
      readers.push_back(member.leaf);
    if (write(group, made))
      touched.insert_range(readers);
  }
  for (Made &one : made)
    formNest(one.buffer);
  return !touched.empty();
}

SmallVector<BufferOp> AheadWriter::run() {
  // Each round takes one value out of a leaf; a leaf has few products.
  constexpr unsigned maxRounds = 64;
  for (unsigned round = 0; round < maxRounds && runRound(); ++round)
    ;
  return buffers;
}

SmallVector<BufferOp> etdg::computeBefore(GraphOp graph, Block &body, Operation *item) {
  return AheadWriter(graph, body, item).run();
}
