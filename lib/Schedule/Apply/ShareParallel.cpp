//===- ShareParallel.cpp - parallel loops that nests share ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests of a kernel share loops that all units take together. Where these loops are parallel, one unit takes an iteration of all nests: they are the
// body of a block that has the loops. Of what stands between the nests alone each iteration has its own part then, as large as a tile.
//
//===----------------------------------------------------------------------===//
#include "AroundBlocks.h"

#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Schedule/Apply/ApplyTiles.h"

using namespace mlir;
using namespace mlir::ft;
using etdg::BlockBuilder;
using etdg::BlockOp;
using etdg::BufferOp;
using etdg::LoopAttr;
using etdg::PlacementAttr;
using etdg::ScheduleAttr;

namespace {
/// Puts the nests of one kernel into a body.
class ParallelSharer {
public:
  ParallelSharer(etdg::KernelOp kernel, ArrayRef<Operation *> items);
  bool isParallel();
  LogicalResult check();
  void run();

private:
  ArrayRef<LoopAttr> loopsOf(Operation *item) { return etdg::scheduleOf(item).getLoops(); }
  LogicalResult check(Operation *item, unsigned number);
  LogicalResult checkInside(Operation *item);
  ScheduleAttr scheduleAround();
  ScheduleAttr scheduleInside(Operation *item);
  std::optional<AffineExpr> ownPart(BlockOp block, AffineExpr index, std::optional<int64_t> &length);
  bool findParts(BufferOp buffer, SmallVectorImpl<std::optional<int64_t>> &lengths);
  void makeOwn(BufferOp buffer, BlockOp around);

  etdg::KernelOp kernel;
  SmallVector<Operation *> items;
  SmallVector<BlockOp> blocks; // of all items
  MLIRContext *context;
  unsigned shared, numAncestors;
};
} // namespace

ParallelSharer::ParallelSharer(etdg::KernelOp kernel, ArrayRef<Operation *> items)
    : kernel(kernel), items(items), context(kernel.getContext()), shared(unsigned(kernel.getShared())), numAncestors(0) {
  for (Operation *item : items)
    llvm::append_range(blocks, etdg::blocksOf(item));
  if (!blocks.empty())
    numAncestors = blocks.front().getNumAncestors();
}

//===----------------------------------------------------------------------===//
// What can be shared so
//===----------------------------------------------------------------------===//

bool ParallelSharer::isParallel() {
  return shared > 0 && !items.empty() && llvm::any_of(items, [&](Operation *item) {
    ArrayRef<LoopAttr> loops = loopsOf(item);
    return llvm::any_of(loops.take_front(std::min<size_t>(shared, loops.size())),
                        [](LoopAttr loop) { return loop.isParallel() && loop.getLevel() != etdg::LoopLevel::None; });
  });
}

LogicalResult ParallelSharer::check(Operation *item, unsigned number) {
  BlockOp block = etdg::blocksOf(item).front();
  auto refuse = [&] {
    return block.emitError("the nests of a kernel share loop ") << number << ", which is parallel: one unit runs an iteration of all of them, ";
  };
  ArrayRef<LoopAttr> first = loopsOf(items.front()), own = loopsOf(item);
  if (number >= own.size() || number >= first.size() || own[number] != first[number]) {
    InFlightDiagnostic diag = refuse() << "expected the same loop in each";
    if (number < first.size())
      diag << ", " << first[number];
    if (number < own.size())
      diag << ", found " << own[number];
    diag.attachNote(etdg::blocksOf(items.front()).front().getLoc()) << "the first nest is here";
    return diag;
  }
  if (!own[number].isParallel() || own[number].getLevel() == etdg::LoopLevel::None || own[number].getDimension() != int64_t(number))
    return refuse() << "expected all loops that they share to be parallel, of one level, over their first dimensions in order, found " << own[number];
  for (BlockOp each : blocks)
    if ((each == item || each->getParentOp() == item) && each.getOperator(number) != OperatorKind::Map)
      return refuse() << "found a dimension that is run in order";
  return success();
}

