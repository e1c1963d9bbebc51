//===- PlaceSyncs.cpp - where the threads of a block wait, said in the loops -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a block walk its loops together, but none of them is as far as the others before they have waited. What one of them, or all of
// them in a loop that they share, have stored is read by a leaf, a loop of theirs or all of them after a `loops.sync block`; and after
// which of its loop nests they wait each leaf says in `loops.syncs`.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/ChooseCopies.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "ft/Dialect/Loops/Transforms/GPU/KeepSums.h"

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

namespace {
/// Goes through a kernel's operations in their order.
class SyncPlacer {
public:
  explicit SyncPlacer(func::FuncOp kernel) : kernel(kernel) {}
  void run() { take(kernel.getBody()); }

private:
  void take(Region &region);
  void take(Operation *op);
  void waitBefore(Operation *op);

  func::FuncOp kernel;
  bool hasStored = false; // since the threads have waited
};
} // namespace

void SyncPlacer::waitBefore(Operation *op) {
  if (!hasStored)
    return;
  OpBuilder builder(op);
  loops::SyncOp::create(builder, op->getLoc(), etdg::SyncKind::Block);
  hasStored = false;
}

static bool hasInside(Operation *op, llvm::function_ref<bool(Operation *)> is) {
  return op->walk([&](Operation *inner) { return is(inner) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

/// Reads memory that a kernel makes for itself, which threads may have put together.
static bool readsOwn(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && load.getMemRef().getDefiningOp();
}

void SyncPlacer::take(Operation *op) {
  loops::LevelAttr level = loops::levelOf(op);
  if (level && level.getLevel() == etdg::LoopLevel::Thread) {
    if (hasInside(op, readsOwn))
      waitBefore(op);
    hasStored = true;
    return;
  }
  // (Iterations that a leaf computes at once are one of it.)
  if (level && level.getLevel() == etdg::LoopLevel::Lifted && hasInside(op, llvm::IsaPred<loops::LeafOp>))
    waitBefore(op);
  if (isa<loops::LeafOp, memref::LoadOp>(op))
    waitBefore(op);
  if (isa<memref::StoreOp>(op))
    hasStored = true;
  if (auto sync = dyn_cast<loops::SyncOp>(op); sync && sync.getKind() == etdg::SyncKind::Block)
    hasStored = false;
  if (isa<loops::LeafOp>(op))
    return;
  auto loop = dyn_cast<scf::ForOp>(op);
  // (What stays in registers through it is loaded before it.)
  if (loop && !keepingLeaves(loop).empty())
    waitBefore(op);
  for (Region &region : op->getRegions())
    take(region);
  hasStored |= loop && storesBehind(loop);
}

void SyncPlacer::take(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(block))
      take(&op);
}

/// Whether a leaf stores something that is not kept through the loop around it.
static bool storesItself(loops::LeafOp leaf) {
  auto kept = leaf->getAttrOfType<ArrayAttr>(loops::names::kept);
  auto isLast = [](loops::KeptAttr one) { return one.getStore() == loops::KeptStore::Last; };
  size_t last = kept ? size_t(llvm::count_if(kept.getAsRange<loops::KeptAttr>(), isLast)) : 0;
  return last < leaf.getOutputs().size();
}

/// Whether nothing of a task comes after the leaf, and any thread block may have any task: none reads what another one stores before the next barrier
/// of the grid.
static bool endsTask(loops::LeafOp leaf) {
  bool isDealt = false;
  for (Operation *op = leaf; !isa<func::FuncOp>(op); op = op->getParentOp()) {
    loops::LevelAttr level = loops::levelOf(op);
    isDealt |= level && level.getLevel() == etdg::LoopLevel::Grid;
    if (level && (level.getLevel() != etdg::LoopLevel::Grid || level.getMapping() == etdg::IterationMapping::Static))
      return false;
    if (op != leaf && !level && !isa<scf::IfOp>(op))
      return isDealt;
    for (Operation *next = op->getNextNode(); next && !isDealt; next = next->getNextNode())
      if (!next->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(next))
        return false;
  }
  return isDealt;
}

/// Whether warp groups compute all of a leaf: what they share goes through channels.
static bool isOfGroups(const LeafTiling &tiling) {
  if (tiling.tiles.empty() || !tiling.tiles.front().product || !tiling.tiles.front().product->attribute.getWgmma())
    return false;
  return size_t(tiling.tiles.front().product->attribute.getFused()) + 1 == tiling.tiles.size();
}

/// The loop nests after which threads wait: each that does not stay in registers with a product before it. Rows in registers are a lane's own, and
/// for what is on its way those wait who read it.
static SmallVector<bool> chooseSyncs(loops::LeafOp leaf, const LeafTiling &tiling, size_t nests) {
  SmallVector<bool> syncs(nests, !tiling.rows && !tiling.chain && !isAsync(leaf));
  if (tiling.chain && !syncs.empty())
    syncs.back() = storesItself(leaf);
  for (auto [i, tiles] : llvm::enumerate(tiling.tiles))
    if (tiles.product)
      for (int64_t behind = 0; behind < tiles.product->attribute.getFused(); ++behind)
        syncs[i + size_t(behind)] = false;
  if (isOfGroups(tiling) && hasWaits(leaf->getParentOfType<func::FuncOp>()) && endsTask(leaf))
    syncs.back() = false;
  return syncs;
}

LogicalResult mlir::ft::placeKernelSyncs(loops::ProgramOp program, const GpuScheduleOptions &options) {
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine, [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) {
    etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
    bool isSaid = hasInside(kernel, [](Operation *op) { return op->hasAttr(loops::names::syncs); });
    WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
      if (leaf->hasAttr(loops::names::syncs))
        return WalkResult::advance();
      FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
      FailureOr<LeafTiling> tiling = failed(own) ? FailureOr<LeafTiling>(failure()) : readTiling(leaf, *own, machine);
      if (failed(tiling))
        return WalkResult::interrupt();
      leaf->setAttr(loops::names::syncs, DenseBoolArrayAttr::get(leaf.getContext(), chooseSyncs(leaf, *tiling, own->form.graph.nests.size())));
      return WalkResult::advance();
    });
    if (!walked.wasInterrupted() && !isSaid)
      SyncPlacer(kernel).run();
    return failure(walked.wasInterrupted());
  });
}

FailureOr<SmallVector<bool>> togpu::readSyncs(loops::LeafOp leaf, const LeafTiling &tiling, size_t nests) {
  auto said = leaf->getAttrOfType<DenseBoolArrayAttr>(loops::names::syncs);
  auto refuse = [&] { return leaf.emitError("the GPU engine can't run the leaf: "); };
  if (!said)
    return refuse() << "it is not specified after which of its loop nests the threads of a block wait (" << loops::names::syncs << "): loops-place-syncs does";
  SmallVector<bool> syncs(said.asArrayRef());
  if (syncs.size() != nests)
    return refuse() << loops::names::syncs << ": expected an entry for each of its " << nests << " loop nests, found " << syncs.size();
  // Where a nest stays in registers with another one there is nothing to wait for, and nowhere to.
  for (auto [i, wait, own] : llvm::enumerate(syncs, chooseSyncs(leaf, tiling, nests)))
    if (wait && !own)
      return refuse() << loops::names::syncs << ": what loop nest " << i << " computes stays in registers or is on its way, nothing waits after it";
  return syncs;
}
