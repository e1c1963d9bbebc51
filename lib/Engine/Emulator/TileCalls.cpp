//===- TileCalls.cpp - operations on tiles as calls -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands around operations on tiles is compiled, as for any kernel; each of
// these operations becomes a call that its interpreter answers, with its scalar
// operands as words. The bodies of maps and reductions are compiled, too: a thread
// asks for its elements or rows one by one.
//
//===----------------------------------------------------------------------===//
#include "TileCalls.h"

#include "CallBuilder.h"

#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mlir::tile;
using namespace ::ft::emulate;

//===----------------------------------------------------------------------===//
// What an operation is
//===----------------------------------------------------------------------===//

static TileLayout describe(BlockedAttr layout) {
  TileLayout result;
  for (unsigned d : {0u, 1u}) {
    result.vector[d] = layout.getVector()[d];
    result.threads[d] = layout.getThreads()[d];
    result.warp[d] = layout.getWarp().empty() ? 0 : layout.getWarp()[d];
    result.repeat[d] = layout.getRepeats(d);
  }
  return result;
}

static TileStages describe(SharedType type, bool isTransposed = false, bool isUnsigned = false) {
  return {{type.getShape()[0], type.getShape()[1]}, type.getRowStride(), type.getStageStride(),
          describe(type.getElementType(), isUnsigned), isTransposed};
}

/// An operand of a product that is in shared memory or in registers.
static TileStages describeOperand(Type type, bool isTransposed, bool isUnsigned) {
  if (auto shared = dyn_cast<SharedType>(type))
    return describe(shared, isTransposed, isUnsigned);
  ArrayRef<int64_t> shape = shapeOf(type);
  return {{shape[0], shape[1]}, shape[1], shape[0] * shape[1], describe(elementOf(type), isUnsigned), isTransposed};
}

static void setTile(TileOperation &to, RegistersType type) {
  to.shape = {type.getShape()[0], type.getShape()[1]};
  to.element = describe(type.getElementType());
  to.made = to.shape;
  to.layout = describe(type.getLayout());
  to.findOwners();
}

static void setMatrix(TileOperation &to, ViewType type, ArrayRef<bool> inBounds, int64_t width) {
  for (unsigned d : {0u, 1u}) {
    to.digits[d].assign(type.getDigits(d).begin(), type.getDigits(d).end());
    to.inBounds[d] = inBounds[d];
  }
  for (BorderAttr border : type.getBorders())
    to.borders.push_back({{border.getSteps().begin(), border.getSteps().end()}, border.getSize()});
  to.isSwizzled = type.getSwizzled();
  to.width = width;
}

namespace {
/// The operands of an access, the matrix's parts before the place.
SmallVector<Value> matrixWords(ValueRange matrix, Value row, Value column) {
  SmallVector<Value> words(matrix);
  words.append({row, column});
  return words;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct CallLoad : CallPattern<LoadOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::load);
    setTile(described, op.getType());
    setMatrix(described, op.getSource().getType(), op.getInBounds(), int64_t(op.getWidth()));
    return replaceByTile(op, b.run(std::move(described), matrixWords(adaptor.getSource(), op.getRow(), op.getColumn())), b, rewriter);
  }
};

struct CallStore : CallPattern<StoreOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::store);
    setTile(described, op.getValue().getType());
    setMatrix(described, op.getTarget().getType(), op.getInBounds(), int64_t(op.getWidth()));
    SmallVector<Value> words(adaptor.getValue());
    llvm::append_range(words, matrixWords(adaptor.getTarget(), op.getRow(), op.getColumn()));
    b.run(std::move(described), words);
    rewriter.eraseOp(op);
    return success();
  }
};

struct CallCopy : CallPattern<CopyOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::copy);
    SharedType target = op.getTarget().getType();
    described.lhs = describe(target);
    described.shape = described.made = described.lhs.shape;
    described.element = described.lhs.element;
    described.layout = describe(op.getLayout());
    described.findOwners();
    setMatrix(described, op.getSource().getType(), op.getInBounds(), op.getLayout().getVector()[1]);
    described.isAsync = op.getAsync();
    SmallVector<Value> words = matrixWords(adaptor.getSource(), op.getRow(), op.getColumn());
    llvm::append_range(words, adaptor.getTarget());
    words.push_back(op.getStage());
    b.run(std::move(described), words);
    rewriter.eraseOp(op);
    return success();
  }
};

/// The order of copies and barriers is the machine's, whose rules the emulator has.
template <class From, class To>
struct CallOrder : CallPattern<From> {
  using CallPattern<From>::CallPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor, ConversionPatternRewriter &rewriter) const override {
    if constexpr (std::is_same_v<From, WaitOp>)
      rewriter.replaceOpWithNewOp<To>(op, op.getGroups());
    else
      rewriter.replaceOpWithNewOp<To>(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

struct CallSplat : CallPattern<SplatOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(SplatOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::splat);
    setTile(described, op.getType());
    return replaceByTile(op, b.run(std::move(described), {op.getValue()}), b, rewriter);
  }
};

