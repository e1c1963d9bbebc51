//===- JoinBody.cpp - the body of several iterations of a reduction -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs between iterations has one dimension more, the first, over them. Operations that grow states go through it as they go
// through the terms of one iteration, all others for each iteration by itself; what is the same for all is computed once.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class BodyJoiner {
public:
  BodyJoiner(const JoinableReduction &reduction, int64_t count, std::string &why)
      : reduction(reduction), leaf(reduction.leaf), count(count), why(why), builder(leaf.getContext()) {}
  /// Says of each value whether it differs between iterations; false where an operation has no rule.
  bool look();
  void write(BlockOp joined, bool isMasked);

private:
  bool isWide(Value value) const { return wide.contains(value); }
  bool isGrowth(Operation *op) const { return llvm::is_contained(reduction.grows, op); }
  /// The sum from 0 on that alone a state grows by: one with the state.
  linalg::LinalgOp sumOf(Operation *growth) const;
  bool isSum(Operation *op) const {
    return llvm::any_of(reduction.grows, [&](Operation *growth) { return sumOf(growth) == op; });
  }
  bool refuse(Operation *op, const Twine &reason) {
    why = (op->getName().getStringRef() + " " + reason).str();
    return false;
  }
  bool hasRule(Operation *op);
  RankedTensorType wideType(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = {count};
    llvm::append_range(shape, type.getShape());
    return type.clone(shape);
  }
  Value widened(Value value, Location loc);
  void writeElementwise(Operation &op);
  void writeLoops(linalg::LinalgOp op, Operation *growth = nullptr);
  void writeGrowth(Operation &op);
  linalg::GenericOp maskTerms(linalg::GenericOp loops);

  const JoinableReduction &reduction;
  BlockOp leaf;
  int64_t count;
  std::string &why;
  OpBuilder builder;
  llvm::DenseSet<Value> wide;
  IRMapping mapping;
  Value there; // how many of the iterations there are, where not all
};
} // namespace

/// Whether something can be done for several iterations at once.
bool BodyJoiner::hasRule(Operation *op) {
  bool areTensors = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) && op->getNumResults() > 0 &&
                    llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (!areTensors)
    return refuse(op, "has other operands or results than tensors");
  if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
    bool hasMaps = llvm::all_of(loops.getIndexingMapsArray(), [](AffineMap map) { return map.getNumSymbols() == 0; });
    return hasMaps || refuse(op, "has index maps with symbols");
  }
  return OpTrait::hasElementwiseMappableTraits(op) || refuse(op, "is neither linalg nor element by element");
}

bool BodyJoiner::look() {
  Block &body = leaf.getBody().front();
  for (auto [read, varies] : llvm::enumerate(reduction.varies))
    if (varies)
      wide.insert(body.getArgument(read));
  for (Operation &op : body.without_terminator()) {
    bool differs = llvm::any_of(op.getOperands(), [&](Value value) { return isWide(value); });
    op.walk([&](Operation *inner) {
      for (Value value : inner->getOperands())
        if (inner != &op && isWide(value))
          differs = false, why = "a value of an iteration is used inside of an operation";
    });
    if (!why.empty())
      return false;
    bool grows = isGrowth(&op);
    if (grows != (grows && differs))
      return refuse(&op, "grows a state by the same in each iteration");
    if (!differs)
      continue;
    if (!hasRule(&op))
      return false;
    if (grows) {
      auto loops = dyn_cast<linalg::LinalgOp>(op);
      unsigned inits = loops ? unsigned(llvm::count_if(loops.getDpsInits(), [&](Value init) { return isWide(init); })) : 0;
      bool isBoth = !loops && isWide(op.getOperand(0)) && isWide(op.getOperand(1));
      if (inits || isBoth)
        return refuse(&op, "grows a state out of what differs between iterations");
      continue;
    }
    for (Value result : op.getResults())
      wide.insert(result);
  }
  for (Value result : leaf.getYield().getOperands())
    if (isWide(result))
      return refuse(leaf.getYield(), "hands on what differs between iterations");
  return true;
}

