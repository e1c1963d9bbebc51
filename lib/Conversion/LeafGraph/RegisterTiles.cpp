//===- RegisterTiles.cpp - how a core computes a product ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that is decided about a product of matrices on a CPU: rows and columns that
// registers hold, what vectors run along, columns that are copied next to each
// other, blocks of terms. Emission reads it.
//
//===----------------------------------------------------------------------===//
#include "RegisterTiles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// Rows of a tile whose vectors run along columns, and of which a shorter loop makes no tiles where the leaf's rows do.
static constexpr int64_t mostRows = 6;
/// Bytes of b from which on calls read it from beyond the second cache: what stays there is read as fast where it is.
static constexpr int64_t leastPanelBytes = (1 << 20) + 1;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

int64_t TiledProduct::lanes() const {
  return std::max<int64_t>(target.vectorBytes / (isHalf(accumulated()) ? 4 : storageBytes(accumulated())), 1);
}

int TiledProduct::tileLoop() const {
  const int *longest = llvm::max_element(product.m, [&](int x, int y) { return nest.sizes[x] < nest.sizes[y]; });
  if (longest == product.m.end() || (product.rowsAreM && nest.sizes[*longest] < mostRows))
    return -1;
  return *longest;
}

int TiledProduct::termsLoop() const {
  const View &a = nest.members.front().reads[product.lhs], &b = nest.members.front().reads[product.rhs];
  if (b.strides[product.n.back()] == 1)
    return -1;
  for (int loop : product.k)
    if (b.strides[loop] == 1)
      return a.strides[loop] == 1 ? loop : -1;
  return -1;
}

RegisterTile TiledProduct::choose(int64_t uses) const {
  constexpr int64_t mostUses = 24, fewUses = 4;
  RegisterTile tile;
  tile.vector = lanes();
  int64_t rows = product.tileLoop >= 0 ? nest.sizes[product.tileLoop] : product.rowsAreM ? mostRows : 1;
  int loop = termsLoop();
  tile.alongTerms = loop >= 0 && uses < mostUses && nest.sizes[loop] >= (uses < fewUses ? 1 : 2) * tile.vector;
  if (tile.alongTerms) {
    tile.rows = manyRegisters() ? 4 : 2;
    // The sums of a vector's lanes are folded into a vector of columns.
    tile.columns = std::min<int64_t>(rows == 1 && manyRegisters() ? 8 : 4, tile.vector);
    return tile;
  }
  tile.rows = mostRows;
  tile.columns = tile.vector * (manyRegisters() ? (rows <= 3 ? 8 : 4) : (rows <= 2 ? 4 : 2));
  return tile;
}

/// A large b has rows that are longer than a register tile, so that each step is in another page, and the second cache does not
/// keep them. Where many rows read them, columns are copied next to each other first; few rows take b in blocks of k.
void TiledProduct::chooseReads(RegisterTile &tile) const {
  const View &b = nest.members.front().reads[product.rhs];
  if (tile.alongTerms || b.strides[product.n.back()] != 1)
    return;
  int64_t m = 1, k = 1, step = 0;
  for (int loop : product.m)
    m *= nest.sizes[loop];
  for (int loop : product.k) {
    k *= nest.sizes[loop];
    step = std::max(step, std::abs(b.strides[loop]));
  }
  int64_t columns = lanes() * (manyRegisters() ? 4 : 2);
  if (step <= columns || step * k * storageBytes(elementOf(b)) < leastPanelBytes)
    return;
  bool isFew = m < Contraction::leastPanelRows;
  // The rows of a call are not known here: the call decides.
  if ((!isFew || product.rowsAreM) && tile.columns <= columns)
    tile.panel = isFew && product.tileLoop < 0 ? Contraction::leastPanelRows : 1;
  if (tile.panel != 1 && isFew && !isHalf(accumulated()) && product.k.size() == 1 && k > Contraction::fewRowsBlock)
    tile.block = Contraction::fewRowsBlock;
}

LogicalResult TiledProduct::check(const RegisterTile &tile) const {
  if (tile.alongTerms && termsLoop() < 0)
    return refuse() << "no terms of both operands are adjacent ('along_terms')";
  return success();
}

LogicalResult TiledProduct::checkReads(const RegisterTile &tile) const {
  const View &b = nest.members.front().reads[product.rhs];
  if (tile.panel && (tile.alongTerms || b.strides[product.n.back()] != 1))
    return refuse() << "columns that are copied ('panel') are adjacent in memory";
  if (tile.block && (product.k.size() != 1 || isHalf(accumulated()) || tile.alongTerms))
    return refuse() << "blocks of terms ('block') need one loop of terms, sums that wait unrounded, and vectors along columns";
  return success();
}

int TiledProduct::addPanel() const {
  Buffer buffer;
  buffer.kind = Buffer::Kind::Scratch;
  buffer.elementType = elementOf(nest.members.front().reads[product.rhs]);
  buffer.numElements = product.tile.columns;
  for (int loop : product.k)
    buffer.numElements *= nest.sizes[loop];
  graph.buffers.push_back(buffer);
  return int(graph.buffers.size()) - 1;
}
