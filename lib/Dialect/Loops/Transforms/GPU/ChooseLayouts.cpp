//===- ChooseLayouts.cpp - how threads share leaves, said in the loops ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `convert-etdg-to-loops` leaves open of a leaf is decided here, before anything is emitted: whether the iterations of a
// lifted loop are computed at once, and how threads share the leaves whose layouts the schedule did not say, or said for other
// loops than these.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// Iterations that can't be computed at once are a block's, one after the other. What was said of how threads share all of
/// them at once is specified for nothing then.
static void takeApart(func::FuncOp kernel) {
  kernel.walk([](Operation *loop) {
    loops::LevelAttr level = loops::levelOf(loop);
    if (!level || level.getLevel() != etdg::LoopLevel::Lifted)
      return;
    auto points = dyn_cast<scf::ForallOp>(loop);
    if (points && readLift(points))
      return;
    remark::missed(loop->getLoc(), remark::RemarkOpts::name("gpu-lift").category("gpu"))
        << "addresses do not grow evenly with a lifted loop: its iterations are computed one by one";
    loops::setLevel(loop, loops::LevelAttr::get(loop->getContext(), etdg::LoopLevel::None, etdg::IterationMapping::None));
    loop->walk([](loops::LeafOp leaf) { leaf.removeLayoutsAttr(); });
  });
}

/// Whether a leaf has layouts, which may have been made for the cores of a CPU.
static bool isLaidOut(loops::LeafOp leaf) {
  ArrayAttr layouts = leaf.getLayoutsAttr();
  return layouts && llvm::none_of(layouts, llvm::IsaPred<loops::ProductAttr, loops::LanesAttr, UnitAttr>);
}

/// Says which loop nests of a leaf are computed together, where nothing has.
static LogicalResult joinNests(loops::LeafOp leaf, const Machine &machine) {
  if (leaf->hasAttr(loops::names::joined))
    return success();
  schedule::LeafForm form;
  if (failed(buildForm(leaf, liftOf(leaf), form)))
    return failure();
  JoinedNests joined(form.graph.nests.size(), -1);
  leaf::fuseNests(form.graph, machine.gpu.fusedOps);
  for (const leaf::Nest &nest : form.graph.nests)
    for (int other : nest.joined)
      joined[size_t(other)] = nest.number;
  if (form.graph.nests.size() < joined.size())
    leaf->setAttr(loops::names::joined, DenseI64ArrayAttr::get(leaf.getContext(), joined));
  return success();
}

static LogicalResult layOutKernel(func::FuncOp kernel, const Machine &machine) {
  takeApart(kernel);
  etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
  WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
    if (failed(joinNests(leaf, machine)))
      return WalkResult::interrupt();
    if (isLaidOut(leaf))
      return WalkResult::advance();
    if (loops::roundsSums(leaf))
      remark::missed(leaf.getLoc(), remark::RemarkOpts::name("rounded-sums").category("gpu"))
          << "sums of f16 or bf16 are rounded at each step, as it does not say sums f32: they are no products in tiles";
    FailureOr<LeafInBlock> read = readLeaf(leaf, block, liftOf(leaf));
    if (failed(read))
      return WalkResult::interrupt();
    leaf.setLayoutsAttr(ArrayAttr::get(leaf.getContext(),
                                       schedule::chooseLayouts(read->form, read->context, read->rowWise, machine)));
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult mlir::ft::chooseLeafLayouts(loops::ProgramOp program, const GpuScheduleOptions &options) {
  // (What the normal forms of leaves are of.)
  program.getContext()->loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, tensor::TensorDialect,
                                    tile::TileDialect>();
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine,
                    [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp>) { return layOutKernel(kernel, machine); });
}

//===----------------------------------------------------------------------===//
// Layouts that are read
//===----------------------------------------------------------------------===//

/// Whether a nest is a product that the layout of an earlier one computes with it.
static bool isJoined(ArrayRef<schedule::Tiles> tiles, size_t leader, size_t number) {
  return leader < number && tiles[leader].product && llvm::is_contained(tiles[leader].product->joined, unsigned(number));
}

/// Whether a nest is computed in the tiles of an earlier product, element by element.
static bool isFused(ArrayRef<schedule::Tiles> tiles, size_t leader, size_t number) {
  return leader < number && tiles[leader].product && number <= leader + size_t(tiles[leader].product->attribute.getFused());
}

