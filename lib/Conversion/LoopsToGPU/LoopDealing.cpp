//===- LoopDealing.cpp - loops of the grid, for a block of threads --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of level grid that stand in each other are dealt as one, the innermost fastest. Those on
// which other ranges depend stay loops, which all blocks of threads walk; the tasks of their
// iterations follow each other, so that blocks get equally many.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::ChunksOp;

static Block &bodyOf(Operation *loop) { return loop->getRegion(0).front(); }

static OpFoldResult lowerOf(Operation *loop) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.getLower();
  return cast<scf::ForallOp>(loop).getMixedLowerBound()[0];
}

static OpFoldResult upperOf(Operation *loop) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.getUpper();
  return cast<scf::ForallOp>(loop).getMixedUpperBound()[0];
}

/// Whether a bound that stands in the body of `loop` changes with its iterations.
static bool changesIn(OpFoldResult bound, Operation *loop) {
  auto value = dyn_cast<Value>(bound);
  if (!value)
    return false;
  if (value.getParentBlock() == &bodyOf(loop) && isa<BlockArgument>(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op))
    return false;
  bool changes = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      changes |= !op->isAncestor(operand.getParentBlock()->getParentOp()) && changesIn(operand, loop);
  });
  return changes;
}

LogicalResult LoopWalker::takeDealt(Operation *outermost) {
  SmallVector<Operation *> outer, flat;
  for (Operation *loop = outermost, *next; loop; loop = next) {
    next = nullptr;
    for (Operation &op : bodyOf(loop).without_terminator())
      if (loops::LevelAttr level = loops::levelOf(&op); level && level.getLevel() == etdg::LoopLevel::Grid)
        next = &op;
    if (next)
      for (Operation &op : bodyOf(loop).without_terminator())
        if (&op != next && !isMemoryEffectFree(&op))
          return op.emitError("the GPU engine deals loops as one that have nothing beside each other");
    flat.push_back(loop);
  }
  for (auto [i, loop] : llvm::enumerate(flat)) {
    Operation *around = loop;
    bool isAsked = llvm::any_of(ArrayRef(flat).drop_front(i + 1), [&](Operation *inner) {
      return changesIn(lowerOf(inner), around) || changesIn(upperOf(inner), around);
    });
    if (isAsked && (outer.size() != i || isa<ChunksOp>(loop)))
      return loop->emitError("the GPU engine deals loops whose ranges others depend on before all others, as points");
    if (isAsked)
      outer.push_back(loop);
  }
  flat.erase(flat.begin(), flat.begin() + outer.size());
  Value after;
  isInside = true;
  allPoints = Value();
  if (!outer.empty() && llvm::any_of(flat, llvm::IsaPred<ChunksOp>))
    allPoints = countPoints(outer, flat, b.number(0));
  LogicalResult taken = takeOuter(outer, flat, b.number(0), after);
  isInside = false;
  return taken;
}

/// How many points the loops in the iterations of all outer ones have together, chunks aside, beside those `before`.
Value LoopWalker::countPoints(ArrayRef<Operation *> outer, ArrayRef<Operation *> flat, Value before) {
  Known saved = known;
  Value sum;
  if (outer.empty()) {
    Value own = b.number(1);
    for (Operation *loop : flat)
      if (!isa<ChunksOp>(loop))
        own = b.mul(own, b.larger(b.sub(valueOf(upperOf(loop)), valueOf(lowerOf(loop))), b.number(0)));
    sum = b.add(before, own);
  } else {
    OpBuilder::InsertionGuard guard(b);
    auto loop = b.loop(valueOf(lowerOf(outer.front())), valueOf(upperOf(outer.front())), b.number(1), before);
    b.setInsertionPointToStart(loop.getBody());
    known.values[bodyOf(outer.front()).getArgument(0)] = loop.getInductionVar();
    Value inner = countPoints(outer.drop_front(), flat, loop.getRegionIterArg(0));
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, inner);
    sum = loop.getResult(0);
  }
  known = std::move(saved);
  if (Operation *op = sum.getDefiningOp(); op && !outer.empty())
    b.setInsertionPointAfter(op);
  return sum;
}

