//===- LeafInBlock.cpp - what leaves of loops are to a block ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "ft/Analysis/LeafGraph/CopyBody.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::LeafForm;
using schedule::NestSplit;

//===----------------------------------------------------------------------===//
// Lifted iterations
//===----------------------------------------------------------------------===//

AffineExpr togpu::stepOf(AffineMap map, unsigned operand) {
  AffineExpr expr = map.getResult(0);
  bool isDim = operand < map.getNumDims();
  MLIRContext *context = map.getContext();
  AffineExpr place = isDim ? getAffineDimExpr(operand, context) : getAffineSymbolExpr(operand - map.getNumDims(), context);
  return simplifyAffineExpr(expr.replace(place, place + 1) - expr, map.getNumDims(), map.getNumSymbols());
}

/// Adds what grows of an operation's results; false where something changes otherwise.
static bool growsEvenly(Operation *op, llvm::DenseSet<Value> &growing) {
  auto grows = [&](Value value) { return growing.contains(value); };
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
    for (auto [result, one, other] :
         llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      if (grows(one) || grows(other))
        growing.insert(result);
    return !grows(branch.getCondition());
  }
  if (llvm::none_of(op->getOperands(), grows))
    return true;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    for (unsigned i = 0; i < apply.getMapOperands().size(); ++i)
      for (unsigned k = 0; k < apply.getMapOperands().size(); ++k) {
        bool isDim = k < map.getNumDims();
        if (grows(apply.getMapOperands()[i]) && grows(apply.getMapOperands()[k]) &&
            (isDim ? stepOf(map, i).isFunctionOfDim(k) : stepOf(map, i).isFunctionOfSymbol(k - map.getNumDims())))
          return false;
      }
  } else if (isa<arith::MulIOp>(op)) {
    if (grows(op->getOperand(0)) && grows(op->getOperand(1)))
      return false;
  } else if (auto view = dyn_cast<loops::ViewOp>(op)) {
    return !grows(view.getRows()) && llvm::none_of(view.getStrides(), grows) && llvm::none_of(view.getSteps(), grows);
  } else if (auto splat = dyn_cast<loops::SplatOp>(op)) {
    return !splat.getStep() || !grows(splat.getStep());
  } else if (isa<scf::YieldOp>(op)) {
    return isa<scf::IfOp>(op->getParentOp());
  } else if (!isa<arith::AddIOp, arith::SubIOp>(op)) {
    return false;
  }
  growing.insert(op->getResult(0));
  return true;
}

std::optional<Lift> togpu::readLift(scf::ForallOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getMixedLowerBound()[0]);
  std::optional<int64_t> end = getConstantIntValue(loop.getMixedUpperBound()[0]);
  if (!begin || !end || *begin >= *end)
    return std::nullopt;
  Lift lift;
  lift.begin = *begin;
  lift.count = *end - *begin;
  lift.growing.insert(loop.getInductionVar(0));
  unsigned leaves = 0;
  // (Operands come before what takes them, and regions before the operation that they are of.)
  bool isEven = !loop.getBody()
                     ->walk([&](Operation *op) {
                       leaves += isa<loops::LeafOp>(op);
                       return growsEvenly(op, lift.growing) ? WalkResult::advance() : WalkResult::interrupt();
                     })
                     .wasInterrupted();
  if (!isEven || leaves != 1)
    return std::nullopt;
  return lift;
}

Lift togpu::liftOf(loops::LeafOp leaf) {
  for (Operation *parent = leaf->getParentOp(); parent; parent = parent->getParentOp())
    if (loops::LevelAttr level = loops::levelOf(parent); level && level.getLevel() == etdg::LoopLevel::Lifted)
      if (auto points = dyn_cast<scf::ForallOp>(parent))
        return readLift(points).value_or(Lift());
  return Lift();
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

MemoryForm togpu::memoryFormOf(Value memory, const Lift &lift) {
  MemoryForm form;
  Operation *op = memory.getDefiningOp();
  if (auto splat = dyn_cast_or_null<loops::SplatOp>(op)) {
    form.hasValue = true;
    form.hasStep = bool(splat.getStep());
    form.hasIndex = !splat.getValue().getDefiningOp<arith::ConstantOp>();
    form.hasLift = lift.growing.contains(splat.getValue());
    return form;
  }
  auto branch = dyn_cast_or_null<scf::IfOp>(op);
  if (!branch) {
    form.hasMemory = true;
    return form;
  }
  unsigned number = cast<OpResult>(memory).getResultNumber();
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    MemoryForm one = memoryFormOf(yield.getOperand(number), lift);
    form.hasMemory |= one.hasMemory;
    form.hasValue |= one.hasValue;
    form.hasStep |= one.hasStep;
    form.hasIndex |= one.hasIndex;
    form.hasLift |= one.hasLift;
  }
  return form;
}

