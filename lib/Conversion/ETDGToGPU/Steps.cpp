//===- Steps.cpp - nests that the whole grid runs step by step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest whose schedule has sequential loops outermost and parallel ones of level
// `grid` inside, with ranges that may depend on the outer ones (FT §5.2), becomes a
// kernel whose blocks of threads take a step together: each step's points are tasks
// that are dealt out to all blocks, then, where it says so, a barrier of the grid.
// The launch is a cooperative one, so that all blocks are running. Where a step
// has fewer points than there are blocks, they share the columns of a point's
// leaves (Split.h), then its rows.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Which columns of its leaves blocks of threads share.
LogicalResult GraphEmitter::formColumns(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  if (!plan.columns)
    return success();
  schedule::LeafContext context;
  context.row = plan.row;
  context.columns = plan.columns;
  if (plan.row)
    context.rowOwner.assign(nest.begin(), nest.end());
  for (BlockOp block : nest)
    if (failed(schedule::makeLeafForms(
            block, context, machine, [this](Value buffer, unsigned d) { return kept.at(buffer, d); },
            [&](BlockOp leaf) -> LeafForm & { return leafForms[leaf.getOperation()]; })))
      return failure();
  return success();
}

LogicalResult GraphEmitter::emitStepKernel(Kernel &kernel, StringRef name) {
  rowPlan.reset();
  BlockOp front = kernel.nests.front().front();
  b.setLoc(front.getLoc());
  leafForms.clear();
  rowWiseBuffers.clear();
  bool anySteps = llvm::any_of(kernel.plans, [](const GpuPlan &plan) { return !plan.steps.empty(); });
  bool isFixed = llvm::any_of(kernel.plans, [](const GpuPlan &plan) { return plan.dealing == etdg::Dealing::Fixed; });
  cooperative = anySteps || kernel.place.isGrouped;
  sharesSteps = kernel.place.isGrouped;
  etdg::ThreadBlockAttr block = kernel.plans.front().block;
  sharedLimit = block.getShared();
  threads.count = block.getThreads();
  threads.sums = block.getSums();
  maxRows = 1;
  for (auto [nest, plan] : llvm::zip_equal(kernel.nests, kernel.plans)) {
    if (plan.row) // private buffers are made for rows
      for (BlockOp region : nest)
        region.walk([&](etdg::BufferOp buffer) { rowWiseBuffers.insert(buffer.getResult()); });
    if (failed(formColumns(nest, plan)))
      return failure();
    maxRows = std::max(maxRows, plan.maxRows);
  }
  beginFunction(name);
  storage.clear();
  std::vector<Point> points(kernel.nests.size());
  for (auto [point, nest] : llvm::zip_equal(points, kernel.nests))
    point.dims.assign(BlockOp(nest.front()).getNumDims(), Value());
  if (failed(emitSharedSteps(kernel, points, 0)) || failed(endFunction(front, block)))
    return failure();
  int64_t most = cooperative ? 1 : machine.gpu.stepBlocksPerUnit;
  int64_t columns = kernel.plans.front().columns;
  remark::passed(front.getLoc(), remark::RemarkOpts::name("gpu-steps").category("gpu"))
      << (cooperative ? "the grid runs the nest in steps, with a barrier after each"
                      : "the grid runs the points of the nest")
      << (columns ? "; blocks of threads may share " + std::to_string(columns) + " columns" : std::string());
  // Blocks loop over tasks, however many blocks there are; where the same one is to take the same
  // task each time, also of another launch, there are as many as planned.
  addLaunch(name, multiprocessors * most, /*shrinks=*/cooperative && !isFixed);
  return success();
}

