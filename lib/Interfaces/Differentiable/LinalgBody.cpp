//===- LinalgBody.cpp - bodies of linalg, differentiated ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LinalgBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

static bool dependsOnAny(Value value, llvm::function_ref<bool(BlockArgument)> isSought, Block *body) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == body && isSought(argument);
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == body &&
         llvm::any_of(op->getOperands(), [&](Value v) { return dependsOnAny(v, isSought, body); });
}

/// `select(t > acc, t, acc)` and its like.
static bool isSelectedExtremum(arith::SelectOp select, Value acc) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  Value term = select.getTrueValue() == acc ? select.getFalseValue() : select.getTrueValue();
  auto is = [](Value a, Value b, Value x, Value y) { return (a == x && b == y) || (a == y && b == x); };
  if (!is(select.getTrueValue(), select.getFalseValue(), acc, term) ||
      !is(compare.getLhs(), compare.getRhs(), acc, term))
    return false;
  using P = arith::CmpFPredicate;
  return llvm::is_contained({P::OGT, P::OGE, P::OLT, P::OLE, P::UGT, P::UGE, P::ULT, P::ULE}, compare.getPredicate());
}

std::optional<Join> ft::derivatives::findJoin(linalg::LinalgOp op, unsigned output) {
  Block *body = op.getBlock();
  BlockArgument acc = op.getMatchingBlockArgument(op.getDpsInitOperand(output));
  Operation *made = body->getTerminator()->getOperand(output).getDefiningOp();
  if (!made || made->getBlock() != body)
    return std::nullopt;
  auto isOutput = [&](BlockArgument argument) { return argument.getArgNumber() >= op.getNumDpsInputs(); };
  auto join = [&](Join::Kind kind, Value a, Value b, bool isNegative = false) -> std::optional<Join> {
    Value term = a == acc ? b : a;
    if ((a != acc && b != acc) || dependsOnAny(term, isOutput, body))
      return std::nullopt;
    return Join{kind, term, isNegative};
  };
  if (auto select = dyn_cast<arith::SelectOp>(made); select && isSelectedExtremum(select, acc))
    return join(Join::Extremum, select.getTrueValue(), select.getFalseValue());
  if (made->getNumOperands() != 2)
    return std::nullopt;
  Value a = made->getOperand(0), b = made->getOperand(1);
  if (isa<arith::AddFOp>(made))
    return join(Join::Sum, a, b);
  if (isa<arith::SubFOp>(made) && a == acc)
    return join(Join::Sum, a, b, true);
  if (isa<arith::MulFOp>(made))
    return join(Join::Product, a, b);
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(made))
    return join(Join::Extremum, a, b);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

GenericBody::GenericBody(linalg::LinalgOp op, Writer &outside, PrimalReader primal)
    : op(op), outside(outside), primal(primal), block(new Block()), b(op.getContext()) {
  b.setInsertionPointToEnd(block);
}

GenericBody::~GenericBody() {
  if (!block)
    return;
  block->dropAllReferences();
  delete block;
}

bool GenericBody::dependsOn(Value value, BlockArgument argument) {
  return dependsOnAny(value, [&](BlockArgument other) { return other == argument; }, op.getBlock());
}

Value GenericBody::addInput(Value tensor, AffineMap map) {
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input == tensor && maps[i] == map)
      return block->getArgument(i);
  inputs.push_back(tensor);
  maps.push_back(map);
  Type type = tensor.getType();
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    type = shaped.getElementType();
  return block->addArgument(type, outside.loc);
}

Value GenericBody::read(Value value) {
  if (Value found = known.lookup(value))
    return found;
  Value made;
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == op.getBlock()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    made = addInput(primal(operand.get()), op.getMatchingIndexingMap(&operand));
  } else if (Operation *defining = value.getDefiningOp(); defining && defining->getBlock() == op.getBlock()) {
    IRMapping mapping;
    for (Value operand : defining->getOperands())
      mapping.map(operand, read(operand));
    Operation *copy = b.clone(*defining, mapping);
    for (auto [old, result] : llvm::zip_equal(defining->getResults(), copy->getResults()))
      known[old] = result;
    return known[value];
  } else {
    made = primal(value);
  }
  return known[value] = made;
}

FailureOr<Value> GenericBody::reverse(Value term, Value seed, BlockArgument argument) {
  DenseMap<Value, Value> cotangents;
  cotangents[term] = seed;
  for (Operation &inner : llvm::reverse(op.getBlock()->without_terminator())) {
    SmallVector<Value> own = llvm::map_to_vector(inner.getResults(), [&](Value r) { return cotangents.lookup(r); });
    if (llvm::none_of(own, [](Value v) { return v != nullptr; }))
      continue;
    SmallVector<bool> wanted =
        llvm::map_to_vector(inner.getOperands(), [&](Value v) { return dependsOn(v, argument); });
    if (llvm::none_of(wanted, [](bool is) { return is; }))
      continue;
    auto model = dyn_cast<DifferentiableOpInterface>(inner);
    if (!model)
      return inner.emitOpError("has no derivative");
    SmallVector<Value> parts;
    if (failed(model.buildVjp(b, [&](Value v) { return read(v); }, own, wanted, parts)))
      return failure();
    for (auto [operand, part] : llvm::zip_equal(inner.getOperands(), parts))
      if (part) {
        Value &sum = cotangents[operand];
        sum = buildSum(b, outside.loc, sum, part);
      }
  }
  return cotangents.lookup(argument);
}

