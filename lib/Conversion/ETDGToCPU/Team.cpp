//===- Team.cpp - what threads do together --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that all threads run at once: each runs the sequential loops, takes
// its share of a step's points and waits for the others before the next step. A
// step's points are counted exactly, rows too, and divided in their order, so
// that shares differ by a row at most and a thread meets the same weights again.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

void Emitter::emitBarrier() {
  auto pointer = LLVM::LLVMPointerType::get(context);
  Value wait = slot(Environment::kBarrier, pointer);
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, i64});
  LLVM::CallOp::create(builder, loc, type, ValueRange{wait, env, kernel.getArgument(1)});
}

LogicalResult Emitter::emitAlone(llvm::function_ref<LogicalResult()> body) {
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tid, index(0));
  auto branch = scf::IfOp::create(builder, loc, first, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  return body();
}

//===----------------------------------------------------------------------===//
// Shares of a step
//===----------------------------------------------------------------------===//

/// The dimensions whose points are divided, the row last.
static SmallVector<unsigned> unitDims(const NestPlan &plan) {
  SmallVector<unsigned> dims(plan.shared);
  llvm::append_range(dims, plan.rowDims());
  return dims;
}

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

Value Emitter::emitWeight(ArrayRef<BlockOp> nest, const Point &point) {
  Value weight = index(1);
  for (auto [block, own] : llvm::zip_equal(nest, unitWeights)) {
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
    Value may = known.empty() ? arith::ConstantIntOp::create(builder, loc, 1, 1).getResult()
                              : emitCondition(IntegerSet::get(set.getNumDims(), set.getNumSymbols(),
                                                              known, equal),
                                              block, point);
    weight = make<arith::MaxSIOp>(
        weight, arith::SelectOp::create(builder, loc, may, index(own), index(1)).getResult());
  }
  return weight;
}

Value Emitter::emitWeightedCount(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> dims,
                                 unsigned alike) {
  if (dims.size() == alike)
    return make<arith::MulIOp>(emitUnitCount(nest, point, dims), emitWeight(nest, point));
  auto [lower, upper] = emitBounds(nest, dims.front(), point);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1), ValueRange{index(0)});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  point.dims[dims.front()] = loop.getInductionVar();
  Value inside = emitWeightedCount(nest, point, dims.drop_front(), alike);
  scf::YieldOp::create(builder, loc, make<arith::AddIOp>(loop.getRegionIterArg(0), inside));
  return loop.getResult(0);
}

LogicalResult Emitter::emitUnits(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan,
                                 ArrayRef<unsigned> dims, Value begin, Value end, Value &count) {
  auto inside = [&](Point unit) {
    return emitLoops(nest, unit, plan.inner, [&](Point all) { return emitRegions(nest, all); });
  };
  // Of `extent` points here, whose weights add up from `count`, those in [begin, end).
  auto partOf = [&](Value extent) {
    Value weight, all = extent;
    if (!unitWeights.empty()) {
      weight = emitWeight(nest, point);
      all = make<arith::MulIOp>(extent, weight);
    }
    Value from = make<arith::MaxSIOp>(make<arith::SubIOp>(begin, count), index(0));
    Value to = make<arith::MinSIOp>(make<arith::SubIOp>(end, count), all);
    count = make<arith::AddIOp>(count, all);
    if (weight) {
      from = make<arith::DivUIOp>(from, weight);
      to = make<arith::DivUIOp>(make<arith::MaxSIOp>(to, index(0)), weight);
    }
    return std::pair(from, to);
  };
  if (plan.listed && dims.size() == plan.rowDims().size()) {
    auto [from, to] = partOf(emitUnitCount(nest, point, dims));
    return emitListedRows(nest, point, plan, from, to);
  }
  unsigned dim = dims.front();
  auto [lower, upper] = emitBounds(nest, dim, point);
  if (dims.size() > 1) {
    auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1), ValueRange{count});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    point.dims[dim] = loop.getInductionVar();
    point.order.push_back(dim);
    Value inner = loop.getRegionIterArg(0);
    if (failed(emitUnits(nest, point, plan, dims.drop_front(), begin, end, inner)))
      return failure();
    scf::YieldOp::create(builder, loc, inner);
    count = loop.getResult(0);
    return success();
  }
  auto [from, to] = partOf(make<arith::MaxSIOp>(make<arith::SubIOp>(upper, lower), index(0)));
  Value first = make<arith::AddIOp>(lower, from), last = make<arith::AddIOp>(lower, to);
  if (plan.row)
    return emitRowTiles(plan, point, first, last, inside);
  auto loop = scf::ForOp::create(builder, loc, first, last, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  point.dims[dim] = loop.getInductionVar();
  point.order.push_back(dim);
  return inside(point);
}

