//===- LowerFragments.cpp - products of tiles on matrix units -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp multiplies fragments of 16 rows, 8 columns and 16 terms (PTX ISA,
// mma.sync.m16n8k16). Of an accumulator lane l has rows l / 4 and l / 4 + 8 and
// columns 2 (l mod 4) and the next. The rows of a fragment need not follow each
// other in the tile: the layout repeats 8 rows and 8 columns of each warp after
// those of the others, and a fragment takes two such groups of rows and one of
// columns.
//
// Operands are read by ldmatrix, 8 x 8 halves a piece, whose rows lie anywhere in
// shared memory at multiples of 16 bytes; a piece whose terms are not adjacent
// there is transposed on its way.
//
//===----------------------------------------------------------------------===//
#include "ThreadCode.h"

using namespace mlir;
using namespace mlir::tile;

namespace {
// What PTX's mma.m16n8k16 takes: pieces of 8 rows, dealt to the lanes of a warp.
constexpr int64_t pieceSize = 8, terms = ProductAttr::fragmentTerms, lanes = 32;

/// One operand of a product: pieces of 8 rows (or columns) of the accumulator and 8 terms.
class FragmentOperand {
public:
  /// `dim`: the accumulator's dimension that the operand has, too; `alongTerms`: terms are adjacent.
  /// `termsFirst`: of the pieces that one access has, neighbours differ in their terms, not in their rows.
  FragmentOperand(ThreadCode &b, SharedType type, Value pointer, Value stage, RegistersType result, unsigned dim,
                  bool alongTerms, bool termsFirst)
      : b(b), type(type), span(result.getLayout().getSpan(dim)), alongTerms(alongTerms) {
    Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
    Value lane = b.createOrFold<arith::RemUIOp>(thread, b.number32(lanes));
    Value inPiece = b.createOrFold<arith::RemUIOp>(lane, b.number32(pieceSize));
    Value number = b.createOrFold<arith::DivUIOp>(lane, b.number32(pieceSize));
    Value low = b.createOrFold<arith::RemUIOp>(number, b.number32(2)), high = b.createOrFold<arith::DivUIOp>(number, b.number32(2));
    Value term = b.mul(extended(termsFirst ? low : high), pieceSize);
    Value own = b.add(firstOfWarp(thread, result.getLayout(), dim), b.mul(extended(termsFirst ? high : low), span));
    // A lane names a row in memory of one piece.
    (alongTerms ? own : term) = b.add(alongTerms ? own : term, extended(inPiece));
    Value offset = alongTerms ? placeOf(own, term) : placeOf(term, own);
    base = b.at(pointer, b.add(b.mul(stage, type.getStageStride()), offset), type.getElementType());
  }

  /// The registers of `count` pieces, from group `group` of rows or columns on and from term `first` on.
  SmallVector<Value> load(int64_t group, int64_t first, int64_t count) {
    int64_t own = group * span;
    int64_t offset = alongTerms ? own * type.getRowStride() + first : first * type.getRowStride() + own;
    Type word = b.getI32Type();
    Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, word));
    auto layout = alongTerms ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    Value all = NVVM::LdMatrixOp::create(b, result, b.at(base, offset, type.getElementType()), uint32_t(count), layout,
                                         NVVM::LdStMatrixShapeAttr::get(b.getContext(), int(pieceSize), int(pieceSize)),
                                         NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> registers;
    for (int64_t i = 0; i < count; ++i)
      registers.push_back(asOperand(LLVM::ExtractValueOp::create(b, all, i)));
    return registers;
  }

private:
  Value extended(Value value) { return b.createOrFold<arith::ExtUIOp>(b.getI64Type(), value); }
  Value placeOf(Value row, Value column) { return b.add(b.mul(row, type.getRowStride()), column); }
  /// The first row or column of this thread's warp.
  Value firstOfWarp(Value thread, BlockedAttr layout, unsigned dim) {
    Value warp = b.createOrFold<arith::DivUIOp>(thread, b.number32(lanes));
    Value across = b.number32(layout.getThreads()[1] / layout.getWarp()[1]);
    Value place = dim == 0 ? b.createOrFold<arith::DivUIOp>(warp, across) : b.createOrFold<arith::RemUIOp>(warp, across);
    return b.mul(extended(place), pieceSize);
  }
  /// mma.sync takes pairs of f16 as vectors, of bf16 as words.
  Value asOperand(Value word) {
    if (type.getElementType().isBF16())
      return word;
    return LLVM::BitcastOp::create(b, VectorType::get(2, type.getElementType()), word);
  }

  ThreadCode &b;
  SharedType type;
  int64_t span;
  bool alongTerms;
  Value base;
};

struct LowerFragments : OpConversionPattern<MmaOp> {
  LowerFragments(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!op.getFragments())
      return failure();
    ThreadCode b(op.getLoc(), rewriter);
    RegistersType type = op.getType();
    SharedType lhsType = op.getLhsType();
    FragmentOperand lhs(b, lhsType, adaptor.getLhs().front(), adaptor.getLhsStage().front(), type, 0,
                        !op.getLhsTransposed(), /*termsFirst=*/false);
    FragmentOperand rhs(b, op.getRhs().getType(), adaptor.getRhs().front(), adaptor.getRhsStage().front(), type, 1,
                        op.getRhsTransposed(), /*termsFirst=*/true);
    int64_t rowGroups = type.getOwn(0), columnGroups = type.getOwn(1) / 2;
    SmallVector<Value> sums(adaptor.getAccumulator());
    for (int64_t first = 0; first < lhsType.getShape()[op.getLhsTransposed() ? 0 : 1]; first += terms) {
      SmallVector<SmallVector<Value>> columns;
      for (int64_t j = 0; j < columnGroups; j += 2) {
        int64_t groups = std::min<int64_t>(columnGroups - j, 2);
        SmallVector<Value> both = rhs.load(j, first, 2 * groups);
        for (int64_t i = 0; i < groups; ++i)
          columns.emplace_back(ArrayRef(both).slice(2 * i, 2));
      }
      for (int64_t i = 0; i < rowGroups; i += 2) {
        SmallVector<Value> rows = lhs.load(i, first, 4);
        for (int64_t j = 0; j < columnGroups; ++j)
          multiply(b, lhsType.getElementType(), rows, columns[j], sums, i * type.getOwn(1) + 2 * j, type.getOwn(1));
      }
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{sums});
    return success();
  }

private:
  /// One fragment: sums `at`, the next, and those of the next group of rows, `rowStride` further.
  static void multiply(ThreadCode &b, Type element, ArrayRef<Value> rows, ArrayRef<Value> columns, MutableArrayRef<Value> sums,
                       int64_t at, int64_t rowStride) {
    int64_t places[] = {at, at + 1, at + rowStride, at + rowStride + 1};
    SmallVector<Value> added;
    for (int64_t place : places)
      added.push_back(sums[place]);
    auto ptx = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
    Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
    int64_t shape[] = {2 * pieceSize, pieceSize, terms};
    std::array<NVVM::MMATypes, 2> types = {ptx, ptx};
    std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
    Value all = NVVM::MmaOp::create(b, result, rows, columns, added, shape, std::nullopt, std::nullopt, types, layouts);
    for (auto [i, place] : llvm::enumerate(places))
      sums[place] = LLVM::ExtractValueOp::create(b, all, int64_t(i));
  }
};
} // namespace

void mlir::tile::populateFragmentPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerFragments>(converter, patterns.getContext());
}
