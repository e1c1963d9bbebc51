//===- LeafPrices.cpp - seconds that a block of threads takes for a leaf ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop nest after the other, by its layout: threads wait for loads as often as
// they have terms left when as many as the layout unrolls are on their way, and for
// each other in each round in which slices of sums are added.
//
//===----------------------------------------------------------------------===//
#include "KernelPrices.h"

#include "GpuPlanner.h"
#include "ft/Schedule/Dimensions.h"
#include "ft/Schedule/RowRuns.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Bytes a second that one multiprocessor gets of the cache that all share.
double KernelPrices::rateOfBytes() const {
  const Machine::Level *cache = machine.findLevel("l2");
  return cache && cache->readBytesPerSecond > 0 ? cache->readBytesPerSecond / double(options.getMultiprocessors())
                                                : machine.levels.back().readBytesPerSecond / double(options.getMultiprocessors());
}

/// Seconds until what a load brings from the cache that all multiprocessors share is there.
static double latencyOfCache(const Machine &machine) {
  const Machine::Level *cache = machine.findLevel("l2");
  return cache ? cache->latencySeconds : 0;
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
  return {seconds + latencyOfCache(machine), seconds};
}

namespace {
/// A loop nest of a leaf, as a task has it.
struct TaskLoops {
  double points = 1, terms = 1; // of the parallel loops; of each sum
  double bytes = 0;             // that it reads from beyond its multiprocessor, whole lines
  bool readsMemory = false, beginsInMemory = false; // its terms, what its sums begin with
};
} // namespace

/// Elements that a view of a nest goes through, of one row and one lift.
static double elementsOf(const leaf::Nest &nest, const leaf::ElementView &view) {
  double elements = 1;
  for (auto [size, stride] : llvm::zip_equal(nest.sizes, view.strides))
    if (stride != 0)
      elements *= double(size);
  return elements;
}

/// How much more is brought than a view takes: pieces shorter than a line cost as much as one (a few columns of a matrix whose rows are
/// long).
static double linesOf(const leaf::Nest &nest, const leaf::ElementView &view, double elementBytes, int split, double columns, double lineBytes) {
  double run = elementBytes;
  for (auto [loop, size] : llvm::enumerate(nest.sizes))
    if (view.strides[loop] == 1)
      run *= double(size) * (int(loop) == split ? columns : 1);
  return std::max(1.0, lineBytes / run);
}

/// Whether a read is of what the block of threads has for itself.
static bool isPrivate(BlockOp leaf, unsigned read) {
  return llvm::all_of(leaf.getRead(read).getPieces(), [&](etdg::PieceAttr piece) {
    if (piece.getKind() != etdg::SourceKind::Buffer)
      return true;
    Operation *buffer = leaf.getBuffers()[piece.getOperand()].getDefiningOp();
    return buffer && isa<BlockOp>(buffer->getParentOp());
  });
}

