//===- Tiles.cpp - which part of a nest a thread computes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread computes a small tile of points: some rows, or iterations of a
// loop along which an operand does not change, by some adjacent elements, which
// are one access. Reductions run inside a thread; in slices by several threads
// where there are fewer tiles than threads; or, where the reduced loop is the one
// with unit strides or points are few, across the lanes of a warp or all threads.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::schedule;

SmallVector<std::pair<const NestMember *, unsigned>> schedule::getReductions(const Nest &nest) {
  SmallVector<std::pair<const NestMember *, unsigned>> result;
  for (const NestMember &member : nest.members)
    for (unsigned i = 0; i < member.accumulators.size(); ++i)
      result.push_back({&member, i});
  return result;
}

int64_t schedule::bytesOfSums(const Nest &nest, int64_t points) {
  int64_t cell = 4, count = 0;
  for (auto [member, result] : getReductions(nest)) {
    Value accumulator = member->accumulators[result];
    cell = std::max(cell, elementBytes(accumulator.getType()));
    ++count;
  }
  return cell * points * count;
}

bool schedule::cutsSums(const Tiles &tiles, const Nest &nest, int64_t points, int64_t bytesOfThread) {
  return tiles.slices > 1 && bytesOfSums(nest, points) <= bytesOfThread;
}

/// Whether lanes may join their sums.
static bool canShareReductions(const Nest &nest) {
  for (const NestMember &member : nest.members)
    for (Operation *combiner : member.combiners)
      if (!combiner || !arith::getNeutralElement(combiner))
        return false;
  return true;
}

/// Single elements whose loads are on their way at a time: what is stored may lie where more of them would be read from.
static constexpr int64_t singleElements = 2;
/// A loop of so few iterations LLVM takes apart as a whole.
static constexpr int64_t mostWholeLoop = 4;

namespace {
class Chooser {
public:
  Chooser(const LeafGraph &graph, const Nest &nest, const TileContext &context, const Machine &machine)
      : graph(graph), nest(nest), context(context), planning(machine.gpu), warp(machine.occupancy.warp) {
    for (const NestMember &member : nest.members)
      reduces |= member.isReduction();
    for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
      (nest.reduced[loop] ? reducedLoops : parallelLoops).push_back(loop);
    for (const NestMember &member : nest.members) {
      for (const ElementView &view : member.reads)
        addAccess(view, false);
      for (const ElementView &view : member.inits)
        addAccess(view, false);
      for (const ElementView &view : member.writes)
        addAccess(view, true);
    }
  }

  Tiles run() {
    chooseLoops();
    chooseWidth();
    chooseTile();
    takeShortLoop();
    if (tiles.group > warp && int64_t(getReductions(nest).size()) * tiles.tile > mostSlots)
      tiles.group = warp; // what the scratch memory has room for
    chooseSlices();
    chooseCopies();
    return tiles;
  }

  int64_t scoreOf(int loop) const;
  bool canSlice() const;

private:
  struct AccessInfo {
    ElementView view;
    bool written = false;
  };
  void addAccess(const ElementView &view, bool written) {
    for (AccessInfo &access : accesses)
      if (access.view == view) {
        access.written |= written;
        return;
      }
    accesses.push_back({view, written});
  }
  int64_t maxPoints() const;
  bool hasGaps(int loop) const;
  int64_t elementsOfAccess(int loop) const;
  bool hasOwnTerms() const;
  int64_t lanesOfShort(int reduced, int64_t points) const;
  void chooseLoops();
  void chooseWidth();
  void chooseTile();
  void takeShortLoop();
  void chooseSlices();
  void chooseCopies();
  SmallVector<int64_t> copiesFor(int64_t points) const;
  int64_t copiesOfSlice() const;
  bool saves(int loop) const;
  bool take(int loop);
  int64_t spare() const { return canSlice() && tiles.group == 1 ? planning.leastSlice : 1; }

