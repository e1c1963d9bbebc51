//===- ChoosePipelines.cpp - which kernels have roles, said in the loops ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of warp groups (`wgmma`) ask that other warp groups fetch their
// operands by TMA. Whether a kernel can have that, and with how many slots and
// registers, is decided here (`loops-choose-pipelines`); where it can't, its
// products are laid out without warp groups.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"
#include "ft/Dialect/Loops/Transforms/GPU/OperandFetches.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

static bool hasGroups(loops::LeafOp leaf) {
  return leaf.getLayoutsAttr() && llvm::any_of(leaf.getLayoutsAttr(), [](Attribute layout) {
           if (isa<tile::ChainAttr>(layout))
             return true;
           auto product = dyn_cast<tile::ProductAttr>(layout);
           return product && product.getWgmma();
         });
}

namespace {
/// Decides for one kernel.
class PipelineChooser {
public:
  PipelineChooser(func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches, const Machine &machine, int64_t units)
      : kernel(kernel), launches(launches), machine(machine), units(units), block(loops::gridOf(kernel).getBlock()) {}
  LogicalResult run();

private:
  FailureOr<std::string> findObstacle(loops::LeafOp leaf);
  std::string findObstacle(loops::LeafOp leaf, const leaf::LeafGraph &graph, const schedule::ChainPlan &plan);
  std::string describeWaits(ArrayRef<loops::LeafOp> leaves);
  LogicalResult layOutWithout(loops::LeafOp leaf);
  LogicalResult layOutBehind(loops::LeafOp leaf, int64_t rows);
  tile::PipelineAttr choose();
  void keepBlocks();
  /// Bytes of shared memory that slots leave to others, each of which begins where a channel may: also to what warps leave each other.
  int64_t bytesBeside() const {
    constexpr int64_t unit = tile::ChannelType::alignment;
    return int64_t(llvm::alignTo(ownBytes + leafBytes + channels * unit, unit)) +
           (stayBytes > 0 ? int64_t(llvm::alignTo(stayBytes + 2 * tile::ChannelType::barrierBytes, unit)) : 0);
  }

  func::FuncOp kernel;
  ArrayRef<loops::LaunchOp> launches;
  const Machine &machine;
  int64_t units; // SMs
  etdg::ThreadBlockAttr block;
  int64_t slotBytes = 0; // of the largest slots that are taken together, and of their barriers
  int64_t channels = 1;  // that they are of
  int64_t stayBytes = 0; // of operands that may stay while others come
  int64_t ownBytes = 0;  // of what the kernel has in shared memory otherwise
  int64_t leafBytes = 0; // of what its other leaves need in turn
  int64_t steps = 1;     // of the longest sum
};
} // namespace

/// Whether the threads of a block wait for each other inside of a loop nest of a leaf: to add slices of sums, or parts that lanes have.
static bool waitsInside(loops::LeafOp leaf) {
  return !leaf.getLayoutsAttr() || !llvm::all_of(leaf.getLayoutsAttr(), [](Attribute layout) {
    auto tiling = dyn_cast<etdg::TilingAttr>(layout);
    return tiling && tiling.getLanes() <= tile::warpThreads && tiling.getSlices() <= 1;
  });
}

/// Whether each iteration of the loop around computes the same.
static bool isInvariant(Value value, scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  return loop.isDefinedOutsideOfLoop(value) ||
         (op && op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand, loop); }));
}

/// Whether a leaf's input is the same in each iteration of the loop around the leaf: it is fetched before the loop, and stays.
static bool stays(loops::LeafOp leaf, const leaf::LeafGraph &graph, const leaf::ElementView &view) {
  auto loop = dyn_cast<scf::ForOp>(leaf->getParentOp());
  return loop && isInvariant(leaf.getInputs()[graph.buffers[size_t(view.buffer)].number], loop);
}

