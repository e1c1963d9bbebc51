//===- Parallel.cpp - loops that are dealt, and where units wait ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel does itself: its sequential loops with a sync after each step, and in
// a step the parallel loops that the schedule deals to the cores: points as
// `scf.forall`, rows as `loops.chunks`. In what one core runs the same loops have no
// level.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

void Emitter::emitSync() { loops::SyncOp::create(builder, loc, etdg::SyncKind::Cores); }

//===----------------------------------------------------------------------===//
// Points and their weights
//===----------------------------------------------------------------------===//

/// Whether a constraint of some block ties `dim` to one of `others`.
static bool isTied(ArrayRef<BlockOp> nest, unsigned dim, ArrayRef<unsigned> others) {
  for (BlockOp block : nest)
    for (AffineExpr expr : block.getDomainSet().getConstraints())
      if (expr.isFunctionOfDim(dim))
        for (unsigned other : others)
          if (expr.isFunctionOfDim(other))
            return true;
  return false;
}

Value Emitter::emitUnitCount(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> dims) {
  auto [lower, upper] = emitBounds(nest, dims.front(), point);
  Value extent = make<arith::MaxSIOp>(make<arith::SubIOp>(upper, lower), index(0));
  if (dims.size() == 1)
    return extent;
  if (!isTied(nest, dims.front(), dims.drop_front()))
    return make<arith::MulIOp>(extent, emitUnitCount(nest, point, dims.drop_front()));
  auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1), ValueRange{index(0)});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  point.dims[dims.front()] = loop.getInductionVar();
  Value inside = emitUnitCount(nest, point, dims.drop_front());
  scf::YieldOp::create(builder, loc, make<arith::AddIOp>(loop.getRegionIterArg(0), inside));
  return loop.getResult(0);
}

void Emitter::emitWeight(ArrayRef<BlockOp> nest, const NestPlan &plan, const Point &point) {
  if (plan.weights.empty())
    return;
  Value weight = index(1);
  for (auto [block, own] : llvm::zip_equal(nest, plan.weights)) {
    // What is known here decides; a region of which nothing is may have points.
    IntegerSet set = BlockOp(block).getDomainSet();
    SmallVector<AffineExpr> known;
    SmallVector<bool> equal;
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      bool open = false;
      for (unsigned d = 0; d < set.getNumDims(); ++d)
        open |= expr.isFunctionOfDim(d) && !(d < point.dims.size() && point.dims[d]);
      if (open)
        continue;
      known.push_back(expr);
      equal.push_back(equality);
    }
    Value may = known.empty()
                    ? arith::ConstantIntOp::create(builder, loc, 1, 1).getResult()
                    : emitCondition(IntegerSet::get(set.getNumDims(), set.getNumSymbols(), known, equal), block, point);
    weight = make<arith::MaxSIOp>(weight,
                                  arith::SelectOp::create(builder, loc, may, index(own), index(1)).getResult());
  }
  loops::WeightOp::create(builder, loc, weight);
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitInner(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, loops::LevelAttr level) {
  auto inside = [&](Point at) {
    return emitInnerLoops(nest, at, plan, [&](Point all) { return emitRegions(nest, all); });
  };
  return plan.columns ? emitColumns(point, plan, level, inside) : inside(point);
}

LogicalResult Emitter::emitColumns(Point point, const NestPlan &plan, loops::LevelAttr level, PointBody body) {
  Value tiles = index(llvm::divideCeil(plan.columns, plan.columnTile)), none = index(0);
  auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{none}, ArrayRef<OpFoldResult>{tiles},
                                    ArrayRef<OpFoldResult>{builder.getIndexAttr(1)}, ValueRange(),
                                    builder.getArrayAttr({level}));
  return inParallelBody(loop.getBody(), [&]() -> LogicalResult {
    Value first = make<arith::MulIOp>(loop.getInductionVar(0), index(plan.columnTile));
    point.columns = Columns{first, plan.columnTile, plan.columns};
    int64_t rest = plan.columns % plan.columnTile;
    if (rest == 0)
      return body(point);
    Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, first,
                                         index(plan.columns - plan.columnTile));
    auto branch = scf::IfOp::create(builder, loc, isFull, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    if (failed(body(point)))
      return failure();
    builder.setInsertionPointToStart(branch.elseBlock());
    point.columns->tile = rest;
    return body(point);
  });
}

