//===- ApplyTiles.cpp - loops over tiles as dimensions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over tiles of 8 of a dimension i becomes one over a dimension of its own, io, with 8·io ≤ i < 8·io + 8: accesses stay as they are, and
// what can be said of dimensions can be said of tiles. So nests of a kernel share tiles, and walk their points one nest after the other.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/Apply/ApplyTiles.h"

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGAPPLYTILES
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using etdg::BlockBuilder;
using etdg::BlockOp;
using etdg::LoopAttr;
using etdg::ScheduleAttr;

static bool isOverTiles(LoopAttr loop) { return !loop.hasAnyTile() && loop.getTile() > 1; }

bool mlir::ft::hasTiles(ScheduleAttr schedule, unsigned count) {
  ArrayRef<LoopAttr> loops = schedule.getLoops();
  return llvm::any_of(loops.take_front(std::min<size_t>(count, loops.size())),
                      [&](LoopAttr loop) { return !schedule.isOverColumns(loop) && isOverTiles(loop); });
}

namespace {
/// The own dimensions of an item, in the order of its loops.
struct Tiled {
  struct Dim {
    unsigned old;          // own dimension
    int64_t tile = 1;      // of which this one counts tiles
    etdg::LoopKind kind = etdg::LoopKind::Sequential;
  };
  SmallVector<Dim> dims;
  SmallVector<LoopAttr> loops;

  Tiled(ScheduleAttr schedule, unsigned count, unsigned numOwn);
  unsigned positionOf(unsigned old) const {
    return unsigned(llvm::find_if(dims, [&](const Dim &dim) { return dim.old == old && dim.tile == 1; }) - dims.begin());
  }
};
} // namespace

Tiled::Tiled(ScheduleAttr schedule, unsigned count, unsigned numOwn) {
  SmallVector<int64_t> counts(schedule.getLoops().size(), -1); // by loop: the dimension that counts its tiles
  for (auto [number, loop] : llvm::enumerate(schedule.getLoops()))
    if (!schedule.isOverColumns(loop) && number < count && isOverTiles(loop)) {
      counts[number] = int64_t(dims.size());
      dims.push_back({unsigned(loop.getDimension()), loop.getTile(), loop.getKind()});
    } else if (!schedule.isOverColumns(loop) && positionOf(unsigned(loop.getDimension())) == dims.size()) {
      dims.push_back({unsigned(loop.getDimension())});
    }
  MLIRContext *context = schedule.getContext();
  for (auto [number, loop] : llvm::enumerate(schedule.getLoops()))
    if (counts[number] >= 0)
      loops.push_back(LoopAttr::get(context, counts[number], /*tile=*/1, loop.getMost(), loop.getUnit(), loop.getKind(), loop.getLevel(),
                                    loop.getMapping(), loop.getSync()));
    else
      loops.push_back(loop.withDimension(schedule.isOverColumns(loop) ? int64_t(dims.size()) : int64_t(positionOf(unsigned(loop.getDimension())))));
}

/// `io`, or with a number after it where something has this name.
static StringAttr nameOfTiles(BlockOp block, ArrayRef<StringAttr> taken, StringAttr of) {
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  std::string name = of.getValue().str() + "o";
  auto isTaken = [&](StringAttr made) { return llvm::is_contained(taken, made) || llvm::is_contained(symbols, made); };
  StringAttr made = StringAttr::get(block.getContext(), name);
  for (unsigned number = 1; isTaken(made); ++number)
    made = StringAttr::get(block.getContext(), name + std::to_string(number));
  return made;
}

/// Where tiles of a dimension begin and end by what its block says of it alone.
static void addRange(SmallVectorImpl<AffineExpr> &constraints, const BlockBuilder &block, unsigned tiles, unsigned dim, int64_t size) {
  MLIRContext *context = block.domain.getContext();
  AffineExpr own = getAffineDimExpr(tiles, context), zero = getAffineConstantExpr(0, context);
  for (auto [expr, equality] : llvm::zip_equal(block.domain.getConstraints(), block.domain.getEqFlags())) {
    etdg::LinearForm form = etdg::LinearForm::of(expr);
    int64_t step = form.coefficient(getAffineDimExpr(dim, context));
    AffineExpr rest = expr.replace(getAffineDimExpr(dim, context), zero);
    bool isOfSymbols = llvm::none_of(llvm::seq<unsigned>(0, block.dims.size()), [&](unsigned d) { return rest.isFunctionOfDim(d); });
    if (equality || !isOfSymbols || (step != 1 && step != -1))
      continue;
    constraints.push_back(step == 1 ? own - (-rest).floorDiv(size) : rest.floorDiv(size) - own);
  }
}

