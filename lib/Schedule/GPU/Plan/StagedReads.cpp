//===- StagedReads.cpp - reads that thread blocks keep ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which reads can be kept in shared memory over all steps, and which a schedule keeps.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/StagedReads.h"

#include "ft/Schedule/GPU/Plan/GpuPlanner.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Plan/PlaceBuffers.h"
#include "ft/Schedule/CPU/Plan.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Remarks.h"

#include <numeric>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

std::optional<StagedRead> schedule::makeStagedRead(BlockOp leaf, unsigned read, int64_t columns, int64_t tile) {
  auto element = cast<RankedTensorType>(leaf.getBody().getArgument(read).getType());
  if (tile < 1 || columns < 1 || element.getRank() == 0 || element.getShape().back() != columns || element.getNumElements() == 0)
    return std::nullopt;
  StagedRead staged{read, element.getNumElements() / columns, columns, tile, computeSuffixProduct(element.getShape())};
  for (int64_t &stride : MutableArrayRef(staged.strides).drop_back())
    stride = stride / columns * tile;
  return staged;
}

static int64_t tileOfColumns(etdg::ScheduleAttr schedule) {
  for (etdg::LoopAttr loop : schedule.getLoops())
    if (schedule.isOverColumns(loop) && !loop.hasAnyTile())
      return loop.getTile();
  return 0;
}

std::optional<StagedRead> schedule::getStagedRead(BlockOp leaf, unsigned read) {
  etdg::ScheduleAttr schedule = leaf.getScheduledOp().getScheduleAttr();
  if (!schedule || !llvm::any_of(schedule.getPlacements(), [&](etdg::PlacementAttr p) { return p.getRead() == int64_t(read); }))
    return std::nullopt;
  return makeStagedRead(leaf, read, schedule.getColumns(), tileOfColumns(schedule));
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

int64_t FixedPoints::getCount() const {
  int64_t count = chunks;
  for (const Range &range : ranges)
    count = count > std::numeric_limits<int32_t>::max() / std::max<int64_t>(range.extent, 1) ? std::numeric_limits<int32_t>::max()
                                                                                            : count * range.extent;
  return count;
}

/// Constant ends of a dimension's range over all of a block's domain.
static std::optional<std::pair<int64_t, int64_t>> constantEnds(BlockOp block, unsigned dim) {
  using presburger::BoundType;
  FlatLinearValueConstraints domain(block.getDomain());
  std::optional<int64_t> first = domain.getConstantBound64(BoundType::LB, dim), last = domain.getConstantBound64(BoundType::UB, dim);
  if (!first || !last)
    return std::nullopt;
  return std::pair(*first, *last + 1);
}

std::optional<FixedPoints> schedule::getFixedPoints(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  FixedPoints points;
  SmallVector<unsigned> dealt(plan.outer);
  llvm::append_range(dealt, plan.flat);
  for (unsigned dim : dealt) {
    std::optional<std::pair<int64_t, int64_t>> all;
    for (BlockOp block : nest) {
      std::optional<std::pair<int64_t, int64_t>> own = constantEnds(block, dim);
      if (!own)
        return std::nullopt;
      all = all ? std::pair(std::min(all->first, own->first), std::max(all->second, own->second)) : *own;
    }
    points.ranges.push_back({dim, all->first, std::max<int64_t>(all->second - all->first, 0)});
  }
  if (plan.columns && plan.columnTile)
    points.chunks = llvm::divideCeil(plan.columns, plan.columnTile);
  return points;
}

//===----------------------------------------------------------------------===//
// Which reads
//===----------------------------------------------------------------------===//

/// The one place that a read is of in all regions of a nest, which steps don't change; null: there is none.
static etdg::PieceAttr commonPiece(ArrayRef<BlockOp> nest, const GpuPlan &plan, unsigned read) {
  etdg::PieceAttr common;
  Value buffer;
  for (BlockOp block : nest) {
    if (!block.isLeaf() || read >= block.getNumReads() || block.getRead(read).getElementRank() != 0 ||
        block.getRead(read).getPieces().size() != 1)
      return nullptr;
    etdg::PieceAttr piece = block.getRead(read).getPieces().front();
    if (piece.getKind() != etdg::SourceKind::Buffer || !piece.getGathers().empty())
      return nullptr;
    Value own = block.getBuffers()[piece.getOperand()];
    if (common && (own != buffer || piece.getMap() != common.getMap()))
      return nullptr;
    common = piece;
    buffer = own;
  }
  BlockOp front = nest.front();
  for (unsigned dim = 0; dim < front.getNumDims(); ++dim)
    if (!plan.isDealt(dim) && common.getMap().getValue().isFunctionOfDim(dim))
      return nullptr;
  return common;
}

bool schedule::readsOwnColumns(const LeafForm &form, unsigned read, int64_t columns) {
  auto isOf = [&](const leaf::ElementView &view) {
    return !view.isSplat() && form.graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Input &&
           form.graph.buffers[view.buffer].number == read;
  };
  for (auto [nest, split] : llvm::zip(form.graph.nests, form.splits))
    for (const leaf::NestMember &member : nest.members) {
      auto isForeign = [&, &nest = nest, &split = split](const leaf::ElementView &view) {
        if (!isOf(view))
          return false;
        if (view.hasBorders())
          return true;
        if (split.kind != NestSplit::shared || view.strides[split.loop] != 1 || view.offset % columns != 0 || !view.terms.empty())
          return true;
        for (auto [i, stride] : llvm::enumerate(view.strides))
          if (int(i) != split.loop && nest.sizes[i] > 1 && stride % columns != 0)
            return true;
        return false;
      };
      auto indexes = [&](const leaf::ElementView &view) {
        return llvm::any_of(view.terms, [&](const leaf::DynamicTerm &term) {
          return form.graph.buffers[term.buffer].kind == leaf::Buffer::Kind::Input && form.graph.buffers[term.buffer].number == read;
        });
      };
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        if (llvm::any_of(*views, isForeign) || llvm::any_of(*views, indexes))
          return false;
      for (const auto &[value, view] : member.captured)
        if (isOf(view) || indexes(view))
          return false;
    }
  return true;
}

static int64_t bytesOfElement(BlockOp leaf, unsigned read) {
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(read).getType());
  return type.getNumElements() * elementBytes(type.getElementType());
}