LogicalResult Emitter::emitParallel(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, loops::LevelAttr level,
                                    ArrayRef<unsigned> shared) {
  if (shared.empty()) {
    if (!plan.row)
      return emitInner(nest, point, plan, level);
    if (plan.listed)
      return emitListedRows(nest, point, plan, level);
    if (plan.columnsFirst)
      return emitColumns(point, plan, level, [&](Point at) {
        auto ofOne = loops::LevelAttr::get(context, etdg::LoopLevel::None, etdg::IterationMapping::None);
        return emitRowChunks(nest, at, *plan.row, plan.maxRows, std::nullopt, ofOne, [](const Point &) {},
                             [&](Point rows) { return emitRegions(nest, rows); });
      });
    // (Where tasks have columns, too, a last chunk of few rows would be one for each tile of them.)
    return emitRowChunks(
        nest, point, *plan.row, plan.maxRows, plan.columns ? std::optional<int64_t>(1) : std::nullopt, level,
        [&](const Point &at) { emitWeight(nest, plan, at); },
        [&](Point at) { return emitInner(nest, at, plan, level); });
  }
  auto weigh = [&](const Point &at) {
    if (shared.size() == 1 && !plan.row)
      emitWeight(nest, plan, at);
  };
  return emitPoints(nest, point, shared.front(), level, weigh,
                    [&](Point at) { return emitParallel(nest, at, plan, level, shared.drop_front()); });
}

LogicalResult Emitter::emitPoints(ArrayRef<BlockOp> nest, Point point, unsigned dim, loops::LevelAttr level,
                                  llvm::function_ref<void(const Point &)> before, PointBody body) {
  if (failed(checkBounds(nest, dim, point)))
    return failure();
  auto [lower, upper] = emitBounds(nest, dim, point);
  before(point);
  auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{lower}, ArrayRef<OpFoldResult>{upper},
                                    ArrayRef<OpFoldResult>{builder.getIndexAttr(1)}, ValueRange(),
                                    builder.getArrayAttr({level}));
  point.dims[dim] = loop.getInductionVar(0);
  point.order.push_back(dim);
  return inParallelBody(loop.getBody(), [&] { return body(point); });
}

LogicalResult Emitter::emitRowChunks(ArrayRef<BlockOp> nest, Point point, unsigned dim, int64_t most,
                                     std::optional<int64_t> unit, loops::LevelAttr level,
                                     llvm::function_ref<void(const Point &)> before, PointBody body) {
  if (failed(checkBounds(nest, dim, point)))
    return failure();
  auto [lower, upper] = emitBounds(nest, dim, point);
  before(point);
  auto loop = loops::ChunksOp::create(builder, loc, lower, upper, most, unit, level);
  int64_t savedRows = std::exchange(maxRows, most);
  Value savedCount = std::exchange(chunkRows, loop.getCount());
  point.rowDim = dim;
  point.order.push_back(dim);
  point.rowBegin = point.dims[dim] = loop.getFirst();
  point.rows = loop.getCount();
  LogicalResult emitted = inParallelBody(&loop.getRegion().front(), [&] { return body(point); });
  maxRows = savedRows;
  chunkRows = savedCount;
  return emitted;
}

//===----------------------------------------------------------------------===//
// What all units are at
//===----------------------------------------------------------------------===//

/// Whether the schedule has units wait before a nest begins.
static bool waitsBefore(ArrayRef<BlockOp> nest) {
  etdg::ScheduleAttr given = scheduleOf(nest);
  return given && given.getBefore() != etdg::SyncKind::None;
}

// A step of the schedule's own ends in a sync, which serves what follows, too. Where there may be no step, what is open after
// it was so before.
LogicalResult Emitter::emitTeamNest(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, bool waitsBehind) {
  loc = BlockOp(nest.front()).getLoc();
  point.dims.resize(BlockOp(nest.front()).getNumDims());
  const bool wasOpen = isOpen;
  if (!plan.team.empty()) {
    if (failed(emitTeamSteps(nest, point, plan)))
      return failure();
    isOpen = wasOpen;
  } else if (plan.isParallel() || !plan.inner.empty()) {
    auto shares = loops::LevelAttr::get(context, etdg::LoopLevel::Core, etdg::IterationMapping::Block);
    if (failed(emitParallel(nest, point, plan, shares, plan.shared)))
      return failure();
    isOpen = true;
  } else {
    // (The sync stands where the nest has a point, as long as nothing else waits for it.)
    if (failed(emitTeamBody(nest, point, waitsBehind && !wasOpen)))
      return failure();
    isOpen = wasOpen || !waitsBehind;
  }
  if (waitsBehind && isOpen)
    emitSync();
  isOpen &= !waitsBehind;
  return success();
}

