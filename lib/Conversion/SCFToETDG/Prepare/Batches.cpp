//===- Batches.cpp - loops over a batch become loops around ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `for t: S(t)` on whole tensors, whose statements share a dimension (BatchAxes.h),
// becomes `for b: for t: S(t) on elements b`: a parallel dimension around the
// recurrence, where whole tensors would leave each step to one leaf. What is
// carried stays whole, so that who wrote which cell is seen through both loops; what
// the body computes has one element along the axis.
//
//===----------------------------------------------------------------------===//
#include "BatchAxes.h"
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

namespace {
/// Writes one loop anew.
class Spreader {
public:
  Spreader(scf::ForOp loop, const BatchAxes &axes) : loop(loop), axes(axes), b(loop) {}
  /// The loop inside of the new one.
  scf::ForOp run();

private:
  Value rootOf(Value old) const;
  RankedTensorType cut(Type type, unsigned axis) const;
  Value extract(Value whole, unsigned axis);
  Value insert(Value part, Value whole, unsigned axis);
  Value take(Value old, std::optional<unsigned> axis);
  Value take(OpOperand &use) { return take(use.get(), axes.of(use)); }
  /// The operand as its chain has it: all of a carried array, elements b of anything else.
  Value takeVersion(OpOperand &use) { return rootOf(use.get()) ? forms.lookup(use.get()) : take(use); }

  void rewriteBody(Block &body);
  void rewrite(Operation &op);
  void rewriteReshape(ReassociativeReshapeOpInterface op);
  void rewriteRead(SubsetAccessOpInterface op);
  void rewriteWrite(SubsetAccessOpInterface op);
  scf::ForOp rewriteLoop(scf::ForOp op, ArrayRef<Value> inits);
  void rewriteBranch(scf::IfOp op);
  Value nextOf(OpOperand &yielded, Value root, Value carried);
  void cloneCut(Operation &op);
  std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>> placeOf(SubsetAccessOpInterface op, unsigned axis,
                                                                        bool isWhole);

  scf::ForOp loop;
  const BatchAxes &axes;
  OpBuilder b;
  Value index;
  IRMapping mapping;                   // of what is the same for all b
  llvm::DenseMap<Value, Value> forms; // of what has an axis
};
} // namespace

/// The carried array of which a value is a version, whole; null for what has elements b alone.
Value Spreader::rootOf(Value old) const {
  if (axes.isFree(old) || !axes.of(old))
    return Value();
  if (auto arg = dyn_cast<BlockArgument>(old)) {
    auto op = cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return op == loop ? old : rootOf(op.getTiedLoopInit(arg)->get());
  }
  auto result = cast<OpResult>(old);
  if (auto op = dyn_cast<SubsetAccessOpInterface>(result.getOwner()); op && op.isWrite())
    return rootOf(op.getBase());
  if (auto op = dyn_cast<scf::ForOp>(result.getOwner()))
    return rootOf(op.getInitArgs()[result.getResultNumber()]);
  if (auto op = dyn_cast<scf::IfOp>(result.getOwner())) {
    Value yes = rootOf(op.thenYield().getOperand(result.getResultNumber()));
    return yes == rootOf(op.elseYield().getOperand(result.getResultNumber())) ? yes : Value();
  }
  return Value();
}

RankedTensorType Spreader::cut(Type type, unsigned axis) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[axis] = 1;
  return tensor.clone(shape);
}

/// Offsets and sizes of element b along an axis, all along the others.
static std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>> elementOf(OpBuilder &b, ArrayRef<int64_t> shape,
                                                                                 unsigned axis, Value index) {
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), sizes = getAsIndexOpFoldResult(b.getContext(), shape);
  offsets[axis] = index;
  sizes[axis] = b.getIndexAttr(1);
  return {offsets, sizes};
}

