//===- LateParts.cpp - gradients that are made outside of loops -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gradient that one operation makes of less data than it has itself, as xᵀg of a weight, does not leave a loop as the
// list of what each iteration makes: the operands leave it. For what the body captures a sum over their lists makes it,
// for elements of a list a map over them. Such sums and maps are late themselves, so that they leave loops further out.
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

/// Tensors of f16 and bf16 are added up as f32.
Type differentiate::wideOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()) || tensor.getElementTypeBitWidth() >= 32)
    return type;
  return tensor.clone(Float32Type::get(type.getContext()));
}

Value differentiate::widen(OpBuilder &b, Location loc, Value value) {
  Type wide = wideOf(value.getType());
  return wide == value.getType() ? value : arith::ExtFOp::create(b, loc, wide, value).getResult();
}

Value differentiate::narrow(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
}

/// The numbers of a tensor, or of a list's element.
static int64_t countOf(Type type) {
  auto list = dyn_cast<ListType>(type);
  auto tensor = dyn_cast<RankedTensorType>(list ? list.getElement() : type);
  return tensor ? tensor.getNumElements() : 0;
}

/// The operation of a value where access alone makes it of its operands.
static Operation *getAccess(Value value) {
  Operation *defining = value.getDefiningOp();
  bool isAccess = defining && isDoneAgain(defining) && getCaptured(defining).empty() && isa<FTDialect>(defining->getDialect());
  return isAccess ? defining : nullptr;
}

/// Whether a value is made by access alone of elements and of what is there outside of the mirror.
bool OperatorMirror::isAtHand(Value value) {
  if (value.getParentBlock() != block || isElement(value))
    return true;
  Operation *defining = value.getDefiningOp();
  if (defining && defining->hasTrait<OpTrait::ConstantLike>())
    return true;
  Operation *access = getAccess(value);
  return access && llvm::all_of(access->getOperands(), [&](Value operand) { return isAtHand(operand); });
}

/// Whether a value is of states that the mirror computes again: outside they would all be kept.
bool OperatorMirror::isComputedAgain(Value value) {
  Operation *defining = value.getDefiningOp();
  if (!defining || defining->getBlock() != block)
    return false;
  if (isa<ComputeOp>(defining))
    return llvm::any_of(inner.copies, [&](const auto &copy) { return copy.second.made == defining; });
  return getAccess(value) && llvm::any_of(defining->getOperands(), [&](Value operand) { return isComputedAgain(operand); });
}

/// Has a value outside: constants and access are done again, all else leaves the loop. False where it can't leave.
bool OperatorMirror::bringOut(Value value, Late &late) {
  if (value.getParentBlock() != block || llvm::is_contained(late.sources, value))
    return true;
  Operation *defining = value.getDefiningOp();
  if (defining && !isElement(value) && isAtHand(value)) {
    if (llvm::is_contained(late.steps, defining))
      return true;
    if (!llvm::all_of(defining->getOperands(), [&](Value operand) { return bringOut(operand, late); }))
      return false;
    late.steps.push_back(defining);
    return true;
  }
  late.sources.push_back(value);
  return isa<RankedTensorType, ListType>(value.getType());
}

bool OperatorMirror::findLate(Value part, Late &late) {
  Operation *made = part.getDefiningOp();
  if (!made || made->getBlock() != block || made->getNumResults() != 1 || !isa<linalg::LinalgOp, ComputeOp>(made))
    return false;
  // What is not finished cannot be copied.
  auto isOpen = [](UnrealizedConversionCastOp) { return WalkResult::interrupt(); };
  if (made->walk(isOpen).wasInterrupted())
    return false;
  SmallVector<Value> operands(made->getOperands());
  llvm::append_range(operands, getCaptured(made));
  Late found;
  for (Value operand : operands)
    if (!bringOut(operand, found))
      return false;
  if (found.sources.empty())
    return false;
  if (outer.context.late.contains(made)) {
    if (llvm::any_of(found.sources, [&](Value source) { return isComputedAgain(source); }))
      return false;
  } else {
    int64_t read = 0;
    for (Value source : found.sources)
      read += countOf(source.getType());
    if (isa<ListType>(part.getType()) || read >= countOf(part.getType()))
      return false;
  }
  found.steps.push_back(made);
  late = std::move(found);
  return true;
}

