//===- RowSpace.cpp - rows of operations on whole tensors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/RowSpace.h"

#include "mlir/IR/IRMapping.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;

int64_t RowSpace::getInnerPoints(unsigned rows) const {
  int64_t outer = 1;
  for (int64_t length : ArrayRef(lengths).take_front(rows))
    outer *= length;
  return points / std::max<int64_t>(outer, 1);
}

ArrayRef<AffineExpr> RowSpace::getIndex(unsigned operand, unsigned rows) const {
  ArrayRef<AffineExpr> index = operands[operand];
  return index.take_while([&](AffineExpr e) {
    for (unsigned r = rows; r < lengths.size(); ++r)
      if (e.isFunctionOfDim(r))
        return false;
    return true;
  });
}

RankedTensorType etdg::dropLeading(RankedTensorType type, unsigned count) {
  return RankedTensorType::get(type.getShape().drop_front(count), type.getElementType());
}

/// All that has a shape is a tensor, of static shape unless others are let in.
static bool isOfTensors(Operation *op, bool open) {
  auto check = [&](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || (isa<RankedTensorType>(type) && (open || shaped.hasStaticShape()));
  };
  return llvm::all_of(op->getOperandTypes(), check) && llvm::all_of(op->getResultTypes(), check);
}

static int64_t countPoints(ArrayRef<int64_t> ranges) {
  int64_t points = 1;
  for (int64_t range : ranges)
    points *= ShapedType::isDynamic(range) ? 2 : range;
  return points;
}

/// The first `count` dimensions as indices.
static SmallVector<AffineExpr> leadingDims(unsigned count, MLIRContext *context) {
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < count; ++d)
    dims.push_back(getAffineDimExpr(d, context));
  return dims;
}

/// Every tensor operand has the results' leading dimensions.
static RowSpace alikeSpace(ArrayRef<int64_t> lengths, ArrayRef<int64_t> shape, ValueRange operands, MLIRContext *context) {
  RowSpace space;
  space.lengths.assign(lengths.begin(), lengths.end());
  space.points = countPoints(shape);
  for (Value operand : operands)
    space.operands.push_back(isa<RankedTensorType>(operand.getType()) ? leadingDims(lengths.size(), context)
                                                                      : SmallVector<AffineExpr>());
  return space;
}

RowSpace etdg::getCopySpace(TypeRange types, MLIRContext *context) {
  RowSpace space;
  auto first = cast<RankedTensorType>(types.front());
  ArrayRef<int64_t> common = first.getShape();
  for (Type type : types) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    unsigned same = 0;
    while (same < std::min(common.size(), shape.size()) && common[same] == shape[same])
      ++same;
    common = common.take_front(same);
    space.points = std::max(space.points, cast<RankedTensorType>(type).getNumElements());
    if (cast<RankedTensorType>(type).getNumElements() == 0)
      return {};
  }
  space.lengths.assign(common.begin(), common.end());
  space.operands.assign(types.size(), leadingDims(common.size(), context));
  return space;
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

/// The loops that are leading dimensions of every result, and that the body does not ask for.
static SmallVector<unsigned> leadingLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  SmallVector<AffineMap> inits;
  for (OpOperand &init : op.getDpsInitsMutable())
    inits.push_back(op.getMatchingIndexingMap(&init));
  llvm::SmallDenseSet<unsigned> asked;
  op->getRegion(0).walk([&](linalg::IndexOp index) { asked.insert(index.getDim()); });
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned r = 0; !inits.empty(); ++r) {
    if (r >= inits.front().getNumResults())
      break;
    auto dim = dyn_cast<AffineDimExpr>(inits.front().getResult(r));
    if (!dim || asked.contains(dim.getPosition()) || iterators[dim.getPosition()] != utils::IteratorType::parallel)
      break;
    bool same = llvm::all_of(inits, [&](AffineMap map) {
      return map.isProjectedPermutation() && r < map.getNumResults() && map.getResult(r) == dim;
    });
    if (!same)
      break;
    loops.push_back(dim.getPosition());
  }
  return loops;
}

/// How many of the rows an operand reads through `map` lets stand, and its indices for these.
static unsigned rowsThrough(AffineMap map, ArrayRef<unsigned> loops, SmallVectorImpl<AffineExpr> &index) {
  for (auto [r, loop] : llvm::enumerate(loops)) {
    unsigned uses = llvm::count_if(map.getResults(), [&, l = loop](AffineExpr e) { return e.isFunctionOfDim(l); });
    if (uses == 0)
      continue;
    unsigned at = index.size();
    if (uses > 1 || map.getResult(at) != getAffineDimExpr(loop, map.getContext()))
      return r;
    index.push_back(getAffineDimExpr(r, map.getContext()));
  }
  return loops.size();
}

