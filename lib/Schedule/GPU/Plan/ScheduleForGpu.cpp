//===- ScheduleForGpu.cpp - loops, levels and layouts for a GPU -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `etdg-schedule-for-gpu`: each kernel, and each nest inside the bodies
// of its blocks, gets a binding schedule, each leaf its layouts; where lengths
// decide between two forms of a kernel, `etdg.variants` holds both. What is specified
// already stays.
//
//===----------------------------------------------------------------------===//

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Apply/ApplyPlacements.h"
#include "ft/Schedule/Apply/ApplyTiles.h"
#include "ft/Schedule/CPU/ChooseCuts.h"
#include "ft/Schedule/Apply/Exits.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "Scheduler.h"
#include "ft/Analysis/ScheduledOrder.h"
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/GPU/Plan/PlaceBuffers.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/GPU/Layouts/Chains.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGSCHEDULEFORGPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

Nests schedule::nestsOf(Operation *item) {
  if (auto kernel = dyn_cast<etdg::KernelOp>(item))
    return etdg::getNests(kernel.getBody());
  return {etdg::blocksOf(item)};
}

GpuPlace schedule::placeOf(Operation *item, const Nests &nests) {
  GpuPlace place;
  place.isGrouped = nests.size() > 1;
  if (auto kernel = dyn_cast<etdg::KernelOp>(item); kernel && place.isGrouped)
    place.shared = unsigned(kernel.getShared());
  return place;
}

void schedule::flattenVariants(etdg::VariantsOp variants) {
  bool hasForms = false;
  for (Region &region : variants.getVariants())
    for (Operation &op : llvm::make_early_inc_range(region.front())) {
      hasForms |= isa<etdg::VariantsOp>(op);
      if (isa<etdg::BufferOp>(op))
        op.moveBefore(variants);
    }
  if (!hasForms)
    return;
  SmallVector<Attribute> guards;
  std::vector<std::unique_ptr<Region>> regions;
  for (auto [number, region] : llvm::enumerate(variants.getVariants())) {
    auto own = std::make_unique<Region>();
    own->takeBody(region);
    bool isLast = number == variants.getGuards().size();
    etdg::flattenVariant(std::move(own), isLast ? etdg::GuardAttr() : cast<etdg::GuardAttr>(variants.getGuards()[number]), guards, regions);
  }
  OpBuilder builder(variants);
  auto flat = etdg::VariantsOp::create(builder, variants.getLoc(), builder.getArrayAttr(guards), unsigned(regions.size()));
  for (auto [to, from] : llvm::zip_equal(flat.getVariants(), regions))
    to.takeBody(*from);
  variants.erase();
}

//===----------------------------------------------------------------------===//
// Inside a nest
//===----------------------------------------------------------------------===//

static LeafContext contextOf(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  LeafContext context;
  context.row = plan.row;
  context.maxRows = plan.maxRows;
  context.columns = plan.columns;
  context.unit = plan.unit;
  context.columnTile = plan.columnTile;
  context.products = plan.products;
  context.threads = plan.block.getThreads();
  context.resident = isOneLeaf(nest, plan) ? plan.block.getResident() : 1;
  context.alone = plan.isWaiting();
  context.sums = plan.block.getSums();
  if (plan.row)
    context.rowOwner.assign(nest.begin(), nest.end());
  return context;
}

/// Says why warp groups don't compute a leaf with several products of halves as a chain of them.
static void tellOfChain(BlockOp leaf, const LeafForm &form, const LeafContext &context, bool isRowWise, const Machine &machine) {
  auto layouts = leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts);
  auto usesUnits = [](Attribute layout) {
    auto product = dyn_cast<tile::ProductAttr>(layout);
    return product && product.usesMatrixUnits();
  };
  if (!hasGroups(machine) || !isTold(leaf) || llvm::count_if(layouts, usesUnits) < 2)
    return;
  leaf::Nest collapsed;
  std::string why;
  TileContext tile = tileContextOf(form, 0, context, isRowWise, collapsed);
  if (planChain(form, tile, tile.threads / tile::PipelineAttr::groupThreads * tile::ProductAttr::groupRows, why))
    why = context.alone ? "its thread blocks wait for each other" : "tiles of fragments cost less";
  remark::missed(leaf.getLoc(), remark::RemarkOpts::name("gpu-pipelines").category("gpu")) << "warp groups don't compute its products as a chain: " << why;
}

