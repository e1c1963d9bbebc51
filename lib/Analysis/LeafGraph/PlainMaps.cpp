//===- PlainMaps.cpp - generics with the maps that leaves are made of -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows takes generics whose results are indexed by their parallel loops, each
// element once, and whose operands are read along linear maps. Others are brought into
// this form:
//
// - results over different loops are computed by a generic each;
// - a result that several iterations write, or that has places which none writes
//   (m + n, 2 m, (m, 3)), becomes a reduction over all loops at each of its places, with
//   the condition that the iteration is one of that place;
// - an operand read along a map that divides is read by index in the body.
//
// A loop reduces where the result does not have it, whatever its declared type.
//
//===----------------------------------------------------------------------===//

#include "ft/Analysis/LeafGraph/LeafGraph.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ft::leaf;

/// Whether `expr` is a loop forwards or backwards over a whole dimension of `size`;
/// the loop's number.
static std::optional<unsigned> wholeLoop(AffineExpr expr, ArrayRef<int64_t> ranges, int64_t size) {
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    AffineExpr dim = getAffineDimExpr(loop, expr.getContext());
    if (ranges[loop] == size && (expr == dim || expr == size - 1 - dim))
      return loop;
  }
  return std::nullopt;
}

/// Whether each place is written by exactly one setting of the loops that it depends
/// on; these loops in `loops`.
static bool isPlainOutput(AffineMap map, ArrayRef<int64_t> ranges, ArrayRef<int64_t> shape,
                          llvm::SmallBitVector &loops) {
  loops.resize(ranges.size());
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape)) {
    if (size == 1 && ranges.size() && isa<AffineConstantExpr>(expr))
      continue;
    std::optional<unsigned> loop = wholeLoop(expr, ranges, size);
    if (!loop || loops.test(*loop))
      return false;
    loops.set(*loop);
  }
  // A loop of one iteration is none.
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (ranges[loop] == 1)
      loops.set(loop);
  return true;
}

/// Whether no two iterations share a place: each loop is by itself in some result.
static bool isInjective(AffineMap map, ArrayRef<int64_t> ranges) {
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    AffineExpr dim = getAffineDimExpr(loop, map.getContext());
    auto alone = [&](AffineExpr expr) {
      return isa<AffineConstantExpr>(expr - dim) || isa<AffineConstantExpr>(expr + dim);
    };
    if (ranges[loop] != 1 && llvm::none_of(map.getResults(), alone))
      return false;
  }
  return true;
}

static bool isLinear(AffineMap map) {
  bool linear = true;
  for (AffineExpr result : map.getResults())
    result.walk([&](AffineExpr expr) {
      linear &= !llvm::is_contained(
          {AffineExprKind::Mod, AffineExprKind::FloorDiv, AffineExprKind::CeilDiv}, expr.getKind());
    });
  return linear;
}

namespace {
/// Results of a generic that one generic can compute.
struct Group {
  SmallVector<unsigned> results;
  llvm::SmallBitVector loops; // those that index the results
  bool plain = true;
};

/// The new form of some results of a generic.
class PlainGeneric {
public:
  PlainGeneric(IRRewriter &rewriter, linalg::GenericOp op, const Group &group)
      : rewriter(rewriter), op(op), group(group), ranges(op.getStaticLoopRanges()) {}

  FailureOr<linalg::GenericOp> make();

private:
  LogicalResult addOperands();
  void addPlaces();
  void keepRanges();
  void makeBody(OpBuilder &b, Location loc, ValueRange arguments);

  AffineMap shifted(AffineMap map) const {
    return AffineMap::get(loops(), 0, map.shiftDims(places).getResults(), map.getContext());
  }
  unsigned loops() const { return places + ranges.size(); }

