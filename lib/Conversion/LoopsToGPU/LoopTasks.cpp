//===- LoopTasks.cpp - loops of the grid, for a thread block --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of level grid that stand in each other are dealt as one, the innermost fastest. Those on
// which other ranges depend stay loops, which all thread blocks walk; the tasks of their
// iterations follow each other, so that blocks get equally many. So do those of loops between which
// blocks don't wait: what a few blocks have of one others have of the next.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::ChunksOp;

LogicalResult LoopWalker::takeDealt(Operation *outermost) {
  FailureOr<DealtLoops> dealt = readDealt(outermost);
  if (failed(dealt))
    return failure();
  const bool isInTurn = loops::levelOf(outermost).getMapping() == etdg::IterationMapping::Cyclic;
  Value before = isInTurn && dealtBefore ? dealtBefore : b.number(0), after;
  isInside = true;
  allPoints = Value();
  if (!dealt->outer.empty() && llvm::any_of(dealt->flat, llvm::IsaPred<ChunksOp>))
    allPoints = countPoints(dealt->outer, dealt->flat, b.number(0));
  LogicalResult taken = takeOuter(dealt->outer, dealt->flat, before, after);
  isInside = false;
  dealtBefore = isInTurn ? after : dealtBefore;
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

/// Columns: as many parts as leave a task for each thread block, a multiple of their unit each.
Value LoopWalker::columnsOf(ChunksOp chunks, Value columns, Value parts) {
  Value one = b.number(1), blocks = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  int64_t unit = *chunks.getUnit();
  Value units = b.ceilDiv(columns, b.number(unit));
  Value share = b.larger(b.createOrFold<arith::DivUIOp>(blocks, b.larger(parts, one)), one);
  return b.mul(b.larger(b.ceilDiv(units, b.smaller(share, b.larger(units, one))), one), unit);
}

/// Rows: as many as the host says, or as many as leave a task for each thread block.
Value LoopWalker::rowsOfTask(ChunksOp chunks, ArrayRef<Operation *> flat, Value rows, Value others) {
  if (loops::ChunkLengthAttr length = chunks.getLengthAttr(); length.getTasks()) {
    SmallVector<Operation *> rest;
    llvm::copy_if(flat, std::back_inserter(rest), [&](Operation *loop) { return loop != chunks.getOperation(); });
    HostExpr own = *counts.iterationsOf(chunks), beside = *counts.tasksOf(rest);
    HostExpr tile = cutRows(own, beside, length, chunks.getMost());
    tasks = beside * HostExpr::binary(HostExpr::ceildiv, own, tile);
    return e.integerArgument(tile);
  }
  Value one = b.number(1), blocks = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  Value share = b.larger(b.createOrFold<arith::DivUIOp>(blocks, b.larger(others, one)), one);
  return b.larger(b.smaller(b.ceilDiv(rows, share), b.number(chunks.getMost())), one);
}

void LoopWalker::cutChunks(ArrayRef<Operation *> flat, Flat &counted, Value points) {
  // Columns first, while there are thread blocks left for the points of all iterations, then rows.
  Value all = allPoints ? allPoints : points;
  for (bool columns : {true, false})
    for (auto [i, loop] : llvm::enumerate(flat)) {
      auto chunks = dyn_cast<ChunksOp>(loop);
      const int64_t each = chunks ? chunks.getLengthAttr().getEach() : 0;
      bool hasUnit = chunks && chunks.getUnit() && !each;
      if (!chunks || hasUnit != columns)
        continue;
      Value parts = all;
      for (Operation *other : flat) // the least tasks that rows make
        if (auto rows = dyn_cast<ChunksOp>(other); columns && rows && other != loop) {
          const int64_t longest = rows.getLengthAttr().getEach() ? rows.getLengthAttr().getEach() : int64_t(rows.getMost());
          Value count = counted.counts[llvm::find(flat, other) - flat.begin()];
          parts = b.mul(parts, b.larger(b.ceilDiv(count, b.number(longest)), b.number(1)));
        }
      counted.tiles[i] = each      ? b.number(each)
                         : columns ? columnsOf(chunks, counted.counts[i], parts)
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
  tasks = counts.tasksOf(flat);
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
  etdg::IterationMapping mapping = loops::levelOf(flat.front()).getMapping();
  Value block = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  Value blocks = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  std::optional<HostExpr> earlier = tasks;
  Flat counted = countFlat(flat);
  // Loops of nests that need nothing of each other: there are thread blocks for the one that has most tasks.
  if (hasDealt)
    tasks = earlier && tasks ? std::optional(HostExpr::binary(HostExpr::max, *earlier, *tasks)) : std::nullopt;
  hasDealt = true;
  Value first = block;
  if (!matchPattern(before, m_Zero()) && mapping != etdg::IterationMapping::Static) {
    first = b.sub(block, before);
    first = b.createOrFold<arith::SelectOp>(b.less(first, b.number(0)), b.add(first, blocks), first);
  }
  Known saved = known;
  {
    OpBuilder::InsertionGuard guard(b);
    scf::ForOp loop = e.dealTasks(mapping, first, counted.total, blocks);
    b.setInsertionPointToStart(loop.getBody());
    enterFlat(flat, counted, loop.getInductionVar());
    if (failed(takeBlock(bodyOf(flat.back()))))
      return failure();
  }
  known = std::move(saved);
  after = b.createOrFold<arith::RemUIOp>(b.add(before, counted.total), blocks);
  return success();
}
