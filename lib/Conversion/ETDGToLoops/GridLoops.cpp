//===- GridLoops.cpp - kernels of a schedule for a GPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As everywhere here, loops are structured: what the schedule deals to thread blocks is a
// parallel loop of level `grid`, what they run together stands around it with a sync of the grid
// after a step, and what one of them runs stands inside. Which threads of a block compute what of a
// leaf its layouts say, which it keeps.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;
using etdg::IterationMapping;
using etdg::LoopLevel;

void toloops::shareFirst(NestGroup &group, unsigned shared) {
  for (auto [nest, common] : llvm::zip_equal(group.nests, group.common)) {
    common.clear();
    for (unsigned d = 0; d < shared; ++d)
      common.push_back(BlockOp(nest.front()).getNumAncestors() + d);
  }
}

static void nothing(const Point &) {}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitGridBody(Region &body, unsigned &number) {
  for (Operation &item : body.front()) {
    loc = item.getLoc();
    if (auto variants = dyn_cast<etdg::VariantsOp>(item)) {
      if (failed(emitVariants(variants, number)))
        return failure();
      continue;
    }
    if (!isa<etdg::KernelOp, etdg::NestOp, BlockOp>(item))
      continue;
    FailureOr<GridKernel> read = readGridKernel(&item);
    if (failed(read))
      return failure();
    if (!read->nests.empty() && failed(emitGridKernel(*read, graph.getSymName().str() + "_k" + std::to_string(number++))))
      return failure();
  }
  return success();
}

FailureOr<Emitter::GridKernel> Emitter::readGridKernel(Operation *item) {
  GridKernel read;
  if (auto grouped = dyn_cast<etdg::KernelOp>(item)) {
    read.nests = etdg::getNests(grouped.getBody());
    read.place.isGrouped = read.nests.size() > 1;
    read.place.shared = read.place.isGrouped ? unsigned(grouped.getShared()) : 0;
  } else if (auto nest = dyn_cast<etdg::NestOp>(item)) {
    read.nests.push_back(llvm::to_vector(nest.getBody().getOps<BlockOp>()));
  } else {
    read.nests.push_back({cast<BlockOp>(item)});
  }
  for (const SmallVector<BlockOp> &nest : read.nests) {
    FailureOr<GpuPlan> plan = readGpuPlan(nest, read.place, *gpu);
    if (failed(plan) || failed(findCuts(nest, *plan)))
      return failure();
    read.plans.push_back(std::move(*plan));
  }
  if (failed(checkGpuKernel(read.nests, read.plans, read.place)))
    return failure();
  auto grouped = dyn_cast<etdg::KernelOp>(item);
  if (grouped && grouped.getExitAttr() && failed(readEnded(grouped, read)))
    return failure();
  return read;
}

LogicalResult Emitter::readEnded(etdg::KernelOp kernel, GridKernel &read) {
  FailureOr<SmallVector<BlockOp>> ended = endedLeaves(kernel);
  if (failed(ended))
    return failure();
  read.exit = kernel.getExitAttr();
  read.ended = std::move(*ended);
  for (BlockOp leaf : read.ended) {
    FailureOr<GpuPlan> plan = readGpuPlan(leaf, read.place, *gpu);
    if (failed(plan) || failed(findCuts(leaf, *plan)))
      return failure();
    read.endedPlans.push_back(std::move(*plan));
  }
  return success();
}

LogicalResult Emitter::findCuts(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  if (!plan.columns)
    return success();
  LeafContext leaves;
  leaves.row = plan.row;
  leaves.columns = plan.columns;
  if (plan.row)
    leaves.rowOwner.assign(nest.begin(), nest.end());
  llvm::DenseMap<Operation *, std::unique_ptr<LeafForm>> forms;
  for (BlockOp block : nest)
    if (failed(makeLeafForms(
            block, leaves, gpu->getMachine(), [this](Value buffer, unsigned d) { return kept.at(buffer, d); },
            [&](BlockOp leaf) -> LeafForm & {
              std::unique_ptr<LeafForm> &form = forms[leaf];
              if (!form)
                form = std::make_unique<LeafForm>();
              return *form;
            })))
      return failure();
  for (auto &[leaf, form] : forms)
    for (NestSplit split : form->splits)
      cuts[leaf].push_back(split.kind == NestSplit::shared ? split.loop : split.kind == NestSplit::everyone ? -1 : -2);
  return success();
}