Value Spreader::extract(Value whole, unsigned axis) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
  auto [offsets, sizes] = elementOf(b, shape, axis, index);
  SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loop.getLoc(), cut(whole.getType(), axis), whole, offsets, sizes, strides);
}

Value Spreader::insert(Value part, Value whole, unsigned axis) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
  auto [offsets, sizes] = elementOf(b, shape, axis, index);
  SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, loop.getLoc(), part, whole, offsets, sizes, strides);
}

/// Elements b of what had an axis; else the value itself.
Value Spreader::take(Value old, std::optional<unsigned> axis) {
  if (!axis)
    return mapping.lookupOrDefault(old);
  if (!axes.isFree(old))
    return rootOf(old) ? extract(forms.lookup(old), *axis) : forms.lookup(old);
  // What is made of nothing is made in the size that is wanted.
  if (auto empty = old.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(b, old.getLoc(), cut(old.getType(), *axis), ValueRange());
  if (auto fill = old.getDefiningOp<linalg::FillOp>()) {
    Value into = take(fill.getOutputs().front(), axis);
    return linalg::FillOp::create(b, old.getLoc(), mapping.lookupOrDefault(fill.getInputs().front()), into).getResult(0);
  }
  return extract(mapping.lookupOrDefault(old), *axis);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The operation on operands that have one element of the batch.
void Spreader::cloneCut(Operation &op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op.getOpOperands())
    operands.push_back(take(operand));
  Operation *copy = op.clone(mapping);
  b.insert(copy);
  copy->setOperands(operands);
  for (auto [old, result] : llvm::zip_equal(op.getResults(), copy->getResults())) {
    result.setType(cut(old.getType(), *axes.of(old)));
    forms[old] = result;
  }
}

void Spreader::rewriteReshape(ReassociativeReshapeOpInterface op) {
  Value result = op->getResult(0), base = take(op.getBaseOperand());
  RankedTensorType type = cut(result.getType(), *axes.of(result));
  SmallVector<ReassociationIndices> groups = op.getReassociation();
  forms[result] = op.isExpansion() ? tensor::ExpandShapeOp::create(b, op.getLoc(), type, base, groups).getResult()
                                   : tensor::CollapseShapeOp::create(b, op.getLoc(), type, base, groups).getResult();
}

/// Offsets and sizes of a subset with element b along the axis of its base.
std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
Spreader::placeOf(SubsetAccessOpInterface op, unsigned axis, bool isWhole) {
  auto renew = [&](SmallVector<OpFoldResult> values) {
    for (OpFoldResult &value : values)
      if (auto dynamic = dyn_cast<Value>(value))
        value = mapping.lookupOrDefault(dynamic);
    return values;
  };
  SmallVector<OpFoldResult> offsets = renew(op.getSubsetOffsets()), sizes = renew(op.getSubsetSizes());
  if (isWhole)
    offsets[axis] = index;
  sizes[axis] = b.getIndexAttr(1);
  return {offsets, sizes};
}

void Spreader::rewriteRead(SubsetAccessOpInterface op) {
  Value base = op.getBase(), part = op->getResult(0);
  bool isWhole = axes.isFree(base) || rootOf(base);
  Value from = axes.isFree(base) ? mapping.lookupOrDefault(base) : forms.lookup(base);
  auto [offsets, sizes] = placeOf(op, *axes.of(op.getBaseOperand()), isWhole);
  forms[part] = tensor::ExtractSliceOp::create(b, op.getLoc(), cut(part.getType(), *axes.of(part)), from, offsets, sizes,
                                               op.getSubsetStrides());
}

void Spreader::rewriteWrite(SubsetAccessOpInterface op) {
  Value into = takeVersion(op.getBaseOperand()), part = take(*op.getUpdateOperand()), result = op->getResult(0);
  auto [offsets, sizes] = placeOf(op, *axes.of(result), static_cast<bool>(rootOf(op.getBase())));
  forms[result] = tensor::InsertSliceOp::create(b, op.getLoc(), part, into, offsets, sizes, op.getSubsetStrides());
}

/// What is carried on: versions of the carried array itself as they are, anything else as its elements b.
Value Spreader::nextOf(OpOperand &yielded, Value root, Value carried) {
  if (root && rootOf(yielded.get()) == root)
    return forms.lookup(yielded.get());
  Value part = take(yielded);
  return root ? insert(part, carried, *axes.of(yielded)) : part;
}

scf::ForOp Spreader::rewriteLoop(scf::ForOp op, ArrayRef<Value> inits) {
  auto created = scf::ForOp::create(b, op.getLoc(), mapping.lookupOrDefault(op.getLowerBound()),
                                    mapping.lookupOrDefault(op.getUpperBound()), mapping.lookupOrDefault(op.getStep()), inits);
  OpBuilder::InsertionGuard guard(b);
  if (!created.getBody()->empty()) // where nothing is carried
    created.getBody()->getTerminator()->erase();
  b.setInsertionPointToStart(created.getBody());
  mapping.map(op.getInductionVar(), created.getInductionVar());
  for (auto [old, arg] : llvm::zip_equal(op.getRegionIterArgs(), created.getRegionIterArgs())) {
    if (axes.of(old))
      forms[old] = arg;
    else
      mapping.map(old, arg);
  }
  rewriteBody(*op.getBody());
  SmallVector<Value> next;
  for (OpOperand &yielded : op.getBody()->getTerminator()->getOpOperands()) {
    BlockArgument arg = op.getRegionIterArg(yielded.getOperandNumber());
    next.push_back(axes.of(arg) ? nextOf(yielded, rootOf(arg), forms.lookup(arg)) : mapping.lookupOrDefault(yielded.get()));
  }
  scf::YieldOp::create(b, op.getLoc(), next);
  return created;
}

void Spreader::rewriteBranch(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value old : op.getResults())
    types.push_back(axes.of(old) && !rootOf(old) ? cut(old.getType(), *axes.of(old)) : old.getType());
  bool hasElse = !op.getElseRegion().empty();
  auto created = scf::IfOp::create(b, op.getLoc(), types, mapping.lookupOrDefault(op.getCondition()), hasElse);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), created->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (!to.front().empty())
      to.front().getTerminator()->erase();
    b.setInsertionPointToEnd(&to.front());
    rewriteBody(from.front());
    SmallVector<Value> yielded;
    for (OpOperand &operand : from.front().getTerminator()->getOpOperands()) {
      bool isWhole = static_cast<bool>(rootOf(op.getResult(operand.getOperandNumber())));
      yielded.push_back(isWhole ? forms.lookup(operand.get()) : take(operand));
    }
    scf::YieldOp::create(b, op.getLoc(), yielded);
  }
  for (auto [old, result] : llvm::zip_equal(op.getResults(), created.getResults())) {
    if (axes.of(old))
      forms[old] = result;
    else
      mapping.map(old, result);
  }
}