/// A value with the iterations' dimension: one that has none is the same for all.
Value BodyJoiner::widened(Value value, Location loc) {
  if (isWide(value))
    return mapping.lookup(value);
  RankedTensorType type = wideType(value);
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return arith::ConstantOp::create(builder, loc, splat.resizeSplat(type));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  if (value.getDefiningOp<tensor::EmptyOp>())
    return empty;
  return linalg::BroadcastOp::create(builder, loc, mapping.lookup(value), empty, ArrayRef<int64_t>{0}).getResults()[0];
}

void BodyJoiner::writeElementwise(Operation &op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(widened(operand, op.getLoc()));
  SmallVector<Type> types = llvm::map_to_vector(op.getResults(), [&](Value result) -> Type { return wideType(result); });
  OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  mapping.map(op.getResults(), builder.create(state)->getResults());
}

linalg::LinalgOp BodyJoiner::sumOf(Operation *growth) const {
  if (!isa<arith::AddFOp, arith::AddIOp>(growth))
    return nullptr;
  for (Value operand : growth->getOperands()) {
    auto sum = operand.getDefiningOp<linalg::LinalgOp>();
    if (!sum || !isWide(operand) || !operand.hasOneUse() || sum->getNumResults() != 1 || sum.getNumReductionLoops() == 0)
      continue;
    BlockArgument own = sum.getMatchingBlockArgument(sum.getDpsInitOperand(0));
    Operation *adds = sum.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    bool addsOnce = adds && adds->getName() == growth->getName() && own.hasOneUse() && *own.user_begin() == adds;
    Value begin = sum.getDpsInits()[0];
    if (addsOnce && (matchPattern(begin, m_AnyZeroFloat()) || matchPattern(begin, m_Zero())))
      return sum;
  }
  return nullptr;
}

/// The same loops with one more, the outermost, over the iterations: of a state's growth, and of a sum that `growth` adds to a state, one more
/// that is reduced.
void BodyJoiner::writeLoops(linalg::LinalgOp op, Operation *growth) {
  bool grows = growth || isGrowth(op);
  MLIRContext *context = op.getContext();
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs, inits;
  auto add = [&](OpOperand &operand, bool hasIterations) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> results;
    if (hasIterations)
      results.push_back(getAffineDimExpr(0, context));
    for (AffineExpr result : map.getResults())
      results.push_back(result.shiftDims(map.getNumDims(), 1));
    maps.push_back(AffineMap::get(map.getNumDims() + 1, 0, results, context));
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    add(*input, isWide(input->get()));
    inputs.push_back(mapping.lookup(input->get()));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    add(init, !grows);
    Value before = growth ? growth->getOperand(growth->getOperand(0) == op->getResult(0) ? 1 : 0) : init.get();
    inits.push_back(grows ? mapping.lookup(before) : widened(before, op.getLoc()));
  }
  SmallVector<utils::IteratorType> iterators = {grows ? utils::IteratorType::reduction : utils::IteratorType::parallel};
  llvm::append_range(iterators, op.getIteratorTypesArray());
  auto loops = linalg::GenericOp::create(builder, op.getLoc(), ValueRange(inits).getTypes(), inputs, inits, maps, iterators);
  IRMapping inside = mapping;
  op->getRegion(0).cloneInto(&loops.getRegion(), inside);
  loops.walk([](linalg::IndexOp index) { index.setDim(index.getDim() + 1); });
  if (grows && there)
    loops = maskTerms(loops);
  mapping.map(growth ? growth->getResults() : op->getResults(), loops.getResults());
}