LogicalResult togpu::buildForm(loops::LeafOp leaf, const Lift &lift, LeafForm &form) {
  form.module = ModuleOp::create(leaf.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(form.module->getBody());
  func::FuncOp function = leaf::copyBody(leaf.getBody().front(), builder, leaf.getLoc());
  LeafOptions options;
  if (leaf.getMost() > 1)
    options.batched.assign(leaf.getVaries().begin(), leaf.getVaries().end());
  for (Value input : leaf.getInputs()) {
    auto type = cast<MemRefType>(input.getType());
    MemoryForm memory = memoryFormOf(input.getDefiningOp<loops::ViewOp>().getMemory(), lift);
    form.inputs.push_back({RankedTensorType::get(type.getShape().drop_front(), type.getElementType()),
                           memory.hasIndex || memory.hasStep || memory.hasLift, memory.hasValue});
    SmallVector<int64_t> strides = *loops::getRowStrides(type);
    options.strides.push_back(strides == computeSuffixProduct(type.getShape().drop_front()) ? SmallVector<int64_t>() : strides);
  }
  options.sums = leaf.getSums().value_or(FloatType());
  options.aliasesOutput = loops::outputsWrittenLast(leaf);
  if (leaf.getColumn() && llvm::is_contained(options.aliasesOutput, true))
    return leaf.emitError("the GPU engine can't run the leaf: an output may overlap an input of another thread block, as these share the "
                          "columns; expected overlaps that say where they do not");
  if (failed(leaf::normalizeLeaf(function)))
    return failure();
  FailureOr<leaf::LeafGraph> graph = leaf::buildLeafGraph(function, options);
  if (failed(graph))
    return failure();
  form.graph = std::move(*graph);
  return success();
}

LogicalResult togpu::makeForm(loops::LeafOp leaf, const Lift &lift, LeafForm &form) {
  if (failed(buildForm(leaf, lift, form)))
    return failure();
  JoinedNests joined;
  if (auto said = leaf->getAttrOfType<DenseI64ArrayAttr>(loops::names::joined))
    joined.assign(said.asArrayRef().begin(), said.asArrayRef().end());
  if (!joined.empty() && joined.size() != form.graph.nests.size())
    return leaf.emitError("the GPU engine can't run the leaf: ") << loops::names::joined << ": expected an entry for each of its "
                                                                 << form.graph.nests.size() << " loop nests, found " << joined.size();
  if (failed(leaf::joinNests(form.graph, joined)))
    return failure();
  leaf::findGuards(form.graph);
  return success();
}

/// Whether what a view has differs between lifted iterations. What is chosen at run time is taken to.
static bool isLiftedView(Value view, const Lift &lift) {
  auto rows = view.getDefiningOp<loops::ViewOp>();
  return llvm::any_of(rows.getIndices(), [&](Value index) { return lift.growing.contains(index); }) ||
         rows.getMemory().getDefiningOp<scf::IfOp>() || memoryFormOf(rows.getMemory(), lift).hasLift;
}

static SmallVector<bool> findLiftedBuffers(loops::LeafOp leaf, const leaf::LeafGraph &graph, const Lift &lift) {
  SmallVector<bool> lifted(graph.buffers.size(), false);
  if (lift.count == 1)
    return lifted;
  for (auto [differs, buffer] : llvm::zip_equal(lifted, graph.buffers)) {
    if (buffer.kind == leaf::Buffer::Kind::Input)
      differs = isLiftedView(leaf.getInputs()[buffer.number], lift);
    else if (buffer.kind == leaf::Buffer::Kind::Output)
      differs = isLiftedView(leaf.getOutputs()[buffer.number], lift);
  }
  return schedule::findLifted(graph, std::move(lifted));
}

/// How each loop nest takes part where thread blocks share the leaf's columns.
static LogicalResult readCuts(loops::LeafOp leaf, LeafForm &form) {
  ArrayRef<int64_t> cuts = leaf.getCuts().value_or(ArrayRef<int64_t>());
  if (!leaf.getWidth() || cuts.size() != form.graph.nests.size())
    return leaf.emitError("expected a number of columns, and cuts for each of its ")
           << form.graph.nests.size() << " loop nests, found " << cuts.size();
  for (auto [loop, nest] : llvm::zip_equal(cuts, form.graph.nests)) {
    if (loop >= int64_t(nest.sizes.size()) || (loop >= 0 && nest.sizes[loop] != int64_t(*leaf.getColumns())))
      return leaf.emitError("expected cuts of loops over its ")
             << int64_t(*leaf.getColumns()) << " columns, found loop " << loop;
    NestSplit split;
    split.kind = loop >= 0 ? NestSplit::shared : loop == -1 ? NestSplit::everyone : NestSplit::first;
    split.loop = int(std::max<int64_t>(loop, -1));
    form.splits.push_back(split);
  }
  return success();
}

FailureOr<LeafInBlock> togpu::readLeaf(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Lift &lift) {
  LeafInBlock read;
  if (failed(makeForm(leaf, lift, read.form)) || (leaf.getColumn() && failed(readCuts(leaf, read.form))))
    return failure();
  read.rowWise = leaf.getMost() > 1;
  read.lifted = findLiftedBuffers(leaf, read.form.graph, lift);
  schedule::LeafContext &context = read.context;
  context.maxRows = leaf.getMost();
  context.threads = block.getThreads();
  context.sums = block.getSums();
  context.lifts = lift.count;
  if (lift.count > 1)
    context.lifted = read.lifted;
  if (leaf.getColumn()) {
    context.columns = *leaf.getColumns();
    context.unit = *leaf.getTile();
  }
  return read;
}
