//===- LoopAccesses.cpp - how threads hold and move products, said in the loops -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Once it is known where rows of a leaf's views begin (`aligned`) and where its values lie (`places`), the layout of each product says which
// elements of a tile of the result a thread has, and how threads bring its operands into shared memory. Decided here
// (`loops-choose-accesses`), and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "LoopChecks.h"
#include "LoopForms.h"

#include "Code.h" // spaces of memory
#include "LoopCounts.h"
#include "ProductShape.h"

#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"

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
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op)) {
    auto kind = alloc->getAttrOfType<loops::MemoryAttr>("loops.memory");
    return !kind || kind.getKind() == loops::MemoryKind::Workspace;
  }
  return op ? isa<loops::SplatOp>(op) : isa<FunctionOpInterface>(memory.getParentBlock()->getParentOp());
}

/// Where the memory of a view lies.
static bool isGlobalView(Value view) { return isGlobal(view.getDefiningOp<memref::ReinterpretCastOp>().getSource()); }

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

/// The layout of a product with all that is decided of its accesses. A joined one holds its result as the product that it is computed `with`.
static tile::ProductAttr decide(loops::LeafOp leaf, const leaf::LeafGraph &graph, unsigned number, const schedule::ProductTiles &product,
                                ArrayRef<BufferFacts> facts, int64_t threads, tile::ProductAttr with) {
  ProductShape shape(graph, number, product, leaf.getMost(), leaf.getTile() ? int64_t(*leaf.getTile()) : 1,
                     [&](int buffer) { return facts[buffer].isAligned; });
  auto isGlobal = [&](int buffer) { return facts[buffer].isGlobal; };
  tile::ProductAttr said = product.attribute;
  return tile::ProductAttr::get(leaf.getContext(), said.getBlock(), said.getThread(), said.getStep(), said.getStages(), said.getMma(),
                                said.getJoined(), said.getFused(), with ? with.getResult() : shape.chooseResult(),
                                shape.chooseMove(/*isLhs=*/true, threads, isGlobal), shape.chooseMove(/*isLhs=*/false, threads, isGlobal));
}

static LogicalResult chooseAccesses(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Machine &machine) {
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, liftOf(leaf));
  if (failed(own))
    return failure();
  FailureOr<LeafTiling> tiling = readTiling(leaf, *own, machine);
  if (failed(tiling))
    return failure();
  FailureOr<LeafPlaces> places = readPlaces(leaf, findNeeds(leaf, *own, *tiling, block));
  if (failed(places))
    return failure();
  SmallVector<BufferFacts> facts = findFacts(leaf, own->form.graph, *places);
  SmallVector<Attribute> layouts(leaf.getLayoutsAttr().getValue());
  tile::ProductAttr leader;
  for (auto [i, tiles] : llvm::enumerate(tiling->tiles)) {
    if (!tiles.product)
      continue;
    tile::ProductAttr said = tiles.product->attribute;
    if (!said.getResult())
      layouts[i] = said = decide(leaf, own->form.graph, unsigned(i), *tiles.product, facts, block.getThreads(),
                                 said.getJoined() ? leader : tile::ProductAttr());
    leader = said.getJoined() ? leader : said;
  }
  leaf.setLayoutsAttr(ArrayAttr::get(leaf.getContext(), layouts));
  return success();
}

LogicalResult mlir::ft::chooseKernelAccesses(loops::ProgramOp program, const GpuOptions &options) {
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

LogicalResult togpu::checkAccesses(loops::LeafOp leaf, const leaf::LeafGraph &graph, const LeafTiling &tiling, const LeafPlaces &places,
                                   int64_t threads) {
  if (llvm::none_of(tiling.tiles, [](const schedule::Tiles &tiles) { return bool(tiles.product); }))
    return success();
  SmallVector<BufferFacts> facts = findFacts(leaf, graph, places);
  tile::ProductAttr leader;
  for (auto [i, tiles] : llvm::enumerate(tiling.tiles)) {
    if (!tiles.product)
      continue;
    auto refuse = [&, i = i] { return leaf.emitError("the GPU engine can't run the leaf's layouts: loop nest ") << i << ": "; };
    tile::ProductAttr said = tiles.product->attribute;
    if (!said.getResult())
      return refuse() << "nobody says how threads move its operands and hold its result (result, lhs, rhs): loops-choose-accesses does";
    leader = said.getJoined() ? leader : said;
    tile::ProductAttr widest = decide(leaf, graph, unsigned(i), *tiles.product, facts, threads, said.getJoined() ? leader : tile::ProductAttr());
    const schedule::StagedOperands &staged = tiles.product->staged;
    for (auto [name, own, most, type] : {std::tuple("lhs", said.getLhs(), widest.getLhs(), staged.lhs),
                                         std::tuple("rhs", said.getRhs(), widest.getRhs(), staged.rhs)}) {
      if (own.getWidth() > most.getWidth())
        return refuse() << name << ": at most " << most.getWidth() << " adjacent elements are one access, found " << own;
      if (own.getThreads()[0] * own.getThreads()[1] != threads)
        return refuse() << name << ": expected " << threads << " threads, found " << own;
      if (own.getAsync() && (!most.getAsync() || own.getWidth() * bytesOf(type.getElementType()) < leastAsyncBytes))
        return refuse() << name << ": only " << leastAsyncBytes << " bytes and more of the device's own memory are copied while threads go on, found " << own;
    }
  }
  return success();
}
