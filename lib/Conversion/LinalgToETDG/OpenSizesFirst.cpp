//===- OpenSizesFirst.cpp - dimensions of open size, to the front ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `proto @ boxes.T` has the number of boxes as its last dimension. Values between the
// arguments and the results may have their dimensions in another order: those of open
// size first, where each operation may take them for its rows. Transpositions at both
// ends mostly cancel with those of the program.
//
//===----------------------------------------------------------------------===//
#include "OpenSizes.h"

#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ft;

/// Dimension i of the moved tensor is dimension `order[i]` of the tensor.
using Order = SmallVector<int64_t>;

/// Open dimensions first, each kind in its order.
static Order orderOf(Type type) {
  Order order;
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (bool isOpen : {true, false})
    for (int64_t d = 0; tensor && d < tensor.getRank(); ++d)
      if (tensor.isDynamicDim(d) == isOpen)
        order.push_back(d);
  return order;
}

static bool isMisplaced(Type type) { return !isIdentityPermutation(orderOf(type)); }

static RankedTensorType permute(RankedTensorType type, ArrayRef<int64_t> order) {
  return RankedTensorType::get(applyPermutation(type.getShape(), order), type.getElementType());
}

/// (a after b): what `b` takes to `a`'s places.
static Order compose(ArrayRef<int64_t> b, ArrayRef<int64_t> a) { return applyPermutation(b, a); }

namespace {
class Mover {
public:
  explicit Mover(func::FuncOp function) : function(function), builder(function.getContext()) {}
  void run();

private:
  /// A value with its dimensions in an order.
  Value get(Value value, Order order);
  Value transpose(Value value, ArrayRef<int64_t> order);
  void set(Value value, Value moved);
  bool touches(Operation &op);
  /// Whether the operation was written anew.
  bool visit(Operation &op);
  void moveEmpty(tensor::EmptyOp op);
  void moveFill(linalg::FillOp op);
  void moveGeneric(linalg::GenericOp op);
  void moveTranspose(linalg::TransposeOp op);
  void moveElementwise(Operation &op);
  bool moveReshape(ReassociativeReshapeOpInterface op);
  bool moveRead(SubsetAccessOpInterface op);
  bool moveWrite(SubsetAccessOpInterface op);
  void restore(Operation &op);

  func::FuncOp function;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> moved; // in the order of the type
};
} // namespace

void Mover::set(Value value, Value result) {
  if (isMisplaced(value.getType()))
    moved[value] = result;
  else
    value.replaceAllUsesWith(result);
}

Value Mover::transpose(Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType made = permute(type, order);
  SmallVector<Value> sizes;
  for (int64_t d : order)
    if (type.isDynamicDim(d))
      sizes.push_back(tensor::DimOp::create(builder, value.getLoc(), value, d));
  Value init = tensor::EmptyOp::create(builder, value.getLoc(), made.getShape(), made.getElementType(), sizes);
  return linalg::TransposeOp::create(builder, value.getLoc(), value, init, order)->getResult(0);
}

Value Mover::get(Value value, Order order) {
  if (Value known = moved.lookup(value)) {
    // known[i] = value[own[i]], and asked for is value[order[i]].
    order = compose(invertPermutationVector(orderOf(value.getType())), order);
    value = known;
  } else if (auto before = value.getDefiningOp<linalg::TransposeOp>()) {
    return get(before.getInput(), compose(before.getPermutation(), order));
  }
  return isIdentityPermutation(order) ? value : transpose(value, order);
}