struct CallNumbers : CallPattern<NumbersOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(NumbersOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::numbers);
    setTile(described, op.getType());
    return replaceByTile(op, b.run(std::move(described), {op.getFirst(), b.number(int64_t(op.getAlong()))}), b, rewriter);
  }
};

struct CallConcat : CallPattern<ConcatOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(ConcatOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::concat);
    setTile(described, op.getType());
    SmallVector<Value> inputs;
    for (ValueRange input : adaptor.getInputs())
      inputs.push_back(input.front());
    described.columns = op.getType().getShape()[1] / int64_t(inputs.size());
    return replaceByTile(op, b.run(std::move(described), inputs), b, rewriter);
  }
};

struct CallPart : CallPattern<PartOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(PartOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::part);
    setTile(described, op.getType());
    described.columns = op.getInput().getType().getShape()[1];
    return replaceByTile(op, b.run(std::move(described), {adaptor.getInput().front(), b.number(int64_t(op.getNumber()))}), b, rewriter);
  }
};

struct CallRowValues : CallPattern<RowValuesOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(RowValuesOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::rowValues);
    setTile(described, op.getInput().getType());
    described.made = {op.getType().getRows(), 1};
    return replaceByTile(op, b.run(std::move(described), adaptor.getInput().front()), b, rewriter);
  }
};

struct CallBroadcast : CallPattern<BroadcastOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::broadcast);
    setTile(described, op.getType());
    return replaceByTile(op, b.run(std::move(described), adaptor.getInput().front()), b, rewriter);
  }
};

struct CallFetch : CallPattern<FetchOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(FetchOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::fetch);
    described.element = describe(op.getType().getElementType());
    described.made = {op.getType().getShape()[0], op.getType().getShape()[1]};
    described.parts = op.getParts();
    described.conditions = int64_t(op.getConditions().size());
    SmallVector<Value> words;
    for (Value condition : op.getConditions())
      words.push_back(arith::ExtUIOp::create(b, b.getI64Type(), condition));
    for (auto [part, map] : llvm::enumerate(adaptor.getMaps())) {
      words.push_back(LLVM::PtrToIntOp::create(b, b.getI64Type(), map.front()));
      llvm::append_range(words, op.getCoordinatesOf(unsigned(part)));
    }
    return replaceByTile(op, b.run(std::move(described), words), b, rewriter);
  }
};

/// Without roles all threads have been at the barrier.
struct DropJoin : CallPattern<JoinOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(JoinOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct CallMma : CallPattern<MmaOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::mma);
    setTile(described, op.getType());
    described.lhs = describeOperand(op.getLhs().getType(), op.getLhsTransposed(), op.getLhsUnsigned());
    described.rhs = describe(op.getRhs().getType(), op.getRhsTransposed(), op.getRhsUnsigned());
    described.ofFetched = op.getRhs().getType().getSwizzle() != 0;
    described.ofOthers = !op.getLhsType();
    Value own = calls.own.lookup(op);
    return replaceByTile(op, b.run(std::move(described), {adaptor.getAccumulator().front(), adaptor.getLhs().front(), op.getLhsStage(),
                                              adaptor.getRhs().front(), op.getRhsStage(), own ? own : b.number(0)}), b, rewriter);
  }
};

/// The body of an operation with its arguments replaced; what it yields.
SmallVector<Value> cloneBody(Block &body, ValueRange arguments, CallBuilder &b) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator())
    b.clone(inner, mapping);
  SmallVector<Value> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

