//===- LowerGroupProducts.cpp - fetches by TMA, products of warp groups ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp group multiplies 64 rows, all columns of a tile and 16 terms at a time
// (PTX ISA, wgmma.mma_async). Both operands lie in shared memory as TMA has
// written them, in slabs (`!tile.shared`), and descriptors say where. A tile whose
// terms are adjacent goes on by its terms inside of a slab, another one by rows.
// While sums are in flight they are structures, which nothing takes apart.
//
//===----------------------------------------------------------------------===//
#include "ThreadCode.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

namespace {
constexpr int64_t groupRows = ProductAttr::groupRows, groupTerms = ProductAttr::fragmentTerms, groupThreads = PipelineAttr::groupThreads;

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

static int64_t rowsOf(TensorMapType map) { return llvm::product_of(map.getBox().drop_back()); }

struct LowerStartFetch : OpConversionPattern<StartFetchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StartFetchOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    SharedType tile = op.getTile().getType();
    constexpr unsigned clusterSpace = 7; // PTX 8.0 copies to no other
    auto cluster = LLVM::LLVMPointerType::get(b.getContext(), clusterSpace);
    const int64_t columns = tile.getSlabColumns(), rows = rowsOf(op.getMap().getType());
    const bool isAlongRows = rows < tile.getShape()[0];
    const int64_t own = isAlongRows ? tile.getShape()[1] : tile.getShape()[1] / int64_t(op.getParts());
    const int64_t begin = int64_t(op.getPart()) * (isAlongRows ? rows * tile.getSwizzle() : own / columns * tile.getSlabBytes());
    for (int64_t slab = 0; slab * columns < own; ++slab) {
      SmallVector<Value> coordinates; // the fastest first
      for (Value coordinate : llvm::reverse(op.getCoordinates())) {
        Value first = coordinates.empty() ? b.add(coordinate, slab * columns) : coordinate;
        coordinates.push_back(b.createOrFold<arith::TruncIOp>(b.getI32Type(), first));
      }
      Value to = b.at(adaptor.getTile().front(), begin + slab * tile.getSlabBytes(), b.getI8Type());
      to = LLVM::AddrSpaceCastOp::create(b, cluster, to);
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(b, to, adaptor.getMap().front(), coordinates, op.getBarrier(), ValueRange(), Value(),
                                                             Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
                                                             NVVM::CTAGroupKindAttr(), Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// One operand, as descriptors of its parts.
class GroupOperand {
public:
  /// `alongTerms`: its terms are adjacent.
  GroupOperand(ThreadCode &b, SharedType type, Value pointer, bool alongTerms) : b(b), type(type), alongTerms(alongTerms) {
    address = LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
  }

  /// Bytes from the first row or column (which begins a slab where terms are not adjacent) to another one.
  int64_t bytesTo(int64_t begin) const {
    return alongTerms ? begin * type.getSwizzle() : begin / type.getSlabColumns() * type.getSlabBytes();
  }
  /// The matrix that begins at this term, `offset` (null: none) and `bytes` further.
  Value describe(Value offset, int64_t bytes, int64_t term) {
    const int64_t columns = type.getSlabColumns(), swizzle = type.getSwizzle();
    bytes += alongTerms ? term / columns * type.getSlabBytes() + term % columns * type.getElementBytes() : term * swizzle;
    Value start = offset ? arith::AddIOp::create(b, address, offset) : address;
    start = bytes ? arith::AddIOp::create(b, start, b.number32(bytes)) : start;
    constexpr int64_t addressBits = 0x3ffff, pieceBits = 4;
    Value low = arith::ShRUIOp::create(b, arith::AndIOp::create(b, start, b.number32(addressBits)), b.number32(pieceBits));
    return arith::OrIOp::create(b, arith::ExtUIOp::create(b, b.getI64Type(), low), b.number(getShape()));
  }

private:
  /// The descriptor but for the address (PTX ISA, wgmma, matrix descriptor): distances in pieces of 16 bytes between slabs and between eights of
  /// rows, and the swizzle. Where terms are adjacent a product stays inside of a slab.
  int64_t getShape() const {
    constexpr int64_t leadingAt = 16, strideAt = 32, modeAt = 62, rows = 8; // bits of the fields, rows of a piece (PTX ISA)
    const int64_t swizzle = type.getSwizzle();
    const uint64_t mode = swizzle == groupSwizzle ? 1 : swizzle == groupSwizzle / 2 ? 2 : 3;
    const uint64_t leading = uint64_t((alongTerms ? accessBytes : type.getSlabBytes()) / accessBytes), stride = uint64_t(rows * swizzle / accessBytes);
    return int64_t(mode << modeAt | stride << strideAt | leading << leadingAt);
  }

  ThreadCode &b;
  SharedType type;
  bool alongTerms;
  Value address;
};

/// Sums of a tile that one product writes, as `nvvm` has them.
static Type structOf(RegistersType sums) {
  return LLVM::LLVMStructType::getLiteral(sums.getContext(), SmallVector<Type>(size_t(sums.getOwn(1) * 2), sums.getElementType()));
}
static int64_t countProducts(RegistersType sums) { return sums.getOwn(0) / 2; }
/// Where in its structure a thread's element lies: two of a row, then those of the row 8 further, then the next eight columns.
static int64_t placeOf(int64_t row, int64_t column) { return column / 2 * 4 + row % 2 * 2 + column % 2; }

struct LowerStartMma : OpConversionPattern<StartMmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(StartMmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    RegistersType type = op.getType().getSums();
    SmallVector<Value> sums(adaptor.getAccumulator());
    if (isa<RegistersType>(op.getAccumulator().getType()))
      sums = gather(b, type, sums);
    if (op.getLhsType())
      multiplyShared(b, op, adaptor.getLhs().front(), adaptor.getRhs().front(), sums);
    else
      multiplyRegisters(b, op, adaptor.getLhs(), adaptor.getRhs().front(), sums);
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{sums});
    return success();
  }

private:
  static void multiplyShared(ThreadCode &b, StartMmaOp op, Value left, Value right, MutableArrayRef<Value> sums) {
    RegistersType type = op.getType().getSums();
    SharedType lhsType = op.getLhsType();
    GroupOperand lhs(b, lhsType, left, !op.getLhsTransposed());
    GroupOperand rhs(b, op.getRhs().getType(), right, op.getRhsTransposed());
    const int64_t terms = lhsType.getShape()[op.getLhsTransposed() ? 0 : 1], groups = type.getLayout().getNumThreads() / groupThreads;
    Value ofGroup = groups > 1 ? Value(arith::MulIOp::create(b, groupIndex(b), b.number32(lhs.bytesTo(groupRows)))) : Value();
    // Registers that were written as others are seen by the products.
    NVVM::WgmmaFenceAlignedOp::create(b);
    const bool fromZero = isZero(op.getAccumulator());
    for (int64_t term = 0; term < terms; term += groupTerms)
      for (auto [i, own] : llvm::enumerate(sums)) {
        if (fromZero && term == 0)
          own = LLVM::PoisonOp::create(b, own.getType());
        Value of = lhs.describe(ofGroup, lhs.bytesTo(int64_t(i) * groups * groupRows), term);
        own = multiply(b, op, own, of, rhs.describe(Value(), 0, term), type.getShape()[1], fromZero && term == 0);
      }
  }
  /// Of 16 terms a thread has those of its two rows and of two eights of columns, pairs of them.
  static void multiplyRegisters(ThreadCode &b, StartMmaOp op, ValueRange left, Value right, MutableArrayRef<Value> sums) {
    auto leftType = cast<RegistersType>(op.getLhs().getType());
    GroupOperand rhs(b, op.getRhs().getType(), right, op.getRhsTransposed());
    const int64_t own = leftType.getOwn(1);
    constexpr int64_t ofTerms = 4; // of 16 in a row, that a thread has
    SmallVector<SmallVector<Value>> words(sums.size());
    for (auto [i, list] : llvm::enumerate(words))
      for (int64_t column = 0; column < own; column += 2)
        for (int64_t row = 0; row < 2; ++row)
          list.push_back(pack(b, left[size_t((2 * int64_t(i) + row) * own + column)], left[size_t((2 * int64_t(i) + row) * own + column + 1)]));
    NVVM::WgmmaFenceAlignedOp::create(b);
    for (int64_t term = 0; term < leftType.getShape()[1]; term += groupTerms)
      for (auto [i, sum] : llvm::enumerate(sums)) {
        ArrayRef<Value> four = ArrayRef(words[i]).slice(size_t(term / groupTerms * ofTerms), size_t(ofTerms));
        sum = GroupMmaOp::create(b, sum.getType(), sum, four, rhs.describe(Value(), 0, term), uint64_t(op.getType().getSums().getShape()[1]),
                                 leftType.getElementType().isBF16(), !op.getRhsTransposed());
      }
  }
  /// Two halves as a word, the first one low. What has been rounded in pairs is such a word.
  static Value pack(ThreadCode &b, Value low, Value high) {
    auto first = low.getDefiningOp<LLVM::ExtractElementOp>(), second = high.getDefiningOp<LLVM::ExtractElementOp>();
    bool isPair = first && second && first.getVector() == second.getVector() && matchPattern(first.getPosition(), m_Zero()) &&
                  matchPattern(second.getPosition(), m_One()) && cast<VectorType>(first.getVector().getType()).getNumElements() == 2;
    return LLVM::BitcastOp::create(b, b.getI32Type(), isPair ? first.getVector() : b.pairOf(low, high));
  }
  /// The number of this thread's warp group, which the warp knows to be one for all of its lanes.
  static Value groupIndex(ThreadCode &b) {
    Value group = arith::DivUIOp::create(b, NVVM::ThreadIdXOp::create(b, b.getI32Type()), b.number32(groupThreads));
    return NVVM::ShflOp::create(b, b.getI32Type(), b.number32(-1), group, b.number32(0), b.number32(warpThreads - 1), NVVM::ShflKind::idx, UnitAttr());
  }
  static SmallVector<Value> gather(ThreadCode &b, RegistersType type, ArrayRef<Value> values) {
    SmallVector<Value> sums;
    for (int64_t i = 0; i < countProducts(type); ++i) {
      Value all = LLVM::PoisonOp::create(b, structOf(type));
      SmallVector<Value> inOrder(size_t(2 * type.getOwn(1)));
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t column = 0; column < type.getOwn(1); ++column)
          inOrder[size_t(placeOf(row, column))] = values[size_t((2 * i + row) * type.getOwn(1) + column)];
      for (auto [place, value] : llvm::enumerate(inOrder))
        all = LLVM::InsertValueOp::create(b, all, value, ArrayRef<int64_t>{int64_t(place)});
      sums.push_back(all);
    }
    return sums;
  }
  /// Whether sums are zeros yet, which the first product of a tile need not read.
  static bool isZero(Value sums) {
    auto splat = sums.getDefiningOp<SplatOp>();
    return splat && matchPattern(splat.getValue(), m_PosZeroFloat());
  }
  static Value multiply(ThreadCode &b, StartMmaOp op, Value sums, Value lhs, Value rhs, int64_t columns, bool fromZero) {
    MLIRContext *context = b.getContext();
    auto element = op.getLhsType().getElementType().isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
    auto types = NVVM::WGMMATypesAttr::get(context, element), sum = NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32);
    auto in = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
    auto layout = [&](bool alongTerms, bool isLhs) {
      return NVVM::MMALayoutAttr::get(context, alongTerms == isLhs ? NVVM::MMALayout::row : NVVM::MMALayout::col);
    };
    return NVVM::WgmmaMmaAsyncOp::create(b, sums.getType(), sums, lhs, rhs, NVVM::MMAShapeAttr::get(context, int(groupRows), int(columns), int(groupTerms)),
                                         types, types, sum, NVVM::WGMMAScaleOutAttr::get(context, fromZero ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one), in, in,
                                         layout(!op.getLhsTransposed(), /*isLhs=*/true), layout(op.getRhsTransposed(), /*isLhs=*/false),
                                         NVVM::MMAIntOverflowAttr());
  }
};

struct LowerAwait : OpConversionPattern<AwaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AwaitOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    RegistersType type = op.getType();
    NVVM::WgmmaWaitGroupSyncOp::create(b, op.getBehind());
    SmallVector<Value> values;
    for (int64_t row = 0; row < type.getOwn(0); ++row)
      for (int64_t column = 0; column < type.getOwn(1); ++column)
        values.push_back(LLVM::ExtractValueOp::create(b, adaptor.getSums()[size_t(row / 2)], ArrayRef<int64_t>{placeOf(row, column)}));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};
} // namespace

void mlir::tile::populateGroupProductPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  converter.addConversion([](InFlightType type, SmallVectorImpl<Type> &types) {
    types.append(size_t(countProducts(type.getSums())), structOf(type.getSums()));
    return success();
  });
  patterns.add<LowerStartFetch, LowerStartMma, LowerAwait>(converter, patterns.getContext());
}