LogicalResult Scheduler::layOut(BlockOp leaf, const LeafContext &context, bool &usesTiles) {
  auto &form = forms[leaf];
  // As the loops will have it: where there is room for one row, the leaf is of one row.
  bool hasRows = context.row && context.maxRows > 1;
  bool rowWise = hasRows && isUniform(leaf, *context.row, noPlanes);
  auto make = [&](bool isRowWise) -> LogicalResult {
    form = std::make_unique<LeafForm>();
    return makeLeafForm(*form, leaf, machine, context.row, isRowWise, [&](Value buffer) { return context.isPerRow(buffer); });
  };
  auto set = [&](bool isRowWise) {
    leaf->setAttr(etdg::names::layouts, ArrayAttr::get(leaf.getContext(), chooseLayouts(*form, context, isRowWise, machine)));
  };
  bool isOpen = !leaf->hasAttr(etdg::names::layouts);
  // Products take rows in runs between which pieces of a read change; others one by one.
  if (isOpen && !form && context.products && hasRows && findRowRuns(leaf, *context.row, noPlanes)) {
    if (failed(make(true)))
      return failure();
    set(true);
    isOpen = !hasProductLayout(leaf);
    if (isOpen)
      form.reset();
  }
  if (!form && failed(make(rowWise)))
    return failure();
  if (isOpen)
    set(rowWise);
  tellOfChain(leaf, *form, context, rowWise, machine);
  for (Attribute layout : leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts))
    if (isa<tile::ProductAttr, tile::ChainAttr>(layout))
      usesTiles = true;
    else if (auto tiling = dyn_cast<etdg::TilingAttr>(layout))
      usesTiles |= tiling.getTile() * tiling.getRows() > 1 && tiling.getLanes() == 1;
  return success();
}

LogicalResult Scheduler::completeBody(Region &body, const LeafContext &outside, bool &usesTiles) {
  for (const NestGroup &group : getGroups(body)) {
    GpuPlace place;
    place.isGrid = false;
    place.hasRows = outside.row.has_value();
    if (auto kernel = dyn_cast<etdg::KernelOp>(group.op); kernel && group.nests.size() > 1) {
      place.shared = unsigned(kernel.getShared());
      place.isGrouped = true;
    }
    for (const SmallVector<BlockOp> &nest : group.nests)
      if (failed(completeInside(nest, place, outside, usesTiles)))
        return failure();
  }
  return success();
}

LogicalResult Scheduler::completeInside(ArrayRef<BlockOp> nest, const GpuPlace &place, const LeafContext &outside,
                                        bool &usesTiles) {
  BlockOp front = nest.front();
  GpuPlan plan;
  if (isBinding(scheduleOf(nest))) {
    FailureOr<GpuPlan> read = readGpuPlan(nest, place, options);
    if (failed(read))
      return failure();
    plan = std::move(*read);
  } else if (front.getNumOwnDims() > 0) {
    plan = planner.planInside(nest, outside, place);
    if (plan.row)
      plan.rowTile = plan.maxRows;
    setSchedule(nest, toGpuSchedule(nest, plan, place, options.target));
  }
  LeafContext context = outside;
  if (plan.row) {
    context.row = plan.row;
    context.maxRows = plan.maxRows;
    context.rowOwner.assign(nest.begin(), nest.end());
  }
  if (plan.lift) {
    context.lift = plan.lift;
    context.lifts = constantExtent(nest, *plan.lift);
  }
  for (BlockOp block : nest)
    if (failed(block.isLeaf() ? layOut(block, context, usesTiles) : completeBody(block.getBody(), context, usesTiles)))
      return failure();
  return success();
}

LogicalResult Scheduler::complete(const Nests &nests, ArrayRef<GpuPlan> plans, bool &usesTiles) {
  // (Nothing else of a kernel of leaves lies in shared memory for longer than one of them runs.)
  auto areLeaves = [](ArrayRef<BlockOp> nest) { return llvm::all_of(nest, [](BlockOp block) { return block.isLeaf(); }); };
  const bool ownsShared = llvm::all_of(nests, areLeaves) && llvm::all_of(plans, [](const GpuPlan &plan) { return plan.placements.empty(); });
  for (auto [nest, plan] : llvm::zip_equal(nests, plans)) {
    LeafContext context = contextOf(nest, plan);
    // (Regions of a nest have their operands beside each other.)
    if (ownsShared && context.alone)
      context.stageBytes = (plan.block.getShared() - plan.block.getThreads() * plan.block.getSums() - bytesOfWarps(plan.block, machine)) / int64_t(nest.size());
    if (failed(complete(nest, context, usesTiles)))
      return failure();
  }
  return success();
}

