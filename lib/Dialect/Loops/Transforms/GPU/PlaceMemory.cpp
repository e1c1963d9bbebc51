//===- PlaceMemory.cpp - memory of a thread block, said in the loops ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory is one array: first what warps leave for each other, then what lives as long as the kernel, then what leaves need one
// after the other. What does not fit lies in the workspace, of which each thread block has a part. Which is where, from which byte
// on, is decided here (`loops-place-memory`), and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "ft/Dialect/Loops/Transforms/GPU/ChooseSwizzles.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h" // alignment of accesses, lanes of a warp
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"

#include "ft/Schedule/GPU/Plan/PlaceBuffers.h"
#include "ft/Support/FirstFit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::MemoryAttr;
using loops::MemoryKind;
using loops::PlaceAttr;
using loops::PlaceKind;
using loops::PlaceUse;
using schedule::Tiles;

//===----------------------------------------------------------------------===//
// What leaves need
//===----------------------------------------------------------------------===//

/// How often a nest touches a buffer, other than by a view of `member.inits` or `member.writes` that equals `view`.
static unsigned touches(const leaf::Nest &nest, int buffer, const leaf::ElementView *view = nullptr) {
  unsigned count = 0;
  auto touch = [&](const leaf::ElementView &seen, bool mayEqual) {
    bool isView = mayEqual && view && seen.strides == view->strides && seen.offset == view->offset && seen.terms.empty() &&
                  seen.columnStride == view->columnStride;
    count += seen.buffer == buffer && !isView;
    for (const leaf::DynamicTerm &term : seen.terms)
      count += term.buffer == buffer;
  };
  for (const leaf::NestMember &member : nest.members) {
    for (const leaf::ElementView &seen : member.reads)
      touch(seen, false);
    for (auto *views : {&member.inits, &member.writes})
      for (const leaf::ElementView &seen : *views)
        touch(seen, true);
    for (const auto &[value, seen] : member.captured)
      touch(seen, false);
  }
  return count;
}

/// The output in whose memory a value between nests may lie: a product alone adds to it, in its own places and not elsewhere, and
/// writes it as that output, which nothing else touches. None: -1. (The thread that writes a sum of a product is the one that has
/// read it; where lanes share a point, others may still read.)
static int outputOf(const leaf::LeafGraph &graph, ArrayRef<Tiles> tiles, int scratch) {
  for (auto [n, nest] : llvm::enumerate(graph.nests)) {
    if (!tiles[n].product || nest.members.size() != 1 || nest.members.front().inits.size() != 1 || nest.members.front().writes.size() != 1)
      continue;
    const leaf::NestMember &member = nest.members.front();
    if (member.inits.front().buffer != scratch || !member.inits.front().terms.empty())
      continue;
    const leaf::ElementView &view = member.inits.front(), &written = member.writes.front();
    const leaf::Buffer &from = graph.buffers[scratch];
    if (written.isSplat() || graph.buffers[written.buffer].kind != leaf::Buffer::Kind::Output)
      return -1;
    const leaf::Buffer &to = graph.buffers[written.buffer];
    if (to.elementType != from.elementType || to.numElements != from.numElements || touches(nest, scratch, &view) ||
        touches(nest, written.buffer, &view))
      return -1;
    // The code that makes the value stands before; after, nothing reads it.
    for (auto [other, beside] : llvm::enumerate(graph.nests))
      if (other != n && (touches(beside, written.buffer) || (other > n && touches(beside, scratch))))
        return -1;
    return written.buffer;
  }
  return -1;
}

/// Whether all that memory may be is shared by the threads of a block.
static bool isShared(Value memory) {
  if (auto branch = memory.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(memory).getResultNumber();
    return isShared(branch.thenYield().getOperand(number)) && isShared(branch.elseYield().getOperand(number));
  }
  auto alloc = memory.getDefiningOp<loops::AllocOp>();
  return alloc && alloc.isShared();
}