  const LeafGraph &graph;
  const Nest &nest;
  const TileContext &context;
  const Machine::GpuPlanning &planning;
  const int64_t warp;
  SmallVector<AccessInfo> accesses;
  SmallVector<int> parallelLoops, reducedLoops;
  bool reduces = false;
  Tiles tiles;
};
} // namespace

/// How well lanes go along a loop: by the accesses that become adjacent.
int64_t Chooser::scoreOf(int loop) const {
  int64_t score = 0;
  for (const AccessInfo &access : accesses) {
    if (access.view.isSplat() || !graph.buffers[access.view.buffer].inMemory)
      continue;
    int64_t stride = access.view.strides[loop];
    if (stride == 1)
      score += planning.adjacentGain;
    else if (stride != 0)
      score -= access.written ? planning.stridedWriteLoss : planning.stridedReadLoss;
  }
  return score;
}

int64_t Chooser::maxPoints() const {
  int64_t points = nest.batched ? context.maxRows : 1;
  for (int loop : parallelLoops)
    points *= nest.sizes[loop];
  if (context.splitLoop >= 0 && context.columnTile > 0)
    points = points / std::max<int64_t>(nest.sizes[context.splitLoop], 1) * context.columnTile;
  else if (context.splitLoop >= 0) // a guess: where few tasks are left, many blocks share the columns
    points = std::max<int64_t>(points / planning.columnSharers, context.columnUnit);
  return context.lifted ? points * context.lifts : points;
}

/// Threads without a tile of their own may take slices of other tiles' sums.
bool Chooser::canSlice() const {
  // Adding slices costs some barriers: short sums are not worth them.
  return reduces && !reducedLoops.empty() && nest.sizes[reducedLoops.front()] >= planning.leastSlicedSum &&
         canShareReductions(nest);
}

/// Adjacent elements that one access has at most.
int64_t Chooser::elementsOfAccess(int loop) const {
  int64_t bytes = 0;
  for (const AccessInfo &access : accesses)
    if (!access.view.isSplat() && access.view.strides[loop] == 1)
      bytes = std::max(bytes, elementBytes(graph.buffers[access.view.buffer].elementType));
  return bytes == 0 ? 1 : std::min<int64_t>(planning.accessBytes / std::min<int64_t>(bytes, planning.accessBytes), 4);
}

/// Whether something that is read is another for each point: a tile of points in registers would not read it less often.
bool Chooser::hasOwnTerms() const {
  return llvm::any_of(accesses, [&](const AccessInfo &access) {
    if (access.view.isSplat() || access.written || (nest.batched && context.maxRows > 1 && !graph.isBatched(access.view)))
      return false;
    return llvm::all_of(parallelLoops, [&](int loop) { return nest.sizes[loop] == 1 || access.view.strides[loop] != 0; });
  });
}

/// A sum that is shorter than a warp, and whose terms are adjacent: how many lanes share it, an access each, where threads would be idle
/// otherwise, or tiles gain nothing. One thread for each point would meet other lines of memory, and the same banks, in each lane.
int64_t Chooser::lanesOfShort(int reduced, int64_t points) const {
  int64_t size = nest.sizes[reduced];
  bool isFew = points * planning.idleThreads <= context.threads;
  if (size == 0 || size >= warp || context.threads % warp != 0 || (!isFew && !hasOwnTerms()) ||
      (tiles.vectorLoop != Tiles::none && scoreOf(reduced) <= scoreOf(tiles.vectorLoop)) || scoreOf(reduced) <= 0 || hasGaps(reduced))
    return 1;
  int64_t width = elementsOfAccess(reduced);
  while (size % width != 0)
    width /= 2;
  int64_t lanes = 1;
  while (size % (2 * lanes * width) == 0 && (!isFew || points * 2 * lanes <= context.threads))
    lanes *= 2;
  return lanes;
}