Value OperatorMirror::makeLateList(const Late &late, ComputeOp made) {
  OpBuilder &b = outer.b;
  Location loc = op.getLoc();
  SmallVector<Value> lists;
  auto *body = new Block();
  IRMapping mapping;
  for (Value source : late.sources) {
    lists.push_back(listOf(source, made));
    mapping.map(source, body->addArgument(cast<ListType>(lists.back().getType()).getPeeled(), loc));
  }
  Type type = ListType::wrap(op.getLength(), late.steps.back()->getResult(0).getType());
  ComputeOp map = createCompute(b, loc, OperatorKind::Map, type, lists);
  map.getBody().push_back(body);
  OpBuilder at = OpBuilder::atBlockEnd(body);
  for (Operation *step : late.steps)
    at.clone(*step, mapping);
  YieldOp::create(at, loc, ValueRange{mapping.lookup(late.steps.back()->getResult(0))}, ValueRange());
  outer.context.late.insert(map);
  return map->getResult(0);
}

namespace {
/// Sums over iterations what steps make in each. That of a map is a map of sums: a product is added up where it is made.
class LateSum {
public:
  LateSum(Location loc, LengthAttr length) : loc(loc), length(length) {}
  /// Values of the steps: those that are the same in all iterations, and the lists of others.
  struct Values {
    IRMapping same;
    llvm::MapVector<Value, Value> lists;
  };
  Value sum(OpBuilder &b, ArrayRef<Operation *> steps, Values values);
  /// Whether sums of each iteration were added up: what makes them is as large as they are.
  bool addsSums() const { return ofSums; }

private:
  Value sumSums(OpBuilder &b, Operation *made, Values &values);
  Operation *addStep(OpBuilder &b, Operation *step, Values &values);
  Value sumMap(OpBuilder &b, ComputeOp map, Values &values);
  Value sumOne(OpBuilder &b, Operation *made, Values &values);
  /// The values of a step that differ between iterations.
  static SmallVector<Value> varyingOf(Operation *step, const Values &values);
  /// A block with an argument for the element of each list.
  Block *blockOf(ArrayRef<Value> varying, const Values &values, IRMapping &mapping);

  Location loc;
  LengthAttr length;
  bool ofSums = false;
};
} // namespace

SmallVector<Value> LateSum::varyingOf(Operation *step, const Values &values) {
  llvm::SetVector<Value> varying;
  auto add = [&](ValueRange given) {
    for (Value value : given)
      if (values.lists.contains(value))
        varying.insert(value);
  };
  add(step->getOperands());
  add(getCaptured(step));
  return varying.takeVector();
}

Block *LateSum::blockOf(ArrayRef<Value> varying, const Values &values, IRMapping &mapping) {
  auto *block = new Block();
  mapping = values.same;
  for (Value value : varying)
    mapping.map(value, block->addArgument(value.getType(), loc));
  return block;
}

/// What a step makes in each iteration is a list of it.
Operation *LateSum::addStep(OpBuilder &b, Operation *step, Values &values) {
  SmallVector<Value> varying = varyingOf(step, values);
  if (varying.empty())
    return b.clone(*step, values.same);
  SmallVector<Value> lists = llvm::map_to_vector(varying, [&](Value value) { return values.lists.lookup(value); });
  ComputeOp map = createCompute(b, loc, OperatorKind::Map, ListType::wrap(length, step->getResult(0).getType()), lists);
  IRMapping mapping;
  Block *block = blockOf(varying, values, mapping);
  map.getBody().push_back(block);
  OpBuilder at = OpBuilder::atBlockEnd(block);
  YieldOp::create(at, loc, at.clone(*step, mapping)->getResults(), ValueRange());
  values.lists[step->getResult(0)] = map->getResult(0);
  return map;
}

