//===- LeafCodegen.cpp - The generator's entry points ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"

#include "Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// The graph of a copy of the function, and the copy.
static FailureOr<LeafGraph> analyze(func::FuncOp func, const LeafOptions &options,
                                    OwningOpRef<func::FuncOp> &copy) {
  if (func.isExternal() || !func.getBody().hasOneBlock())
    return func.emitError("a leaf has one block");
  unsigned inputs = func.getNumArguments();
  if (!options.batched.empty() && options.batched.size() != inputs)
    return func.emitError("expected to know of each of ")
           << inputs << " inputs whether it varies with the row, found " << options.batched.size();
  MLIRContext *context = func.getContext();
  context->loadDialect<arith::ArithDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                       math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                       tensor::TensorDialect, vector::VectorDialect>();
  copy = func.clone();
  if (failed(normalizeLeaf(*copy)))
    return failure();
  FailureOr<LeafGraph> graph = buildLeafGraph(*copy, options);
  if (succeeded(graph) && options.columns.tile)
    cutColumns(*graph, options.columns);
  return graph;
}

/// Whether nests can have the vectors that are given for them.
static LogicalResult checkWrittenLanes(const LeafGraph &graph, const LaneTiles &lanes) {
  SmallVector<bool> met(lanes.size());
  for (const Nest &nest : graph.nests)
    if (nest.number >= 0 && size_t(nest.number) < lanes.size() && lanes[nest.number]) {
      met[nest.number] = true;
      if (failed(checkLanes(graph, nest, *lanes[nest.number])))
        return failure();
    }
  for (auto [i, lane] : llvm::enumerate(lanes))
    if (lane && !met[i])
      return func::FuncOp(graph.func).emitError("loop nest ") << i << " is a product, or computed together with one before, which says how";
  return success();
}

/// Whether is given of each loop nest how it is computed.
static LogicalResult checkSaid(const LeafGraph &graph, const LeafOptions &options) {
  for (const Nest &nest : graph.nests)
    if (!nest.contraction && (nest.number < 0 || size_t(nest.number) >= options.lanes.size() || !options.lanes[nest.number]))
      return nest.members.front().op->emitError("it is not specified how its loop nest ")
             << nest.number << " is computed (loops-choose-tiles writes #loops.lanes, or what it is joined with)";
  return success();
}

/// Whether a nest may ask its flag: each row its own in a loop over rows, else one for all of them.
static bool canAsk(const LeafGraph &graph, const Segment &segment, const Guard &guard) {
  return segment.perRow || !graph.buffers[guard.buffer].batched;
}

static LogicalResult checkGuards(const LeafGraph &graph, ArrayRef<Segment> segments) {
  for (const Segment &segment : segments)
    for (const Nest &nest : ArrayRef(graph.nests).slice(segment.begin, segment.end - segment.begin))
      if (nest.guard && !canAsk(graph, segment, *nest.guard))
        return nest.members.front().op->emitError("its loop nest ")
               << nest.number << " can't be left out by a flag that each row has for itself (loops.guards): no loop over rows is around it";
  return success();
}

/// Leaves out what a flag makes superfluous, wherever it can be asked.
static SmallVector<NestGuard> chooseGuards(LeafGraph &graph, ArrayRef<Segment> segments) {
  findGuards(graph);
  SmallVector<NestGuard> guards;
  for (const Segment &segment : segments)
    for (const Nest &nest : ArrayRef(graph.nests).slice(segment.begin, segment.end - segment.begin))
      if (nest.guard && canAsk(graph, segment, *nest.guard))
        guards.push_back({nest.number, int64_t(graph.buffers[nest.guard->buffer].number), nest.guard->when});
  llvm::sort(guards, [](const NestGuard &x, const NestGuard &y) { return x.nest < y.nest; });
  return guards;
}

/// The graph of a copy of the function, in which products and what is computed together are those that the options say.
static FailureOr<LeafGraph> analyzeSaid(func::FuncOp func, const LeafOptions &options, OwningOpRef<func::FuncOp> &copy) {
  FailureOr<LeafGraph> graph = analyze(func, options, copy);
  if (failed(graph))
    return failure();
  if (!graph->nests.empty() && !options.tiles)
    return graph->nests.front().members.front().op->emitError("it is not specified how the leaf's loop nests are computed (loops-choose-tiles writes layouts)");
  if (failed(takeContractions(*graph, options.tiles.value_or(RegisterTiles()))) || failed(joinNests(*graph, options.joined)))
    return failure();
  return graph;
}

FailureOr<func::FuncOp> mlir::ft::generateLeaf(func::FuncOp tensorFunc,
                                               const LeafOptions &options, const RowLoops &rowLoops) {
  OwningOpRef<func::FuncOp> copy;
  FailureOr<LeafGraph> graph = analyzeSaid(tensorFunc, options, copy);
  if (failed(graph) || failed(checkSaid(*graph, options)) || failed(checkWrittenLanes(*graph, options.lanes)))
    return failure();
  FailureOr<SmallVector<Segment>> segments = takeRowLoops(*graph, rowLoops);
  if (failed(segments) || failed(takeGuards(*graph, options.guards)) || failed(checkGuards(*graph, *segments)) || failed(placeBuffers(*graph, *segments, options.places.value_or(ScratchPlaces()))))
    return failure();
  // The copy takes the place of the function while the loops are made from it.
  tensorFunc->getBlock()->getOperations().insert(tensorFunc->getIterator(), copy.release());
  func::FuncOp normalized = graph->func;
  tensorFunc.erase();
  func::FuncOp result = emitLeafFunction(*graph, *segments, options);
  normalized.erase();
  return result;
}

