//===- Parts.cpp - parts of results that a reduction joins ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two questions about a leaf's body. Is its update of a state a sum, a product,
// a maximum or a minimum? What does it make of values of which each rank has a
// part?
//
//===----------------------------------------------------------------------===//
#include "Parts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

static PartialKind getKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, PartialKind>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return PartialKind::Sum; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return PartialKind::Product; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return PartialKind::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>([](auto) { return PartialKind::Min; })
      .Default([](Operation *) { return PartialKind::None; });
}

/// All values of a region that depend on one of these.
static llvm::DenseSet<Value> getDependents(ArrayRef<Value> values) {
  llvm::DenseSet<Value> found(values.begin(), values.end());
  SmallVector<Value> open(values);
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      for (Value result : use.getOwner()->getResults())
        if (found.insert(result).second)
          open.push_back(result);
      // What a region takes from outside may reach each result of the operation around it.
      for (Operation *parent = use.getOwner()->getParentOp(); parent && !isa<BlockOp>(parent); parent = parent->getParentOp())
        for (Value result : parent->getResults())
          if (found.insert(result).second)
            open.push_back(result);
    }
  return found;
}

/// Whether a region of an operation takes one of these values from outside.
static bool captures(Operation *op, llvm::function_ref<bool(Value)> isMeant) {
  return op->walk([&](Operation *inner) {
             bool found = inner != op && llvm::any_of(inner->getOperands(), [&](Value operand) {
               return !op->isAncestor(operand.getParentRegion()->getParentOp()) && isMeant(operand);
             });
             return found ? WalkResult::interrupt() : WalkResult::advance();
           })
      .wasInterrupted();
}

namespace {
/// Follows a state from where it is read to the value that replaces it.
class UpdateMatcher {
public:
  UpdateMatcher(ArrayRef<BlockArgument> states) : dependents(getDependents(llvm::to_vector_of<Value>(states))) {}
  PartialKind match(Value next, Value state);

private:
  bool step(Value next, Value state);
  bool stepLinalg(linalg::LinalgOp op, Value state);
  bool take(PartialKind found) {
    if (found == PartialKind::None || (kind != PartialKind::None && kind != found))
      return false;
    kind = found;
    return true;
  }
  llvm::DenseSet<Value> dependents;
  PartialKind kind = PartialKind::None;
};
} // namespace

PartialKind UpdateMatcher::match(Value next, Value state) {
  if (!step(next, state) || kind == PartialKind::None)
    return PartialKind::Combine;
  return kind;
}

bool UpdateMatcher::step(Value next, Value state) {
  if (next == state)
    return state.hasOneUse();
  Operation *op = next.getDefiningOp();
  if (!op)
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return op->getNumResults() == 1 && stepLinalg(linalgOp, state);
  if (op->getNumOperands() != 2 || !take(getKind(op)))
    return false;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (dependents.contains(left) == dependents.contains(right))
    return false;
  Value inner = dependents.contains(left) ? left : right;
  return inner.hasOneUse() && step(inner, state);
}

/// A structured operation whose payload joins one operand's element with what comes of the others.
bool UpdateMatcher::stepLinalg(linalg::LinalgOp op, Value state) {
  OpOperand *inner = nullptr;
  for (OpOperand &operand : op->getOpOperands())
    if (dependents.contains(operand.get())) {
      if (inner)
        return false;
      inner = &operand;
    }
  if (!inner || !inner->get().hasOneUse() || captures(op, [&](Value value) { return dependents.contains(value); }))
    return false;
  // An operand that is read again and again would be joined as often.
  if (!op.isDpsInit(inner) && (!op.getMatchingIndexingMap(inner).isIdentity() || op.getNumReductionLoops()))
    return false;
  BlockArgument element = op.getMatchingBlockArgument(inner);
  Operation *yield = op.getBlock()->getTerminator();
  Operation *join = yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
  if (!join || join->getNumOperands() != 2 || !element.hasOneUse() || !take(getKind(join)) ||
      !llvm::is_contained(join->getOperands(), element) || !join->hasOneUse())
    return false;
  return step(inner->get(), state);
}

PartialKind etdg::getUpdateKind(Value next, BlockArgument state, ArrayRef<BlockArgument> states) {
  return UpdateMatcher(states).match(next, state);
}

bool etdg::isNeutral(PartialKind kind, Attribute splat) {
  bool isZero = matchPattern(splat, m_AnyZeroFloat()) || matchPattern(splat, m_Zero());
  if (kind == PartialKind::Sum)
    return isZero;
  if (kind == PartialKind::Product)
    return matchPattern(splat, m_OneFloat()) || matchPattern(splat, m_One());
  // A maximum of equal numbers is that number.
  return kind == PartialKind::Max || kind == PartialKind::Min;
}

