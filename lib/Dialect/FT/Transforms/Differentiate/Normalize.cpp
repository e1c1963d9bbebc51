//===- Normalize.cpp - the form that derivatives are taken of -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Plan.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

OperatorKind differentiate::getOrdered(OperatorKind kind) {
  switch (kind) {
  case OperatorKind::Reduce:
  case OperatorKind::Fold:
    return OperatorKind::FoldL;
  case OperatorKind::Scan:
    return OperatorKind::ScanL;
  default:
    return kind;
  }
}

ComputeOp differentiate::rebuild(OpBuilder &b, ComputeOp op, OperatorKind kind, TypeRange results, ValueRange lists,
                                 ValueRange inits, ValueRange identities) {
  LengthAttr lag = op.isScan() ? op.getLagOrOne() : LengthAttr();
  ComputeOp made = createCompute(b, op.getLoc(), kind, results, lists, inits, identities, lag);
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  made.getBody().takeBody(op.getBody());
  // The ordered forms have no `combine`.
  if (Region *combine = op.getCombineOrNull(); combine && made.isReassociable())
    made->getRegion(1).takeBody(*combine);
  return made;
}

/// The first element as the initial state, and the others as the list.
static void addInit(ComputeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  LengthAttr length = op.getLength();
  auto number = [&](int64_t value) { return LengthAttr::get(op.getContext(), value); };
  bool isRight = op.isRight();
  SmallVector<Value> inits, lists;
  for (Value list : op.getLists()) {
    inits.push_back(AtOp::create(b, loc, list, isRight ? length - 1 : number(0)));
    lists.push_back(SliceOp::create(b, loc, list, isRight ? number(0) : number(1), isRight ? length - 1 : length));
  }
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(op.isFold() ? init.getType() : ListType::wrap(length - 1, init.getType()));
  ComputeOp made = rebuild(b, op, op.getKind(), types, lists, inits, SmallVector<Value>(op.getIdentities()));
  for (auto [old, result, init] : llvm::zip_equal(op->getResults(), made->getResults(), inits)) {
    Value whole = result;
    if (!op.isFold()) {
      Value first = RepeatOp::create(b, loc, init, number(1));
      SmallVector<Value> parts = {first, result};
      if (isRight)
        std::swap(parts[0], parts[1]);
      whole = ConcatOp::create(b, loc, parts);
      if (whole.getType() != old.getType())
        whole = CastOp::create(b, loc, old.getType(), whole);
    }
    old.replaceAllUsesWith(whole);
  }
  op->erase();
}

/// What the state of a fold is compared with, where the fold is the extremum of something that depends on no state; null
/// for other folds.
static Value getCompared(ComputeOp op) {
  if (!op.isFold() || op.getNumStates() != 1 || op.getInits().size() != 1 || !op.getEmitResults().empty())
    return nullptr;
  Operation *made = op.getYield().getValues().front().getDefiningOp();
  BlockArgument state = op.getStateArgs().front();
  if (!made || !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(made) ||
      made->getBlock() != &op.getBody().front() || !state.hasOneUse() || *state.user_begin() != made)
    return nullptr;
  return made->getOperand(made->getOperand(0) == state ? 1 : 0);
}

bool differentiate::isExtremum(ComputeOp op) {
  Value compared = getCompared(op);
  return compared && op.getLists().size() == 1 && compared == op.getElementArgs().front() &&
         op.getBody().front().getOperations().size() == 2;
}

