//===- LeafPrices.cpp - seconds that a thread block takes for a leaf ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop nest after the other, by its layout: threads wait for loads as often as
// they have terms left when as many as the layout unrolls are on their way, and for
// each other in each round in which slices of sums are added.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/GPU/Prices/KernelPrices.h"
#include "PlainPrices.h"

#include "ft/Schedule/GPU/Plan/GpuPlanner.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Layouts/Chains.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Bytes a second that one SM gets of what all share.
double KernelPrices::rateOf(Source source) const {
  const Machine::Level *cache = machine.findLevel("l2"), *level = source == Source::Common && cache ? cache : &machine.levels.back();
  return level->readBytesPerSecond / double(options.getMultiprocessors());
}

/// Rows in registers: what streams through them.
KernelPrices::TaskCost KernelPrices::costOfRows(BlockOp leaf, const Place &place) {
  double bytes = 0;
  for (Value argument : leaf.getBody().getArguments())
    bytes += double(bytesOf(cast<RankedTensorType>(argument.getType())));
  for (Value result : leaf.getYield().getOperands())
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      bytes += double(bytesOf(type));
  const Machine::Level &memory = machine.levels.back();
  double seconds = place.rows * bytes * double(options.getMultiprocessors()) / memory.readBytesPerSecond;
  return {seconds + latencyOf(Source::Device, machine), seconds};
}

/// How many of a product's results come from memory, or go there, for each element of its tile.
static double waysOfSums(const LeafForm &form, unsigned number, tile::ProductAttr layout) {
  const leaf::Nest &nest = form.graph.nests[number];
  SmallVector<int> kept = keptInRegisters(form, number, layout.getFused());
  double ways = 0;
  for (const leaf::NestMember &member : nest.members) {
    ways += member.inits.front().isSplat() ? 0 : 1;
    ways += llvm::is_contained(kept, member.writes.front().buffer) ? 0 : 1;
  }
  return ways / double(nest.members.size());
}

namespace {
/// A product in tiles, and what is fused after it.
struct TilesCost {
  double work = 0;  // seconds of an SM whose threads are all busy
  double steps = 0; // of tiles that come to shared memory, one after the other
};
} // namespace

static TilesCost costOfTiles(const LeafForm &form, unsigned number, tile::ProductAttr layout, const TileContext &tile, double rows,
                             const Machine &machine) {
  std::string why;
  std::optional<ProductTiles> product = matchProduct(form, number, tile, why);
  if (!product)
    return {};
  TileContext oneRow;
  auto [m, n] = extentsOf(form, number, *product, oneRow);
  double terms = 1;
  for (int loop : product->loops.k)
    terms *= double(form.graph.nests[number].sizes[loop]);
  ArrayRef<int64_t> block = layout.getBlock(), own = layout.getThread();
  double wide = double(n) * (product->rows == ProductTiles::Rows::n ? rows : 1);
  if (tile.columnTile > 0)
    wide = std::min(wide, double(tile.columnTile));
  double tall = std::ceil(double(m) * (product->rows == ProductTiles::Rows::m ? rows : 1));
  double tiles = double(llvm::divideCeil(uint64_t(tall), uint64_t(block[0]))) * double(llvm::divideCeil(uint64_t(std::ceil(wide)), uint64_t(block[1]))) *
                 (product->rows == ProductTiles::Rows::batch ? rows : 1);
  double padded = tiles * double(block[0] * block[1]);
  const int64_t widest = product->getWidest();
  double ofTerm = secondsInTiles(*product, machine, {own[0], own[1] * widest, block[0], block[1] * widest});
  double ofResult = waysOfSums(form, number, layout) * double(machine.gpu.operandReadCost) * 2 / machine.rates.f32Flops;
  TilesCost cost;
  cost.work = padded * double(form.graph.nests[number].members.size()) * (terms * ofTerm + ofResult) * machine.units;
  cost.steps = tiles * double(product->sweeps.size()) * std::ceil(terms / double(layout.getStep()));
  return cost;
}

/// What a thread block takes alone for a product in tiles: while it computes a step, those that follow are on their way.
static double secondsInSteps(const TilesCost &cost, double computing, tile::ProductAttr layout, double latency, const Machine &machine) {
  double ofStep = computing / std::max(cost.steps, 1.0);
  double ahead = double(layout.getStages() - 1);
  double waiting = ahead > 0 ? std::max(ofStep, latency / ahead) - ofStep : latency;
  return latency + computing + std::max(cost.steps - 1, 0.0) * waiting + machine.sync.leafCall;
}

