//===- PlainPrices.cpp - seconds of loop nests in plain tiles ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlainPrices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

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

/// Bytes from one term of a sum to the next, along the loop that is reduced fastest.
static double strideOfTerms(const leaf::Nest &nest, const leaf::ElementView &view, double elementBytes) {
  std::optional<int64_t> least;
  for (auto [loop, isReduced] : llvm::enumerate(nest.reduced))
    if (isReduced && nest.sizes[loop] > 1)
      least = std::min(least.value_or(std::abs(view.strides[loop])), std::abs(view.strides[loop]));
  return double(least.value_or(0)) * elementBytes;
}

TaskLoops schedule::loopsOf(const LeafForm &form, unsigned number, const TileContext &tile, bool isRowWise, double rows, double columns,
                         double lineBytes, llvm::function_ref<Source(unsigned)> sourceOfInput) {
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
      if (buffer.kind != leaf::Buffer::Kind::Input)
        continue;
      double size = double(elementBytes(buffer.elementType));
      double bytes = elementsOf(nest, view) * size * linesOf(nest, view, size, split, columns, lineBytes) *
                     (split >= 0 && view.movesWith(split) ? columns : 1) * (isRowWise && buffer.batched ? rows : 1) *
                     (tile.lifted ? double(tile.lifts) : 1);
      loops.reads.push_back({sourceOfInput(buffer.number), strideOfTerms(nest, view, size), bytes});
    }
  for (const leaf::NestMember &member : nest.members)
    for (const leaf::ElementView &view : member.isReduction() ? ArrayRef(member.inits) : ArrayRef<leaf::ElementView>())
      if (!view.isSplat() && form.graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Input)
        loops.begins = std::max(loops.begins.value_or(Source::Shared), sourceOfInput(form.graph.buffers[view.buffer].number));
  return loops;
}

/// Points of a thread's tile; where lanes share a sum, they have its terms beside each other.
static double pointsOfThread(etdg::TilingAttr tiling) {
  return double((tiling.getLanes() > 1 ? 1 : tiling.getWidth()) * tiling.getTile() * tiling.getRows());
}

/// Slices into which threads that have no tile of their own cut each sum.
static double slicesOf(etdg::TilingAttr tiling, const TaskLoops &loops, double threads) {
  if (tiling.getSlices() <= 1 || loops.terms <= 1)
    return 1;
  double tiles = std::ceil(loops.points / pointsOfThread(tiling));
  return std::clamp(std::floor(threads / tiles), 1.0, double(tiling.getSlices()));
}

/// Threads that have something to do.
double schedule::activeThreads(etdg::TilingAttr tiling, const TaskLoops &loops, double threads) {
  double tiles = std::ceil(loops.points / pointsOfThread(tiling));
  return std::clamp(tiles * slicesOf(tiling, loops, threads) * double(std::max<int64_t>(tiling.getLanes(), 1)), 1.0, threads);
}

/// Loads that a thread waits for one after the other, and the rounds in which slices of sums are added.
double schedule::secondsOfWaits(etdg::TilingAttr tiling, const TaskLoops &loops, double threads, const Machine &machine) {
  const auto lineBytes = double(machine.lineBytes());
  double tiles = std::ceil(loops.points / pointsOfThread(tiling));
  double slices = slicesOf(tiling, loops, threads);
  double lanes = double(std::max<int64_t>(tiling.getLanes(), 1));
  double copies = double(machine.gpu.smallTileCopies);
  if (DenseI64ArrayAttr unroll = tiling.getUnroll(); unroll && !unroll.empty() && unroll.asArrayRef().back() > 0)
    copies = double(unroll.asArrayRef().back());
  double rounds = std::ceil(tiles * slices * lanes / threads);
  double together = std::ceil(loops.terms / slices / lanes / copies); // loads of so many terms are on their way
  double near = latencyOf(Source::Near, machine), longest = 0;
  // What lies in a line that has come is near.
  for (const TaskRead &read : loops.reads) {
    // (Lanes that share a sum have the terms in between.)
    double lines = rounds * std::clamp(std::ceil(together * copies * read.stride * lanes / lineBytes), 1.0, together);
    lines = std::min(lines, read.bytes / lineBytes);
    longest = std::max(longest, lines * (latencyOf(read.source, machine) - near));
  }
  double begins = loops.begins ? latencyOf(*loops.begins, machine) : 0;
  // Lanes that share a sum pass it on as often as it takes to halve their number to one; a pass is as long as a trip to shared memory.
  double passes = rounds * std::ceil(std::log2(lanes)) * near;
  return rounds * together * near + longest + begins + passes + machine.sync.leafCall * (1 + std::ceil(std::log2(slices)));
}

