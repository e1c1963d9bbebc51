//===- ApplyPlacements.cpp - staged reads as copies in the graph ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placement takes what a read gets where loop number l of its nest begins. The loops outside of that become a block with a body, in
// which a copy stands before what is left of the nest; a copy that is made ahead is a nest of its own that shares loop l - 1 with it
// and is some iterations further. Where thread blocks share loops further in they go into no body together: the copy is a nest that shares the
// loops outside with the other one. So planes, memory, order and waiting are those of any graph: storage, validator, engines and
// interpreter know nothing of placements.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/Apply/ApplyPlacements.h"

#include "AroundBlocks.h"

#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Schedule/Apply/ApplyTiles.h"
#include "ft/Schedule/Analysis/RefuseLoop.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "llvm/ADT/StringSet.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGAPPLYPLACEMENTS
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using etdg::BlockBuilder;
using etdg::BlockOp;
using etdg::BufferMemory;
using etdg::BufferOp;
using etdg::LoopAttr;
using etdg::LoopKind;
using etdg::LoopLevel;
using etdg::PlacementAttr;
using etdg::ScheduleAttr;
using etdg::SyncKind;

namespace {
/// A nest, or a block that stands alone, and one place in its loops.
struct Site {
  Operation *item;
  SmallVector<BlockOp> blocks;
  ScheduleAttr schedule;
  unsigned split = 0;      // loops outside of the copies
  bool ahead = false;      // copies go on beside the next loop
  unsigned outer = 0;      // own dimensions whose loops these are, of a block around
  unsigned beside = 0;     // loops outside that the copy shares with the nest, of which no block is around
  bool isDealt = false;    // units share loops further in, or wait there
  SmallVector<PlacementAttr> taken, left;

  unsigned numAncestors = 0, numOwn = 0; // of each block
  /// The loops that a copy shares with the nest beside it.
  unsigned numShared() const { return beside + ahead; }
  /// Dimensions of the blocks, ancestors first, that stand outside.
  unsigned numOutside() const { return numAncestors + outer; }
  bool isOutside(LoopAttr loop) const { return loop.getDimension() < int64_t(outer); }
  /// Of loops that nests share all units wait after the innermost, which is after the others, too.
  SyncKind syncOf(LoopAttr loop, size_t number) const { return beside > 0 && number + 1 < numShared() ? SyncKind::None : loop.getSync(); }
  /// What all blocks ask of dimensions outside, as text: the block around says it.
  llvm::StringSet<> common;
};

/// What is copied, by which dimensions of the block.
struct Stage {
  BufferOp buffer;
  SmallVector<unsigned> dims;
  SmallVector<AffineExpr> index; // over the block's dimensions and `symbols`
  SmallVector<StringAttr> symbols;
};

class PlacementApplier {
public:
  PlacementApplier(etdg::GraphOp graph, const Machine &machine)
      : graph(graph), machine(machine), engine(machine.kind == Machine::Kind::GPU ? "GPU" : "CPU"), context(graph.getContext()) {}
  LogicalResult run();

private:
  bool isForGpu() const { return machine.kind == Machine::Kind::GPU; }
  bool isLeft(Operation *item, PlacementAttr placement) const;
  FailureOr<Site> findSite(Operation *item);
  LogicalResult findOutside(Site &site);
  LogicalResult checkDealt(Site &site);
  LogicalResult shareSteps(Site &site);
  LogicalResult checkReads(const Site &site);
  InFlightDiagnostic refuse(const Site &site, PlacementAttr placement) {
    return schedule::refusePlacement(site.blocks.front(), site.schedule, placement, engine);
  }

