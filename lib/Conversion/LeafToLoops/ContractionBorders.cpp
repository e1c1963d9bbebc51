//===- ContractionBorders.cpp - Factors of a product that have borders ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a factor is inside of its borders, and how its elements are read where it is not
// known to be: which reads are asked, which steps are left out, and which stand one
// after the other.
//
//===----------------------------------------------------------------------===//
#include "ContractionEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// Where along a loop of tiles a factor is inside of the borders that the loop moves it along, whatever the other loops do.
Span ContractionEmitter::findInside(Operand operand, int loop) const {
  Span span;
  if (loop < 0)
    return span;
  for (auto [border, trimmed] : llvm::zip_equal(views[operand]->borders, trimmedLoops[operand])) {
    int64_t stride = border.strides[loop];
    if (trimmed >= 0 || stride == 0)
      continue;
    if (stride < 0 || border.columnStride != 0)
      return {0, 0};
    SmallVector<int64_t> others(nest.sizes);
    others[loop] = 1;
    auto [low, high] = rangeOf(border, others);
    span.low = std::max(span.low, llvm::divideCeilSigned(-low, stride));
    span.high = std::min(span.high, llvm::divideFloorSigned(border.size - 1 - high, stride) + 1);
  }
  return span;
}

/// The borders that a read need not be asked about: those that steps stay inside of, and where a tile begins between `first` and
/// `last` of the loop `tiled`, those along which this loop moves it.
llvm::SmallBitVector ContractionEmitter::knownBorders(Operand operand, const Span &inside, int tiled, int64_t first,
                                                      int64_t last) const {
  llvm::SmallBitVector known(views[operand]->borders.size());
  for (auto [i, border] : llvm::enumerate(views[operand]->borders))
    if (trimmedLoops[operand][i] >= 0 || (tiled >= 0 && border.strides[tiled] != 0 && inside.contains(first, last + 1)))
      known.set(unsigned(i));
  return known;
}

/// A factor's elements at a row of the tile.
Value ContractionEmitter::loadLeft(const Point &at, Value begin, int64_t row, int lanesLoop, LaneShape shape, Value memory) {
  const ElementView &view = *views[A];
  int64_t stride = lanesLoop < 0 ? 0 : 1;
  if (!view.hasBorders())
    return e.loadLanes(view, begin, stride, shape, memory);
  SmallVector<Value> places(at.places[A]);
  if (tileLoop >= 0)
    e.moveAlongBorders(view, tileLoop, e.index(row), places);
  llvm::SmallBitVector known = knownBorders(A, insideRows, tileLoop, firstRow.first + row, firstRow.second + row);
  return e.loadLanesInside(view, begin, stride, shape, e.isInside(view, places, lanesLoop, 0, shape, known), memory);
}

/// The other one's, which begin at a column of the tile.
Value ContractionEmitter::loadRight(const Point &at, Value begin, int64_t column, int lanesLoop, LaneShape shape) {
  const ElementView &view = *views[B];
  if (alwaysPacks()) {
    ElementView panel;
    panel.buffer = product.panel;
    return e.loadLanes(panel, begin, 1, shape, at.memory[B]);
  }
  if (!view.hasBorders())
    return e.loadLanes(view, begin, 1, shape, at.memory[B]);
  SmallVector<Value> places(at.places[B]);
  e.moveAlongBorders(view, vectorLoop, e.index(column), places);
  int64_t last = firstColumn.second + column + (lanesLoop == vectorLoop ? shape.valid - 1 : 0);
  llvm::SmallBitVector known = knownBorders(B, insideColumns, vectorLoop, firstColumn.first + column, last);
  return e.loadLanesInside(view, begin, 1, shape, e.isInside(view, places, lanesLoop, 0, shape, known), at.memory[B]);
}

/// The steps of a loop of terms at which no factor is outside of a border that the loop alone moves it along.
std::pair<Value, Value> ContractionEmitter::trimmedSteps(const Point &point, int loop, Value steps) {
  Value begin = e.index(0), end = steps;
  auto stepsUntil = [&](Value distance, int64_t stride) -> Value { // rounded up, none where it is after
    distance = arith::MaxSIOp::create(b, distance, e.index(0));
    if (stride == 1)
      return distance;
    return arith::DivUIOp::create(b, e.addIndex(distance, stride - 1), e.index(stride));
  };
  for (Operand operand : {A, B}) {
    if (operand == B && alwaysPacks())
      continue;
    for (auto [i, border] : llvm::enumerate(views[operand]->borders)) {
      if (trimmedLoops[operand][i] != loop)
        continue;
      Value place = point.places[operand][i];
      Value first = stepsUntil(arith::SubIOp::create(b, e.index(0), place), border.strides[loop]);
      Value last = stepsUntil(arith::SubIOp::create(b, e.index(border.size), place), border.strides[loop]);
      begin = arith::MaxSIOp::create(b, begin, first);
      end = arith::MinSIOp::create(b, end, last);
    }
  }
  return {begin, end};
}

/// Whether the innermost terms stand one after the other in this tile, as the attribute says of tiles whose columns cross a border.
bool ContractionEmitter::isWrittenOut(int loop) const {
  if (!product.tile.writtenOut || loop != product.k.back())
    return false;
  int64_t first = firstColumn.first, last = firstColumn.second + std::min(product.tile.columns, nest.sizes[vectorLoop] - firstColumn.second);
  return !insideColumns.contains(first, last);
}