/// Multiply-adds in whose time an elementary function is computed, or a quotient: as rare as exponentials, with about as much beside.
double schedule::elementaryOperations(const Machine &machine) {
  return machine.rates.exponentials > 0 ? machine.rates.f32Flops / machine.rates.exponentials : 1;
}

bool schedule::isElementary(Operation *op) { return isa<arith::DivFOp>(op) || op->getDialect()->getNamespace() == "math"; }

/// The same of an operation of a body.
static double weightOf(Operation *op, const Machine &machine) { return isElementary(op) ? elementaryOperations(machine) : 1; }

/// Multiply-adds in whose time what a thread has loaded of halves becomes f32.
static double conversionsOf(double elements, double elementBytes, const Machine &machine) {
  return elementBytes < 4 ? elements * machine.rates.f32Flops / 2 / machine.kernels.conversions : 0;
}

/// The same of all that is computed at a point, or for a term.
double schedule::operationsOf(const leaf::NestMember &member, const Machine &machine) {
  if (!member.body)
    return member.copy ? 0 : weightOf(member.op, machine);
  double sum = 0;
  for (Operation &op : member.body->without_terminator())
    sum += weightOf(&op, machine);
  return sum;
}

namespace {
/// How the lanes of a warp lie in the tiles of a nest: along its vectors, among other tiles of points, and among slices of sums.
struct WarpLanes {
  double across = 1, beside = 1, slices = 1;
};
} // namespace

static WarpLanes lanesOf(etdg::TilingAttr tiling, const leaf::Nest &nest, double columns, const TaskLoops &loops, double slices, double warp) {
  WarpLanes lanes;
  int vector = int(tiling.getVector());
  bool hasVector = vector >= 0 && vector < int(nest.sizes.size());
  double along = hasVector ? double(nest.sizes[vector]) / double(tiling.getWidth()) : 1;
  if (hasVector && nest.reduced[vector])
    along = double(std::max<int64_t>(tiling.getLanes(), 1));
  else
    along *= columns;
  lanes.across = std::clamp(along, 1.0, warp);
  double tiles = loops.points / pointsOfThread(tiling);
  lanes.beside = std::clamp(std::floor(hasVector && nest.reduced[vector] ? tiles : tiles / std::max(along, 1.0)), 1.0, std::max(1.0, warp / lanes.across));
  lanes.slices = std::clamp(slices, 1.0, std::max(1.0, warp / (lanes.across * lanes.beside)));
  return lanes;
}

/// Whether lanes lie beside each other along a view.
static bool isAcross(const leaf::Nest &nest, const leaf::ElementView &view, etdg::TilingAttr tiling) {
  int vector = int(tiling.getVector());
  return vector >= 0 && vector < int(nest.sizes.size()) && view.movesWith(vector);
}

/// Parts of a thread's tile that have elements of a view of their own.
static double partsOf(const leaf::Nest &nest, const leaf::ElementView &view, etdg::TilingAttr tiling, bool isBatched) {
  int loop = int(tiling.getLoop());
  if (tiling.getRows() > 1)
    return isBatched ? double(tiling.getRows()) : 1;
  bool moves = tiling.getTile() > 1 && loop >= 0 && loop < int(nest.sizes.size()) && view.movesWith(loop);
  return moves ? double(tiling.getTile()) : 1;
}