/// Where a read comes from because another nest of the task has read the same: near, or of the cache that all share where it was other iterations'.
Source KernelPrices::metBefore(BlockOp leaf, unsigned read, const Place &place) {
  Source nearest = Source::Device;
  for (etdg::PieceAttr piece : leaf.getRead(read).getPieces()) {
    if (piece.getKind() != etdg::SourceKind::Buffer)
      continue;
    auto [it, isNew] = met.try_emplace(leaf.getBuffers()[piece.getOperand()], leaf);
    // (What the task itself has left is as far as it has left more since.)
    Operation *definition = it->first.getDefiningOp();
    bool isOwn = definition && isa<BlockOp>(definition->getParentOp());
    if (!isNew && (!isOwn || it->second == leaf.getOperation()))
      nearest = (it->second == leaf.getOperation() ? place.reads.fitsNear : place.reads.keepsTask) ? Source::Near : std::min(nearest, Source::Common);
  }
  return nearest;
}

KernelPrices::TaskCost KernelPrices::costOfLoops(const LeafForm &form, unsigned number, Attribute layout, bool isRowWise, const Place &place) {
  leaf::Nest collapsed;
  TileContext tile = tileContextOf(form, number, place.context, isRowWise, collapsed);
  double threads = double(place.context.threads);
  double line = double(machine.lineBytes()), resident = std::max(1.0, double(place.resident));
  TaskLoops loops = loopsOf(form, number, tile, isRowWise, place.rows, place.columns, place.reads.isStaged ? 0 : line,
                            [&](unsigned read) {
                              Source source = sourceOf(form.block, read, place.reads, ranges, machine);
                              return std::min(source, metBefore(form.block, read, place));
                            });
  double full = double(machine.gpu.blockThreads.back());
  // (What the thread blocks that share columns read alike comes from the device's memory once.)
  double fromDevice = std::min(rateOf(Source::Common), rateOf(Source::Device) / place.columns);
  double moving = loops.bytesFrom(Source::Common) / rateOf(Source::Common) + loops.bytesFrom(Source::Device) / fromDevice;
  if (auto product = dyn_cast<tile::ProductAttr>(layout)) {
    TilesCost tiles = costOfTiles(form, number, product, tile, isRowWise ? place.rows : 1, machine);
    double latency = latencyOf(loops.farthest(), machine);
    double computing = tiles.work / std::min(1.0, threads / full);
    double alone = secondsInSteps(tiles, computing, product, latency, machine);
    double busy = tiles.work / std::min(1.0, threads * resident / full);
    tell({form.block, number, place.rows, place.columns, alone - busy, busy, moving});
    return {std::max(alone, busy), std::max(busy, moving), computing - busy};
  }
  auto tiling = dyn_cast<etdg::TilingAttr>(layout);
  if (!tiling)
    return {};
  bool isSplit = tile.splitLoop >= 0 && int(tiling.getVector()) == tile.splitLoop;
  double sums = secondsOfSums(form, tiling, collapsed, loops, threads, isSplit ? place.columns : 1, machine);
  double waits = secondsOfWaits(tiling, loops, threads, machine);
  double alone = std::max(sums / std::min(1.0, activeThreads(tiling, loops, threads) / full), secondsOfChain(tiling, collapsed, loops, threads, machine));
  tell({form.block, number, place.rows, place.columns, waits, alone, moving});
  // The threads of a block go through a nest in step: they all wait, then all compute.
  return {waits + moving + alone, std::max(sums / std::min(1.0, threads * resident / full), moving)};
}

FailureOr<KernelPrices::TaskCost> KernelPrices::costOfLeaf(BlockOp leaf, const Place &place) {
  auto layouts = leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts);
  if (!layouts)
    return leaf.emitError("a leaf without layouts has no price");
  if (llvm::any_of(layouts, llvm::IsaPred<etdg::RowLanesAttr>))
    return costOfRows(leaf, place);
  bool isRowWise = isRowWiseAt(leaf, place);
  FailureOr<LeafForm *> form = formOf(leaf, place);
  if (failed(form))
    return failure();
  if (auto chain = layouts.size() == 1 ? dyn_cast<tile::ChainAttr>(layouts[0]) : tile::ChainAttr())
    return costOfChain(**form, chain, isRowWise, place);
  TaskCost total;
  isTelling = listener && told.insert(leaf).second;
  if (layouts.size() != (*form)->graph.nests.size())
    return total;
  int64_t fused = 0; // nests that are computed while the tile of a product before is in registers
  for (auto [number, layout] : llvm::enumerate(layouts)) {
    auto product = dyn_cast<tile::ProductAttr>(layout);
    TaskCost one = fused == 0                          ? costOfLoops(**form, unsigned(number), layout, isRowWise, place)
                   : product && product.getJoined() ? costOfJoined(**form, unsigned(number), product, isRowWise, place)
                                                    : costOfFused(**form, unsigned(number), isRowWise, place);
    total.add(one, isRowWise ? 1 : place.rows);
    fused = fused > 0 ? fused - 1 : product ? product.getFused() : 0;
  }
  // What has no room in shared memory goes to the cache that all share, and comes back.
  double away = movedBetween.lookup(leaf) / rateOf(Source::Common);
  total.add({away, away}, 1);
  return total;
}