struct CallMap : CallPattern<MapOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(MapOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    Block &body = op.getBody().front();
    TileOperation described = startOperation(op, TileKind::map);
    SmallVector<Value> inputs;
    for (ValueRange input : adaptor.getInputs())
      inputs.push_back(input.front());
    setTile(described, cast<RegistersType>(op->getNumResults() ? op->getResultTypes().front() : op.getInputs().front().getType()));
    Value first = b.run(std::move(described), inputs), self = b.lastOperation();
    {
      OpBuilder::InsertionGuard guard(b);
      Value number = b.loop(b.call("ft_emulate_tile_count", b.getI64Type(), {self})).getInductionVar();
      Value position = b.call("ft_emulate_tile_place", b.getI64Type(), {self, number});
      SmallVector<Value> elements;
      for (auto [input, argument] : llvm::zip_equal(inputs, body.getArguments()))
        elements.push_back(
            b.fromWord(b.call("ft_emulate_tile_get", b.getI64Type(), {self, input, position}), argument.getType()));
      for (auto [i, value] : llvm::enumerate(cloneBody(body, elements, b)))
        b.call("ft_emulate_tile_put", Type(),
               {b.createOrFold<arith::AddIOp>(first, b.number(int64_t(i))), position, b.toWord(value)});
    }
    replace(op, first, b);
    SmallVector<Value> results;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      results.push_back(b.createOrFold<arith::AddIOp>(first, b.number(i)));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct CallReduce : CallPattern<ReduceOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    Block &body = op.getBody().front();
    TileOperation described = startOperation(op, TileKind::reduce);
    setTile(described, op.getType());
    described.columns = int64_t(op.getColumns());
    Value input = adaptor.getInput().front(), neutral = adaptor.getNeutral().front();
    Value tile = b.run(std::move(described), {input, neutral}), self = b.lastOperation();
    {
      OpBuilder::InsertionGuard guard(b);
      Value number = b.loop(b.call("ft_emulate_tile_count", b.getI64Type(), {self})).getInductionVar();
      Value row = b.call("ft_emulate_tile_place", b.getI64Type(), {self, number});
      Value combined;
      {
        OpBuilder::InsertionGuard inner(b);
        scf::ForOp terms = b.loop(b.number(int64_t(op.getColumns())), neutral);
        Value position = b.call("ft_emulate_tile_term", b.getI64Type(), {self, row, terms.getInductionVar()});
        Value term = b.fromWord(b.call("ft_emulate_tile_get", b.getI64Type(), {self, input, position}), neutral.getType());
        scf::YieldOp::create(b, cloneBody(body, {terms.getRegionIterArg(0), term}, b));
        combined = terms.getResult(0);
      }
      b.call("ft_emulate_tile_put_row", Type(), {self, tile, row, b.toWord(combined)});
    }
    b.call("ft_emulate_tile_join", Type(), {self});
    return replaceByTile(op, tile, b, rewriter);
  }
};
} // namespace

/// Whether all uses of a tile are in the block that makes it, and none hands it on.
static bool isLocal(Value tile, Block *block) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    return isa_and_nonnull<TileDialect>(user->getDialect()) && block->findAncestorOpInBlock(*user);
  });
}

/// Whether the tile that is added to is the loop's, and after its first iteration the operation's own: nothing else can have
/// it then. Its elements are replaced, which saves a tile for each step. Null: it never is.
static Value ownAccumulator(MmaOp op) {
  auto carried = dyn_cast<BlockArgument>(op.getAccumulator());
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!carried || !loop || carried.getOwner() != loop.getBody() || carried.getArgNumber() == 0 || !carried.hasOneUse() ||
      !op->hasOneUse() || loop.getYieldedValues()[carried.getArgNumber() - 1] != op.getResult())
    return {};
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value later = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
  return arith::ExtUIOp::create(b, b.getI64Type(), later);
}

static void addConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RegistersType type) -> Type { return IntegerType::get(type.getContext(), 64); });
  converter.addConversion([](RowVectorType type) -> Type { return IntegerType::get(type.getContext(), 64); });
  converter.addConversion([](SharedType type) -> Type { // a swizzled one has been fetched, and is a number as those in registers are
    return type.getSwizzle() ? Type(IntegerType::get(type.getContext(), 64)) : LLVM::LLVMPointerType::get(type.getContext(), 3);
  });
  converter.addConversion([](TensorMapType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext()); });
  converter.addConversion([](ViewType type, SmallVectorImpl<Type> &types) {
    types.push_back(LLVM::LLVMPointerType::get(type.getContext(), unsigned(type.getSpace())));
    types.append(type.getNumDigits() + type.getNumDynamic() + type.getBorders().size(), IntegerType::get(type.getContext(), 64));
    return success();
  });
}

auto ::ft::emulate::callTiles(Operation *module, std::vector<TileOperation> &operations) -> LogicalResult {
  MLIRContext *context = module->getContext();
  Calls calls(operations, module);
  callNests(module, calls);
  inlineSweeps(module);
  module->walk([&](Operation *op) {
    if (isa_and_nonnull<TileDialect>(op->getDialect()))
      for (Value result : op->getResults())
        if ((isa<RegistersType, RowVectorType, RowsType, PointsType>(result.getType()) || isa<FetchOp>(op)) && isLocal(result, op->getBlock()))
          calls.local.insert(result);
    if (auto product = dyn_cast<MmaOp>(op))
      calls.own[op] = ownAccumulator(product);
  });
  TypeConverter converter;
  addConversions(converter);
  RewritePatternSet patterns(context);
  populateRowCalls(converter, patterns, calls);
  mlir::ft::populateTileMemoryPatterns(converter, patterns);
  module->walk([](LLVM::LLVMFuncOp kernel) { kernel->removeAttr(tile::names::pipeline); }); // whose roles are not interpreted
  patterns.add<CallLoad, CallStore, CallCopy, CallFetch, DropJoin, CallOrder<CommitOp, NVVM::CpAsyncCommitGroupOp>,
               CallOrder<WaitOp, NVVM::CpAsyncWaitGroupOp>, CallOrder<BarrierOp, NVVM::Barrier0Op>, CallSplat, CallNumbers, CallConcat, CallPart, CallRowValues, CallBroadcast, CallMma, CallMap,
               CallReduce>(converter, context, calls);
  ConversionTarget target(*context);
  target.addIllegalDialect<TileDialect>();
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}
