//===- SplitRoles.cpp - loaders and computers ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loading role is a slice of the kernel: fetches, what their coordinates are
// computed from, and the loops and conditions around. Of a loop's carried values
// it keeps those that the slice needs.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"
#include "Repeats.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILESPLITROLES
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// What of a kernel fetches need.
class LoaderSlice {
public:
  LogicalResult find(Block &body);
  /// Copies what is needed of a block's operations; `mapping` knows what is defined before.
  void clone(Block &from, OpBuilder &b, IRMapping &mapping) const;

private:
  LogicalResult need(Value value);
  LogicalResult needOperation(Operation *op);
  LogicalResult needParents(Operation *op);
  void cloneLoop(scf::ForOp loop, OpBuilder &b, IRMapping &mapping) const;
  void cloneBranch(scf::IfOp branch, OpBuilder &b, IRMapping &mapping) const;

  Block *all = nullptr;
  llvm::DenseSet<Operation *> needed;
  llvm::DenseSet<Value> values; // results and arguments of loops and branches
};
} // namespace

LogicalResult LoaderSlice::find(Block &body) {
  all = &body;
  WalkResult walked = body.walk([&](Operation *op) {
    return isa<FetchOp, JoinOp>(op) && failed(needOperation(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult LoaderSlice::needParents(Operation *op) {
  Operation *parent = op->getParentOp();
  if (op->getBlock() == all || !needed.insert(parent).second)
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (failed(need(bound)))
        return failure();
  } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    if (failed(need(branch.getCondition())))
      return failure();
  } else {
    return op->emitError("the loading role has loops and conditions of scf alone: found this inside of '") << parent->getName() << "'";
  }
  return needParents(parent);
}

LogicalResult LoaderSlice::needOperation(Operation *op) {
  if (!needed.insert(op).second)
    return success();
  for (Value operand : op->getOperands())
    if (failed(need(operand)))
      return failure();
  return needParents(op);
}

LogicalResult LoaderSlice::need(Value value) {
  Operation *op = value.getDefiningOp();
  Block *block = op ? op->getBlock() : value.getParentBlock();
  if (block != all && !all->findAncestorOpInBlock(*block->getParentOp()))
    return success(); // from before
  if (!values.insert(value).second)
    return success();
  if (!op) {
    if (value.getParentBlock() == all)
      return success();
    auto loop = cast<scf::ForOp>(block->getParentOp());
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    if (number == 0)
      return success();
    return failure(failed(need(loop.getInitArgs()[number - 1])) || failed(need(loop.getYieldedValues()[number - 1])) ||
                   failed(need(loop.getResult(number - 1))));
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return failure(failed(need(loop.getRegionIterArg(cast<OpResult>(value).getResultNumber()))) || failed(needParents(&loop.getBody()->front())));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return failure(failed(need(branch.thenYield().getOperand(number))) || failed(need(branch.elseYield().getOperand(number))) ||
                   failed(needParents(branch.thenYield())));
  }
  if (isa<RaisedOp>(op)) // (which hands over from the computing role)
    return needOperation(op);
  if (isa_and_nonnull<TileDialect>(op->getDialect()) && !isa<TensorMapOp>(op))
    return op->emitError("the loading role can't run ahead: where it fetches depends on this");
  if (!isMemoryEffectFree(op) && !isa<LLVM::LoadOp>(op))
    return op->emitError("the loading role can't run ahead: where it fetches depends on this, which has an effect");
  return needOperation(op);
}

void LoaderSlice::cloneLoop(scf::ForOp loop, OpBuilder &b, IRMapping &mapping) const {
  SmallVector<unsigned> kept;
  SmallVector<Value> inits;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (values.contains(argument)) {
      kept.push_back(unsigned(i));
      inits.push_back(mapping.lookupOrDefault(loop.getInitArgs()[i]));
    }
  auto copy = scf::ForOp::create(b, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()), mapping.lookupOrDefault(loop.getUpperBound()),
                                 mapping.lookupOrDefault(loop.getStep()), inits);
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [i, number] : llvm::enumerate(kept)) {
    mapping.map(loop.getRegionIterArg(number), copy.getRegionIterArg(unsigned(i)));
    mapping.map(loop.getResult(number), copy.getResult(unsigned(i)));
  }
  OpBuilder::InsertionGuard guard(b);
  if (!copy.getBody()->empty())
    copy.getBody()->back().erase();
  b.setInsertionPointToEnd(copy.getBody());
  clone(*loop.getBody(), b, mapping);
  SmallVector<Value> next;
  for (unsigned number : kept)
    next.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[number]));
  scf::YieldOp::create(b, loop.getLoc(), next);
}