/// What layouts of its loop nests say.
static LogicalResult readTiles(loops::LeafOp leaf, const LeafInBlock &own, const Machine &machine, SmallVector<schedule::Tiles> &tiles) {
  auto refuse = [&](const Twine &why) {
    return leaf.emitError("the GPU engine can't run the leaf's 'etdg.layouts': ") << why;
  };
  ArrayAttr layouts = leaf.getLayoutsAttr();
  const leaf::LeafGraph &graph = own.form.graph;
  if (layouts.size() != graph.nests.size())
    return refuse("expected one for each of its " + Twine(graph.nests.size()) + " loop nests, found " + Twine(layouts.size()));
  size_t leader = 0; // the last product that is computed for itself
  for (auto [i, layout] : llvm::enumerate(layouts)) {
    leaf::Nest collapsed;
    schedule::TileContext tile = schedule::tileContextOf(own.form, unsigned(i), own.context, own.rowWise, collapsed);
    std::string wrong;
    if (auto product = dyn_cast<tile::ProductAttr>(layout)) {
      FailureOr<schedule::ProductTiles> read = schedule::readProduct(product, own.form, unsigned(i), tile, wrong);
      if (failed(read))
        return refuse("loop nest " + Twine(i) + ": " + wrong);
      if (isJoined(tiles, leader, i) != product.getJoined())
        return refuse("loop nest " + Twine(i) + (product.getJoined() ? ": joined, where no product before it is computed with it (fused)"
                                                                     : ": expected a joined product, as nest " + Twine(leader) + " is computed with it"));
      if (std::string other = product.getJoined() ? schedule::checkJoined(product, tiles[leader].product->attribute) : ""; !other.empty())
        return refuse("loop nest " + Twine(i) + ": " + other);
      leader = product.getJoined() ? leader : i;
      tiles.emplace_back().product = std::make_shared<schedule::ProductTiles>(std::move(*read));
      continue;
    }
    if (isJoined(tiles, leader, i))
      return refuse("loop nest " + Twine(i) + ": expected a joined product, as nest " + Twine(leader) + " is computed with it");
    auto tiling = dyn_cast<etdg::TilingAttr>(layout);
    if (!tiling)
      return refuse("rows stay in registers where a kernel is one leaf");
    if (isFused(tiles, leader, i) && tiling != schedule::toAttribute(leaf.getContext(), schedule::Tiles()))
      return refuse("loop nest " + Twine(i) + ": it is computed in the tiles of nest " + Twine(leader) + " (fused), expected #etdg.tiling<>");
    FailureOr<schedule::Tiles> read = schedule::readTiles(tiling, graph, collapsed, tile, machine, wrong);
    if (failed(read))
      return refuse("loop nest " + Twine(i) + ": " + wrong);
    tiles.push_back(std::move(*read));
  }
  return success();
}

FailureOr<LeafTiling> togpu::readTiling(loops::LeafOp leaf, const LeafInBlock &own, const Machine &machine) {
  ArrayAttr layouts = leaf.getLayoutsAttr();
  if (!layouts)
    return leaf.emitError("the GPU engine can't run a leaf without layouts, which say how threads share it: "
                          "loops-choose-layouts writes them");
  LeafTiling tiling;
  if (auto chain = layouts.size() == 1 ? dyn_cast<tile::ChainAttr>(layouts[0]) : tile::ChainAttr()) {
    std::string wrong;
    leaf::Nest collapsed;
    if (chain.getNumThreads() != own.context.threads)
      wrong = "it is for " + std::to_string(chain.getNumThreads()) + " threads, the block has " + std::to_string(own.context.threads);
    else if (own.form.graph.nests.empty())
      wrong = "the leaf computes nothing";
    else
      tiling.chain = schedule::planChain(own.form, schedule::tileContextOf(own.form, 0, own.context, own.rowWise, collapsed), chain.getRows(), wrong);
    if (!tiling.chain)
      return leaf.emitError("the GPU engine can't run the layout ") << chain << ": " << wrong;
    return tiling;
  }
  auto lanes = layouts.empty() ? etdg::RowLanesAttr() : dyn_cast<etdg::RowLanesAttr>(layouts[0]);
  if (!lanes) {
    if (failed(readTiles(leaf, own, machine, tiling.tiles)))
      return failure();
    return tiling;
  }
  if (loops::hasOverlaps(leaf))
    return leaf.emitError("the GPU engine can't run the layout ")
           << lanes << ": lanes without an element of their own read another lane's, which an output in the memory of an input may have overwritten";
  std::string wrong;
  FailureOr<schedule::RowPlan> read = schedule::readRows(lanes, own.form.graph, own.rowWise, own.context.threads, machine, wrong);
  if (failed(read))
    return leaf.emitError("the GPU engine can't run the layout ") << lanes << ": " << wrong;
  tiling.rows = std::move(*read);
  return tiling;
}