bool Mover::touches(Operation &op) {
  return llvm::any_of(op.getOperandTypes(), isMisplaced) || llvm::any_of(op.getResultTypes(), isMisplaced);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Mover::moveEmpty(tensor::EmptyOp op) {
  RankedTensorType type = op.getType();
  SmallVector<OpFoldResult> sizes = applyPermutation(ArrayRef(op.getMixedSizes()), orderOf(type));
  set(op, tensor::EmptyOp::create(builder, op.getLoc(), sizes, type.getElementType()));
}

void Mover::moveFill(linalg::FillOp op) {
  Value init = op.getOutputs().front();
  set(op->getResult(0), linalg::FillOp::create(builder, op.getLoc(), op.getInputs(), get(init, orderOf(init.getType())))->getResult(0));
}

void Mover::moveGeneric(linalg::GenericOp op) {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Order order = orderOf(operand.get().getType());
    if (isa<RankedTensorType>(operand.get().getType())) {
      operands.push_back(get(operand.get(), order));
      map = AffineMap::get(map.getNumDims(), 0, applyPermutation(map.getResults(), order), op.getContext());
    } else {
      operands.push_back(operand.get());
    }
    maps.push_back(map);
  }
  ValueRange all = operands, inits = all.take_back(op.getNumDpsInits());
  auto made = linalg::GenericOp::create(builder, op.getLoc(), inits.getTypes(), all.drop_back(op.getNumDpsInits()), inits, maps,
                                        op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  for (auto [result, other] : llvm::zip_equal(op.getResults(), made.getResults()))
    set(result, other);
}

void Mover::moveTranspose(linalg::TransposeOp op) {
  Value result = op->getResult(0);
  set(result, get(op.getInput(), compose(op.getPermutation(), orderOf(result.getType()))));
}

/// All tensors have one shape.
void Mover::moveElementwise(Operation &op) {
  Order order = orderOf(op.getResult(0).getType());
  IRMapping mapping;
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      mapping.map(operand, get(operand, order));
  Operation *made = builder.clone(op, mapping);
  for (auto [result, other] : llvm::zip_equal(op.getResults(), made->getResults())) {
    other.setType(permute(cast<RankedTensorType>(other.getType()), order));
    set(result, other);
  }
}

/// Groups of a shape with units, one for each other dimension; units stand with the one before them.
static SmallVector<ReassociationIndices> groupUnits(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  bool isFilled = false;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (groups.empty() || (size != 1 && isFilled))
      groups.emplace_back();
    isFilled = size != 1 || (isFilled && groups.back().size() > 0);
    groups.back().push_back(d);
  }
  return groups;
}

/// Whether reshaping only adds units.
static bool addsUnits(ArrayRef<int64_t> less, ArrayRef<int64_t> more) {
  auto others = [](ArrayRef<int64_t> shape) { return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t n) { return n != 1; })); };
  return llvm::none_of(less, [](int64_t n) { return n == 1; }) && others(more) == SmallVector<int64_t>(less) && !less.empty();
}

bool Mover::moveReshape(ReassociativeReshapeOpInterface op) {
  Location loc = op.getLoc();
  Value result = op->getResult(0);
  RankedTensorType from = op.getBaseType(), to = op.getResultType(), made = permute(to, orderOf(to));
  bool expands = op.isExpansion();
  if (!addsUnits((expands ? from : to).getShape(), (expands ? to : from).getShape()))
    return false;
  Value source = get(op.getBase(), orderOf(from));
  if (!expands) {
    auto groups = groupUnits(cast<RankedTensorType>(source.getType()).getShape());
    set(result, tensor::CollapseShapeOp::create(builder, loc, made, source, groups));
    return true;
  }
  SmallVector<OpFoldResult> sizes = applyPermutation(ArrayRef(op.getExpandedSizes()), orderOf(to));
  set(result, tensor::ExpandShapeOp::create(builder, loc, made, source, groupUnits(made.getShape()), sizes));
  return true;
}

/// The order of a part, whose dimensions are those of its base that are not dropped, where the base has `order`.
static Order orderOfPart(ArrayRef<int64_t> order, const llvm::SmallBitVector &dropped) {
  Order place(order.size(), -1), found;
  for (int64_t d = 0, next = 0; d < int64_t(order.size()); ++d)
    place[d] = dropped.test(d) ? -1 : next++;
  for (int64_t d : order)
    if (place[d] >= 0)
      found.push_back(place[d]);
  return found;
}

