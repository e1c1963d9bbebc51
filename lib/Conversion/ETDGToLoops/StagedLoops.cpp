//===- StagedLoops.cpp - what thread blocks keep of reads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placement of a schedule has each thread block copy the columns of a read that it needs in every step. As everywhere
// here, loops are structured: memory holds a part for each thread block, a parallel loop of level `grid`, dealt `fixed`,
// fills the parts, and the steps after it read them. What such loops deal has the same number in every step.
//
// Other placements are copies in the graph. Where one thread block makes them ahead, the loops say by how many iterations.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;
using etdg::IterationMapping;
using etdg::LoopLevel;

LogicalResult Emitter::emitFixedLoops(ArrayRef<BlockOp> nest, const GpuPlan &plan, const FixedPoints &points, Point point,
                                      FixedBody body) {
  auto level = loops::LevelAttr::get(context, LoopLevel::Grid, plan.mapping);
  Value unit = index(0);
  std::function<LogicalResult(ArrayRef<FixedPoints::Range>)> enter = [&](ArrayRef<FixedPoints::Range> rest) -> LogicalResult {
    if (rest.empty()) {
      auto loop = loops::ChunksOp::create(builder, loc, index(0), index(plan.columns), plan.columnTile, plan.columnTile, level);
      point.columns = Columns{loop.getFirst(), plan.unit, plan.columns, loop.getCount()};
      return inParallelBody(&loop.getRegion().front(), [&] {
        Value chunk = make<arith::DivUIOp>(loop.getFirst(), index(plan.columnTile));
        return body(point, make<arith::AddIOp>(make<arith::MulIOp>(unit, index(points.chunks)), chunk));
      });
    }
    const FixedPoints::Range &range = rest.front();
    auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{builder.getIndexAttr(range.lower)},
                                      ArrayRef<OpFoldResult>{builder.getIndexAttr(range.lower + range.extent)},
                                      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)}, ValueRange(), builder.getArrayAttr({level}));
    point.dims[range.dim] = loop.getInductionVar(0);
    point.order.push_back(range.dim);
    return inParallelBody(loop.getBody(), [&] {
      Value digit = make<arith::SubIOp>(loop.getInductionVar(0), index(range.lower));
      unit = make<arith::AddIOp>(make<arith::MulIOp>(unit, index(range.extent)), digit);
      return enter(rest.drop_front());
    });
  };
  return enter(points.ranges);
}

/// Each thread copies some of the elements. A last tile that is short repeats the last column.
void Emitter::emitStagedCopy(BlockOp block, const StagedRead &staged, Value memory, const Point &point, Value unit) {
  etdg::PieceAttr piece = block.getRead(staged.read).getPieces().front();
  Address from = emitBufferAddress(block, block.getBuffers()[piece.getOperand()], piece.getMap().getValue(), {}, point,
                                   /*useRows=*/false);
  computeOffset(from);
  Value begin = make<arith::MulIOp>(unit, index(staged.getElements()));
  OpBuilder::InsertionGuard guard(builder);
  auto threads = [&](int64_t count) {
    Attribute level = loops::LevelAttr::get(context, LoopLevel::Thread, IterationMapping::None);
    auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{builder.getIndexAttr(0)},
                                      ArrayRef<OpFoldResult>{builder.getIndexAttr(count)},
                                      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)}, ValueRange(), builder.getArrayAttr({level}));
    builder.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar(0);
  };
  Value row = threads(staged.rows), column = threads(staged.tile);
  Value source = make<arith::MinSIOp>(make<arith::AddIOp>(point.columns->first, column), index(staged.columns - 1));
  Value place = make<arith::AddIOp>(make<arith::MulIOp>(row, index(staged.columns)), source);
  Value value = memref::LoadOp::create(builder, loc, from.base, ValueRange{make<arith::AddIOp>(from.offset, place)});
  Value to = make<arith::AddIOp>(begin, make<arith::AddIOp>(make<arith::MulIOp>(row, index(staged.tile)), column));
  memref::StoreOp::create(builder, loc, value, memory, ValueRange{to});
}

LogicalResult Emitter::emitStaging(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  std::optional<FixedPoints> points = getFixedPoints(nest, plan);
  for (etdg::PlacementAttr placement : plan.placements) {
    BlockOp front = nest.front();
    StagedRead staged = *getStagedRead(front, unsigned(placement.getRead()));
    auto element = cast<RankedTensorType>(front.getBody().getArgument(staged.read).getType());
    auto alloc = loops::AllocOp::create(builder, loc, MemRefType::get({ShapedType::kDynamic}, element.getElementType()),
                                        index(points->getCount() * staged.getElements()), builder.getI64IntegerAttr(points->getCount()),
                                        loops::MemoryAttr::get(context, loops::MemoryKind::Shared, /*offset=*/-1, /*swizzled=*/false));
    kernelScope.toFree.push_back(alloc);
    for (BlockOp block : nest)
      stagedMemory[{block, staged.read}] = alloc;
    Point point;
    point.dims.resize(front.getNumDims());
    if (failed(emitFixedLoops(nest, plan, *points, point, [&](const Point &at, Value unit) {
          emitStagedCopy(front, staged, alloc, at, unit);
          return success();
        })))
      return failure();
  }
  return success();
}