  IRRewriter &rewriter;
  linalg::GenericOp op;
  const Group &group;
  SmallVector<int64_t> ranges;
  unsigned places = 0; // new loops, in front: the places of odd results
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;               // of inputs, then of outputs
  SmallVector<BlockArgument> inputArguments; // of the old body; null for one that is not read
  SmallVector<std::pair<BlockArgument, OpOperand *>> byIndex;
};
} // namespace

/// The operands that the yields of the group use; what other results held is an input.
LogicalResult PlainGeneric::addOperands() {
  Operation *yield = op.getBody()->getTerminator();
  llvm::SmallPtrSet<Value, 8> used;
  SmallVector<Value> work;
  for (unsigned result : group.results)
    work.push_back(yield->getOperand(result));
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!used.insert(value).second)
      continue;
    if (Operation *definition = value.getDefiningOp();
        definition && definition->getBlock() == op.getBody())
      definition->walk([&](Operation *nested) { llvm::append_range(work, nested->getOperands()); });
  }
  auto addInput = [&](OpOperand *operand, BlockArgument argument) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!isLinear(map)) {
      byIndex.push_back({argument, operand});
      return;
    }
    inputs.push_back(operand->get());
    inputArguments.push_back(argument);
    maps.push_back(shifted(map));
  };
  for (OpOperand *operand : op.getDpsInputOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(operand); used.contains(argument))
      addInput(operand, argument);
  for (OpOperand &operand : op.getDpsInitsMutable()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    unsigned result = argument.getArgNumber() - op.getNumDpsInputs();
    if (!used.contains(argument) || llvm::is_contained(group.results, result))
      continue;
    // Read before its only write, it is what it was.
    if (!isInjective(op.getMatchingIndexingMap(&operand), ranges))
      return op.emitError("result ")
             << group.results.front() << " uses what result " << result
             << " has accumulated so far: a reduction has no order; compute one after the other";
    addInput(&operand, argument);
  }
  return success();
}

/// The results' places become loops.
void PlainGeneric::addPlaces() {
  if (group.plain)
    return;
  places = cast<RankedTensorType>(op.getDpsInits()[group.results.front()].getType()).getRank();
}

/// A loop that no operand shows any more gets one that is not read.
void PlainGeneric::keepRanges() {
  llvm::SmallBitVector shown(loops());
  for (AffineMap map : maps)
    for (AffineExpr result : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        shown.set(dim.getPosition());
  if (shown.all())
    return;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  for (unsigned loop = places; loop < loops(); ++loop)
    if (!shown.test(loop)) {
      shape.push_back(ranges[loop - places]);
      exprs.push_back(rewriter.getAffineDimExpr(loop));
    }
  inputs.push_back(tensor::EmptyOp::create(rewriter, op.getLoc(), shape, rewriter.getI8Type()));
  inputArguments.push_back(nullptr);
  maps.insert(maps.begin() + inputs.size() - 1, AffineMap::get(loops(), 0, exprs, op.getContext()));
}

void PlainGeneric::makeBody(OpBuilder &b, Location loc, ValueRange arguments) {
  SmallVector<Value> indices;
  auto index = [&](unsigned loop) -> Value {
    if (indices.empty())
      for (unsigned i = 0; i < loops(); ++i)
        indices.push_back(linalg::IndexOp::create(b, loc, i));
    return indices[loop];
  };
  auto along = [&](AffineExpr expr) -> Value {
    SmallVector<Value> operands;
    for (unsigned i = 0; i < ranges.size(); ++i)
      operands.push_back(index(places + i));
    return affine::expandAffineExpr(b, loc, expr, operands, {});
  };
  IRMapping map;
  for (auto [argument, old] : llvm::zip(arguments, inputArguments))
    if (old)
      map.map(old, argument);
  for (auto [i, result] : llvm::enumerate(group.results))
    map.map(op.getRegionOutputArgs()[result], arguments[inputs.size() + i]);
  for (auto [argument, operand] : byIndex) {
    SmallVector<Value> at;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      at.push_back(along(expr));
    map.map(argument, tensor::ExtractOp::create(b, loc, operand->get(), at));
  }
  Block *body = op.getBody();
  // What other results alone need goes away with the canonicalization that follows; values that
  // have no mapping are among it.
  for (BlockArgument argument : body->getArguments())
    if (!map.contains(argument))
      map.map(argument, arith::ConstantOp::create(b, loc, b.getZeroAttr(argument.getType())));
  for (Operation &old : body->without_terminator()) {
    Operation *copy = b.clone(old, map);
    copy->walk([&](linalg::IndexOp nested) { nested.setDim(nested.getDim() + places); });
  }
  SmallVector<Value> yields;
  for (unsigned result : group.results)
    yields.push_back(map.lookupOrDefault(body->getTerminator()->getOperand(result)));
  if (places) {
    AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(group.results.front()));
    Value here;
    for (auto [i, expr] : llvm::enumerate(out.getResults())) {
      Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, along(expr), index(i));
      here = here ? Value(arith::AndIOp::create(b, loc, here, same)) : same;
    }
    for (auto [i, result] : llvm::enumerate(group.results))
      yields[i] = arith::SelectOp::create(b, loc, here, yields[i],
                                          map.lookup(op.getRegionOutputArgs()[result]));
  }
  linalg::YieldOp::create(b, loc, yields);
}

