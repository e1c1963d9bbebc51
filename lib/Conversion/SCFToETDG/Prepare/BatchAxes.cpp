//===- BatchAxes.cpp - dimensions that all statements of a loop share -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One carried tensor is said to have the batch along one of its dimensions; each
// statement that touches it says what follows for its other operands and results,
// until nothing new follows or a statement joins elements of different places.
//
//===----------------------------------------------------------------------===//
#include "BatchAxes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

std::optional<unsigned> BatchAxes::of(Value value) const {
  auto known = axes.find(value);
  return known == axes.end() ? std::nullopt : std::optional(known->second);
}

std::optional<unsigned> BatchAxes::of(OpOperand &use) const {
  if (!isFree(use.get()))
    return of(use.get());
  auto known = uses.find(&use);
  return known == uses.end() ? std::nullopt : std::optional(known->second);
}

bool BatchAxes::isFree(Value value) const {
  if (!loop->getRegion(0).isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isFree(fill.getOutputs().front());
  return isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

void BatchAxes::touch(Operation *op) {
  work.insert(op);
  for (; op != loop && touched.insert(op).second; op = op->getParentOp()) {
  }
}

bool BatchAxes::set(Value value, unsigned axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || axis >= type.getRank() || type.getDimSize(axis) != size)
    return false;
  auto [known, isNew] = axes.try_emplace(value, axis);
  if (!isNew)
    return known->second == axis;
  Operation *definition = value.getDefiningOp();
  touch(definition ? definition : value.getParentBlock()->getParentOp());
  for (Operation *user : value.getUsers())
    touch(user);
  return true;
}

bool BatchAxes::set(OpOperand &use, unsigned axis) {
  if (!isFree(use.get()))
    return set(use.get(), axis);
  auto type = dyn_cast<RankedTensorType>(use.get().getType());
  if (!type || !type.hasStaticShape() || axis >= type.getRank() || type.getDimSize(axis) != size)
    return false;
  auto [known, isNew] = uses.try_emplace(&use, axis);
  return known->second == axis;
}

bool BatchAxes::infer(unsigned state, unsigned axis) {
  axes.clear();
  uses.clear();
  work.clear();
  touched.clear();
  BlockArgument arg = loop.getRegionIterArg(state);
  auto type = dyn_cast<RankedTensorType>(arg.getType());
  if (!type || axis >= type.getRank() || type.isDynamicDim(axis) || type.getDimSize(axis) < 2)
    return false;
  size = type.getDimSize(axis);
  if (!set(arg, axis))
    return false;
  while (!work.empty())
    if (!relate(work.pop_back_val()))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// What follows at a statement
//===----------------------------------------------------------------------===//

bool BatchAxes::relate(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return relateLinalg(structured);
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return relateStates(inner);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return relateBranches(branch);
  if (isa<scf::YieldOp>(op))
    return relate(op->getParentOp());
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op))
    return relateAccess(access);
  if (auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op))
    return relateReshape(reshape);
  return relateElementwise(op);
}

/// The loop of the operation that goes over the batch, from any operand that is known to have it.
static std::optional<unsigned> findBatchLoop(linalg::LinalgOp op, const BatchAxes &axes, bool &agree) {
  std::optional<unsigned> found;
  auto add = [&](OpOperand &operand, std::optional<unsigned> axis) {
    if (!axis)
      return;
    auto dim = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(*axis));
    if (!dim || (found && *found != dim.getPosition()))
      agree = false;
    else
      found = dim.getPosition();
  };
  for (OpOperand &operand : op->getOpOperands())
    add(operand, axes.of(operand));
  for (OpOperand &init : op.getDpsInitsMutable())
    add(init, axes.of(op.getTiedOpResult(&init)));
  return found;
}

bool BatchAxes::relateLinalg(linalg::LinalgOp op) {
  bool agree = op.hasPureTensorSemantics();
  std::optional<unsigned> batch = agree ? findBatchLoop(op, *this, agree) : std::nullopt;
  if (!agree || !batch || op.getIteratorTypesArray()[*batch] != utils::IteratorType::parallel)
    return agree && !batch;
  // A body that asks for its place would have to be told it.
  if (llvm::any_of(op.getBlock()->getOps<linalg::IndexOp>(), [&](linalg::IndexOp index) { return index.getDim() == *batch; }))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> axis;
    for (auto [position, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (!expr.isFunctionOfDim(*batch))
        continue;
      if (axis || !isa<AffineDimExpr>(expr))
        return false;
      axis = position;
    }
    bool isInit = op.isDpsInit(&operand);
    if (!axis ? isInit : !set(operand, *axis))
      return false;
    if (isInit && !set(op.getTiedOpResult(&operand), *axis))
      return false;
  }
  return true;
}

/// One axis for all of these, if any has one: values of the body, and operands.
template <typename... Things>
static std::optional<unsigned> firstOf(const BatchAxes &axes, Things &&...things) {
  std::optional<unsigned> found;
  ((found = found ? found : axes.of(things)), ...);
  return found;
}