/// Loop nests that are computed together, one tile after the other: from a product on to after the last one that it, or one that is joined with
/// it, has fused.
static SmallVector<std::pair<unsigned, unsigned>> findRuns(ArrayRef<Tiles> tiles) {
  SmallVector<std::pair<unsigned, unsigned>> runs;
  for (unsigned first = 0, behind = 0; first < tiles.size(); first = behind) {
    behind = first + 1;
    for (unsigned n = first; n < behind; ++n)
      if (const auto &product = tiles[n].product)
        behind = std::max(behind, n + 1 + unsigned(product->attribute.getFused()));
    runs.emplace_back(first, behind);
  }
  return runs;
}

/// The loop nests in which each buffer is used, from the first to the last. What some nest of a run uses, all of the run do: the next tile
/// reads after what the last one has written.
static SmallVector<LeafNeeds::Need> findLives(const leaf::LeafGraph &graph, ArrayRef<Tiles> tiles) {
  SmallVector<LeafNeeds::Need> lives(graph.buffers.size());
  for (auto [n, nest] : llvm::enumerate(graph.nests)) {
    auto use = [&, n = n](int buffer) {
      if (buffer >= 0)
        lives[buffer].use(unsigned(n));
    };
    auto touch = [&](const leaf::ElementView &view) {
      use(view.buffer);
      for (const leaf::DynamicTerm &term : view.terms)
        use(term.buffer);
    };
    for (const leaf::NestMember &member : nest.members) {
      llvm::for_each(member.reads, touch);
      llvm::for_each(member.inits, touch);
      llvm::for_each(member.writes, touch);
      for (const auto &[value, view] : member.captured)
        touch(view);
    }
  }
  for (auto [first, behind] : findRuns(tiles))
    for (LeafNeeds::Need &need : lives)
      if (need.first < behind && need.last >= first) {
        need.use(first);
        need.use(behind - 1);
      }
  return lives;
}

/// Whether threads leave each other sums of a nest's slices: of its tiles, or of rows one by one where those are too few for a tile.
static bool leavesSums(const leaf::Nest &nest, const Tiles &tiles, int64_t bytesOfThread) {
  if (tiles.product || tiles.group > 1)
    return false;
  for (auto [size, reduced] : llvm::zip_equal(nest.sizes, nest.reduced))
    if (size == 0 && !reduced)
      return false;
  return schedule::cutsSums(tiles, nest, tiles.tile * tiles.width, bytesOfThread) ||
         (tiles.tileLoop == Tiles::rowLoop && schedule::cutsSums(tiles, nest, tiles.width, bytesOfThread));
}

/// What products and sums of slices need; and takes out of memory what is in registers while a product's tile is.
static void findStages(leaf::LeafGraph &graph, ArrayRef<Tiles> tiles, etdg::ThreadBlockAttr block, LeafNeeds &needs) {
  for (size_t n = 0, behind = 0; n < graph.nests.size(); ++n) {
    if (const auto &product = tiles[n].product) {
      behind = std::max(behind, n + 1 + size_t(product->attribute.getFused())); // nests before it are computed with the product
      if (!product->attribute.getWgmma()) { // whose operands go through channels
        needs.operands.bytes = std::max(needs.operands.bytes, int64_t(llvm::alignTo(product->staged.getBytes(), accessBytes)));
        needs.operands.use(unsigned(n));
        needs.operands.use(unsigned(behind - 1));
      }
      for (int buffer : product->inRegisters)
        graph.buffers[buffer].inMemory = false;
    } else if (n >= behind && leavesSums(graph.nests[n], tiles[n], block.getSums())) {
      needs.sums.bytes = block.getThreads() * block.getSums();
      needs.sums.use(unsigned(n));
    }
  }
}