LogicalResult Scheduler::complete(ArrayRef<BlockOp> nest, const LeafContext &context, bool &usesTiles) {
  forms.clear();
  for (BlockOp block : nest) {
    if (context.columns && failed(makeLeafForms(block, context, machine, noPlanes, [&](BlockOp leaf) -> LeafForm & {
          auto &form = forms[leaf];
          if (!form)
            form = std::make_unique<LeafForm>();
          return *form;
        })))
      return failure();
    if (failed(block.isLeaf() ? layOut(block, context, usesTiles) : completeBody(block.getBody(), context, usesTiles)))
      return failure();
  }
  forms.clear();
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult Scheduler::readItem(const Nests &nests, const GpuPlace &place) {
  std::vector<GpuPlan> plans;
  for (const SmallVector<BlockOp> &nest : nests) {
    FailureOr<GpuPlan> plan = readGpuPlan(nest, place, options);
    if (failed(plan))
      return failure();
    plans.push_back(std::move(*plan));
  }
  if (failed(checkGpuKernel(nests, plans, place)))
    return failure();
  bool usesTiles = false;
  return complete(nests, plans, usesTiles);
}

LogicalResult Scheduler::planGrouped(const Nests &nests, const GpuPlace &place) {
  std::vector<GpuPlan> plans;
  for (const SmallVector<BlockOp> &nest : nests) {
    GpuPlan plan = planner.sortDimensions(nest);
    // Nests share their first dimensions as loops, even those that are parallel.
    for (unsigned d = 0; d < place.shared; ++d) {
      for (auto *list : {&plan.outer, &plan.flat, &plan.inner})
        llvm::erase(*list, d);
      if (!llvm::is_contained(plan.steps, d))
        plan.steps.push_back(d);
      if (plan.row == d)
        plan.row.reset();
    }
    if (place.shared == 0 && planner.isShort(nest)) {
      // More rows would be more memory, and other threads, for all nests; and nothing waits between its points.
      plan.row.reset();
      plan.inner.insert(plan.inner.begin(), plan.steps.begin(), plan.steps.end());
      plan.steps.clear();
    }
    llvm::sort(plan.steps);
    plan.waits.assign(plan.steps.size(), false);
    if (plan.steps.size() > place.shared)
      plan.waits.back() = true;
    plans.push_back(std::move(plan));
  }
  if (failed(planner.planSteps(nests, plans, place)))
    return failure();
  for (auto [nest, plan] : llvm::zip_equal(nests, plans))
    setSchedule(nest, toGpuSchedule(nest, plan, place, options.target));
  bool usesTiles = false;
  return complete(nests, plans, usesTiles);
}

/// The code that waits for a kernel of one thread block should know why it is one.
static void tellOfOneBlock(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  BlockOp front = nest.front();
  if (plan.row || plan.columns || !plan.outer.empty() || !plan.flat.empty() || !isTold(front))
    return;
  remark::missed(front.getLoc(), remark::RemarkOpts::name("one-block").category("gpu"))
      << "one thread block runs all of it: no points do not wait, and what a point computes has no columns that could be shared";
}

LogicalResult Scheduler::writeSteps(const Nests &nests, GpuPlan plan) {
  GpuPlace place;
  if (failed(planner.planSteps(nests, plan, place)))
    return failure();
  tellOfOneBlock(nests.front(), plan);
  setSchedule(nests.front(), toGpuSchedule(nests.front(), plan, place, options.target));
  bool usesTiles = false;
  return complete(nests, plan, usesTiles);
}

LogicalResult Scheduler::writeBlocks(ArrayRef<BlockOp> nest, RowsOf rowsOf) {
  BlockOp front = nest.front();
  std::optional<RowPlan> rows;
  FailureOr<GpuPlan> plan = planner.planBlocks(nest, rowsOf, rows);
  if (failed(plan))
    return failure();
  tellOfOneBlock(nest, *plan);
  if (rows)
    front->setAttr(etdg::names::layouts, ArrayAttr::get(front.getContext(), toAttribute(front.getContext(), *rows)));
  setSchedule(nest, toGpuSchedule(nest, *plan, {}, options.target));
  bool usesTiles = false;
  if (failed(complete({SmallVector<BlockOp>(nest)}, *plan, usesTiles)))
    return failure();
  // What streams through memory wants many threads; what keeps sums in registers
  // wants those. Without this bound ptxas guesses, and may spill.
  if (rows || usesTiles || !front.isLeaf() || !plan->inner.empty())
    return success();
  int64_t threads = plan->block.getThreads();
  plan->block = etdg::ThreadBlockAttr::get(
      front.getContext(), threads,
      std::max<int64_t>(machine.gpu.streamThreadsPerUnit / threads, 1),
      plan->block.getShared(), plan->block.getSums());
  setSchedule(nest, toGpuSchedule(nest, *plan, {}, options.target));
  return success();
}

LogicalResult Scheduler::scheduleItem(Operation *item) {
  Nests nests = nestsOf(item);
  if (nests.empty())
    return success();
  GpuPlace place = placeOf(item, nests);
  auto binds = [](ArrayRef<BlockOp> nest) { return isBinding(scheduleOf(nest)); };
  if (llvm::all_of(nests, binds))
    return readItem(nests, place);
  if (llvm::any_of(nests, binds))
    return item->emitError("some nests of this kernel have a binding schedule, others have none; expected all or none");
  for (ArrayRef<BlockOp> nest : nests)
    if (failed(refuseMoreThanOrder(nest, "GPU")))
      return failure();
  return planItem(item);
}

/// Points of one step run side by side: their planes must not fall on each other. What `live`
/// keeps of a dimension counts iterations that follow each other.
void Scheduler::keepDealtPlanes() {
  auto keep = [&](BlockOp leaf, Value value, AffineMap map) {
    auto buffer = value.getDefiningOp<etdg::BufferOp>();
    if (!buffer || !buffer.getLiveAttr() || buffer->getParentOp() != graph)
      return;
    SmallVector<int64_t> live(*buffer.getLive());
    for (unsigned d : etdg::getDealtDims(leaf))
      for (auto [p, planes] : llvm::enumerate(live))
        if (map.getResult(p).isFunctionOfDim(d))
          planes = -1;
    if (llvm::all_of(live, [](int64_t planes) { return planes < 0; }))
      buffer.removeLiveAttr();
    else
      buffer.setLive(live);
  };
  graph.walk([&](BlockOp leaf) {
    if (!leaf.isLeaf())
      return;
    for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
      keep(leaf, leaf.getBuffers()[leaf.getWrite(i).getOperand()], leaf.getWrite(i).getMap().getValue());
    for (unsigned i = 0; i < leaf.getNumReads(); ++i)
      for (etdg::PieceAttr piece : leaf.getRead(i).getPieces())
        if (piece.getKind() == etdg::SourceKind::Buffer)
          keep(leaf, leaf.getBuffers()[piece.getOperand()], piece.getMap().getValue());
  });
}

LogicalResult Scheduler::scheduleBody(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body))
    if (isa<etdg::NestOp, BlockOp>(op) && failed(planner.divideStep(&op)))
      return failure();
  // Who cut the graph into kernels has decided which nests share one.
  if (!graph->hasAttr(etdg::names::partitioned) && failed(planner.joinShortNests(body)))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (auto variants = dyn_cast<etdg::VariantsOp>(op)) {
      for (Region &region : variants.getVariants())
        if (failed(scheduleBody(region.front())))
          return failure();
      flattenVariants(variants);
    } else if (isa<etdg::KernelOp, etdg::NestOp, BlockOp>(op) && failed(scheduleItem(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Scheduler::run() {
  if (failed(scheduleBody(graph.getBody().front())))
    return failure();
  keepDealtPlanes();
  return success();
}

/// Schedules of a graph to which has been done what they demand of it.
static LogicalResult completeSchedules(etdg::GraphOp graph, const GpuScheduleOptions &options) {
  if (options.planSeed != 0)
    schedule::drawCuts(graph, options.planSeed, options.getMachine());
  if (failed(Scheduler(graph, options).run()))
    return failure();
  schedule::writeExits(graph);
  return success();
}

LogicalResult mlir::ft::scheduleForGpu(etdg::GraphOp graph, const GpuScheduleOptions &options) {
  if (graph.isExternal())
    return success();
  if (failed(applyTiles(graph)) || failed(applyPlacements(graph, options.getMachine())) || failed(etdg::cutReductions(graph, options.getMachine().lineBytes())))
    return failure();
  return completeSchedules(graph, options);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ETDGScheduleForGPU : ft::impl::ETDGScheduleForGPUBase<ETDGScheduleForGPU> {
  using ETDGScheduleForGPUBase::ETDGScheduleForGPUBase;
  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options = readGpuOptions(getOperation().getLoc(), target, machine, steps);
    if (failed(options))
      return signalPassFailure();
    options->multiprocessors = multiprocessors;
    options->stepThreads = stepThreads;
    options->planSeed = planSeed;
    if (!getOperation().isExternal() && failed(completeSchedules(getOperation(), *options)))
      signalPassFailure();
    getOperation()->removeAttr(etdg::names::partitioned);
  }
};
} // namespace
