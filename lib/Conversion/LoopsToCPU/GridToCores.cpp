//===- GridToCores.cpp - cores in place of thread blocks --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loops of a GPU's schedule mean, where there is no GPU: a core takes what a thread
// block would, all cores wait where all thread blocks would.
//
//===----------------------------------------------------------------------===//

#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/LeafColumns.h"
#include "ft/Support/MemoryAlignment.h"
#include "Spmd.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ft {
#define GEN_PASS_DEF_LOOPSGRIDTOCORES
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;
using etdg::IterationMapping;
using etdg::LoopLevel;
using loops::ChunksOp;

namespace {
/// One kernel on its way.
class GridKernel {
public:
  explicit GridKernel(func::FuncOp kernel) : kernel(kernel), b(kernel.getContext()) {}
  LogicalResult toCores();

private:
  void fill(loops::SplatOp splat);
  void toHeap(loops::AllocOp alloc);
  void cutColumns(ChunksOp chunks);
  LogicalResult setLevels();
  loops::LevelAttr level(LoopLevel level, IterationMapping mapping) { return loops::LevelAttr::get(b.getContext(), level, mapping); }

  func::FuncOp kernel;
  OpBuilder b;
};
} // namespace

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The leaves that compute the columns of a chunk.
static SmallVector<loops::LeafOp> leavesOfColumns(ChunksOp chunks) {
  SmallVector<loops::LeafOp> leaves;
  chunks.getBody().walk([&](loops::LeafOp leaf) {
    if (leaf.getWidth() == chunks.getCount())
      leaves.push_back(leaf);
  });
  return leaves;
}

/// Whether calls on a CPU can compute some columns of a leaf.
static bool hasColumns(loops::LeafOp leaf) {
  OpBuilder b(leaf);
  func::FuncOp body = outlineLeaf(b, leaf);
  bool found = !schedule::findLeafColumns(body, leaf.getVaries(), *leaf.getColumns()).loops.empty();
  body.erase();
  return found;
}

/// Whether two leaves run at one point: then one may need all that the other has computed, as the graph that they were in
/// said. Regions of a nest are branches beside each other, of which a point takes one.
static bool meet(loops::LeafOp a, loops::LeafOp b) {
  Block *common = a->getBlock();
  while (!common->findAncestorOpInBlock(*b))
    common = common->getParentOp()->getBlock();
  return !isa<scf::IfOp>(common->findAncestorOpInBlock(*a)) || !isa<scf::IfOp>(common->findAncestorOpInBlock(*b));
}

/// Whether cores can share the columns of the leaves.
static bool canShare(ArrayRef<loops::LeafOp> leaves) {
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    loops::LeafOp one = leaf;
    if (llvm::any_of(leaves.take_front(i), [&](loops::LeafOp other) { return meet(one, other); }))
      return false;
  }
  return llvm::all_of(leaves, hasColumns);
}

/// Of so many columns as it has the leaf computes `tile` at a time.
static void walkColumns(loops::LeafOp leaf) {
  OpBuilder b(leaf);
  Location loc = leaf.getLoc();
  Value step = arith::ConstantIndexOp::create(b, loc, *leaf.getTile());
  Value end = arith::AddIOp::create(b, loc, leaf.getColumn(), leaf.getWidth());
  auto loop = scf::ForOp::create(b, loc, leaf.getColumn(), end, step);
  leaf->moveBefore(loop.getBody()->getTerminator());
  leaf.getColumnMutable().assign(loop.getInductionVar());
  leaf.getWidthMutable().clear();
  leaf.removeCutsAttr();
}

static void computeWhole(loops::LeafOp leaf) {
  leaf.getColumnMutable().clear();
  leaf.getWidthMutable().clear();
  leaf.removeTileAttr();
  leaf.removeCutsAttr();
  leaf.removeColumnsAttr();
}

/// A range of columns becomes a loop over parts of it: one, where a leaf can't be cut.
void GridKernel::cutColumns(ChunksOp chunks) {
  SmallVector<loops::LeafOp> leaves = leavesOfColumns(chunks);
  if (leaves.empty())
    return;
  const int64_t all = *leaves.front().getColumns(), unit = chunks.getUnit() ? int64_t(*chunks.getUnit()) : 1;
  // Where the code that runs the loop decides: kernels of a GPU run here to be checked, and any number of parts above one is a check.
  constexpr int64_t parts = 4;
  int64_t part = std::min<int64_t>(chunks.getMost(), llvm::alignTo(llvm::divideCeil(all, parts), unit));
  if (int64_t(chunks.getMost()) < all)
    part = chunks.getMost();
  bool canCut = canShare(leaves);
  if (!canCut)
    part = all;
  for (loops::LeafOp leaf : leaves)
    canCut ? walkColumns(leaf) : computeWhole(leaf);

  b.setInsertionPoint(chunks);
  Location loc = chunks.getLoc();
  Attribute mapping = chunks.getLevel();
  auto loop = scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
                                    ArrayRef<OpFoldResult>{b.getIndexAttr(llvm::divideCeil(all, part))},
                                    ArrayRef<OpFoldResult>{b.getIndexAttr(1)}, ValueRange(), b.getArrayAttr({mapping}));
  b.setInsertionPointToStart(loop.getBody());
  Value size = arith::ConstantIndexOp::create(b, loc, part);
  Value first = arith::MulIOp::create(b, loc, loop.getInductionVar(0), size);
  Value left = arith::SubIOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, all), first);
  chunks.getFirst().replaceAllUsesWith(first);
  chunks.getCount().replaceAllUsesWith(arith::MinSIOp::create(b, loc, size, left));
  Block &body = chunks.getBody().front();
  loop.getBody()->getOperations().splice(Block::iterator(loop.getBody()->getTerminator()), body.getOperations(),
                                         body.begin(), Block::iterator(body.getTerminator()));
  chunks.erase();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Places are those of a GPU: a core's memory lies on the heap.
