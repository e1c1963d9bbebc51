//===- RegisterTiles.cpp - how a core computes a product ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that is decided about a product of matrices on a CPU: rows and columns that
// registers hold, how rows are cut, what vectors run along, operands and columns that
// are copied next to each other, blocks of terms, what is asked for ahead, whether it
// is a function. Emission reads it; what is a machine's number is asked of the machine.
//
//===----------------------------------------------------------------------===//
#include "RegisterTiles.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

int64_t TiledProduct::lanes() const {
  return std::max<int64_t>(target->vectorBytes / storageBytes(accumulatedType(member(), accumulated())), 1);
}

static bool isZero(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isZero();
  return cast<IntegerAttr>(value).getValue().isZero();
}

/// Whether all elements of a tile cross a border at the same steps of a loop of terms, and of no other, and what is after it
/// adds nothing.
bool mlir::ft::leaf::isTrimmedLoop(const Contraction &product, const ElementView &view, unsigned border, int loop) {
  ArrayRef<int64_t> strides = view.borders[border].strides;
  auto isMovedBy = [&](int other) { return other >= 0 && other != loop && strides[other] != 0; };
  bool isVector = product.tile.alongTerms && loop == product.k.back();
  return isZero(view.outside) && strides[loop] > 0 && !isVector && !isMovedBy(product.n.back()) && !isMovedBy(product.tileLoop) &&
         llvm::none_of(product.k, isMovedBy);
}

int TiledProduct::chooseRowLoop() const {
  const int *longest = llvm::max_element(product.m, [&](int x, int y) { return nest.sizes[x] < nest.sizes[y]; });
  // A shorter loop makes no full tiles where the leaf's rows do.
  if (longest == product.m.end() || (product.rowsAreM && nest.sizes[*longest] < target->rowTiles.rows))
    return -1;
  return *longest;
}

int TiledProduct::termsLoop() const {
  if (right().strides[product.n.back()] == 1)
    return -1;
  for (int loop : product.k)
    if (right().strides[loop] == 1)
      return left().strides[loop] == 1 ? loop : -1;
  return -1;
}

int64_t TiledProduct::ownRows() const {
  int64_t rows = 1;
  for (int loop : product.m)
    rows *= nest.sizes[loop];
  return rows;
}

bool TiledProduct::canJoinRows() const {
  return graph.isBatched(left()) && !graph.isBatched(right()) && left().terms.empty() && member().inits.front().terms.empty();
}

bool TiledProduct::joinsRows(const RegisterTile *given) const {
  return canJoinRows() && (given ? !given->eachRow : ownRows() < target->planning.panelRows);
}

int64_t TiledProduct::uses() const { return product.rowsAreM ? ownRows() * target->planning.typicalRows : ownRows(); }

int64_t TiledProduct::rowsOfTiles() const {
  return product.tileLoop >= 0 ? nest.sizes[product.tileLoop] : product.rowsAreM ? target->rowTiles.rows : 1;
}

/// Rows that are known are cut into tiles of about equal rows, `most` at most. How many a call has is not known: what full tiles of those
/// leave, smaller ones take.
void TiledProduct::cutRows(RegisterTile &tile, int64_t most) const {
  if (product.tileLoop < 0 && product.rowsAreM) {
    tile.rows = most;
    tile.rests = SmallVector<int64_t>(llvm::make_filter_range(target->rowTiles.rests, [&](int64_t rest) { return rest < most; }));
    tile.join = most == target->rowTiles.rows ? target->rowTiles.join : 0;
    return;
  }
  int64_t size = product.tileLoop < 0 ? 1 : nest.sizes[product.tileLoop];
  tile.rows = llvm::divideCeil(size, llvm::divideCeil(size, most));
  if (int64_t rest = size % tile.rows)
    tile.rests = {rest};
}