FailureOr<linalg::GenericOp> PlainGeneric::make() {
  rewriter.setInsertionPoint(op);
  addPlaces();
  if (failed(addOperands()))
    return failure();
  SmallVector<Type> types;
  for (unsigned result : group.results) {
    OpOperand *init = op.getDpsInitOperand(result);
    outputs.push_back(init->get());
    types.push_back(init->get().getType());
    maps.push_back(
        places ? AffineMap::getMultiDimIdentityMap(loops(), op.getContext()).getMajorSubMap(places)
               : op.getMatchingIndexingMap(init));
  }
  keepRanges();
  SmallVector<utils::IteratorType> kinds(places, utils::IteratorType::parallel);
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    kinds.push_back(!places && group.loops.test(loop) ? utils::IteratorType::parallel
                                                      : utils::IteratorType::reduction);
  return linalg::GenericOp::create(
      rewriter, op.getLoc(), types, inputs, outputs, maps, kinds,
      [&](OpBuilder &b, Location loc, ValueRange arguments) { makeBody(b, loc, arguments); });
}

LogicalResult mlir::ft::leaf::makeMapsPlain(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!op.hasPureTensorSemantics() || llvm::any_of(ranges, ShapedType::isDynamic))
    return success(); // the generator says what it takes
  SmallVector<Group> groups;
  for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
    Group group;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
    group.plain =
        isPlainOutput(map, ranges, cast<RankedTensorType>(init.getType()).getShape(), group.loops);
    group.results.push_back(i);
    auto same = llvm::find_if(groups, [&](const Group &other) {
      if (!group.plain || !other.plain)
        return group.plain == other.plain &&
               op.getMatchingIndexingMap(op.getDpsInitOperand(other.results[0])) == map;
      return group.loops == other.loops;
    });
    if (same != groups.end())
      same->results.push_back(i);
    else
      groups.push_back(std::move(group));
  }
  bool done = groups.size() == 1 && groups[0].plain;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    done &= ranges[loop] == 1 || !groups[0].plain ||
            (kind == utils::IteratorType::parallel) == groups[0].loops.test(loop);
  for (OpOperand *operand : op.getDpsInputOperands())
    done &= isLinear(op.getMatchingIndexingMap(operand));
  if (done)
    return success();

  SmallVector<Value> results(op->getNumResults());
  for (const Group &group : groups) {
    FailureOr<linalg::GenericOp> plain = PlainGeneric(rewriter, op, group).make();
    if (failed(plain))
      return failure();
    for (auto [from, to] : llvm::zip_equal(plain->getResults(), group.results))
      results[to] = from;
  }
  rewriter.replaceOp(op, results);
  return success();
}
