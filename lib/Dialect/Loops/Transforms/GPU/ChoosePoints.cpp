//===- ChoosePoints.cpp - what threads compute of loop nests, said in the loops -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows of a loop nest's tiling once it is known where the leaf's values lie and begin: which points a thread computes together, how its
// sums are cut, what becomes of rows that are too few for a tile, how many adjacent elements are one access, and where nothing computes it.
// Decided here (`loops-choose-points`), and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h" // lanes of a warp
#include "ft/Dialect/Loops/Transforms/GPU/RowAccesses.h"

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::NestSplit;
using schedule::Tiles;

namespace {
/// Derives all that is specified for one nest.
class NestChooser {
public:
  NestChooser(loops::LeafOp leaf, const LeafInBlock &own, const Tiles &tiles, ArrayRef<BufferFacts> facts, const Machine &machine, LeafNest &to)
      : leaf(leaf), own(own), context(own.context), graph(own.form.graph), tiles(tiles), facts(facts), accessBytes(machine.gpu.accessBytes), to(to),
        nest(to.nest) {}
  tile::NestAttr choose(NestSplit split);
  /// Of rows one by one, which tiles of rows may leave; null if there are none.
  tile::PointTilesAttr chooseRest();

private:
  bool isLifted(const leaf::ElementView &view) const;
  bool differsByLift() const;
  bool cutsSums(int64_t points) const;
  bool isReused(int64_t tile, bool isShared) const;
  tile::PointTilesAttr layoutFor(int64_t tile, ArrayRef<int64_t> unroll);
  int64_t widthOf(const leaf::ElementView &view) const;
  tile::FlagAttr guardOf();

  loops::LeafOp leaf;
  const LeafInBlock &own;
  const schedule::LeafContext &context;
  const leaf::LeafGraph &graph;
  const Tiles &tiles;
  ArrayRef<BufferFacts> facts;
  int64_t accessBytes; // of the machine's widest access
  LeafNest &to;
  leaf::Nest &nest;
  int splitLoop = -1;
  bool isBatched = false;
  int64_t lifts = 1;
};
} // namespace

bool NestChooser::isLifted(const leaf::ElementView &view) const {
  return (!view.isSplat() && own.lifted[view.buffer]) ||
         llvm::any_of(view.terms, [&](const leaf::DynamicTerm &term) { return own.lifted[term.buffer]; });
}

bool NestChooser::differsByLift() const {
  bool differs = llvm::any_of(to.accesses, [&](const leaf::NestAccess &access) { return isLifted(access.view); });
  for (const leaf::NestMember &member : nest.members)
    differs |= llvm::any_of(member.captured, [&](const auto &captured) { return isLifted(captured.second); });
  return differs;
}

bool NestChooser::cutsSums(int64_t points) const {
  return tiles.group == 1 && schedule::cutsSums(tiles, nest, points, context.sums);
}

/// Whether the thread block may have several tiles, whose sums go through the same memory.
bool NestChooser::isReused(int64_t tile, bool isShared) const {
  if (!isShared || tiles.group <= warpLanes)
    return false;
  int64_t count = lifts;
  for (auto [loop, size] : llvm::enumerate(nest.sizes))
    if (!nest.reduced[loop])
      count *= int(loop) == tiles.tileLoop ? size / tile : size;
  return isBatched || splitLoop >= 0 || count > 1;
}

/// How many elements along the vector are one access: adjacent ones that are known to begin at multiples of as many.
int64_t NestChooser::widthOf(const leaf::ElementView &view) const {
  const leaf::Buffer &buffer = graph.buffers[view.buffer];
  if (!buffer.inMemory)
    return 0;
  int64_t width = tiles.width;
  if (width == 1 || tiles.vectorLoop == Tiles::none || view.strides[tiles.vectorLoop] != 1 || view.hasBorders())
    return 1;
  bool aligned = facts[view.buffer].isAligned && view.offset % width == 0 && buffer.numElements % width == 0 &&
                 width * bytesOf(buffer.elementType) <= accessBytes;
  for (auto [loop, stride] : llvm::enumerate(view.strides))
    aligned &= int(loop) == tiles.vectorLoop || stride % width == 0;
  for (const leaf::DynamicTerm &term : view.terms)
    aligned &= term.stride % width == 0;
  return aligned ? width : 1;
}

/// A flag that the threads of a block agree on: it is one for all rows and lifts.
tile::FlagAttr NestChooser::guardOf() {
  if (!nest.guard)
    return nullptr;
  const leaf::Buffer &flag = graph.buffers[nest.guard->buffer];
  Value memory = leaf.getInputs()[flag.number].getDefiningOp<loops::ViewOp>().getMemory();
  if (flag.batched || own.lifted[nest.guard->buffer] || memoryFormOf(memory, Lift()).hasStep)
    return nullptr;
  return tile::FlagAttr::get(leaf.getContext(), int64_t(flag.number), nest.guard->when);
}