LogicalResult Emitter::emitTeamSteps(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan) {
  auto shares = loops::LevelAttr::get(context, etdg::LoopLevel::Core, etdg::IterationMapping::Block);
  const bool wasOpen = isOpen;
  return emitLoops(nest, point, plan.team, [&](Point step) -> LogicalResult {
    isOpen = wasOpen;
    if (!plan.isParallel() && plan.inner.empty())
      return emitTeamBody(nest, step, /*waitsBehind=*/true);
    if (failed(emitParallel(nest, step, plan, shares, plan.shared)))
      return failure();
    emitSync();
    return success();
  });
}

LogicalResult Emitter::emitTeamBody(ArrayRef<BlockOp> nest, Point point, bool waitsBehind) {
  const bool wasOpen = isOpen;
  return emitRegions(nest, point, [&](BlockOp block, Point at) -> LogicalResult {
    isOpen = wasOpen;
    if (!block.isLeaf())
      return emitTeamChildren(block, at, waitsBehind);
    if (failed(emitBlock(block, at)))
      return failure();
    if (waitsBehind)
      emitSync();
    return success();
  });
}

LogicalResult Emitter::emitTeamChildren(BlockOp block, Point at, bool waitsBehind) {
  // What is private to an iteration of the kernel's own loops belongs to all units.
  for (auto buffer : block.getBody().getOps<etdg::BufferOp>())
    declareIntermediate(buffer);
  at.order.clear();
  SmallVector<NestGroup> groups = getGroups(block.getBody());
  for (auto [g, group] : llvm::enumerate(groups)) {
    bool waits = g + 1 < groups.size() ? waitsBefore(groups[g + 1].nests.front()) : waitsBehind;
    if (failed(emitTeamGroup(group, at, waits)))
      return failure();
  }
  return success();
}

LogicalResult Emitter::emitTeamMember(const NestGroup &group, size_t number, ArrayRef<BlockOp> nest, Point point, bool waitsAtEnd) {
  FailureOr<NestPlan> plan = readPlan(nest, group.common[number], PlanPlace::Cores, /*hasRows=*/false);
  if (failed(plan))
    return failure();
  bool isLast = number + 1 == group.nests.size();
  return emitTeamNest(nest, point, *plan, isLast ? waitsAtEnd : waitsBefore(group.nests[number + 1]));
}

LogicalResult Emitter::emitTeamGroup(const NestGroup &group, const Point &point, bool waitsBehind) {
  const bool wasOpen = isOpen, hasSteps = !group.common.front().empty();
  size_t next = 0;
  if (failed(emitGroup(group, point, [&](ArrayRef<BlockOp> nest, Point inner, ArrayRef<unsigned>) {
        return emitTeamMember(group, next++, nest, inner, /*waitsAtEnd=*/hasSteps || waitsBehind);
      })))
    return failure();
  if (!hasSteps)
    return success();
  if (waitsBehind && wasOpen)
    emitSync();
  isOpen = wasOpen && !waitsBehind;
  return success();
}

LogicalResult Emitter::emitTeamKernel(const NestGroup &group) {
  isOpen = false;
  auto shared = dyn_cast_or_null<etdg::KernelOp>(group.op);
  if (!shared || !shared.getExitAttr())
    return emitTeamGroup(group, Point(), /*waitsBehind=*/false);
  FailureOr<SmallVector<BlockOp>> ended = endedLeaves(shared);
  if (failed(ended))
    return failure();
  size_t next = 0;
  auto emitOne = [&](ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned>) {
    return emitTeamMember(group, next++, nest, point, /*waitsAtEnd=*/true);
  };
  return emitLeaving(group, shared.getExitAttr(), *ended, emitOne, [&](ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed) {
    FailureOr<NestPlan> plan = readPlan(nest, fixed, PlanPlace::Cores, /*hasRows=*/false);
    return failed(plan) ? failure() : emitTeamNest(nest, point, *plan, /*waitsBehind=*/false);
  });
}
