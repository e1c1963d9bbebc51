//===- LoopWalker.cpp - control and arithmetic of loops, for a thread -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices become integers of 64 bits, memory becomes pointers. All threads of a block walk together:
// what decides is the same for all of them. Arithmetic is computed where it is asked for.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Type LoopWalker::threadType(Type type) {
  return isa<MemRefType>(type) ? Type(b.pointer(generic)) : registerType(type);
}

Value LoopWalker::valueOf(OpFoldResult value) {
  if (auto constant = dyn_cast<Attribute>(value))
    return b.number(cast<IntegerAttr>(constant).getInt());
  return valueOf(cast<Value>(value));
}

/// Whether the kernel's arguments alone decide a value, and computing it can't fail.
static bool isOfArguments(Value value, Block *entry) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return cast<BlockArgument>(value).getOwner() == entry;
  return isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && op->getResult(0).getType().isIndex() &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOfArguments(operand, entry); });
}

/// A value that arguments decide, where the kernel begins.
Value LoopWalker::ofArgument(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return known.values.lookup(value);
  if (Value once = ofArguments.lookup(value))
    return once;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return b.number(*constant);
  Value left = ofArgument(op->getOperand(0)), right = ofArgument(op->getOperand(1));
  Value made = isa<arith::AddIOp>(op) ? b.add(left, right) : isa<arith::SubIOp>(op) ? b.sub(left, right) : b.mul(left, right);
  return ofArguments[value] = made;
}

Value LoopWalker::valueOf(Value value) {
  auto found = known.values.find(value);
  if (found != known.values.end())
    return found->second;
  // Strides and the like are computed once, the code that asks first.
  if (isa_and_nonnull<arith::MulIOp>(value.getDefiningOp()) && isOfArguments(value, &source.getBody().front()))
    return e.atEntry([&] { return ofArgument(value); });
  // (What is refused gives an error there; no value stands for it.)
  if (Operation *op = value.getDefiningOp(); op && succeeded(takeOperation(op)))
    return known.values.lookup(value);
  return b.number(0);
}

/// Whether an operation has loops of level grid inside, or lets thread blocks wait.
static bool isOfGrid(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        loops::LevelAttr level = loops::levelOf(inner);
        auto sync = dyn_cast<loops::SyncOp>(inner);
        bool together = (sync && sync.getKind() == etdg::SyncKind::Grid) || (level && level.getLevel() == etdg::LoopLevel::Grid);
        return together ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult LoopWalker::takeBlock(Block &block) {
  // (What is counted inside of a region is no value after it.)
  llvm::SaveAndRestore dealt(dealtBefore, Value());
  auto take = [&](Operation &op) {
    if (std::exchange(waitsNext, false))
      b.barrier();
    return takeOperation(&op);
  };
  for (Operation &op : block.without_terminator()) {
    if (isMemoryEffectFree(&op))
      continue; // once something asks for it
    // (Those wait who do what comes next.)
    if (auto sync = dyn_cast<loops::SyncOp>(op); sync && sync.getKind() == etdg::SyncKind::Block) {
      waitsNext = true;
      continue;
    }
    OpBuilder::InsertionGuard guard(b);
    // What stands in no loop of the grid one thread block does.
    if (isInside || isOfGrid(&op) || op.getNumResults() || isa<memref::DeallocOp, loops::GriddepcontrolOp>(op)) {
      if (failed(take(op)))
        return failure();
      continue;
    }
    Value isFirst = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, NVVM::BlockIdXOp::create(b, b.getI32Type()),
                                                  b.number32(0));
    auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Known saved = known;
    isInside = true;
    LogicalResult taken = take(op);
    isInside = false;
    known = std::move(saved);
    if (failed(taken))
      return failure();
  }
  return success();
}

/// The body of a loop or branch, without its terminator.
LogicalResult LoopWalker::takeRegion(Block &block, Block *into, ValueRange arguments) {
  b.setInsertionPointToStart(into);
  for (auto [old, value] : llvm::zip_equal(block.getArguments(), arguments))
    known.values[old] = value;
  return takeBlock(block);
}

SmallVector<Value> LoopWalker::yielded(Operation *terminator, TypeRange types) {
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip_equal(terminator->getOperands(), types)) {
    values.push_back(valueOf(value));
    if (isa<LLVM::LLVMPointerType>(type))
      values.back() = b.toGeneric(values.back());
  }
  return values;
}

LogicalResult LoopWalker::takeFor(scf::ForOp loop) {
  if (loop.getNumRegionIterArgs())
    return loop.emitError("the GPU engine can't run a loop that carries values, through loops");
  if (!keepingLeaves(loop).empty())
    return takeKeeping(loop);
  auto made = b.loop(valueOf(loop.getLowerBound()), valueOf(loop.getUpperBound()), valueOf(loop.getStep()));
  Known saved = known;
  LogicalResult taken = takeRegion(*loop.getBody(), made.getBody(), made.getInductionVar());
  known = std::move(saved);
  return taken;
}

