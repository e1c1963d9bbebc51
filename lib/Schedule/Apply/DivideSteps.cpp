//===- DivideSteps.cpp - a step whose products need each other whole ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores or thread blocks can share the columns of one product, but not of a second
// one that takes all columns of the first in the same step (logits of a state that the
// step computes): such a step would run on one of them. Its leaf becomes several, one
// for each such product and one for what takes the last of them whole; they share the
// loop of steps, and the units wait between them. What is only looked at where a flag
// holds (a loop that has not ended) is handed on under that flag.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/Apply/DivideSteps.h"

#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Schedule/CPU/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

namespace mlir::ft::schedule {
/// The stages of a leaf: a statement stands after the products that it takes whole.
class Stages {
public:
  Stages(BlockOp leaf, int64_t largeWork);

  unsigned count() const { return number; }
  int64_t getLargeWork() const { return work; }
  /// The stage that computes a value; the first one for what is no product's.
  unsigned of(Value value) const { return stages.lookup(value.getDefiningOp()); }
  /// Whether a product of this step is in it: then it is computed once, in its stage.
  bool isOfProduct(Value value) const { return ofProduct.contains(value.getDefiningOp()); }
  /// The read of one flag under which alone the value is looked at; null where there is none.
  Value getFlag(Value value) const { return flags.lookup(value.getDefiningOp()); }

private:
  bool takesWhole(Operation &op, Value operand) const;
  void findFlags(BlockOp leaf);
  Value getFlagOfUse(BlockOp leaf, OpOperand &use) const;

  llvm::DenseMap<Operation *, unsigned> stages;
  llvm::DenseMap<Operation *, Value> flags;
  llvm::DenseSet<Operation *> ofProduct;
  llvm::DenseSet<Operation *> spread; // a product of its own stage is in it: units have parts of it
  unsigned number = 1;
  int64_t work = 0;
};

/// Writes the leaves of a kernel in the place of one.
class StepDivision::Divider {
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
  /// What is handed on: the value, or 0 where it is not looked at.
  Value handOn(Value value, const IRMapping &mapping);

  BlockOp leaf;
  const Stages &stages;
  etdg::ScheduleAttr schedule;
  Value planes; // a buffer with one plane for each step, as those between the leaves have
  OpBuilder builder;
  etdg::BlockBuilder spec;
  llvm::MapVector<Value, Value> crossing; // and its buffer
};
} // namespace mlir::ft::schedule

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
  findFlags(leaf);
}

