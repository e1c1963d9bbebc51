//===- CheckSyncs.cpp - units wait where they have to ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/Analysis/Syncs.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/Analysis/RefuseLoop.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::SyncKind;

//===----------------------------------------------------------------------===//
// What nests touch
//===----------------------------------------------------------------------===//

/// Calls `read` and `write` for the buffers of each leaf.
template <class Read, class Write>
static void forEachAccess(ArrayRef<BlockOp> nest, Read read, Write write) {
  auto inPlace = etdg::getInPlaceArguments(BlockOp(nest.front())->getParentOfType<etdg::GraphOp>());
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block)) {
      for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
        Value buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()];
        write(leaf, buffer);
        if (Value argument = inPlace.lookup(buffer)) // one memory, in some calls
          write(leaf, argument);
      }
      for (Value buffer : leaf.getBuffers())
        read(leaf, buffer); // written ones as well: that is safe
    }
}

void schedule::collectAccesses(ArrayRef<BlockOp> nest, llvm::DenseSet<Value> &reads, llvm::DenseSet<Value> &writes) {
  forEachAccess(
      nest, [&](BlockOp, Value buffer) { reads.insert(buffer); }, [&](BlockOp, Value buffer) { writes.insert(buffer); });
}

/// Whether two accesses to one buffer may be to the same memory at equal values of their first `shared` dimensions.
static bool meetIn(unsigned shared, etdg::Access &one, etdg::Access &other, const etdg::SymbolSpace &space) {
  const unsigned offset = one.getPointSize();
  etdg::SetBuilder builder(space, offset + other.getPointSize());
  if (failed(addPoint(builder, one)) || failed(addPoint(builder, other, offset)))
    return true;
  for (unsigned d = 0; d < shared; ++d)
    builder.addEqual(d, offset + d);
  auto first = getPlane(builder, one, 0), second = getPlane(builder, other, offset);
  if (failed(first) || failed(second))
    return true;
  auto buffer = one.buffer.getDefiningOp<etdg::BufferOp>();
  SmallVector<int64_t> live = buffer ? buffer.getPlanes() : SmallVector<int64_t>();
  const size_t numOwner = etdg::getNumOwnerDims(one.buffer);
  for (auto [d, planes] : llvm::enumerate(llvm::zip_equal(*first, *second))) {
    auto &[x, y] = planes;
    if (!x || !y)
      continue;
    etdg::LinearExpr difference = *y;
    difference *= -1;
    difference += *x;
    // Where few planes live, those that lie so many apart are one.
    if (!live.empty() && d >= numOwner && live[d - numOwner] > 0)
      difference.add(builder.addLocal(), live[d - numOwner]);
    builder.add(difference, /*isEq=*/true);
  }
  return !etdg::isEmpty(builder.get());
}

/// The same of all that two leaves touch.
static bool meetIn(unsigned shared, BlockOp one, BlockOp other, const etdg::SymbolSpace &space) {
  auto inPlace = etdg::getInPlaceArguments(one->getParentOfType<etdg::GraphOp>());
  SmallVector<etdg::Access, 0> mine = etdg::getAccesses(one), its = etdg::getAccesses(other);
  for (etdg::Access &a : mine)
    for (etdg::Access &b : its) {
      if (!a.isWrite() && !b.isWrite())
        continue;
      bool mayBeOne = (a.isWrite() && inPlace.lookup(a.buffer) == b.buffer) || (b.isWrite() && inPlace.lookup(b.buffer) == a.buffer);
      if (mayBeOne || (a.buffer == b.buffer && meetIn(shared, a, b, space)))
        return true;
    }
  return false;
}

BlockOp PendingAccesses::findMeeting(ArrayRef<BlockOp> nest) const {
  BlockOp met;
  auto ask = [&](const llvm::MapVector<Value, BlockOp> &pending, Value buffer) {
    if (auto found = pending.find(buffer); !met && found != pending.end())
      met = found->second;
  };
  forEachAccess(
      nest, [&](BlockOp, Value buffer) { ask(writes, buffer); }, [&](BlockOp, Value buffer) { ask(reads, buffer); });
  if (!met || shared == 0)
    return met;
  etdg::SymbolSpace space(BlockOp(nest.front())->getParentOfType<etdg::GraphOp>());
  for (BlockOp pending : leaves)
    for (BlockOp block : nest)
      for (BlockOp leaf : leavesOf(block))
        if (meetIn(shared, pending, leaf, space))
          return pending;
  return BlockOp();
}

void PendingAccesses::add(ArrayRef<BlockOp> nest) {
  forEachAccess(
      nest, [&](BlockOp leaf, Value buffer) { reads.insert({buffer, leaf}); },
      [&](BlockOp leaf, Value buffer) { writes.insert({buffer, leaf}); });
  for (BlockOp block : nest)
    llvm::append_range(leaves, leavesOf(block));
}