RowSpace etdg::getRowSpace(linalg::LinalgOp op, ArrayRef<AffineMap> maps) {
  SmallVector<unsigned> loops = leadingLoops(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  RowSpace space;
  // What one operand refuses, all do; indices are made anew for what is left.
  for (bool again = true; again;) {
    again = false;
    space.operands.clear();
    for (OpOperand &operand : op->getOpOperands()) {
      SmallVector<AffineExpr> index;
      if (isa<RankedTensorType>(operand.get().getType())) {
        unsigned left = rowsThrough(maps[operand.getOperandNumber()], loops, index);
        again |= left < loops.size();
        loops.resize(left);
      }
      space.operands.push_back(index);
    }
  }
  for (unsigned loop : loops)
    space.lengths.push_back(ranges[loop]);
  space.points = countPoints(ranges);
  return space;
}

/// Whether a body hands on its first operand, which has the places of the result.
static bool isForwarding(linalg::LinalgOp op, ArrayRef<AffineMap> maps) {
  Block &body = op->getRegion(0).front();
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 && isa<RankedTensorType>(op->getOperand(0).getType()) &&
         llvm::hasSingleElement(body) && body.getTerminator()->getOperand(0) == body.getArgument(0) &&
         maps[0] == maps[1] && maps[0].isIdentity();
}

static SmallVector<Value> createLinalgRow(OpBuilder &builder, linalg::LinalgOp op, const RowSpace &space, unsigned rows,
                                  ValueRange operands, IRMapping &mapping) {
  Location loc = op.getLoc();
  MLIRContext *context = op->getContext();
  if (isa<linalg::FillOp>(op))
    return {linalg::FillOp::create(builder, loc, operands.front(), operands.back())->getResult(0)};
  SmallVector<unsigned> loops = leadingLoops(op);
  llvm::SmallDenseSet<unsigned> outside(loops.begin(), loops.begin() + rows);
  SmallVector<AffineExpr> dims;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> number;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isOutside = outside.contains(loop);
    number.push_back(isOutside ? -1 : int64_t(iterators.size()));
    dims.push_back(isOutside ? getAffineConstantExpr(0, context) : getAffineDimExpr(iterators.size(), context));
    if (!isOutside)
      iterators.push_back(iterator);
  }
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    unsigned taken = space.getIndex(operand.getOperandNumber(), rows).size();
    maps.push_back(AffineMap::get(map.getNumDims(), 0, map.getResults().drop_front(taken), context)
                       .replaceDimsAndSymbols(dims, {}, iterators.size(), 0));
  }
  if (isForwarding(op, maps))
    return {operands.front()};
  SmallVector<Type> types;
  ValueRange inits = operands.take_back(op.getNumDpsInits());
  for (Value init : inits)
    types.push_back(init.getType());
  auto row = linalg::GenericOp::create(builder, loc, types, operands.drop_back(op.getNumDpsInits()), inits, maps, iterators);
  row.getRegion().getBlocks().clear();
  Block *from = &op->getRegion(0).front(), *to = new Block();
  row.getRegion().push_back(to);
  for (OpOperand &operand : op->getOpOperands())
    to->addArgument(getElementTypeOrSelf(operand.get().getType()), loc);
  // A body need not take all of its operands (`linalg.map`).
  for (auto [i, argument] : llvm::enumerate(from->getArguments()))
    mapping.map(argument, to->getArgument(i));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(to);
  for (Operation &inner : *from)
    builder.clone(inner, mapping);
  row.walk([&](linalg::IndexOp index) { index.setDim(number[index.getDim()]); });
  return llvm::to_vector_of<Value>(row.getResults());
}

//===----------------------------------------------------------------------===//
// Views inside of a leaf
//===----------------------------------------------------------------------===//

/// Leading dimensions that a reshape leaves alone. With `units`, the last one may have dimensions of size 1 after it.
static unsigned keptDims(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> expanded, ArrayRef<int64_t> collapsed, bool units) {
  unsigned kept = 0;
  while (kept < groups.size() && groups[kept].size() == 1 && expanded[kept] == collapsed[kept])
    ++kept;
  if (!units || kept == groups.size() || expanded[kept] != collapsed[kept])
    return kept;
  bool onlyUnits = llvm::all_of(ArrayRef(groups[kept]).drop_front(), [&](int64_t d) { return expanded[d] == 1; });
  return kept + onlyUnits;
}

static RowSpace reshapeSpace(Operation *op, bool open) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType()), to = cast<RankedTensorType>(op->getResult(0).getType());
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  SmallVector<ReassociationIndices> groups =
      expand ? expand.getReassociationIndices() : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  unsigned kept = keptDims(groups, (expand ? to : from).getShape(), (expand ? from : to).getShape(), open);
  return alikeSpace(to.getShape().take_front(kept), to.getShape(), op->getOperands(), op->getContext());
}