/// The loops that the nests of a kernel share; inside of them each nest, after a barrier where it waits.
LogicalResult GraphEmitter::emitSharedSteps(Kernel &kernel, std::vector<Point> &points, unsigned level) {
  if (level == kernel.place.shared) {
    for (auto [nest, plan, point] : llvm::zip_equal(kernel.nests, kernel.plans, points)) {
      if (plan.waitsBefore)
        emitGridBarrier();
      if (failed(emitOwnSteps(nest, plan, point, level)))
        return failure();
    }
    return success();
  }
  Value lower, upper;
  for (auto [nest, plan, point] : llvm::zip_equal(kernel.nests, kernel.plans, points)) {
    if (failed(requireBounds(nest, plan.steps[level])))
      return failure();
    auto [from, to] = emitBounds(nest, plan.steps[level], point);
    lower = lower ? b.smaller(lower, from) : from;
    upper = upper ? b.larger(upper, to) : to;
  }
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(1));
  for (auto [plan, point] : llvm::zip_equal(kernel.plans, points))
    point.dims[plan.steps[level]] = loop.getInductionVar();
  if (failed(emitSharedSteps(kernel, points, level + 1)))
    return failure();
  if (kernel.plans.front().waits[level])
    emitGridBarrier();
  return success();
}

/// Sequential dimensions that a nest has beside the shared ones.
LogicalResult GraphEmitter::emitOwnSteps(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point, unsigned level) {
  if (level == plan.steps.size())
    return emitGridTasks(nest, plan, point);
  unsigned dim = plan.steps[level];
  if (failed(requireBounds(nest, dim)))
    return failure();
  auto [lower, upper] = emitBounds(nest, dim, point);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(1));
  point.dims[dim] = loop.getInductionVar();
  if (failed(emitOwnSteps(nest, plan, point, level + 1)))
    return failure();
  if (plan.waits[level])
    emitGridBarrier();
  return success();
}

/// Ranges of the flat dimensions but the rows', at values of the outer ones: lower bounds and counts.
SmallVector<std::pair<Value, Value>> GraphEmitter::emitFlatRanges(ArrayRef<BlockOp> nest, const GpuPlan &plan,
                                                                  const Point &at) {
  SmallVector<std::pair<Value, Value>> found;
  for (unsigned d : plan.flat) {
    auto [lower, upper] = emitBounds(nest, d, at);
    found.push_back({lower, b.larger(b.sub(upper, lower), b.number(0))});
  }
  return found;
}

Value GraphEmitter::countPoints(ArrayRef<std::pair<Value, Value>> ranges) {
  Value all = b.number(1);
  for (auto [lower, count] : ranges)
    all = b.mul(all, count);
  return all;
}

/// Loops over the outer dimensions that carry one value.
FailureOr<Value> GraphEmitter::overOuter(ArrayRef<BlockOp> nest, const GpuPlan &plan, const Point &point,
                                         llvm::function_ref<FailureOr<Value>(Point, Value)> body) {
  SmallVector<scf::ForOp> loops;
  Point at = point;
  Value carried = b.number(0);
  OpBuilder::InsertionGuard guard(b);
  for (unsigned d : plan.outer) {
    auto [lower, upper] = emitBounds(nest, d, at);
    loops.push_back(b.loop(lower, upper, b.number(1), carried));
    at.dims[d] = loops.back().getInductionVar();
    carried = loops.back().getRegionIterArg(0);
  }
  FailureOr<Value> last = body(at, carried);
  if (failed(last))
    return failure();
  Value value = *last;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, value);
    value = loop.getResult(0);
  }
  return value;
}

/// How the work of a step's points is divided: into columns while blocks of threads are left, then into rows.
struct GraphEmitter::Division {
  Value blocks; // of threads
  Value rowLower, rowCount, rowTile, rowTiles;
  Value chunks, unitsInChunk; // of columns
};

