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

/// A tile, or values of rows, of zeros: where nothing reads it.
static Value emptyTile(Code &b, Type type) {
  auto rows = dyn_cast<tile::RowVectorType>(type);
  int64_t shape[] = {rows ? rows.getRows() : 0, rows ? rows.getLayout().getSpan(1) : 0};
  auto tile = rows ? tile::RegistersType::get(b.getContext(), shape, rows.getElementType(), rows.getLayout()) : cast<tile::RegistersType>(type);
  Value zeros = tile::SplatOp::create(b, tile, arith::ConstantOp::create(b, b.getZeroAttr(tile.getElementType())));
  return rows ? Value(tile::RowValuesOp::create(b, rows, zeros)) : zeros;
}

LogicalResult LoopWalker::takeKeeping(scf::ForOp loop) {
  Value lower = valueOf(loop.getLowerBound()), upper = valueOf(loop.getUpperBound());
  // Without iterations nothing is loaded, and nothing stored.
  auto some = scf::IfOp::create(b, b.less(lower, upper), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(some.thenBlock());
  Known saved = known;
  SmallVector<std::pair<Value, Value>> made;
  LogicalResult taken = takeKept(loop, lower, upper, made);
  known = std::move(saved);
  if (succeeded(taken) && !made.empty())
    handOn(some, made);
  return taken;
}

/// What loops before have left of a memory in registers; null: nothing.
Value LoopWalker::handedOf(Value memory) const {
  if (auto branch = memory.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(memory).getResultNumber();
    Value one = handedOf(branch.thenYield().getOperand(number));
    return one ? one : handedOf(branch.elseYield().getOperand(number));
  }
  return handed.lookup(memory);
}

void LoopWalker::bindHanded(loops::LeafOp leaf, LeafEmitter &emitter) {
  emitter.handed.assign(emitter.graph.buffers.size(), Value());
  for (auto [value, buffer] : llvm::zip_equal(emitter.handed, emitter.graph.buffers))
    if (buffer.kind == leaf::Buffer::Kind::Input)
      value = handedOf(leaf.getInputs()[buffer.number].getDefiningOp<loops::ViewOp>().getMemory());
}

/// A loop's tiles, by the memory in whose place they are, come out of the branch around it: where it has no iteration they are those of before.
void LoopWalker::handOn(scf::IfOp some, ArrayRef<std::pair<Value, Value>> made) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(some);
  SmallVector<Value> before, next;
  for (auto [memory, value] : made) {
    next.push_back(value);
    Value known = handed.lookup(memory);
    before.push_back(known && known.getType() == value.getType() ? known : emptyTile(b, value.getType()));
  }
  auto whole = scf::IfOp::create(b, ValueRange(next).getTypes(), some.getCondition(), /*withElseRegion=*/true);
  whole.getThenRegion().takeBody(some.getThenRegion());
  Block *then = whole.thenBlock();
  if (!then->empty() && then->back().hasTrait<OpTrait::IsTerminator>())
    then->back().erase();
  b.setInsertionPointToEnd(then);
  scf::YieldOp::create(b, next);
  b.setInsertionPointToEnd(whole.elseBlock());
  scf::YieldOp::create(b, before);
  for (auto [number, one] : llvm::enumerate(made))
    handed[one.first] = whole.getResult(unsigned(number));
  some.erase();
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
  bindHanded(leaf, emitter);
  for (const KeptSum &sum : (*here)->kept)
    if (emitter.chain)
      tiles.push_back(loadKeptOfChain(emitter, sum));
    else
      llvm::append_range(tiles, togpu::loadKept(emitter, sum));
  return success();
}

/// Stores what a leaf keeps, where the loop's index is that of its last iteration.
LogicalResult LoopWalker::storeKept(loops::LeafOp leaf, SmallVectorImpl<std::pair<Value, Value>> &left) {
  b.setLoc(leaf.getLoc());
  FailureOr<std::unique_ptr<LeafHere>> here = readHere(leaf);
  if (failed(here))
    return failure();
  LeafEmitter &emitter = *(*here)->emitter;
  auto isStored = [](const KeptSum &sum) { return sum.said.getStore() == loops::KeptStore::Last && !sum.isHanded; };
  bindOperands(leaf, emitter, [&](int buffer) {
    return llvm::any_of((*here)->kept, [&](const KeptSum &sum) { return isStored(sum) && sum.output == buffer; });
  });
  setTiling(leaf, std::move((*here)->placed.tiling), emitter);
  ValueRange tiles = keptTiles[leaf];
  for (const KeptSum &sum : (*here)->kept) {
    if (sum.isHanded)
      left.emplace_back(leaf.getOutputs()[emitter.graph.buffers[size_t(sum.output)].number].getDefiningOp<loops::ViewOp>().getMemory(), tiles.front());
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

LogicalResult LoopWalker::takeKept(scf::ForOp loop, Value lower, Value upper, SmallVectorImpl<std::pair<Value, Value>> &left) {
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
    if (failed(storeKept(leaf, left)))
      return failure();
  }
  b.setLoc(loc);
  return success();
}
