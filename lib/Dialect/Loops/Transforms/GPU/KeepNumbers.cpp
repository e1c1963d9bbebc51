//===- KeepNumbers.cpp - lists of numbers that need no memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joined iterations have a list of their numbers (`ft.iota`). Threads that keep tiles
// in registers know where each element lies, and compute its number from that. In
// memory the list would cost a store and a barrier in each iteration
// (`loops-keep-numbers`).
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// How much more a value is in each iteration of a loop than in the one before; none where that is no constant.
static std::optional<int64_t> growthIn(Value value, scf::ForallOp loop) {
  if (value == loop.getInductionVar(0))
    return 1;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return 0;
  auto ofOperand = [&](unsigned number) { return growthIn(op->getOperand(number), loop); };
  if (isa<arith::IndexCastOp, arith::AddIOp, arith::MulIOp>(op)) {
    std::optional<int64_t> one = ofOperand(0), other = op->getNumOperands() > 1 ? ofOperand(1) : std::optional<int64_t>(0);
    if (!one || !other || isa<arith::IndexCastOp>(op))
      return one;
    if (isa<arith::AddIOp>(op))
      return *one + *other;
    std::optional<int64_t> factor = getConstantIntValue(op->getOperand(*one == 0 ? 0 : 1));
    return *one == 0 && *other == 0 ? std::optional<int64_t>(0) : factor ? std::optional(*factor * (*one + *other)) : std::nullopt;
  }
  if (getConstantIntValue(value))
    return 0;
  auto apply = dyn_cast<affine::AffineApplyOp>(op);
  if (!apply)
    return std::nullopt;
  AffineMap map = apply.getAffineMap();
  int64_t growth = 0;
  for (unsigned i = 0; i < map.getNumInputs(); ++i) {
    std::optional<int64_t> own = ofOperand(i);
    AffineExpr input = i < map.getNumDims() ? getAffineDimExpr(i, op->getContext()) : getAffineSymbolExpr(i - map.getNumDims(), op->getContext());
    AffineExpr step = simplifyAffineExpr(map.getResult(0).replace(input, input + 1) - map.getResult(0), map.getNumDims(), map.getNumSymbols());
    auto factor = dyn_cast<AffineConstantExpr>(step);
    if (!own || (*own != 0 && !factor))
      return std::nullopt;
    growth += *own != 0 ? *own * factor.getValue() : 0;
  }
  return growth;
}

namespace {
/// A list in memory that a loop of threads fills, each thread some elements, and that leaves read.
struct NumberList {
  loops::AllocOp memory;
  scf::ForallOp loop;
  memref::StoreOp store;
  int64_t each = 0;

  bool find();
  void keep();
};
} // namespace

/// Whether a view is read by chains of products alone, after the list is filled.
static bool isOfChains(loops::ViewOp view, scf::ForallOp filled) {
  return view->getBlock() == filled->getBlock() && filled->isBeforeInBlock(view) && llvm::all_of(view->getUsers(), [&](Operation *user) {
    auto leaf = dyn_cast<loops::LeafOp>(user);
    return leaf && !llvm::is_contained(leaf.getOutputs(), view.getResult()) && leaf.getLayoutsAttr() && llvm::all_of(leaf.getLayoutsAttr(), llvm::IsaPred<tile::ChainAttr>);
  });
}

bool NumberList::find() {
  SmallVector<loops::ViewOp> views;
  for (Operation *user : memory->getUsers()) {
    if (auto view = dyn_cast<loops::ViewOp>(user)) {
      views.push_back(view);
    } else if (auto own = dyn_cast<memref::StoreOp>(user); own && !store && own.getMemRef() == memory.getResult()) {
      store = own;
    } else if (!isa<memref::DeallocOp>(user)) {
      return false;
    }
  }
  loop = store ? dyn_cast<scf::ForallOp>(store->getParentOp()) : scf::ForallOp();
  loops::LevelAttr level = loop ? loops::levelOf(loop) : loops::LevelAttr();
  auto isPure = [&](Operation &op) { return &op == store || isMemoryEffectFree(&op); };
  if (!level || level.getLevel() != etdg::LoopLevel::Thread || loop.getRank() != 1 || !llvm::all_of(loop.getBody()->without_terminator(), isPure) ||
      getConstantIntValue(loop.getMixedLowerBound()[0]) != 0 || !getConstantIntValue(loop.getMixedUpperBound()[0]) ||
      !isa<IntegerType>(memory.getType().getElementType()) || !llvm::all_of(views, [&](loops::ViewOp view) { return isOfChains(view, loop); }))
    return false;
  std::optional<int64_t> place = growthIn(store.getIndices()[0], loop), number = growthIn(store.getValueToStore(), loop);
  each = number.value_or(0);
  return place == 1 && number && store.getValueToStore().getDefiningOp<arith::IndexCastOp>();
}

/// Element 0 has what the loop's first iteration would store there.
void NumberList::keep() {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  IRMapping first;
  first.map(loop.getInductionVar(0), arith::ConstantIndexOp::create(b, loc, 0).getResult());
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != store)
      b.clone(op, first);
  Value value = first.lookupOrDefault(store.getValueToStore().getDefiningOp<arith::IndexCastOp>().getIn());
  Value place = first.lookupOrDefault(store.getIndices()[0]), apart = arith::ConstantIndexOp::create(b, loc, each);
  value = b.createOrFold<arith::SubIOp>(loc, value, b.createOrFold<arith::MulIOp>(loc, place, apart));
  int64_t elements = *getConstantIntValue(loop.getMixedUpperBound()[0]);
  auto list = loops::SplatOp::create(b, loc, memory.getType(), value, apart, /*elements=*/1, /*rows=*/elements);
  for (Operation *user : llvm::make_early_inc_range(memory->getUsers()))
    if (isa<memref::DeallocOp>(user))
      user->erase();
  loop.erase();
  memory.getResult().replaceAllUsesWith(list.getResult());
  memory.erase();
}

LogicalResult mlir::ft::keepKernelNumbers(loops::ProgramOp program, const GpuScheduleOptions &options) {
  return eachKernel(program, options.getMachine(), [](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) {
    SmallVector<NumberList> lists;
    kernel.walk([&](loops::AllocOp memory) {
      if (NumberList list{memory}; list.find())
        lists.push_back(list);
    });
    for (NumberList &list : lists)
      list.keep();
    return success();
  });
}