void GridKernel::toHeap(loops::AllocOp alloc) {
  b.setInsertionPoint(alloc);
  Value memory = memref::AllocOp::create(b, alloc.getLoc(), alloc.getType(), ValueRange{alloc.getSize()}, b.getI64IntegerAttr(memoryAlignment));
  alloc.replaceAllUsesWith(memory);
  alloc.erase();
}

/// Rows of one value each become memory, of the iteration of the loops that are dealt.
void GridKernel::fill(loops::SplatOp splat) {
  Location loc = splat.getLoc();
  Operation *around = splat->getParentOp();
  while (around != kernel && !loops::levelOf(around))
    around = around->getParentOp();
  Block &scope = around->getRegion(0).front();
  auto type = cast<MemRefType>(splat.getResult().getType());
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  b.setInsertionPointToStart(&scope);
  Value memory = memref::AllocOp::create(b, loc, type, index(std::max<int64_t>(splat.getElements() * splat.getRows(), 1)));
  b.setInsertionPoint(scope.getTerminator());
  memref::DeallocOp::create(b, loc, memory);
  b.setInsertionPoint(splat);
  Value one = index(1), elements = index(splat.getElements());
  auto rows = scf::ForOp::create(b, loc, index(0), index(splat.getRows()), one);
  b.setInsertionPointToStart(rows.getBody());
  Value value = splat.getValue(), row = rows.getInductionVar();
  if (splat.getStep())
    value = arith::AddIOp::create(b, loc, value, arith::MulIOp::create(b, loc, row, splat.getStep()));
  if (value.getType() != type.getElementType())
    value = arith::IndexCastOp::create(b, loc, type.getElementType(), value);
  Value first = arith::MulIOp::create(b, loc, row, elements);
  auto columns = scf::ForOp::create(b, loc, index(0), elements, one);
  b.setInsertionPointToStart(columns.getBody());
  memref::StoreOp::create(b, loc, value, memory, arith::AddIOp::create(b, loc, first, columns.getInductionVar()).getResult());
  splat.replaceAllUsesWith(memory);
  splat.erase();
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// Cores take iterations dynamically where these are a box and all that the kernel runs, else each has a share.
LogicalResult GridKernel::setLevels() {
  SmallVector<Operation *> dealt;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    loops::LevelAttr old = loops::levelOf(op);
    if (!old)
      return;
    bool isGrid = old.getLevel() == LoopLevel::Grid;
    loops::setLevel(op, isGrid ? level(LoopLevel::Core, IterationMapping::Block) : level(LoopLevel::None, IterationMapping::None));
    if (isGrid)
      dealt.push_back(op);
  });
  if (dealt.empty() || dealt.front()->getParentOp() != kernel)
    return success();
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (&op != dealt.front() && !isMemoryEffectFree(&op))
      return success();
  FailureOr<Chain> chain = getChain(dealt.front());
  if (failed(chain))
    return failure();
  if (isBox(*chain))
    for (Operation *loop : chain->loops)
      loops::setLevel(loop, level(LoopLevel::Core, IterationMapping::Dynamic));
  return success();
}

LogicalResult GridKernel::toCores() {
  SmallVector<ChunksOp> chunks;
  kernel.walk([&](ChunksOp op) { chunks.push_back(op); });
  SmallVector<loops::SplatOp> splats;
  kernel.walk([&](loops::SplatOp op) { splats.push_back(op); });
  SmallVector<loops::AllocOp> allocs;
  kernel.walk([&](loops::AllocOp op) { allocs.push_back(op); });
  for (loops::SplatOp op : splats)
    fill(op);
  for (loops::AllocOp op : allocs)
    toHeap(op);
  for (ChunksOp op : chunks)
    cutColumns(op);
  kernel.walk([&](Operation *op) {
    if (auto sync = dyn_cast<loops::SyncOp>(op); sync && sync.getKind() == etdg::SyncKind::Block)
      return sync.erase(); // one core is in the place of its threads
    if (isa<loops::StagedOp, loops::CommitOp, loops::WaitOp, loops::GriddepcontrolOp>(op))
      return op->erase(); // and copies where it stands, kernel by kernel
    if (auto sync = dyn_cast<loops::SyncOp>(op))
      sync.setKind(etdg::SyncKind::Cores);
    else if (auto chunks = dyn_cast<ChunksOp>(op))
      chunks.removeLengthAttr();
    else if (auto leaf = dyn_cast<loops::LeafOp>(op)) {
      leaf.removeLayoutsAttr();
      leaf.removeAlignedAttr();
      leaf.removePlacesAttr();
      leaf.removeNestsAttr();
    }
    op->removeAttr(loops::names::syncs);
    op->removeAttr(loops::names::joined);
    op->removeAttr(loops::names::kept);
    op->removeAttr(loops::names::roundsLast);
  });
  kernel->removeAttr(loops::names::grid);
  kernel->removeAttr(loops::names::shared);
  return setLevels();
}

LogicalResult mlir::ft::gridToCores(ModuleOp module) {
  loops::expandViews(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (loops::gridOf(function) && !function.isExternal() && failed(GridKernel(function).toCores()))
      return failure();
  for (auto program : module.getOps<loops::ProgramOp>()) {
    program.removeDeviceAttr();
    program.walk([](loops::LaunchOp launch) { launch.setOverlaps(false); });
  }
  return success();
}

namespace {
struct LoopsGridToCores : mlir::ft::impl::LoopsGridToCoresBase<LoopsGridToCores> {
  void runOnOperation() override {
    if (failed(gridToCores(getOperation())))
      signalPassFailure();
  }
};
} // namespace
