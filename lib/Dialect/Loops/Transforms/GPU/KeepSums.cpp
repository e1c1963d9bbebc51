//===- KeepSums.cpp - sums that stay in registers through a loop, said in the loops -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between two iterations of a sequential loop the sums of a product go to memory and come back, though the same thread has the same of them. Where
// addresses tell that this is what happens (CarriedViews.cpp), where tiles of a product hold all of it and nothing else of the leaf looks at it, the
// tile stays in registers. Decided here (`loops-keep-sums`), and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/KeepSums.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/CarriedViews.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using leaf::LeafGraph;
using leaf::NestMember;
using leaf::Nest;
using leaf::ElementView;
using loops::KeptAttr;
using loops::KeptStore;
using schedule::ProductTiles;
using schedule::Tiles;

SmallVector<loops::LeafOp> togpu::keepingLeaves(scf::ForOp loop) {
  return llvm::filter_to_vector(loop.getBody()->getOps<loops::LeafOp>(), [](loops::LeafOp leaf) { return leaf->hasAttr(loops::names::kept); });
}

bool togpu::storesBehind(scf::ForOp loop) {
  return llvm::any_of(keepingLeaves(loop), [](loops::LeafOp leaf) {
    return llvm::any_of(leaf->getAttrOfType<ArrayAttr>(loops::names::kept).getAsRange<KeptAttr>(), [](KeptAttr kept) { return kept.getStore() == KeptStore::Last; });
  });
}

//===----------------------------------------------------------------------===//
// Which tile
//===----------------------------------------------------------------------===//

namespace {
/// Looks for the tile that a carried value of one leaf is.
class KeptFinder {
public:
  KeptFinder(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, ArrayRef<loops::LaunchOp> launches)
      : most(leaf.getMost()), graph(own.form.graph), tiles(tiling.tiles), carried(leaf, launches) {}

  SmallVector<CarriedView> candidates() { return carried.find(); }
  bool isCarried(CarriedView view) { return carried.isCarried(view); }
  /// What is kept of it, without `said`; or `why` nothing.
  std::optional<KeptSum> findTile(CarriedView view, std::string &why);
  /// Whether memory must have what each iteration makes, and why.
  std::string describeSeen(CarriedView view) { return carried.describeSeen(view); }
  /// The type in which a product adds up to it, and to which nothing rounds it in between; null: there is none.
  Type typeOfSums(const KeptSum &sum) const;
  /// Words that a thread has at a time with these kept: sums, and what waits while functions of them are computed.
  int64_t wordsWith(ArrayRef<KeptSum> kept) const;

private:
  int bufferOf(leaf::Buffer::Kind kind, unsigned number) const;
  int64_t countTiles(unsigned leader) const;
  bool findPlaces(KeptSum &sum, std::string &why) const;
  bool takeView(KeptSum &sum, unsigned number, const ElementView &view, bool isWritten, bool mayBe, std::string &why) const;
  std::optional<unsigned> leaderOf(unsigned nest) const;
  bool isProduct(unsigned nest, unsigned leader) const { return nest == leader || llvm::is_contained(tiles[leader].product->joined, nest); }
  bool isAddedTo(const KeptSum &sum) const;
  int64_t elementsOf(unsigned leader) const {
    ArrayRef<int64_t> thread = tiles[leader].product->attribute.getThread();
    return thread[0] * thread[1];
  }
  static int64_t wordsOf(Type element) { return std::max<int64_t>(int64_t(element.getIntOrFloatBitWidth()) / 32, 1); }

  int64_t most; // rows
  const LeafGraph &graph;
  ArrayRef<Tiles> tiles;
  CarriedViews carried;
};
} // namespace

int KeptFinder::bufferOf(leaf::Buffer::Kind kind, unsigned number) const {
  for (auto [i, buffer] : llvm::enumerate(graph.buffers))
    if (buffer.kind == kind && buffer.number == number)
      return int(i);
  return -1;
}