FailureOr<GraphEmitter::Division> GraphEmitter::divideStep(ArrayRef<BlockOp> nest, const GpuPlan &plan, const Point &point) {
  Value zero = b.number(0), one = b.number(1);
  Division division{{}, zero, one, one, one, one, one};
  division.blocks = atEntry([&] { return b.extend(NVVM::GridDimXOp::create(b, b.getI32Type())); });
  if (plan.row) {
    auto [lower, upper] = emitBounds(nest, *plan.row, point);
    division.rowLower = lower;
    division.rowCount = b.larger(b.sub(upper, lower), zero);
  }
  if (!plan.row && !plan.columns)
    return division;
  FailureOr<Value> points = overOuter(nest, plan, point, [&](Point at, Value sum) -> FailureOr<Value> {
    return b.add(sum, countPoints(emitFlatRanges(nest, plan, at)));
  });
  if (failed(points))
    return failure();
  Value known = b.larger(*points, one);
  Value most = b.number(plan.maxRows);
  Value parts = b.mul(known, b.larger(b.ceilDiv(division.rowCount, most), one));
  auto blocksFor = [&](Value pieces) {
    return b.larger(b.createOrFold<arith::DivUIOp>(division.blocks, pieces), one);
  };
  if (plan.columns) {
    Value units = b.number(plan.columns / plan.unit);
    division.chunks = b.smaller(blocksFor(parts), units);
    division.unitsInChunk = plan.columnTile ? b.number(plan.columnTile / plan.unit) : b.ceilDiv(units, division.chunks);
    division.chunks = b.ceilDiv(units, division.unitsInChunk);
  }
  if (plan.row) {
    division.rowTile = b.ceilDiv(division.rowCount, blocksFor(b.mul(known, division.chunks)));
    division.rowTile = plan.rowTile ? b.number(plan.rowTile) : b.larger(b.smaller(division.rowTile, most), one);
    division.rowTiles = b.ceilDiv(division.rowCount, division.rowTile);
  }
  return division;
}

/// Enters the task of that number: rows fastest, then columns, then the flat dimensions.
void GraphEmitter::enterTask(const GpuPlan &plan, const Division &division, ArrayRef<std::pair<Value, Value>> ranges,
                             Value number, Point &at) {
  Value rest = number;
  auto digit = [&](Value count) {
    Value value = b.createOrFold<arith::RemUIOp>(rest, count);
    rest = b.createOrFold<arith::DivUIOp>(rest, count);
    return value;
  };
  if (plan.row) {
    at.rowDim = plan.row;
    at.rowBegin = b.add(division.rowLower, b.mul(digit(division.rowTiles), division.rowTile));
    at.dims[*plan.row] = at.rowBegin;
    at.rows = b.smaller(division.rowTile, b.sub(b.add(division.rowLower, division.rowCount), at.rowBegin));
  }
  if (plan.columns) {
    Value begin = b.mul(digit(division.chunks), division.unitsInChunk);
    Value units = b.smaller(division.unitsInChunk, b.sub(b.number(plan.columns / plan.unit), begin));
    at.columns = Columns{b.mul(begin, plan.unit), b.mul(units, plan.unit), plan.unit};
  }
  for (int64_t i = int64_t(plan.flat.size()) - 1; i >= 0; --i)
    at.dims[plan.flat[i]] = b.add(ranges[i].first, i == 0 ? rest : digit(ranges[i].second));
}

/// Deals the points of a step out to the blocks of threads: those of all outer
/// dimensions' iterations one after the other, so that blocks get equally many.
LogicalResult GraphEmitter::emitGridTasks(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<unsigned> dealt(plan.outer);
  llvm::append_range(dealt, plan.flat);
  if (plan.row)
    dealt.push_back(*plan.row);
  for (unsigned d : dealt)
    if (failed(requireBounds(nest, d)))
      return failure();
  Value block = atEntry([&] { return b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type())); });
  FailureOr<Division> division = divideStep(nest, plan, point);
  if (failed(division))
    return failure();
  Value blocks = division->blocks;
  FailureOr<Value> all = overOuter(nest, plan, point, [&](Point at, Value before) -> FailureOr<Value> {
    OpBuilder::InsertionGuard inner(b);
    SmallVector<std::pair<Value, Value>> ranges = emitFlatRanges(nest, plan, at);
    Value tasks = b.mul(b.mul(countPoints(ranges), division->rowTiles), division->chunks);
    // This block's first task: its number less those dealt out before, modulo the blocks.
    Value first = block;
    if (!plan.outer.empty() && plan.dealing != etdg::Dealing::Fixed) {
      first = b.sub(block, before);
      Value negative = b.less(first, b.number(0));
      first = b.createOrFold<arith::SelectOp>(negative, b.add(first, blocks), first);
    }
    scf::ForOp loop = dealTasks(plan.dealing, first, tasks, blocks);
    enterTask(plan, *division, ranges, loop.getInductionVar(), at);
    if (failed(emitLoops(nest, at, plan.inner)))
      return failure();
    b.setInsertionPointAfter(loop);
    return b.createOrFold<arith::RemUIOp>(b.add(before, tasks), blocks);
  });
  return failure(failed(all));
}

