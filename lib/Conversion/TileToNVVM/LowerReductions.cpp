//===- LowerReductions.cpp - sums and maxima along rows of tiles ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread combines its own elements of a row, then the threads that share the row
// exchange what they have, in log2 rounds after each of which twice as many
// elements are in each (a butterfly): in the end all have the row's result, and
// nothing has gone through memory.
//
//===----------------------------------------------------------------------===//
#include "ThreadCode.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tile;

/// What the thread whose number differs in the bits of `mask` has.
static Value exchange(ThreadCode &b, Value value, int64_t mask) {
  Type type = value.getType();
  auto swap = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), b.number32(-1), word, b.number32(mask), b.number32(warpThreads - 1),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return swap(value);
  unsigned bits = type.getIntOrFloatBitWidth();
  Type raw = b.getIntegerType(bits), word = b.getI32Type();
  Value whole = isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, raw, value)) : value;
  if (bits < 32) {
    whole = arith::TruncIOp::create(b, raw, swap(arith::ExtUIOp::create(b, word, whole)));
  } else {
    Value low = swap(arith::TruncIOp::create(b, word, whole));
    Value high = swap(arith::TruncIOp::create(b, word, arith::ShRUIOp::create(b, whole, b.number(32))));
    whole = arith::OrIOp::create(b, arith::ExtUIOp::create(b, raw, low),
                                 arith::ShLIOp::create(b, arith::ExtUIOp::create(b, raw, high), b.number(32)));
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, type, whole)) : whole;
}

namespace {
struct LowerReduce : OpConversionPattern<ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    RegistersType type = op.getType();
    Block &body = op.getBody().front();
    auto combine = [&](Value x, Value y) {
      IRMapping mapping;
      mapping.map(body.getArgument(0), x);
      mapping.map(body.getArgument(1), y);
      for (Operation &inner : body.without_terminator())
        rewriter.clone(inner, mapping);
      return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
    };
    SmallVector<Value> values(adaptor.getInput()), inside = insideOf(b, op);
    int64_t columns = type.getOwn(1);
    for (int64_t row = 0; row < type.getOwn(0); ++row) {
      Value result;
      for (int64_t column = 0; column < columns; ++column) {
        Value value = values[row * columns + column];
        if (inside[column])
          value = arith::SelectOp::create(b, inside[column], value, adaptor.getNeutral().front());
        result = result ? combine(result, value) : value;
      }
      for (int64_t mask = 1; mask < type.getLayout().getThreads()[1]; mask *= 2)
        result = combine(result, exchange(b, result, mask));
      std::fill_n(values.begin() + row * columns, columns, result);
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }

private:
  /// By column of the thread, whether it is one of those that are combined; null: it always is.
  static SmallVector<Value> insideOf(ThreadCode &b, ReduceOp op) {
    RegistersType type = op.getType();
    auto columns = int64_t(op.getColumns());
    SmallVector<Value> inside(type.getOwn(1));
    if (columns == type.getShape()[1])
      return inside;
    BlockedAttr layout = type.getLayout();
    int64_t vector = layout.getVector()[1];
    Value first = b.mul(b.threadAlong(layout, 1), vector);
    for (auto [i, condition] : llvm::enumerate(inside))
      condition = b.less(b.add(first, int64_t(i) / vector * layout.getSpan(1) + int64_t(i) % vector), b.number(columns));
    return inside;
  }
};
} // namespace

void mlir::tile::populateReductionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerReduce>(converter, patterns.getContext());
}