void Chooser::chooseLoops() {
  auto best = [&](ArrayRef<int> loops) {
    int found = Tiles::none;
    for (int loop : loops)
      if (found == Tiles::none || scoreOf(loop) > scoreOf(found))
        found = loop;
    return found;
  };
  tiles.vectorLoop = best(parallelLoops);
  int reduced = reduces && canShareReductions(nest) ? best(reducedLoops) : Tiles::none;
  if (reduced != Tiles::none) {
    int64_t points = maxPoints(), size = nest.sizes[reduced];
    bool few = points * planning.idleThreads <= context.threads && size >= warp;
    bool adjacent = size >= warp && (tiles.vectorLoop == Tiles::none || scoreOf(reduced) > scoreOf(tiles.vectorLoop));
    if (int64_t lanes = lanesOfShort(reduced, points); lanes > 1) {
      tiles.vectorLoop = reduced;
      tiles.group = lanes;
    } else if (few || adjacent) {
      tiles.vectorLoop = reduced;
      // (Where columns are dealt in tiles of a fixed size, it is known how many points there are.)
      int64_t idle = context.columnTile > 0 ? planning.idleThreads : 2;
      tiles.group = points * warp * idle <= context.threads && size > 2 * warp ? context.threads : warp;
    }
  }
  if (tiles.vectorLoop != Tiles::none) {
    auto &loops = tiles.group > 1 ? reducedLoops : parallelLoops;
    loops.erase(llvm::find(loops, tiles.vectorLoop));
    loops.push_back(tiles.vectorLoop); // fastest
  }
}

/// Whether something that lies in memory is read with gaps along a loop.
bool Chooser::hasGaps(int loop) const {
  return llvm::any_of(accesses, [&](const AccessInfo &access) {
    return !access.view.isSplat() && graph.buffers[access.view.buffer].inMemory && !access.written &&
           access.view.strides[loop] != 0 && access.view.strides[loop] != 1;
  });
}

/// As many adjacent elements as an access has, where that divides the loop.
void Chooser::chooseWidth() {
  // (Lanes that go along a sum by some terms each would be as many times as far apart where another operand has gaps.)
  if (tiles.vectorLoop == Tiles::none || (tiles.group > 1 && hasGaps(tiles.vectorLoop)))
    return;
  int64_t points = maxPoints();
  tiles.width = elementsOfAccess(tiles.vectorLoop);
  auto tooWide = [&] {
    int64_t size = nest.sizes[tiles.vectorLoop];
    if (size % tiles.width != 0 ||
        (tiles.vectorLoop == context.splitLoop && context.columnUnit % tiles.width != 0))
      return true;
    return tiles.group > 1 ? size < tiles.width * tiles.group : points * spare() < tiles.width * context.threads;
  };
  while (tiles.width > 1 && tooWide())
    tiles.width /= 2;
}

/// Whether parts of a tile along the loop share an operand.
bool Chooser::saves(int loop) const {
  for (const NestMember &member : nest.members)
    for (const ElementView &view : member.reads) {
      bool varies = !view.isSplat() && (loop == Tiles::rowLoop ? graph.isBatched(view) : view.movesWith(loop));
      if (!view.isSplat() && !varies && llvm::is_contained(nest.reduced, true))
        return true;
    }
  return false;
}

bool Chooser::take(int loop) {
  int64_t size = loop == Tiles::rowLoop ? context.maxRows : nest.sizes[loop];
  int64_t takers = tiles.group > 1 ? context.threads / tiles.group : context.threads;
  auto enough = [&](int64_t t) { return size >= t && maxPoints() * spare() >= tiles.width * t * takers; };
  if (loop == Tiles::rowLoop) {
    if (!enough(planning.rowTile))
      return false;
    tiles.tile = planning.rowTile;
  } else {
    int64_t t = planning.loopTile;
    while (t > 1 && (size % t != 0 || !enough(t)))
      t /= 2;
    if (t <= 1)
      return false;
    tiles.tile = t;
  }
  tiles.tileLoop = loop;
  return true;
}

