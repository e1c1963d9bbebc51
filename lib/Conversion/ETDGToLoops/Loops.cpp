//===- Loops.cpp - sequential loops and regions ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the union of a nest's domains, each region on its own part of them, runs
// of rows, and the bodies of graph blocks.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Dialect/ETDG/IR/Sums.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Emitter::emitBounds(ArrayRef<BlockOp> nest, unsigned dim,
                                            const Point &point) {
  auto known = [&](unsigned d) { return d < point.dims.size() && point.dims[d]; };
  bool single = nest.size() == 1;
  llvm::SmallBitVector same(point.dims.size());
  if (!single) {
    if (isRectangular(nest, dim)) {
      nest = nest.take_front();
      single = true;
    } else {
      for (unsigned d = BlockOp(nest.front()).getNumAncestors(); d < same.size(); ++d)
        same[d] = d != dim && known(d) && isRectangular(nest, d);
    }
  }
  Value lower, upper;
  for (BlockOp block : nest) {
    DimBounds bounds = boundsOf(block, dim, known);
    Value blockLower, blockUpper;
    for (AffineExpr e : bounds.lowers) {
      Value v = affineValue(e, block, point);
      blockLower = blockLower ? make<arith::MaxSIOp>(blockLower, v) : v;
    }
    for (AffineExpr e : bounds.uppers) {
      Value v = affineValue(e, block, point);
      blockUpper = blockUpper ? make<arith::MinSIOp>(blockUpper, v) : v;
    }
    if (!blockLower || !blockUpper) // no bound: checkBounds has refused such domains
      blockLower = blockUpper = index(0);
    if (single)
      return {blockLower, blockUpper};
    // A region that has no point at what is fixed so far says nothing: it would stretch the range.
    IntegerSet set = block.getDomainSet();
    SmallVector<AffineExpr> here;
    SmallVector<bool> equal;
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      bool asks = isa<AffineConstantExpr>(expr) || expr.isFunctionOfDim(dim), implied = false;
      for (unsigned d = 0; d < set.getNumDims(); ++d)
        if (expr.isFunctionOfDim(d)) {
          asks |= !known(d);
          implied |= same[d];
        }
      if (asks || implied)
        continue;
      here.push_back(expr);
      equal.push_back(equality);
    }
    Value some =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, blockLower, blockUpper);
    if (!here.empty())
      some = make<arith::AndIOp>(
          some, emitCondition(IntegerSet::get(set.getNumDims(), set.getNumSymbols(), here, equal),
                              block, point));
    constexpr int64_t far = int64_t(1) << 60; // beyond all indices, and sums of two such fit 64 bits
    blockLower = arith::SelectOp::create(builder, loc, some, blockLower, index(far));
    blockUpper = arith::SelectOp::create(builder, loc, some, blockUpper, index(-far));
    lower = lower ? make<arith::MinSIOp>(lower, blockLower) : blockLower;
    upper = upper ? make<arith::MaxSIOp>(upper, blockUpper) : blockUpper;
  }
  return {lower, upper};
}

LogicalResult Emitter::checkBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point) {
  auto known = [&](unsigned d) { return d < point.dims.size() && point.dims[d]; };
  return checkLoopBounds(nest, dim, known, gpu ? "GPU" : "CPU");
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitGroup(
    const NestGroup &group, const Point &point,
    llvm::function_ref<LogicalResult(ArrayRef<BlockOp>, Point, ArrayRef<unsigned>)> body) {
  SmallVector<Point, 0> points(group.nests.size(), point);
  for (auto [at, nest] : llvm::zip_equal(points, group.nests)) {
    at.dims.resize(BlockOp(nest.front()).getNumDims());
    at.order.clear();
    at.loose.clear();
  }
  OpBuilder::InsertionGuard guard(builder);
  for (unsigned d = 0; d < group.common.front().size(); ++d) {
    // Over the union of all nests' ranges: each leaves out what is not its own.
    Value lower, upper;
    for (auto [n, nest] : llvm::enumerate(group.nests)) {
      unsigned dim = group.common[n][d];
      if (failed(checkBounds(nest, dim, points[n])))
        return failure();
      auto [from, to] = emitBounds(nest, dim, points[n]);
      lower = lower ? make<arith::MinSIOp>(lower, from) : from;
      upper = upper ? make<arith::MaxSIOp>(upper, to) : to;
    }
    auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1));
    builder.setInsertionPointToStart(loop.getBody());
    for (auto [at, dims] : llvm::zip_equal(points, group.common)) {
      at.dims[dims[d]] = loop.getInductionVar();
      at.order.push_back(dims[d]);
      at.loose.push_back(dims[d]);
    }
  }
  for (auto [n, nest] : llvm::enumerate(group.nests)) {
    loc = BlockOp(nest.front()).getLoc();
    if (failed(body(nest, points[n], group.common[n])))
      return failure();
  }
  return success();
}

