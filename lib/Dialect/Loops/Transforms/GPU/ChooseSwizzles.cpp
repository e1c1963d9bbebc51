//===- ChooseSwizzles.cpp - memory whose pieces change places ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp that stores a fragment of a product, or loads what its sums begin with, has four lanes in each of eight rows. Where rows are a multiple of
// 128 bytes long, all rows begin in the same bank, and one access becomes eight. In swizzled memory (#loops.memory) they begin in different ones. What the
// threads of a block share is swizzled where that takes fewer accesses, and all that touches it knows how to.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/ChooseSwizzles.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

#include "ft/Support/SwizzledAddress.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::ProductTiles;

//===----------------------------------------------------------------------===//
// Memory that branches choose
//===----------------------------------------------------------------------===//

/// What memory may be, after branches.
static void findSources(Value memory, llvm::SetVector<Value> &sources) {
  auto branch = memory.getDefiningOp<scf::IfOp>();
  if (!branch) {
    sources.insert(memory);
    return;
  }
  unsigned number = cast<OpResult>(memory).getResultNumber();
  findSources(branch.thenYield().getOperand(number), sources);
  findSources(branch.elseYield().getOperand(number), sources);
}

static bool isSaidSwizzled(Value source) {
  auto alloc = source.getDefiningOp<loops::AllocOp>();
  return alloc && alloc.isSwizzled();
}

bool togpu::isSwizzled(Value memory) {
  llvm::SetVector<Value> sources;
  findSources(memory, sources);
  return llvm::any_of(sources, isSaidSwizzled);
}

bool togpu::isSwizzledView(Value view) { return isSwizzled(view.getDefiningOp<loops::ViewOp>().getMemory()); }

//===----------------------------------------------------------------------===//
// Banks
//===----------------------------------------------------------------------===//

/// Bytes that a bank gives at a time.
static constexpr int64_t bankBytes = 4;

int64_t togpu::countFragmentAccesses(ArrayRef<int64_t> rows, int64_t bytesOfLane, bool isSwizzled) {
  constexpr int64_t lanesOfRow = tile::warpThreads / 8, banks = loops::MemoryAttr::lineBytes / bankBytes;
  llvm::DenseMap<int64_t, llvm::SmallDenseSet<int64_t, 8>> words; // that are asked of each bank
  size_t most = 0;
  for (int64_t row : rows)
    for (int64_t byte = 0; byte < lanesOfRow * bytesOfLane; byte += bankBytes) {
      auto address = uint64_t(row + byte);
      auto word = int64_t(isSwizzled ? swizzledAddress(address) : address) / bankBytes;
      auto &asked = words[word % banks];
      asked.insert(word);
      most = std::max(most, size_t(asked.size()));
    }
  return int64_t(most);
}

