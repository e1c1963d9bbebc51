//===- SharedBytes.cpp - shared memory of leaves with products ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// About what loops-place-memory will place: how many blocks of threads share a
// multiprocessor depends on it.
//
//===----------------------------------------------------------------------===//
#include "KernelPrices.h"

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

/// Shared memory that a leaf with products in tiles takes at most at a time: operands' stages, and values between its nests that are in no
/// registers.
FailureOr<double> KernelPrices::sharedBytesOfProducts(BlockOp leaf, const Place &place) {
  auto layouts = leaf->getAttrOfType<ArrayAttr>("etdg.layouts");
  FailureOr<LeafForm *> form = formOf(leaf, place);
  if (failed(form) || layouts.size() != (*form)->graph.nests.size())
    return failure();
  const leaf::LeafGraph &graph = (*form)->graph;
  bool isRowWise = isRowWiseAt(leaf, place);
  SmallVector<bool> inRegisters(graph.buffers.size());
  SmallVector<double> staged(graph.nests.size());
  for (auto [number, layout] : llvm::enumerate(layouts))
    if (auto attribute = dyn_cast<tile::ProductAttr>(layout)) {
      leaf::Nest collapsed;
      std::string wrong;
      TileContext tile = tileContextOf(**form, unsigned(number), place.context, isRowWise, collapsed);
      FailureOr<ProductTiles> product = readProduct(attribute, **form, unsigned(number), tile, wrong);
      if (failed(product))
        continue;
      staged[number] = double(product->staged.getBytes());
      for (int buffer : product->inRegisters)
        inRegisters[buffer] = true;
    }
  SmallVector<std::pair<int, int>> lives = livesOf(graph, layouts.getValue());
  double most = 0;
  for (auto [number, bytes] : llvm::enumerate(staged)) {
    for (auto [buffer, life, isKept] : llvm::zip_equal(graph.buffers, lives, inRegisters))
      if (buffer.kind == leaf::Buffer::Kind::Scratch && buffer.inMemory && !isKept && life.first <= int(number) && int(number) <= life.second)
        bytes += double(buffer.numElements * elementBytes(buffer.elementType)) * (isRowWise && buffer.batched ? double(place.context.maxRows) : 1);
    most = std::max(most, bytes);
  }
  return most;
}