LeafNeeds togpu::findNeeds(loops::LeafOp leaf, LeafInBlock &own, const LeafTiling &tiling, etdg::ThreadBlockAttr block) {
  LeafNeeds needs;
  if (tiling.rows || tiling.chain)
    return needs;
  leaf::LeafGraph &graph = own.form.graph;
  findStages(graph, tiling.tiles, block, needs);
  SmallVector<LeafNeeds::Need> lives = findLives(graph, tiling.tiles);
  const int64_t rows = leaf.getMost(), lifts = own.context.lifts;
  for (auto [i, buffer] : llvm::enumerate(graph.buffers)) {
    if (buffer.kind != leaf::Buffer::Kind::Scratch)
      continue;
    LeafNeeds::Need &need = needs.values.emplace_back();
    needs.buffers.push_back(int(i));
    if (!buffer.inMemory || lives[i].first == ~0u)
      continue;
    need = lives[i];
    int64_t elements = buffer.numElements * (buffer.batched ? rows : 1) * (own.lifted[i] ? lifts : 1);
    need.bytes = llvm::alignTo(std::max<int64_t>(elements * bytesOf(buffer.elementType), 1), accessBytes); // (an empty one has a place, too)
    // What all rows share no row's output holds, nor one of all columns that of a part.
    bool mayBeOutput = !leaf.getColumn() && lifts == 1 && (rows == 1 || buffer.batched);
    int output = mayBeOutput ? outputOf(graph, tiling.tiles, int(i)) : -1;
    if (output < 0)
      continue;
    int number = int(graph.buffers[output].number);
    if (loops::mayOverlap(leaf, unsigned(number))) // what an input still has lies there
      continue;
    if (isShared(leaf.getOutputs()[number].getDefiningOp<loops::ViewOp>().getMemory()))
      need.output = number;
  }
  return needs;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

namespace {
/// Places of one kernel's memory.
class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp kernel, const GpuScheduleOptions &options)
      : kernel(kernel), machine(options.getMachine()), block(loops::gridOf(kernel).getBlock()),
        mostParts(options.getMultiprocessors() * machine.gpu.workspaceBlocksPerUnit), isWaiting(hasWaits(kernel)), limit(block.getShared()),
        warps(schedule::bytesOfWarps(block, machine)), swizzles(kernel, machine), used(warps) {}
  LogicalResult run();

private:
  struct Planned {
    PlaceUse use;
    int64_t value = -1, offset = -1, bytes = 0;
    PlaceKind kind = PlaceKind::Shared;
    int64_t output = -1;
    bool isSwizzled = false;
    bool isBehind = false; // all that lives as long as the kernel: the offset counts from there
  };
  void place(loops::AllocOp alloc);
  LogicalResult findAllNeeds();
  void place(loops::LeafOp leaf);
  void placeValues(loops::LeafOp leaf, const LeafNeeds &needs, SmallVectorImpl<Planned> &planned);
  int64_t placeSums(int64_t bytes);
  int64_t placeOperands(int64_t bytes);
  /// A block that is alone on its SM has no more than its limit, and sums may come to need theirs; others may go beyond it.
  int64_t reserved() const { return sumsAt >= 0 || !isWaiting ? 0 : block.getThreads() * block.getSums(); }
  /// What leaves need in turn lies after all that lives as long as the kernel.
  int64_t beginOfLeaves() const { return int64_t(llvm::alignTo(used, std::max(leavesAlignment, lineBytes))); }
  void write();

  func::FuncOp kernel;
  const Machine &machine;
  etdg::ThreadBlockAttr block;
  const int64_t mostParts; // thread blocks that have memory in the workspace
  const bool isWaiting;
  const int64_t limit, warps;
  SwizzleChooser swizzles;
  int64_t lineBytes = accessBytes; // at multiples of which places begin and end
  int64_t used;                                  // bytes of what lives as long as the kernel
  int64_t awaited = 0;                           // of that, what is shared already and has no place yet
  int64_t ofLeaf = 0;                            // of the largest leaf
  int64_t sumsAt = -1, sumsBytes = 0, operandsAt = -1, operandsBytes = 0; // which leaves use one after the other
  bool needsBoth = false;                                                  // a leaf, at once
  bool usesWorkspace = false;
  llvm::DenseMap<Operation *, LeafNeeds> needsOf; // of leaves
  SmallVector<std::pair<loops::LeafOp, SmallVector<Planned>>> leaves;
};
} // namespace

/// Bytes of memory that is given to be shared, as `storage` does of buffers; 0 of other memory.
static int64_t bytesSaidShared(loops::AllocOp alloc) {
  return alloc.isShared() ? alloc.getBytesOfBlock() : 0;
}

