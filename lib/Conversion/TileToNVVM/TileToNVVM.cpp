//===- TileToNVVM.cpp - tiles to a thread's values ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"

#include "ThreadCode.h"

#include "mlir/IR/Matchers.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTTILETONVVM
#include "ft/Conversion/TileToNVVM/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::tile;

namespace {
//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct LowerView : OpConversionPattern<ViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ViewOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts = {op.getPointer()};
    llvm::append_range(parts, op.getStrides());
    llvm::append_range(parts, op.getSizes());
    llvm::append_range(parts, op.getBegins());
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{parts});
    return success();
  }
};

struct LowerShared : OpConversionPattern<SharedOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SharedOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getPointer());
    return success();
  }
};

/// A tensor map is the address of its descriptor.
struct LowerTensorMap : OpConversionPattern<TensorMapOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TensorMapOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getDescriptor());
    return success();
  }
};

/// Where the adjacent elements of a thread lie that begin at its own row and column.
struct Piece {
  Value row, column; // of the matrix
  Value condition;   // null: always in it
};

/// The accesses of a tile, `width` columns each, row by row in the order of a thread's elements.
class Accesses {
public:
  Accesses(ThreadCode &b, const Matrix &matrix, RegistersType type, Value row, Value column, ArrayRef<bool> inBounds,
           int64_t width)
      : b(b), matrix(matrix), type(type) {
    for (unsigned d : {0u, 1u}) {
      Value begin = b.add(d == 0 ? row : column, b.beginAlong(type.getLayout(), d));
      Value size = inBounds[d] ? Value() : b.sizeAlong(matrix, d);
      for (int64_t i = 0; i < type.getOwn(d); i += d == 0 ? 1 : width) {
        Value index = b.add(begin, type.getLayout().getOffset(d, i));
        inside[d].push_back(size ? b.less(index, size) : Value());
        offsets[d].push_back(b.offsetAlong(matrix, d, index));
        places[d].push_back(b.placesAlong(matrix, d, index));
      }
    }
  }
  struct Access {
    size_t row, column; // of the thread's
    Value offset, condition;
  };
  /// Calls `visit(access)` for each; accesses of one place have one offset.
  void forEach(llvm::function_ref<void(const Access &)> visit) {
    for (size_t row = 0; row < offsets[0].size(); ++row)
      for (size_t column = 0; column < offsets[1].size(); ++column) {
        Value condition = b.both(b.both(inside[0][row], inside[1][column]), b.insideBorders(matrix, places[0][row], places[1][column]));
        visit({row, column, offsetOf(row, column), condition});
      }
  }
  /// Where it lies. In swizzled memory the thread's rows may lie in lines of the same number of eight: then only those of the first one are looked for.
  Value at(const Access &access) {
    if (!matrix.type.getSwizzled() || !b.keepsPieces(matrix, type.getLayout()))
      return b.at(matrix, access.offset);
    ofFirstRow.resize(offsets[1].size());
    Value &first = ofFirstRow[access.column];
    if (!first)
      first = b.at(matrix, offsetOf(0, access.column));
    Value behind = b.createOrFold<arith::SubIOp>(offsets[0][access.row], offsets[0].front());
    return access.row == 0 ? first : b.at(first, behind, type.getElementType());
  }

private:
  static bool isZero(Value value) { return matchPattern(value, m_Zero()); }
  Value offsetOf(size_t row, size_t column) { return isZero(offsets[1][column]) ? offsets[0][row] : b.add(offsets[0][row], offsets[1][column]); }

  ThreadCode &b;
  const Matrix &matrix;
  RegistersType type;
  SmallVector<Value> offsets[2], inside[2];
  SmallVector<BorderPlaces> places[2];
  SmallVector<Value> ofFirstRow; // by column
};