/// Why the operands of a nest's products can't be fetched; empty: they can.
static std::string describeObstacle(const FetchedProduct &product, ArrayRef<bool> sides) {
  for (ArrayRef<unsigned> sweep : product.product.sweeps)
    for (bool isLhs : sides)
      for (unsigned member : isLhs ? sweep.take_front() : sweep) {
        OperandFetch fetch;
        if (std::string why = readFetch(fetch, product, member, isLhs); !why.empty())
          return std::string(isLhs ? "its left operand: " : "its right operand: ") + why;
        // (A tile has parts or alternatives.)
        if (!isLhs && fetch.places.size() > 1 && sweep.size() > 1)
          return "the right operands of products side by side are chosen among several places";
      }
  return "";
}

/// The same of a chain's products. What they take on the left may stay, what they take on the right comes one after the other.
std::string PipelineChooser::findObstacle(loops::LeafOp leaf, const leaf::LeafGraph &graph, const schedule::ChainPlan &plan) {
  for (auto [i, nest] : llvm::enumerate(plan.nests)) {
    const bool both[] = {true, false}, right[] = {false};
    if (!nest.product)
      continue;
    if (std::string why = describeObstacle({leaf, graph, launches, unsigned(i), *nest.product}, nest.left ? ArrayRef(right) : ArrayRef(both)); !why.empty())
      return why;
  }
  int64_t ofLeaf = 0, ofSlot = 0, products = 0;
  for (auto [i, nest] : llvm::enumerate(plan.nests)) {
    if (!nest.product)
      continue;
    const schedule::StagedOperands &staged = nest.product->staged;
    const int64_t left = nest.left ? 0 : staged.lhs.getBytes();
    const bool isLeftKept = left > 0 && stays(leaf, graph, graph.nests[i].members.front().reads[size_t(nest.product->loops.lhs)]);
    ofLeaf += isLeftKept ? left : 0;
    ofSlot = std::max(ofSlot, staged.rhs.getBytes() + (isLeftKept ? 0 : left));
    ++products;
  }
  // In a loop operands of several products come at the same time, each through a channel of its own.
  products = isa<scf::ForOp>(leaf->getParentOp()) ? products : 1;
  slotBytes = std::max(slotBytes, products * (ofSlot + 2 * tile::ChannelType::barrierBytes));
  channels = std::max(channels, products);
  stayBytes = std::max(stayBytes, ofLeaf);
  steps = std::numeric_limits<int64_t>::max();
  return std::string();
}

/// Why a leaf can't have its operands fetched; empty: it can.
FailureOr<std::string> PipelineChooser::findObstacle(loops::LeafOp leaf) {
  const bool isElse = !hasGroups(leaf);
  if (isElse && waitsInside(leaf))
    return std::string("another leaf of the kernel needs all threads of a block");
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
  if (failed(own))
    return failure();
  FailureOr<LeafTiling> tiling = readTiling(leaf, *own, machine);
  if (failed(tiling))
    return failure();
  if (isElse) {
    LeafNeeds needs = findNeeds(leaf, *own, *tiling, block);
    int64_t bytes = needs.operands.bytes + needs.sums.bytes;
    for (const LeafNeeds::Need &value : needs.values)
      bytes += value.bytes;
    leafBytes = std::max(leafBytes, bytes);
    return std::string();
  }
  const leaf::LeafGraph &graph = own->form.graph;
  if (tiling->chain)
    return findObstacle(leaf, graph, *tiling->chain);
  for (auto [i, tiles] : llvm::enumerate(tiling->tiles)) {
    if (!tiles.product)
      continue;
    const schedule::ProductTiles &product = *tiles.product;
    ProductShape shape(graph, unsigned(i), product, leaf.getMost());
    if (std::string why = describeObstacle({leaf, graph, launches, unsigned(i), product}, {true, false}); !why.empty())
      return why;
    slotBytes = std::max(slotBytes, product.staged.lhs.getBytes() + product.staged.rhs.getBytes() + 2 * tile::ChannelType::barrierBytes);
    steps = std::max<int64_t>(steps, llvm::divideCeil(shape.k.most, product.attribute.getStep()));
  }
  return std::string();
}