/// An operation on two tensors that grows a state is one loop nest over what iterations bring.
void BodyJoiner::writeGrowth(Operation &op) {
  bool isFirst = isWide(op.getOperand(1)); // the state
  Value before = op.getOperand(isFirst ? 0 : 1), terms = op.getOperand(isFirst ? 1 : 0);
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  unsigned rank = unsigned(type.getRank());
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1), own = all.dropResult(0);
  SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  auto loops = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange{type}, ValueRange{mapping.lookup(terms)}, ValueRange{mapping.lookup(before)},
      ArrayRef<AffineMap>{all, own}, iterators, [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        Value operands[] = {arguments[isFirst ? 1 : 0], arguments[isFirst ? 0 : 1]};
        OperationState state(loc, op.getName(), operands, TypeRange{type.getElementType()}, op.getAttrs());
        state.propertiesAttr = op.getPropertiesAsAttribute();
        linalg::YieldOp::create(inner, loc, inner.create(state)->getResults());
      });
  if (there)
    loops = maskTerms(loops);
  mapping.map(op.getResults(), loops.getResults());
}

/// The combiner of a growth whose only state is the body's last argument.
static Operation *combinerOf(linalg::GenericOp loops) { return loops.getBlock()->getTerminator()->getOperand(0).getDefiningOp(); }

/// The same loops, of whose terms those of iterations that there are not are neutral.
linalg::GenericOp BodyJoiner::maskTerms(linalg::GenericOp loops) {
  Location loc = loops.getLoc();
  SmallVector<AffineMap> maps = loops.getIndexingMapsArray();
  SmallVector<Value> inputs(loops.getInputs());
  maps.insert(maps.begin() + inputs.size(), AffineMap::get(loops.getNumLoops(), 0, builder.getContext()));
  inputs.push_back(there);
  auto masked = linalg::GenericOp::create(builder, loc, loops.getResultTypes(), inputs, loops.getOutputs(), maps, loops.getIteratorTypesArray());
  masked.getRegion().takeBody(loops.getRegion());
  Block &block = masked.getRegion().front();
  BlockArgument count = block.insertArgument(unsigned(inputs.size()) - 1, builder.getIndexType(), loc);
  BlockArgument state = block.getArguments().back();
  Operation *combiner = combinerOf(masked);
  unsigned at = combiner->getOperand(0) == state ? 1 : 0;
  OpBuilder inside(combiner);
  Value number = linalg::IndexOp::create(inside, loc, 0);
  Value isThere = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, number, count);
  arith::AtomicRMWKind kind = *getCombiner(combiner->getResult(0), state);
  Value neutral = arith::getIdentityValue(kind, combiner->getResult(0).getType(), inside, loc);
  combiner->setOperand(at, arith::SelectOp::create(inside, loc, isThere, combiner->getOperand(at), neutral));
  loops.erase();
  return masked;
}

void BodyJoiner::write(BlockOp joined, bool isMasked) {
  Block &from = leaf.getBody().front(), &to = joined.getBody().front();
  mapping.map(from.getArguments(), to.getArguments().take_front(from.getNumArguments()));
  if (isMasked)
    there = to.getArguments().back();
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from) {
    bool differs = llvm::any_of(op.getOperands(), [&](Value value) { return isWide(value); });
    if (!differs)
      builder.clone(op, mapping);
    else if (isSum(&op))
      continue; // where the state grows
    else if (linalg::LinalgOp sum = isGrowth(&op) ? sumOf(&op) : nullptr)
      writeLoops(sum, &op);
    else if (auto loops = dyn_cast<linalg::LinalgOp>(op))
      writeLoops(loops);
    else if (isGrowth(&op))
      writeGrowth(op);
    else
      writeElementwise(op);
  }
}

bool etdg::canMask(const JoinableReduction &reduction) {
  return llvm::all_of(reduction.grows, [](Operation *op) {
    if (auto loops = dyn_cast<linalg::LinalgOp>(op)) // (of which the laws of joining ask that one operation takes in its terms)
      return op->getNumResults() == 1 && getCombiner(loops.getBlock()->getTerminator()->getOperand(0),
                                                     loops.getMatchingBlockArgument(loops.getDpsInitOperand(0))).has_value();
    return getCombinerKind(op).has_value();
  });
}

bool etdg::joinBodies(const JoinableReduction &reduction, BlockOp joined, int64_t count, std::string &why, bool isMasked) {
  BodyJoiner joiner(reduction, count, why);
  if (!joiner.look())
    return false;
  if (joined)
    joiner.write(joined, isMasked);
  return true;
}
