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

/// What `late` makes, of elements of the lists of its sources.
Value OperatorMirror::makeLate(OpBuilder &b, const Late &late, ValueRange elements) {
  IRMapping mapping;
  for (auto [source, element] : llvm::zip_equal(late.sources, elements))
    mapping.map(source, element);
  Value last = mapping.lookup(late.sources.front());
  for (Operation *step : late.steps)
    last = b.clone(*step, mapping)->getResult(0);
  return last;
}

Value OperatorMirror::makeLateList(const Late &late, ComputeOp made) {
  OpBuilder &b = outer.b;
  Location loc = op.getLoc();
  SmallVector<Value> lists;
  auto *body = new Block();
  for (Value source : late.sources) {
    lists.push_back(listOf(source, made));
    body->addArgument(cast<ListType>(lists.back().getType()).getPeeled(), loc);
  }
  Type type = ListType::wrap(op.getLength(), late.steps.back()->getResult(0).getType());
  ComputeOp map = createCompute(b, loc, OperatorKind::Map, type, lists, {});
  map.getBody().push_back(body);
  OpBuilder at = OpBuilder::atBlockEnd(body);
  YieldOp::create(at, loc, ValueRange{makeLate(at, late, body->getArguments())}, ValueRange());
  outer.context.late.insert(map);
  return map->getResult(0);
}
