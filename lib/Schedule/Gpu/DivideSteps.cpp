//===- DivideSteps.cpp - a step whose products need each other whole ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of threads can share the columns of one product, but not of a second one
// that takes all columns of the first in the same step (logits of a state that the
// step computes): such a step would run on one block of threads. Its leaf becomes
// several, one for each such product and one for what takes the last of them whole;
// they share the loop of steps, and the grid waits between them.
//
//===----------------------------------------------------------------------===//
#include "GpuPlanner.h"

#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Schedule/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

namespace {
/// The stages of a leaf: a statement stands behind the products that it takes whole.
class Stages {
public:
  Stages(BlockOp leaf, int64_t largeWork);

  unsigned count() const { return number; }
  int64_t getLargeWork() const { return work; }
  /// The stage that computes a value; the first one for what is no product's.
  unsigned of(Value value) const { return stages.lookup(value.getDefiningOp()); }
  /// Whether a product of this step is in it: then it is computed once, in its stage.
  bool isOfProduct(Value value) const { return ofProduct.contains(value.getDefiningOp()); }

private:
  bool takesWhole(Operation &op, Value operand) const;

  llvm::DenseMap<Operation *, unsigned> stages;
  llvm::DenseSet<Operation *> ofProduct;
  llvm::DenseSet<Operation *> spread; // a product of its own stage is in it: blocks of threads have parts of it
  unsigned number = 1;
  int64_t work = 0;
};

/// Writes the leaves of a kernel in the place of one.
class Divider {
public:
  Divider(BlockOp leaf, const Stages &stages, etdg::ScheduleAttr schedule, Value planes)
      : leaf(leaf), stages(stages), schedule(schedule), planes(planes), builder(leaf), spec(etdg::BlockBuilder::from(leaf)) {}
  etdg::KernelOp run(Operation *item, SmallVectorImpl<BlockOp> &parts);
  /// The kernel goes again, with its buffers.
  void undo(etdg::KernelOp kernel);
  void keepReadPlanes();

private:
  bool isRead(Value value, unsigned stage) const;
  void require(Value value, unsigned stage, llvm::SetVector<Value> &reads, llvm::SetVector<Operation *> &ops);
  void requireOp(Operation *op, unsigned stage, llvm::SetVector<Value> &reads, llvm::SetVector<Operation *> &ops);
  unsigned stageOfWrite(unsigned number);
  void findCrossing();
  BlockOp emit(unsigned stage);

  BlockOp leaf;
  const Stages &stages;
  etdg::ScheduleAttr schedule;
  Value planes; // a buffer with one plane for each step, as those between the leaves have
  OpBuilder builder;
  etdg::BlockBuilder spec;
  llvm::MapVector<Value, Value> crossing; // and its buffer
};
} // namespace

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static int64_t sumWork(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumReductionLoops() == 0)
    return 0;
  SmallVector<int64_t> ranges = structured.getStaticLoopRanges();
  return llvm::any_of(ranges, ShapedType::isDynamic) ? 0 : llvm::product_of(ranges);
}

/// Sums go through all of an operand, and scalars may come from any place of it.
bool Stages::takesWhole(Operation &op, Value operand) const {
  if (!isa<RankedTensorType>(operand.getType()))
    return false;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return isa<tensor::ExtractOp>(op);
  // What a body reads at an index of its own comes from anywhere, too.
  if (!llvm::is_contained(op.getOperands(), operand))
    return true;
  return structured.getNumReductionLoops() > 0 && !llvm::is_contained(structured.getDpsInits(), operand);
}

Stages::Stages(BlockOp leaf, int64_t largeWork) {
  for (Operation &op : leaf.getBody().front().without_terminator()) {
    llvm::SetVector<Value> operands(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), operands);
    auto isSpread = [&](Value operand) { return spread.contains(operand.getDefiningOp()); };
    unsigned stage = 0;
    for (Value operand : operands)
      stage = std::max(stage, of(operand) + (isSpread(operand) && takesWhole(op, operand)));
    bool isLarge = sumWork(op) >= largeWork;
    work += isLarge ? sumWork(op) : 0;
    stages[&op] = stage;
    if (isLarge || llvm::any_of(operands, [&](Value operand) { return isOfProduct(operand); }))
      ofProduct.insert(&op);
    if (isLarge || llvm::any_of(operands, [&](Value operand) { return isSpread(operand) && of(operand) == stage; }))
      spread.insert(&op);
    number = std::max(number, stage + 1);
  }
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// Whether a stage has the value from an earlier one's buffer.
bool Divider::isRead(Value value, unsigned stage) const {
  return stages.isOfProduct(value) && isa<RankedTensorType>(value.getType()) && stages.of(value) < stage;
}

