//===- RotateLoops.cpp - a product of one iteration beside those of the next -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Software pipelining of a loop with a chain of products, by one iteration. The last
// product, and what follows of it, moves into the next iteration. There it is
// multiplied while others compute what leads from the first product to the last one
// (FlashAttention-3, arXiv 2407.08608, §3.2). The first iteration begins before the
// loop, and the last one ends after it.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEROTATELOOPS
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// Divides the body of one loop into what comes before its last product, and that product with what follows of it.
class Rotation {
public:
  explicit Rotation(scf::ForOp loop) : loop(loop), body(*loop.getBody()) {}
  /// Whether the loop has such products, and nothing else that an order of its iterations is for.
  bool find();
  void run();

private:
  bool isInBody(Value value) const { return value.getParentBlock() == &body; }
  bool isAgain(Value value);
  void findBehind();
  void findCrossing();
  void findHead();
  void emit(Operation *op, OpBuilder &b, IRMapping &mapping);
  Value valueOf(Value value, OpBuilder &b, IRMapping &mapping);
  void emitLast(OpBuilder &b, IRMapping &mapping);
  void emitRest(OpBuilder &b, IRMapping &mapping);
  SmallVector<Value> yielded(IRMapping &mapping, OpBuilder &b);
  bool isBehind(Value value) const { return value.getDefiningOp() && behind.contains(value.getDefiningOp()); }

  scf::ForOp loop;
  Block &body;
  MmaOp first, last;
  llvm::SetVector<Operation *> behind; // the last product, the fetch of its operand, and what follows of it
  llvm::SetVector<Operation *> head;   // the first product and what it needs
  llvm::SetVector<Value> crossing;     // what these need of the operations before
  llvm::DenseMap<Value, bool> again;   // whether a value is computed anew where it is needed
};
} // namespace

/// Whether a value is cheap, and of the loop's index alone.
bool Rotation::isAgain(Value value) {
  if (!isInBody(value) || value == loop.getInductionVar())
    return true;
  auto [known, isNew] = again.try_emplace(value, false);
  Operation *op = value.getDefiningOp();
  if (!isNew || !op)
    return known->second;
  bool is = op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isAgain(operand); });
  return again[value] = is;
}

void Rotation::findBehind() {
  behind.insert(last.getRhs().getDefiningOp());
  behind.insert(last);
  for (Operation &op : body.without_terminator()) {
    bool follows = false;
    op.walk([&](Operation *inner) { follows |= llvm::any_of(inner->getOperands(), [&](Value operand) { return isBehind(operand); }); });
    if (follows)
      behind.insert(&op);
  }
}

void Rotation::findCrossing() {
  auto need = [&](Value value) {
    if (isInBody(value) && !isBehind(value) && !isAgain(value))
      crossing.insert(value);
  };
  for (Operation *op : behind)
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), need); });
  llvm::for_each(loop.getYieldedValues(), need);
}

/// The first product and what it is computed from, unless this is of the iteration before.
void Rotation::findHead() {
  SmallVector<Operation *> work = {first};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!head.insert(op))
      continue;
    for (Value operand : op->getOperands()) {
      if (!isInBody(operand) || operand == loop.getInductionVar())
        continue;
      if (!operand.getDefiningOp() || op->getNumRegions() != 0)
        return head.clear();
      work.push_back(operand.getDefiningOp());
    }
  }
}

/// Whether a loop has an iteration at least, as the condition around it says.
static bool hasIteration(scf::ForOp loop) {
  APInt lower, upper;
  if (matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) && matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)))
    return lower.slt(upper);
  auto branch = dyn_cast<scf::IfOp>(loop->getParentOp());
  auto compared = branch && loop->getBlock() == branch.thenBlock() ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto says = [&](arith::CmpIPredicate predicate, Value one, Value other) {
    return compared.getPredicate() == predicate && compared.getLhs() == one && compared.getRhs() == other;
  };
  return compared && (says(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound()) ||
                      says(arith::CmpIPredicate::sgt, loop.getUpperBound(), loop.getLowerBound()));
}