struct LowerLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    Matrix matrix = ThreadCode::matrixOf(op.getSource().getType(), adaptor.getSource());
    int64_t width = op.getWidth();
    SmallVector<Value> values;
    // What all columns share, as a value for each row, is loaded once.
    llvm::SmallDenseMap<std::pair<Value, Value>, SmallVector<Value>> loaded;
    Accesses accesses(b, matrix, op.getType(), op.getRow(), op.getColumn(), op.getInBounds(), width);
    accesses.forEach([&](const Accesses::Access &access) {
      SmallVector<Value> &known = loaded[{access.offset, access.condition}];
      if (known.empty())
        known = b.loadIf(access.condition, accesses.at(access), op.getType().getElementType(), width);
      llvm::append_range(values, known);
    });
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

struct LowerStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    Matrix matrix = ThreadCode::matrixOf(op.getTarget().getType(), adaptor.getTarget());
    int64_t width = op.getWidth();
    SmallVector<Value> values(adaptor.getValue());
    ArrayRef<Value> rest = values;
    Accesses accesses(b, matrix, op.getValue().getType(), op.getRow(), op.getColumn(), op.getInBounds(), width);
    accesses.forEach([&](const Accesses::Access &access) {
      b.storeIf(access.condition, rest.take_front(width), accesses.at(access));
      rest = rest.drop_front(width);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopy : OpConversionPattern<CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  /// Pieces that this thread moves along a dimension: where in the tile, where in the matrix.
  struct Along {
    SmallVector<Value> local, offsets, inside;
    SmallVector<BorderPlaces> places;
  };
  static Along piecesAlong(ThreadCode &b, CopyOp op, const Matrix &matrix, unsigned d) {
    BlockedAttr layout = op.getLayout();
    int64_t extent = op.getTarget().getType().getShape()[d], span = layout.getSpan(d);
    Value first = b.mul(b.threadAlong(layout, d), layout.getVector()[d]);
    Along along;
    for (int64_t at = 0; at < extent; at += span) {
      Value local = b.add(first, at);
      Value index = b.add(d == 0 ? op.getRow() : op.getColumn(), local);
      // The layout may reach beyond the tile.
      Value inTile = at + span <= extent ? Value() : b.less(local, b.number(extent));
      along.local.push_back(local);
      along.inside.push_back(inTile);
      along.inside.push_back(op.getInBounds()[d] ? Value() : b.less(index, b.sizeAlong(matrix, d)));
      along.offsets.push_back(b.offsetAlong(matrix, d, index));
      along.places.push_back(b.placesAlong(matrix, d, index));
    }
    return along;
  }

  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    Matrix matrix = ThreadCode::matrixOf(op.getSource().getType(), adaptor.getSource());
    SharedType target = op.getTarget().getType();
    Type element = target.getElementType();
    Value stage = b.at(adaptor.getTarget().front(), b.mul(op.getStage(), target.getStageStride()), element);
    Along rows = piecesAlong(b, op, matrix, 0), columns = piecesAlong(b, op, matrix, 1);
    struct Move {
      Value source, target, inTile, inMatrix;
      SmallVector<Value> values;
    };
    SmallVector<Move> moves;
    for (size_t i = 0; i < rows.local.size(); ++i)
      for (size_t j = 0; j < columns.local.size(); ++j) {
        moves.push_back({b.add(rows.offsets[i], columns.offsets[j]),
                         b.at(stage, b.add(b.mul(rows.local[i], target.getRowStride()), columns.local[j]), element),
                         b.both(rows.inside[2 * i], columns.inside[2 * j]),
                         b.both(b.both(rows.inside[2 * i + 1], columns.inside[2 * j + 1]),
                                b.insideBorders(matrix, rows.places[i], columns.places[j])),
                         {}});
      }
    int64_t width = op.getLayout().getVector()[1];
    if (op.getAsync()) {
      for (Move &move : moves)
        copyAsync(b, matrix.pointer, element, width, move.source, move.target, move.inTile, move.inMatrix);
    } else { // all loads are under way before the first store waits for its own
      for (Move &move : moves)
        move.values = b.loadIf(b.both(move.inTile, move.inMatrix), b.at(matrix, move.source), element, width);
      for (Move &move : moves)
        b.storeIf(move.inTile, move.values, move.target);
    }
    rewriter.eraseOp(op);
    return success();
  }

  static void copyAsync(ThreadCode &b, Value pointer, Type element, int64_t width, Value offset, Value target, Value inTile,
                        Value inMatrix) {
    OpBuilder::InsertionGuard guard(b);
    if (inTile)
      b.setInsertionPointToStart(scf::IfOp::create(b, inTile, /*withElseRegion=*/false).thenBlock());
    int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
    Value size;
    if (inMatrix) { // fewer bytes than the access: the rest becomes 0, and nothing beyond the matrix is touched
      offset = b.createOrFold<arith::SelectOp>(inMatrix, offset, b.number(0));
      size = b.createOrFold<arith::SelectOp>(inMatrix, b.number32(bytes), b.number32(0));
    }
    constexpr int64_t lineBytes = 16; // the one size that cp.async brings past the nearest cache
    auto cache = bytes == lineBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
    NVVM::CpAsyncOp::create(b, target, b.at(pointer, offset, element), uint32_t(bytes), cache, size);
  }
};

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