/// The extremum of t(x) as a map of t and the extremum of its results.
static void splitExtremum(ComputeOp op, Value compared) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Operation *made = op.getYield().getValues().front().getDefiningOp();
  ComputeOp map = createCompute(b, loc, OperatorKind::Map, ListType::wrap(op.getLength(), compared.getType()),
                                SmallVector<Value>(op.getLists()));
  auto *block = new Block(), *rest = new Block();
  map.getBody().push_back(block);
  IRMapping mapping;
  for (BlockArgument element : op.getElementArgs())
    mapping.map(element, block->addArgument(element.getType(), loc));
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  for (Operation &each : op.getBody().front().without_terminator())
    if (&each != made)
      inner.clone(each, mapping);
  YieldOp::create(inner, loc, ValueRange{mapping.lookupOrDefault(compared)}, ValueRange());
  ComputeOp fold = createCompute(b, loc, OperatorKind::Reduce, op->getResultTypes(), map->getResults(),
                                 SmallVector<Value>(op.getInits()));
  fold.getBody().push_back(rest);
  IRMapping own;
  own.map(op.getStateArgs().front(), rest->addArgument(compared.getType(), loc));
  own.map(compared, rest->addArgument(compared.getType(), loc));
  OpBuilder end = OpBuilder::atBlockEnd(rest);
  Operation *again = end.clone(*made, own);
  YieldOp::create(end, loc, again->getResults(), ValueRange());
  op->replaceAllUsesWith(fold->getResults());
  op->erase();
}

static bool holdsTuple(Type type) {
  bool found = false;
  AttrTypeWalker walker;
  walker.addWalk([&](TupleType) { found = true; });
  walker.walk(type);
  return found;
}

static LogicalResult refuse(Operation *op) {
  if (isa<func::CallOp>(op))
    return op->emitOpError("has no derivative: run ft-inline before ft-differentiate, and give the callee a body");
  if (op->getDialect() && op->getDialect()->getNamespace() == "scf")
    return op->emitOpError("has no derivative in a function over lists: run ft-select before ft-differentiate");
  if (auto compute = dyn_cast<ComputeOp>(op); compute && compute.getLayerName())
    return op->emitOpError("has no derivative while its layers are not unrolled: run ft-unroll before ft-differentiate");
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    if (auto list = dyn_cast<ListType>(type); list && list.hasRagged())
      return op->emitOpError("is of the ragged list ") << type << ", for which there is no derivative in this version";
    if (holdsTuple(type))
      return op->emitOpError("is of tuples, ") << type << ": run canonicalize before ft-differentiate, "
                                               << "which makes a list of each member";
  }
  return success();
}

/// Access to what a body captures leaves the body: what the iterations give to a part of it is summed as that part.
static void hoistAccess(func::FuncOp function) {
  function.walk<WalkOrder::PostOrder>([&](ComputeOp op) {
    for (Operation &each : llvm::make_early_inc_range(op.getBody().front().without_terminator())) {
      auto isOutside = [&](Value value) { return !op.getBody().isAncestor(value.getParentRegion()); };
      // (Where to take elements from is asked of indices that are an argument, where a gather stands.)
      bool isAccess = isDoneAgain(&each) && !isa<GatherOp>(each) && each.getNumRegions() == 0 && each.getNumOperands() > 0 &&
                      llvm::all_of(each.getResultTypes(), llvm::IsaPred<ListType, RankedTensorType>);
      if (isAccess && llvm::all_of(each.getOperands(), isOutside))
        each.moveBefore(op);
    }
  });
}

LogicalResult differentiate::normalize(func::FuncOp function) {
  SmallVector<ComputeOp> open;
  WalkResult walked = function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(refuse(op)))
      return WalkResult::interrupt();
    if (auto compute = dyn_cast<ComputeOp>(op); compute && !compute.isMap() && compute.getInits().empty())
      open.push_back(compute);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (ComputeOp op : open)
    addInit(op);
  hoistAccess(function);
  closeRunningMaxima(function);
  SmallVector<std::pair<ComputeOp, Value>> extrema;
  function.walk([&](ComputeOp op) {
    if (Value compared = getCompared(op); compared && !isExtremum(op))
      extrema.emplace_back(op, compared);
  });
  for (auto [op, compared] : extrema)
    splitExtremum(op, compared);
  return success();
}
