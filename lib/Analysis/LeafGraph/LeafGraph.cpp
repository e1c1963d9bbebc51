//===- LeafGraph.cpp - From tensor ops to nests over buffers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafGraphBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

SmallVector<int64_t> mlir::ft::leaf::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

bool LeafGraph::isBatched(const ElementView &view) const {
  return (!view.isSplat() && buffers[view.buffer].batched) ||
         llvm::any_of(view.terms, [&](const DynamicTerm &t) { return buffers[t.buffer].batched; });
}

bool mlir::ft::leaf::isInRange(const NestMember &member, Value index, int64_t size) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0 && *constant < size;
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  if (!loop || index.getParentBlock() != member.body)
    return false;
  SmallVector<int64_t> ranges = cast<linalg::LinalgOp>(member.op).getStaticLoopRanges();
  return ranges[loop.getDim()] <= size;
}

bool mlir::ft::leaf::hasDataIndices(const LeafGraph &graph) {
  auto isMoved = [](const ElementView &view) { return !view.terms.empty(); };
  for (const Nest &nest : graph.nests)
    for (const NestMember &member : nest.members) {
      if (llvm::any_of(member.reads, isMoved) || llvm::any_of(member.inits, isMoved) ||
          llvm::any_of(member.writes, isMoved) ||
          llvm::any_of(member.captured, [&](const auto &known) { return isMoved(known.second); }))
        return true;
      if (!member.body)
        continue;
      for (auto extract : member.body->getOps<tensor::ExtractOp>())
        for (auto [index, size] :
             llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape()))
          if (!isInRange(member, index, size))
            return true;
    }
  return false;
}

ArrayRef<int64_t> mlir::ft::leaf::shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

/// Coefficients of a linear expression over the loops of an op; fails for mod
/// and floordiv.
static LogicalResult linearize(AffineExpr expr, int64_t factor, MutableArrayRef<int64_t> perDim,
                               int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    perDim[dim.getPosition()] += factor;
    return success();
  }
  if (auto cst = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * cst.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(linearize(binary.getLHS(), factor, perDim, constant)) &&
                   succeeded(linearize(binary.getRHS(), factor, perDim, constant)));
  if (binary.getKind() != AffineExprKind::Mul)
    return failure();
  if (auto cst = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    return linearize(binary.getLHS(), factor * cst.getValue(), perDim, constant);
  if (auto cst = dyn_cast<AffineConstantExpr>(binary.getLHS()))
    return linearize(binary.getRHS(), factor * cst.getValue(), perDim, constant);
  return failure();
}

/// `view` of a value as the loops of an op meet it through an indexing map.
static FailureOr<ElementView> throughMap(const ElementView &view, AffineMap map) {
  ElementView result = view;
  result.forEachStrides([&](SmallVectorImpl<int64_t> &strides) { strides.assign(map.getNumDims(), 0); });
  if (view.isSplat())
    return result;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    if (failed(linearize(expr, view.strides[d], result.strides, result.offset)))
      return failure();
    for (auto [border, from] : llvm::zip_equal(result.borders, view.borders))
      if (failed(linearize(expr, from.strides[d], border.strides, border.offset)))
        return failure();
  }
  return result;
}

std::pair<int64_t, int64_t> mlir::ft::leaf::rangeOf(const Border &border, ArrayRef<int64_t> sizes) {
  int64_t low = border.offset, high = border.offset;
  for (auto [size, stride] : llvm::zip_equal(sizes, border.strides))
    (stride < 0 ? low : high) += (size - 1) * stride;
  return {low, high};
}

/// Leaves out borders that loops of these sizes do not come to; what lies after one everywhere is one scalar.
static ElementView withoutFarBorders(ElementView view, ArrayRef<int64_t> sizes) {
  auto isBehind = [&](const Border &border) {
    auto [low, high] = rangeOf(border, sizes);
    return high < 0 || low >= border.size;
  };
  if (llvm::is_contained(sizes, 0) || llvm::none_of(view.borders, isBehind)) {
    llvm::erase_if(view.borders, [&](const Border &border) {
      auto [low, high] = rangeOf(border, sizes);
      return low >= 0 && high < border.size;
    });
    return view;
  }
  ElementView splat;
  splat.splat = view.outside;
  splat.strides.assign(view.strides.size(), 0);
  return splat;
}