/// A chain of products: while a warp group multiplies, the others compute what is left of theirs.
KernelPrices::TaskCost KernelPrices::costOfChain(const LeafForm &form, tile::ChainAttr layout, bool isRowWise, const Place &place) {
  leaf::Nest collapsed;
  std::string why;
  TileContext tile = tileContextOf(form, 0, place.context, isRowWise, collapsed);
  std::optional<ChainPlan> plan = planChain(form, tile, layout.getRows(), why);
  if (!plan)
    return {};
  const int64_t groups = layout.getNumThreads() / tile::PipelineAttr::groupThreads;
  double products = 0, computing = 0, waiting = 0;
  for (auto [number, nest] : llvm::enumerate(plan->nests)) {
    if (nest.kind != ChainNest::Kind::product) {
      computing += costOfFused(form, unsigned(number), isRowWise, place).busy;
      continue;
    }
    double terms = 1;
    for (int loop : nest.product->loops.k)
      terms *= double(form.graph.nests[number].sizes[size_t(loop)]);
    const auto wide = double(plan->spaces[size_t(nest.space)].padded);
    products += double(layout.getRows()) * wide * terms * machine.units * secondsInGroups(*nest.product, machine, layout.getRows(), std::numeric_limits<int64_t>::max());
    waiting += machine.sync.leafCall;
  }
  const double alone = std::max(products, computing) + std::min(products, computing) / double(groups) + waiting;
  return {alone, alone};
}

/// A product whose sums are in the registers of the one before it: while that ends, its first operands are on their way.
KernelPrices::TaskCost KernelPrices::costOfJoined(const LeafForm &form, unsigned number, tile::ProductAttr layout, bool isRowWise, const Place &place) {
  leaf::Nest collapsed;
  TileContext tile = tileContextOf(form, number, place.context, isRowWise, collapsed);
  double work = costOfTiles(form, number, layout, tile, isRowWise ? place.rows : 1, machine).work;
  double full = double(machine.gpu.blockThreads.back()), threads = double(place.context.threads);
  double alone = work / std::min(1.0, threads / full), together = work / std::min(1.0, threads * double(place.resident) / full);
  return {alone, together, alone - together};
}

/// What is computed of a tile that is in registers.
KernelPrices::TaskCost KernelPrices::costOfFused(const LeafForm &form, unsigned number, bool isRowWise, const Place &place) {
  const leaf::Nest &nest = form.graph.nests[number];
  double points = isRowWise && nest.batched ? place.rows : 1, operations = 0;
  if (!form.splits.empty() && form.splits[number].kind == NestSplit::shared)
    points *= place.columns;
  for (int64_t size : nest.sizes)
    points *= double(size);
  for (const leaf::NestMember &member : nest.members) {
    operations += operationsOf(member, machine);
    // Of rows of several points each element asks by a division which one it is of.
    for (const leaf::ElementView &view : member.reads)
      if (!view.isSplat() && isRowWise && place.context.maxRows > 1 && form.graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Input &&
          form.inputs[form.graph.buffers[view.buffer].number].hasIndex)
        operations += elementaryOperations(machine);
  }
  double busy = points * operations * 2 / machine.rates.f32Flops * machine.units, full = double(machine.gpu.blockThreads.back());
  double threads = double(place.context.threads);
  double alone = busy / std::min(1.0, threads / full), together = busy / std::min(1.0, threads * double(place.resident) / full);
  return {alone, together, alone - together};
}

bool KernelPrices::isRowWiseAt(BlockOp leaf, const Place &place) const {
  return place.context.row && (isUniform(leaf, *place.context.row, noPlanes) || hasProductLayout(leaf));
}

FailureOr<LeafForm *> KernelPrices::formOf(BlockOp leaf, const Place &place) {
  std::shared_ptr<LeafForm> &form = forms[leaf];
  if (form)
    return form.get();
  auto isPerRow = [&](Value buffer) { return place.context.isPerRow(buffer); };
  bool isRowWise = isRowWiseAt(leaf, place);
  SmallVector<bool> ofRows = findReadsOfRows(leaf, place.context.row, isRowWise, isPerRow);
  SmallVector<KnownForm, 1> &all = known[leaf];
  auto *found = llvm::find_if(all, [&](const KnownForm &one) { return one.ofRows == ofRows; });
  if (found == all.end()) {
    auto made = std::make_shared<LeafForm>();
    if (failed(makeLeafForm(*made, leaf, machine, place.context.row, isRowWise, isPerRow)))
      return failure();
    all.push_back({std::move(ofRows), std::move(made)});
    found = std::prev(all.end());
  }
  form = found->form;
  return form.get();
}