void Divider::requireOp(Operation *op, unsigned stage, llvm::SetVector<Value> &reads,
                        llvm::SetVector<Operation *> &ops) {
  if (op->getBlock() != &leaf.getBody().front() || ops.contains(op))
    return;
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), operands);
  for (Value operand : operands)
    require(operand, stage, reads, ops);
  ops.insert(op);
}

void Divider::require(Value value, unsigned stage, llvm::SetVector<Value> &reads,
                      llvm::SetVector<Operation *> &ops) {
  Operation *definition = value.getDefiningOp();
  if (definition && !isRead(value, stage))
    return requireOp(definition, stage, reads, ops);
  bool isOwn = definition || cast<BlockArgument>(value).getOwner() == &leaf.getBody().front();
  if (isOwn)
    reads.insert(value);
}

/// What no product is in is written by the last stage, which no blocks of threads share.
unsigned Divider::stageOfWrite(unsigned number) {
  Value value = leaf.getYield().getOperand(number);
  return stages.isOfProduct(value) ? stages.of(value) : stages.count() - 1;
}

/// Values of a stage that others read, each with a buffer that has the planes of the loop's states.
void Divider::findCrossing() {
  auto ofState = planes.getDefiningOp<etdg::BufferOp>();
  for (unsigned stage = 1; stage < stages.count(); ++stage) {
    llvm::SetVector<Value> reads;
    llvm::SetVector<Operation *> ops;
    for (Operation &op : leaf.getBody().front().without_terminator())
      if (stages.of(op.getResult(0)) == stage && stages.isOfProduct(op.getResult(0)))
        requireOp(&op, stage, reads, ops);
    for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
      if (stageOfWrite(i) == stage)
        require(leaf.getYield().getOperand(i), stage, reads, ops);
    for (Value value : reads) {
      if (isa<BlockArgument>(value) || crossing.contains(value))
        continue;
      auto type = cast<etdg::BufferType>(planes.getType());
      type = etdg::BufferType::get(leaf.getContext(), type.getLengths(), cast<RankedTensorType>(value.getType()));
      auto buffer = etdg::BufferOp::create(builder, leaf.getLoc(), type, nullptr, nullptr);
      if (ofState.getLiveAttr())
        buffer.setLive(SmallVector<int64_t>(*ofState.getLive()));
      crossing[value] = buffer;
    }
  }
}

BlockOp Divider::emit(unsigned stage) {
  MLIRContext *context = leaf.getContext();
  SmallVector<AffineExpr> own;
  for (unsigned d = 0; d < spec.dims.size(); ++d)
    own.push_back(getAffineDimExpr(d, context));
  AffineMap all = AffineMap::get(spec.dims.size(), spec.symbols.size(), own, context);
  etdg::BlockBuilder part;
  part.dims = spec.dims;
  part.operators = spec.operators;
  part.symbols = spec.symbols;
  part.domain = spec.domain;
  part.name = spec.name.empty() ? "" : spec.name + "_" + std::to_string(stage);
  llvm::SetVector<Value> reads;
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> yields;
  auto write = [&](Value value, Value buffer, AffineMapAttr map) {
    require(value, stage, reads, ops);
    part.writes.push_back(etdg::WriteAttr::get(context, part.operandFor(buffer), map));
    yields.push_back(value);
  };
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
    if (stageOfWrite(i) == stage)
      write(leaf.getYield().getOperand(i), leaf.getBuffers()[leaf.getWrite(i).getOperand()], leaf.getWrite(i).getMap());
  for (auto [value, buffer] : crossing)
    if (stages.of(value) == stage)
      write(value, buffer, AffineMapAttr::get(all));
  SmallVector<Type> types;
  for (Value value : reads) {
    types.push_back(value.getType());
    if (auto argument = dyn_cast<BlockArgument>(value))
      part.reads.push_back(etdg::transformRead(
          spec.reads[argument.getArgNumber()], [](AffineMap map, int64_t) { return map; },
          [](IntegerSet set) { return set; }, [&](int64_t operand) { return part.operandFor(spec.buffers[operand]); }));
    else
      part.reads.push_back(etdg::ReadAttr::get(
          context,
          etdg::PieceAttr::getBuffer(etdg::getUniverse(context, spec.dims.size(), spec.symbols.size()),
                                     part.operandFor(crossing.lookup(value)), all),
          0));
  }
  BlockOp block = part.build(builder, leaf.getLoc(), types);
  block.setScheduleAttr(schedule);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block.getBody().front());
  IRMapping mapping;
  mapping.map(reads.getArrayRef(), block.getBody().getArguments());
  for (Operation &op : leaf.getBody().front().without_terminator()) // in their order
    if (ops.contains(&op))
      builder.clone(op, mapping);
  etdg::YieldOp::create(builder, leaf.getLoc(),
                        llvm::map_to_vector(yields, [&](Value value) { return mapping.lookupOrDefault(value); }));
  return block;
}

