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
      // Several partial results, since one would wait for each combination in turn.
      constexpr int64_t most = 4;
      SmallVector<Value> parts(size_t(std::min(most, columns)));
      for (int64_t column = 0; column < columns; ++column) {
        Value value = values[row * columns + column], &part = parts[size_t(column % most)];
        if (inside[column])
          value = arith::SelectOp::create(b, inside[column], value, adaptor.getNeutral().front());
        part = part ? combine(part, value) : value;
      }
      while (parts.size() > 1) {
        for (size_t i = 0; i < parts.size() / 2; ++i)
          parts[i] = combine(parts[i], parts[parts.size() - 1 - i]);
        parts.resize((parts.size() + 1) / 2);
      }
      Value result = parts.front();
      for (int64_t mask = 1; mask < type.getLayout().getThreads()[1]; mask *= 2)
        result = combine(result, b.exchange(result, mask));
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
    Value first = b.beginAlong(layout, 1);
    for (auto [i, condition] : llvm::enumerate(inside))
      condition = b.less(b.add(first, layout.getOffset(1, int64_t(i))), b.number(columns));
    return inside;
  }
};
} // namespace

void mlir::tile::populateReductionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerReduce>(converter, patterns.getContext());
}