bool Mover::moveRead(SubsetAccessOpInterface op) {
  // (A part of an open dimension may be of fixed size: then the part has another order than its type asks for.)
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  Order order = orderOf(op.getBase().getType()), part = orderOfPart(order, op.getSubsetDroppedDims()), wanted = orderOf(type);
  Value made = tensor::ExtractSliceOp::create(builder, op.getLoc(), permute(type, part), get(op.getBase(), order),
                                              applyPermutation(ArrayRef(op.getSubsetOffsets()), order),
                                              applyPermutation(ArrayRef(op.getSubsetSizes()), order),
                                              applyPermutation(ArrayRef(op.getSubsetStrides()), order));
  set(result, part == wanted ? made : transpose(made, compose(invertPermutationVector(part), wanted)));
  return true;
}

bool Mover::moveWrite(SubsetAccessOpInterface op) {
  Order order = orderOf(op.getBase().getType());
  Value source = get(op.getUpdate(), orderOfPart(order, op.getSubsetDroppedDims()));
  set(op->getResult(0), tensor::InsertSliceOp::create(builder, op.getLoc(), source, get(op.getBase(), order),
                                                      applyPermutation(ArrayRef(op.getSubsetOffsets()), order),
                                                      applyPermutation(ArrayRef(op.getSubsetSizes()), order),
                                                      applyPermutation(ArrayRef(op.getSubsetStrides()), order)));
  return true;
}

/// An operation that stays as it is, on tensors as they were.
void Mover::restore(Operation &op) {
  for (OpOperand &operand : op.getOpOperands())
    if (moved.contains(operand.get())) {
      Order own;
      for (int64_t d = 0; d < cast<RankedTensorType>(operand.get().getType()).getRank(); ++d)
        own.push_back(d);
      operand.set(get(operand.get(), own));
    }
  op.walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (inner != &op && moved.contains(operand.get())) {
        Order own = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(operand.get().getType()).getRank()));
        operand.set(get(operand.get(), own));
      }
  });
}

/// Whether a body takes tensors from outside that moved.
static bool capturesTensors(Operation &op) {
  WalkResult captured = op.walk([&](Operation *inner) {
    return inner != &op && llvm::any_of(inner->getOperandTypes(), isMisplaced) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return captured.wasInterrupted();
}

bool Mover::visit(Operation &op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> at = dim.getConstantIndex();
    Value known = moved.lookup(dim.getSource());
    if (!known || !at)
      return false;
    int64_t place = invertPermutationVector(orderOf(dim.getSource().getType()))[*at];
    dim.replaceAllUsesWith(tensor::DimOp::create(builder, op.getLoc(), known, place).getResult());
    return true;
  }
  if (!touches(op) || capturesTensors(op))
    return false;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return moveEmpty(empty), true;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return moveFill(fill), true;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return moveGeneric(generic), true;
  if (auto transposed = dyn_cast<linalg::TransposeOp>(op))
    return moveTranspose(transposed), true;
  if (auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op))
    return moveReshape(reshape);
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && !access.isScalar())
    return access.isWrite() ? moveWrite(access) : moveRead(access);
  if (OpTrait::hasElementwiseMappableTraits(&op))
    return moveElementwise(op), true;
  return false;
}

void Mover::run() {
  Block &body = function.getBody().front();
  IRRewriter rewriter(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(body))
    if (auto named = dyn_cast<linalg::LinalgOp>(op); named && touches(op) && !isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp>(op)) {
      rewriter.setInsertionPoint(&op);
      (void)linalg::generalizeNamedOp(rewriter, named);
    }
  SmallVector<Operation *> old;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    builder.setInsertionPoint(&op);
    if (visit(op))
      old.push_back(&op);
    else
      restore(op);
  }
  for (Operation *op : llvm::reverse(old))
    if (op->use_empty())
      op->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void mlir::ft::moveOpenSizesFirst(func::FuncOp function) { Mover(function).run(); }