static bool hasSums(const leaf::Nest &nest) {
  return llvm::any_of(nest.members, [](const leaf::NestMember &member) { return member.isReduction(); });
}

tile::PointTilesAttr NestChooser::layoutFor(int64_t tile, ArrayRef<int64_t> unroll) {
  MLIRContext *at = leaf.getContext();
  bool isOne = tile == 1, ofRows = tiles.tileLoop == Tiles::rowLoop, isSliced = cutsSums(tile * tiles.width);
  bool isShared = tiles.group > 1 || isSliced;
  int64_t copies = unroll.empty() ? 0 : unroll.front(), granule = 1;
  bool together = !isShared && !hasSums(nest) && copies > 1;
  SmallVector<int64_t> kept(unroll);
  if (isSliced && unroll.size() > 1) { // the loop over a slice has a granule in place of copies
    granule = std::max<int64_t>(unroll[1], 1);
    kept[1] = 0;
  }
  while (!kept.empty() && kept.back() == 0)
    kept.pop_back();
  return tile::PointTilesAttr::get(at, context.threads, tiles.vectorLoop, tiles.width, isOne || ofRows ? -1 : tiles.tileLoop, tile,
                                   !isOne && ofRows, together ? copies : 1, tiles.group, isReused(tile, isShared), isSliced ? tiles.slices : 1,
                                   granule, kept.empty() || together ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(at, kept));
}

tile::PointTilesAttr NestChooser::chooseRest() {
  return tiles.tileLoop == Tiles::rowLoop ? layoutFor(/*tile=*/1, tiles.restUnroll) : tile::PointTilesAttr();
}

tile::NestAttr NestChooser::choose(NestSplit split) {
  splitLoop = split.kind == NestSplit::shared ? split.loop : -1;
  leaf::collapseLoops(nest, splitLoop < 0 ? nullptr : &splitLoop);
  leaf::collectAccesses(nest, to.accesses);
  llvm::erase_if(to.accesses, [](const leaf::NestAccess &access) { return access.view.isSplat(); });
  isBatched = nest.batched && context.maxRows > 1;
  lifts = differsByLift() ? context.lifts : 1;
  MLIRContext *at = leaf.getContext();
  SmallVector<int64_t> widths = llvm::map_to_vector(to.accesses, [&](const leaf::NestAccess &access) { return widthOf(access.view); });
  tile::PointTilesAttr whole = layoutFor(tiles.tile, tiles.unroll);
  // How many rows there are the host decides: fewer than a tile are computed one by one. Where threads are idle anyway, as they take
  // slices of sums, a tile that is short of rows costs no time.
  tile::PointTilesAttr rest = whole.getSlices() > 1 ? tile::PointTilesAttr() : chooseRest();
  return tile::NestAttr::get(at, DenseI64ArrayAttr::get(at, nest.sizes), isBatched, lifts, splitLoop, split.kind == NestSplit::first,
                             /*async=*/false, whole, rest, DenseI64ArrayAttr::get(at, widths), guardOf());
}

/// Calls `take` for each nest that its layout gives to threads point by point, with what can be said of it.
static LogicalResult eachNest(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, ArrayRef<BufferFacts> facts, const Machine &machine,
                              llvm::function_ref<LogicalResult(unsigned, LeafNest &, tile::NestAttr, tile::PointTilesAttr)> take) {
  size_t behind = 0; // nests before it are computed with a product before them
  for (auto [i, tiles] : llvm::enumerate(tiling.tiles)) {
    if (tiles.product)
      behind = std::max(behind, i + 1 + size_t(tiles.product->attribute.getFused()));
    if (i < behind)
      continue;
    LeafNest nest;
    nest.nest = own.form.graph.nests[i];
    NestChooser chooser(leaf, own, tiles, facts, machine, nest);
    tile::NestAttr widest = chooser.choose(own.form.splits.empty() ? NestSplit() : own.form.splits[i]);
    if (failed(take(unsigned(i), nest, widest, chooser.chooseRest())))
      return failure();
  }
  return success();
}

static LogicalResult choosePoints(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Machine &machine) {
  FailureOr<PlacedLeaf> placed = readPlacedLeaf(leaf, block, liftOf(leaf), machine);
  if (failed(placed))
    return failure();
  auto &[own, tiling, places] = *placed;
  SmallVector<BufferFacts> facts = findFacts(leaf, own.form.graph, places);
  if (tiling.rows) {
    leaf.setNestsAttr(ArrayAttr::get(leaf.getContext(), {chooseRowAccesses(leaf, own, *tiling.rows, facts, machine)}));
    return success();
  }
  SmallVector<Attribute> nests(tiling.chain ? 1 : tiling.tiles.size(), UnitAttr::get(leaf.getContext()));
  (void)eachNest(leaf, own, tiling, facts, machine, [&](unsigned number, LeafNest &, tile::NestAttr widest, tile::PointTilesAttr) {
    nests[number] = widest;
    return success();
  });
  leaf.setNestsAttr(ArrayAttr::get(leaf.getContext(), nests));
  return success();
}