/// Passes that the warps' accesses to a view take for one term of a tile: one for each line that they meet, or for each word that all lanes
/// get of one.
static double passesOf(const leaf::Nest &nest, const leaf::ElementView &view, etdg::TilingAttr tiling, bool isBatched, double elementBytes,
                       const WarpLanes &lanes, double sliceTerms, double lineBytes, int64_t accessBytes) {
  int vector = int(tiling.getVector());
  bool isOther = isBatched;
  for (auto [i, isReduced] : llvm::enumerate(nest.reduced))
    isOther |= !isReduced && int(i) != vector && view.movesWith(int(i)) && std::abs(view.strides[i]) != 1;
  double lines = 1;
  if (isAcross(nest, view, tiling)) {
    double width = nest.reduced[vector] ? 1 : double(tiling.getWidth());
    double stride = std::abs(double(view.strides[vector]));
    lines = std::max(1.0, std::ceil(lanes.across * width * std::max(stride, 1.0) * elementBytes / lineBytes));
    lines = std::min(lines, lanes.across);
  }
  if (isOther)
    lines *= lanes.beside;
  // Terms that lie beside each other come several in an access.
  double together = elementBytes < double(accessBytes) && strideOfTerms(nest, view, elementBytes) == elementBytes ? double(accessBytes) / elementBytes : 1;
  if (lanes.slices > 1)
    lines *= std::clamp(std::ceil(lanes.slices * sliceTerms * strideOfTerms(nest, view, elementBytes) / lineBytes), 1.0, lanes.slices);
  return partsOf(nest, view, tiling, isBatched) * lines / together;
}

/// What the threads of a task compute, of an SM all of whose threads are busy: multiply-adds, or, where that is longer, what they bring
/// from the nearest cache and shared memory.
double schedule::secondsOfSums(const LeafForm &form, etdg::TilingAttr tiling, const leaf::Nest &nest, const TaskLoops &loops, double threads,
                            double columns, const Machine &machine) {
  double own = pointsOfThread(tiling), work = 0, passes = 0;
  bool reduces = false;
  double slices = slicesOf(tiling, loops, threads);
  WarpLanes lanes = lanesOf(tiling, nest, columns, loops, slices, double(machine.occupancy.warp));
  SmallVector<const leaf::ElementView *> seen;
  auto access = [&](const leaf::ElementView &view) {
    if (view.isSplat() || llvm::any_of(seen, [&](const leaf::ElementView *other) { return *other == view; }))
      return;
    seen.push_back(&view);
    const leaf::Buffer &buffer = form.graph.buffers[view.buffer];
    double parts = partsOf(nest, view, tiling, buffer.batched) * (isAcross(nest, view, tiling) && tiling.getLanes() <= 1 ? double(tiling.getWidth()) : 1);
    work += conversionsOf(parts, double(elementBytes(buffer.elementType)), machine);
    if (buffer.inMemory)
      passes += passesOf(nest, view, tiling, buffer.batched, double(elementBytes(buffer.elementType)), lanes, loops.terms / slices,
                         double(machine.lineBytes()), machine.gpu.accessBytes);
  };
  for (const leaf::NestMember &member : nest.members) {
    reduces |= member.isReduction();
    work += own * (member.isReduction() ? 1 : operationsOf(member, machine));
    llvm::for_each(member.reads, access);
    if (!member.isReduction())
      llvm::for_each(member.writes, access);
  }
  double tiles = loops.points / own * (reduces ? loops.terms : 1);
  return tiles * std::max(work, passes * double(machine.gpu.operandReadCost)) * 2 / machine.rates.f32Flops * machine.units;
}

/// What a thread takes for operations that each need the one before: the terms of a sum, or what is computed at a point.
double schedule::secondsOfChain(etdg::TilingAttr tiling, const leaf::Nest &nest, const TaskLoops &loops, double threads, const Machine &machine) {
  double slices = slicesOf(tiling, loops, threads), lanes = double(std::max<int64_t>(tiling.getLanes(), 1));
  double tiles = std::ceil(loops.points / pointsOfThread(tiling));
  double chain = 0;
  for (const leaf::NestMember &member : nest.members)
    chain = member.isReduction() ? std::max(chain, loops.terms / slices / lanes) : chain + operationsOf(member, machine);
  return std::ceil(tiles * slices * lanes / threads) * chain * machine.kernels.operation;
}
