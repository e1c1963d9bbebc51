//===- LowerProducts.cpp - products of tiles, element by element ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread multiplies its rows of one operand with its columns of the other, a
// term at a time. An operand whose terms are adjacent in shared memory is read
// for several terms at a time, row by row or column by column; another one
// several rows or columns at a time for each term. How many, and in which
// accesses, the operation says (`#tile.reads`).
//
//===----------------------------------------------------------------------===//
#include "ThreadCode.h"

using namespace mlir;
using namespace mlir::tile;

namespace {
/// One operand of a product, as a thread reads it.
class Operand {
public:
  /// `dim`: the accumulator's dimension that the operand has, too; `alongTerms`: terms are adjacent; `width`: elements of one access.
  Operand(ThreadCode &b, SharedType type, Value pointer, Value stage, RegistersType result, unsigned dim, bool alongTerms,
          bool isUnsigned, int64_t width)
      : b(b), type(type), result(result), dim(dim), alongTerms(alongTerms), isUnsigned(isUnsigned), width(width) {
    Value thread = b.beginAlong(result.getLayout(), dim);
    if (alongTerms)
      thread = b.mul(thread, type.getRowStride());
    Value offset = b.add(b.mul(stage, type.getStageStride()), thread);
    base = b.at(pointer, offset, type.getElementType());
  }

  bool isAlongTerms() const { return alongTerms; }
  /// Loads the thread's elements of `count` terms.
  void load(int64_t first, int64_t count) {
    values.clear();
    int64_t own = result.getOwn(dim);
    auto positionOf = [&](int64_t i) { return result.getLayout().getOffset(dim, i); }; // without the thread's part
    if (alongTerms) {
      for (int64_t i = 0; i < own; ++i)
        for (int64_t term = 0; term < count; term += width)
          llvm::append_range(values, b.load(b.at(base, first + positionOf(i) * type.getRowStride() + term, type.getElementType()),
                                            type.getElementType(), width));
      terms = count;
      return;
    }
    terms = 1;
    for (int64_t i = 0; i < own; i += width)
      llvm::append_range(values, b.load(b.at(base, first * type.getRowStride() + positionOf(i), type.getElementType()),
                                        type.getElementType(), width));
  }
  /// Extended only where it is used: until then several terms of narrow elements share a register.
  Value at(int64_t i, int64_t term) {
    Value &value = values[alongTerms ? i * terms + term : i];
    Type to = result.getElementType();
    if (value.getType() != to)
      value = isa<FloatType>(to) ? Value(arith::ExtFOp::create(b, to, value))
              : isUnsigned       ? Value(arith::ExtUIOp::create(b, to, value))
                                 : Value(arith::ExtSIOp::create(b, to, value));
    return value;
  }

private:
  ThreadCode &b;
  SharedType type;
  RegistersType result;
  unsigned dim;
  bool alongTerms, isUnsigned;
  int64_t width;
  Value base;
  SmallVector<Value> values;
  int64_t terms = 1;
};

struct LowerMma : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getFragments() || op.getWgmma())
      return failure();
    ThreadCode b(op.getLoc(), rewriter);
    RegistersType type = op.getType();
    SharedType lhsType = op.getLhsType(), rhsType = op.getRhs().getType();
    auto reads = op.getReads().value_or(ReadsAttr::get(op.getContext(), /*terms=*/1, /*lhs=*/1, /*rhs=*/1));
    Operand lhs(b, lhsType, adaptor.getLhs().front(), adaptor.getLhsStage().front(), type, 0,
                !op.getLhsTransposed(), op.getLhsUnsigned(), reads.getLhs());
    Operand rhs(b, rhsType, adaptor.getRhs().front(), adaptor.getRhsStage().front(), type, 1,
                op.getRhsTransposed(), op.getRhsUnsigned(), reads.getRhs());
    SmallVector<Value> sums(adaptor.getAccumulator());
    const int64_t group = reads.getTerms();
    for (int64_t first = 0; first < lhsType.getShape()[op.getLhsTransposed() ? 0 : 1]; first += group) {
      if (lhs.isAlongTerms())
        lhs.load(first, group);
      if (rhs.isAlongTerms())
        rhs.load(first, group);
      for (int64_t term = 0; term < group; ++term) {
        if (!lhs.isAlongTerms())
          lhs.load(first + term, 1);
        if (!rhs.isAlongTerms())
          rhs.load(first + term, 1);
        for (int64_t i = 0; i < type.getOwn(0); ++i)
          for (int64_t j = 0; j < type.getOwn(1); ++j) {
            Value &sum = sums[i * type.getOwn(1) + j];
            sum = multiplyAdd(b, lhs.at(i, term), rhs.at(j, term), sum);
          }
      }
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{sums});
    return success();
  }

private:
  static Value multiplyAdd(ThreadCode &b, Value x, Value y, Value sum) {
    if (isa<FloatType>(sum.getType()))
      return LLVM::FMAOp::create(b, sum.getType(), x, y, sum);
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  }
};
} // namespace

void mlir::tile::populateProductPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerMma>(converter, patterns.getContext());
}