LogicalResult Emitter::emitCoreNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed) {
  FailureOr<NestPlan> plan = readPlan(nest, fixed, PlanPlace::Thread, point.rowDim.has_value());
  if (failed(plan))
    return failure();
  auto none = loops::LevelAttr::get(context, etdg::LoopLevel::None, etdg::IterationMapping::None);
  return emitLoops(nest, point, plan->team,
                   [&](Point fixed) { return emitParallel(nest, fixed, *plan, none, plan->shared); });
}

/// Whether iterations of a dimension may be taken together in any grouping, so that nothing sees the state between two of them.
static bool isAnyGrouping(BlockOp block, unsigned dim) {
  using Kind = ft::OperatorKind;
  return dim >= block.getNumAncestors() && !block.getCombine().empty() &&
         llvm::is_contained({Kind::Reduce, Kind::Fold, Kind::Scan}, block.getOperator(dim - block.getNumAncestors()));
}

/// Says of a loop whether what its iterations hand on to each other may stay wide until the last one.
void Emitter::sayRounding(scf::ForOp loop, ArrayRef<BlockOp> nest, unsigned dim) {
  if (gpu && graph->hasAttr(etdg::names::excess) && llvm::all_of(nest, [&](BlockOp block) { return isAnyGrouping(block, dim); }))
    loop->setAttr(loops::names::roundsLast, builder.getUnitAttr());
}

LogicalResult Emitter::emitLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> remaining,
                                 llvm::function_ref<LogicalResult(Point)> body, ArrayRef<unsigned> unrolled) {
  if (remaining.empty())
    return body(point);
  unsigned dim = remaining.front();
  if (failed(checkBounds(nest, dim, point)))
    return failure();
  auto [lower, upper] = emitBounds(nest, dim, point);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1));
  sayRounding(loop, nest, dim);
  if (llvm::is_contained(unrolled, dim))
    askToUnroll(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  point.dims[dim] = loop.getInductionVar();
  point.order.push_back(dim);
  return emitLoops(nest, point, remaining.drop_front(), body, unrolled);
}

LogicalResult Emitter::emitTiledLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<schedule::TileLoop> remaining,
                                      Tiles tiles, PointBody body, ArrayRef<unsigned> unrolled) {
  if (remaining.empty())
    return body(point);
  auto [dim, tile] = remaining.front();
  if (failed(checkBounds(nest, dim, point)))
    return failure();
  // What is known here bounds the range; all is, where its points are.
  auto [lower, upper] = emitBounds(nest, dim, point);
  if (auto around = tiles.find(dim); around != tiles.end()) {
    lower = make<arith::MaxSIOp>(lower, around->second.first);
    upper = make<arith::MinSIOp>(upper, around->second.second);
  }
  Value step = index(tile);
  if (tile > 1)
    lower = make<arith::MulIOp>(make<arith::FloorDivSIOp>(lower, step), step);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step);
  if (tile == 1 && llvm::is_contained(unrolled, dim))
    askToUnroll(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  if (tile > 1) {
    tiles[dim] = {loop.getInductionVar(), make<arith::AddIOp>(loop.getInductionVar(), step)};
  } else {
    point.dims[dim] = loop.getInductionVar();
    point.order.push_back(dim);
  }
  return emitTiledLoops(nest, point, remaining.drop_front(), std::move(tiles), body, unrolled);
}

/// Whether the loops around say what a constraint of a block's domain says; `same` are those dimensions whose loop has
/// the range of every block of the nest.
static bool isImplied(AffineExpr expr, IntegerSet set, ArrayRef<unsigned> order, const llvm::SmallBitVector &same,
                      unsigned ancestors, bool isAlone) {
  std::optional<unsigned> last;
  unsigned involved = 0;
  for (unsigned d : order)
    if (expr.isFunctionOfDim(d)) {
      last = d;
      ++involved;
    }
  for (unsigned d = 0; d < ancestors; ++d)
    involved += expr.isFunctionOfDim(d);
  // Of one block, each constraint has bounded the loop of its last dimension; of several, what is
  // said of one dimension alone and by all.
  if (!last || !same[*last] || (!isAlone && involved > 1))
    return false;
  return stepAlong(expr, *last, set.getNumDims(), set.getNumSymbols()).has_value();
}

