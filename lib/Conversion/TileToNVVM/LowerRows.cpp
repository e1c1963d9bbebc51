//===- LowerRows.cpp - rows in registers to a lane's values ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points become the numbers of their rows and of the elements at which a lane's
// accesses begin, rows a value for each element that a lane holds: row by row,
// then by access. A lane whose access is outside of a row takes one inside again,
// so that no load needs a branch; what it computes is left out of sums and stores.
//
//===----------------------------------------------------------------------===//
#include "RowCode.h"

using namespace mlir;
using namespace mlir::tile;

namespace {
/// Replaces an operation whose results have values for each element.
void replaceRows(ConversionPatternRewriter &rewriter, Operation *op, SmallVector<Value> values) {
  rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{std::move(values)});
}

struct LowerLanes : OpConversionPattern<LanesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LanesOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    RowCode b(op.getLoc(), rewriter);
    RowAttr layout = op.getType().getLayout();
    Points points{op.getType(), op.getThread(), Value(), b.number(0), {}};
    Value lane = points.thread;
    if (layout.getGroups() > 1) {
      points.lane = b.extend(b.createOrFold<arith::AndIOp>(lane, b.number32(layout.getLanes() - 1)));
      points.group = b.extend(b.createOrFold<arith::DivUIOp>(lane, b.number32(layout.getLanes())));
    } else {
      points.lane = b.extend(lane);
    }
    PointRow first{b.number(0), SmallVector<Value>(op.getType().getDigits().size(), b.number(0)), Value(), {}, {}};
    b.placeChunks(points, first, Value());
    points.rows.push_back(std::move(first));
    replaceRows(rewriter, op, points.flatten());
    return success();
  }
};

struct LowerPoints : OpConversionPattern<PointsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PointsOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RowCode b(op.getLoc(), rewriter);
    Points lanes(op.getLanes().getType(), adaptor.getLanes());
    Points points{op.getType(), lanes.thread, lanes.lane, lanes.group, {}};
    for (int64_t r = 0; r < op.getType().getLayout().getRows(); ++r) {
      PointRow row = placeRow(b, op, points, r);
      if (op.getLine()) {
        b.placeChunks(points, row, shiftOf(b, op, row));
      } else {
        row.elements = lanes.rows.front().elements;
        row.holds = lanes.rows.front().holds;
      }
      points.rows.push_back(std::move(row));
    }
    replaceRows(rewriter, op, points.flatten());
    return success();
  }

private:
  /// Which row a group has as its r-th one.
  static PointRow placeRow(RowCode &b, PointsOp op, const Points &points, int64_t r) {
    PointsType type = op.getType();
    PointRow row;
    Value index = b.add(b.add(op.getFirst(), r * type.getLayout().getGroups()), points.group);
    if (type.getMasked()) { // the last ones may be missing: their lanes store nothing
      row.valid = b.less(index, op.getTotal());
      index = b.createOrFold<arith::MinSIOp>(index, b.add(op.getTotal(), -1));
    }
    int64_t count = type.getNumPoints();
    row.row = count > 1 ? b.createOrFold<arith::DivUIOp>(index, b.number(count)) : index;
    Value rest = count > 1 ? b.createOrFold<arith::RemUIOp>(index, b.number(count)) : b.number(0);
    row.digits.resize(type.getDigits().size());
    for (size_t d = type.getDigits().size(); d-- > 0;) {
      Value size = b.number(type.getDigits()[d]);
      row.digits[d] = d == 0 ? rest : b.createOrFold<arith::RemUIOp>(rest, size);
      rest = b.createOrFold<arith::DivUIOp>(rest, size);
    }
    return row;
  }

  /// How many accesses a row begins after the start of a line. Any number is right.
  static Value shiftOf(RowCode &b, PointsOp op, const PointRow &row) {
    RowPlaceAttr place = *op.getPlace();
    RowAttr layout = op.getType().getLayout();
    Value offset = b.offsetOf(place, b.number(place.getOffset()), row, op.getStride(), Value());
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), b.atRow(op.getLine(), offset, place.getElement()));
    Value access = b.createOrFold<arith::DivUIOp>(address, b.number(layout.getWidth() * place.getElementBytes()));
    return b.createOrFold<arith::AndIOp>(access, b.number(layout.getLine() - 1));
  }
};

struct LowerStoreRows : OpConversionPattern<StoreRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StoreRowsOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RowCode b(op.getLoc(), rewriter);
    Points points(op.getPoints().getType(), adaptor.getPoints());
    RowsType type = op.getRows().getType();
    SmallVector<Value> values(adaptor.getRows());
    ArrayRef<Value> rest = values;
    for (const PointRow &row : points.rows) {
      OpBuilder::InsertionGuard guard(b);
      if (type.isSliced()) {
        Value leads = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, points.lane, b.number(0));
        b.under(b.both(leads, row.valid));
        b.storeAccess(op, row, Value(), rest.take_front(1));
        rest = rest.drop_front(1);
        continue;
      }
      b.under(row.valid);
      for (auto [element, holds] : llvm::zip_equal(row.elements, row.holds)) {
        OpBuilder::InsertionGuard inner(b);
        b.under(holds);
        b.storeAccess(op, row, element, rest.take_front(type.getWidth()));
        rest = rest.drop_front(type.getWidth());
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerSpread : OpConversionPattern<SpreadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SpreadOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    replaceRows(rewriter, op, SmallVector<Value>(op.getType().getNumOwn(), adaptor.getInput().front()));
    return success();
  }
};

/// An operation of rows outside of a sweep is one of its own.
template <class Op>
struct LowerRowOp : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::template GenericAdaptor<ArrayRef<ValueRange>> adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RowCode b(op.getLoc(), rewriter);
    RowSweep sweep(b);
    for (auto [operand, values] : llvm::zip_equal(op->getOperands(), adaptor.getOperands()))
      if (isa<RowsType, PointsType>(operand.getType()))
        sweep.bind(operand, values);
    if constexpr (std::is_same_v<Op, LoadRowsOp>)
      sweep.runByRow(op);
    else
      sweep.run({op.getOperation()});
    rewriter.replaceOpWithMultiple(op, sweep.valuesOf(op->getResults()));
    return success();
  }
};

struct LowerSweep : OpConversionPattern<SweepOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SweepOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RowCode b(op.getLoc(), rewriter);
    RowSweep sweep(b);
    Block &body = op.getBody().front();
    for (auto [argument, values] : llvm::zip_equal(body.getArguments(), adaptor.getInputs()))
      sweep.bind(argument, values);
    SmallVector<Operation *> inside;
    for (Operation &inner : body.without_terminator())
      inside.push_back(&inner);
    sweep.run(inside);
    rewriter.replaceOpWithMultiple(op, sweep.valuesOf(body.getTerminator()->getOperands()));
    return success();
  }
};
} // namespace

void mlir::tile::populateRowPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  converter.addConversion([](RowsType type, SmallVectorImpl<Type> &types) {
    types.append(type.getNumOwn(), type.getElementType());
    return success();
  });
  converter.addConversion([](PointsType type, SmallVectorImpl<Type> &types) {
    Points::appendTypes(type, types);
    return success();
  });
  patterns.add<LowerLanes, LowerPoints, LowerStoreRows, LowerSpread, LowerRowOp<LoadRowsOp>, LowerRowOp<MapRowsOp>,
               LowerRowOp<AccumulateOp>, LowerRowOp<ReduceRowsOp>, LowerSweep>(converter, patterns.getContext());
}
