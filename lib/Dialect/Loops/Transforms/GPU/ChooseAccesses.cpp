//===- ChooseAccesses.cpp - how threads hold and move products, said in the loops -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Once it is known where rows of a leaf's views begin (`aligned`) and where its values lie (`places`), the layout of each product says which
// elements of a tile of the result a thread has, how threads bring its operands into shared memory and read them there, in which accesses tiles
// come from memory and go there, and which products go on with the sums of others. Decided here (`loops-choose-accesses`), and checked before
// it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h" // spaces of memory
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::PlaceKind;

bool togpu::isAligned(loops::LeafOp leaf, unsigned view) {
  size_t inputs = leaf.getInputs().size();
  auto type = cast<MemRefType>((view < inputs ? leaf.getInputs()[view] : leaf.getOutputs()[view - inputs]).getType());
  return leaf.getAligned() && (*leaf.getAligned())[view] % (evenElements(type) * bytesOf(type.getElementType())) == 0;
}

/// Whether all that memory may be lies in the memory of the device, as pointers to it say.
static bool isGlobal(Value memory) {
  Operation *op = memory.getDefiningOp();
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(memory).getResultNumber();
    return isGlobal(branch.thenYield().getOperand(number)) && isGlobal(branch.elseYield().getOperand(number));
  }
  if (auto alloc = dyn_cast_or_null<loops::AllocOp>(op))
    return !alloc.isShared();
  return op ? isa<loops::SplatOp>(op) : isa<FunctionOpInterface>(memory.getParentBlock()->getParentOp());
}

/// Where the memory of a view lies.
static bool isGlobalView(Value view) { return isGlobal(view.getDefiningOp<loops::ViewOp>().getMemory()); }

SmallVector<BufferFacts> togpu::findFacts(loops::LeafOp leaf, const leaf::LeafGraph &graph, const LeafPlaces &places) {
  const auto inputs = unsigned(leaf.getInputs().size());
  auto ofOutput = [&](unsigned number) { return BufferFacts{isAligned(leaf, inputs + number), isGlobalView(leaf.getOutputs()[number])}; };
  SmallVector<BufferFacts> facts;
  for (const leaf::Buffer &buffer : graph.buffers) {
    BufferFacts &own = facts.emplace_back();
    if (buffer.kind == leaf::Buffer::Kind::Input)
      own = {isAligned(leaf, buffer.number), isGlobalView(leaf.getInputs()[buffer.number])};
    else if (buffer.kind == leaf::Buffer::Kind::Output)
      own = ofOutput(buffer.number);
    else if (buffer.kind == leaf::Buffer::Kind::Constant)
      own = {true, true};
  }
  for (auto [number, place] : llvm::zip_equal(places.buffers, places.values))
    if (place)
      facts[number] = place.getKind() == PlaceKind::Output ? ofOutput(unsigned(place.getOutput()))
                                                           : BufferFacts{true, place.getKind() == PlaceKind::Workspace};
  return facts;
}

namespace {
/// All that is decided of the accesses of one product.
class ProductAccesses {
public:
  ProductAccesses(loops::LeafOp leaf, const leaf::LeafGraph &graph, ArrayRef<schedule::Tiles> tiles, unsigned number, ArrayRef<BufferFacts> facts,
                  const Machine &machine)
      : graph(graph), tiles(tiles), number(number), facts(facts), said(tiles[number].product->attribute),
        chooser(graph, number, *tiles[number].product, leaf.getMost(), leaf.getTile() ? int64_t(*leaf.getTile()) : 1,
                [facts](int buffer) { return facts[buffer].isAligned; }, machine.gpu.accessBytes) {}

  /// The layout with the widest accesses. A joined product holds its result as product `leader`, with which it is computed.
  tile::ProductAttr decide(unsigned leader, tile::ProductAttr with, int64_t threads) const;
  /// What of the accesses that are said can't be; empty: all can.
  std::string describeWrong(unsigned leader, tile::ProductAttr with, int64_t threads) const;

private:
  std::string describeWrongMoves(tile::ProductAttr widest, int64_t threads) const;
  std::string describeWrongReads(tile::ProductAttr widest) const;

  const leaf::LeafGraph &graph;
  ArrayRef<schedule::Tiles> tiles;
  unsigned number;
  ArrayRef<BufferFacts> facts;
  tile::ProductAttr said;
  AccessChooser chooser;
};
} // namespace

tile::ProductAttr ProductAccesses::decide(unsigned leader, tile::ProductAttr with, int64_t threads) const {
  auto isGlobal = [&](int buffer) { return facts[buffer].isGlobal; };
  bool isJoined = said.getJoined(), isCarried = isJoined && canCarrySums(graph, tiles, leader, number);
  tile::BlockedAttr result = isJoined ? with.getResult() : chooser.chooseResult();
  tile::MoveAttr lhs, rhs;
  if (!said.getWgmma()) {
    lhs = chooser.chooseMove(/*isLhs=*/true, threads, isGlobal);
    rhs = chooser.chooseMove(/*isLhs=*/false, threads, isGlobal);
  }
  return tile::ProductAttr::get(said.getContext(), said.getBlock(), said.getThread(), said.getStep(), said.getStages(), said.getMma(), said.getWgmma(), isJoined,
                                isCarried, said.getFused(), result, lhs, rhs, isJoined ? tile::ReadsAttr() : chooser.chooseReads(result),
                                isJoined ? SmallVector<int64_t>() : chooser.chooseAccesses(result));
}