/// What is specified is obeyed; what elements are put together in, of which nothing is said, lies in shared memory where it fits.
void MemoryPlanner::place(loops::AllocOp alloc) {
  bool isOpen = !alloc.getMemory() && alloc.getConstantSize();
  int64_t bytes = int64_t(llvm::alignTo(alloc.getBytesOfBlock(), lineBytes));
  bool isSwizzled = swizzles.takes(alloc);
  if (isSwizzled)
    used = int64_t(llvm::alignTo(used, lineBytes));
  bool fits = isOpen ? used + bytes <= schedule::sharedBytesForBuffers(block) && used + bytes + ofLeaf + awaited + reserved() <= limit
                     : alloc.isShared();
  awaited -= int64_t(llvm::alignTo(bytesSaidShared(alloc), accessBytes));
  alloc.setMemoryAttr(fits ? MemoryAttr::get(alloc.getContext(), MemoryKind::Shared, used, isSwizzled)
                           : MemoryAttr::get(alloc.getContext(), MemoryKind::Workspace, -1, /*swizzled=*/false));
  usesWorkspace |= !fits;
  if (fits)
    used += int64_t(llvm::alignTo(bytes, accessBytes));
}

/// Leaves take turns: where none needs both, operands of some lie where sums of others do.
int64_t MemoryPlanner::placeOperands(int64_t bytes) {
  if (bytes > operandsBytes) {
    operandsBytes = bytes;
    if (!needsBoth && sumsAt >= 0 && bytes <= sumsBytes)
      return operandsAt = sumsAt;
    operandsAt = used = int64_t(llvm::alignTo(used, accessBytes));
    used += bytes;
  }
  return operandsAt;
}

int64_t MemoryPlanner::placeSums(int64_t bytes) {
  if (sumsAt < 0) {
    sumsBytes = bytes;
    if (!needsBoth && bytes <= operandsBytes)
      return sumsAt = operandsAt;
    sumsAt = used;
    used += bytes;
  }
  return sumsAt;
}

/// Values lie in shared memory where they fit, else in a part of the workspace; in an output in shared memory where one becomes it.
void MemoryPlanner::placeValues(loops::LeafOp leaf, const LeafNeeds &needs, SmallVectorImpl<Planned> &planned) {
  FirstFit places;
  const int64_t room = limit - reserved() - awaited - beginOfLeaves();
  for (auto [value, need] : llvm::enumerate(needs.values)) {
    if (!need.bytes)
      continue;
    Planned own{PlaceUse::Value, int64_t(value)};
    if (need.output >= 0) {
      own.kind = PlaceKind::Output;
      own.output = need.output;
      planned.push_back(own);
      continue;
    }
    own.bytes = int64_t(llvm::alignTo(need.bytes, lineBytes));
    own.offset = places.place(own.bytes, need.first, need.last);
    own.isSwizzled = swizzles.takes(leaf, unsigned(value));
    own.isBehind = own.offset + own.bytes <= room;
    if (own.isBehind) {
      ofLeaf = std::max(ofLeaf, own.offset + own.bytes);
    } else {
      places.dropLast();
      own.kind = PlaceKind::Workspace;
      own.offset = -1;
      own.isSwizzled = false;
      own.bytes = int64_t(llvm::alignTo(need.bytes, partAlignment));
      usesWorkspace = true;
    }
    planned.push_back(own);
  }
}

/// What all leaves need, before any of it has a place.
LogicalResult MemoryPlanner::findAllNeeds() {
  WalkResult walked = kernel.walk<WalkOrder::PreOrder>([&](loops::LeafOp leaf) {
    FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
    if (failed(own))
      return WalkResult::interrupt();
    FailureOr<LeafTiling> tiling = readTiling(leaf, *own, machine);
    if (failed(tiling))
      return WalkResult::interrupt();
    keepConstants(leaf, *own, *tiling);
    LeafNeeds needs = findNeeds(leaf, *own, *tiling, block);
    needsBoth |= needs.operands.bytes && needs.sums.bytes;
    needsOf.try_emplace(leaf, std::move(needs));
    return WalkResult::skip();
  });
  return failure(walked.wasInterrupted());
}

void MemoryPlanner::place(loops::LeafOp leaf) {
  const LeafNeeds &needs = needsOf.at(leaf);
  auto &[placed, planned] = leaves.emplace_back();
  placed = leaf;
  // What its products need others can have no more, sums are the last to come.
  int64_t operands = needs.operands.bytes ? placeOperands(needs.operands.bytes) : -1;
  placeValues(leaf, needs, planned);
  if (needs.operands.bytes)
    planned.push_back({PlaceUse::Operands, -1, operands, needs.operands.bytes});
  if (needs.sums.bytes)
    planned.push_back({PlaceUse::Sums, -1, placeSums(needs.sums.bytes), needs.sums.bytes});
}

