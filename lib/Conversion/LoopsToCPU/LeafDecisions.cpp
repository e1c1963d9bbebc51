//===- LeafDecisions.cpp - how a core computes a leaf, as attributes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafDecisions.h"

#include "ft/Dialect/Loops/IR/Loops.h"

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

static ArrayAttr toRowLoops(MLIRContext *context, const RowLoops &loops) {
  SmallVector<Attribute> list;
  for (ArrayRef<int64_t> numbers : loops)
    list.push_back(DenseI64ArrayAttr::get(context, numbers));
  return ArrayAttr::get(context, list);
}

static ArrayAttr toGuards(MLIRContext *context, ArrayRef<NestGuard> guards) {
  SmallVector<Attribute> list;
  for (const NestGuard &guard : guards)
    list.push_back(loops::GuardAttr::get(context, guard.nest, guard.input, guard.is));
  return ArrayAttr::get(context, list);
}

/// Null where all values are in registers.
static ArrayAttr toScratch(MLIRContext *context, const ScratchPlaces &places) {
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

static ArrayAttr toLayouts(MLIRContext *context, const LeafTiles &tiles) {
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
  return ArrayAttr::get(context, layouts);
}

LeafDecisions LeafDecisions::completedBy(MLIRContext *context, const LeafTiles &chosen) const {
  LeafDecisions all = *this;
  if (!hasLayouts())
    all.layouts = chosen.products.empty() ? ArrayAttr() : toLayouts(context, chosen);
  if (!scratch)
    all.scratch = toScratch(context, chosen.places);
  if (!rowLoops && !guards && !chosen.guards.empty())
    all.guards = toGuards(context, chosen.guards);
  all.rowLoops = toRowLoops(context, chosen.rowLoops);
  return all;
}