/// Whether sums like these come or go column by column, as they have columns beyond a matrix: ptxas lets no products be in flight beside such (C7511).
static bool haveBorder(LLVM::LLVMFuncOp kernel, RegistersType sums) {
  auto isCut = [&](RegistersType type, ArrayRef<bool> inside) { return type.getShape() == sums.getShape() && inside.size() == 2 && !inside[1]; };
  return kernel
      .walk([&](Operation *op) {
        auto load = dyn_cast<LoadOp>(op);
        auto store = dyn_cast<StoreOp>(op);
        bool cut = (load && isCut(load.getType(), load.getInBounds())) || (store && isCut(store.getValue().getType(), store.getInBounds()));
        return cut ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Rotation::find() {
  SmallVector<MmaOp> products(body.getOps<MmaOp>());
  auto isOrdered = [](Operation &op) { return !isMemoryEffectFree(&op) && !isa<FetchOp, MmaOp, LoadOp>(op); };
  if (products.size() < 2 || !hasIteration(loop) || llvm::any_of(body.without_terminator(), isOrdered))
    return false;
  first = products.front(), last = products.back();
  auto fetch = last.getRhs().getDefiningOp<FetchOp>();
  if (!first.getWgmma() || !last.getWgmma() || last.getLhsType() || !fetch || fetch->getBlock() != &body || !fetch->hasOneUse() ||
      haveBorder(loop->getParentOfType<LLVM::LLVMFuncOp>(), last.getType()))
    return false;
  findBehind();
  if (behind.contains(first))
    return false;
  findCrossing();
  findHead();
  return true;
}

Value Rotation::valueOf(Value value, OpBuilder &b, IRMapping &mapping) {
  if (!isInBody(value) || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  emit(value.getDefiningOp(), b, mapping); // computed anew
  return mapping.lookup(value);
}

/// Copies an operation, after what it needs and is computed anew.
void Rotation::emit(Operation *op, OpBuilder &b, IRMapping &mapping) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isInBody(operand))
        (void)valueOf(operand, b, mapping);
  });
  b.clone(*op, mapping);
}

/// The last product of an iteration, and its operand.
void Rotation::emitLast(OpBuilder &b, IRMapping &mapping) {
  emit(last.getRhs().getDefiningOp(), b, mapping);
  emit(last, b, mapping);
}

void Rotation::emitRest(OpBuilder &b, IRMapping &mapping) {
  for (Operation &op : body.without_terminator())
    if (behind.contains(&op) && &op != last && &op != last.getRhs().getDefiningOp())
      emit(&op, b, mapping);
}

SmallVector<Value> Rotation::yielded(IRMapping &mapping, OpBuilder &b) {
  return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) { return valueOf(value, b, mapping); });
}

void Rotation::run() {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  auto before = [&](const IRMapping &mapping) { return llvm::map_to_vector(crossing, [&](Value value) { return mapping.lookupOrDefault(value); }); };
  IRMapping begin;
  begin.map(loop.getInductionVar(), lower);
  begin.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (Operation &op : body.without_terminator())
    if (!behind.contains(&op))
      b.clone(op, begin);
  auto rotated = scf::ForOp::create(b, loc, arith::AddIOp::create(b, loc, lower, step), upper, step, before(begin));
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (!rotated.getBody()->empty())
    rotated.getBody()->back().erase();
  b.setInsertionPointToEnd(rotated.getBody());
  IRMapping own, ended; // of this iteration, of the one before
  own.map(loop.getInductionVar(), rotated.getInductionVar());
  for (Operation &op : body.without_terminator())
    if (head.contains(&op))
      b.clone(op, own);
  ended.map(loop.getInductionVar(), arith::SubIOp::create(b, loc, rotated.getInductionVar(), step).getResult());
  for (auto [value, argument] : llvm::zip_equal(crossing, rotated.getRegionIterArgs()))
    ended.map(value, argument);
  emitLast(b, ended);
  // What follows of the last product waits until something needs it.
  bool isRest = false;
  auto endBefore = [&] {
    if (!isRest)
      emitRest(b, ended);
    isRest = true;
    for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), yielded(ended, b)))
      own.map(argument, value);
  };
  for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
    if (!isBehind(value) || value == last.getResult())
      own.map(argument, valueOf(value, b, ended));
  for (Operation &op : body.without_terminator()) {
    if (behind.contains(&op) || head.contains(&op))
      continue;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<BlockArgument>(operand) && isInBody(operand) && !own.contains(operand))
          endBefore();
    });
    b.clone(op, own);
  }
  endBefore();
  scf::YieldOp::create(b, loc, before(own));
  b.setInsertionPointAfter(rotated);
  IRMapping end;
  end.map(loop.getInductionVar(), arith::SubIOp::create(b, loc, upper, step).getResult());
  for (auto [value, result] : llvm::zip_equal(crossing, rotated.getResults()))
    end.map(value, result);
  emitLast(b, end);
  emitRest(b, end);
  loop.replaceAllUsesWith(yielded(end, b));
  loop.erase();
}

namespace {
struct TileRotateLoops : tile::impl::TileRotateLoopsBase<TileRotateLoops> {
  void runOnOperation() override {
    (void)eachPipelined(getOperation(), [](LLVM::LLVMFuncOp kernel, PipelineAttr) {
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp loop : loops)
        if (Rotation rotation(loop); rotation.find())
          rotation.run();
      return success();
    });
  }
};
} // namespace