RegisterTile TiledProduct::choose() const {
  const CpuPlanning &planning = target->planning;
  RegisterTile tile;
  tile.rowLoop = product.tileLoop;
  tile.vector = lanes();
  tile.eachRow = canJoinRows() && !product.rowsAreM;
  int64_t rows = rowsOfTiles(), work = 1;
  for (int64_t size : nest.sizes)
    work *= size;
  tile.outlined = work >= planning.outlinedWork;
  int loop = termsLoop();
  int64_t vectors = uses() < planning.turnFewRows ? 1 : 2;
  tile.alongTerms = loop >= 0 && uses() < planning.turnRows && nest.sizes[loop] >= vectors * tile.vector;
  if (tile.alongTerms) {
    // Half of the registers are sums, each of a row and a column; their lanes are folded into a vector of columns. A single row, which
    // reads as many vectors as it has columns, has fewer.
    cutRows(tile, leastVectors());
    int64_t sums = int64_t(target->vectorRegisters) / 2;
    tile.columns = std::min<int64_t>(rows == 1 ? sums / 2 : sums / leastVectors(), tile.vector);
    return tile;
  }
  cutRows(tile, target->rowTiles.rows);
  tile.columns = tile.vector * vectorsBeside(rows);
  // Scalars of the left operand are expensive to extend one at a time.
  tile.packsLeft = isHalf(elementOf(left())) && nest.sizes[product.n.back()] >= planning.widenColumns;
  bool isCopied = right().strides[product.n.back()] != 1 || (isHalf(elementOf(right())) && uses() >= planning.widenRows);
  // Windows that overlap are many times what they see: no more than a tile's columns are next to each other at a time.
  tile.panel = isCopied && isWindow();
  tile.packsRight = isCopied && !tile.panel;
  return tile;
}

bool TiledProduct::isWindow() const {
  int64_t seen = 1;
  for (auto [loop, size] : llvm::enumerate(nest.sizes))
    seen *= right().movesWith(int(loop)) ? size : 1;
  return seen > graph.buffers[right().buffer].numElements;
}

int64_t TiledProduct::longestStep() const {
  int64_t step = 0;
  for (int loop : product.k)
    step = std::max(step, std::abs(right().strides[loop]));
  return step;
}

/// Whether each step of so many terms is in another page, and the second cache does not keep the right-hand side: it is large, and
/// has rows that are longer than a register tile.
bool TiledProduct::isFarApart(int64_t terms) const {
  int64_t step = longestStep();
  return step > lanes() * leastVectors() && step * terms * storageBytes(elementOf(right())) > target->secondBytes;
}

/// How many terms before their use columns are asked for. Each tile of rows reads the same columns again, which the nearest cache
/// does not keep where they are many; tiles of few rows have no time to hide what they ask for, and are slowed down by it.
int64_t TiledProduct::termsAhead(const RegisterTile &tile, int64_t terms) const {
  int64_t rows = rowsOfTiles();
  int64_t columns = std::min(tile.columns, nest.sizes[product.n.back()]);
  if (rows < rowsThatAsk() || target->lineBytes == 0 || terms * columns * storageBytes(elementOf(right())) <= target->nearestBytes)
    return 0;
  // Wider sums are computed at a lower rate.
  int64_t bytes = std::max<int64_t>(storageBytes(accumulated()), storageBytes(Float32Type::get(accumulated().getContext())));
  double flopsOfTerm = 2.0 * std::min(rows, target->rowTiles.rows) * columns * bytes / 4;
  int64_t ahead = std::llround(target->flopsAhead / flopsOfTerm);
  return ahead < nest.sizes[product.k.back()] ? ahead : 0;
}

void TiledProduct::chooseReads(RegisterTile &tile) const {
  chooseCopies(tile);
  // Masks of vectors that cross a border are constants of the step then.
  tile.writtenOut = movesAcrossBorders() && nest.sizes[product.k.back()] <= target->planning.writtenOutTerms && hasKnownSteps(tile);
}