/// The product with whose tile a loop nest is computed.
std::optional<unsigned> KeptFinder::leaderOf(unsigned nest) const {
  for (unsigned i = 0; i <= nest; ++i)
    if (const auto &product = tiles[i].product; product && !product->attribute.getJoined() && nest <= i + unsigned(product->attribute.getFused()))
      return i;
  return std::nullopt;
}

/// How many tiles all that a product computes is; 0 where it computes several matrices.
int64_t KeptFinder::countTiles(unsigned leader) const {
  const ProductTiles &product = *tiles[leader].product;
  auto [down, across] = ProductShape(graph, leader, product, most).countTiles();
  return product.loops.batch.empty() && product.rows != ProductTiles::Rows::batch ? down * across : 0;
}

/// One place where the value's memory is met, over the loops of a tile: `mayBe` where a tile may stand for it.
bool KeptFinder::takeView(KeptSum &sum, unsigned number, const ElementView &view, bool isWritten, bool mayBe, std::string &why) const {
  std::optional<unsigned> leader = leaderOf(number);
  if (!mayBe || !leader || !view.terms.empty() || view.hasBorders()) {
    why = "loop nest " + std::to_string(number) + " meets it, which computes no tile of it";
    return false;
  }
  const ProductTiles &product = *tiles[*leader].product;
  ElementView over = isProduct(number, *leader) ? withoutTerms(graph.nests[number], view) : schedule::viewOverTile(graph.nests[*leader], product, view);
  ElementView &known = isWritten ? sum.to : sum.from;
  bool isFirst = known.isSplat();
  ElementView other = over;
  other.buffer = isWritten ? sum.input : sum.output;
  const ElementView &beside = isWritten ? sum.from : sum.to;
  if ((!isFirst && !(known == over)) || (!beside.isSplat() && (sum.leader != *leader || !(beside == other)))) {
    why = "loop nest " + std::to_string(number) + " meets other elements of it";
    return false;
  }
  known = over;
  sum.leader = *leader;
  return true;
}

bool KeptFinder::findPlaces(KeptSum &sum, std::string &why) const {
  for (auto [n, nest] : llvm::enumerate(graph.nests)) {
    auto number = unsigned(n);
    std::optional<unsigned> leader = leaderOf(number);
    bool isOfProduct = leader && isProduct(number, *leader);
    for (const NestMember &member : nest.members) {
      auto take = [&](const ElementView &view, bool isWritten, bool mayBe) {
        return view.isSplat() || view.buffer != (isWritten ? sum.output : sum.input) || takeView(sum, number, view, isWritten, mayBe, why);
      };
      for (const ElementView &view : member.reads)
        if (!take(view, false, !isOfProduct))
          return false;
      for (const auto &[value, view] : member.captured)
        if (!take(view, false, false))
          return false;
      for (const ElementView &view : member.inits)
        if (!take(view, false, true))
          return false;
      for (const ElementView &view : member.writes)
        if (!take(view, true, !nest.guard && !nest.last))
          return false;
    }
  }
  if (!sum.from.isSplat() && !sum.to.isSplat())
    return true;
  why = "no loop nest computes it from what it was";
  return false;
}

std::optional<KeptSum> KeptFinder::findTile(CarriedView view, std::string &why) {
  if (why = carried.describeMet(view); !why.empty())
    return std::nullopt;
  KeptSum sum;
  sum.input = bufferOf(leaf::Buffer::Kind::Input, view.input);
  sum.output = bufferOf(leaf::Buffer::Kind::Output, view.output);
  if (sum.input < 0 || sum.output < 0) {
    why = "the leaf does not compute with it";
    return std::nullopt;
  }
  if (!findPlaces(sum, why))
    return std::nullopt;
  sum.tiles = countTiles(sum.leader);
  if (sum.tiles == 0 || sum.tiles * elementsOf(sum.leader) > schedule::mostOwnSums) {
    why = sum.tiles == 0 ? "its matrices follow each other in the product with whose tiles it is computed"
                         : "a thread has " + std::to_string(sum.tiles * elementsOf(sum.leader)) + " elements of it, and keeps at most " +
                               std::to_string(schedule::mostOwnSums);
    return std::nullopt;
  }
  // A value for each row would take a register for each of its columns.
  const ProductTiles &product = *tiles[sum.leader].product;
  ProductShape shape(graph, sum.leader, product, most);
  bool movesAlongRow = product.rows == ProductTiles::Rows::n || shape.n.most == 1 || llvm::any_of(product.loops.n, [&](int loop) { return sum.from.strides[size_t(shape.indexOfParallel(loop))] != 0; });
  if (!movesAlongRow) {
    why = "it is one value for each row of a tile";
    return std::nullopt;
  }
  sum.type = graph.buffers[sum.output].elementType;
  return sum;
}