FailureOr<Value> GenericBody::forward(Value term, const DenseMap<Value, Value> &seeds) {
  DenseMap<Value, Value> tangents(seeds);
  for (Operation &inner : op.getBlock()->without_terminator()) {
    SmallVector<Value> own = llvm::map_to_vector(inner.getOperands(), [&](Value v) { return tangents.lookup(v); });
    if (llvm::none_of(own, [](Value v) { return v != nullptr; }))
      continue;
    auto model = dyn_cast<DifferentiableOpInterface>(inner);
    if (!model)
      return inner.emitOpError("has no derivative");
    SmallVector<Value> results;
    if (failed(model.buildJvp(b, [&](Value v) { return read(v); }, own, results)))
      return failure();
    for (auto [result, tangent] : llvm::zip_equal(inner.getResults(), results))
      if (tangent)
        tangents[result] = tangent;
  }
  return tangents.lookup(term);
}

/// Dimensions that stand alone in a map: those that give an operand's extents to the space.
static void markCovered(AffineMap map, SmallVectorImpl<bool> &covered) {
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      covered[dim.getPosition()] = true;
}

Value GenericBody::finish(Value value, Type type, AffineMap map, Value init, bool isProduct) {
  unsigned numDims = map.getNumDims();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<bool> covered(numDims, false);
  for (AffineMap &known : maps) {
    known = AffineMap::get(numDims, 0, known.getResults(), b.getContext());
    markCovered(known, covered);
  }
  markCovered(map, covered);
  // A dimension that no operand has: one of the same extents that is not read.
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> missing;
  for (unsigned d = 0; d < numDims; ++d)
    if (!covered[d]) {
      missing.push_back(b.getAffineDimExpr(d));
      shape.push_back(extents[d]);
    }
  if (!missing.empty())
    addInput(tensor::EmptyOp::create(outside.b, outside.loc, shape, tensor.getElementType()),
             AffineMap::get(numDims, 0, missing, b.getContext()));
  SmallVector<bool> parallel(numDims, false);
  markCovered(map, parallel);
  SmallVector<utils::IteratorType> iterators;
  for (bool is : parallel)
    iterators.push_back(is ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  maps.push_back(map);
  Value acc = block->addArgument(tensor.getElementType(), outside.loc);
  if (!init)
    init = tensor::EmptyOp::create(outside.b, outside.loc, tensor.getShape(), tensor.getElementType());
  else if (isProduct)
    value = arith::MulFOp::create(b, outside.loc, acc, value);
  else
    value = arith::AddFOp::create(b, outside.loc, acc, value);
  linalg::YieldOp::create(b, outside.loc, value);
  auto generic = linalg::GenericOp::create(outside.b, outside.loc, TypeRange{type}, inputs, ValueRange{init}, maps, iterators);
  generic.getRegion().push_back(block);
  block = nullptr;
  return generic.getResult(0);
}

/// An affine expression over indices.
static Value evaluate(OpBuilder &b, Location loc, AffineExpr expr, llvm::function_ref<Value(unsigned)> indexOf) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return indexOf(dim.getPosition());
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(b, loc, number.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value left = evaluate(b, loc, binary.getLHS(), indexOf), right = evaluate(b, loc, binary.getRHS(), indexOf);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, left, right);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, left, right);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, left, right);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, left, right);
  default: {
    // Indices are not negative, nor is what `mod` gives.
    Value quotient = arith::FloorDivSIOp::create(b, loc, left, right);
    return arith::SubIOp::create(b, loc, left, arith::MulIOp::create(b, loc, quotient, right));
  }
  }
}

Value GenericBody::finishInto(Value value, RankedTensorType type, AffineMap map) {
  unsigned numDims = map.getNumDims();
  SmallVector<AffineExpr> results;
  SmallVector<bool> seen(numDims, false);
  bool isReduction = false;
  Value inside;
  auto indexOf = [&](unsigned dim) -> Value { return linalg::IndexOp::create(b, outside.loc, dim); };
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && !seen[dim.getPosition()]) {
      seen[dim.getPosition()] = true;
      results.push_back(expr);
      continue;
    }
    unsigned place = numDims + llvm::count_if(results, [&](AffineExpr e) {
                       auto d = dyn_cast<AffineDimExpr>(e);
                       return d && d.getPosition() >= numDims;
                     });
    // What the map says of this iteration, computed as an index.
    Value index = evaluate(b, outside.loc, expr, indexOf);
    Value same = arith::CmpIOp::create(b, outside.loc, arith::CmpIPredicate::eq, indexOf(place), index);
    inside = inside ? arith::AndIOp::create(b, outside.loc, inside, same).getResult() : same;
    results.push_back(b.getAffineDimExpr(place));
  }
  unsigned added = llvm::count_if(results, [&](AffineExpr e) { return cast<AffineDimExpr>(e).getPosition() >= numDims; });
  isReduction = added || llvm::is_contained(seen, false);
  if (inside)
    value = arith::SelectOp::create(b, outside.loc, inside, value, Writer{b, outside.loc}.splat(value.getType(), 0.0));
  Value init = isReduction ? outside.splat(type, 0.0) : Value();
  return finish(value, type, AffineMap::get(numDims + added, 0, results, b.getContext()), init);
}