LogicalResult LoopWalker::takeWhile(scf::WhileOp loop) {
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    types.push_back(threadType(type));
  SmallVector<Location> locations(types.size(), b.getLoc());
  SmallVector<Value> inits;
  for (Value init : loop.getInits())
    inits.push_back(valueOf(init));
  auto made = scf::WhileOp::create(b, types, inits);
  Known saved = known;
  Block *before = b.createBlock(&made.getBefore(), {}, types, locations);
  LogicalResult taken = takeRegion(loop.getBefore().front(), before, before->getArguments());
  auto condition = cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
  if (failed(taken))
    return failure();
  scf::ConditionOp::create(b, valueOf(condition.getCondition()), before->getArguments());
  known = saved;
  Block *after = b.createBlock(&made.getAfter(), {}, types, locations);
  if (failed(takeRegion(loop.getAfter().front(), after, after->getArguments())))
    return failure();
  scf::YieldOp::create(b, yielded(loop.getAfter().front().getTerminator(), types));
  known = std::move(saved);
  for (auto [old, value] : llvm::zip_equal(loop.getResults(), made.getResults()))
    known.values[old] = value;
  b.setInsertionPointAfter(made);
  return success();
}

LogicalResult LoopWalker::takeInOrder(Operation *loop) {
  Known saved = known;
  LogicalResult taken = success();
  if (auto chunks = dyn_cast<loops::ChunksOp>(loop)) {
    Value upper = valueOf(chunks.getUpper()), most = b.number(chunks.getMost());
    auto made = b.loop(valueOf(chunks.getLower()), upper, most);
    Value first = made.getInductionVar();
    b.setInsertionPointToStart(made.getBody());
    Value count = b.smaller(most, b.sub(upper, first));
    known.values[chunks.getFirst()] = first;
    known.values[chunks.getCount()] = count;
    taken = takeBlock(chunks.getBody().front());
  } else {
    auto points = cast<scf::ForallOp>(loop);
    auto made = b.loop(valueOf(points.getMixedLowerBound()[0]), valueOf(points.getMixedUpperBound()[0]), b.number(1));
    taken = takeRegion(*points.getBody(), made.getBody(), made.getInductionVar());
  }
  known = std::move(saved);
  return taken;
}

/// Arithmetic on integers and indices, the same on integers of 64 bits.
LogicalResult LoopWalker::takePlain(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || op->getNumRegions())
    return op->emitError("the GPU engine has no form of this operation through loops");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueOf(operand));
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    Type to = threadType(cast.getType());
    unsigned from = operands[0].getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
    known.values[cast] = from == bits  ? operands[0]
                         : from < bits ? b.createOrFold<arith::ExtSIOp>(to, operands[0])
                                       : b.createOrFold<arith::TruncIOp>(to, operands[0]);
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && constant.getType().isIndex()) {
    known.values[constant] = b.number(cast<IntegerAttr>(constant.getValue()).getInt());
    return success();
  }
  OperationState state(b.getLoc(), op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes())
    state.addTypes(threadType(type));
  state.addAttributes(op->getAttrDictionary().getValue());
  Operation *made = b.create(state);
  for (auto [old, value] : llvm::zip_equal(op->getResults(), made->getResults()))
    known.values[old] = value;
  return success();
}

LogicalResult LoopWalker::takeOperation(Operation *op) {
  if (loops::LevelAttr level = loops::levelOf(op)) {
    OpBuilder::InsertionGuard guard(b);
    auto points = dyn_cast<scf::ForallOp>(op);
    switch (level.getLevel()) {
    case etdg::LoopLevel::Grid:
      return takeDealt(op);
    case etdg::LoopLevel::Lifted:
      return points ? takeLifted(points) : takeInOrder(op);
    case etdg::LoopLevel::Thread:
      return isAlone ? takeInOrder(op) : takeThreads(points);
    default:
      return takeInOrder(op);
    }
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) {
        OpBuilder::InsertionGuard guard(b);
        return takeFor(loop);
      })
      .Case([&](scf::IfOp branch) { return takeIf(branch); })
      .Case([&](scf::WhileOp loop) { return takeWhile(loop); })
      .Case([&](loops::SyncOp) {
        e.emitGridBarrier();
        dealtBefore = Value();
        return success();
      })
      .Case([&](loops::GriddepcontrolOp dependency) {
        bool isWait = dependency.getKind() == loops::GridDependency::Wait;
        NVVM::GriddepcontrolOp::create(b, isWait ? NVVM::GridDepActionKind::wait : NVVM::GridDepActionKind::launch_dependents);
        return success();
      })
      .Case([&](loops::StagedOp) { return success(); }) // (ChooseCopies.cpp has asked for it)
      .Case([&](loops::CommitOp) {
        tile::CommitOp::create(b);
        return success();
      })
      .Case([&](loops::WaitOp wait) {
        tile::WaitOp::create(b, wait.getGroups());
        return success();
      })
      .Case([&](loops::LeafOp leaf) { return takeLeaf(leaf); })
      .Case([&](loops::SplatOp splat) { return takeSplat(splat); })
      .Case([&](loops::BoundedOp bounded) { return takeBounded(bounded); })
      .Case([&](loops::AllocOp alloc) { return takeAlloc(alloc); })
      .Case([&](memref::DeallocOp) { return success(); })
      .Case([&](memref::LoadOp load) { return takeLoad(load); })
      .Case([&](memref::StoreOp store) { return takeStore(store); })
      .Case([&](memref::ExtractAlignedPointerAsIndexOp address) {
        known.values[address] = LLVM::PtrToIntOp::create(b, b.getI64Type(), valueOf(address.getSource()));
        return success();
      })
      .Case([&](affine::AffineApplyOp apply) {
        SmallVector<Value> operands;
        for (Value operand : apply.getMapOperands())
          operands.push_back(valueOf(operand));
        unsigned dims = apply.getAffineMap().getNumDims();
        known.values[apply] =
            b.expand(apply.getAffineMap().getResult(0), ArrayRef(operands).take_front(dims), ArrayRef(operands).drop_front(dims));
        return success();
      })
      .Default([&](Operation *other) { return takePlain(other); });
}