/// Drops the loops that run once; `sizes`: of the others.
static ElementView keepLoops(const ElementView &view, ArrayRef<int> loops, ArrayRef<int64_t> sizes) {
  ElementView result = view;
  result.forEachStrides([&](SmallVectorImpl<int64_t> &strides) {
    SmallVector<int64_t> all(ArrayRef<int64_t>{strides});
    strides.assign(sizes.size(), 0);
    for (auto [loop, stride] : llvm::zip_equal(loops, all))
      if (loop >= 0)
        strides[loop] = stride;
  });
  return withoutFarBorders(std::move(result), sizes);
}

ElementView GraphBuilder::readable(Value value, ElementView view) {
  if (view.undefined) {
    Type type = getElementTypeOrSelf(value.getType());
    view.splat = cast<TypedAttr>(Builder(type.getContext()).getZeroAttr(type));
  }
  return view;
}

/// The loops of `shape` that run more than once (or never).
static SmallVector<int> keptLoops(ArrayRef<int64_t> shape, SmallVectorImpl<int64_t> &sizes) {
  SmallVector<int> loops;
  for (int64_t size : shape) {
    loops.push_back(size == 1 ? -1 : int(sizes.size()));
    if (size != 1)
      sizes.push_back(size);
  }
  return loops;
}

void GraphBuilder::finishNest(Nest nest) {
  for (NestMember &member : nest.members) {
    if (member.contracts)
      member.sums = sums;
    for (const ElementView &view : member.reads)
      nest.batched |= graph.isBatched(view);
    for (const ElementView &view : member.writes)
      nest.batched |= graph.isBatched(view);
  }
  graph.nests.push_back(std::move(nest));
}

void GraphBuilder::addCopy(Operation *op, const ElementView &from, const ElementView &to, ArrayRef<int64_t> shape,
                           bool last) {
  if (from == to || from.undefined)
    return;
  Nest nest;
  NestMember member;
  member.op = op;
  member.copy = true;
  member.loops = keptLoops(shape, nest.sizes);
  member.reads.push_back(keepLoops(from, member.loops, nest.sizes));
  member.writes.push_back(keepLoops(to, member.loops, nest.sizes));
  nest.reduced.assign(nest.sizes.size(), false);
  nest.members.push_back(std::move(member));
  nest.last = last;
  finishNest(std::move(nest));
}

LogicalResult GraphBuilder::addElementwise(Operation *op) {
  Nest nest;
  NestMember member;
  member.op = op;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0).getType());
  member.loops = keptLoops(shape, nest.sizes);
  nest.reduced.assign(nest.sizes.size(), false);
  for (Value operand : op->getOperands()) {
    ElementView view = readable(operand, views.lookup(operand));
    if (shapeOf(operand.getType()).empty())
      view.strides.assign(shape.size(), 0);
    member.arguments.push_back(operand);
    member.reads.push_back(keepLoops(view, member.loops, nest.sizes));
  }
  for (Value result : op->getResults()) {
    ElementView view = storageFor(result);
    views[result] = view;
    member.yields.push_back(result);
    member.writes.push_back(keepLoops(view, member.loops, nest.sizes));
  }
  nest.members.push_back(std::move(member));
  finishNest(std::move(nest));
  return success();
}

/// Whether a generic yields what it is given.
bool GraphBuilder::isView(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || op.getNumLoops() != op.getNumParallelLoops())
    return false;
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  return isa<BlockArgument>(yielded) || yielded.getParentRegion() != &op.getRegion();
}

/// A generic that only moves its input (broadcast, transpose, fill) is a view.
bool GraphBuilder::tryView(linalg::GenericOp op) {
  if (!isView(op))
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Value source;
  AffineMap map;
  if (auto arg = dyn_cast<BlockArgument>(yield.getOperand(0));
      arg && arg.getOwner() == op.getBody()) {
    if (arg.getArgNumber() >= op.getNumDpsInputs())
      return false;
    OpOperand *operand = op.getDpsInputOperand(arg.getArgNumber());
    source = operand->get();
    map = op.getMatchingIndexingMap(operand);
  } else if (yield.getOperand(0).getParentRegion() != &op.getRegion()) {
    source = yield.getOperand(0);
    map = AffineMap::get(op.getNumLoops(), 0, op.getContext());
  } else {
    return false;
  }
  AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!outMap.isPermutation())
    return false;
  ElementView from = readable(source, views.lookup(source));
  if (shapeOf(source.getType()).empty())
    map = AffineMap::get(op.getNumLoops(), 0, op.getContext());
  FailureOr<ElementView> loops = throughMap(from, map);
  if (failed(loops))
    return false;
  ElementView view = *loops;
  for (auto [result, expr] : llvm::enumerate(outMap.getResults()))
    view.strides[result] = loops->strides[cast<AffineDimExpr>(expr).getPosition()];
  views[op.getResult(0)] = view;
  return true;
}