/// Where many rows read what lies far apart, columns are copied next to each other first; few rows take it in blocks of k.
void TiledProduct::chooseCopies(RegisterTile &tile) const {
  if (tile.alongTerms || tile.panel == 1 || right().strides[product.n.back()] != 1)
    return;
  int64_t k = 1;
  for (int loop : product.k)
    k *= nest.sizes[loop];
  tile.ahead = termsAhead(tile, k);
  if (tile.ahead) {
    tile.line = std::max<int64_t>(target->lineBytes / storageBytes(elementOf(right())), 1);
    tile.aheadRows = rowsThatAsk();
  }
  if (!isFarApart(k))
    return;
  int64_t columns = lanes() * leastVectors();
  bool hasBlocks = !isHalf(accumulated()) && product.k.size() == 1 && k > target->planning.blockTerms;
  // Where each step begins with a vector, fewer rows find in blocks of terms what they have asked for ahead; steps that begin anywhere take
  // two lines for each vector, each time.
  bool isInLine = hasBlocks && longestStep() % lanes() == 0;
  int64_t leastRows = isInLine ? target->planning.panelRowsInLine : target->planning.panelRows;
  bool isFew = ownRows() < leastRows;
  // The rows of a call are not known here: the call decides.
  if ((!isFew || product.rowsAreM) && tile.columns <= columns)
    tile.panel = isFew && product.tileLoop < 0 ? leastRows : 1;
  if (tile.panel != 1 && isFew && hasBlocks)
    tile.block = target->planning.blockTerms;
}

/// Whether vectors of the right-hand side cross a border elsewhere in each step of the innermost terms.
bool TiledProduct::movesAcrossBorders() const {
  return llvm::any_of(right().borders, [&](const Border &border) {
    return border.strides[product.k.back()] != 0 && border.strides[product.n.back()] != 0;
  });
}

/// Whether steps of the innermost terms are known: all of them run, at once.
bool TiledProduct::hasKnownSteps(const RegisterTile &tile) const {
  auto isTrimmed = [&](const ElementView &view) {
    for (unsigned border = 0; border < view.borders.size(); ++border)
      if (isTrimmedLoop(product, view, border, product.k.back()))
        return true;
    return false;
  };
  return !tile.alongTerms && tile.panel != 1 && !tile.block && !isTrimmed(left()) && !isTrimmed(right());
}

LogicalResult TiledProduct::check(const RegisterTile &tile) const {
  if (tile.rowLoop >= 0 && !llvm::is_contained(product.m, int(tile.rowLoop)))
    return refuse() << "its rows are not those of loop " << tile.rowLoop << " ('row_loop')";
  if (tile.alongTerms && termsLoop() < 0)
    return refuse() << "no terms of both operands are adjacent ('along_terms')";
  if (tile.eachRow && !canJoinRows())
    return refuse() << "rows of a call have right-hand sides of their own, each is a product by itself anyway ('each_row')";
  if (!tile.alongTerms && !tile.packsRight && tile.panel != 1 && right().strides[product.n.back()] != 1)
    return refuse() << "columns of its right-hand side are not adjacent (give it 'pack_right' or 'panel = 1')";
  return success();
}

LogicalResult TiledProduct::checkReads(const RegisterTile &tile) const {
  const int64_t steps = nest.sizes[product.k.back()];
  constexpr int64_t mostWrittenOut = 64; // so that code stays small, whatever is said; a machine's own limit is written_out_terms
  if (tile.writtenOut && (!hasKnownSteps(tile) || !movesAcrossBorders()))
    return refuse() << "terms stand one after the other ('written_out') where all of them run at once, and move columns along a border";
  if (tile.writtenOut && steps > mostWrittenOut)
    return refuse() << "at most " << mostWrittenOut << " terms stand one after the other ('written_out'), found loop " << product.k.back() << " of "
                    << steps;
  if (tile.panel && (tile.alongTerms || (tile.panel != 1 && right().strides[product.n.back()] != 1)))
    return refuse() << "columns that some calls copy ('panel') are adjacent in memory";
  if (tile.block && (product.k.size() != 1 || isHalf(accumulated()) || tile.alongTerms))
    return refuse() << "blocks of terms ('block') need one loop of terms, sums that wait unrounded, and vectors along columns";
  return success();
}

int TiledProduct::addPanel() const {
  Buffer buffer;
  buffer.kind = Buffer::Kind::Scratch;
  buffer.elementType = elementOf(right());
  if (isHalf(buffer.elementType) && product.tile.panel == 1) // all read it there
    buffer.elementType = Float32Type::get(buffer.elementType.getContext());
  buffer.numElements = product.tile.columns;
  for (int loop : product.k)
    buffer.numElements *= nest.sizes[loop];
  graph.buffers.push_back(buffer);
  return int(graph.buffers.size()) - 1;
}