  LogicalResult apply(const Site &site);
  void emitAround(const Site &site);
  LogicalResult copyBefore(OpBuilder &builder, BlockOp block, BlockBuilder &main, const Site &site);
  FailureOr<Stage> makeStage(OpBuilder &builder, BlockOp block, const Site &site, PlacementAttr placement);
  FailureOr<std::optional<BufferMemory>> memoryOf(const Site &site, PlacementAttr placement);
  LogicalResult checkRoom(const Site &site, PlacementAttr placement, BufferOp buffer);
  BlockOp emitCopy(OpBuilder &builder, BlockOp block, const Site &site, PlacementAttr placement, Stage &stage);

  ScheduleAttr scheduleOutside(const Site &site) const;
  ScheduleAttr scheduleInside(const Site &site) const;
  ScheduleAttr scheduleOfCopy(const Site &site, ArrayRef<unsigned> dims) const;
  ScheduleAttr makeSchedule(const Site &site, unsigned dims, ArrayRef<LoopAttr> loops, ArrayRef<PlacementAttr> placements,
                            SyncKind before) const;

  etdg::GraphOp graph;
  const Machine &machine;
  StringRef engine;
  MLIRContext *context;
  SmallVector<Operation *> open; // items that may have placements left
};
} // namespace

/// Of a nest, or of a block that stands alone.
static ScheduleAttr scheduleOfItem(Operation *item) {
  auto block = dyn_cast<BlockOp>(item);
  return block && block.getNest() ? ScheduleAttr() : etdg::scheduleOf(item);
}

/// What says nothing of a block without dimensions is left out.
static void setScheduleOfItem(Operation *item, ScheduleAttr schedule) {
  if (schedule.getMap().getValue().getNumDims() == 0 && schedule.getBefore() == SyncKind::None && !schedule.getBlock() &&
      schedule.getPlacements().empty())
    schedule = nullptr;
  etdg::setSchedule(item, schedule);
}

//===----------------------------------------------------------------------===//
// Where copies stand
//===----------------------------------------------------------------------===//

/// Whether thread blocks keep it over all loops of what they run.
bool PlacementApplier::isLeft(Operation *item, PlacementAttr placement) const {
  bool isOfGrid = !item->getParentOfType<BlockOp>();
  return isForGpu() && isOfGrid && placement.getLoop() == 0 && placement.getStages() == 1 &&
         placement.getLevel() == etdg::MemoryLevel::Shared;
}

/// The outermost place first, and there what is not made ahead.
static std::pair<int64_t, bool> placeOf(PlacementAttr placement) {
  bool ahead = placement.getStages() > 1;
  return {placement.getLoop() - ahead, ahead};
}

FailureOr<Site> PlacementApplier::findSite(Operation *item) {
  Site site;
  site.item = item;
  site.blocks = etdg::blocksOf(item);
  site.numAncestors = BlockOp(site.blocks.front()).getNumAncestors();
  site.numOwn = BlockOp(site.blocks.front()).getNumOwnDims();
  site.schedule = scheduleOfItem(item);
  SmallVector<PlacementAttr> open;
  for (PlacementAttr placement : site.schedule.getPlacements())
    (isLeft(item, placement) ? site.left : open).push_back(placement);
  if (open.empty())
    return site;
  auto first = placeOf(*llvm::min_element(open, [](PlacementAttr a, PlacementAttr b) { return placeOf(a) < placeOf(b); }));
  for (PlacementAttr placement : open)
    (placeOf(placement) == first ? site.taken : site.left).push_back(placement);
  if (first.first < 0)
    return refuse(site, site.taken.front()) << "it is made ahead of no loop, expected stages = 1 where loop = 0, found stages = "
                                            << site.taken.front().getStages();
  if (!site.schedule.getMap().getValue().isIdentity())
    return BlockOp(site.blocks.front()).emitError("the schedule is not applied (run etdg-apply-schedule)");
  site.split = unsigned(first.first);
  site.ahead = first.second;
  // Tiles in front of the copies are dimensions there.
  if (hasTiles(site.schedule, site.split + site.ahead))
    return failed(applyTiles(item, site.split + site.ahead)) ? FailureOr<Site>(failure()) : findSite(item);
  if (failed(findOutside(site)) || failed(checkDealt(site)) || failed(checkReads(site)))
    return failure();
  if (site.outer > 0)
    site.common = schedule::findCommon(site.blocks, site.numOutside());
  return site;
}

