//===- LeafDecisions.cpp - how a core computes a leaf, as attributes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafDecisions.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/LeafColumns.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

//===----------------------------------------------------------------------===//
// Attributes that are read
//===----------------------------------------------------------------------===//

static RegisterTile toTile(loops::ProductAttr product) {
  RegisterTile tile;
  tile.rows = product.getRows();
  tile.columns = product.getColumns();
  tile.vector = product.getVector();
  tile.alongTerms = product.getAlongTerms();
  tile.panel = product.getPanel();
  tile.block = product.getBlock();
  tile.ahead = product.getAhead();
  tile.eachRow = product.getEachRow();
  tile.packsLeft = product.getPacksLeft();
  tile.packsRight = product.getPacksRight();
  tile.rests.assign(product.getRests().begin(), product.getRests().end());
  tile.join = product.getJoin();
  tile.line = product.getLine();
  tile.aheadRows = product.getAheadRows();
  tile.outlined = product.getOutlined();
  tile.rowLoop = product.getRowLoop();
  tile.writtenOut = product.getWrittenOut();
  return tile;
}

static LaneTile toTile(loops::LanesAttr lanes) {
  LaneTile tile{lanes.getLoop(), lanes.getVector(), lanes.getBeside(), lanes.getTurned(), {}};
  if (lanes.getRests())
    for (auto rest : lanes.getRests().getAsRange<loops::LanesAttr>())
      tile.rests.push_back(toTile(rest));
  return tile;
}

bool LeafDecisions::hasLayouts() const {
  return layouts && llvm::all_of(layouts, llvm::IsaPred<loops::ProductAttr, loops::LanesAttr, loops::JoinedAttr>);
}

std::optional<RowLoops> LeafDecisions::getRowLoops() const {
  if (!rowLoops)
    return std::nullopt;
  RowLoops loops;
  for (auto numbers : rowLoops.getAsRange<DenseI64ArrayAttr>())
    loops.emplace_back(numbers.asArrayRef());
  return loops;
}

static ScratchPlaces placesOf(ArrayAttr scratch) {
  ScratchPlaces places;
  for (auto place : scratch.getAsRange<loops::ScratchAttr>()) {
    places.resize(place.getValue() + 1);
    places.back() = ScratchPlace{ScratchPlace::Kind(place.getKind()), place.getOffset(), place.getBytes()};
  }
  return places;
}

void LeafDecisions::fill(LeafOptions &options) const {
  if (hasLayouts()) {
    options.tiles.emplace();
    for (Attribute layout : layouts) {
      auto product = dyn_cast<loops::ProductAttr>(layout);
      auto lanes = dyn_cast<loops::LanesAttr>(layout);
      auto joined = dyn_cast<loops::JoinedAttr>(layout);
      options.tiles->push_back(product ? std::optional(toTile(product)) : std::nullopt);
      options.lanes.push_back(lanes ? std::optional(toTile(lanes)) : std::nullopt);
      options.joined.push_back(joined ? joined.getWith() : -1);
    }
  }
  if (scratch)
    options.places = placesOf(scratch);
  if (guards)
    for (auto guard : guards.getAsRange<loops::GuardAttr>())
      options.guards.push_back({guard.getNest(), guard.getInput(), guard.getIs()});
}

//===----------------------------------------------------------------------===//
// Attributes that are written
//===----------------------------------------------------------------------===//

ArrayAttr tocpu::toRowLoops(MLIRContext *context, const RowLoops &loops) {
  SmallVector<Attribute> list;
  for (ArrayRef<int64_t> numbers : loops)
    list.push_back(DenseI64ArrayAttr::get(context, numbers));
  return ArrayAttr::get(context, list);
}

ArrayAttr tocpu::toGuards(MLIRContext *context, ArrayRef<NestGuard> guards) {
  SmallVector<Attribute> list;
  for (const NestGuard &guard : guards)
    list.push_back(loops::GuardAttr::get(context, guard.nest, guard.input, guard.is));
  return list.empty() ? ArrayAttr() : ArrayAttr::get(context, list);
}