void PendingAccesses::clear() {
  reads.clear();
  writes.clear();
  leaves.clear();
}

LogicalResult schedule::refuseMeeting(ArrayRef<BlockOp> nest, BlockOp met, StringRef engine, StringRef units, SyncKind sync) {
  InFlightDiagnostic diag = BlockOp(nest.front()).emitError("the ")
                            << engine << " engine can't run the schedule: the nest touches what one before it in the kernel "
                            << "writes, or writes what it touches, and " << units << " don't wait in between; expected before = "
                            << etdg::stringifySyncKind(sync);
  diag.attachNote(met.getLoc()) << "it would have to wait for this block";
  return diag;
}

//===----------------------------------------------------------------------===//
// The nests of a CPU's kernel
//===----------------------------------------------------------------------===//

bool schedule::isRunTogether(ArrayRef<BlockOp> nest, const NestPlan &plan, ArrayRef<unsigned> fixed) {
  return !plan.isParallel() && plan.inner.empty() &&
         (!plan.team.empty() || BlockOp(nest.front()).getNumAncestors() > 0 || !fixed.empty());
}

/// Cores that run several nests together have shares of each.
static LogicalResult checkMapping(ArrayRef<BlockOp> nest, const NestPlan &plan, ArrayRef<unsigned> fixed) {
  etdg::ScheduleAttr schedule = scheduleOf(nest);
  for (etdg::LoopAttr loop : schedule ? schedule.getLoops() : ArrayRef<etdg::LoopAttr>()) {
    if (loop.getLevel() != etdg::LoopLevel::Core || (plan.columns && !schedule.isOverColumns(loop)))
      continue;
    if (plan.columns && plan.team.empty() && fixed.empty())
      return refuseLoop(nest.front(), schedule, loop, "CPU")
             << "tasks share columns, and the nests of this kernel run on all cores together";
    if (plan.inTurn)
      return refuseLoop(nest.front(), schedule, loop, "CPU")
             << "cores that run the nests of a kernel together have shares of each: expected mapping = block, found dynamic";
  }
  return success();
}

static LogicalResult checkGroup(const NestGroup &group, PendingAccesses &pending, bool isAlone);

/// Before the first nest of a kernel, or of a body that all cores go into, there is nothing to wait for.
static LogicalResult refuseFirstWait(ArrayRef<BlockOp> nest) {
  etdg::ScheduleAttr schedule = scheduleOf(nest);
  if (!schedule || schedule.getBefore() == SyncKind::None)
    return success();
  return BlockOp(nest.front()).emitError("the CPU engine can't run the schedule: nothing stands before the nest that cores could wait "
                                         "for, expected no 'before', found ")
         << etdg::stringifySyncKind(schedule.getBefore());
}

/// The bodies that all cores go into: each begins with nothing that it could have to wait for, since the nest has waited.
static LogicalResult checkBodies(ArrayRef<BlockOp> nest) {
  for (BlockOp block : nest) {
    PendingAccesses pending;
    SmallVector<NestGroup> groups = block.isLeaf() ? SmallVector<NestGroup>() : getGroups(block.getBody());
    if (!groups.empty() && failed(refuseFirstWait(groups.front().nests.front())))
      return failure();
    for (const NestGroup &group : groups)
      if (failed(checkGroup(group, pending, /*isAlone=*/false)))
        return failure();
  }
  return success();
}

static LogicalResult checkGroup(const NestGroup &group, PendingAccesses &pending, bool isAlone) {
  // Steps that nests share end in a wait each. Where there is none of them, what was pending still is.
  const PendingAccesses before = pending;
  for (auto [nest, fixed] : llvm::zip_equal(group.nests, group.common)) {
    FailureOr<NestPlan> plan = readPlan(nest, fixed, PlanPlace::Cores, /*hasRows=*/false);
    if (failed(plan) || (!isAlone && failed(checkMapping(nest, *plan, fixed))))
      return failure();
    etdg::ScheduleAttr schedule = scheduleOf(nest);
    if (schedule && schedule.getBefore() != SyncKind::None)
      pending.clear();
    if (BlockOp met = pending.findMeeting(nest))
      return refuseMeeting(nest, met, "CPU", "cores", SyncKind::Cores);
    if (isRunTogether(nest, *plan, fixed) && failed(checkBodies(nest)))
      return failure();
    if (plan->team.empty()) // (own steps end in a wait each)
      pending.add(nest);
  }
  if (!group.common.front().empty())
    pending = before;
  return success();
}

LogicalResult schedule::checkCpuSyncs(const NestGroup &group) {
  if (failed(refuseFirstWait(group.nests.front())))
    return failure();
  if (group.nests.size() == 1 && llvm::all_of(group.nests.front(), [](BlockOp block) { return block.isLeaf(); }))
    return success();
  PendingAccesses pending;
  return checkGroup(group, pending, /*isAlone=*/group.nests.size() == 1);
}