LogicalResult PlacementApplier::findOutside(Site &site) {
  ArrayRef<LoopAttr> loops = site.schedule.getLoops();
  for (LoopAttr loop : loops.take_front(site.split))
    if (!site.schedule.isOverColumns(loop))
      site.outer = std::max(site.outer, unsigned(loop.getDimension()) + 1);
  PlacementAttr placement = site.taken.front();
  for (LoopAttr loop : loops.drop_front(site.split)) {
    bool isRows = loop.getLevel() == LoopLevel::Rows || loop.getLevel() == LoopLevel::ListedRows;
    if (site.schedule.isOverColumns(loop)) {
      site.isDealt = true;
    } else if (site.isOutside(loop)) {
      if (!isRows)
        return refuse(site, placement) << "it stands between a loop over tiles and the loop over their points";
    } else {
      site.isDealt |= loop.getLevel() != LoopLevel::None || loop.getSync() != SyncKind::None;
    }
  }
  if (site.ahead) {
    LoopAttr loop = loops[site.split];
    if (site.schedule.isOverColumns(loop) || loop.getLevel() != LoopLevel::None)
      return refuse(site, placement) << "units share the iterations of the loop that it would be ahead of, expected one that is run in order";
  }
  return success();
}

/// Units that share loops inside of the copies are together outside of them.
LogicalResult PlacementApplier::checkDealt(Site &site) {
  auto kernel = dyn_cast<etdg::KernelOp>(site.item->getParentOp());
  if (kernel && site.outer < std::max<uint64_t>(kernel.getShared(), 1))
    return refuse(site, site.taken.front()) << "it stands outside of what the nest runs alone in its kernel, which shares "
                                            << kernel.getShared() << " loops";
  if (!site.isDealt || site.outer == 0)
    return success();
  for (LoopAttr loop : site.schedule.getLoops().take_front(site.split))
    if (loop.getLevel() != LoopLevel::None)
      return refuse(site, site.taken.front()) << "units share loops further in, and a loop outside";
  return isForGpu() ? shareSteps(site) : success();
}

/// All thread blocks take the steps outside together: the copy's nest and what is left share them. Before the next step copies they have waited.
LogicalResult PlacementApplier::shareSteps(Site &site) {
  PlacementAttr placement = site.taken.front();
  if (site.numAncestors > 0)
    return refuse(site, placement) << "units share loops further in, and one of them runs the block around";
  if (isa<etdg::KernelOp>(site.item->getParentOp()))
    return refuse(site, placement) << "units share loops further in, and the nest shares others in its kernel: expected one that is a kernel by itself";
  ArrayRef<LoopAttr> steps = site.schedule.getLoops().take_front(site.split + site.ahead);
  for (auto [number, loop] : llvm::enumerate(steps))
    if (loop.getDimension() != int64_t(number) || !loop.isOverPoints())
      return refuse(site, placement) << "all units take the loops outside together, expected those over the first dimensions in their order";
  if (steps.back().getSync() == SyncKind::None)
    return refuse(site, placement) << "all units take the loops outside together, expected sync = " << etdg::stringifySyncKind(SyncKind::Grid)
                                   << " after the innermost of them, so that nothing copies what another one still reads";
  site.beside = site.split;
  site.outer = 0;
  return success();
}