Value Emitter::emitIsThere(ArrayRef<BlockOp> nest, const FixedPoints &points, const Point &point) {
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
    all = all ? arith::AndIOp::create(builder, loc, all, holds).getResult() : holds;
  };
  for (const FixedPoints::Range &range : points.ranges) {
    auto [lower, upper] = emitBounds(nest, range.dim, point);
    if (getConstantIntValue(lower) != range.lower)
      require(arith::CmpIPredicate::sge, point.dims[range.dim], lower);
    if (getConstantIntValue(upper) != range.lower + range.extent)
      require(arith::CmpIPredicate::slt, point.dims[range.dim], upper);
  }
  return all;
}

LogicalResult Emitter::emitFixed(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point) {
  FixedPoints points = *getFixedPoints(nest, plan);
  for (const FixedPoints::Range &range : points.ranges)
    if (failed(checkBounds(nest, range.dim, point)))
      return failure();
  return emitFixedLoops(nest, plan, points, point, [&](Point at, Value unit) {
    at.unit = unit;
    OpBuilder::InsertionGuard guard(builder);
    if (Value isThere = emitIsThere(nest, points, at))
      builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false).thenBlock());
    return emitDealtRows(nest, plan, at);
  });
}

//===----------------------------------------------------------------------===//
// Copies that are made ahead
//===----------------------------------------------------------------------===//

/// How many iterations of a loop, which is dimension `writes` of the one block and `reads` of the other, lie between a write and a read of what it
/// wrote: by an index that is the dimension and a constant; 0: it is unknown.
static int64_t distanceInLoop(BlockOp writer, AffineMap written, unsigned writes, BlockOp reader, AffineMap read, unsigned reads) {
  MLIRContext *context = writer.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context), from = getAffineDimExpr(writes, context), to = getAffineDimExpr(reads, context);
  auto isOf = [](AffineExpr expr, AffineExpr dim, unsigned numDims) {
    for (unsigned d = 0; d < numDims; ++d)
      if (getAffineDimExpr(d, dim.getContext()) != dim && expr.isFunctionOfDim(d))
        return false;
    return etdg::LinearForm::of(expr).coefficient(dim) == 1;
  };
  for (auto [before, now] : llvm::zip_equal(written.getResults(), read.getResults())) {
    if (!isOf(before, from, written.getNumDims()) || !isOf(now, to, read.getNumDims()))
      continue;
    etdg::BlockBuilder both = etdg::BlockBuilder::from(reader);
    AffineExpr begin = both.importExpr(before.replace(from, zero), writer.getSymbolNames());
    AffineExpr distance = etdg::canonicalizeExpr(begin - now.replace(to, zero), read.getNumDims(), both.symbols.size());
    if (auto constant = dyn_cast<AffineConstantExpr>(distance))
      return std::max<int64_t>(constant.getValue(), 0);
  }
  return 0;
}

void Emitter::emitStaged(const NestGroup &group, ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed) {
  llvm::MapVector<Value, int64_t> ahead; // of shared memory; the least of all that is read of it
  auto take = [&](BlockOp reader, etdg::PieceAttr piece, bool isWhole) {
    Value buffer = reader.getBuffers()[piece.getOperand()];
    auto made = buffer.getDefiningOp<etdg::BufferOp>();
    if (!made || made.getMemory() != etdg::BufferMemory::Shared)
      return;
    for (auto [number, other] : llvm::enumerate(group.nests))
      for (BlockOp writer : other)
        for (auto write : writer.getWrites().getAsRange<etdg::WriteAttr>()) {
          if (writer.getBuffers()[write.getOperand()] != buffer)
            continue;
          int64_t own = !isWhole || !piece.getGathers().empty() || other == nest
                            ? 0
                            : distanceInLoop(writer, write.getMap().getValue(), group.common[number].back(), reader, piece.getMap().getValue(), fixed.back());
          auto [known, isNew] = ahead.try_emplace(buffer, own);
          known->second = std::min(known->second, own);
        }
  };
  for (BlockOp reader : fixed.empty() ? ArrayRef<BlockOp>() : nest)
    for (auto read : reader.getReads().getAsRange<etdg::ReadAttr>())
      for (etdg::PieceAttr piece : read.getPieces())
        if (piece.getKind() == etdg::SourceKind::Buffer)
          take(reader, piece, /*isWhole=*/read.getElementRank() == 0);
  for (auto [buffer, iterations] : ahead)
    if (iterations > 0)
      loops::StagedOp::create(builder, loc, storageOf(buffer).base, iterations);
}