Value LateSum::sumMap(OpBuilder &b, ComputeOp map, Values &values) {
  SmallVector<Value> lists;
  auto *block = new Block();
  Values inner = values;
  for (auto [list, argument] : llvm::zip_equal(map.getLists(), map.getElementArgs())) {
    Value over = values.lists.lookup(list);
    lists.push_back(over ? TransposeOp::create(b, loc, over, ArrayRef<int64_t>{1, 0}).getResult() : values.same.lookupOrDefault(list));
    Value element = block->addArgument(cast<ListType>(lists.back().getType()).getPeeled(), loc);
    if (over)
      inner.lists[argument] = element;
    else
      inner.same.map(argument, element);
  }
  ComputeOp made = createCompute(b, loc, OperatorKind::Map, map->getResultTypes(), lists);
  made.getBody().push_back(block);
  OpBuilder at = OpBuilder::atBlockEnd(block);
  SmallVector<Operation *> steps;
  for (Operation &step : map.getBody().front().without_terminator())
    steps.push_back(&step);
  Value total = sum(at, steps, inner);
  YieldOp::create(at, loc, ValueRange{total}, ValueRange());
  return made->getResult(0);
}

Value LateSum::sumOne(OpBuilder &b, Operation *made, Values &values) {
  SmallVector<Value> varying = varyingOf(made, values);
  SmallVector<Value> lists = llvm::map_to_vector(varying, [&](Value value) { return values.lists.lookup(value); });
  Type type = made->getResult(0).getType(), wide = wideOf(type);
  Value zero = buildZero(b, loc, wide);
  ComputeOp total = createCompute(b, loc, OperatorKind::Reduce, wide, lists, zero, zero);
  IRMapping mapping;
  Block *block = blockOf(varying, values, mapping);
  total.getBody().push_back(block);
  Value state = block->insertArgument(0u, wide, loc);
  OpBuilder at = OpBuilder::atBlockEnd(block);
  Value part = at.clone(*made, mapping)->getResult(0);
  YieldOp::create(at, loc, ValueRange{buildSum(at, loc, state, widen(at, loc, part))}, ValueRange());
  auto *combine = new Block();
  total->getRegion(1).push_back(combine);
  combine->addArguments({wide, wide}, {loc, loc});
  OpBuilder in = OpBuilder::atBlockEnd(combine);
  YieldOp::create(in, loc, ValueRange{buildSum(in, loc, combine->getArgument(0), combine->getArgument(1))}, ValueRange());
  return narrow(b, loc, total->getResult(0), type);
}

/// The sums of iterations do not wait for each other.
Value LateSum::sumSums(OpBuilder &b, Operation *made, Values &values) {
  ofSums = true;
  addStep(b, made, values);
  Type type = made->getResult(0).getType(), wide = wideOf(type);
  ComputeOp total = createCompute(b, loc, OperatorKind::Reduce, wide, values.lists.lookup(made->getResult(0)), buildZero(b, loc, wide));
  auto *block = new Block();
  total.getBody().push_back(block);
  block->addArguments({wide, type}, {loc, loc});
  OpBuilder at = OpBuilder::atBlockEnd(block);
  Value both = buildSum(at, loc, block->getArgument(0), widen(at, loc, block->getArgument(1)));
  YieldOp::create(at, loc, ValueRange{both}, ValueRange());
  return narrow(b, loc, total->getResult(0), type);
}

Value LateSum::sum(OpBuilder &b, ArrayRef<Operation *> steps, Values values) {
  for (Operation *step : steps.drop_back())
    addStep(b, step, values);
  auto compute = dyn_cast<ComputeOp>(steps.back());
  if (!compute || varyingOf(compute, values).empty())
    return sumOne(b, steps.back(), values);
  return compute.isMap() ? sumMap(b, compute, values) : sumSums(b, compute, values);
}

Value OperatorMirror::makeLateSum(const Late &late, ComputeOp made) {
  LateSum::Values values;
  for (Value source : late.sources)
    values.lists[source] = listOf(source, made);
  LateSum sum(op.getLoc(), op.getLength());
  Value total = sum.sum(outer.b, late.steps, values);
  if (auto compute = total.getDefiningOp<ComputeOp>(); compute && !sum.addsSums())
    outer.context.late.insert(compute);
  return total;
}