/// Of each group of nests, at the first one, its vectors; and who has joined it.
static void chooseNests(const LeafGraph &graph, const CpuTarget &target, NestTiles &tiles) {
  for (const Nest &nest : graph.nests) {
    for (int joined : nest.joined)
      tiles.joined[joined] = nest.number;
    if (nest.contraction)
      continue;
    std::optional<LaneTile> turn = chooseTurn(graph, nest, target);
    tiles.lanes[nest.number] = turn ? *turn : chooseLanes(graph, nest, target);
  }
}

FailureOr<NestTiles> mlir::ft::chooseNestTiles(func::FuncOp tensorFunc, const LeafOptions &options, const CpuTarget &target) {
  OwningOpRef<func::FuncOp> copy;
  FailureOr<LeafGraph> graph = analyze(tensorFunc, options, copy);
  if (failed(graph))
    return failure();
  FailureOr<RegisterTiles> products = chooseContractions(*graph, target);
  if (failed(products))
    return failure();
  const size_t count = products->size();
  NestTiles tiles{std::move(*products), LaneTiles(count), JoinedNests(count, -1)};
  fuseNests(*graph, target.planning.fusedOps);
  chooseNests(*graph, target, tiles);
  return tiles;
}

FailureOr<RowLoops> mlir::ft::chooseNestOrder(func::FuncOp tensorFunc, const LeafOptions &options) {
  OwningOpRef<func::FuncOp> copy;
  FailureOr<LeafGraph> graph = analyzeSaid(tensorFunc, options, copy);
  if (failed(graph))
    return failure();
  return chooseRowLoops(*graph);
}

FailureOr<SmallVector<NestGuard>> mlir::ft::chooseNestGuards(func::FuncOp tensorFunc, const LeafOptions &options, const RowLoops &rowLoops) {
  OwningOpRef<func::FuncOp> copy;
  FailureOr<LeafGraph> graph = analyzeSaid(tensorFunc, options, copy);
  FailureOr<SmallVector<Segment>> segments = failed(graph) ? FailureOr<SmallVector<Segment>>() : takeRowLoops(*graph, rowLoops);
  if (failed(segments))
    return failure();
  return chooseGuards(*graph, *segments);
}

FailureOr<ScratchPlaces> mlir::ft::chooseNestPlaces(func::FuncOp tensorFunc, const LeafOptions &options, const RowLoops &rowLoops) {
  OwningOpRef<func::FuncOp> copy;
  FailureOr<LeafGraph> graph = analyzeSaid(tensorFunc, options, copy);
  FailureOr<SmallVector<Segment>> segments = failed(graph) ? FailureOr<SmallVector<Segment>>() : takeRowLoops(*graph, rowLoops);
  if (failed(segments))
    return failure();
  return choosePlaces(*graph, *segments);
}

static void setTiles(LeafOptions &options, const NestTiles &tiles) {
  options.tiles = tiles.products;
  options.lanes = tiles.lanes;
  options.joined = tiles.joined;
}

FailureOr<LeafPlan> mlir::ft::planLeaf(func::FuncOp tensorFunc, const LeafOptions &options, const CpuTarget &target,
                                       const std::optional<RowLoops> &rowLoops) {
  FailureOr<NestTiles> tiles = options.tiles ? NestTiles{*options.tiles, options.lanes, options.joined} : chooseNestTiles(tensorFunc, options, target);
  if (failed(tiles))
    return failure();
  LeafOptions said = options;
  setTiles(said, *tiles);
  FailureOr<RowLoops> order = rowLoops ? *rowLoops : chooseNestOrder(tensorFunc, said);
  if (failed(order))
    return failure();
  FailureOr<SmallVector<NestGuard>> guards = chooseNestGuards(tensorFunc, said, *order);
  FailureOr<ScratchPlaces> places = failed(guards) ? FailureOr<ScratchPlaces>() : chooseNestPlaces(tensorFunc, said, *order);
  if (failed(places))
    return failure();
  return LeafPlan{std::move(*tiles), std::move(*order), std::move(*guards), std::move(*places)};
}

FailureOr<func::FuncOp> mlir::ft::planAndGenerateLeaf(func::FuncOp tensorFunc, LeafOptions options, const CpuTarget &target) {
  FailureOr<LeafPlan> plan = planLeaf(tensorFunc, options, target);
  if (failed(plan))
    return failure();
  setTiles(options, plan->tiles);
  options.places = std::move(plan->places);
  options.guards = std::move(plan->guards);
  return generateLeaf(tensorFunc, options, plan->rowLoops);
}

LeafScratch mlir::ft::getLeafScratch(func::FuncOp generated) {
  LeafScratch scratch;
  if (auto fixed = generated->getAttrOfType<IntegerAttr>(mlir::ft::names::scratchFixed))
    scratch.fixedBytes = fixed.getInt();
  if (auto perRow = generated->getAttrOfType<IntegerAttr>(mlir::ft::names::scratchPerRow))
    scratch.bytesPerRow = perRow.getInt();
  return scratch;
}

bool mlir::ft::leafChecksIndices(func::FuncOp generated) {
  return generated->hasAttr(mlir::ft::names::leafChecks);
}

