//===- ETDGDeclared.cpp - Iterations in the order of their loops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The declared order. A nest is one loop over the union of its domains; its
// loops are the dimensions as they stand, those that are `map` in every region
// being parallel, or those of its schedule. A kernel shares its first loops
// among its nests, which run in textual order inside a step.
//
//===----------------------------------------------------------------------===//
#include "ETDGOrders.h"
#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;
using etdg::BlockOp;

namespace {

/// One loop over the iterations of a block: the value of `expr` over the own
/// dimensions, in steps of `tile`.
struct Loop {
  AffineExpr expr;
  int64_t tile;
  bool parallel;
  StringRef name;
};

struct Scheduled {
  BlockOp block;
  SmallVector<int64_t, 6> point;
  SmallVector<int64_t, 6> keys; // one for each loop
};

/// The iterations of a nest and its loops. Where the regions of a nest declare
/// a loop differently it is parallel only if all of them say so.
struct Nest {
  std::vector<Scheduled> iterations;
  SmallVector<Loop> loops;
};

using Iterations = std::vector<const Scheduled *>;

class DeclaredOrder {
public:
  DeclaredOrder(ETDGMachine &machine, uint64_t seed) : machine(machine), generator(seed) {}

  LogicalResult runBody(Region &body, ArrayRef<int64_t> ancestors);

private:
  SmallVector<Loop> loopsOf(BlockOp block, etdg::ScheduleAttr schedule);
  /// The pieces into which a range of tile `?` is cut: random, the same for all blocks of a nest.
  int64_t cutOf(etdg::LoopAttr loop);
  LogicalResult collect(ArrayRef<BlockOp> blocks, etdg::ScheduleAttr schedule,
                        ArrayRef<int64_t> ancestors, Nest &nest);
  LogicalResult collect(Operation *op, ArrayRef<int64_t> ancestors, Nest &nest);
  LogicalResult runNest(const Nest &nest, const Iterations &iterations, size_t level);
  LogicalResult runKernel(etdg::KernelOp kernel, ArrayRef<int64_t> ancestors);
  LogicalResult runShared(ArrayRef<Nest> nests, const std::vector<Iterations> &parts, size_t level,
                          size_t shared);
  LogicalResult runIteration(const Scheduled &iteration);
  /// The distinct keys of a loop in the order in which they run.
  std::vector<int64_t> orderKeys(std::vector<int64_t> keys, bool parallel);

