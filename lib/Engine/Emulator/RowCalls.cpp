//===- RowCalls.cpp - operations on rows as calls -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane asks for the elements that it has of its rows one by one, and computes
// the body of an operation for each.
//
//===----------------------------------------------------------------------===//
#include "CallBuilder.h"

#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tile;
using namespace ::ft::emulate;

namespace {
void setPlace(TileOperation &to, RowPlaceAttr place) {
  to.place = {place.getOffset(), place.getStep(), {place.getDigits().begin(), place.getDigits().end()}};
  to.element = describe(place.getElement());
}

void setRows(TileOperation &to, PointsType points, bool isSliced) {
  RowAttr layout = points.getLayout();
  to.rows = {layout.getThreads(), layout.getLanes(), layout.getWidth(), layout.getRows(), layout.getLine(), points.getLength(),
             {points.getDigits().begin(), points.getDigits().end()}, isSliced};
  to.shape = to.made = {layout.getRowsAtOnce(), isSliced ? 1 : points.getLength()};
}

/// What follows stands in a loop over the elements that a lane has, each at `position`.
struct Lane {
  Lane(CallBuilder &b, Value points) : b(b), self(b.lastOperation()), points(points) {
    number = b.loop(b.call("ft_emulate_rows_count", b.getI64Type(), {self})).getInductionVar();
    position = b.call("ft_emulate_rows_place", b.getI64Type(), {self, points, number});
    Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, position, b.number(0));
    b.setInsertionPointToStart(scf::IfOp::create(b, holds, /*withElseRegion=*/false).thenBlock());
  }
  Value index(int64_t which) {
    return b.call("ft_emulate_rows_index", b.getI64Type(), {self, points, position, b.number(which)});
  }
  /// An element of a tile there; `length` elements of rows are at the operation's positions.
  Value get(Value tile, RowsType type, int64_t length) {
    Value place = type.isSliced() && length > 1 ? arith::DivSIOp::create(b, position, b.number(length)).getResult() : position;
    return b.fromWord(b.call("ft_emulate_tile_get", b.getI64Type(), {self, tile, place}), type.getElementType());
  }
  void put(Value tile, Value place, Value value) { b.call("ft_emulate_tile_put", Type(), {tile, place, b.toWord(value)}); }
  /// The body with its arguments replaced; what it yields.
  SmallVector<Value> compute(Block &body, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (Operation &inner : body.without_terminator()) {
      if (auto which = dyn_cast<IndexOp>(&inner))
        mapping.map(which.getResult(), index(int64_t(which.getNumber())));
      else
        b.clone(inner, mapping);
    }
    return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  CallBuilder &b;
  OpBuilder::InsertionGuard guard{b};
  Value self, points, number, position;
};

SmallVector<Value> tilesOf(ArrayRef<ValueRange> operands) {
  return llvm::map_to_vector(operands, [](ValueRange values) { return Value(values.front()); });
}

SmallVector<Value> numbered(CallBuilder &b, Value first, unsigned count) {
  SmallVector<Value> numbers;
  for (unsigned i = 0; i < count; ++i)
    numbers.push_back(b.createOrFold<arith::AddIOp>(first, b.number(i)));
  return numbers;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

struct CallLanes : CallPattern<LanesOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(LanesOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::lanes);
    setRows(described, op.getType(), /*isSliced=*/false);
    described.made = {1, 1};
    return replaceByTile(op, b.run(std::move(described), {}), b, rewriter);
  }
};