void Spreader::rewrite(Operation &op) {
  if (!axes.isTouched(&op) || llvm::any_of(op.getResults(), [&](Value result) { return axes.isFree(result); })) {
    b.clone(op, mapping);
  } else if (auto access = dyn_cast<SubsetAccessOpInterface>(op)) {
    access.isWrite() ? rewriteWrite(access) : rewriteRead(access);
  } else if (auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op)) {
    rewriteReshape(reshape);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    rewriteBranch(branch);
  } else if (auto inner = dyn_cast<scf::ForOp>(op)) {
    SmallVector<Value> inits;
    for (OpOperand &init : inner.getInitArgsMutable())
      inits.push_back(takeVersion(init));
    scf::ForOp created = rewriteLoop(inner, inits);
    for (auto [old, result] : llvm::zip_equal(inner.getResults(), created.getResults())) {
      if (axes.of(old))
        forms[old] = result;
      else
        mapping.map(old, result);
    }
  } else {
    cloneCut(op);
  }
}

void Spreader::rewriteBody(Block &body) {
  for (Operation &op : body.without_terminator())
    rewrite(op);
}

scf::ForOp Spreader::run() {
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value size = arith::ConstantIndexOp::create(b, loc, axes.getSize());
  // What is the same for all b starts anew for each, and the last one's is the result.
  auto outer = scf::ForOp::create(b, loc, zero, size, one, loop.getInitArgs());
  index = outer.getInductionVar();
  b.setInsertionPointToStart(outer.getBody());
  SmallVector<Value> inits;
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    inits.push_back(axes.of(arg) ? Value(outer.getRegionIterArg(i)) : loop.getInitArgs()[i]);
  scf::ForOp inner = rewriteLoop(loop, inits);
  b.setInsertionPointToEnd(outer.getBody());
  scf::YieldOp::create(b, loc, inner.getResults());
  loop->replaceAllUsesWith(outer);
  loop.erase();
  return inner;
}

