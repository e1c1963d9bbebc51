//===- ContractionEmitter.h - Register tiles of a product -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LEAFTOLOOPS_CONTRACTIONEMITTER_H
#define FT_LIB_CONVERSION_LEAFTOLOOPS_CONTRACTIONEMITTER_H

#include "Emitter.h"

#include <array>
#include <limits>

namespace mlir::ft::leaf {

/// Iterations of a loop, [low, high).
struct Span {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  bool contains(int64_t begin, int64_t end) const { return begin >= low && end <= high; }
};

/// Of both factors, the indices along their borders.
using BorderPlaces = std::array<SmallVector<Value>, 2>;

class ContractionEmitter {
public:
  ContractionEmitter(Emitter &emitter, const Nest &nest);
  enum Operand { A, B, C, Init, numOperands };
  const ElementView *views[numOperands];
  /// Emits the product; the operands begin at `offsets`, and at `places` of their borders.
  void emitContraction(ArrayRef<Value> offsets, const BorderPlaces &places);

private:
  Emitter &e;
  ImplicitLocOpBuilder &b;
  const Nest &nest;
  const Contraction &product;
  Type accumulated; // type of the accumulators
  int64_t width;
  int tileLoop; // the m loop that tiles run along; -1: none, or the rows
  int vectorLoop;
  /// Steps of b along the reduced loops, by loop, inside what a panel may stand for.
  SmallVector<Value> panelSteps;
  /// Whether columns are copied into panels: decided by a call's rows; null: always, where there is a panel.
  Value packs;
  /// Inside a block of k: its steps, and whether it is the first one. Null: the only one.
  Value blockSteps, isFirstBlock;

  /// Of each border of a factor: the loop of terms whose steps stay inside of it, since what is outside adds nothing; -1: reads are
  /// asked.
  SmallVector<int> trimmedLoops[2];
  /// Columns and rows at which reads cross no border; where the tile that is emitted may begin.
  Span insideColumns, insideRows;
  std::pair<int64_t, int64_t> firstColumn = {0, 0}, firstRow = {0, 0};

  /// Element offsets of the operands, and the indices along the borders of the factors.
  struct Point {
    BorderPlaces places;
    Value offsets[numOperands];
    Value memory[numOperands]; // of this row, where rows are listed
    Value row;
  };
  /// Columns of a tile.
  struct Columns {
    SmallVector<LaneShape> vectors;
  };

  Span findInside(Operand operand, int loop) const;
  llvm::SmallBitVector knownBorders(Operand operand, const Span &inside, int tiled, int64_t first, int64_t last) const;
  bool alwaysPacks() const { return product.panel >= 0 && !packs; }
  Value loadLeft(const Point &at, Value begin, int64_t row, int vectorLoop, LaneShape shape, Value memory);
  Value loadRight(const Point &at, Value begin, int64_t column, int vectorLoop, LaneShape shape);
  std::pair<Value, Value> trimmedSteps(const Point &point, int loop, Value steps);
  bool isWrittenOut(int loop) const;

  Point advanced(const Point &point, int loop, Value by) const;
  void packPanel(Point &point, const Columns &columns);
  /// Offset from one row of a tile to the next; null: none.
  Value rowStep(Operand operand) const;
  /// Whether rows of a tile are rows of the leaf that lie anywhere.
  bool isListed(Operand operand) const;
  Point pointAtRow(const Point &point, Value row) const;
  Point nextRow(const Point &point) const;

  void emitOuterLoops(ArrayRef<int> loops, Point point, llvm::function_ref<void(Point)> body);
  void emitBlocks(Point point, llvm::function_ref<void(Point)> body);
  void emitRowTiles(Point point, llvm::function_ref<void(Point, int64_t)> tile);
  void emitKnownRows(Point point, int64_t size, llvm::function_ref<void(Point, int64_t)> tile);
  SmallVector<Value> emitSumLoops(ArrayRef<int> loops, Point point, ValueRange carried,
                                 llvm::function_ref<SmallVector<Value>(Point, ValueRange)> body);
  Value toAccumulator(Value value, bool isUnsigned);
  Value multiplyAddLanes(Value x, Value y, Value sum);
  Value addUp(Value x, Value y);

  void emitRegisterTile(Point point, int64_t rows, const Columns &columns);
  void askAhead(const Point &at, int64_t rows, const Columns &columns);
  void emitFoldedTile(Point point, int64_t rows, int64_t columns);
  Value foldAll(SmallVector<Value> vectors);
};

} // namespace mlir::ft::leaf

#endif // FT_LIB_CONVERSION_LEAFTOLOOPS_CONTRACTIONEMITTER_H