/// One unit runs what is left.
LogicalResult ParallelSharer::checkInside(Operation *item) {
  ScheduleAttr schedule = etdg::scheduleOf(item);
  BlockOp block = etdg::blocksOf(item).front();
  for (LoopAttr loop : schedule.getLoops().drop_front(shared))
    if (schedule.isOverColumns(loop) || (loop.getLevel() != etdg::LoopLevel::None && loop.getLevel() != etdg::LoopLevel::Rows))
      return block.emitError("the nests of a kernel share parallel loops: one unit runs what is inside, expected a loop without a level, found ") << loop;
  for (PlacementAttr placement : schedule.getPlacements())
    if (placement.getLoop() < int64_t(shared))
      return block.emitError("the nests of a kernel share parallel loops: one unit runs what is inside, expected copies there, found ") << placement;
  return success();
}

LogicalResult ParallelSharer::check() {
  if (kernel.getExitAttr())
    return kernel.emitError("the nests of a kernel share parallel loops: units leave no such loop together, expected none with an exit");
  for (Operation *item : items) {
    for (unsigned number = 0; number < shared; ++number)
      if (failed(check(item, number)))
        return failure();
    if (failed(checkInside(item)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What stands between the nests
//===----------------------------------------------------------------------===//

/// An index as it is within an iteration of the shared loops: 0 where it is one of them, the place in the tile where they count these; null: no
/// iteration has a part of its own. `length`: of that part.
std::optional<AffineExpr> ParallelSharer::ownPart(BlockOp block, AffineExpr index, std::optional<int64_t> &length) {
  auto dim = dyn_cast<AffineDimExpr>(index);
  if (!dim)
    return std::nullopt;
  auto isShared = [&](unsigned d) { return d >= numAncestors && d < numAncestors + shared; };
  if (isShared(dim.getPosition())) {
    length = 1;
    return getAffineConstantExpr(0, context);
  }
  std::optional<std::pair<unsigned, int64_t>> tile = schedule::tileOf(block, dim.getPosition());
  if (!tile || !isShared(tile->first))
    return std::nullopt;
  length = tile->second;
  return index - getAffineDimExpr(tile->first, context) * tile->second;
}

/// Of each index of a buffer the length of an iteration's part, where all who meet it have the same; false where nothing is its own.
bool ParallelSharer::findParts(BufferOp buffer, SmallVectorImpl<std::optional<int64_t>> &lengths) {
  lengths.assign(buffer.getType().getDepth(), std::nullopt);
  SmallVector<bool> isWhole(lengths.size(), false);
  bool isMet = false;
  auto meet = [&](BlockOp block, AffineMap map) {
    for (auto [p, index] : llvm::enumerate(map.getResults())) {
      std::optional<int64_t> own;
      ownPart(block, index, own);
      isWhole[p] |= !own || (isMet && lengths[p] != own);
      lengths[p] = own;
    }
    isMet = true;
  };
  for (Operation *user : buffer->getUsers()) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block || !llvm::is_contained(blocks, block))
      return false;
    for (auto read : block.getReads().getAsRange<etdg::ReadAttr>())
      for (etdg::PieceAttr piece : read.getPieces()) {
        bool isBox = read.getElementRank() != 0 || !piece.getGathers().empty();
        bool isOf = piece.getKind() == etdg::SourceKind::Buffer && block.getBuffers()[piece.getOperand()] == buffer.getResult();
        for (etdg::GatherAttr gather : piece.getGathers())
          isOf |= block.getBuffers()[gather.getOperand()] == buffer.getResult();
        if (isOf && isBox)
          return false;
        if (isOf)
          meet(block, piece.getMap().getValue());
      }
    for (auto write : block.getWrites().getAsRange<etdg::WriteAttr>())
      if (block.getBuffers()[write.getOperand()] == buffer.getResult())
        meet(block, write.getMap().getValue());
  }
  for (auto [length, whole] : llvm::zip_equal(lengths, isWhole))
    if (whole)
      length.reset();
  return llvm::any_of(lengths, [](std::optional<int64_t> length) { return length.has_value(); });
}

/// Moves a buffer into the block around, if each iteration has a part of its own.
void ParallelSharer::makeOwn(BufferOp buffer, BlockOp around) {
  SmallVector<std::optional<int64_t>> parts;
  if (!findParts(buffer, parts))
    return;
  SmallVector<ft::LengthAttr> lengths;
  for (auto [length, part] : llvm::zip_equal(buffer.getType().getLengths(), parts))
    if (part != std::optional<int64_t>(1))
      lengths.push_back(part ? ft::LengthAttr::get(context, *part) : length);
  OpBuilder builder(&around.getBody().front(), around.getBody().front().begin());
  auto own = BufferOp::create(builder, buffer.getLoc(), etdg::BufferType::get(context, lengths, buffer.getType().getElement()), nullptr, nullptr);
  auto inside = [&](BlockOp block, AffineMap map) {
    SmallVector<AffineExpr> results;
    for (auto [index, part] : llvm::zip_equal(map.getResults(), parts)) {
      std::optional<int64_t> length;
      if (part != std::optional<int64_t>(1))
        results.push_back(part ? *ownPart(block, index, length) : index);
    }
    return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
  };
  for (BlockOp block : blocks) {
    if (!llvm::is_contained(block.getBuffers(), buffer.getResult()))
      continue;
    BlockBuilder made = BlockBuilder::from(block);
    const int64_t old = made.operandFor(buffer), now = made.operandFor(own);
    for (etdg::ReadAttr &read : made.reads)
      read = etdg::transformRead(
          read, [&](AffineMap map, int64_t operand) { return operand == old ? inside(block, map) : map; }, [](IntegerSet set) { return set; },
          [&](int64_t operand) { return operand == old ? now : operand; });
    for (etdg::WriteAttr &write : made.writes)
      if (write.getOperand() == old)
        write = etdg::WriteAttr::get(context, now, AffineMapAttr::get(inside(block, write.getMap().getValue())));
    made.assign(block);
  }
  buffer.erase();
}

//===----------------------------------------------------------------------===//
// The block around
//===----------------------------------------------------------------------===//

static AffineMapAttr identity(unsigned dims, MLIRContext *context) {
  return AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(dims, context));
}

ScheduleAttr ParallelSharer::scheduleAround() {
  ScheduleAttr first = etdg::scheduleOf(items.front());
  return ScheduleAttr::get(context, identity(shared, context), first.getLoops().take_front(shared), {}, first.getBefore(), {}, first.getBlock(), 0,
                           first.getTarget());
}

ScheduleAttr ParallelSharer::scheduleInside(Operation *item) {
  ScheduleAttr given = etdg::scheduleOf(item);
  SmallVector<LoopAttr> loops;
  for (LoopAttr loop : given.getLoops().drop_front(shared))
    loops.push_back(loop.withDimension(loop.getDimension() - shared));
  SmallVector<PlacementAttr> placements;
  for (PlacementAttr placement : given.getPlacements())
    placements.push_back(PlacementAttr::get(context, placement.getRead(), placement.getLoop() - shared, placement.getLevel(), placement.getStages()));
  unsigned numOwn = etdg::blocksOf(item).front().getNumOwnDims() - shared;
  if (numOwn == 0 && placements.empty())
    return nullptr;
  return ScheduleAttr::get(context, identity(numOwn, context), loops, placements, etdg::SyncKind::None, {}, {}, 0, given.getTarget());
}

void ParallelSharer::run() {
  // The dimensions that they share have one name.
  SmallVector<StringAttr> names(blocks.front().getDimNames());
  names.truncate(numAncestors + shared);
  for (Operation *item : ArrayRef(items).drop_front())
    etdg::renameDims(etdg::blocksOf(item), names);
  llvm::StringSet<> common = schedule::findCommon(blocks, numAncestors + shared);
  OpBuilder builder(kernel);
  BlockOp around = schedule::buildAround(builder, blocks, shared, common);
  around.setScheduleAttr(scheduleAround());
  SmallVector<BufferOp> between;
  for (BlockOp block : blocks)
    for (Value buffer : block.getBuffers())
      if (auto made = buffer.getDefiningOp<BufferOp>(); made && !llvm::is_contained(between, made))
        between.push_back(made);
  for (BufferOp buffer : between)
    makeOwn(buffer, around);
  for (Operation *item : items) {
    etdg::setSchedule(item, scheduleInside(item));
    item->moveBefore(around.getYield());
  }
  for (BlockOp block : blocks) {
    BlockBuilder made = BlockBuilder::from(block);
    schedule::enterAround(made, shared, common);
    made.assign(block);
  }
  kernel.erase();
}

LogicalResult mlir::ft::shareParallel(etdg::KernelOp kernel) {
  SmallVector<Operation *> items;
  for (Operation &item : kernel.getBody().front())
    if (isa<etdg::NestOp, BlockOp>(item)) {
      if (!etdg::scheduleOf(&item))
        return success(); // in the order of the program
      items.push_back(&item);
    }
  ParallelSharer sharer(kernel, items);
  if (!sharer.isParallel())
    return success();
  if (failed(sharer.check()))
    return failure();
  sharer.run();
  return success();
}