struct LowerCommit : OpConversionPattern<CommitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CommitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct LowerWait : OpConversionPattern<WaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WaitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getGroups());
    return success();
  }
};

struct LowerBarrier : OpConversionPattern<BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BarrierOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

struct LowerSplat : OpConversionPattern<SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SplatOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values(op.getType().getNumOwn(), op.getValue());
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

struct LowerNumbers : OpConversionPattern<NumbersOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(NumbersOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    ThreadCode b(op.getLoc(), rewriter);
    auto along = unsigned(op.getAlong());
    RegistersType type = op.getType();
    BlockedAttr layout = type.getLayout();
    Value begin = b.add(op.getFirst(), b.beginAlong(layout, along));
    SmallVector<Value> numbers, values;
    for (int64_t i = 0; i < type.getOwn(along); ++i)
      numbers.push_back(b.add(begin, layout.getOffset(along, i)));
    for (int64_t row = 0; row < type.getOwn(0); ++row)
      for (int64_t column = 0; column < type.getOwn(1); ++column)
        values.push_back(numbers[size_t(along == 0 ? row : column)]);
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

/// Elements of a thread lie row by row: those of tiles side by side, a row of each after the other.
struct LowerConcat : OpConversionPattern<ConcatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConcatOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto one = cast<RegistersType>(op.getInputs().front().getType());
    SmallVector<Value> values;
    for (int64_t row = 0; row < one.getOwn(0); ++row)
      for (ValueRange input : adaptor.getInputs())
        llvm::append_range(values, input.slice(size_t(row * one.getOwn(1)), size_t(one.getOwn(1))));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

struct LowerPart : OpConversionPattern<PartOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    int64_t columns = op.getType().getOwn(1), first = int64_t(op.getNumber()) * columns;
    SmallVector<Value> values;
    for (int64_t row = 0; row < op.getType().getOwn(0); ++row)
      llvm::append_range(values, adaptor.getInput().slice(size_t(row * op.getInput().getType().getOwn(1) + first), size_t(columns)));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

/// Of each row a thread's first element stands for all.
struct LowerRowValues : OpConversionPattern<RowValuesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RowValuesOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RegistersType type = op.getInput().getType();
    SmallVector<Value> values;
    for (int64_t row = 0; row < type.getOwn(0); ++row)
      values.push_back(adaptor.getInput()[size_t(row * type.getOwn(1))]);
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

struct LowerBroadcast : OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values;
    for (Value row : adaptor.getInput())
      values.append(size_t(op.getType().getOwn(1)), row);
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{values});
    return success();
  }
};