LogicalResult Emitter::emitGridKernel(const GridKernel &read, StringRef name) {
  beginKernel(name);
  etdg::ThreadBlockAttr block = read.plans.front().block;
  stagedMemory.clear();
  bool stages = false;
  for (auto [nest, plan] : llvm::zip_equal(read.nests, read.plans)) {
    if (failed(emitStaging(nest, plan)))
      return failure();
    stages |= !plan.placements.empty();
  }
  if (stages)
    loops::SyncOp::create(builder, loc, etdg::SyncKind::Grid);
  NestGroup group;
  group.nests = read.nests;
  group.common.resize(read.nests.size());
  shareFirst(group, read.place.shared);
  size_t next = 0;
  auto emitOne = [&](ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed) -> LogicalResult {
    const GpuPlan &plan = read.plans[next++];
    if (plan.waitsBefore)
      loops::SyncOp::create(builder, loc, etdg::SyncKind::Grid);
    if (failed(emitGridSteps(nest, plan, point, fixed.size())))
      return failure();
    // What the nests share goes on when all of them are done.
    if (next == read.nests.size() && !fixed.empty() && plan.waits[fixed.size() - 1])
      loops::SyncOp::create(builder, loc, etdg::SyncKind::Grid);
    return success();
  };
  size_t nextEnded = 0;
  auto emitEnded = [&](ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed) {
    return emitGridSteps(nest, read.endedPlans[nextEnded++], point, fixed.size());
  };
  if (failed(read.exit ? emitLeaving(group, read.exit, read.ended, emitOne, emitEnded) : emitGroup(group, Point(), emitOne)))
    return failure();
  // Of what is staged each thread block has a part. How many there are of others loops-choose-tasks says.
  kernel->setAttr(loops::names::grid, loops::GridAttr::get(context, block, stages ? gpu->getMultiprocessors() : 0));
  finishKernel("thread blocks of " + gpu->target, /*seconds=*/0);
  return success();
}

//===----------------------------------------------------------------------===//
// What all thread blocks are at
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitGridSteps(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point, unsigned step) {
  if (step < plan.steps.size())
    return emitLoops(nest, point, plan.steps[step], [&](Point at) -> LogicalResult {
      if (failed(emitGridSteps(nest, plan, at, step + 1)))
        return failure();
      if (plan.waits[step])
        loops::SyncOp::create(builder, loc, etdg::SyncKind::Grid);
      return success();
    });
  if (!plan.placements.empty())
    return emitFixed(nest, plan, point);
  // Outer ones first: ranges of others depend on them.
  SmallVector<unsigned> dealt(plan.outer);
  llvm::append_range(dealt, plan.flat);
  return emitDealt(nest, plan, point, dealt);
}

LogicalResult Emitter::emitDealt(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point, ArrayRef<unsigned> dims) {
  if (dims.empty())
    return emitDealtColumns(nest, plan, point);
  return emitPoints(nest, point, dims.front(), loops::LevelAttr::get(context, LoopLevel::Grid, plan.mapping), nothing,
                    [&](Point at) { return emitDealt(nest, plan, at, dims.drop_front()); });
}

LogicalResult Emitter::emitDealtColumns(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point) {
  if (!plan.columns)
    return emitDealtRows(nest, plan, point);
  int64_t most = plan.columnTile ? plan.columnTile : plan.columns;
  Value first = index(0), last = index(plan.columns);
  auto loop = loops::ChunksOp::create(builder, loc, first, last, most, plan.columnTile ? plan.columnTile : plan.unit,
                                      loops::LevelAttr::get(context, LoopLevel::Grid, plan.mapping));
  point.columns = Columns{loop.getFirst(), plan.unit, plan.columns, loop.getCount()};
  return inParallelBody(&loop.getRegion().front(), [&] { return emitDealtRows(nest, plan, point); });
}

LogicalResult Emitter::emitDealtRows(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point) {
  auto inside = [&](Point at) {
    return emitLoops(nest, at, plan.inner, [&](Point all) { return emitRegions(nest, all); });
  };
  if (!plan.row)
    return inside(point);
  // A tile that is a number is taken as it is.
  return emitRowChunks(nest, point, *plan.row, plan.rowTile ? plan.rowTile : plan.maxRows,
                       plan.rowTile ? std::optional<int64_t>(plan.rowTile) : std::nullopt,
                       loops::LevelAttr::get(context, LoopLevel::Grid, plan.mapping), nothing, inside);
}

//===----------------------------------------------------------------------===//
// What one thread block runs
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitBlockNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed) {
  BlockOp front = nest.front();
  GpuPlace place{/*isGrid=*/false, /*isGrouped=*/!fixed.empty(), /*shared=*/unsigned(fixed.size()), point.rowDim.has_value()};
  FailureOr<GpuPlan> plan = readGpuPlan(nest, place, *gpu);
  if (failed(plan))
    return failure();
  if (plan->row && point.columns)
    return front.emitError("the GPU engine can't run the schedule: leaves whose columns are shared are computed for one row");
  auto inside = [&](Point at) {
    return emitLoops(nest, at, plan->inner, [&](Point all) -> LogicalResult {
      if (!plan->lift)
        return emitRegions(nest, all);
      auto lifted = loops::LevelAttr::get(context, LoopLevel::Lifted, IterationMapping::None);
      return emitPoints(nest, all, *plan->lift, lifted, nothing, [&](Point each) { return emitRegions(nest, each); });
    });
  };
  if (!plan->row)
    return inside(point);
  return emitRowChunks(nest, point, *plan->row, plan->maxRows, plan->maxRows,
                       loops::LevelAttr::get(context, LoopLevel::None, IterationMapping::None), nothing, inside);
}