LogicalResult GraphBuilder::addGeneric(linalg::GenericOp op) {
  if (tryView(op))
    return success();
  Nest nest;
  NestMember member;
  member.op = op;
  member.body = op.getBody();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  member.loops = keptLoops(ranges, nest.sizes);
  bool reduces = false;
  for (auto [loop, kind] : llvm::zip_equal(member.loops, op.getIteratorTypesArray())) {
    bool reduced = kind == utils::IteratorType::reduction;
    member.contracts |= reduced;
    if (loop >= 0) {
      nest.reduced.push_back(reduced);
      reduces |= reduced;
    }
  }

  auto view = [&](OpOperand *operand, ElementView of) -> FailureOr<ElementView> {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!isa<RankedTensorType>(operand->get().getType()))
      map = AffineMap::get(op.getNumLoops(), 0, op.getContext());
    FailureOr<ElementView> loops = throughMap(of, map);
    if (failed(loops))
      return op.emitError("an indexing map of a leaf must be linear, found ")
             << AffineMapAttr::get(map);
    return keepLoops(*loops, member.loops, nest.sizes);
  };
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value arg = op.getMatchingBlockArgument(operand);
    if (arg.use_empty())
      continue;
    FailureOr<ElementView> read = view(operand, readable(operand->get(), views.lookup(operand->get())));
    if (failed(read))
      return failure();
    member.arguments.push_back(arg);
    member.reads.push_back(*read);
  }
  SmallVector<BlockArgument> outs = llvm::to_vector(op.getRegionOutputArgs());
  for (auto [i, operandRef] : llvm::enumerate(op.getDpsInitsMutable())) {
    OpOperand *operand = &operandRef;
    FailureOr<ElementView> init = view(operand, readable(operand->get(), views.lookup(operand->get())));
    if (failed(init))
      return failure();
    if (reduces) {
      member.accumulators.push_back(outs[i]);
      member.inits.push_back(*init);
      SmallVector<Operation *> combiners;
      Value reduced = matchReduction(outs, i, combiners);
      member.combiners.push_back(reduced && combiners.size() == 1 ? combiners.front() : nullptr);
    } else if (!outs[i].use_empty()) {
      member.arguments.push_back(outs[i]);
      member.reads.push_back(*init);
    }
  }
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegion(), captured);
  for (Value value : captured) {
    member.captured.push_back({value, readable(value, views.lookup(value))});
    nest.batched |= graph.isBatched(member.captured.back().second);
  }

  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  llvm::append_range(member.yields, yield.getOperands());
  for (auto [result, operandRef] : llvm::zip_equal(op->getResults(), op.getDpsInitsMutable())) {
    ElementView storage = storageFor(result);
    views[result] = storage;
    FailureOr<ElementView> write = view(&operandRef, storage);
    if (failed(write))
      return failure();
    for (auto [reduced, stride] : llvm::zip_equal(nest.reduced, write->strides))
      if (reduced && stride != 0)
        return op.emitError("an output of a leaf may not be indexed by a reduction dimension");
    member.writes.push_back(*write);
  }
  nest.members.push_back(std::move(member));
  finishNest(std::move(nest));
  return success();
}

LogicalResult GraphBuilder::checkType(Operation *op, Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op->emitError("a leaf works on tensors of static shape, found ") << type;
  }
  Type element = getElementTypeOrSelf(type);
  if (element.isF64() || element.isF32() || element.isF16() || element.isBF16() ||
      element.isIndex() || element.isSignlessInteger(1) || element.isSignlessInteger(8) ||
      element.isSignlessInteger(16) || element.isSignlessInteger(32) ||
      element.isSignlessInteger(64))
    return success();
  return op->emitError("a leaf cannot compute on elements of type ") << element;
}

/// Whether an operation only computes element by element, from row to row something else.
static bool computesOnRows(Operation *op, const llvm::DenseSet<Value> &batched) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  bool isPointwise = generic ? generic.getNumLoops() == generic.getNumParallelLoops()
                             : OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0;
  return isPointwise && llvm::all_of(op->getResults(), [&](Value result) { return batched.contains(result); });
}