void MemoryPlanner::write() {
  MLIRContext *context = kernel.getContext();
  const int64_t behind = beginOfLeaves();
  for (auto &[leaf, planned] : leaves) {
    SmallVector<Attribute> places;
    for (const Planned &own : planned)
      places.push_back(PlaceAttr::get(context, own.use, own.value, own.kind, own.output, own.isBehind ? behind + own.offset : own.offset, own.bytes,
                                      own.isSwizzled));
    leaf.setPlacesAttr(places.empty() ? ArrayAttr() : ArrayAttr::get(context, places));
  }
  kernel->setAttr(loops::names::shared, loops::SharedAttr::get(context, behind + ofLeaf, warps));
  // Memory for each thread block bounds how many there are.
  loops::GridAttr grid = loops::gridOf(kernel);
  int64_t most = grid.getMost() ? std::min(grid.getMost(), mostParts) : mostParts;
  if (usesWorkspace)
    kernel->setAttr(loops::names::grid, loops::GridAttr::get(context, grid.getBlock(), most));
}

LogicalResult MemoryPlanner::run() {
  if (failed(swizzles.run()))
    return failure();
  if (swizzles.takesAny())
    lineBytes = MemoryAttr::lineBytes;
  if (failed(findAllNeeds()))
    return failure();
  kernel.walk([&](loops::AllocOp alloc) { awaited += int64_t(llvm::alignTo(bytesSaidShared(alloc), accessBytes)); });
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<loops::AllocOp>(op))
      place(alloc);
    auto leaf = dyn_cast<loops::LeafOp>(op);
    if (!leaf)
      return WalkResult::advance();
    place(leaf);
    return WalkResult::skip();
  });
  write();
  return success();
}