ArrayAttr tocpu::toScratch(MLIRContext *context, const ScratchPlaces &places) {
  SmallVector<Attribute> scratch;
  for (auto [i, place] : llvm::enumerate(places))
    if (place)
      scratch.push_back(loops::ScratchAttr::get(context, int64_t(i), loops::ScratchKind(place->kind), place->offset, place->bytes));
  return scratch.empty() ? ArrayAttr() : ArrayAttr::get(context, scratch);
}

static loops::LanesAttr toAttribute(MLIRContext *context, const LaneTile &lanes) {
  SmallVector<Attribute> rests;
  for (const LaneTile &rest : lanes.rests)
    rests.push_back(toAttribute(context, rest));
  return loops::LanesAttr::get(context, lanes.loop, lanes.vector, lanes.beside, lanes.turned,
                               rests.empty() ? ArrayAttr() : ArrayAttr::get(context, rests));
}

ArrayAttr tocpu::toLayouts(MLIRContext *context, const NestTiles &tiles) {
  SmallVector<Attribute> layouts;
  for (auto [product, lanes, joined] : llvm::zip_equal(tiles.products, tiles.lanes, tiles.joined))
    if (product)
      layouts.push_back(loops::ProductAttr::get(context, product->rows, product->columns, product->vector, product->alongTerms,
                                                product->panel, product->block, product->ahead, product->eachRow, product->packsLeft,
                                                product->packsRight, product->rests, product->join, product->line, product->aheadRows,
                                                product->outlined, product->rowLoop, product->writtenOut));
    else if (lanes)
      layouts.push_back(toAttribute(context, *lanes));
    else
      layouts.push_back(loops::JoinedAttr::get(context, joined));
  return layouts.empty() ? ArrayAttr() : ArrayAttr::get(context, layouts);
}

LeafDecisions LeafDecisions::completedBy(MLIRContext *context, const LeafPlan &chosen) const {
  LeafDecisions all = *this;
  if (!hasLayouts())
    all.layouts = toLayouts(context, chosen.tiles);
  if (!rowLoops)
    all.rowLoops = toRowLoops(context, chosen.rowLoops);
  if (!guards)
    all.guards = toGuards(context, chosen.guards);
  if (!scratch)
    all.scratch = toScratch(context, chosen.places);
  return all;
}

//===----------------------------------------------------------------------===//
// Of leaves
//===----------------------------------------------------------------------===//

LeafDecisions tocpu::decisionsOf(loops::LeafOp leaf) {
  return {leaf.getLayoutsAttr(), leaf.getScratchAttr(), leaf->getAttrOfType<ArrayAttr>(loops::names::rowLoops), leaf->getAttrOfType<ArrayAttr>(loops::names::guards)};
}

SmallVector<SmallVector<int64_t>> tocpu::stridesOfInputs(loops::LeafOp leaf) {
  SmallVector<SmallVector<int64_t>> all;
  size_t next = 0;
  for (bool varies : leaf.getVaries()) {
    all.emplace_back();
    if (leaf.getList() && varies)
      continue;
    auto view = cast<MemRefType>(leaf.getInputs()[next++].getType());
    SmallVector<int64_t> strides = *loops::getRowStrides(view);
    if (strides != computeSuffixProduct(view.getShape().drop_front()))
      all.back() = std::move(strides);
  }
  return all;
}

FailureOr<LeafOptions> tocpu::optionsOf(loops::LeafOp leaf, func::FuncOp function) {
  LeafOptions options;
  options.strides = stridesOfInputs(leaf);
  options.batched.assign(leaf.getVaries().begin(), leaf.getVaries().end());
  options.listed = bool(leaf.getList());
  options.sums = leaf.getSums().value_or(FloatType());
  options.aliasesOutput = loops::outputsWrittenLast(leaf);
  if (leaf.getColumn() && llvm::is_contained(options.aliasesOutput, true))
    return leaf.emitError("an output may overlap an input, and calls share the columns: one may read what another has written; expected overlaps "
                          "that say where they do not");
  decisionsOf(leaf).fill(options);
  if (!leaf.getColumn())
    return options;
  options.columns.tile = *leaf.getTile();
  options.columns.loops = schedule::findLeafColumns(function, leaf.getVaries(), *leaf.getColumns()).loops;
  if (options.columns.loops.empty())
    return leaf.emitError("column c of what the leaf computes does not depend on column c alone, or it doesn't have the "
                          "columns; found ")
           << *leaf.getColumns() << " of them";
  return options;
}