LogicalResult LoopWalker::takeOuter(ArrayRef<Operation *> outer, ArrayRef<Operation *> flat, Value before, Value &after) {
  if (outer.empty())
    return dealFlat(flat, before, after);
  Known saved = known;
  {
    OpBuilder::InsertionGuard guard(b);
    // (How many tasks there are only the blocks of threads know.)
    tasks = e.multiprocessors * e.machine.gpu.stepBlocksPerUnit;
    auto loop = b.loop(valueOf(lowerOf(outer.front())), valueOf(upperOf(outer.front())), b.number(1), before);
    b.setInsertionPointToStart(loop.getBody());
    known.values[bodyOf(outer.front()).getArgument(0)] = loop.getInductionVar();
    Value inner;
    if (failed(takeOuter(outer.drop_front(), flat, loop.getRegionIterArg(0), inner)))
      return failure();
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, inner);
    after = loop.getResult(0);
  }
  known = std::move(saved);
  b.setInsertionPointAfterValue(after);
  return success();
}

/// Columns: as many parts as leave a task for each block of threads, a multiple of their unit each.
Value LoopWalker::columnsOf(ChunksOp chunks, Value columns, Value parts) {
  Value one = b.number(1), blocks = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  int64_t unit = *chunks.getUnit();
  Value units = b.ceilDiv(columns, b.number(unit));
  Value share = b.larger(b.createOrFold<arith::DivUIOp>(blocks, b.larger(parts, one)), one);
  return b.mul(b.larger(b.ceilDiv(units, b.smaller(share, b.larger(units, one))), one), unit);
}

/// Chunks of a length that nobody chooses.
static bool isFixed(ChunksOp chunks) { return chunks.getUnit() && *chunks.getUnit() == chunks.getMost(); }

std::optional<HostExpr> LoopWalker::hostCount(Operation *loop) {
  std::optional<HostExpr> lower = onHost(lowerOf(loop)), upper = onHost(upperOf(loop));
  if (!lower || !upper)
    return std::nullopt;
  return HostExpr::binary(HostExpr::max, *upper - *lower, 0);
}

std::optional<HostExpr> LoopWalker::hostTasks(ArrayRef<Operation *> loops) {
  HostExpr all = 1;
  for (Operation *loop : loops) {
    auto chunks = dyn_cast<ChunksOp>(loop);
    std::optional<HostExpr> count = hostCount(loop);
    if (!count || (chunks && !isFixed(chunks)))
      return std::nullopt;
    all = all * (chunks ? HostExpr::binary(HostExpr::ceildiv, *count, chunks.getMost()) : *count);
  }
  return all;
}

/// Rows: where the host counts tasks, as many as it says, else as many as leave a task for each block of threads.
Value LoopWalker::rowsOfTask(ChunksOp chunks, ArrayRef<Operation *> flat, Value rows, Value others) {
  SmallVector<Operation *> rest;
  llvm::copy_if(flat, std::back_inserter(rest), [&](Operation *loop) { return loop != chunks.getOperation(); });
  std::optional<HostExpr> own = hostCount(chunks), beside = hostTasks(rest);
  if (!e.cooperative && own && beside) {
    e.maxRows = chunks.getMost();
    HostExpr tile = e.chooseRowsInTask(*own, *beside);
    tasks = *beside * HostExpr::binary(HostExpr::ceildiv, *own, tile);
    return e.integerArgument(tile);
  }
  Value one = b.number(1), blocks = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  Value share = b.larger(b.createOrFold<arith::DivUIOp>(blocks, b.larger(others, one)), one);
  return b.larger(b.smaller(b.ceilDiv(rows, share), b.number(chunks.getMost())), one);
}