LogicalResult PlacementApplier::checkReads(const Site &site) {
  for (PlacementAttr placement : site.taken)
    for (BlockOp block : site.blocks)
      if (placement.getRead() >= int64_t(block.getNumReads()))
        return refuse(site, placement) << "the block has " << block.getNumReads() << " reads";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FailureOr<std::optional<BufferMemory>> PlacementApplier::memoryOf(const Site &site, PlacementAttr placement) {
  StringRef name = etdg::stringifyMemoryLevel(placement.getLevel());
  const Machine::Level *level = machine.findLevel(name);
  if (!level) {
    InFlightDiagnostic diag = refuse(site, placement) << "the machine has no such memory, expected one of";
    for (const Machine::Level &known : machine.levels)
      diag << (&known == machine.levels.begin() ? " " : ", ") << known.name;
    return diag;
  }
  if (site.isDealt && !level->shared)
    return refuse(site, placement) << "units share what is copied, expected a memory that they share";
  if (!isForGpu() || site.isDealt)
    return std::optional<BufferMemory>();
  if (placement.getLevel() == etdg::MemoryLevel::Shared)
    return std::optional(BufferMemory::Shared);
  if (!level->shared)
    return refuse(site, placement) << "a stage is an address that a loop counts, registers have none: what they hold between loop nests of a leaf its layouts say";
  return std::optional(BufferMemory::Workspace);
}

LogicalResult PlacementApplier::checkRoom(const Site &site, PlacementAttr placement, BufferOp buffer) {
  const Machine::Level *level = machine.findLevel(etdg::stringifyMemoryLevel(placement.getLevel()));
  std::optional<int64_t> bytes = buffer.getBytes();
  if (!bytes && buffer.getMemory() == BufferMemory::Shared)
    return refuse(site, placement) << "expected copies of a size that is known, found " << buffer.getType();
  if (bytes && level->bytes && *bytes > level->bytes)
    return refuse(site, placement) << "it takes " << *bytes << " bytes, expected at most " << level->bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether what a read gets depends on a dimension.
static bool dependsOn(etdg::ReadAttr read, unsigned dim) {
  return llvm::any_of(read.getPieces(), [&](etdg::PieceAttr piece) {
    auto inGather = [&](etdg::GatherAttr gather) { return gather.getMap().getValue().isFunctionOfDim(dim); };
    return piece.getMap().getValue().isFunctionOfDim(dim) || llvm::any_of(piece.getGathers(), inGather) ||
           llvm::any_of(piece.getSet().getValue().getConstraints(), [&](AffineExpr e) { return e.isFunctionOfDim(dim); });
  });
}

FailureOr<Stage> PlacementApplier::makeStage(OpBuilder &builder, BlockOp block, const Site &site, PlacementAttr placement) {
  FailureOr<std::optional<BufferMemory>> memory = memoryOf(site, placement);
  if (failed(memory))
    return failure();
  Stage stage;
  const unsigned ancestors = block.getNumAncestors();
  const unsigned ahead = site.ahead ? ancestors + unsigned(site.schedule.getLoops()[site.split].getDimension()) : ~0u;
  for (unsigned d = 0; d < site.beside; ++d)
    stage.dims.push_back(ancestors + d);
  if (site.ahead)
    stage.dims.push_back(ahead);
  for (unsigned d = site.numOutside() + site.beside; d < block.getNumDims(); ++d)
    if (d != ahead && dependsOn(block.getRead(placement.getRead()), d))
      stage.dims.push_back(d);
  SmallVector<etdg::DimRange> ranges = etdg::getOwnRanges(block, etdg::SymbolSpace(graph));
  SmallVector<LengthAttr> lengths;
  BlockBuilder symbols; // collects names
  for (unsigned d : stage.dims) {
    if (auto tile = schedule::tileOf(block, d); tile && tile->first != d && (tile->first < site.numOutside() || tile->first == ahead)) {
      stage.index.push_back(getAffineDimExpr(d, context) - getAffineDimExpr(tile->first, context) * tile->second);
      lengths.push_back(LengthAttr::get(context, tile->second));
      continue;
    }
    auto [lower, upper] = ranges[d - ancestors];
    if (!lower || !upper)
      return refuse(site, placement) << "it is unknown how long " << block.getDimNames()[d] << " is";
    AffineExpr index = getAffineDimExpr(d, context);
    if (std::optional<int64_t> begin = lower.getConstant(); !begin || *begin < 0) {
      index = index - symbols.importExpr(lower.getExpr(), lower.getNames());
      upper = upper - lower;
    }
    stage.index.push_back(index);
    lengths.push_back(upper);
  }
  stage.symbols = symbols.symbols;
  auto element = cast<RankedTensorType>(block.getBody().getArgument(placement.getRead()).getType());
  stage.buffer = BufferOp::create(builder, block.getLoc(), etdg::BufferType::get(context, lengths, element), nullptr, nullptr);
  if (site.numShared() > 0) {
    SmallVector<int64_t> live(lengths.size(), -1);
    llvm::fill(MutableArrayRef(live).take_front(site.beside), 1);
    if (site.ahead)
      live[site.beside] = placement.getStages();
    stage.buffer.setLive(live);
  }
  if (*memory)
    stage.buffer.setMemory(**memory);
  if (failed(checkRoom(site, placement, stage.buffer)))
    return failure();
  return stage;
}

BlockOp PlacementApplier::emitCopy(OpBuilder &builder, BlockOp block, const Site &site, PlacementAttr placement, Stage &stage) {
  BlockBuilder from = BlockBuilder::from(block), copy;
  const unsigned outside = site.numOutside();
  copy.name = from.name.empty() ? "" : from.name + "_" + std::to_string(placement.getRead());
  copy.numAncestors = outside;
  copy.dims.assign(from.dims.begin(), from.dims.begin() + outside);
  copy.symbols = from.symbols;
  // Dimensions that nothing depends on are left out, and so is what the domain says of them.
  SmallVector<AffineExpr> exprs;
  for (unsigned d = 0; d < from.dims.size(); ++d)
    exprs.push_back(d < outside ? getAffineDimExpr(d, context) : getAffineConstantExpr(0, context));
  for (unsigned d : stage.dims) {
    exprs[d] = getAffineDimExpr(copy.dims.size(), context);
    copy.dims.push_back(from.dims[d]);
    copy.operators.push_back(OperatorKind::Map);
  }
  if (site.ahead)
    exprs[stage.dims[site.beside]] = exprs[stage.dims[site.beside]] + (placement.getStages() - 1);
  SmallVector<AffineExpr> index;
  for (AffineExpr e : stage.index)
    index.push_back(copy.importExpr(e, stage.symbols));
  const unsigned numDims = copy.dims.size(), numSymbols = copy.symbols.size();
  IntegerSet inner = schedule::selectConstraints(from, [&](AffineExpr e, StringRef text) {
    auto isLeftOut = [&](unsigned d) { return e.isFunctionOfDim(d) && !llvm::is_contained(stage.dims, d); };
    return !site.common.contains(text) && llvm::none_of(llvm::seq<unsigned>(outside, from.dims.size()), isLeftOut);
  });
  copy.domain = etdg::remapSet(inner, exprs, numDims, numSymbols);
  copy.reads.push_back(etdg::transformRead(
      from.reads[placement.getRead()], [&](AffineMap map, int64_t) { return etdg::remapMap(map, exprs, numDims, numSymbols); },
      [&](IntegerSet set) { return etdg::remapSet(set, exprs, numDims, numSymbols); },
      [&](int64_t operand) { return copy.operandFor(from.buffers[operand]); }));
  AffineMap map = AffineMap::get(from.dims.size(), numSymbols, index, context);
  copy.writes.push_back(etdg::WriteAttr::get(context, copy.operandFor(stage.buffer),
                                             AffineMapAttr::get(etdg::remapMap(map, exprs, numDims, numSymbols))));
  BlockOp made = copy.build(builder, block.getLoc(), block.getBody().getArgument(placement.getRead()).getType());
  setScheduleOfItem(made, scheduleOfCopy(site, stage.dims));
  OpBuilder inside = OpBuilder::atBlockEnd(&made.getBody().front());
  etdg::YieldOp::create(inside, block.getLoc(), ValueRange(made.getBody().getArguments()));
  return made;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

ScheduleAttr PlacementApplier::makeSchedule(const Site &site, unsigned dims, ArrayRef<LoopAttr> loops, ArrayRef<PlacementAttr> placements,
                                            SyncKind before) const {
  const bool ofUnits = site.isDealt && site.outer == 0;
  return ScheduleAttr::get(context, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(dims, context)), loops, placements, before, {},
                           ofUnits ? site.schedule.getBlock() : etdg::ThreadBlockAttr(), 0, site.schedule.getTarget());
}

/// Of the block around the copies: its columns are after fewer dimensions.
ScheduleAttr PlacementApplier::scheduleOutside(const Site &site) const {
  ScheduleAttr given = site.schedule;
  SmallVector<LoopAttr> loops;
  const bool hasColumns = !site.isDealt && given.getColumns() > 0;
  for (LoopAttr loop : given.getLoops())
    if (given.isOverColumns(loop) && hasColumns)
      loops.push_back(loop.withDimension(site.outer));
    else if (!given.isOverColumns(loop) && site.isOutside(loop))
      loops.push_back(loop);
  return ScheduleAttr::get(context, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(site.outer, context)), loops, {}, given.getBefore(),
                           site.blocks.size() == 1 ? given.getWeights() : ArrayRef<int64_t>(), given.getBlock(), hasColumns ? given.getColumns() : 0, given.getTarget());
}

/// Units wait between copies and what reads them.
static SyncKind waitsInside(const Site &site, bool isForGpu) {
  if (!site.isDealt || (site.outer == 0 && site.numShared() == 0))
    return SyncKind::None;
  return isForGpu ? SyncKind::Grid : SyncKind::Cores;
}

ScheduleAttr PlacementApplier::scheduleInside(const Site &site) const {
  ScheduleAttr given = site.schedule;
  const unsigned numOwn = site.numOwn - site.outer;
  SmallVector<LoopAttr> loops;
  SmallVector<int64_t> numbers(given.getLoops().size() + 1, 0); // of the loops that are left
  for (auto [number, loop] : llvm::enumerate(given.getLoops())) {
    numbers[number] = int64_t(loops.size());
    if (site.isOutside(loop) || (given.isOverColumns(loop) && !site.isDealt))
      continue;
    bool goesOn = site.ahead && number == site.split;
    loops.push_back(LoopAttr::get(context, loop.getDimension() - site.outer, loop.getTile(), loop.getMost(), loop.getUnit(),
                                  goesOn ? LoopKind::Sequential : loop.getKind(), loop.getLevel(), loop.getMapping(), site.syncOf(loop, number)));
  }
  numbers.back() = int64_t(loops.size());
  SmallVector<PlacementAttr> left;
  for (PlacementAttr placement : site.left)
    left.push_back(PlacementAttr::get(context, placement.getRead(), numbers[placement.getLoop()], placement.getLevel(), placement.getStages()));
  ScheduleAttr made = makeSchedule(site, numOwn, loops, left, waitsInside(site, isForGpu()));
  if (!site.isDealt || !given.getColumns())
    return made;
  return ScheduleAttr::get(context, made.getMap(), loops, left, made.getBefore(), {}, made.getBlock(), given.getColumns(), made.getTarget());
}

ScheduleAttr PlacementApplier::scheduleOfCopy(const Site &site, ArrayRef<unsigned> dims) const {
  SmallVector<LoopAttr> loops;
  for (auto [number, loop] : llvm::enumerate(site.schedule.getLoops())) {
    const unsigned *dim = llvm::find(dims, site.numAncestors + unsigned(loop.getDimension()));
    if (site.schedule.isOverColumns(loop) || dim == dims.end())
      continue;
    bool goesOn = site.ahead && number == site.split;
    loops.push_back(LoopAttr::get(context, dim - dims.begin(), loop.getTile(), loop.getMost(), loop.getUnit(),
                                  goesOn ? LoopKind::Sequential : loop.getKind(), loop.getLevel(), loop.getMapping(), site.syncOf(loop, number)));
  }
  return makeSchedule(site, unsigned(dims.size()), loops, {}, SyncKind::None);
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

/// Buffers and copies for one block, whose reads become those of the copies.
LogicalResult PlacementApplier::copyBefore(OpBuilder &builder, BlockOp block, BlockBuilder &main, const Site &site) {
  const unsigned numDims = block.getNumDims();
  for (PlacementAttr placement : site.taken) {
    FailureOr<Stage> stage = makeStage(builder, block, site, placement);
    if (failed(stage))
      return failure();
    // (Memory stands in front of the kernel.)
    if (site.numShared() > 0)
      stage->buffer->moveBefore(builder.getInsertionBlock()->getParentOp());
    emitCopy(builder, block, site, placement, *stage);
    SmallVector<AffineExpr> index;
    for (AffineExpr e : stage->index)
      index.push_back(main.importExpr(e, stage->symbols));
    const unsigned numSymbols = main.symbols.size();
    main.reads[placement.getRead()] = etdg::ReadAttr::get(
        context,
        etdg::PieceAttr::getBuffer(etdg::getUniverse(context, numDims, numSymbols), main.operandFor(stage->buffer),
                                   AffineMap::get(numDims, numSymbols, index, context)),
        0);
  }
  return success();
}

/// A block for the loops outside, in whose body the nest stands.
void PlacementApplier::emitAround(const Site &site) {
  OpBuilder builder(site.item);
  BlockOp made = schedule::buildAround(builder, site.blocks, site.outer, site.common);
  made.setScheduleAttr(scheduleOutside(site));
  site.item->moveBefore(made.getYield());
}

LogicalResult PlacementApplier::apply(const Site &site) {
  // Where one unit runs all loops, what it copies is a body's own.
  const bool isWrapped = site.outer > 0 || (!site.isDealt && site.numAncestors == 0);
  if (isWrapped)
    emitAround(site);
  OpBuilder builder(site.item);
  if (site.numShared() > 0) {
    auto kernel = etdg::KernelOp::create(builder, site.item->getLoc(), site.numShared());
    site.item->moveBefore(&kernel.getBody().emplaceBlock(), kernel.getBody().front().end());
    builder.setInsertionPoint(site.item);
  }
  for (BlockOp block : site.blocks) {
    BlockBuilder main = BlockBuilder::from(block);
    if (failed(copyBefore(builder, block, main, site)))
      return failure();
    schedule::enterAround(main, site.outer, site.common);
    main.assign(block);
  }
  setScheduleOfItem(site.item, scheduleInside(site));
  open.push_back(site.item);
  return success();
}

LogicalResult PlacementApplier::run() {
  graph.walk([&](Operation *op) { open.push_back(op); });
  while (!open.empty()) {
    Operation *item = open.pop_back_val();
    if (ScheduleAttr schedule = scheduleOfItem(item); !schedule || schedule.getPlacements().empty())
      continue;
    FailureOr<Site> site = findSite(item);
    if (failed(site) || (!site->taken.empty() && failed(apply(*site))))
      return failure();
  }
  return success();
}

LogicalResult mlir::ft::applyPlacements(etdg::GraphOp graph, const Machine &machine) {
  return graph.isExternal() ? success() : PlacementApplier(graph, machine).run();
}

namespace {
struct ETDGApplyPlacements : ft::impl::ETDGApplyPlacementsBase<ETDGApplyPlacements> {
  using ETDGApplyPlacementsBase::ETDGApplyPlacementsBase;
  void runOnOperation() override {
    std::string serves = Machine::nameForTarget(target).str();
    FailureOr<MachineRef> found = findMachine(getOperation().getLoc(), machine, serves);
    if (failed(found) || failed(applyPlacements(getOperation(), **found)))
      signalPassFailure();
  }
};
} // namespace