/// Parts of a tile share the operands that do not change along its loop: worth it in reductions.
void Chooser::chooseTile() {
  if (!reduces)
    return;
  SmallVector<int> candidates;
  if (nest.batched && context.maxRows > 1)
    candidates.push_back(Tiles::rowLoop);
  for (int loop : parallelLoops)
    if (loop != tiles.vectorLoop && loop != context.splitLoop)
      candidates.push_back(loop);
  for (int loop : candidates)
    if (saves(loop) && take(loop))
      return;
  // Lanes that sum one row after the other would wait for each.
  bool joins = tiles.group == warp || (tiles.group > warp && int64_t(getReductions(nest).size()) * planning.loopTile <= mostSlots);
  for (int loop : candidates)
    if (joins && loop != Tiles::rowLoop && take(loop))
      return;
}

/// A few elements that are no whole access (the colours of a pixel) are one thread's: their addresses have most in common, and what
/// is chosen by their number is known.
void Chooser::takeShortLoop() {
  int loop = tiles.vectorLoop;
  if (reduces || tiles.width > 1 || loop == Tiles::none || loop == context.splitLoop || tiles.tileLoop != Tiles::none)
    return;
  int64_t size = nest.sizes[loop];
  if (size < 2 || size > planning.loopTile || maxPoints() < planning.threadTiles * context.threads * size)
    return;
  tiles.tileLoop = loop;
  tiles.tile = size;
  tiles.vectorLoop = Tiles::none;
}

/// There may be so few tiles that threads take slices of them: few rows or columns are known only at
/// run time.
void Chooser::chooseSlices() {
  int64_t least = context.lifted ? context.lifts : 1;
  for (int loop : parallelLoops) {
    int64_t size = loop == context.splitLoop ? context.columnUnit : nest.sizes[loop];
    int64_t step = loop == tiles.tileLoop ? tiles.tile : loop == tiles.vectorLoop ? tiles.width : 1;
    least *= std::max<int64_t>(size / step, 1);
  }
  // (Rows may be too few for a tile of rows: then one is computed at a time.)
  int64_t smallest = tiles.tileLoop == Tiles::rowLoop ? 1 : tiles.tile;
  if (tiles.group == 1 && canSlice() && least * 2 <= context.threads &&
      bytesOfSums(nest, smallest * tiles.width) <= context.sums)
    tiles.slices = std::max<int64_t>(
        std::min<int64_t>(nest.sizes[reducedLoops.front()] / planning.leastSlice, planning.mostSlices), 1);
}

/// Terms of a slice that are computed at a time, so that their loads are in flight together: what divides the sum,
/// so that slices may end at any multiple. Of several loops only the outermost is cut, and has the others inside.
int64_t Chooser::copiesOfSlice() const {
  if (reducedLoops.size() == 1)
    for (int64_t copies = planning.smallTileCopies; copies > 1; copies /= 2)
      if (nest.sizes[reducedLoops.front()] % copies == 0)
        return copies;
  return 1;
}

/// The copies of a thread's loops where it computes so many points at a time.
SmallVector<int64_t> Chooser::copiesFor(int64_t points) const {
  bool slices = cutsSums(tiles, nest, points, context.sums);
  // Around loops of its own the loop over tiles stays one.
  SmallVector<int64_t> copies = {tiles.group == 1 && reduces ? 1 : 0};
  for (auto [depth, loop] : llvm::enumerate(reducedLoops)) {
    bool isLeft = (tiles.group > 1 && loop == tiles.vectorLoop) || nest.sizes[loop] <= mostWholeLoop;
    if (depth == 0 && slices)
      copies.push_back(copiesOfSlice());
    else
      copies.push_back(isLeft ? 0 : points >= planning.largeTile ? planning.largeTileCopies : planning.smallTileCopies);
  }
  while (!copies.empty() && copies.back() == 0)
    copies.pop_back();
  return copies;
}

void Chooser::chooseCopies() {
  tiles.unroll = copiesFor(tiles.tile * tiles.width);
  // Single elements: a thread has the loads of two on their way at a time, where it has some of them.
  if (!reduces && tiles.unroll.empty() && tiles.width == 1 && maxPoints() >= planning.threadTiles * context.threads * tiles.tile)
    tiles.unroll = {singleElements};
  if (tiles.tileLoop == Tiles::rowLoop && !cutsSums(tiles, nest, tiles.tile * tiles.width, context.sums))
    tiles.restUnroll = copiesFor(tiles.width);
}