/// A block in the dimensions of its tiles.
static void rewrite(BlockOp block, const Tiled &tiled) {
  MLIRContext *context = block.getContext();
  const unsigned ancestors = block.getNumAncestors();
  SmallVector<StringAttr> old = block.getDimNames(), taken = old;
  etdg::BlockRemap remap;
  remap.numAncestors = ancestors;
  remap.dims.assign(old.begin(), old.begin() + ancestors);
  for (const Tiled::Dim &dim : tiled.dims) {
    StringAttr own = old[ancestors + dim.old];
    remap.dims.push_back(dim.tile > 1 ? nameOfTiles(block, taken, own) : own);
    taken.push_back(remap.dims.back());
    OperatorKind kind = block.getOperator(dim.old);
    remap.operators.push_back(dim.tile == 1 || kind == OperatorKind::Map ? kind : OperatorKind::ScanL);
  }
  for (unsigned d = 0; d < ancestors; ++d)
    remap.exprs.push_back(getAffineDimExpr(d, context));
  for (unsigned own = 0; own < block.getNumOwnDims(); ++own)
    remap.exprs.push_back(getAffineDimExpr(ancestors + tiled.positionOf(own), context));
  etdg::remapBlock(block, remap);
  BlockBuilder made = BlockBuilder::from(block);
  SmallVector<AffineExpr> constraints(made.domain.getConstraints());
  SmallVector<bool> equal(made.domain.getEqFlags());
  for (auto [number, dim] : llvm::enumerate(tiled.dims)) {
    if (dim.tile == 1)
      continue;
    AffineExpr begin = getAffineDimExpr(ancestors + number, context) * dim.tile, point = getAffineDimExpr(ancestors + tiled.positionOf(dim.old), context);
    constraints.append({point - begin, begin + (dim.tile - 1) - point});
    addRange(constraints, made, ancestors + unsigned(number), ancestors + tiled.positionOf(dim.old), dim.tile);
  }
  equal.resize(constraints.size(), false);
  made.domain = IntegerSet::get(made.dims.size(), made.symbols.size(), constraints, equal);
  made.assign(block);
}

LogicalResult mlir::ft::applyTiles(Operation *item, unsigned count) {
  ScheduleAttr schedule = etdg::scheduleOf(item);
  SmallVector<BlockOp> blocks = etdg::blocksOf(item);
  if (!schedule.getMap().getValue().isIdentity())
    return blocks.front().emitError("the schedule is not applied (run etdg-apply-schedule)");
  for (BlockOp block : blocks)
    if (!block.isLeaf())
      return block.emitError("a loop over tiles can't be a dimension of its own: expected a leaf, found a body of blocks");
  Tiled tiled(schedule, count, blocks.front().getNumOwnDims());
  for (BlockOp block : blocks)
    rewrite(block, tiled);
  MLIRContext *context = item->getContext();
  auto made = ScheduleAttr::get(context, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(tiled.dims.size(), context)), tiled.loops,
                                schedule.getPlacements(), schedule.getBefore(), schedule.getWeights(), schedule.getBlock(),
                                schedule.getColumns(), schedule.getTarget());
  etdg::setSchedule(item, made);
  return success();
}

/// The loops that a kernel's nests share: of the same tiles in each.
static LogicalResult applyShared(etdg::KernelOp kernel) {
  const unsigned shared = unsigned(kernel.getShared());
  SmallVector<Operation *> items;
  for (Operation &item : kernel.getBody().front())
    if (isa<etdg::NestOp, BlockOp>(item) && etdg::scheduleOf(&item))
      items.push_back(&item);
  if (llvm::none_of(items, [&](Operation *item) { return hasTiles(etdg::scheduleOf(item), shared); }))
    return shareParallel(kernel);
  for (Operation *item : items)
    for (unsigned l = 0; l < shared; ++l) {
      ArrayRef<LoopAttr> own = etdg::scheduleOf(item).getLoops(), first = etdg::scheduleOf(items.front()).getLoops();
      if (l < own.size() && l < first.size() && own[l].getTile() == first[l].getTile())
        continue;
      InFlightDiagnostic diag = etdg::blocksOf(item).front().emitError("the nests of a kernel share loop ") << l << ", and have other tiles of it: expected ";
      diag << (l < first.size() ? first[l].getTile() : 0) << ", found " << (l < own.size() ? own[l].getTile() : 0);
      diag.attachNote(etdg::blocksOf(items.front()).front().getLoc()) << "the first nest is here";
      return diag;
    }
  for (Operation *item : items)
    if (failed(applyTiles(item, shared)))
      return failure();
  return shareParallel(kernel);
}

LogicalResult mlir::ft::applyTiles(etdg::GraphOp graph) {
  SmallVector<etdg::KernelOp> kernels; // (which become blocks, some of them)
  graph.walk([&](etdg::KernelOp kernel) { kernels.push_back(kernel); });
  return success(llvm::all_of(kernels, [](etdg::KernelOp kernel) { return succeeded(applyShared(kernel)); }));
}

namespace {
struct ETDGApplyTiles : ft::impl::ETDGApplyTilesBase<ETDGApplyTiles> {
  using ETDGApplyTilesBase::ETDGApplyTilesBase;
  void runOnOperation() override {
    if (!getOperation().isExternal() && failed(applyTiles(getOperation())))
      signalPassFailure();
  }
};
} // namespace