static TaskLoops loopsOf(const LeafForm &form, unsigned number, const TileContext &tile, bool isRowWise, double rows, double columns,
                         double lineBytes) {
  const leaf::Nest &nest = form.graph.nests[number];
  TaskLoops loops;
  for (auto [size, isReduced] : llvm::zip_equal(nest.sizes, nest.reduced))
    (isReduced ? loops.terms : loops.points) *= double(size);
  bool isShared = !form.splits.empty() && form.splits[number].kind == NestSplit::shared;
  int split = isShared ? form.splits[number].loop : -1;
  loops.points *= (isShared ? columns : 1) * (isRowWise && nest.batched ? rows : 1) * (tile.lifted ? double(tile.lifts) : 1);
  // What several members read alike is loaded once.
  SmallVector<const leaf::ElementView *> seen;
  for (const leaf::NestMember &member : nest.members)
    for (const leaf::ElementView &view : member.reads) {
      if (view.isSplat() || llvm::any_of(seen, [&](const leaf::ElementView *other) { return *other == view; }))
        continue;
      seen.push_back(&view);
      const leaf::Buffer &buffer = form.graph.buffers[view.buffer];
      if (buffer.kind != leaf::Buffer::Kind::Input || isPrivate(form.block, buffer.number))
        continue;
      loops.readsMemory = true;
      double size = double(elementBytes(buffer.elementType));
      loops.bytes += elementsOf(nest, view) * size * linesOf(nest, view, size, split, columns, lineBytes) *
                     (split >= 0 && view.movesWith(split) ? columns : 1) * (isRowWise && buffer.batched ? rows : 1) *
                     (tile.lifted ? double(tile.lifts) : 1);
    }
  for (const leaf::NestMember &member : nest.members)
    loops.beginsInMemory |= member.isReduction() && llvm::any_of(member.inits, [&](const leaf::ElementView &view) {
      return !view.isSplat() && form.graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Input;
    });
  return loops;
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

/// A product in tiles, and what is fused behind it.
static double secondsOfTiles(const LeafForm &form, unsigned number, tile::ProductAttr layout, const TileContext &tile, double rows,
                             const Machine &machine, double threads, double resident) {
  std::string why;
  std::optional<ProductTiles> product = matchProduct(form, number, tile, why);
  if (!product)
    return 0;
  TileContext oneRow;
  auto [m, n] = extentsOf(form, number, *product, oneRow);
  double terms = 1;
  for (int loop : product->loops.k)
    terms *= double(form.graph.nests[number].sizes[loop]);
  ArrayRef<int64_t> block = layout.getBlock(), own = layout.getThread();
  double wide = double(n) * (product->rows == ProductTiles::Rows::n ? rows : 1);
  if (tile.columnTile > 0)
    wide = std::min(wide, double(tile.columnTile));
  double padded = double(llvm::alignTo(uint64_t(std::ceil(double(m) * (product->rows == ProductTiles::Rows::m ? rows : 1))), uint64_t(block[0]))) *
                  double(llvm::alignTo(uint64_t(std::ceil(wide)), uint64_t(block[1]))) *
                  (product->rows == ProductTiles::Rows::batch ? rows : 1);
  double ofTerm = secondsInTiles(*product, machine, {own[0], own[1], block[0], block[1]});
  double ofResult = waysOfSums(form, number, layout) * double(machine.gpu.operandReadCost) * 2 / machine.rates.f32Flops;
  double seconds = padded * (terms * ofTerm + ofResult) * machine.units;
  return seconds / std::min(1.0, threads * resident / double(machine.gpu.blockThreads.back()));
}

/// Loads that a thread waits for one after the other, and the rounds in which slices of sums are added.
static double secondsOfWaits(etdg::TilingAttr tiling, const TaskLoops &loops, double threads, double latency, const Machine &machine) {
  double tiles = std::ceil(loops.points / double(tiling.getWidth() * tiling.getTile() * tiling.getRows()));
  double slices = 1;
  if (tiling.getSlices() > 1 && loops.terms > 1)
    slices = std::clamp(std::floor(threads / tiles), 1.0, double(tiling.getSlices()));
  double lanes = double(std::max<int64_t>(tiling.getLanes(), 1));
  double copies = double(machine.gpu.smallTileCopies);
  if (DenseI64ArrayAttr unroll = tiling.getUnroll(); unroll && !unroll.empty() && unroll.asArrayRef().back() > 0)
    copies = double(unroll.asArrayRef().back());
  double rounds = std::ceil(tiles * slices * lanes / threads);
  double waits = rounds * (std::ceil(loops.terms / slices / lanes / copies) + (loops.beginsInMemory ? 1 : 0));
  return waits * latency + machine.sync.leafCall * (1 + std::ceil(std::log2(slices)));
}

/// What the threads of a task compute, of the whole machine: each multiply-add with its share of what a tile in registers loads.
static double secondsOfSums(etdg::TilingAttr tiling, const leaf::Nest &nest, const TaskLoops &loops, double threads, const Machine &machine) {
  double own = double(tiling.getWidth() * tiling.getTile() * tiling.getRows());
  double together = double(std::max<int64_t>(tiling.getLanes(), 1));
  if (tiling.getSlices() > 1)
    together *= std::clamp(loops.terms / double(machine.gpu.leastSlice), 1.0, double(tiling.getSlices()));
  double busyThreads = std::clamp(loops.points / own * together, 1.0, threads);
  double work = 0;
  for (const leaf::NestMember &member : nest.members)
    work += loops.points * (member.isReduction() ? loops.terms * (1 + double(machine.gpu.operandReadCost) * 2 / std::sqrt(own)) : 1);
  return work * 2 / machine.rates.f32Flops / std::min(1.0, busyThreads / double(machine.gpu.blockThreads.back()));
}

KernelPrices::TaskCost KernelPrices::costOfLoops(const LeafForm &form, unsigned number, Attribute layout, bool isRowWise, const Place &place) {
  leaf::Nest collapsed;
  TileContext tile = tileContextOf(form, number, place.context, isRowWise, collapsed);
  double threads = double(place.context.threads);
  TaskLoops loops = loopsOf(form, number, tile, isRowWise, place.rows, place.columns,
                            place.isStaged ? 0 : double(machine.lineBytes()));
  if (auto product = dyn_cast<tile::ProductAttr>(layout)) {
    double seconds = secondsOfTiles(form, number, product, tile, isRowWise ? place.rows : 1, machine, threads, double(place.resident));
    return {seconds * std::max(1.0, double(place.resident)) + latencyOfCache(machine), seconds};
  }
  auto tiling = dyn_cast<etdg::TilingAttr>(layout);
  if (!tiling)
    return {};
  double busy = secondsOfSums(tiling, form.graph.nests[number], loops, threads, machine) * double(options.getMultiprocessors());
  double moving = loops.bytes / rateOfBytes();
  // What stays in shared memory costs a trip there, which a leaf's own call has two of.
  double latency = loops.readsMemory && !place.isStaged ? latencyOfCache(machine) : machine.sync.leafCall / 2;
  // The first loads of a nest have nothing to hide behind: what waits for them comes to what they bring.
  return {std::max(secondsOfWaits(tiling, loops, threads, latency, machine) + moving, busy), std::max(busy, moving)};
}

FailureOr<KernelPrices::TaskCost> KernelPrices::costOfLeaf(BlockOp leaf, const Place &place) {
  auto layouts = leaf->getAttrOfType<ArrayAttr>("etdg.layouts");
  if (!layouts)
    return leaf.emitError("a leaf without layouts has no price");
  if (llvm::any_of(layouts, llvm::IsaPred<etdg::RowLanesAttr>))
    return costOfRows(leaf, place);
  bool isRowWise = place.context.row && (isUniform(leaf, *place.context.row, noPlanes) || hasProductLayout(leaf));
  auto &form = forms[leaf];
  if (!form) {
    form = std::make_unique<LeafForm>();
    if (failed(makeLeafForm(*form, leaf, machine, place.context.row, isRowWise, [&](Value buffer) { return place.context.isPerRow(buffer); })))
      return failure();
  }
  TaskCost total;
  if (layouts.size() != form->graph.nests.size())
    return total;
  for (auto [number, layout] : llvm::enumerate(layouts))
    total.add(costOfLoops(*form, unsigned(number), layout, isRowWise, place), isRowWise ? 1 : place.rows);
  return total;
}