LogicalResult Emitter::emitRegions(ArrayRef<BlockOp> nest, Point point,
                                   llvm::function_ref<LogicalResult(BlockOp, Point)> body) {
  unsigned ancestors = BlockOp(nest.front()).getNumAncestors(),
           numDims = BlockOp(nest.front()).getNumDims();
  // Dimensions whose loop has the range of every block of the nest.
  llvm::SmallBitVector same(numDims);
  for (unsigned d = ancestors; d < numDims; ++d)
    same[d] = !llvm::is_contained(point.loose, d) && (nest.size() == 1 || isRectangular(nest, d));
  for (BlockOp block : nest) {
    IntegerSet set = block.getDomainSet();
    SmallVector<AffineExpr> always, each;
    SmallVector<bool> alwaysEqual, eachEqual;
    DimBounds range;
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr);
          constant && (equality ? constant.getValue() == 0 : constant.getValue() >= 0))
        continue;
      if (isImplied(expr, set, point.order, same, ancestors, nest.size() == 1))
        continue;
      // (Rows may be a dimension of a block around as well: its blocks stand on parts of them.)
      bool ofRow = point.rowDim && expr.isFunctionOfDim(*point.rowDim);
      if (!ofRow) {
        always.push_back(expr);
        alwaysEqual.push_back(equality);
      } else if (!addBound(range, expr, equality, *point.rowDim, set)) {
        each.push_back(expr);
        eachEqual.push_back(equality);
      }
    }
    OpBuilder::InsertionGuard insertion(builder);
    if (!always.empty()) {
      Value holds =
          emitCondition(IntegerSet::get(set.getNumDims(), set.getNumSymbols(), always, alwaysEqual),
                        block, point);
      auto branch = scf::IfOp::create(builder, loc, holds, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Point part = point;
    if (!range.lowers.empty() || !range.uppers.empty()) {
      Value first = point.dims[*point.rowDim], last = make<arith::AddIOp>(first, point.rows);
      for (AffineExpr e : range.lowers)
        first = make<arith::MaxSIOp>(first, affineValue(e, block, point));
      for (AffineExpr e : range.uppers)
        last = make<arith::MinSIOp>(last, affineValue(e, block, point));
      Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, first, last);
      auto branch = scf::IfOp::create(builder, loc, some, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
      part.dims[*point.rowDim] = first;
      part.rows = make<arith::SubIOp>(last, first);
    }
    LogicalResult emitted =
        each.empty() ? body(block, part) : emitSingleRows(part, [&](Point row) -> LogicalResult {
          Value holds = emitCondition(
              IntegerSet::get(set.getNumDims(), set.getNumSymbols(), each, eachEqual), block, row);
          auto branch = scf::IfOp::create(builder, loc, holds, /*withElseRegion=*/false);
          OpBuilder::InsertionGuard inner(builder);
          builder.setInsertionPointToStart(branch.thenBlock());
          return body(block, row);
        });
    if (failed(emitted))
      return failure();
  }
  return success();
}