/// What might read beyond a tensor, where it is given any number.
static bool mayTrap(Operation *op) {
  return op
      ->walk([](Operation *inner) { return isa<tensor::ExtractOp>(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// The read of a flag that a condition is, or null: the first of those that are alike.
static Value getFlagRead(Value condition, BlockOp leaf) {
  Block &body = leaf.getBody().front();
  auto flag = condition.getDefiningOp<tensor::ExtractOp>();
  auto read = flag ? dyn_cast<BlockArgument>(flag.getTensor()) : BlockArgument();
  if (!read || read.getOwner() != &body || !flag.getIndices().empty())
    return {};
  for (BlockArgument other : body.getArguments())
    if (leaf.getRead(other.getArgNumber()) == leaf.getRead(read.getArgNumber()) && other.getType() == read.getType())
      return other;
  return read;
}

Value Stages::getFlagOfUse(BlockOp leaf, OpOperand &use) const {
  Block &body = leaf.getBody().front();
  Operation *user = body.findAncestorOpInBlock(*use.getOwner());
  // `select(flag, value, other)`, and `flag and value`.
  if (user == use.getOwner()) {
    Value flag;
    if (auto select = dyn_cast<arith::SelectOp>(user); select && use.getOperandNumber() == 1)
      flag = getFlagRead(select.getCondition(), leaf);
    else if (isa<arith::AndIOp>(user) && use.get().getType().isInteger(1))
      flag = getFlagRead(user->getOperand(1 - use.getOperandNumber()), leaf);
    if (flag)
      return flag;
  }
  // (Any number may be taken out of a tensor; a place in it that is any number may not.)
  bool isTakenOut = isa<tensor::ExtractOp>(user) && use.getOwner() == user && use.getOperandNumber() == 0;
  bool isSafe = isTakenOut || (!user->hasTrait<OpTrait::IsTerminator>() && !mayTrap(user));
  return isSafe ? flags.lookup(user) : Value();
}

/// From the last statement on: all that looks at it looks under one flag.
void Stages::findFlags(BlockOp leaf) {
  llvm::DenseSet<Operation *> dead; // nothing reads what these make
  for (Operation &op : llvm::reverse(leaf.getBody().front().without_terminator())) {
    bool isSeen = !isMemoryEffectFree(&op);
    std::optional<Value> common;
    for (OpOperand &use : op.getUses()) {
      if (dead.contains(use.getOwner()))
        continue;
      isSeen = true;
      Value flag = getFlagOfUse(leaf, use);
      common = !common || *common == flag ? flag : Value();
      if (!*common)
        break;
    }
    if (!isSeen)
      dead.insert(&op);
    if (common && *common)
      flags[&op] = *common;
  }
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// Whether a stage has the value from an earlier one's buffer.
bool StepDivision::Divider::isRead(Value value, unsigned stage) const {
  return stages.isOfProduct(value) && isa<RankedTensorType>(value.getType()) && stages.of(value) < stage;
}

void StepDivision::Divider::requireOp(Operation *op, unsigned stage, llvm::SetVector<Value> &reads,
                        llvm::SetVector<Operation *> &ops) {
  if (op->getBlock() != &leaf.getBody().front() || ops.contains(op))
    return;
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), operands);
  for (Value operand : operands)
    require(operand, stage, reads, ops);
  ops.insert(op);
}

void StepDivision::Divider::require(Value value, unsigned stage, llvm::SetVector<Value> &reads,
                      llvm::SetVector<Operation *> &ops) {
  Operation *definition = value.getDefiningOp();
  if (definition && !isRead(value, stage))
    return requireOp(definition, stage, reads, ops);
  bool isOwn = definition || cast<BlockArgument>(value).getOwner() == &leaf.getBody().front();
  if (isOwn)
    reads.insert(value);
}

/// What no product is in is written by the last stage, which no thread blocks share.
unsigned StepDivision::Divider::stageOfWrite(unsigned number) {
  Value value = leaf.getYield().getOperand(number);
  return stages.isOfProduct(value) ? stages.of(value) : stages.count() - 1;
}

/// Values of a stage that others read, each with a buffer that has the planes of the loop's states.
void StepDivision::Divider::findCrossing() {
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

BlockOp StepDivision::Divider::emit(unsigned stage) {
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
    if (crossing.contains(value) && crossing.lookup(value) == buffer && stages.getFlag(value))
      reads.insert(stages.getFlag(value));
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
  SmallVector<Value> results;
  for (auto [value, attribute] : llvm::zip_equal(yields, part.writes)) {
    bool isHandedOn = crossing.contains(value) && part.buffers[attribute.getOperand()] == crossing.lookup(value);
    results.push_back(isHandedOn ? handOn(value, mapping) : mapping.lookupOrDefault(value));
  }
  etdg::YieldOp::create(builder, leaf.getLoc(), results);
  return block;
}

Value StepDivision::Divider::handOn(Value value, const IRMapping &mapping) {
  Value flag = stages.getFlag(value), own = mapping.lookupOrDefault(value);
  auto type = cast<RankedTensorType>(value.getType());
  TypedAttr zero = builder.getZeroAttr(type);
  if (!flag || !zero)
    return own;
  Value holds = tensor::ExtractOp::create(builder, leaf.getLoc(), mapping.lookup(flag), ValueRange());
  Value none = arith::ConstantOp::create(builder, leaf.getLoc(), zero);
  return arith::SelectOp::create(builder, leaf.getLoc(), holds, own, none);
}

etdg::KernelOp StepDivision::Divider::run(Operation *item, SmallVectorImpl<BlockOp> &parts) {
  builder.setInsertionPoint(item);
  findCrossing();
  auto kernel = etdg::KernelOp::create(builder, leaf.getLoc());
  kernel.setShared(leaf.getNumOwnDims());
  builder.setInsertionPointToEnd(&kernel.getBody().emplaceBlock());
  for (unsigned stage = 0; stage < stages.count(); ++stage)
    parts.push_back(emit(stage));
  return kernel;
}

void StepDivision::Divider::undo(etdg::KernelOp kernel) {
  kernel.erase();
  for (auto [value, buffer] : crossing)
    buffer.getDefiningOp()->erase();
}

/// A state that a later stage reads as it was must not lie where an earlier one writes the next.
void StepDivision::Divider::keepReadPlanes() {
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

std::unique_ptr<StepDivision> StepDivision::find(Operation *item, int64_t largeWork) {
  BlockOp leaf = dyn_cast<BlockOp>(item);
  if (auto nest = dyn_cast<etdg::NestOp>(item))
    if (auto blocks = llvm::to_vector(nest.getBody().getOps<BlockOp>()); blocks.size() == 1)
      leaf = blocks.front();
  if (!leaf || !leaf.isLeaf() || leaf.getNumOwnDims() == 0 || leaf.getNumAncestors() > 0 || !leaf.getCombine().empty() ||
      isBinding(leaf.getEffectiveSchedule()))
    return nullptr;
  Value planes = findPlanes(leaf);
  if (!planes)
    return nullptr;
  auto stages = std::make_unique<Stages>(leaf, largeWork);
  if (stages->count() < 2 || stages->getLargeWork() < largeWork * stages->count())
    return nullptr;
  return std::unique_ptr<StepDivision>(new StepDivision(item, leaf, planes, std::move(stages)));
}

StepDivision::StepDivision(Operation *item, BlockOp leaf, Value planes, std::unique_ptr<Stages> stages)
    : item(item), leaf(leaf), stages(std::move(stages)),
      divider(std::make_unique<Divider>(leaf, *this->stages, leaf.getEffectiveSchedule(), planes)) {}

StepDivision::~StepDivision() = default;

ArrayRef<BlockOp> StepDivision::make() {
  kernel = divider->run(item, parts);
  return parts;
}

void StepDivision::undo() { divider->undo(kernel); }

void StepDivision::keep() {
  divider->keepReadPlanes();
  item->erase();
}