static bool hasStaticMapping(const GpuPlan &plan) { return plan.mapping == etdg::IterationMapping::Static; }

std::string schedule::describeUnstaged(ArrayRef<BlockOp> nest, const GpuPlan &plan, etdg::PlacementAttr placement, int64_t units) {
  unsigned read = unsigned(placement.getRead());
  if (placement.getLevel() != etdg::MemoryLevel::Shared || placement.getStages() != 1 || placement.getLoop() != 0)
    return "a thread block keeps it in shared memory over all loops: expected loop = 0, level = shared, stages = 1";
  if (plan.row || !plan.columns || !plan.columnTile || !hasStaticMapping(plan))
    return "what a thread block keeps is for the same points in every step: expected no rows, and columns mapped static by "
           "tiles that are a number";
  std::optional<FixedPoints> points = getFixedPoints(nest, plan);
  if (!points)
    return "the ranges of dealt loops have constant ends";
  if (points->getCount() > units)
    return "each thread block keeps one tile of one point, expected at most " + std::to_string(units) + ", found " +
           std::to_string(points->getCount());
  if (!commonPiece(nest, plan, read))
    return "expected a read of one place in a buffer, the same in all regions and all steps";
  for (BlockOp block : nest)
    if (!makeStagedRead(block, read, plan.columns, plan.columnTile))
      return "its elements end in the " + std::to_string(plan.columns) + " columns";
  return "";
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

BlockOp schedule::findWriter(ArrayRef<SmallVector<BlockOp>> nests, Value buffer) {
  for (ArrayRef<BlockOp> nest : nests)
    for (BlockOp block : nest)
      for (BlockOp leaf : leavesOf(block))
        for (unsigned w = 0; w < leaf.getNumWrites(); ++w)
          if (leaf.getBuffers()[leaf.getWrite(w).getOperand()] == buffer)
            return leaf;
  return {};
}

/// Columns of a tile such that each of `units` thread blocks has at most one: whole accesses where there are many.
static int64_t chooseTile(int64_t columns, int64_t points, int64_t units, int64_t access) {
  int64_t chunks = std::max<int64_t>(units / std::max<int64_t>(points, 1), 1);
  int64_t tile = llvm::divideCeil(columns, chunks);
  return tile <= access ? int64_t(llvm::PowerOf2Ceil(uint64_t(tile))) : int64_t(llvm::alignTo(tile, access));
}

/// How often a nest's steps read what it would keep: nothing where few of them are known.
static bool repeats(ArrayRef<BlockOp> nest, const GpuPlan &plan, int64_t least) {
  for (unsigned dim : plan.steps) {
    std::optional<std::pair<int64_t, int64_t>> all;
    for (BlockOp block : nest) {
      std::optional<std::pair<int64_t, int64_t>> own = constantEnds(block, dim);
      if (!own)
        return true; // as many as the call says
      all = all ? std::pair(std::min(all->first, own->first), std::max(all->second, own->second)) : *own;
    }
    if (all->second - all->first >= least)
      return true;
  }
  return false;
}

LogicalResult GpuPlanner::findStaged(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<BlockOp> nest, GpuPlan &plan, int64_t &bytes) {
  for (BlockOp block : nest)
    if (!block.isLeaf())
      return success();
  std::vector<LeafForm> forms(nest.size());
  for (auto [block, form] : llvm::zip_equal(nest, forms)) {
    if (failed(makeLeafForm(form, block, machine, std::nullopt, false, [](Value) { return false; })))
      return failure();
    if (schedule::shareColumns(block, {&form}, planning, plan.columns) != plan.columns)
      return success();
  }
  MLIRContext *context = BlockOp(nest.front()).getContext();
  for (unsigned read = 0; read < BlockOp(nest.front()).getNumReads(); ++read) {
    auto placement = etdg::PlacementAttr::get(context, read, /*loop=*/0, etdg::MemoryLevel::Shared, /*stages=*/1);
    if (!describeUnstaged(nest, plan, placement, options.getMultiprocessors()).empty() ||
        !llvm::all_of(forms, [&](const LeafForm &form) { return readsOwnColumns(form, read, plan.columns); }))
      continue;
    BlockOp front = nest.front();
    int64_t whole = bytesOfElement(front, read);
    if (findWriter(nests, front.getBuffers()[front.getRead(read).getPieces().front().getOperand()]) || whole < planning.stepWeightBytes)
      continue;
    plan.placements.push_back(placement);
    bytes += whole / plan.columns * plan.columnTile;
  }
  return success();
}

LogicalResult GpuPlanner::stageReads(ArrayRef<SmallVector<BlockOp>> nests, MutableArrayRef<GpuPlan> plans) {
  if (draws() || options.steps == GpuScheduleOptions::Steps::never)
    return success();
  std::vector<GpuPlan> staged(plans.begin(), plans.end());
  int64_t bytes = 0;
  for (auto [nest, plan] : llvm::zip_equal(nests, staged)) {
    if (plan.row || !plan.columns || plan.steps.empty() || !repeats(nest, plan, planning.weightRows))
      continue;
    GpuPlan before = plan;
    plan.mapping = etdg::IterationMapping::Static;
    std::optional<FixedPoints> points = getFixedPoints(nest, plan);
    if (!points)
      continue;
    plan.columnTile = chooseTile(plan.columns, points->getCount(), options.getMultiprocessors(), planning.accessBytes / int64_t(sizeof(float)));
    plan.unit = std::gcd(plan.columns, plan.columnTile);
    if (failed(findStaged(nests, nest, plan, bytes)))
      return failure();
    if (plan.placements.empty())
      plan = std::move(before);
  }
  // Sums are long beside the columns that are left to a thread block.
  etdg::ThreadBlockAttr block = makeBlock(BlockOp(nests.front().front()).getContext(),
                                          std::max(plans.front().block.getThreads(), planning.blockThreads.back()), 1, 0);
  int64_t beside = block.getThreads() * block.getSums() + bytesOfWarps(block, machine);
  if (bytes == 0 || bytes + beside > machine.occupancy.sharedBytesPerBlock)
    return success();
  auto alone = makeBlock(block.getContext(), block.getThreads(), /*resident=*/1, machine.occupancy.sharedBytesPerBlock);
  for (auto [plan, own] : llvm::zip_equal(plans, staged)) {
    plan = std::move(own);
    plan.block = alone;
  }
  if (isTold(nests.front().front()))
    remark::passed(BlockOp(nests.front().front()).getLoc(), remark::RemarkOpts::name("gpu-staged").category("gpu"))
        << remark::reason("weights stay in shared memory over all steps, {0} bytes of a thread block", bytes);
  return success();
}