LogicalResult PipelineChooser::layOutWithout(loops::LeafOp leaf) {
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
  if (failed(own))
    return failure();
  own->context.groups = false;
  own->context.products = true;
  leaf.setLayoutsAttr(ArrayAttr::get(leaf.getContext(), schedule::chooseLayouts(own->form, own->context, own->rowWise, machine)));
  return success();
}

/// What follows a chain of products may be computed of its tiles where these are.
LogicalResult PipelineChooser::layOutBehind(loops::LeafOp leaf, int64_t rows) {
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
  if (failed(own))
    return failure();
  if (own->form.graph.nests.empty() || loops::hasOverlaps(leaf))
    return success();
  leaf::Nest collapsed;
  std::string why;
  if (std::optional<schedule::ChainPlan> plan =
          schedule::planChain(own->form, schedule::tileContextOf(own->form, 0, own->context, own->rowWise, collapsed), rows, why))
    leaf.setLayoutsAttr(ArrayAttr::get(leaf.getContext(), Attribute(tile::ChainAttr::get(leaf.getContext(), rows))));
  return success();
}

/// As many slots as shared memory has room for, and no more than steps; as many registers as the loaders leave.
tile::PipelineAttr PipelineChooser::choose() {
  using P = tile::PipelineAttr;
  const int64_t computers = block.getThreads() / P::groupThreads, threads = (computers + 1) * P::groupThreads;
  const int64_t room = machine.occupancy.sharedBytesPerBlock - bytesBeside();
  const int64_t slots = std::min<int64_t>(room / slotBytes, steps);
  constexpr int64_t unit = 8;
  const int64_t all = machine.occupancy.registersPerUnit / threads / unit * unit * threads;
  // Coordinates are numbers of 64 bits: with the least count of registers a loader would keep some in memory.
  constexpr int64_t wanted = P::leastRegisters + unit, enough = wanted + unit;
  const int64_t most = int64_t(llvm::alignTo(machine.occupancy.registersPerThread, unit));
  const int64_t own = std::min((all - wanted * P::groupThreads) / (computers * P::groupThreads) / unit * unit, most);
  const int64_t loader = std::min((all - own * computers * P::groupThreads) / P::groupThreads, enough);
  return P::get(kernel.getContext(), std::max<int64_t>(slots, 1), /*loaders=*/1, computers, ArrayRef<int64_t>{loader, own});
}