struct LowerMap : OpConversionPattern<MapOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MapOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    int64_t count = 0;
    for (Type type : llvm::concat<const Type>(op.getInputs().getTypes(), op.getResultTypes()))
      count = cast<RegistersType>(type).getNumOwn();
    SmallVector<SmallVector<Value>> results(op.getNumResults());
    // Of equal elements, as those of a row's sum, one is computed.
    llvm::DenseMap<Value, SmallVector<int64_t>> seen;
    bool isPure = isMemoryEffectFree(op);
    for (int64_t i = 0; i < count; ++i) {
      auto isSame = [&](int64_t other) {
        return llvm::all_of(adaptor.getInputs(), [&](ValueRange values) { return values[i] == values[other]; });
      };
      if (isPure && !adaptor.getInputs().empty()) {
        SmallVector<int64_t> &others = seen[adaptor.getInputs().front()[i]];
        const auto *same = llvm::find_if(others, isSame);
        if (same != others.end()) {
          for (SmallVector<Value> &all : results)
            all.push_back(Value(all[*same]));
          continue;
        }
        others.push_back(i);
      }
      IRMapping mapping;
      for (auto [argument, values] : llvm::zip_equal(body.getArguments(), adaptor.getInputs()))
        mapping.map(argument, values[i]);
      for (Operation &inner : body.without_terminator())
        rewriter.clone(inner, mapping);
      for (auto [all, value] : llvm::zip_equal(results, body.getTerminator()->getOperands()))
        all.push_back(mapping.lookupOrDefault(value));
    }
    ThreadCode b(op.getLoc(), rewriter);
    for (SmallVector<Value> &all : results)
      roundPairs(b, all);
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// Two adjacent numbers that are rounded to halves are so by one instruction.
  static void roundPairs(ThreadCode &b, MutableArrayRef<Value> values) {
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      auto low = values[i].getDefiningOp<arith::TruncFOp>(), high = values[i + 1].getDefiningOp<arith::TruncFOp>();
      if (!low || !high || low == high || !low.getIn().getType().isF32() || !low.getType().isIntOrFloat() || low.getType().getIntOrFloatBitWidth() != 16)
        continue;
      Value both = arith::TruncFOp::create(b, VectorType::get(2, low.getType()), b.pairOf(low.getIn(), high.getIn()));
      values[i] = LLVM::ExtractElementOp::create(b, both, b.number32(0));
      values[i + 1] = LLVM::ExtractElementOp::create(b, both, b.number32(1));
    }
  }
};
} // namespace

void mlir::ft::populateTileMemoryPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerView, LowerShared, LowerTensorMap>(converter, patterns.getContext());
}

LogicalResult mlir::ft::lowerTiles(Operation *root) {
  MLIRContext *context = root->getContext();
  lowerNests(root);
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RegistersType type, SmallVectorImpl<Type> &types) {
    types.append(type.getNumOwn(), type.getElementType());
    return success();
  });
  converter.addConversion([](RowVectorType type, SmallVectorImpl<Type> &types) {
    types.append(size_t(type.getNumOwn()), type.getElementType());
    return success();
  });
  converter.addConversion([](SharedType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), 3); });
  converter.addConversion([](TensorMapType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext()); });
  converter.addConversion([](ViewType type, SmallVectorImpl<Type> &types) {
    types.push_back(LLVM::LLVMPointerType::get(type.getContext(), unsigned(type.getSpace())));
    types.append(type.getNumDigits() + type.getNumDynamic() + type.getBorders().size(), IntegerType::get(type.getContext(), 64));
    return success();
  });
  RewritePatternSet patterns(context);
  patterns.add<LowerLoad, LowerStore, LowerCopy, LowerCommit, LowerWait, LowerBarrier, LowerSplat, LowerNumbers,
               LowerMap, LowerConcat, LowerPart, LowerRowValues, LowerBroadcast>(converter, context);
  populateTileMemoryPatterns(converter, patterns);
  populateProductPatterns(converter, patterns);
  populateFragmentPatterns(converter, patterns);
  populateGroupProductPatterns(converter, patterns);
  populateReductionPatterns(converter, patterns);
  populateRowPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.addIllegalDialect<TileDialect>();
  target.addLegalOp<GroupMmaOp>(); // an instruction
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(root, target, std::move(patterns));
}

namespace {
struct ConvertTileToNVVM : ft::impl::ConvertTileToNVVMBase<ConvertTileToNVVM> {
  using ConvertTileToNVVMBase::ConvertTileToNVVMBase;
  void runOnOperation() override {
    if (failed(ft::lowerTiles(getOperation())))
      signalPassFailure();
  }
};
} // namespace