Tiles schedule::chooseTiles(const LeafGraph &graph, const Nest &nest, const TileContext &context,
                            const Machine &machine) {
  return Chooser(graph, nest, context, machine).run();
}

//===----------------------------------------------------------------------===//
// As attributes
//===----------------------------------------------------------------------===//

static DenseI64ArrayAttr copiesAttribute(MLIRContext *context, ArrayRef<int64_t> copies) {
  return copies.empty() ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(context, copies);
}

etdg::TilingAttr schedule::toAttribute(MLIRContext *context, const Tiles &tiles) {
  bool ofRows = tiles.tileLoop == Tiles::rowLoop;
  return etdg::TilingAttr::get(context, tiles.vectorLoop, tiles.width, ofRows ? -1 : tiles.tileLoop,
                               ofRows ? 1 : tiles.tile, ofRows ? tiles.tile : 1, tiles.group, tiles.slices,
                               copiesAttribute(context, tiles.unroll), copiesAttribute(context, tiles.restUnroll));
}

/// The engine writes the code of each point of a tile: beyond this it spills on every machine.
static constexpr int64_t mostPoints = 64;

namespace {
/// Looks for what in the tiles does not fit a nest.
class Fit {
public:
  Fit(const Tiles &tiles, const Nest &nest, const TileContext &context, const Machine &machine)
      : tiles(tiles), nest(nest), context(context), machine(machine), numLoops(nest.sizes.size()) {}
  std::string check() const;

private:
  static std::string number(int64_t value) { return std::to_string(value); }
  std::string checkVector() const;
  std::string checkTile() const;
  std::string checkSharing() const;
  std::string checkCopies(StringRef name, ArrayRef<int64_t> copies, int64_t points) const;

  const Tiles &tiles;
  const Nest &nest;
  const TileContext &context;
  const Machine &machine;
  const int64_t numLoops;
};
} // namespace

std::string Fit::checkVector() const {
  int loop = tiles.vectorLoop;
  if (loop >= numLoops)
    return "vector = " + number(loop) + ": the nest has " + number(numLoops) + " loops";
  if (loop < 0)
    return tiles.group > 1 ? "threads that share a point need a loop, found no 'vector'" : "";
  if (nest.reduced[loop] != (tiles.group > 1))
    return nest.reduced[loop] ? "vector = " + number(loop) + " is a sum's loop: threads share the point then, found lanes = 1"
                              : "threads that share a point go along a sum's loop, found vector = " + number(loop);
  if ((tiles.width & (tiles.width - 1)) != 0 || nest.sizes[loop] % tiles.width != 0)
    return "width = " + number(tiles.width) + " is no power of two that divides the " +
           number(nest.sizes[loop]) + " iterations of loop " + number(loop);
  if (loop == context.splitLoop && context.columnUnit % tiles.width != 0)
    return "width = " + number(tiles.width) + " does not divide the unit of columns, " + number(context.columnUnit);
  return "";
}

std::string Fit::checkTile() const {
  int loop = tiles.tileLoop;
  if (tiles.tile > mostPoints || tiles.width * tiles.tile > mostPoints)
    return "a thread keeps at most " + number(mostPoints) + " points in registers, found " + number(tiles.width * tiles.tile);
  if (loop == Tiles::rowLoop)
    return nest.batched && context.maxRows > 1
               ? ""
               : "rows = " + number(tiles.tile) + ": the nest is computed for one row";
  if (loop < 0)
    return "";
  if (loop >= numLoops)
    return "loop = " + number(loop) + ": the nest has " + number(numLoops) + " loops";
  if (nest.reduced[loop] || loop == context.splitLoop)
    return "loop = " + number(loop) + (nest.reduced[loop] ? " is a sum's" : " is that of the columns") +
           ", a tile is of a parallel loop of one block";
  if (nest.sizes[loop] % tiles.tile != 0)
    return "tile = " + number(tiles.tile) + " does not divide the " + number(nest.sizes[loop]) + " iterations of loop " +
           number(loop);
  return "";
}