struct CallPoints : CallPattern<PointsOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(PointsOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::points);
    setRows(described, op.getType(), /*isSliced=*/false);
    described.made = {1, 1};
    SmallVector<Value> words = {op.getFirst(), op.getTotal()};
    if (op.getLine()) {
      setPlace(described, *op.getPlace());
      words.append({op.getLine(), op.getStride() ? op.getStride() : b.number(0)});
    }
    return replaceByTile(op, b.run(std::move(described), words), b, rewriter);
  }
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct CallLoadRows : CallPattern<LoadRowsOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(LoadRowsOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::loadRows);
    setRows(described, op.getPoints().getType(), op.getType().isSliced());
    setPlace(described, op.getPlace());
    described.width = int64_t(op.getWidth());
    Value points = adaptor.getPoints().front();
    Value tile = b.run(std::move(described), {points});
    {
      Lane lane(b, points);
      Type type = op.getType().getElementType();
      if (op.getValue()) {
        auto branch = scf::IfOp::create(b, op.getIfValue(), /*withElseRegion=*/true);
        b.setInsertionPointToStart(branch.thenBlock());
        Value value = op.getValue();
        if (op.getStep())
          value = arith::AddIOp::create(b, value, arith::MulIOp::create(b, lane.index(0), op.getStep()));
        if (value.getType() != type)
          value = arith::TruncIOp::create(b, type, value);
        lane.put(tile, lane.position, value);
        b.setInsertionPointToStart(branch.elseBlock());
      }
      Value begin = op.getBegin().empty() ? b.number(op.getPlace().getOffset()) : lane.compute(op.getBegin().front(), {}).front();
      b.callWithWords("ft_emulate_rows_fetch", lane.self,
                      {points, tile, lane.position, begin, op.getPointer(), op.getStride() ? op.getStride() : b.number(0)});
    }
    return replaceByTile(op, tile, b, rewriter);
  }
};

struct CallStoreRows : CallPattern<StoreRowsOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(StoreRowsOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::storeRows);
    setRows(described, op.getPoints().getType(), op.getRows().getType().isSliced());
    setPlace(described, op.getPlace());
    described.width = int64_t(op.getWidth());
    b.run(std::move(described), {adaptor.getRows().front(), adaptor.getPoints().front(), op.getPointer(),
                                 op.getStride() ? op.getStride() : b.number(0)});
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