LogicalResult Emitter::emitRegions(ArrayRef<BlockOp> nest, Point point) {
  return emitRegions(nest, point,
                     [&](BlockOp block, Point part) { return emitBlock(block, part); });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitSingleRows(const Point &point,
                                      llvm::function_ref<LogicalResult(Point)> body) {
  auto loop = scf::ForOp::create(builder, loc, index(0), point.rows, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Point row = point;
  row.dims[*point.rowDim] = make<arith::AddIOp>(point.dims[*point.rowDim], loop.getInductionVar());
  row.rows = index(1);
  return body(row);
}

Value Emitter::emitRunLength(const Point &point, BlockOp block, const RunLimits &limits) {
  unsigned rowDim = *point.rowDim;
  Value length = point.rows, zero = index(0);
  auto atMost = [&](Value v) { length = make<arith::MinSIOp>(length, v); };
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b).getResult();
  };
  auto choose = [&](Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b).getResult();
  };
  for (auto &[expr, equality, owner] : limits.constraints) {
    BlockOp at = owner;
    std::optional<int64_t> step =
        stepAlong(expr, rowDim, at.getNumDims(), at.getSymbolNames().size());
    if (!step) {
      atMost(index(1));
      continue;
    }
    // Pieces cover a read: where one ends as its constraint falls below 0, another begins.
    if (*step == 0 || (*step < 0 && !equality))
      continue;
    Value v = affineValue(expr, at, point);
    // The first row at which the value has come to 0 or beyond, where it goes there.
    Value size = index(std::abs(*step));
    Value towards = *step > 0 ? make<arith::SubIOp>(zero, v) : v;
    Value rows = make<arith::CeilDivSIOp>(towards, size);
    Value comes = compare(arith::CmpIPredicate::sgt, towards, zero);
    if (equality) {
      Value isZero = compare(arith::CmpIPredicate::eq, v, zero);
      atMost(choose(isZero, index(1), choose(comes, rows, length)));
    } else {
      atMost(choose(comes, rows, length)); // false until it comes to 0
    }
  }
  for (auto &[expr, planes] : limits.planes) {
    std::optional<int64_t> step =
        stepAlong(expr, rowDim, block.getNumDims(), block.getSymbolNames().size());
    if (!step) {
      atMost(index(1));
      continue;
    }
    if (*step == 0)
      continue;
    Value plane = make<arith::RemUIOp>(affineValue(expr, block, point), index(planes));
    Value size = index(std::abs(*step));
    atMost(*step > 0 ? make<arith::CeilDivSIOp>(make<arith::SubIOp>(index(planes), plane), size)
                     : make<arith::AddIOp>(make<arith::DivSIOp>(plane, size), index(1)));
  }
  return length;
}

LogicalResult Emitter::emitRuns(BlockOp block, const Point &point, const RunLimits &limits,
                                llvm::function_ref<LogicalResult(Point)> body) {
  Type type = builder.getIndexType();
  auto loop = scf::WhileOp::create(builder, loc, TypeRange{type}, ValueRange{index(0)});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, {type}, {loc});
  builder.setInsertionPointToStart(before);
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), point.rows);
  scf::ConditionOp::create(builder, loc, more, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, {type}, {loc});
  builder.setInsertionPointToStart(after);
  Point run = point;
  run.dims[*point.rowDim] = make<arith::AddIOp>(point.dims[*point.rowDim], after->getArgument(0));
  run.rows = make<arith::SubIOp>(point.rows, after->getArgument(0));
  run.rows = emitRunLength(run, block, limits);
  if (failed(body(run)))
    return failure();
  scf::YieldOp::create(builder, loc, make<arith::AddIOp>(after->getArgument(0), run.rows));
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Whether a copy from arguments to results that may lie there moves anything in this call; none of what always does.
Value Emitter::emitMoves(BlockOp leaf) {
  Value moves;
  auto addressOf = [&](Value buffer) {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, storageOf(buffer).base).getResult();
  };
  for (auto [result, source] : etdg::getCopiesInPlace(leaf)) {
    Value to = addressOf(result), from = addressOf(source);
    Value differ = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, to, from);
    moves = moves ? arith::OrIOp::create(builder, loc, moves, differ).getResult() : differ;
  }
  return moves;
}

LogicalResult Emitter::emitBlock(BlockOp block, Point point) {
  if (!block.isLeaf())
    return emitGraphBody(block.getBody(), point);
  OpBuilder::InsertionGuard guard(builder);
  if (Value moves = emitMoves(block))
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, moves, /*withElseRegion=*/false).thenBlock());
  return emitLeaf(block, point);
}

LogicalResult Emitter::emitGraphBody(Region &body, Point point) {
  for (Operation &op : body.front())
    if (auto buffer = dyn_cast<etdg::BufferOp>(op); buffer && failed(declarePrivate(buffer, point.rowDim)))
      return failure();
  Location saved = loc;
  for (NestGroup &group : getGroups(body)) {
    auto grouped = dyn_cast<etdg::KernelOp>(group.op);
    if (gpu && grouped && group.nests.size() > 1)
      shareFirst(group, grouped.getShared());
    if (failed(emitGroup(group, point, [&](ArrayRef<BlockOp> nest, Point inner, ArrayRef<unsigned> fixed) {
          if (gpu)
            emitStaged(group, nest, fixed);
          return gpu ? emitBlockNest(nest, inner, fixed) : emitCoreNest(nest, inner, fixed);
        })))
      return failure();
  }
  loc = saved;
  return success();
}