std::string Fit::checkSharing() const {
  int64_t warp = machine.occupancy.warp;
  bool isOfWarp = tiles.group <= warp && llvm::isPowerOf2_64(uint64_t(tiles.group));
  if (!isOfWarp && tiles.group != context.threads)
    return "lanes = " + number(tiles.group) + ": expected a power of two of a warp's " + number(warp) + ", or the block's " +
           number(context.threads) + " threads";
  if (tiles.group > 1 || tiles.slices > 1) {
    if (getReductions(nest).empty() || !canShareReductions(nest))
      return "threads join sums of known operators, this nest has none";
    if (tiles.group > warp && int64_t(getReductions(nest).size()) * tiles.tile > mostSlots)
      return "a block that shares a point joins " + number(mostSlots) + " sums, found " +
             number(int64_t(getReductions(nest).size()) * tiles.tile);
  }
  int64_t smallest = tiles.tileLoop == Tiles::rowLoop ? 1 : tiles.tile;
  if (tiles.slices > 1) {
    int64_t bytes = bytesOfSums(nest, smallest * tiles.width);
    if (bytes > context.sums)
      return "a thread leaves " + number(bytes) + " bytes of sums, there is shared memory for " + number(context.sums);
    for (int loop = 0; loop < numLoops; ++loop)
      if (nest.reduced[loop])
        return nest.sizes[loop] < tiles.slices ? "slices = " + number(tiles.slices) + ": the sum has " +
                                                     number(nest.sizes[loop]) + " terms"
                                               : "";
  }
  return "";
}

std::string Fit::checkCopies(StringRef name, ArrayRef<int64_t> copies, int64_t points) const {
  int64_t sums = llvm::count(nest.reduced, true);
  if (int64_t(copies.size()) > 1 + sums)
    return name.str() + " has " + number(copies.size()) + " numbers: the loop over tiles and those of " + number(sums) +
           " sums have one each";
  if (copies.size() < 2 || !cutsSums(tiles, nest, points, context.sums))
    return "";
  int64_t size = nest.sizes[llvm::find(nest.reduced, true) - nest.reduced.begin()];
  return copies[1] > 1 && size % copies[1] != 0 ? name.str() + ": slices have whole multiples of " + number(copies[1]) +
                                                      " terms, which does not divide the sum's " + number(size)
                                                : "";
}

std::string Fit::check() const {
  int64_t rest = tiles.tileLoop == Tiles::rowLoop ? tiles.width : tiles.tile * tiles.width;
  for (std::string wrong : {checkVector(), checkTile(), checkSharing(), checkCopies("unroll", tiles.unroll, tiles.tile * tiles.width),
                            checkCopies("rest_unroll", tiles.restUnroll, rest)})
    if (!wrong.empty())
      return wrong;
  return "";
}

FailureOr<Tiles> schedule::readTiles(etdg::TilingAttr attribute, const LeafGraph &graph, const Nest &nest,
                                     const TileContext &context, const Machine &machine, std::string &wrong) {
  Tiles tiles;
  tiles.vectorLoop = int(attribute.getVector());
  tiles.width = attribute.getWidth();
  bool ofRows = attribute.getRows() > 1;
  tiles.tileLoop = ofRows ? Tiles::rowLoop : int(attribute.getLoop());
  tiles.tile = ofRows ? attribute.getRows() : attribute.getTile();
  tiles.group = attribute.getLanes();
  tiles.slices = attribute.getSlices();
  if (DenseI64ArrayAttr copies = attribute.getUnroll())
    tiles.unroll.assign(copies.asArrayRef().begin(), copies.asArrayRef().end());
  if (DenseI64ArrayAttr copies = attribute.getRestUnroll())
    tiles.restUnroll.assign(copies.asArrayRef().begin(), copies.asArrayRef().end());
  wrong = Fit(tiles, nest, context, machine).check();
  if (!wrong.empty())
    return failure();
  return tiles;
}