/// Whether what the tasks of a kernel's grid loops are decides how long a loop inside of one is.
static bool hasUnevenTasks(func::FuncOp kernel) {
  return kernel
      .walk([](scf::ForOp loop) {
        BackwardSliceOptions options;
        options.omitBlockArguments = true;
        options.inclusive = true;
        auto isOfTask = [](Value value) {
          auto argument = dyn_cast<BlockArgument>(value);
          loops::LevelAttr level = argument ? loops::levelOf(argument.getOwner()->getParentOp()) : loops::LevelAttr();
          return level && level.getLevel() == etdg::LoopLevel::Grid;
        };
        auto dependsOnTask = [&](Value bound) {
          SetVector<Operation *> slice;
          if (!bound.getDefiningOp())
            return isOfTask(bound);
          return failed(getBackwardSlice(bound, &slice, options)) || llvm::any_of(slice, [&](Operation *op) { return llvm::any_of(op->getOperands(), isOfTask); });
        };
        return dependsOnTask(loop.getLowerBound()) || dependsOnTask(loop.getUpperBound()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A thread block takes one task after the other where these are alike: its loaders are ahead of the end of each. Registers and slots leave room for one
/// block on each SM. (Where a mask makes tasks differ, `tile-split-masks` deals them so that blocks take about as long.)
void PipelineChooser::keepBlocks() {
  loops::GridAttr grid = loops::gridOf(kernel);
  if (grid.getMost() == 0 && !hasUnevenTasks(kernel))
    kernel->setAttr(loops::names::grid, loops::GridAttr::get(grid.getContext(), grid.getBlock(), units));
}

/// Why a kernel whose thread blocks wait for each other can't have roles; empty: it can, or they don't wait.
std::string PipelineChooser::describeWaits(ArrayRef<loops::LeafOp> leaves) {
  if (!hasWaits(kernel))
    return "";
  auto isChain = [](loops::LeafOp leaf) { return leaf.getLayoutsAttr() && llvm::any_of(leaf.getLayoutsAttr(), llvm::IsaPred<tile::ChainAttr>); };
  if (llvm::any_of(leaves, isChain))
    return "its thread blocks wait for each other around a chain of products";
  // The loading role counts barriers in loops and conditions, in none that data end.
  const bool isOpen = kernel.walk([](loops::SyncOp sync) {
                              return sync.getKind() == etdg::SyncKind::Grid && sync->getParentOfType<scf::WhileOp>() ? WalkResult::interrupt() : WalkResult::advance();
                            }).wasInterrupted();
  return isOpen ? "its thread blocks wait for each other until data say so" : "";
}

LogicalResult PipelineChooser::run() {
  SmallVector<loops::LeafOp> leaves;
  kernel.walk([&](loops::LeafOp leaf) { leaves.push_back(leaf); });
  if (llvm::none_of(leaves, hasGroups))
    return success();
  std::string obstacle = describeWaits(leaves);
  for (loops::LeafOp leaf : leaves) {
    if (!obstacle.empty())
      break;
    FailureOr<std::string> found = findObstacle(leaf);
    if (failed(found))
      return failure();
    obstacle = *found;
  }
  kernel.walk([&](loops::AllocOp alloc) {
    if (!alloc.getMemory() || alloc.isShared())
      ownBytes += alloc.getBytesOfBlock();
  });
  const int64_t least = bytesBeside() + 2 * slotBytes;
  if (obstacle.empty() && least > machine.occupancy.sharedBytesPerBlock)
    obstacle = "its operands and what it keeps take " + std::to_string(least) + " bytes of shared memory, of " +
               std::to_string(machine.occupancy.sharedBytesPerBlock);
  if (obstacle.empty()) {
    int64_t rows = 0;
    for (loops::LeafOp leaf : leaves)
      if (auto chain = dyn_cast_or_null<tile::ChainAttr>(leaf.getLayoutsAttr().size() == 1 ? leaf.getLayoutsAttr()[0] : Attribute()))
        rows = chain.getRows();
    for (loops::LeafOp leaf : leaves)
      if (rows > 0 && !hasGroups(leaf) && failed(layOutBehind(leaf, rows)))
        return failure();
    if (!kernel->hasAttr(tile::names::pipeline)) {
      kernel->setAttr(tile::names::pipeline, choose());
      keepBlocks(); // (where thread blocks wait for each other, loops-choose-tasks has said how many there are)
    }
    return success();
  }
  if (kernel->hasAttr(tile::names::pipeline))
    return kernel.emitError("the GPU engine can't give the kernel roles ('") << tile::names::pipeline << "'): " << obstacle;
  remark::missed(kernel.getLoc(), remark::RemarkOpts::name("gpu-pipelines").category("gpu"))
      << "warp groups don't multiply its matrices: " << obstacle;
  for (loops::LeafOp leaf : leaves)
    if (hasGroups(leaf) && failed(layOutWithout(leaf)))
      return failure();
  return success();
}

LogicalResult mlir::ft::chooseKernelPipelines(loops::ProgramOp program, const GpuScheduleOptions &options) {
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine, [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
    return PipelineChooser(kernel, launches, machine, options.getMultiprocessors()).run();
  });
}