Type KeptFinder::typeOfSums(const KeptSum &sum) const {
  const ProductTiles &product = *tiles[sum.leader].product;
  Type element = graph.buffers[sum.output].elementType;
  // (What else is computed from it is told of halves.)
  bool isOfProducts = true;
  for (auto [n, nest] : llvm::enumerate(graph.nests))
    for (const NestMember &member : nest.members)
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (const ElementView &view : *views)
          if (!view.isSplat() && (view.buffer == sum.input || view.buffer == sum.output))
            isOfProducts &= leaderOf(unsigned(n)) == sum.leader && isProduct(unsigned(n), sum.leader);
  return isOfProducts && isa<FloatType>(product.sum) && product.sum.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth() ? product.sum : Type();
}

/// Whether a product's sums begin with it.
bool KeptFinder::isAddedTo(const KeptSum &sum) const {
  return llvm::any_of(llvm::enumerate(graph.nests), [&](const auto &nest) {
    return leaderOf(unsigned(nest.index())) == sum.leader && isProduct(unsigned(nest.index()), sum.leader) &&
           llvm::any_of(nest.value().members, [&](const NestMember &member) { return member.inits.front().buffer == sum.input; });
  });
}

int64_t KeptFinder::wordsWith(ArrayRef<KeptSum> kept) const {
  int64_t most = 0;
  for (auto [n, tile] : llvm::enumerate(tiles)) {
    if (!tile.product || tile.product->attribute.getJoined())
      continue;
    int64_t waiting = schedule::countWaiting(graph, unsigned(n), tile.product->attribute.getFused());
    int64_t words = elementsOf(unsigned(n)) * (tile.product->sums + waiting) * wordsOf(tile.product->sum);
    for (const KeptSum &sum : kept) {
      // What a product goes on with is one of its sums.
      words += (sum.tiles - (sum.leader == n && isAddedTo(sum) ? 1 : 0)) * elementsOf(sum.leader) * wordsOf(sum.type);
    }
    most = std::max(most, words);
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

static auto aboutSums() { return remark::RemarkOpts::name("keep-sums").category("gpu"); }

/// Half of a thread's registers where so many thread blocks share a multiprocessor: the others hold operands and addresses.
static int64_t wordsOfSums(etdg::ThreadBlockAttr block, const Machine &machine) {
  int64_t registers = machine.occupancy.registersPerUnit / (block.getThreads() * block.getResident());
  return std::min(registers, machine.occupancy.registersPerThread) / 2;
}

static void keepSums(loops::LeafOp leaf, KeptFinder &finder, int64_t most) {
  bool roundsLast = leaf->getParentOp()->hasAttr(loops::names::roundsLast);
  KeptSums kept;
  SmallVector<Attribute> said;
  for (CarriedView view : finder.candidates()) {
    auto refuse = [&](const Twine &why) {
      remark::missed(leaf.getLoc(), aboutSums()) << ("input " + Twine(view.input) + " goes through memory at each iteration: " + why).str();
    };
    std::string why;
    std::optional<KeptSum> sum = finder.findTile(view, why);
    // (Several tiles at a time leave room for fewer thread blocks, and each has code of its own: that takes longer than the way through memory.)
    if (sum && sum->tiles > 1)
      why = "it is " + std::to_string(sum->tiles) + " tiles of a product, of which a thread would have all at a time";
    if (!why.empty()) {
      refuse(why);
      continue;
    }
    Type wide = roundsLast ? finder.typeOfSums(*sum) : Type();
    sum->type = wide ? wide : sum->type;
    kept.push_back(*sum);
    int64_t words = finder.wordsWith(kept);
    if (words > most) {
      kept.pop_back();
      refuse("with it a thread has " + Twine(words) + " words of sums and of what is computed of them at a time, of " + Twine(most));
      continue;
    }
    std::string seen = finder.describeSeen(view);
    said.push_back(KeptAttr::get(leaf.getContext(), view.output, view.input, seen.empty() ? KeptStore::Last : KeptStore::Each, wide));
    std::string how = seen.empty() ? "" : "; each one stores it: " + seen;
    remark::passed(leaf.getLoc(), aboutSums())
        << ("input " + Twine(view.input) + " stays in registers from the first iteration to the last" + how).str() << remark::metric("words", words);
  }
  if (!said.empty())
    leaf->setAttr(loops::names::kept, ArrayAttr::get(leaf.getContext(), said));
}

//===----------------------------------------------------------------------===//
// Chains of products
//===----------------------------------------------------------------------===//

/// The tile, or the values of rows, that a carried value of a chain is; or `why` it is none.
static std::optional<KeptSum> findInChain(CarriedView view, CarriedViews &carried, const LeafGraph &graph, const schedule::ChainPlan &plan, std::string &why) {
  if (why = carried.describeMet(view); !why.empty())
    return std::nullopt;
  KeptSum sum;
  auto take = [&](unsigned nest, const ElementView &one, bool isWritten) {
    const leaf::Buffer *buffer = one.isSplat() ? nullptr : &graph.buffers[size_t(one.buffer)];
    auto kind = isWritten ? leaf::Buffer::Kind::Output : leaf::Buffer::Kind::Input;
    if (!buffer || buffer->kind != kind || buffer->number != (isWritten ? view.output : view.input))
      return true;
    std::optional<schedule::ChainPlace> place = plan.placeOf(graph, nest, one);
    std::optional<schedule::ChainPlace> &known = isWritten ? sum.chainTo : sum.chainFrom;
    (isWritten ? sum.output : sum.input) = one.buffer;
    if (!place || (known && !(*known == *place)))
      return false;
    known = place;
    return true;
  };
  bool isOne = true;
  for (auto [n, nest] : llvm::enumerate(graph.nests))
    for (const NestMember &member : nest.members) {
      for (auto *views : {&member.reads, &member.inits})
        for (const ElementView &one : *views)
          isOne &= take(unsigned(n), one, /*isWritten=*/false);
      for (const ElementView &one : member.writes)
        isOne &= take(unsigned(n), one, /*isWritten=*/true);
    }
  schedule::ChainPlace other = sum.chainFrom.value_or(schedule::ChainPlace());
  other.buffer = sum.output;
  if (!isOne || !sum.chainFrom || !sum.chainTo || !(other == *sum.chainTo)) {
    why = "the leaf meets other elements of it than those of one tile";
    return std::nullopt;
  }
  sum.type = graph.buffers[size_t(sum.output)].elementType;
  return sum;
}

/// The type in which iterations hand on a value of a chain that they need not round.
static Type typeInChain(loops::LeafOp leaf, const KeptSum &sum) {
  return leaf->getParentOp()->hasAttr(loops::names::roundsLast) && leaf::isHalf(sum.type) ? Float32Type::get(leaf.getContext()) : Type();
}

/// Adds the leaves that meet a memory, under whatever name; false where it is met in another way.
static bool findLeaves(Value memory, llvm::SetVector<loops::LeafOp> &leaves) {
  for (OpOperand &use : memory.getUses()) {
    Operation *user = use.getOwner();
    if (isa<memref::DeallocOp, loops::StagedOp>(user))
      continue;
    if (auto yield = dyn_cast<scf::YieldOp>(user); yield && isa<scf::IfOp>(yield->getParentOp())) {
      if (!findLeaves(yield->getParentOp()->getResult(use.getOperandNumber()), leaves))
        return false;
      continue;
    }
    if (!isa<loops::ViewOp>(user))
      return false;
    for (Operation *reader : user->getUsers()) {
      auto leaf = dyn_cast<loops::LeafOp>(reader);
      if (!leaf)
        return false;
      leaves.insert(leaf);
    }
  }
  return true;
}

/// Whether a view is of a memory, or of what a branch makes of it.
static bool isOf(Value view, Value memory) {
  auto here = view.getDefiningOp<loops::ViewOp>();
  std::function<bool(Value)> is = [&](Value from) {
    auto branch = from.getDefiningOp<scf::IfOp>();
    if (!branch)
      return from == memory;
    unsigned number = cast<OpResult>(from).getResultNumber();
    return is(branch.thenYield().getOperand(number)) || is(branch.elseYield().getOperand(number));
  };
  return here && is(here.getMemory());
}

/// Whether a leaf is a chain that meets a memory as the tile that another one keeps.
static bool meetsAs(loops::LeafOp leaf, Value memory, const KeptSum &sum, const schedule::ChainPlan &plan, etdg::ThreadBlockAttr block, const Machine &machine) {
  ArrayAttr layouts = leaf.getLayoutsAttr();
  if (!layouts || layouts.size() != 1 || !isa<tile::ChainAttr>(layouts[0]))
    return false;
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
  FailureOr<LeafTiling> tiling = failed(own) ? FailureOr<LeafTiling>(failure()) : readTiling(leaf, *own, machine);
  if (failed(tiling) || tiling->chain->attribute != plan.attribute || tiling->chain->rowSizes != plan.rowSizes || tiling->chain->mostRows != plan.mostRows)
    return false;
  const LeafGraph &graph = own->form.graph;
  auto isSame = [&](unsigned nest, const ElementView &view) {
    if (view.isSplat())
      return true;
    const leaf::Buffer &buffer = graph.buffers[size_t(view.buffer)];
    bool isInput = buffer.kind == leaf::Buffer::Kind::Input, isOutput = buffer.kind == leaf::Buffer::Kind::Output;
    if ((!isInput && !isOutput) || !isOf(isInput ? leaf.getInputs()[buffer.number] : leaf.getOutputs()[buffer.number], memory))
      return true;
    std::optional<schedule::ChainPlace> place = tiling->chain->placeOf(graph, nest, view);
    const schedule::ChainPlace &kept = *sum.chainTo;
    if (!place || place->offset != kept.offset || place->rows != kept.rows || place->columns != kept.columns || (place->space < 0) != (kept.space < 0))
      return false;
    if (place->space < 0)
      return true;
    const schedule::ChainSpace &a = tiling->chain->spaces[size_t(place->space)], &b = plan.spaces[size_t(kept.space)];
    return a.columns == b.columns && a.padded == b.padded;
  };
  for (auto [n, nest] : llvm::enumerate(graph.nests))
    for (const NestMember &member : nest.members)
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (const ElementView &view : *views)
          if (!isSame(unsigned(n), view))
            return false;
  return true;
}

/// Whether a leaf either doesn't write a memory, or keeps what it writes through a loop in the same block, and stores nothing before its end.
static bool handsOn(loops::LeafOp leaf, loops::AllocOp memory) {
  auto kept = leaf->getAttrOfType<ArrayAttr>(loops::names::kept);
  const bool isInLoop = isa<scf::ForOp>(leaf->getParentOp()) && leaf->getParentOp()->getBlock() == memory->getBlock();
  for (auto [number, output] : llvm::enumerate(leaf.getOutputs())) {
    auto isLast = [&](KeptAttr one) { return one.getOutput() == int64_t(number) && one.getStore() == KeptStore::Last; };
    if (isOf(output, memory) && (!isInLoop || !kept || llvm::none_of(kept.getAsRange<KeptAttr>(), isLast)))
      return false;
  }
  return true;
}

/// Whether all that meets what a chain keeps has it in registers, as the chain has.
static bool canHand(loops::LeafOp leaf, CarriedView view, const KeptSum &sum, const schedule::ChainPlan &plan, const Machine &machine) {
  auto made = leaf.getOutputs()[view.output].getDefiningOp<loops::ViewOp>();
  etdg::ThreadBlockAttr block = loops::gridOf(leaf->getParentOfType<func::FuncOp>()).getBlock();
  llvm::SetVector<loops::LeafOp> leaves;
  auto alloc = made ? made.getMemory().getDefiningOp<loops::AllocOp>() : loops::AllocOp();
  // (Memory of the loop's own block has nothing of an earlier run of that block, which registers would not have.)
  return alloc && alloc->getBlock() == leaf->getParentOp()->getBlock() && findLeaves(alloc, leaves) && llvm::all_of(leaves, [&](loops::LeafOp other) {
           return handsOn(other, alloc) && meetsAs(other, alloc, sum, plan, block, machine);
         });
}

static void keepChain(loops::LeafOp leaf, const LeafInBlock &own, const schedule::ChainPlan &plan, ArrayRef<loops::LaunchOp> launches) {
  CarriedViews carried(leaf, launches);
  SmallVector<Attribute> said;
  for (CarriedView view : carried.find()) {
    std::string why;
    std::optional<KeptSum> sum = findInChain(view, carried, own.form.graph, plan, why);
    if (!sum) {
      remark::missed(leaf.getLoc(), aboutSums()) << ("input " + Twine(view.input) + " goes through memory at each iteration: " + why).str();
      continue;
    }
    std::string seen = carried.describeSeen(view);
    said.push_back(KeptAttr::get(leaf.getContext(), view.output, view.input, seen.empty() ? KeptStore::Last : KeptStore::Each, typeInChain(leaf, *sum)));
    remark::passed(leaf.getLoc(), aboutSums())
        << ("input " + Twine(view.input) + " stays in registers from the first iteration to the last" + (seen.empty() ? "" : "; each one stores it: " + seen)).str();
  }
  if (!said.empty())
    leaf->setAttr(loops::names::kept, ArrayAttr::get(leaf.getContext(), said));
}

/// Whether some product of a leaf has a tile, in a loop of which it is the body.
static bool mayKeep(loops::LeafOp leaf) {
  return isa<scf::ForOp>(leaf->getParentOp()) && !leaf->hasAttr(loops::names::kept) && leaf.getLayoutsAttr() &&
         llvm::any_of(leaf.getLayoutsAttr(), llvm::IsaPred<tile::ProductAttr, tile::ChainAttr>);
}

LogicalResult mlir::ft::keepKernelSums(loops::ProgramOp program, const GpuScheduleOptions &options) {
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine, [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
    etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
    WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
      if (!mayKeep(leaf))
        return WalkResult::advance();
      FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
      FailureOr<LeafTiling> tiling = failed(own) ? FailureOr<LeafTiling>(failure()) : readTiling(leaf, *own, machine);
      if (failed(tiling))
        return WalkResult::interrupt();
      if (tiling->chain) {
        keepChain(leaf, *own, *tiling->chain, launches);
        return WalkResult::advance();
      }
      KeptFinder finder(leaf, *own, *tiling, launches);
      keepSums(leaf, finder, wordsOfSums(block, machine));
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether the threads of a block wait after a loop before one of them may read what another one stores there.
static bool waitsBehind(scf::ForOp loop) {
  for (Operation *next = loop->getNextNode(); next; next = next->getNextNode()) {
    bool isRead = false;
    WalkResult walked = next->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto behind = dyn_cast<scf::ForOp>(op);
      isRead |= isa<loops::LeafOp, memref::LoadOp>(op) || (behind && !keepingLeaves(behind).empty());
      return isRead || isa<loops::SyncOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return !isRead;
  }
  return true;
}

static LogicalResult checkKept(loops::LeafOp leaf, KeptFinder &finder, KeptAttr said, KeptSums &kept) {
  auto refuse = [&](const Twine &why) { return leaf.emitError("the GPU engine can't keep ") << said << " in registers: " << why; };
  CarriedView view{unsigned(said.getInput()), unsigned(said.getOutput())};
  if (!finder.isCarried(view))
    return refuse("by their addresses input " + Twine(view.input) + " is not what output " + Twine(view.output) + " was in the iteration before");
  std::string why;
  std::optional<KeptSum> sum = finder.findTile(view, why);
  if (!sum)
    return refuse(why);
  if (std::string seen = said.getStore() == KeptStore::Last ? finder.describeSeen(view) : ""; !seen.empty())
    return refuse("stored after the last iteration alone, where " + seen);
  if (Type type = said.getType()) {
    if (!leaf->getParentOp()->hasAttr(loops::names::roundsLast))
      return refuse("the loop's iterations round what they hand on (it says no loops.rounds_last)");
    Type wide = finder.typeOfSums(*sum);
    if (!wide)
      return refuse("not products alone compute with it, or they add up in no wider type");
    if (wide != type)
      return refuse("products add up to it in another type, ") << wide;
    sum->type = type;
  }
  sum->said = said;
  kept.push_back(*sum);
  return success();
}

static LogicalResult checkKeptInChain(loops::LeafOp leaf, CarriedViews &carried, const LeafGraph &graph, const schedule::ChainPlan &plan, KeptAttr said,
                                      const Machine &machine, KeptSums &kept) {
  auto refuse = [&](const Twine &why) { return leaf.emitError("the GPU engine can't keep ") << said << " in registers: " << why; };
  CarriedView view{unsigned(said.getInput()), unsigned(said.getOutput())};
  if (!carried.isCarried(view))
    return refuse("by their addresses input " + Twine(view.input) + " is not what output " + Twine(view.output) + " was in the iteration before");
  std::string why;
  std::optional<KeptSum> sum = findInChain(view, carried, graph, plan, why);
  if (!sum)
    return refuse(why);
  if (std::string seen = said.getStore() == KeptStore::Last ? carried.describeSeen(view) : ""; !seen.empty())
    return refuse("stored after the last iteration alone, where " + seen);
  if (said.getType() && said.getType() != typeInChain(leaf, *sum))
    return refuse("the loop's iterations hand it on in another type, or round it (it says no loops.rounds_last)");
  sum->type = said.getType() ? said.getType() : sum->type;
  sum->said = said;
  sum->isHanded = said.getStore() == KeptStore::Last && canHand(leaf, view, *sum, plan, machine);
  kept.push_back(*sum);
  return success();
}

FailureOr<KeptSums> togpu::readKept(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, ArrayRef<loops::LaunchOp> launches, const Machine &machine) {
  KeptSums kept;
  auto said = leaf->getAttrOfType<ArrayAttr>(loops::names::kept);
  if (!said)
    return kept;
  if (tiling.rows)
    return leaf.emitError("the GPU engine can't keep sums of a leaf without products in tiles in registers (loops.kept)");
  if (tiling.chain) {
    CarriedViews carried(leaf, launches);
    for (KeptAttr one : said.getAsRange<KeptAttr>())
      if (failed(checkKeptInChain(leaf, carried, own.form.graph, *tiling.chain, one, machine, kept)))
        return failure();
  } else {
    KeptFinder finder(leaf, own, tiling, launches);
    for (KeptAttr one : said.getAsRange<KeptAttr>())
      if (failed(checkKept(leaf, finder, one, kept)))
        return failure();
  }
  auto loop = cast<scf::ForOp>(leaf->getParentOp());
  if (storesBehind(loop) && !waitsBehind(loop))
    return loop.emitError("the GPU engine can't run the loops: sums that stay in registers are stored after the loop; expected a loops.sync block before something reads: "
                          "loops-place-syncs places it");
  return kept;
}