LogicalResult mlir::ft::chooseKernelPoints(loops::ProgramOp program, const GpuScheduleOptions &options) {
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine, [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) {
    etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
    WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
      return !leaf.getNestsAttr() && failed(choosePoints(leaf, block, machine)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// What of these tiles the nest can't have, where it could have `widest`; empty: nothing.
static std::string describeWrong(tile::PointTilesAttr said, tile::PointTilesAttr widest, const leaf::Nest &nest) {
  auto shape = [](tile::PointTilesAttr tiles) {
    return std::tuple(tiles.getThreads(), tiles.getVector(), tiles.getWidth(), tiles.getLoop(), tiles.getTile(), tiles.getRows(), tiles.getLanes(),
                      tiles.getReuse());
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (shape(said) != shape(widest))
    stream << "expected threads, vector, tile and lanes of its layout, " << widest << ", found " << said;
  else if (said.getSlices() > widest.getSlices())
    stream << "expected at most " << widest.getSlices() << " slices, for which there is memory, found " << said;
  else if (said.getTogether() > 1 && (hasSums(nest) || said.getLanes() > 1))
    stream << "expected tiles one after the other (together = 1) where threads have sums, found " << said;
  else if (said.getSlices() > 1)
    if (int64_t terms = nest.sizes[llvm::find(nest.reduced, true) - nest.reduced.begin()]; terms % said.getGranule() != 0)
      stream << "expected a granule that divides the sum's " << terms << " terms, found " << said;
  return text;
}

/// The same of all that is specified for a nest.
static std::string describeWrong(tile::NestAttr said, tile::NestAttr widest, tile::PointTilesAttr rest, const leaf::Nest &nest) {
  auto shape = [](tile::NestAttr nest) {
    return std::tuple(nest.getLoops(), nest.getRows(), nest.getLifts(), nest.getColumns(), nest.getFirst(), nest.getAccesses().size());
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (shape(said) != shape(widest)) {
    stream << "expected loops, rows, lifts, columns and accesses of " << widest << ", found " << said;
    return text;
  }
  if (std::string wrong = describeWrong(said.getTiles(), widest.getTiles(), nest); !wrong.empty())
    return "tiles: " + wrong;
  if (std::string wrong = said.getRest() && rest ? describeWrong(said.getRest(), rest, nest) : ""; !wrong.empty())
    return "rest: " + wrong;
  for (auto [i, own, most] : llvm::enumerate(said.getAccesses().asArrayRef(), widest.getAccesses().asArrayRef())) {
    if (own > most || (own == 0) != (most == 0)) {
      stream << "access " << i << ": " << (most == 0 ? "what stays in registers has none (0)" : "expected at least one element, and at most ");
      if (most != 0)
        stream << most << " that are known to be one access";
      stream << ", found " << own;
      return text;
    }
  }
  if (said.getGuard() && said.getGuard() != widest.getGuard()) {
    stream << "guard: expected ";
    if (widest.getGuard())
      stream << widest.getGuard();
    else
      stream << "none, as no flag that all rows share makes it superfluous";
    stream << ", found " << said.getGuard();
  }
  return text;
}

FailureOr<std::vector<LeafNest>> togpu::readNests(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, const LeafPlaces &places,
                                                  const Machine &machine) {
  std::vector<LeafNest> nests(tiling.tiles.size());
  if (tiling.rows || tiling.chain)
    return nests;
  ArrayAttr said = leaf.getNestsAttr();
  SmallVector<BufferFacts> facts = findFacts(leaf, own.form.graph, places);
  LogicalResult read = eachNest(leaf, own, tiling, facts, machine, [&](unsigned number, LeafNest &nest, tile::NestAttr widest, tile::PointTilesAttr rest) -> LogicalResult {
    auto refuse = [&] { return leaf.emitError("the GPU engine can't run the leaf's nests: loop nest ") << number << ": "; };
    nest.said = said ? dyn_cast<tile::NestAttr>(said[number]) : tile::NestAttr();
    if (!nest.said)
      return refuse() << "it is not specified which points a thread computes: loops-choose-points does";
    if (std::string wrong = describeWrong(nest.said, widest, rest, nest.nest); !wrong.empty())
      return refuse() << wrong;
    nests[number] = std::move(nest);
    return success();
  });
  if (failed(read))
    return failure();
  return nests;
}