/// Where the eight rows of a fragment begin, in bytes, in the order of a product's rows; nothing where its columns are not adjacent.
static std::optional<SmallVector<int64_t>> rowsOfFragment(const ProductShape &shape, const leaf::ElementView &view, const leaf::Buffer &buffer) {
  constexpr int64_t fragmentRows = 8;
  const Axis::Digit &column = shape.n.digits.back();
  int columnLoop = column.loop < 0 ? -1 : shape.indexOfParallel(column.loop);
  if (columnLoop < 0 || view.strides[columnLoop] != 1 || view.hasBorders() || !view.terms.empty())
    return std::nullopt;
  SmallVector<int64_t> rows;
  for (int64_t row = 0; row < fragmentRows; ++row) {
    int64_t rest = row, offset = 0;
    for (const Axis::Digit &digit : llvm::reverse(shape.m.digits)) {
      bool isOuter = digit.kind == Axis::Digit::ofRows || digit.kind == Axis::Digit::ofColumns;
      int64_t index = isOuter ? rest : rest % std::max<int64_t>(digit.size, 1);
      rest = isOuter ? 0 : rest / std::max<int64_t>(digit.size, 1);
      int loop = digit.loop < 0 ? -1 : shape.indexOfParallel(digit.loop);
      // (Rows of a call lie one value after the other, or further.)
      offset += index * (digit.kind == Axis::Digit::ofRows ? buffer.batched ? buffer.numElements : 0 : loop < 0 ? 0 : view.strides[loop]);
    }
    rows.push_back(offset * bytesOf(buffer.elementType));
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// What products gain
//===----------------------------------------------------------------------===//

void SwizzleChooser::addTo(Value view, const Gain &gain) {
  llvm::SetVector<Value> sources;
  findSources(view.getDefiningOp<loops::ViewOp>().getMemory(), sources);
  for (Value source : sources)
    if (auto alloc = source.getDefiningOp<loops::AllocOp>()) {
      gains[alloc].before += gain.before;
      gains[alloc].after += gain.after;
    }
}

/// Where the eight rows of a fragment begin in what a chain of products reads or writes as a tile.
static std::optional<SmallVector<int64_t>> rowsInChain(const schedule::ChainPlan &plan, const leaf::LeafGraph &graph, unsigned nest, const leaf::ElementView &view) {
  constexpr int64_t fragmentRows = 8;
  std::optional<schedule::ChainPlace> place = plan.placeOf(graph, nest, view);
  if (!place || place->space < 0 || place->columns.back() != 1)
    return std::nullopt;
  const leaf::Buffer &buffer = graph.buffers[size_t(place->buffer)];
  SmallVector<int64_t> rows;
  for (int64_t row = 0; row < fragmentRows; ++row) {
    int64_t rest = row, offset = 0;
    for (auto [size, stride] : llvm::reverse(llvm::zip_equal(plan.rowSizes, place->rows))) {
      offset += rest % std::max<int64_t>(size, 1) * stride;
      rest /= std::max<int64_t>(size, 1);
    }
    rows.push_back((offset + rest * (buffer.batched ? buffer.numElements : 0)) * bytesOf(buffer.elementType));
  }
  return rows;
}

void SwizzleChooser::addChain(loops::LeafOp leaf, const leaf::LeafGraph &graph, const schedule::ChainPlan &plan) {
  constexpr int64_t adjacent = 2; // columns of a lane
  auto add = [&](unsigned nest, const leaf::ElementView &view) {
    std::optional<SmallVector<int64_t>> rows = rowsInChain(plan, graph, nest, view);
    if (!rows)
      return;
    const leaf::Buffer &buffer = graph.buffers[size_t(view.buffer)];
    Gain gain;
    gain.before = countFragmentAccesses(*rows, adjacent * bytesOf(buffer.elementType), false);
    gain.after = countFragmentAccesses(*rows, adjacent * bytesOf(buffer.elementType), true);
    if (buffer.kind == leaf::Buffer::Kind::Input)
      addTo(leaf.getInputs()[buffer.number], gain);
    if (buffer.kind == leaf::Buffer::Kind::Output)
      addTo(leaf.getOutputs()[buffer.number], gain);
  };
  for (auto [n, nest] : llvm::enumerate(graph.nests))
    for (const leaf::NestMember &member : nest.members)
      for (auto *views : {&member.inits, &member.writes})
        for (const leaf::ElementView &view : *views)
          add(unsigned(n), view);
}

void SwizzleChooser::addViews(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, const LeafNeeds &needs) {
  const leaf::LeafGraph &graph = own.form.graph;
  llvm::SmallDenseMap<int, Gain> ofBuffer;
  for (auto [n, tiles] : llvm::enumerate(tiling.tiles)) {
    if (!tiles.product || !tiles.product->attribute.getMma())
      continue;
    ProductShape shape(graph, unsigned(n), *tiles.product, leaf.getMost());
    for (const leaf::ElementView &view : shape.placesOfTiles()) {
      const leaf::Buffer &buffer = graph.buffers[view.buffer];
      std::optional<SmallVector<int64_t>> rows = rowsOfFragment(shape, view, buffer);
      constexpr int64_t adjacent = 2; // columns of a lane
      if (!rows)
        continue;
      ofBuffer[view.buffer].before += countFragmentAccesses(*rows, adjacent * bytesOf(buffer.elementType), false);
      ofBuffer[view.buffer].after += countFragmentAccesses(*rows, adjacent * bytesOf(buffer.elementType), true);
    }
  }
  for (auto &[number, gain] : ofBuffer) {
    const leaf::Buffer &buffer = graph.buffers[number];
    if (buffer.kind == leaf::Buffer::Kind::Input)
      addTo(leaf.getInputs()[buffer.number], gain);
    if (buffer.kind == leaf::Buffer::Kind::Output)
      addTo(leaf.getOutputs()[buffer.number], gain);
    const int *value = llvm::find(needs.buffers, number);
    if (buffer.kind != leaf::Buffer::Kind::Scratch || value == needs.buffers.end())
      continue;
    auto index = unsigned(value - needs.buffers.begin());
    if (int output = needs.values[index].output; output >= 0)
      addTo(leaf.getOutputs()[output], gain);
    else if (gain.after < gain.before)
      values.insert({leaf, index});
  }
}

/// Whether warps multiply fragments for one of its loop nests, or keep a chain of products in registers.
static bool hasFragments(loops::LeafOp leaf) {
  auto isOfFragments = [](Attribute layout) {
    if (isa<tile::ChainAttr>(layout))
      return true;
    auto product = dyn_cast<tile::ProductAttr>(layout);
    return product && product.getMma();
  };
  return leaf.getLayouts() && llvm::any_of(*leaf.getLayouts(), isOfFragments);
}

LogicalResult SwizzleChooser::look(loops::LeafOp leaf) {
  if (!hasFragments(leaf))
    return success();
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
  if (failed(own))
    return failure();
  FailureOr<LeafTiling> tiling = readTiling(leaf, *own, machine);
  if (failed(tiling))
    return failure();
  if (tiling->chain) {
    addChain(leaf, own->form.graph, *tiling->chain);
    return success();
  }
  LeafNeeds needs = findNeeds(leaf, *own, *tiling, block);
  addViews(leaf, *own, *tiling, needs);
  return success();
}

//===----------------------------------------------------------------------===//
// What touches memory
//===----------------------------------------------------------------------===//

/// A leaf whose rows stay in registers reads and writes them in accesses of its own.
static bool keepsRows(loops::LeafOp leaf) {
  return leaf.getLayouts() && llvm::any_of(*leaf.getLayouts(), llvm::IsaPred<etdg::RowLanesAttr>);
}

/// Whether an operation knows of swizzled memory: views of leaves do, and branches that choose memory; their results are looked at by themselves.
static bool knowsSwizzles(Operation *user) {
  if (isa<memref::DeallocOp, scf::YieldOp>(user))
    return true;
  auto view = dyn_cast<loops::ViewOp>(user);
  return view && llvm::all_of(view->getUsers(), [](Operation *reader) {
           auto leaf = dyn_cast<loops::LeafOp>(reader);
           return leaf && !keepsRows(leaf);
         });
}

/// Memory, or what a branch makes of it.
void SwizzleChooser::lookAtMemory(Value memory, Operation *alloc) {
  for (OpOperand &use : memory.getUses()) {
    gains[alloc].isPossible &= knowsSwizzles(use.getOwner());
    auto yield = dyn_cast<scf::YieldOp>(use.getOwner());
    if (!yield)
      continue;
    auto branch = dyn_cast<scf::IfOp>(yield->getParentOp());
    gains[alloc].isPossible &= bool(branch);
    if (!branch)
      continue;
    Value chosen = branch.getResult(use.getOperandNumber());
    llvm::SetVector<Value> sources;
    findSources(chosen, sources);
    for (Value source : sources) {
      if (auto other = source.getDefiningOp<loops::AllocOp>())
        together.unionSets(alloc, other);
      else // one value for all elements lies nowhere
        gains[alloc].isPossible &= bool(source.getDefiningOp<loops::SplatOp>());
    }
    lookAtMemory(chosen, alloc);
  }
}

void SwizzleChooser::look(loops::AllocOp alloc) {
  together.insert(alloc);
  gains[alloc].isPossible &= alloc.isShared() && !alloc.getParts();
  lookAtMemory(alloc, alloc);
}

bool SwizzleChooser::isBetter(Operation *alloc) const {
  Gain all;
  for (Operation *other : together.members(alloc)) {
    const Gain &gain = gains.find(other)->second;
    all.before += gain.before, all.after += gain.after;
    all.isPossible &= gain.isPossible;
  }
  return all.isPossible && all.after < all.before;
}

bool SwizzleChooser::takesAny() const {
  return !values.empty() || llvm::any_of(gains, [&](const auto &gain) { return isBetter(gain.first); });
}

LogicalResult SwizzleChooser::run() {
  kernel.walk([&](loops::AllocOp alloc) {
    if (!alloc->getParentOfType<loops::LeafOp>())
      look(alloc);
  });
  WalkResult walked = kernel.walk([&](loops::LeafOp leaf) { return failed(look(leaf)) ? WalkResult::interrupt() : WalkResult::skip(); });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult checkMemoryOf(Value memory) {
  for (OpOperand &use : memory.getUses()) {
    Operation *user = use.getOwner();
    if (!knowsSwizzles(user))
      return user->emitError("the GPU engine can't run the loops: expected that leaves alone read and write swizzled memory, and keep no rows of it in registers");
    auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
    if (!isa<scf::YieldOp>(user) || !branch)
      continue;
    Value chosen = branch.getResult(use.getOperandNumber());
    llvm::SetVector<Value> sources;
    findSources(chosen, sources);
    for (Value source : sources)
      if (!source.getDefiningOp<loops::SplatOp>() && !isSaidSwizzled(source)) {
        InFlightDiagnostic diag = branch.emitError("the GPU engine can't run the loops: expected all memory that is chosen to be swizzled, or none of it");
        diag.attachNote(source.getLoc()) << "this is not swizzled";
        return diag;
      }
    if (failed(checkMemoryOf(chosen)))
      return failure();
  }
  return success();
}

LogicalResult togpu::checkSwizzles(func::FuncOp kernel) {
  WalkResult walked = kernel.walk([&](loops::AllocOp alloc) {
    return isSaidSwizzled(alloc) && failed(checkMemoryOf(alloc)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