static Value createReshapeRow(OpBuilder &builder, Operation *op, unsigned rows, Value operand) {
  auto type = dropLeading(cast<RankedTensorType>(op->getResult(0).getType()), rows);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  SmallVector<ReassociationIndices> groups =
      expand ? expand.getReassociationIndices() : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  // Dimensions of size 1 after the last row belong to what follows.
  ReassociationIndices units;
  if (rows > 0)
    units.append(groups[rows - 1].begin() + 1, groups[rows - 1].end());
  groups.erase(groups.begin(), groups.begin() + rows);
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), units.begin(), units.end());
  for (ReassociationIndices &group : groups)
    for (int64_t &d : group)
      d -= rows;
  if (expand)
    return tensor::ExpandShapeOp::create(builder, op->getLoc(), type, operand, groups);
  return tensor::CollapseShapeOp::create(builder, op->getLoc(), type, operand, groups);
}

/// Leading dimensions of a base that a slice takes whole (open ones as far as types tell), where all else is constant.
static RowSpace sliceSpace(OffsetSizeAndStrideOpInterface slice, RankedTensorType base, RankedTensorType part,
                           const llvm::SmallBitVector &dropped, RankedTensorType result) {
  Operation *op = slice.getOperation();
  auto isConstant = [&](unsigned d) {
    return !slice.isDynamicOffset(d) && !slice.isDynamicSize(d) && !slice.isDynamicStride(d);
  };
  unsigned rows = 0, rank = base.getRank();
  while (rows < rank && !dropped.test(rows) && !slice.isDynamicOffset(rows) && slice.getStaticOffset(rows) == 0 &&
         !slice.isDynamicStride(rows) && slice.getStaticStride(rows) == 1 && part.getDimSize(rows) == base.getDimSize(rows))
    ++rows;
  for (unsigned d = rows; d < rank; ++d)
    if (!isConstant(d))
      rows = 0;
  return alikeSpace(result.getShape().take_front(rows), result.getShape(), op->getOperands(), op->getContext());
}

static RowSpace sliceSpace(Operation *op) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return sliceSpace(extract, extract.getSourceType(), result, extract.getDroppedDims(), result);
  auto insert = cast<tensor::InsertSliceOp>(op);
  return sliceSpace(insert, result, insert.getSourceType(), insert.getDroppedDims(), result);
}

static Value createSliceRow(OpBuilder &builder, Operation *op, unsigned rows, ValueRange operands) {
  auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
  auto from = [&](SmallVector<OpFoldResult> all) { return SmallVector<OpFoldResult>(ArrayRef(all).drop_front(rows)); };
  SmallVector<OpFoldResult> offsets = from(slice.getMixedOffsets()), sizes = from(slice.getMixedSizes()), strides = from(slice.getMixedStrides());
  auto type = dropLeading(cast<RankedTensorType>(op->getResult(0).getType()), rows);
  if (isa<tensor::ExtractSliceOp>(op))
    return tensor::ExtractSliceOp::create(builder, op->getLoc(), type, operands[0], offsets, sizes, strides);
  return tensor::InsertSliceOp::create(builder, op->getLoc(), operands[0], operands[1], offsets, sizes, strides);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

RowSpace etdg::getRowSpace(Operation *op, bool open) {
  RowSpace none;
  none.operands.resize(op->getNumOperands());
  if (!isOfTensors(op, open) || op->getNumResults() == 0)
    return none;
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type) || countPoints(cast<RankedTensorType>(type).getShape()) == 0)
      return none;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  RowSpace space = none;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    space = getRowSpace(linalgOp, linalgOp.getIndexingMapsArray());
  else if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    space = alikeSpace(shape.take_front(softmax.getDimension()), shape, op->getOperands(), op->getContext());
  else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    space = reshapeSpace(op, open);
  else if (open && isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
    space = sliceSpace(op);
  else if (OpTrait::hasElementwiseMappableTraits(op))
    space = alikeSpace(shape, shape, op->getOperands(), op->getContext());
  return space.points == 0 ? none : space;
}

SmallVector<Value> etdg::createRow(OpBuilder &builder, Operation *op, const RowSpace &space, unsigned rows,
                                   ValueRange operands, IRMapping &mapping) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return createLinalgRow(builder, linalgOp, space, rows, operands, mapping);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return {createReshapeRow(builder, op, rows, operands.front())};
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
    return {createSliceRow(builder, op, rows, operands)};
  mapping.map(op->getOperands(), operands);
  Operation *row = builder.clone(*op, mapping);
  for (OpResult result : row->getResults())
    result.setType(dropLeading(cast<RankedTensorType>(result.getType()), rows));
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(row))
    softmax.setDimension(softmax.getDimension() - rows);
  return llvm::to_vector_of<Value>(row->getResults());
}