etdg::KernelOp Divider::run(Operation *item, SmallVectorImpl<BlockOp> &parts) {
  builder.setInsertionPoint(item);
  findCrossing();
  auto kernel = etdg::KernelOp::create(builder, leaf.getLoc());
  kernel.setShared(leaf.getNumOwnDims());
  builder.setInsertionPointToEnd(&kernel.getBody().emplaceBlock());
  for (unsigned stage = 0; stage < stages.count(); ++stage)
    parts.push_back(emit(stage));
  return kernel;
}

void Divider::undo(etdg::KernelOp kernel) {
  kernel.erase();
  for (auto [value, buffer] : crossing)
    buffer.getDefiningOp()->erase();
}

/// A state that a later stage reads as it was must not lie where an earlier one writes the next.
void Divider::keepReadPlanes() {
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
    auto buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()].getDefiningOp<etdg::BufferOp>();
    if (!buffer || !buffer.getLiveAttr() || stageOfWrite(i) + 1 == stages.count())
      continue;
    SmallVector<int64_t> live(*buffer.getLive());
    for (int64_t &planes : live)
      planes += planes >= 0;
    buffer.setLive(live);
  }
}

//===----------------------------------------------------------------------===//
// Which nests
//===----------------------------------------------------------------------===//

/// A buffer that the leaf writes at its iteration and that others may have the like of; null where there is none.
static Value findPlanes(BlockOp leaf) {
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
    Value buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()];
    AffineMap map = leaf.getWrite(i).getMap().getValue();
    bool isAtIteration = map.getNumResults() == leaf.getNumDims();
    for (unsigned d = 0; isAtIteration && d < leaf.getNumDims(); ++d)
      isAtIteration = map.getResult(d) == getAffineDimExpr(d, leaf.getContext());
    if (isAtIteration && buffer.getDefiningOp<etdg::BufferOp>())
      return buffer;
  }
  return {};
}

LogicalResult GpuPlanner::divideStep(Operation *item) {
  BlockOp leaf = dyn_cast<BlockOp>(item);
  if (auto nest = dyn_cast<etdg::NestOp>(item))
    if (auto blocks = llvm::to_vector(nest.getBody().getOps<BlockOp>()); blocks.size() == 1)
      leaf = blocks.front();
  if (!leaf || !leaf.isLeaf() || leaf.getNumAncestors() > 0 || !leaf.getCombine().empty() || isBinding(scheduleOf(leaf)))
    return success();
  GpuPlan plan = sortDimensions(leaf);
  Value planes = findPlanes(leaf);
  if (!planes || plan.steps.empty() || plan.steps.size() != leaf.getNumOwnDims() || options.steps == GpuScheduleOptions::Steps::never)
    return success();
  // As many weights as make a kernel of steps worth its barriers.
  int64_t large = planning.columnWeightBytes / int64_t(sizeof(float));
  Stages stages(leaf, large);
  if (stages.count() < 2 || stages.getLargeWork() < large * stages.count())
    return success();
  if (failed(shareColumns(leaf, plan, /*privateRows=*/false)))
    return failure();
  if (plan.columns > 0)
    return success();
  Divider divider(leaf, stages, scheduleOf(leaf), planes);
  SmallVector<BlockOp> parts;
  etdg::KernelOp kernel = divider.run(item, parts);
  bool anyColumns = false;
  for (BlockOp part : parts) {
    GpuPlan own = sortDimensions(part);
    if (failed(shareColumns(part, own, /*privateRows=*/false)))
      return failure();
    anyColumns |= own.columns > 0;
  }
  if (!anyColumns) {
    divider.undo(kernel);
    return success();
  }
  divider.keepReadPlanes();
  remark::passed(item->getLoc(), remark::RemarkOpts::name("gpu-divide").category("gpu"))
      << "products of one step that need each other whole are " << std::to_string(parts.size()) << " nests";
  item->erase();
  return success();
}
