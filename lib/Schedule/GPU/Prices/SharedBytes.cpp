//===- SharedBytes.cpp - shared memory of leaves with products ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// About what loops-place-memory will place: how many thread blocks share a
// SM depends on it.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Support/FirstFit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// By scratch buffer of a leaf the first and the last nest that touch it; what a product begins with lies where its sums come to lie.
static SmallVector<std::pair<int, int>> livesOf(const leaf::LeafGraph &graph, ArrayRef<Attribute> layouts) {
  SmallVector<std::pair<int, int>> lives(graph.buffers.size(), {-1, -1});
  int with = 0, fused = 0; // the product that nests are computed with, and how many of these are left
  for (auto [number, nest] : llvm::enumerate(graph.nests)) {
    auto product = dyn_cast<tile::ProductAttr>(layouts[number]);
    if (fused == 0 || product)
      with = int(number), fused = product ? int(product.getFused()) : 0;
    else
      --fused;
    auto touch = [&](ArrayRef<leaf::ElementView> views) {
      for (const leaf::ElementView &view : views)
        if (!view.isSplat()) {
          auto &[first, last] = lives[view.buffer];
          first = first < 0 ? with : first, last = int(number);
        }
    };
    for (const leaf::NestMember &member : nest.members) {
      touch(member.reads);
      touch(member.writes);
      if (!product)
        touch(member.inits);
    }
  }
  return lives;
}

/// Whether a product begins with the value and leaves an output of its size: then it lies where that does.
static bool becomesOutput(const leaf::LeafGraph &graph, ArrayRef<Attribute> layouts, int value) {
  for (auto [nest, layout] : llvm::zip_equal(graph.nests, layouts)) {
    const leaf::NestMember &member = nest.members.front();
    if (!isa<tile::ProductAttr>(layout) || nest.members.size() != 1 || member.inits.size() != 1 || member.inits.front().buffer != value)
      continue;
    const leaf::ElementView &written = member.writes.front();
    return !written.isSplat() && graph.buffers[written.buffer].kind == leaf::Buffer::Kind::Output &&
           graph.buffers[written.buffer].numElements == graph.buffers[value].numElements;
  }
  return false;
}

/// Shared memory that a leaf with products in tiles takes: operands' stages, and values between its nests that are in no registers and fit in `room`
/// after them. The others lie in the workspace.
FailureOr<KernelPrices::LeafBytes> KernelPrices::bytesOfProducts(BlockOp leaf, const Place &place, double room) {
  auto layouts = leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts);
  if (llvm::any_of(layouts, llvm::IsaPred<tile::ChainAttr>)) { // whose slots are what the other memory leaves
    LeafBytes all;
    all.shared = std::max(double(machine.occupancy.sharedBytesPerBlock - machine.gpu.sharedBytesOfTwo) + room, 0.0);
    return all;
  }
  FailureOr<LeafForm *> form = formOf(leaf, place);
  if (failed(form) || layouts.size() != (*form)->graph.nests.size())
    return failure();
  const leaf::LeafGraph &graph = (*form)->graph;
  bool isRowWise = isRowWiseAt(leaf, place);
  SmallVector<bool> inRegisters(graph.buffers.size());
  bool hasFragments = false;
  LeafBytes bytes;
  for (auto [number, layout] : llvm::enumerate(layouts))
    if (auto attribute = dyn_cast<tile::ProductAttr>(layout)) {
      leaf::Nest collapsed;
      std::string wrong;
      TileContext tile = tileContextOf(**form, unsigned(number), place.context, isRowWise, collapsed);
      FailureOr<ProductTiles> product = readProduct(attribute, **form, unsigned(number), tile, wrong);
      if (failed(product))
        continue;
      if (!attribute.getWgmma()) // whose slots are what the other memory leaves
        bytes.shared = std::max(bytes.shared, double(product->staged.getBytes()));
      hasFragments |= attribute.usesMatrixUnits();
      for (int buffer : product->inRegisters)
        inRegisters[buffer] = true;
    }
  FirstFit places;
  double values = 0;
  for (auto [number, buffer, life, isKept] : llvm::enumerate(graph.buffers, livesOf(graph, layouts.getValue()), inRegisters)) {
    if (buffer.kind != leaf::Buffer::Kind::Scratch || !buffer.inMemory || isKept || life.first < 0 ||
        becomesOutput(graph, layouts.getValue(), int(number)))
      continue;
    int64_t own = buffer.numElements * elementBytes(buffer.elementType) * (isRowWise && buffer.batched ? place.context.maxRows : 1);
    int64_t end = places.place(own, unsigned(life.first), unsigned(life.second)) + own;
    if (double(end) + bytes.shared <= room) {
      values = std::max(values, double(end));
      continue;
    }
    places.dropLast();
    // Lanes of fragments store pieces of 16 bytes, half of what the cache moves at least.
    bool isOfHalves = hasFragments && elementBytes(buffer.elementType) < 4;
    bytes.moved += double(own) * (isOfHalves ? 3 : 2);
  }
  bytes.shared += values;
  return bytes;
}