LogicalResult mlir::ft::placeKernelMemory(loops::ProgramOp program, const GpuScheduleOptions &options) {
  return eachKernel(program, options.getMachine(), [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) {
    return kernel->hasAttr(loops::names::shared) ? checkMemory(kernel, options.getMachine()) : MemoryPlanner(kernel, options).run();
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult togpu::checkMemory(func::FuncOp kernel, const Machine &machine) {
  auto shared = kernel->getAttrOfType<loops::SharedAttr>(loops::names::shared);
  auto refuse = [&] { return kernel.emitError("the GPU engine can't run the loops: "); };
  if (!shared)
    return refuse() << "it is not specified where a thread block has its memory (loops.shared): loops-place-memory does";
  if (failed(checkSwizzles(kernel)))
    return failure();
  loops::GridAttr grid = loops::gridOf(kernel);
  if (shared.getBytes() > machine.occupancy.sharedBytesPerBlock)
    return refuse() << "block: the kernel uses " << shared.getBytes() << " bytes of shared memory, a block has at most "
                    << machine.occupancy.sharedBytesPerBlock << " on " << machine.name << "; fewer threads use less";
  if (int64_t warps = schedule::bytesOfWarps(grid.getBlock(), machine); shared.getWarps() < warps)
    return refuse() << "the warps of " << grid.getBlock().getThreads() << " threads leave each other sums in " << warps
                    << " bytes of shared memory, found warps = " << shared.getWarps();
  WalkResult walked = kernel.walk([&](Operation *op) {
    auto leaf = dyn_cast<loops::LeafOp>(op);
    auto alloc = dyn_cast<loops::AllocOp>(op);
    bool isOfWorkspace = (alloc && !alloc.isShared()) ||
                         (leaf && leaf.getPlaces() && llvm::any_of(leaf.getPlaces()->getAsRange<PlaceAttr>(), [](PlaceAttr place) {
                            return place.getKind() == PlaceKind::Workspace;
                          }));
    if (!isOfWorkspace || grid.getMost())
      return WalkResult::advance();
    op->emitError("the GPU engine can't run the loops: each thread block has memory in the workspace, expected how many there are at most "
                  "(most in loops.grid)");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

namespace {
/// Compares what a leaf's places say with what it needs.
class PlaceReader {
public:
  PlaceReader(loops::LeafOp leaf, const LeafNeeds &needs) : leaf(leaf), needs(needs) {
    places.buffers = needs.buffers;
    places.values.resize(needs.values.size());
  }
  FailureOr<LeafPlaces> run();

private:
  LogicalResult read(PlaceAttr place);
  LogicalResult checkRange(PlaceAttr place, const LeafNeeds::Need &need);
  LogicalResult checkComplete(const LeafNeeds::Need &need, PlaceAttr place, const Twine &what);
  InFlightDiagnostic refuse() { return leaf.emitError("the GPU engine can't run the leaf's places: "); }
  static std::string nameOf(PlaceAttr place) {
    return stringifyPlaceUse(place.getUse()).str() + (place.getUse() == PlaceUse::Value ? " " + std::to_string(place.getValue()) : "");
  }

  loops::LeafOp leaf;
  const LeafNeeds &needs;
  LeafPlaces places;
  SmallVector<std::pair<PlaceAttr, LeafNeeds::Need>> taken; // of shared memory
};
} // namespace

/// What is needed at the same time lies apart.
LogicalResult PlaceReader::checkRange(PlaceAttr place, const LeafNeeds::Need &need) {
  const int64_t begin = place.getOffset(), end = begin + place.getBytes();
  for (const auto &[other, known] : taken)
    if (known.first <= need.last && need.first <= known.last && begin < other.getOffset() + other.getBytes() && other.getOffset() < end)
      return refuse() << nameOf(place) << " is needed while " << nameOf(other) << " is, which has bytes " << other.getOffset() << " to "
                      << other.getOffset() + other.getBytes() << ", found " << begin << " to " << end;
  taken.push_back({place, need});
  return success();
}

LogicalResult PlaceReader::read(PlaceAttr place) {
  bool isValue = place.getUse() == PlaceUse::Value;
  if (isValue && place.getValue() >= int64_t(needs.values.size()))
    return refuse() << "its loop nests hand on " << needs.values.size() << " values, found a place of value " << place.getValue();
  const LeafNeeds::Need &need = isValue ? needs.values[place.getValue()] : place.getUse() == PlaceUse::Operands ? needs.operands : needs.sums;
  (isValue ? places.values[place.getValue()] : place.getUse() == PlaceUse::Operands ? places.operands : places.sums) = place;
  if (!need.bytes)
    return refuse() << nameOf(place) << (isValue ? " stays in registers" : " are none that it has") << ", found " << place;
  if (place.getKind() == PlaceKind::Output) {
    if (place.getOutput() == need.output)
      return success();
    return refuse() << nameOf(place) << " can't lie in output " << place.getOutput()
                    << ": no product alone makes that of it, in memory that the threads of a block share";
  }
  if (place.getBytes() < need.bytes)
    return refuse() << nameOf(place) << " has " << need.bytes << " bytes, found " << place;
  if (place.getBytes() % partAlignment != 0 && place.getKind() == PlaceKind::Workspace)
    return refuse() << "parts of the workspace are multiples of " << partAlignment << " bytes, found " << place;
  return place.getKind() == PlaceKind::Shared ? checkRange(place, need) : success();
}

LogicalResult PlaceReader::checkComplete(const LeafNeeds::Need &need, PlaceAttr place, const Twine &what) {
  if (!need.bytes || place)
    return success();
  return refuse() << what << " in memory, expected a #loops.place of " << need.bytes << " bytes: loops-place-memory gives it";
}

FailureOr<LeafPlaces> PlaceReader::run() {
  if (leaf.getPlaces())
    for (auto place : leaf.getPlaces()->getAsRange<PlaceAttr>())
      if (failed(read(place)))
        return failure();
  for (auto [i, need, place] : llvm::enumerate(needs.values, places.values))
    if (failed(checkComplete(need, place, "value " + Twine(i) + " lies")))
      return failure();
  if (failed(checkComplete(needs.operands, places.operands, "operands lie")) || failed(checkComplete(needs.sums, places.sums, "sums lie")))
    return failure();
  return std::move(places);
}

FailureOr<LeafPlaces> togpu::readPlaces(loops::LeafOp leaf, const LeafNeeds &needs) { return PlaceReader(leaf, needs).run(); }