bool BatchAxes::relateStates(scf::ForOp op) {
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  for (unsigned i = 0; i < op.getNumRegionIterArgs(); ++i) {
    BlockArgument arg = op.getRegionIterArg(i);
    OpOperand &init = op.getInitArgsMutable()[i], &next = yield->getOpOperand(i);
    bool isWhole = op == loop; // whose operands and results lie outside
    std::optional<unsigned> axis = isWhole ? firstOf(*this, arg, next) : firstOf(*this, arg, next, init, op.getResult(i));
    if (axis && (!set(arg, *axis) || !set(next, *axis) ||
                 (!isWhole && (!set(init, *axis) || !set(op.getResult(i), *axis)))))
      return false;
  }
  return true;
}

bool BatchAxes::relateBranches(scf::IfOp op) {
  for (OpResult result : op.getResults()) {
    OpOperand &yes = op.thenYield()->getOpOperand(result.getResultNumber());
    OpOperand &no = op.elseYield()->getOpOperand(result.getResultNumber());
    std::optional<unsigned> axis = firstOf(*this, result, yes, no);
    if (axis && (!set(result, *axis) || !set(yes, *axis) || !set(no, *axis)))
      return false;
  }
  return true;
}

/// Whether all of the dimension is taken, so that it is the batch on both sides.
static bool isFull(SubsetAccessOpInterface access, unsigned d, int64_t size) {
  return isConstantIntValue(access.getSubsetOffsets()[d], 0) && isConstantIntValue(access.getSubsetSizes()[d], size) &&
         isConstantIntValue(access.getSubsetStrides()[d], 1);
}

bool BatchAxes::relateAccess(SubsetAccessOpInterface op) {
  if (op.isScalar() || op->getNumResults() != 1)
    return false;
  SmallVector<int64_t> kept = op.getKeptDims();
  OpOperand &base = op.getBaseOperand(), *update = op.getUpdateOperand();
  Value result = op->getResult(0);
  std::optional<unsigned> whole = update ? firstOf(*this, base, result) : of(base);
  if (std::optional<unsigned> part = update ? of(*update) : of(result); !whole && part)
    whole = kept[*part];
  auto *place = whole ? llvm::find(kept, *whole) : kept.end();
  if (!whole || place == kept.end() || !isFull(op, *whole, size) || !set(base, *whole))
    return false;
  unsigned part = place - kept.begin();
  return update ? set(result, *whole) && set(*update, part) : set(result, part);
}

bool BatchAxes::relateElementwise(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return false;
  std::optional<unsigned> axis = of(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands())
    axis = axis ? axis : of(operand);
  if (!axis || !set(op->getResult(0), *axis))
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return !isa<TensorType>(operand.get().getType()) || set(operand, *axis);
  });
}

/// A dimension stays one where those beside it in its group have one element.
bool BatchAxes::relateReshape(ReassociativeReshapeOpInterface op) {
  OpOperand &base = op.getBaseOperand();
  Value result = op->getResult(0);
  bool expands = op.isExpansion();
  std::optional<unsigned> ofWide = expands ? of(result) : of(base), ofNarrow = expands ? of(base) : of(result);
  ArrayRef<int64_t> shape = (expands ? op.getResultType() : op.getBaseType()).getShape();
  for (auto [g, group] : llvm::enumerate(op.getReassociation())) {
    bool isMeant = ofWide ? llvm::is_contained(group, *ofWide) : ofNarrow && *ofNarrow == g;
    if (!isMeant)
      continue;
    const int64_t *place = llvm::find_if(group, [&](int64_t d) { return shape[d] == size; });
    bool isAlone = llvm::count_if(group, [&](int64_t d) { return shape[d] != 1; }) == 1;
    if (place == group.end() || !isAlone)
      return false;
    unsigned wideAxis = *place;
    return expands ? set(result, wideAxis) && set(base, g) : set(base, wideAxis) && set(result, g);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Whether it pays
//===----------------------------------------------------------------------===//

static int64_t workOf(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::any_of(ranges, ShapedType::isDynamic) ? std::numeric_limits<int32_t>::max() : llvm::product_of(ranges);
}

/// Whether a sum goes over elements beside which lie those of other places of the batch: cut there, it would go
/// through memory in steps.
bool BatchAxes::hasNeighbours(linalg::LinalgOp op) const {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    std::optional<unsigned> axis = of(*operand);
    if (!axis)
      return false;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand->get().getType()).getShape();
    return llvm::all_of(shape.drop_front(*axis + 1), [](int64_t extent) { return extent == 1; });
  });
}

bool BatchAxes::isWorthSpreading() const {
  int64_t shared = 0, own = 0;
  bool sums = false, neighbours = false;
  loop->getRegion(0).walk([&](linalg::LinalgOp op) {
    bool isOwn = isTouched(op);
    if (isa<linalg::FillOp>(op))
      return;
    (isOwn ? own : shared) += workOf(op);
    if (!isOwn || op.getNumReductionLoops() == 0)
      return;
    sums = true;
    neighbours |= hasNeighbours(op);
  });
  return sums && !neighbours && shared <= own / size;
}