LogicalResult Emitter::emitShare(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan) {
  SmallVector<unsigned> dims = unitDims(plan);
  Point probe = point;
  for (unsigned dim : dims) {
    if (failed(checkBounds(nest, dim, probe)))
      return failure();
    probe.dims[dim] = index(0);
  }
  unitWeights = plan.weights;
  Value total = unitWeights.empty()
                    ? emitUnitCount(nest, point, dims)
                    : emitWeightedCount(nest, point, dims, plan.listed ? plan.rowDims().size() : 1);
  auto share = [&](Value number) {
    return make<arith::DivUIOp>(make<arith::MulIOp>(total, number), team);
  };
  Value begin = share(tid), end = share(make<arith::AddIOp>(tid, index(1)));
  Value count = index(0);
  LogicalResult emitted = emitUnits(nest, point, plan, dims, begin, end, count);
  unitWeights.clear();
  return emitted;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitTeamNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed,
                                    bool last, const NestPlan *given) {
  loc = BlockOp(nest.front()).getLoc();
  point.dims.resize(BlockOp(nest.front()).getNumDims());
  NestPlan plan;
  if (given) {
    plan = *given;
  } else {
    FailureOr<NestPlan> read = readPlan(nest, fixed, PlanPlace::Cores, /*hasRows=*/false);
    if (failed(read))
      return failure();
    plan = std::move(*read);
  }
  if (plan.isParallel()) {
    if (failed(emitLoops(nest, point, plan.team, [&](Point step) -> LogicalResult {
          if (failed(emitShare(nest, step, plan)))
            return failure();
          if (!plan.team.empty())
            emitBarrier();
          return success();
        })))
      return failure();
    if (plan.team.empty() && !last)
      emitBarrier();
    return success();
  }
  if (plan.team.empty() && !plan.inner.empty()) {
    if (failed(emitAlone([&] {
          return emitLoops(nest, point, plan.inner,
                           [&](Point all) { return emitRegions(nest, all); });
        })))
      return failure();
    if (!last)
      emitBarrier();
    return success();
  }
  return emitLoops(nest, point, plan.team, [&](Point step) { return emitTeamBody(nest, step); });
}

LogicalResult Emitter::emitTeamBody(ArrayRef<BlockOp> nest, Point point) {
  return emitRegions(nest, point, [&](BlockOp block, Point at) -> LogicalResult {
    if (block.isLeaf()) {
      if (failed(emitAlone([&] { return emitBlock(block, at); })))
        return failure();
      emitBarrier();
      return success();
    }
    // What is private to an iteration of the team belongs to all its threads.
    for (auto buffer : block.getBody().getOps<etdg::BufferOp>())
      declareIntermediate(buffer);
    at.order.clear();
    for (const Group &group : getGroups(block.getBody()))
      if (failed(emitGroup(group, at,
                           [&](ArrayRef<BlockOp> child, Point inner, ArrayRef<unsigned> fixed) {
                             return emitTeamNest(child, inner, fixed, /*last=*/false);
                           })))
        return failure();
    return success();
  });
}

LogicalResult Emitter::emitTeamKernel(const Group &group, StringRef name, const NestPlan *plan) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(context);
  beginKernel((name + "_count").str(), {pointer}, {i64});
  func::ReturnOp::create(builder, loc,
                         arith::ConstantIntOp::create(builder, loc, 1, 64).getResult());

  beginKernel(name, {pointer, i64, i64}, {});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(entry);
    tid = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), kernel.getArgument(1));
    team = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), kernel.getArgument(2));
    maxRows = 1;
    maxRowsValue = index(1);
  }

  bool alone = group.nests.size() == 1;
  std::string text;
  if (failed(emitGroup(
          group, Point(), [&](ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed) {
            if (alone)
              return emitTeamNest(nest, point, fixed, /*last=*/true, plan);
            FailureOr<NestPlan> read = readPlan(nest, fixed, PlanPlace::Cores, /*hasRows=*/false);
            if (failed(read))
              return failure();
            text += (text.empty() ? "kernel of " : "; ") + describe(nest, *read);
            return emitTeamNest(nest, point, fixed, /*last=*/false, &*read);
          })))
    return failure();
  endKernel();
  tid = team = Value();
  result.kernels.push_back({name.str(), loc, /*team=*/true, {}, text});
  return success();
}