/// A conversion of what all rows share is done again for each of them, if they alone use it: it then joins what they compute
/// in registers, where a nest of its own would go through memory and keep rows from staying in registers.
static void repeatConversions(Block &block, llvm::DenseSet<Value> &batched) {
  for (Operation &op : llvm::reverse(block))
    if (isa<arith::ExtFOp>(op) && !batched.contains(op.getResult(0)) && !op.use_empty() &&
        llvm::all_of(op.getUsers(), [&](Operation *user) { return computesOnRows(user, batched); }))
      batched.insert(op.getResult(0));
}

/// Which values differ from row to row.
void GraphBuilder::findBatched(Block &block, ArrayRef<bool> inputs) {
  for (auto [i, arg] : llvm::enumerate(block.getArguments()))
    if (inputs.empty() || inputs[i])
      batched.insert(arg);
  for (Operation &op : block) {
    bool varies = llvm::any_of(op.getOperands(), [&](Value v) { return batched.contains(v); });
    for (Region &region : op.getRegions()) {
      SetVector<Value> captured;
      getUsedValuesDefinedAbove(region, captured);
      varies |= llvm::any_of(captured, [&](Value v) { return batched.contains(v); });
    }
    if (varies)
      batched.insert_range(op.getResults());
  }
  repeatConversions(block, batched);
}

LogicalResult GraphBuilder::run(const LeafOptions &options) {
  Block &block = graph.func.getBody().front();
  if (options.sums && !isHalf(options.sums) && !options.sums.isF32())
    return graph.func.emitError("sums of f16 and bf16 accumulate in f32, or are rounded at each step; found sums in ") << options.sums;
  sums = options.sums && options.sums.isF32() ? options.sums : Type();
  findBatched(block, options.batched);
  for (auto [i, arg] : llvm::enumerate(block.getArguments())) {
    if (failed(checkType(graph.func, arg.getType())))
      return failure();
    if (!isa<RankedTensorType>(arg.getType()))
      return graph.func.emitError("the inputs of a leaf are tensors, found ") << arg.getType();
    views[arg] = newBuffer(Buffer::Kind::Input, arg.getType(), batched.contains(arg));
    graph.buffers.back().number = i;
    if (ArrayRef<int64_t> strides = options.stridesOf(i); !strides.empty())
      views[arg].strides.assign(strides.begin(), strides.end());
  }
  Operation *terminator = block.getTerminator();
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    if (failed(checkType(terminator, result.getType())))
      return failure();
    outputs.push_back(newBuffer(Buffer::Kind::Output, result.getType(), true));
    graph.buffers.back().number = i;
    // The value may be computed where it is wanted, if that harms no input.
    bool aliases = i < options.aliasesOutput.size() && options.aliasesOutput[i];
    Value computed = result; // (a reshape of it has the same elements in the same order)
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(computed.getDefiningOp()))
      computed = computed.getDefiningOp()->getOperand(0);
    if (!aliases && batched.contains(computed) && computed.getDefiningOp()) {
      ElementView place = outputs[i];
      place.strides = rowMajorStrides(shapeOf(computed.getType()));
      storages.try_emplace(computed, place);
    }
  }
  findDestinations(block);
  for (Operation &op : block.without_terminator()) {
    for (Type type : op.getResultTypes())
      if (failed(checkType(&op, type)))
        return failure();
    if (failed(addOp(&op)))
      return failure();
  }
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    bool aliases = i < options.aliasesOutput.size() && options.aliasesOutput[i];
    addCopy(terminator, views.lookup(result), outputs[i], shapeOf(result.getType()), aliases);
  }
  return success();
}

LogicalResult GraphBuilder::addOp(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return addGeneric(generic);
  if (isDataMovement(op))
    return addDataMovement(op);
  if (op->getNumRegions() == 0 && op->getNumResults() > 0 && isMemoryEffectFree(op) &&
      (OpTrait::hasElementwiseMappableTraits(op) ||
       isa_and_nonnull<arith::ArithDialect>(op->getDialect())))
    return addElementwise(op);
  return op->emitError("the leaf code generator has no rule for this op");
}

FailureOr<LeafGraph> mlir::ft::leaf::buildLeafGraph(func::FuncOp func, const LeafOptions &options) {
  GraphBuilder builder;
  builder.graph.func = func;
  if (failed(builder.run(options)))
    return failure();
  for (auto [i, nest] : llvm::enumerate(builder.graph.nests))
    nest.number = int(i);
  return std::move(builder.graph);
}