void LoopWalker::cutChunks(ArrayRef<Operation *> flat, Flat &counted, Value points) {
  // Columns first, while there are blocks of threads left for the points of all iterations, then rows.
  Value all = allPoints ? allPoints : points;
  for (bool columns : {true, false})
    for (auto [i, loop] : llvm::enumerate(flat)) {
      auto chunks = dyn_cast<ChunksOp>(loop);
      bool hasUnit = chunks && chunks.getUnit() && !isFixed(chunks);
      if (!chunks || hasUnit != columns)
        continue;
      Value parts = all;
      for (Operation *other : flat) // the least tasks that rows make
        if (auto rows = dyn_cast<ChunksOp>(other); columns && rows && other != loop)
          parts = b.mul(parts, b.larger(b.ceilDiv(counted.counts[llvm::find(flat, other) - flat.begin()],
                                                  b.number(rows.getMost())),
                                        b.number(1)));
      counted.tiles[i] = isFixed(chunks) ? b.number(chunks.getMost())
                         : columns       ? columnsOf(chunks, counted.counts[i], parts)
                                         : rowsOfTask(chunks, flat, counted.counts[i], all);
      counted.counts[i] = b.ceilDiv(counted.counts[i], counted.tiles[i]);
      points = b.mul(points, counted.counts[i]);
      all = b.mul(all, counted.counts[i]);
      counted.total = points;
    }
}

LoopWalker::Flat LoopWalker::countFlat(ArrayRef<Operation *> flat) {
  Flat counted;
  Value zero = b.number(0), others = b.number(1);
  for (Operation *loop : flat) {
    counted.lowers.push_back(valueOf(lowerOf(loop)));
    counted.uppers.push_back(valueOf(upperOf(loop)));
    counted.counts.push_back(b.larger(b.sub(counted.uppers.back(), counted.lowers.back()), zero));
    counted.tiles.push_back(Value());
    if (!isa<ChunksOp>(loop))
      others = b.mul(others, counted.counts.back());
  }
  counted.total = others;
  tasks = hostTasks(flat).value_or(e.multiprocessors * e.machine.gpu.stepBlocksPerUnit);
  cutChunks(flat, counted, others);
  return counted;
}

void LoopWalker::enterFlat(ArrayRef<Operation *> flat, const Flat &counted, Value number) {
  for (size_t i = flat.size(); i-- > 0;) {
    Value digit = number;
    if (i > 0) {
      digit = b.createOrFold<arith::RemUIOp>(number, counted.counts[i]);
      number = b.createOrFold<arith::DivUIOp>(number, counted.counts[i]);
    }
    Block &body = bodyOf(flat[i]);
    if (auto tile = counted.tiles[i]) {
      Value first = b.add(counted.lowers[i], b.mul(digit, tile));
      known.values[body.getArgument(0)] = first;
      known.values[body.getArgument(1)] = b.smaller(tile, b.sub(counted.uppers[i], first));
    } else {
      known.values[body.getArgument(0)] = b.add(counted.lowers[i], digit);
    }
  }
}

LogicalResult LoopWalker::dealFlat(ArrayRef<Operation *> flat, Value before, Value &after) {
  // Ranges are those of the first iteration: they are the same in all.
  for (Operation *loop : flat)
    known.values.erase(bodyOf(loop).getArgument(0));
  etdg::Dealing dealing = loops::levelOf(flat.front()).getDealing();
  Value block = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  Value blocks = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  Flat counted = countFlat(flat);
  Value first = block;
  if (!matchPattern(before, m_Zero()) && dealing != etdg::Dealing::Fixed) {
    first = b.sub(block, before);
    first = b.createOrFold<arith::SelectOp>(b.less(first, b.number(0)), b.add(first, blocks), first);
  }
  Known saved = known;
  {
    OpBuilder::InsertionGuard guard(b);
    scf::ForOp loop = e.dealTasks(dealing, first, counted.total, blocks);
    b.setInsertionPointToStart(loop.getBody());
    enterFlat(flat, counted, loop.getInductionVar());
    if (failed(takeBlock(bodyOf(flat.back()))))
      return failure();
  }
  known = std::move(saved);
  after = b.createOrFold<arith::RemUIOp>(b.add(before, counted.total), blocks);
  return success();
}
