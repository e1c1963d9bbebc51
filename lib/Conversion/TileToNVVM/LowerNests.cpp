//===- LowerNests.cpp - loop nests to what a thread computes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestCode.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

scf::ForOp NestCode::loop(Value begin, Value end, Value step, ValueRange inits, int64_t copies) {
  auto created = scf::ForOp::create(*this, begin, end, step, inits);
  if (copies > 0) {
    auto disable = copies == 1 ? getBoolAttr(true) : BoolAttr();
    auto count = copies == 1 ? IntegerAttr() : getI32IntegerAttr(int32_t(copies));
    auto how = LLVM::LoopUnrollAttr::get(getContext(), disable, count, {}, {}, {}, {}, {});
    created->setAttr("loop_annotation",
                     LLVM::LoopAnnotationAttr::get(getContext(), {}, {}, {}, how, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  }
  if (inits.empty()) // with no iteration arguments the builder adds the yield
    setInsertionPoint(created.getBody()->getTerminator());
  else
    setInsertionPointToStart(created.getBody());
  return created;
}

std::pair<scf::ForOp, Value> NestCode::threadLoop(Value total, std::optional<int64_t> fixed, Value thread, int64_t count,
                                                  int64_t copies, ValueRange inits) {
  if (!fixed || *fixed % count != 0) {
    scf::ForOp created = loop(thread, total, number32(count), inits, copies);
    return {created, created.getInductionVar()};
  }
  scf::ForOp created = loop(number32(0), number32(*fixed / count), number32(1), inits, copies);
  Value round = createOrFold<arith::MulIOp>(created.getInductionVar(), number32(count));
  return {created, createOrFold<arith::AddIOp>(round, thread)};
}

/// How many tiles there are (i32), and how many if that is fixed.
std::pair<Value, std::optional<int64_t>> NestCode::countTiles() {
  Value total = number(int64_t(nest.getLifts()));
  for (int64_t loop : parallelLoops) {
    int64_t step = layout.getStep(loop);
    if (nest.isSplit(loop))
      total = mul(total, createOrFold<arith::DivUIOp>(nest.getNumColumns(), number(step)));
    else
      total = mul(total, nest.getLoops()[size_t(loop)] / step);
  }
  if (Value rows = nest.getRows()) {
    int64_t step = layout.getTileOfRows();
    if (step > 1)
      rows = createOrFold<arith::DivUIOp>(add(rows, add(number(step), -1)), number(step));
    total = mul(rows, total);
  }
  return {createOrFold<arith::TruncIOp>(getI32Type(), total), nest.getNumTiles()};
}

//===----------------------------------------------------------------------===//
// Tiles of one thread
//===----------------------------------------------------------------------===//

/// Tiles that a thread computes together, whose loads are all in flight before the first store: these may be to memory that others
/// are read from, so that nothing after may put the loads of one tile before the stores of another. Then what is left, one by one.
void NestCode::runTogether(Value total) {
  int64_t threads = layout.getThreads(), copies = layout.getTogether();
  Value id = nest.getThread(), zero = number32(0), span = number32(threads * copies);
  Value bound = createOrFold<arith::SubIOp>(total, number32(threads * (copies - 1)));
  Sums none;
  {
    OpBuilder::InsertionGuard guard(*this);
    scf::ForOp created = loop(id, bound, span, {}, /*copies=*/1);
    SmallVector<PointTile, 0> points;
    for (int64_t i = 0; i < copies; ++i) {
      points.push_back(startAt(createOrFold<arith::AddIOp>(created.getInductionVar(), number32(i * threads))));
      loadFirst(points.back());
    }
    for (PointTile &point : points)
      evaluate(point, none);
  }
  Value left = createOrFold<arith::MaxSIOp>(createOrFold<arith::SubIOp>(bound, id), zero);
  Value rounds = createOrFold<arith::CeilDivUIOp>(left, span);
  Value begin = createOrFold<arith::AddIOp>(id, createOrFold<arith::MulIOp>(rounds, span));
  OpBuilder::InsertionGuard guard(*this);
  scf::ForOp created = loop(begin, total, number32(threads), {}, /*copies=*/1);
  PointTile point = startAt(created.getInductionVar());
  evaluate(point, none);
}

void NestCode::runEach(Value total, std::optional<int64_t> fixed) {
  OpBuilder::InsertionGuard guard(*this);
  auto [created, flat] = threadLoop(total, fixed, nest.getThread(), layout.getThreads(), layout.copiesOfTiles());
  PointTile point = startAt(flat);
  Sums sums;
  for (int64_t part = 0; part < tile; ++part)
    for (int64_t l = 0; l < width; ++l)
      for (Reduction &reduction : reductions)
        sums.push_back(toFloat32(elementOf(point, reduction.init(), part, l)));
  runReduced(0, point, sums, Value());
  storeSums(point, sums);
}

void NestCode::run() {
  for (int64_t loop : parallelLoops)
    if (nest.getLoops()[size_t(loop)] == 0)
      return;
  auto [total, fixed] = countTiles();
  if (layout.getLanes() > 1)
    return runLanes(total, fixed);
  if (layout.getSlices() > 1)
    return runSlices(total);
  if (layout.getTogether() > 1)
    return runTogether(total);
  runEach(total, fixed);
}

namespace {
struct LowerNest : OpRewritePattern<NestOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NestOp op, PatternRewriter &rewriter) const override {
    NestCode(op, rewriter).run();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tile::lowerNests(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  patterns.add<LowerNest>(root->getContext());
  walkAndApplyPatterns(root, std::move(patterns));
  SmallVector<Operation *> memories;
  root->walk([&](MemoryOp memory) { memories.push_back(memory); });
  for (Operation *memory : memories)
    memory->erase();
}