//===----------------------------------------------------------------------===//
// What becomes of parts
//===----------------------------------------------------------------------===//

PartStatus etdg::joinParts(const PartStatus &a, const PartStatus &b) {
  if (a == b)
    return a;
  if (a.state == PartStatus::Wrong)
    return a;
  if (b.state == PartStatus::Wrong)
    return b;
  // A zero is what all have, or a part of a sum.
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)})
    if (one.state == PartStatus::Zero && (other.state == PartStatus::All || other.kind == PartialKind::Sum))
      return other;
  return {PartStatus::Wrong, PartialKind::None, nullptr};
}

namespace {
class PartFlow {
public:
  void set(Value value, PartStatus status) { statuses[value] = status; }
  PartStatus get(Value value) const {
    auto it = statuses.find(value);
    return it == statuses.end() ? PartStatus{} : it->second;
  }
  void run(Block &block);

private:
  PartStatus getResult(Operation *op);
  PartStatus runLinalg(linalg::LinalgOp op);
  llvm::DenseMap<Value, PartStatus> statuses;
};
} // namespace

static bool isSum(const PartStatus &status) {
  return status.state == PartStatus::Part && status.kind == PartialKind::Sum;
}

/// A structured operation is its payload, whose output element is a part where the payload makes it one.
PartStatus PartFlow::runLinalg(linalg::LinalgOp op) {
  if (op->getNumResults() != 1)
    return {PartStatus::Wrong, PartialKind::None, op};
  PartFlow inside;
  for (OpOperand &operand : op->getOpOperands())
    inside.set(op.getMatchingBlockArgument(&operand), get(operand.get()));
  inside.run(*op.getBlock());
  return inside.get(op.getBlock()->getTerminator()->getOperand(0));
}

PartStatus PartFlow::getResult(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return runLinalg(linalgOp);
  PartStatus wrong{PartStatus::Wrong, PartialKind::None, op};
  PartStatus first = op->getNumOperands() ? get(op->getOperand(0)) : PartStatus{};
  PartStatus second = op->getNumOperands() > 1 ? get(op->getOperand(1)) : PartStatus{};
  if (isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(op)) {
    bool isLinear = (isSum(first) || first.state == PartStatus::Zero) && (isSum(second) || second.state == PartStatus::Zero);
    return isLinear ? joinParts(first, second) : wrong;
  }
  if (isa<arith::MulFOp, arith::MulIOp>(op)) {
    if (second.state != PartStatus::Part)
      return isSum(first) ? first : wrong;
    return isSum(second) && first.state != PartStatus::Part ? second : wrong;
  }
  if (isa<arith::DivFOp>(op))
    return isSum(first) && second.state != PartStatus::Part ? first : wrong;
  if (isa<arith::NegFOp>(op))
    return isSum(first) ? first : wrong;
  // What only moves elements has parts of any reduction.
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::ExtractOp, tensor::CastOp>(op))
    return first;
  return wrong;
}

void PartFlow::run(Block &block) {
  for (Operation &op : block.without_terminator()) {
    bool reads = false;
    for (Value operand : op.getOperands()) {
      PartStatus status = get(operand);
      if (status.state == PartStatus::Wrong) {
        for (Value result : op.getResults())
          set(result, status);
        reads = false;
        break;
      }
      reads |= status.state == PartStatus::Part;
    }
    if (captures(&op, [&](Value value) { return get(value).state >= PartStatus::Part; })) {
      for (Value result : op.getResults())
        set(result, {PartStatus::Wrong, PartialKind::None, &op});
      continue;
    }
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      bool isZero = matchPattern(constant, m_AnyZeroFloat()) || matchPattern(constant, m_Zero());
      set(op.getResult(0), {isZero ? PartStatus::Zero : PartStatus::All, PartialKind::None, nullptr});
    }
    if (reads)
      for (Value result : op.getResults())
        set(result, getResult(&op));
  }
}

SmallVector<PartStatus> etdg::getYieldedParts(BlockOp leaf, ArrayRef<PartStatus> arguments) {
  PartFlow flow;
  for (auto [argument, status] : llvm::zip_equal(leaf.getBody().getArguments(), arguments))
    flow.set(argument, status);
  flow.run(leaf.getBody().front());
  SmallVector<PartStatus> found;
  for (Value value : leaf.getYield().getOperands())
    found.push_back(flow.get(value));
  return found;
}