void LoaderSlice::cloneBranch(scf::IfOp branch, OpBuilder &b, IRMapping &mapping) const {
  SmallVector<unsigned> kept;
  SmallVector<Type> types;
  for (OpResult result : branch.getResults())
    if (values.contains(result)) {
      kept.push_back(result.getResultNumber());
      types.push_back(result.getType());
    }
  const bool hasElse = !branch.getElseRegion().empty();
  auto copy = scf::IfOp::create(b, branch.getLoc(), types, mapping.lookupOrDefault(branch.getCondition()), hasElse);
  for (auto [i, number] : llvm::enumerate(kept))
    mapping.map(branch.getResult(number), copy.getResult(unsigned(i)));
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    to.front().clear();
    b.setInsertionPointToEnd(&to.front());
    clone(from.front(), b, mapping);
    SmallVector<Value> next;
    for (unsigned number : kept)
      next.push_back(mapping.lookupOrDefault(from.front().getTerminator()->getOperand(number)));
    scf::YieldOp::create(b, branch.getLoc(), next);
  }
}

void LoaderSlice::clone(Block &from, OpBuilder &b, IRMapping &mapping) const {
  for (Operation &op : from) {
    if (!needed.contains(&op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      cloneLoop(loop, b, mapping);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      cloneBranch(branch, b, mapping);
    else
      b.clone(op, mapping);
  }
}

//===----------------------------------------------------------------------===//
// The computing role
//===----------------------------------------------------------------------===//

/// Barriers of the block, as the computing groups alone take part in.
static void narrowBarriers(Region &role, int64_t threads) {
  constexpr int64_t id = 1; // 0 is the block's
  SmallVector<Operation *> barriers;
  role.walk([&](Operation *op) {
    if (isa<BarrierOp, NVVM::Barrier0Op>(op))
      barriers.push_back(op);
  });
  for (Operation *op : barriers) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    NVVM::BarrierOp::create(b, TypeRange(), arith::ConstantIntOp::create(b, id, 32), arith::ConstantIntOp::create(b, threads, 32),
                            NVVM::BarrierReductionAttr(), Value());
    op->erase();
  }
}

/// Barriers that order nothing: warp groups whose tiles stay in registers go on by themselves.
static void dropBarriers(LLVM::LLVMFuncOp kernel) {
  SmallVector<Operation *> barriers;
  for (Operation &op : kernel.getBody().front()) {
    if (op.getNumRegions() == 0 || !needsNoBarriers(&op, kernel))
      continue;
    op.walk([&](Operation *inner) {
      if (isa<BarrierOp, NVVM::Barrier0Op>(inner))
        barriers.push_back(inner);
    });
  }
  for (Operation *barrier : barriers)
    barrier->erase();
}

static LogicalResult splitRoles(LLVM::LLVMFuncOp kernel, PipelineAttr pipeline) {
  if (!kernel.getOps<RolesOp>().empty())
    return success();
  auto limit = kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getMaxntidAttrName());
  if (!limit || limit.empty() || limit[0] != pipeline.getComputerThreads())
    return kernel.emitError() << "expected a kernel of " << pipeline.getComputerThreads() << " threads for " << pipeline << ", found "
                              << (limit && !limit.empty() ? limit[0] : 0);
  dropBarriers(kernel);
  Block &body = kernel.getBody().front();
  OpBuilder b(kernel.getContext());
  b.setInsertionPoint(body.getTerminator());
  auto roles = RolesOp::create(b, kernel.getLoc(), pipeline);
  Block *load = b.createBlock(&roles.getLoad()), *compute = b.createBlock(&roles.getCompute());
  // What both use stays: it has no effect, and depends on nothing that does.
  llvm::DenseSet<Operation *> inRole;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    // (Both roles wait for the launches before.)
    if (&op == roles || op.hasTrait<OpTrait::IsTerminator>() || isa<NVVM::GriddepcontrolOp>(op))
      continue;
    bool isOfRole = op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
                    llvm::any_of(op.getOperands(), [&](Value value) { return inRole.contains(value.getDefiningOp()); });
    if (!isOfRole)
      continue;
    inRole.insert(&op);
    op.moveBefore(compute, compute->end());
  }
  LoaderSlice slice;
  if (failed(slice.find(*compute)))
    return failure();
  IRMapping mapping;
  b.setInsertionPointToEnd(load);
  slice.clone(*compute, b, mapping);
  narrowBarriers(roles.getCompute(), pipeline.getComputerThreads());
  return addThreads(kernel, pipeline.getThreads() - pipeline.getComputerThreads());
}

namespace {
struct TileSplitRoles : tile::impl::TileSplitRolesBase<TileSplitRoles> {
  void runOnOperation() override {
    if (failed(eachPipelined(getOperation(), splitRoles)))
      signalPassFailure();
  }
};
} // namespace
