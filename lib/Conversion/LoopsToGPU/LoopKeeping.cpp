//===- LoopKeeping.cpp - loops through which threads keep sums in registers -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What leaves in the body of a loop keep (`loops.kept`) is loaded before the loop, where its first iteration would read it, is handed from one iteration
// to the next as tiles, and stored after it, where its last iteration would.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

#include "ChainEmitter.h"
#include "ProductEmitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

LogicalResult LoopWalker::takeKeeping(scf::ForOp loop) {
  Value lower = valueOf(loop.getLowerBound()), upper = valueOf(loop.getUpperBound());
  // Without iterations nothing is loaded, and nothing stored.
  auto some = scf::IfOp::create(b, b.less(lower, upper), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(some.thenBlock());
  Known saved = known;
  LogicalResult taken = takeKept(loop, lower, upper);
  known = std::move(saved);
  return taken;
}

/// The tiles of what a leaf keeps, where the loop's index is that of its first iteration.
LogicalResult LoopWalker::loadKept(loops::LeafOp leaf, SmallVectorImpl<Value> &tiles) {
  b.setLoc(leaf.getLoc());
  FailureOr<std::unique_ptr<LeafHere>> here = readHere(leaf);
  if (failed(here))
    return failure();
  LeafEmitter &emitter = *(*here)->emitter;
  bindOperands(leaf, emitter, [&](int buffer) { return llvm::any_of((*here)->kept, [&](const KeptSum &sum) { return sum.input == buffer; }); });
  setTiling(leaf, std::move((*here)->placed.tiling), emitter);
  bindValues(leaf, emitter);
  for (const KeptSum &sum : (*here)->kept)
    if (emitter.chain)
      tiles.push_back(loadKeptOfChain(emitter, sum));
    else
      llvm::append_range(tiles, togpu::loadKept(emitter, sum));
  return success();
}

/// Stores what a leaf keeps, where the loop's index is that of its last iteration.
LogicalResult LoopWalker::storeKept(loops::LeafOp leaf) {
  b.setLoc(leaf.getLoc());
  FailureOr<std::unique_ptr<LeafHere>> here = readHere(leaf);
  if (failed(here))
    return failure();
  LeafEmitter &emitter = *(*here)->emitter;
  auto isStored = [](const KeptSum &sum) { return sum.said.getStore() == loops::KeptStore::Last; };
  bindOperands(leaf, emitter, [&](int buffer) {
    return llvm::any_of((*here)->kept, [&](const KeptSum &sum) { return isStored(sum) && sum.output == buffer; });
  });
  setTiling(leaf, std::move((*here)->placed.tiling), emitter);
  ValueRange tiles = keptTiles[leaf];
  for (const KeptSum &sum : (*here)->kept) {
    if (isStored(sum) && emitter.chain)
      storeKeptOfChain(emitter, sum, tiles.front());
    else if (isStored(sum))
      togpu::storeKept(emitter, sum, tiles.take_front(size_t(sum.tiles)));
    tiles = tiles.drop_front(size_t(sum.tiles));
  }
  return success();
}

/// In the loop's body: what the leaf's emitter has of it.
void LoopWalker::giveKept(ArrayRef<KeptSum> sums, loops::LeafOp leaf, LeafEmitter &emitter) {
  if (sums.empty())
    return;
  ArrayRef<Value> tiles = keptTiles[leaf];
  for (const KeptSum &sum : sums) {
    emitter.kept.push_back({sum, llvm::to_vector(tiles.take_front(size_t(sum.tiles))), SmallVector<Value>(size_t(sum.tiles))});
    tiles = tiles.drop_front(size_t(sum.tiles));
  }
}

/// And what it has made of it.
void LoopWalker::takeNext(loops::LeafOp leaf, LeafEmitter &emitter) {
  SmallVector<Value> next;
  for (const KeptTiles &kept : emitter.kept)
    llvm::append_range(next, kept.next);
  if (!next.empty())
    keptTiles[leaf] = std::move(next);
}

LogicalResult LoopWalker::takeKept(scf::ForOp loop, Value lower, Value upper) {
  Location loc = b.getLoc();
  SmallVector<loops::LeafOp> leaves = keepingLeaves(loop);
  Known outside = known;
  known.values[loop.getInductionVar()] = lower;
  SmallVector<Value> tiles;
  SmallVector<size_t> begins;
  for (loops::LeafOp leaf : leaves) {
    begins.push_back(tiles.size());
    if (failed(loadKept(leaf, tiles)))
      return failure();
  }
  known = outside;
  b.setLoc(loc);
  auto made = b.loop(lower, upper, valueOf(loop.getStep()), tiles);
  begins.push_back(tiles.size());
  for (auto [i, leaf] : llvm::enumerate(leaves))
    keptTiles[leaf] = SmallVector<Value>(made.getRegionIterArgs().slice(begins[i], begins[i + 1] - begins[i]));
  if (failed(takeRegion(*loop.getBody(), made.getBody(), made.getInductionVar())))
    return failure();
  SmallVector<Value> next;
  for (loops::LeafOp leaf : leaves)
    llvm::append_range(next, keptTiles[leaf]);
  scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(made);
  known = outside;
  known.values[loop.getInductionVar()] = b.sub(upper, b.number(1));
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    keptTiles[leaf] = SmallVector<Value>(made.getResults().slice(begins[i], begins[i + 1] - begins[i]));
    if (failed(storeKept(leaf)))
      return failure();
  }
  b.setLoc(loc);
  return success();
}