static LogicalResult chooseAccesses(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Machine &machine) {
  FailureOr<PlacedLeaf> placed = readPlacedLeaf(leaf, block, liftOf(leaf), machine);
  if (failed(placed))
    return failure();
  auto &[own, tiling, places] = *placed;
  SmallVector<BufferFacts> facts = findFacts(leaf, own.form.graph, places);
  SmallVector<Attribute> layouts(leaf.getLayoutsAttr().getValue());
  unsigned leader = 0; // the last product that is computed for itself
  tile::ProductAttr with;
  for (auto [i, tiles] : llvm::enumerate(tiling.tiles)) {
    if (!tiles.product)
      continue;
    tile::ProductAttr said = tiles.product->attribute;
    leader = said.getJoined() ? leader : unsigned(i);
    if (!said.getResult())
      layouts[i] = said = ProductAccesses(leaf, own.form.graph, tiling.tiles, unsigned(i), facts, machine).decide(leader, with, block.getThreads());
    with = said.getJoined() ? with : said;
  }
  leaf.setLayoutsAttr(ArrayAttr::get(leaf.getContext(), layouts));
  return success();
}

LogicalResult mlir::ft::chooseKernelAccesses(loops::ProgramOp program, const GpuScheduleOptions &options) {
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine, [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) {
    etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
    WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
      bool hasProducts = leaf.getLayoutsAttr() && llvm::any_of(leaf.getLayoutsAttr(), llvm::IsaPred<tile::ProductAttr>);
      return hasProducts && failed(chooseAccesses(leaf, block, machine)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::string ProductAccesses::describeWrongMoves(tile::ProductAttr widest, int64_t threads) const {
  std::string wrong;
  llvm::raw_string_ostream os(wrong);
  const schedule::StagedOperands &staged = tiles[number].product->staged;
  if (said.getWgmma())
    return wrong;
  for (auto [name, own, most, type] : {std::tuple("lhs", said.getLhs(), widest.getLhs(), staged.lhs),
                                       std::tuple("rhs", said.getRhs(), widest.getRhs(), staged.rhs)}) {
    if (own.getWidth() > most.getWidth())
      os << name << ": at most " << most.getWidth() << " adjacent elements are one access, found " << own;
    else if (own.getThreads()[0] * own.getThreads()[1] != threads)
      os << name << ": expected " << threads << " threads, found " << own;
    else if (own.getAsync() && (!most.getAsync() || own.getWidth() * bytesOf(type.getElementType()) < leastAsyncBytes))
      os << name << ": only " << leastAsyncBytes << " bytes and more of the device's own memory are copied while threads go on, found " << own;
    if (!wrong.empty())
      break;
  }
  return wrong;
}

std::string ProductAccesses::describeWrongReads(tile::ProductAttr widest) const {
  std::string wrong;
  llvm::raw_string_ostream os(wrong);
  if (tile::ReadsAttr reads = said.getReads()) {
    int64_t lhs = chooser.widestRead(/*isLhs=*/true, said.getResult(), reads.getTerms());
    int64_t rhs = chooser.widestRead(/*isLhs=*/false, said.getResult(), reads.getTerms());
    if (said.getStep() % reads.getTerms() != 0 || reads.getLhs() > lhs || reads.getRhs() > rhs) {
      os << "reads: expected terms that divide a step of " << said.getStep() << ", and at most " << lhs << " and " << rhs
         << " adjacent elements of the operands in an access, found " << reads;
      return wrong;
    }
  }
  ArrayRef<int64_t> own = said.getAccesses(), most = widest.getAccesses();
  if (own.size() != most.size()) {
    os << "accesses: its tiles have " << most.size() << " places, found " << own.size();
    return wrong;
  }
  for (auto [i, access, widestAccess] : llvm::enumerate(own, most))
    if (access > widestAccess || (access == 0) != (widestAccess == 0)) {
      os << "accesses: place " << i << (widestAccess == 0 ? " is no memory (0)" : ": at least 1 and at most " + std::to_string(widestAccess) + " adjacent columns are one access")
         << ", found " << access;
      return wrong;
    }
  return wrong;
}

std::string ProductAccesses::describeWrong(unsigned leader, tile::ProductAttr with, int64_t threads) const {
  bool hasReads = said.getReads() || said.usesMatrixUnits() || said.getJoined();
  if (!said.getResult() || !hasReads || (said.getAccesses().empty() && !said.getJoined()))
    return "it is not specified how threads move its operands, read them, and hold its result (result, lhs, rhs, reads, accesses): loops-choose-accesses does";
  tile::ProductAttr widest = decide(leader, with, threads);
  if (std::string wrong = describeWrongMoves(widest, threads); !wrong.empty())
    return wrong;
  if (said.getCarried() && !widest.getCarried())
    return "carried: it does not go on with the sums of loop nest " + std::to_string(number - 1) + ", or something else looks at them";
  return describeWrongReads(widest);
}

LogicalResult togpu::checkAccesses(loops::LeafOp leaf, const leaf::LeafGraph &graph, const LeafTiling &tiling, const LeafPlaces &places,
                                   int64_t threads, const Machine &machine) {
  if (llvm::none_of(tiling.tiles, [](const schedule::Tiles &tiles) { return bool(tiles.product); }))
    return success();
  SmallVector<BufferFacts> facts = findFacts(leaf, graph, places);
  unsigned leader = 0;
  for (auto [i, tiles] : llvm::enumerate(tiling.tiles)) {
    if (!tiles.product)
      continue;
    leader = tiles.product->attribute.getJoined() ? leader : unsigned(i);
    ProductAccesses accesses(leaf, graph, tiling.tiles, unsigned(i), facts, machine);
    if (std::string wrong = accesses.describeWrong(leader, tiling.tiles[leader].product->attribute, threads); !wrong.empty())
      return leaf.emitError("the GPU engine can't run the leaf's layouts: loop nest ") << i << ": " << wrong;
  }
  return success();
}