  ETDGMachine &machine;
  std::mt19937_64 generator;
  LoopPath path;
  uint64_t nextLoop = 0;
  llvm::DenseMap<Attribute, int64_t> cuts;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

int64_t DeclaredOrder::cutOf(etdg::LoopAttr loop) {
  auto [it, isNew] = cuts.try_emplace(loop, 1);
  if (isNew)
    it->second += static_cast<int64_t>(generator() % (loop.getMost() > 0 ? loop.getMost() : 8));
  return it->second;
}

SmallVector<Loop> DeclaredOrder::loopsOf(BlockOp block, etdg::ScheduleAttr schedule) {
  SmallVector<Loop> loops;
  SmallVector<StringAttr> names = block.getDimNames();
  auto nameOf = [&](AffineExpr expr) -> StringRef {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim ? names[block.getNumAncestors() + dim.getPosition()].getValue() : "of the schedule";
  };
  if (!schedule) {
    for (unsigned i = 0; i < block.getNumOwnDims(); ++i) {
      AffineExpr expr = getAffineDimExpr(i, block.getContext());
      loops.push_back({expr, 1, block.getOperator(i) == OperatorKind::Map, nameOf(expr)});
    }
    return loops;
  }
  AffineMap map = schedule.getMap().getValue();
  llvm::SmallBitVector seen(map.getNumResults());
  for (etdg::LoopAttr loop : schedule.getPointLoops()) {
    AffineExpr expr = map.getResult(loop.getDimension());
    // The code that runs it cuts a range of tile `?` anywhere: so does this order.
    int64_t tile = loop.hasAnyTile() ? cutOf(loop) : loop.getTile();
    loops.push_back({expr, tile, loop.isParallel(), nameOf(expr)});
    if (loop.isOverPoints())
      seen.set(loop.getDimension());
  }
  // What the loops leave open runs in order.
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (!seen.test(i))
      loops.push_back({map.getResult(i), 1, false, nameOf(map.getResult(i))});
  return loops;
}

LogicalResult DeclaredOrder::collect(ArrayRef<BlockOp> blocks, etdg::ScheduleAttr schedule,
                                     ArrayRef<int64_t> ancestors, Nest &nest) {
  for (BlockOp block : blocks) {
    SmallVector<Loop> loops = loopsOf(block, schedule ? schedule : block.getScheduleAttr());
    if (nest.iterations.empty() && nest.loops.empty())
      nest.loops = loops;
    if (nest.loops.size() != loops.size())
      return mlir::emitError(block.getLoc(),
                             "the blocks of a nest have different numbers of loops: ")
             << nest.loops.size() << " and " << loops.size();
    for (auto [all, own] : llvm::zip_equal(nest.loops, loops))
      all.parallel &= own.parallel;
    auto visit = [&](ArrayRef<int64_t> point) -> LogicalResult {
      Scheduled iteration{block, SmallVector<int64_t, 6>(point), {}};
      ArrayRef<int64_t> own = point.drop_front(ancestors.size());
      for (const Loop &loop : loops)
        iteration.keys.push_back(
            llvm::divideFloorSigned(evaluateExpr(loop.expr, own, {}), loop.tile));
      nest.iterations.push_back(std::move(iteration));
      return success();
    };
    if (failed(machine.forEachPoint(block, ancestors, visit)))
      return failure();
  }
  return success();
}

LogicalResult DeclaredOrder::collect(Operation *op, ArrayRef<int64_t> ancestors, Nest &nest) {
  return collect(etdg::blocksOf(op), etdg::scheduleOf(op), ancestors, nest);
}

std::vector<int64_t> DeclaredOrder::orderKeys(std::vector<int64_t> keys, bool parallel) {
  llvm::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (parallel)
    for (size_t i = keys.size(); i > 1; --i)
      std::swap(keys[i - 1], keys[generator() % i]);
  return keys;
}

static Iterations select(const Iterations &iterations, size_t level, int64_t key) {
  Iterations chosen;
  for (const Scheduled *iteration : iterations)
    if (iteration->keys[level] == key)
      chosen.push_back(iteration);
  return chosen;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LogicalResult DeclaredOrder::runIteration(const Scheduled &iteration) {
  BlockOp block = iteration.block;
  if (!block.isLeaf())
    return runBody(block.getBody(), iteration.point);
  CellRef missing;
  switch (machine.run(block, iteration.point, std::make_shared<const LoopPath>(path), missing)) {
  case Outcome::Ran:
    return success();
  case Outcome::Waiting:
    machine.reportUnwritten(block, iteration.point, missing, " in the declared order");
    return failure();
  case Outcome::Failed:
    break;
  }
  return failure();
}

LogicalResult DeclaredOrder::runNest(const Nest &nest, const Iterations &iterations, size_t level) {
  if (level == nest.loops.size()) {
    for (const Scheduled *iteration : iterations)
      if (failed(runIteration(*iteration)))
        return failure();
    return success();
  }
  std::map<int64_t, Iterations> byKey;
  std::vector<int64_t> keys;
  for (const Scheduled *iteration : iterations) {
    byKey[iteration->keys[level]].push_back(iteration);
    keys.push_back(iteration->keys[level]);
  }
  const Loop &loop = nest.loops[level];
  uint64_t id = nextLoop++;
  for (int64_t key : orderKeys(std::move(keys), loop.parallel)) {
    path.push_back({id, key, loop.parallel, loop.name});
    LogicalResult result = runNest(nest, byKey[key], level + 1);
    path.pop_back();
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult DeclaredOrder::runShared(ArrayRef<Nest> nests, const std::vector<Iterations> &parts,
                                       size_t level, size_t shared) {
  if (level == shared) {
    for (auto [nest, part] : llvm::zip_equal(nests, parts))
      if (failed(runNest(nest, part, level)))
        return failure();
    return success();
  }
  bool parallel = llvm::all_of(nests, [&](const Nest &nest) { return nest.loops[level].parallel; });
  std::vector<int64_t> keys;
  for (const Iterations &part : parts)
    for (const Scheduled *iteration : part)
      keys.push_back(iteration->keys[level]);
  uint64_t id = nextLoop++;
  for (int64_t key : orderKeys(std::move(keys), parallel)) {
    std::vector<Iterations> chosen;
    for (const Iterations &part : parts)
      chosen.push_back(select(part, level, key));
    path.push_back({id, key, parallel, nests.front().loops[level].name});
    LogicalResult result = runShared(nests, chosen, level + 1, shared);
    path.pop_back();
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult DeclaredOrder::runKernel(etdg::KernelOp kernel, ArrayRef<int64_t> ancestors) {
  std::vector<Nest> nests;
  for (Operation &op : kernel.getBody().front())
    if (failed(collect(&op, ancestors, nests.emplace_back())))
      return failure();
  if (nests.empty())
    return success();
  size_t shared = kernel.getShared();
  std::vector<Iterations> parts;
  for (const Nest &nest : nests) {
    if (nest.loops.size() < shared)
      return mlir::emitError(kernel.getLoc(), "shares ")
             << shared << " loops, one of its nests has " << nest.loops.size();
    Iterations &part = parts.emplace_back();
    for (const Scheduled &iteration : nest.iterations)
      part.push_back(&iteration);
  }
  return runShared(nests, parts, 0, shared);
}

LogicalResult DeclaredOrder::runBody(Region &body, ArrayRef<int64_t> ancestors) {
  for (Operation &op : body.front()) {
    if (isa<BlockOp, etdg::NestOp>(op)) {
      Nest nest;
      if (failed(collect(&op, ancestors, nest)))
        return failure();
      Iterations all;
      for (const Scheduled &iteration : nest.iterations)
        all.push_back(&iteration);
      if (failed(runNest(nest, all, 0)))
        return failure();
    } else if (auto kernel = dyn_cast<etdg::KernelOp>(op)) {
      if (failed(runKernel(kernel, ancestors)))
        return failure();
    } else if (!isa<etdg::ETDGDialect>(op.getDialect())) {
      if (failed(machine.evalOther(&op)))
        return failure();
    }
  }
  return success();
}

LogicalResult mlir::ft::interp::runAsDeclared(ETDGMachine &machine, uint64_t seed) {
  return DeclaredOrder(machine, seed).runBody(machine.getGraph().getBody(), {});
}