/// What the old form asked for and the new one does not.
static void eraseDead(scf::ForOp loop) {
  loop.getBody()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Calls `act` for each batch of the loop, outer dimensions first, until it returns true.
static void forEachBatch(scf::ForOp loop, llvm::function_ref<bool(const BatchAxes &)> act) {
  BatchAxes axes(loop);
  for (auto [state, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    for (unsigned axis = 0; type && axis < type.getRank(); ++axis)
      if (axes.infer(state, axis) && axes.isWorthSpreading() && act(axes))
        return;
  }
}

static unsigned countBatches(scf::ForOp loop) {
  unsigned count = 0;
  forEachBatch(loop, [&](const BatchAxes &) {
    ++count;
    return false;
  });
  return count;
}

/// Reshapes and transpositions in the loop of what it does not change.
static SmallVector<Operation *> layoutsOfOutside(scf::ForOp loop) {
  llvm::SetVector<Operation *> found;
  auto isOutside = [&](Value value) { return loop.isDefinedOutsideOfLoop(value) || found.contains(value.getDefiningOp()); };
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tensor::EmptyOp, ReassociativeReshapeOpInterface, linalg::TransposeOp>(op) && llvm::all_of(op->getOperands(), isOutside))
      found.insert(op);
  });
  return found.takeVector();
}

/// A batch may be a part of a dimension that is divided in the loop (the heads of a projection). Where the loop has more batches of what is
/// laid out before it, it is laid out there.
static void hoistLayouts(scf::ForOp loop) {
  SmallVector<std::pair<Operation *, Operation *>> moved;
  const unsigned before = countBatches(loop);
  for (Operation *op : layoutsOfOutside(loop)) {
    moved.push_back({op, op->getNextNode()});
    op->moveBefore(loop);
  }
  if (moved.empty() || countBatches(loop) > before)
    return;
  for (auto [op, next] : llvm::reverse(moved))
    op->moveBefore(next);
}

/// Spreads the loop along each batch that it has; without one, the loops in it.
static unsigned spread(scf::ForOp loop) {
  scf::ForOp inside;
  forEachBatch(loop, [&](const BatchAxes &axes) {
    inside = Spreader(loop, axes).run();
    eraseDead(inside);
    return true;
  });
  if (inside)
    return 1 + spread(inside);
  SmallVector<scf::ForOp> loops(loop.getBody()->getOps<scf::ForOp>());
  unsigned count = 0;
  for (scf::ForOp inner : loops)
    count += spread(inner);
  return count;
}

unsigned mlir::ft::raising::spreadBatches(func::FuncOp function) {
  SmallVector<scf::ForOp> loops(function.getBody().getOps<scf::ForOp>());
  unsigned count = 0;
  for (scf::ForOp loop : loops) {
    hoistLayouts(loop);
    count += spread(loop);
  }
  return count;
}