struct CallMapRows : CallPattern<MapRowsOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(MapRowsOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::mapRows);
    bool isSliced = llvm::all_of(op.getResultTypes(), [](Type type) { return cast<RowsType>(type).isSliced(); });
    setRows(described, op.getPoints().getType(), isSliced);
    int64_t length = described.shape[1];
    SmallVector<Value> inputs = tilesOf(adaptor.getInputs());
    Value first = b.run(std::move(described), inputs);
    SmallVector<Value> results = numbered(b, first, op->getNumResults());
    {
      Lane lane(b, adaptor.getPoints().front());
      SmallVector<Value> elements;
      for (auto [tile, input] : llvm::zip_equal(inputs, op.getInputs()))
        elements.push_back(lane.get(tile, cast<RowsType>(input.getType()), length));
      for (auto [tile, value] : llvm::zip_equal(results, lane.compute(op.getBody().front(), elements)))
        lane.put(tile, lane.position, value);
    }
    replace(op, first, b);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct CallAccumulate : CallPattern<AccumulateOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(AccumulateOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::accumulate);
    setRows(described, op.getPoints().getType(), /*isSliced=*/false);
    int64_t length = described.shape[1];
    described.made = {described.shape[0], described.rows.lanes * described.rows.width};
    SmallVector<Value> inputs = tilesOf(adaptor.getInputs());
    Value first = b.run(std::move(described), op.getNeutral());
    SmallVector<Value> results = numbered(b, first, op->getNumResults());
    {
      Lane lane(b, adaptor.getPoints().front());
      SmallVector<Value> elements;
      for (auto [tile, input] : llvm::zip_equal(inputs, op.getInputs()))
        elements.push_back(lane.get(tile, cast<RowsType>(input.getType()), length));
      Value slot = b.call("ft_emulate_rows_slot", b.getI64Type(), {lane.self, lane.number});
      for (auto [tile, neutral] : llvm::zip_equal(results, op.getNeutral()))
        elements.push_back(b.fromWord(b.call("ft_emulate_tile_get", b.getI64Type(), {lane.self, tile, slot}), neutral.getType()));
      for (auto [tile, value] : llvm::zip_equal(results, lane.compute(op.getBody().front(), elements)))
        lane.put(tile, slot, value);
    }
    replace(op, first, b);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct CallReduceRows : CallPattern<ReduceRowsOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(ReduceRowsOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::reduceRows);
    setRows(described, op.getPoints().getType(), /*isSliced=*/true);
    described.shape = {described.made[0], op.getInput().getType().getLength()};
    described.columns = described.shape[1];
    Value input = adaptor.getInput().front(), terms = b.number(described.columns - 1);
    Value tile = b.run(std::move(described), {input}), self = b.lastOperation();
    {
      OpBuilder::InsertionGuard guard(b);
      Value row = b.call("ft_emulate_tile_place", b.getI64Type(),
                         {self, b.loop(b.call("ft_emulate_tile_count", b.getI64Type(), {self})).getInductionVar()});
      auto term = [&](Value number) {
        Value position = b.call("ft_emulate_tile_term", b.getI64Type(), {self, row, number});
        return b.fromWord(b.call("ft_emulate_tile_get", b.getI64Type(), {self, input, position}), op.getType().getElementType());
      };
      Value combined;
      {
        Value first = term(b.number(0));
        OpBuilder::InsertionGuard inner(b);
        scf::ForOp loop = b.loop(terms, first);
        IRMapping mapping;
        Value next = arith::AddIOp::create(b, loop.getInductionVar(), b.number(1));
        mapping.map(op.getBody().getArguments(), ValueRange{loop.getRegionIterArg(0), term(next)});
        for (Operation &inside : op.getBody().front().without_terminator())
          b.clone(inside, mapping);
        scf::YieldOp::create(b, ValueRange{mapping.lookupOrDefault(op.getBody().front().getTerminator()->getOperand(0))});
        combined = loop.getResult(0);
      }
      b.call("ft_emulate_tile_put_row", Type(), {self, tile, row, b.toWord(combined)});
    }
    b.call("ft_emulate_tile_join", Type(), {self});
    return replaceByTile(op, tile, b, rewriter);
  }
};

struct CallSpread : CallPattern<SpreadOp> {
  using CallPattern::CallPattern;
  LogicalResult matchAndRewrite(SpreadOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    CallBuilder b(calls, op.getLoc(), rewriter);
    TileOperation described = startOperation(op, TileKind::spread);
    RowAttr row = op.getType().getRow();
    setRows(described, PointsType::get(op.getContext(), {}, row.getWidth(), row, false, false), /*isSliced=*/true);
    return replaceByTile(op, b.run(std::move(described), {adaptor.getInput().front()}), b, rewriter);
  }
};
} // namespace

void ::ft::emulate::populateRowCalls(TypeConverter &converter, RewritePatternSet &patterns, Calls &calls) {
  auto toNumber = [](Type type) -> Type { return IntegerType::get(type.getContext(), 64); };
  converter.addConversion([=](RowsType type) { return toNumber(type); });
  converter.addConversion([=](PointsType type) { return toNumber(type); });
  patterns.add<CallLanes, CallPoints, CallLoadRows, CallStoreRows, CallMapRows, CallAccumulate, CallReduceRows, CallSpread>(
      converter, patterns.getContext(), calls);
}

void ::ft::emulate::inlineSweeps(Operation *module) {
  SmallVector<SweepOp> sweeps;
  module->walk([&](SweepOp sweep) { sweeps.push_back(sweep); });
  for (SweepOp sweep : sweeps) {
    Block &body = sweep.getBody().front();
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), sweep.getInputs()))
      argument.replaceAllUsesWith(input);
    Operation *end = body.getTerminator();
    sweep->getBlock()->getOperations().splice(sweep->getIterator(), body.getOperations(), body.begin(), end->getIterator());
    sweep->replaceAllUsesWith(end->getOperands());
    sweep->erase();
  }
}
