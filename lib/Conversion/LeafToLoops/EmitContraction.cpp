//===- EmitContraction.cpp - Register-tiled products of matrices ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of the result lives in registers while the reduced loops run: some
// rows by some vectors of columns, each step one vector of b per column vector
// and one broadcast element of a per row. Where b is contiguous along k and too
// few rows use it to pay for a transposition, vectors go along k instead and are
// folded at the end. How rows are cut into tiles, and all other sizes, says the tile
// (RegisterTiles.cpp): nothing is decided here.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

namespace {

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
  const View *views[numOperands];
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
  Point atRow(const Point &point, Value row) const;
  Point nextRow(const Point &point) const;

  void emitOuterLoops(ArrayRef<int> loops, Point point, llvm::function_ref<void(Point)> body);
  void emitBlocks(Point point, llvm::function_ref<void(Point)> body);
  void emitRowTiles(Point point, llvm::function_ref<void(Point, int64_t)> tile);
  void emitKnownRows(Point point, int64_t size, llvm::function_ref<void(Point, int64_t)> tile);
  SmallVector<Value> emitSumLoops(ArrayRef<int> loops, Point point, ValueRange carried,
                                 llvm::function_ref<SmallVector<Value>(Point, ValueRange)> body);
  Value toAccumulator(Value value, bool isUnsigned);
  Value multiplyAdd(Value x, Value y, Value sum);
  Value addUp(Value x, Value y);

  void emitRegisterTile(Point point, int64_t rows, const Columns &columns);
  void askAhead(const Point &at, int64_t rows, const Columns &columns);
  void emitFoldedTile(Point point, int64_t rows, int64_t columns);
  Value foldAll(SmallVector<Value> vectors);
};

} // namespace

ContractionEmitter::ContractionEmitter(Emitter &emitter, const Nest &nest)
    : e(emitter), b(emitter.b), nest(nest), product(*nest.contraction) {
  const Member &member = nest.members.front();
  views[A] = &member.reads[product.lhs];
  views[B] = &member.reads[product.rhs];
  views[C] = &member.writes.front();
  views[Init] = &member.inits.front();
  accumulated = e.graph.buffers[views[C]->buffer].elementType;
  if (isHalf(accumulated))
    accumulated = b.getF32Type();
  width = product.tile.vector;
  tileLoop = product.tileLoop;
  vectorLoop = product.n.back();
  for (Operand operand : {A, B})
    for (unsigned border = 0; border < views[operand]->borders.size(); ++border) {
      const int *loop = llvm::find_if(product.k, [&](int k) { return isTrimmedLoop(product, *views[operand], border, k); });
      trimmedLoops[operand].push_back(loop == product.k.end() ? -1 : *loop);
    }
  insideColumns = findInside(B, vectorLoop);
  insideRows = findInside(A, tileLoop);
}

//===----------------------------------------------------------------------===//
// Borders of the factors
//===----------------------------------------------------------------------===//

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
  const View &view = *views[A];
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
  const View &view = *views[B];
  if (alwaysPacks()) {
    View panel;
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
  auto stepsUntil = [&](Value distance, int64_t stride) -> Value { // rounded up, none where it is behind
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

/// Whether the innermost terms stand one behind the other in this tile, as the attribute says of tiles whose columns cross a border.
bool ContractionEmitter::isWrittenOut(int loop) const {
  if (!product.tile.writtenOut || loop != product.k.back())
    return false;
  int64_t first = firstColumn.first, last = firstColumn.second + std::min(product.tile.columns, nest.sizes[vectorLoop] - firstColumn.second);
  return !insideColumns.contains(first, last);
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

ContractionEmitter::Point ContractionEmitter::advanced(const Point &point, int loop,
                                                       Value by) const {
  Point result = point;
  for (Operand operand : {A, B})
    e.moveAlongBorders(*views[operand], loop, by, result.places[operand]);
  for (int i = 0; i < numOperands; ++i)
    if (views[i]->isSplat() || views[i]->strides[loop] == 0)
      continue;
    else if (i == B && !panelSteps.empty() && panelSteps[loop])
      result.offsets[i] = e.addIndex(point.offsets[i], arith::MulIOp::create(b, by, panelSteps[loop]));
    else
      result.offsets[i] = e.addIndex(point.offsets[i], e.mulIndex(by, views[i]->strides[loop]));
  return result;
}

bool ContractionEmitter::isListed(Operand operand) const {
  return product.rowsAreM && tileLoop < 0 && !views[operand]->isSplat() &&
         e.isListed(views[operand]->buffer);
}

Value ContractionEmitter::rowStep(Operand operand) const {
  const View &view = *views[operand];
  if (view.isSplat() || isListed(operand))
    return {};
  if (product.rowsAreM && tileLoop < 0)
    return e.rowStride(view.buffer);
  if (tileLoop < 0 || view.strides[tileLoop] == 0)
    return {};
  return e.index(view.strides[tileLoop]);
}

ContractionEmitter::Point ContractionEmitter::atRow(const Point &point, Value row) const {
  Point result = point;
  if (tileLoop >= 0)
    e.moveAlongBorders(*views[A], tileLoop, row, result.places[A]);
  for (int i = 0; i < numOperands; ++i)
    if (Value step = rowStep(Operand(i)))
      result.offsets[i] = e.addIndex(point.offsets[i], arith::MulIOp::create(b, row, step));
  for (int i = 0; i < numOperands; ++i)
    if (isListed(Operand(i)))
      result.memory[i] = e.flatOfRow(views[i]->buffer, row);
  result.row = row;
  return result;
}

ContractionEmitter::Point ContractionEmitter::nextRow(const Point &point) const {
  Point result = point;
  for (int i = 0; i < numOperands; ++i)
    if (Value step = rowStep(Operand(i)))
      result.offsets[i] = e.addIndex(point.offsets[i], step);
    else if (isListed(Operand(i)))
      result.memory[i] =
          e.flatOfRow(views[i]->buffer, result.row = e.addIndex(point.row, e.index(1)));
  return result;
}

void ContractionEmitter::emitOuterLoops(ArrayRef<int> loops, Point point,
                                   llvm::function_ref<void(Point)> body) {
  if (loops.empty())
    return body(point);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.keptLoop(e.index(0), e.index(nest.sizes[loops.front()]), 1);
  emitOuterLoops(loops.drop_front(), advanced(point, loops.front(), created.getInductionVar()), body);
}

/// Blocks of k, one after the other; sums are in the result between them. Calls that copy columns take k at once.
void ContractionEmitter::emitBlocks(Point point, llvm::function_ref<void(Point)> body) {
  if (product.tile.block == 0 || alwaysPacks())
    return body(point);
  int loop = product.k.front();
  Value size = e.index(nest.sizes[loop]), step = e.index(product.tile.block);
  if (packs)
    step = arith::SelectOp::create(b, packs, size, step);
  OpBuilder::InsertionGuard guard(b);
  auto created = scf::ForOp::create(b, e.index(0), size, step);
  b.setInsertionPointToStart(created.getBody());
  Value begin = created.getInductionVar();
  blockSteps = arith::MinSIOp::create(b, step, arith::SubIOp::create(b, size, begin));
  isFirstBlock = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, begin, e.index(0));
  body(advanced(point, loop, begin));
  blockSteps = isFirstBlock = Value();
}

/// Rows of tiles, one after the other, as the attribute says; single rows are the rest of all others.
static SmallVector<int64_t> rowsOfTiles(const RegisterTile &tile) {
  SmallVector<int64_t> rows{tile.rows};
  llvm::append_range(rows, tile.rests);
  if (rows.back() != 1)
    rows.push_back(1);
  return rows;
}

/// Tiles of `step` iterations in [begin, end), in runs of which all tiles are inside, or none is.
static SmallVector<std::pair<int64_t, int64_t>> cutAtBorders(int64_t begin, int64_t end, int64_t step, const Span &inside) {
  SmallVector<std::pair<int64_t, int64_t>> runs;
  bool before = false;
  for (int64_t at = begin; at < end; at += step) {
    bool now = inside.contains(at, at + step);
    if (runs.empty() || now != before)
      runs.push_back({at, at});
    runs.back().second = at + step;
    before = now;
  }
  return runs;
}

void ContractionEmitter::emitKnownRows(Point point, int64_t size, llvm::function_ref<void(Point, int64_t)> tile) {
  int64_t begin = 0;
  for (int64_t rows : rowsOfTiles(product.tile)) {
    int64_t end = begin + (size - begin) / rows * rows;
    for (auto [from, to] : cutAtBorders(begin, end, rows, insideRows)) {
      firstRow = {from, to - rows};
      if (to - from > rows) {
        OpBuilder::InsertionGuard guard(b);
        scf::ForOp created = e.keptLoop(e.index(from), e.index(to), rows);
        tile(atRow(point, created.getInductionVar()), rows);
      } else {
        tile(from ? atRow(point, e.index(from)) : point, rows);
      }
    }
    begin = end;
  }
}

/// Tiles along the tiled loop, or of the leaf's rows.
void ContractionEmitter::emitRowTiles(Point point, llvm::function_ref<void(Point, int64_t)> tile) {
  if (!product.rowsAreM || tileLoop >= 0)
    return emitKnownRows(point, tileLoop < 0 ? 1 : nest.sizes[tileLoop], tile);
  Value begin = e.index(0);
  for (int64_t rows : rowsOfTiles(product.tile)) {
    Value left = arith::SubIOp::create(b, e.rows, begin);
    Value rest = arith::RemUIOp::create(b, left, e.index(rows));
    if (int64_t join = product.tile.join; join && rows == product.tile.rows) {
      // The last full tile is cut with what it leaves.
      Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, e.index(join));
      Value isEnough = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, left, e.index(rows + join));
      rest = arith::SelectOp::create(b, arith::AndIOp::create(b, isLeft, isEnough), e.index(rows + join), rest);
    }
    Value end = e.addIndex(begin, arith::SubIOp::create(b, left, rest));
    {
      OpBuilder::InsertionGuard guard(b);
      scf::ForOp created = e.keptLoop(begin, end, rows);
      tile(atRow(point, created.getInductionVar()), rows);
    }
    begin = end;
  }
}

SmallVector<Value>
ContractionEmitter::emitSumLoops(ArrayRef<int> loops, Point point, ValueRange carried,
                                llvm::function_ref<SmallVector<Value>(Point, ValueRange)> body) {
  if (loops.empty())
    return body(point, carried);
  if (loops.size() == 1 && isWrittenOut(loops.front())) {
    SmallVector<Value> sums = llvm::to_vector_of<Value>(carried);
    for (int64_t step = 0; step < nest.sizes[loops.front()]; ++step)
      sums = body(advanced(point, loops.front(), e.index(step)), sums);
    return sums;
  }
  auto [begin, end] = trimmedSteps(point, loops.front(), blockSteps ? blockSteps : e.index(nest.sizes[loops.front()]));
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.keptLoop(begin, end, 1, carried);
  SmallVector<Value> next =
      emitSumLoops(loops.drop_front(), advanced(point, loops.front(), created.getInductionVar()),
                  created.getRegionIterArgs(), body);
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(created.getResults());
}

Value ContractionEmitter::toAccumulator(Value value, bool isUnsigned) {
  value = e.lanesToFloat32(value);
  Type from = getElementTypeOrSelf(value.getType());
  if (from == accumulated)
    return value;
  Type to = accumulated;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(accumulated);
  if (product.isFloat)
    return arith::ExtFOp::create(b, to, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, to, value);
  return arith::ExtSIOp::create(b, to, value);
}

Value ContractionEmitter::multiplyAdd(Value x, Value y, Value sum) {
  if (product.isFloat)
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
}

Value ContractionEmitter::addUp(Value x, Value y) {
  if (product.isFloat)
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

//===----------------------------------------------------------------------===//
// Vectors along n
//===----------------------------------------------------------------------===//

/// Asks for columns of b that are read some terms later. (What lies behind the last one is asked for in vain.)
void ContractionEmitter::askAhead(const Point &at, int64_t rows, const Columns &columns) {
  if (product.tile.ahead == 0 || rows < product.tile.aheadRows)
    return;
  Point later = advanced(at, product.k.back(), e.index(product.tile.ahead));
  Value memory = at.memory[B] ? at.memory[B] : e.flat(views[B]->buffer);
  int64_t asked = 0;
  for (size_t j = 0; j < columns.vectors.size(); ++j) {
    int64_t column = int64_t(j) * width;
    if (column < asked)
      continue;
    asked = column + product.tile.line;
    Value where = e.addIndex(later.offsets[B], column);
    memref::PrefetchOp::create(b, memory, ValueRange{where}, /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
}

void ContractionEmitter::emitRegisterTile(Point point, int64_t rows, const Columns &columns) {
  SmallVector<Point> rowPoints{point};
  for (int64_t i = 1; i < rows; ++i)
    rowPoints.push_back(nextRow(rowPoints.back()));
  auto column = [&](Value offset, Operand operand, int64_t vector) {
    const View &view = *views[operand];
    int64_t stride = view.isSplat() ? 0 : view.strides[vectorLoop];
    return e.addIndex(offset, vector * width * stride);
  };
  auto strideOf = [&](Operand operand) -> int64_t {
    return views[operand]->isSplat() ? 0 : views[operand]->strides[vectorLoop];
  };

  SmallVector<Value> carried;
  for (int64_t i = 0; i < rows; ++i)
    for (auto [j, shape] : llvm::enumerate(columns.vectors)) {
      Value start = e.loadLanes(*views[Init], column(rowPoints[i].offsets[Init], Init, j),
                                strideOf(Init), shape, rowPoints[i].memory[Init]);
      start = e.broadcast(e.lanesToFloat32(start), shape.width);
      if (isFirstBlock)
        start = arith::SelectOp::create(b, isFirstBlock, start,
                                        e.loadLanes(*views[C], column(rowPoints[i].offsets[C], C, j), 1, shape,
                                                    rowPoints[i].memory[C]));
      carried.push_back(start);
    }
  // Only the offsets of a and b move with k.
  SmallVector<Value> aRows;
  for (const Point &rowPoint : rowPoints)
    aRows.push_back(rowPoint.offsets[A]);
  Point moving = point;
  moving.offsets[A] = e.index(0);
  SmallVector<Value> sums =
      emitSumLoops(product.k, moving, carried, [&](Point at, ValueRange values) {
        SmallVector<Value> next = llvm::to_vector_of<Value>(values);
        SmallVector<Value> right;
        for (auto [j, shape] : llvm::enumerate(columns.vectors)) {
          int64_t first = int64_t(j) * width;
          right.push_back(toAccumulator(loadRight(at, e.addIndex(at.offsets[B], first), first, vectorLoop, shape), product.rhsUnsigned));
        }
        askAhead(at, rows, columns);
        for (int64_t i = 0; i < rows; ++i) {
          Value left = toAccumulator(loadLeft(at, e.addIndex(aRows[i], at.offsets[A]), i, -1, {}, rowPoints[i].memory[A]),
                                     product.lhsUnsigned);
          for (auto [j, shape] : llvm::enumerate(columns.vectors)) {
            Value &sum = next[i * columns.vectors.size() + j];
            sum = multiplyAdd(e.broadcast(left, shape.width), right[j], sum);
          }
        }
        return next;
      });
  for (int64_t i = 0; i < rows; ++i)
    for (auto [j, shape] : llvm::enumerate(columns.vectors))
      e.storeLanes(*views[C], column(rowPoints[i].offsets[C], C, j), 1, shape,
                   sums[i * columns.vectors.size() + j], rowPoints[i].memory[C]);
}

/// Copies the columns of b next to each other, where the call has rows enough, and makes `point`
/// read the copy.
void ContractionEmitter::packPanel(Point &point, const Columns &columns) {
  const View &view = *views[B];
  int64_t step = columns.vectors.size() * width;
  SmallVector<int64_t> to(nest.sizes.size(), 0);
  for (int loop : llvm::reverse(product.k)) {
    to[loop] = step;
    step *= nest.sizes[loop];
  }
  Value memory = e.flat(product.panel);
  {
    OpBuilder::InsertionGuard guard(b);
    if (packs)
      b.setInsertionPointToStart(scf::IfOp::create(b, packs, /*withElseRegion=*/false).thenBlock());
    Value at = e.index(0), from = point.offsets[B];
    SmallVector<Value> places(point.places[B]);
    for (int loop : product.k) {
      scf::ForOp created = e.keptLoop(e.index(0), e.index(nest.sizes[loop]), 1);
      e.moveAlongBorders(view, loop, created.getInductionVar(), places);
      from = e.addIndex(from, e.mulIndex(created.getInductionVar(), view.strides[loop]));
      at = e.addIndex(at, e.mulIndex(created.getInductionVar(), to[loop]));
    }
    View panel;
    panel.buffer = product.panel;
    for (auto [j, shape] : llvm::enumerate(columns.vectors)) {
      int64_t first = int64_t(j) * width, stride = view.strides[vectorLoop];
      Value inside = e.isInside(view, places, vectorLoop, first, shape);
      Value loaded = e.loadLanesInside(view, e.addIndex(from, first * stride), stride, shape, inside);
      if (e.graph.buffers[product.panel].elementType != e.graph.buffers[view.buffer].elementType)
        loaded = e.lanesToFloat32(loaded);
      e.storeLanes(panel, e.addIndex(at, first), 1, shape, loaded, memory);
    }
  }
  auto choose = [&](Value packed, Value plain) {
    return packs ? arith::SelectOp::create(b, packs, packed, plain).getResult() : packed;
  };
  point.offsets[B] = choose(e.index(0), point.offsets[B]);
  point.memory[B] = choose(memory, e.flat(view.buffer));
  panelSteps.assign(nest.sizes.size(), Value());
  for (int loop : product.k)
    panelSteps[loop] = choose(e.index(to[loop]), e.index(view.strides[loop]));
}

//===----------------------------------------------------------------------===//
// Vectors along k
//===----------------------------------------------------------------------===//

/// The sums of the lanes of each vector, as one vector.
Value ContractionEmitter::foldAll(SmallVector<Value> vectors) {
  int64_t count = vectors.size(), lanes = cast<VectorType>(vectors[0].getType()).getDimSize(0);
  auto pairs = [&](Value x, Value y, int64_t size) {
    SmallVector<int64_t> even, odd;
    for (int64_t i = 0; i < size; i += 2) {
      even.push_back(i);
      odd.push_back(i + 1);
    }
    return addUp(vector::ShuffleOp::create(b, x, y, even), vector::ShuffleOp::create(b, x, y, odd));
  };
  while (vectors.size() > 1) {
    SmallVector<Value> half;
    for (unsigned i = 0; i < vectors.size(); i += 2)
      half.push_back(pairs(vectors[i], vectors[i + 1], 2 * lanes));
    vectors = half;
  }
  for (; lanes > count; lanes /= 2)
    vectors[0] = pairs(vectors[0], vectors[0], lanes);
  return vectors[0];
}

void ContractionEmitter::emitFoldedTile(Point point, int64_t rows, int64_t columns) {
  // Padded to a power of two: the fold halves.
  int64_t padded = llvm::PowerOf2Ceil(columns);
  int kLoop = product.k.back();
  int64_t size = nest.sizes[kLoop];
  Value zero = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getZeroAttr(VectorType::get(width, accumulated))));
  SmallVector<Value> carried(rows * columns, zero), bColumns;
  SmallVector<Point> rowPoints{point};
  for (int64_t i = 1; i < rows; ++i)
    rowPoints.push_back(nextRow(rowPoints.back()));
  for (int64_t j = 0; j < columns; ++j)
    bColumns.push_back(e.addIndex(point.offsets[B], j * views[B]->strides[vectorLoop]));
  Point moving = point;
  moving.offsets[A] = moving.offsets[B] = e.index(0);

  auto step = [&](Point at, LaneShape shape, SmallVector<Value> sums) {
    SmallVector<Value> right;
    for (auto [j, column] : llvm::enumerate(bColumns))
      right.push_back(toAccumulator(loadRight(at, e.addIndex(column, at.offsets[B]), int64_t(j), kLoop, shape), product.rhsUnsigned));
    for (int64_t i = 0; i < rows; ++i) {
      Value left = toAccumulator(loadLeft(at, e.addIndex(rowPoints[i].offsets[A], at.offsets[A]), i, kLoop, shape, rowPoints[i].memory[A]),
                                 product.lhsUnsigned);
      for (int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] = multiplyAdd(left, right[j], sums[i * columns + j]);
    }
    return sums;
  };
  ArrayRef<int> outer = ArrayRef<int>(product.k).drop_back();
  SmallVector<Value> sums =
      emitSumLoops(outer, moving, carried, [&](Point at, ValueRange values) -> SmallVector<Value> {
        int64_t end = size / width * width;
        SmallVector<Value> next;
        {
          OpBuilder::InsertionGuard guard(b);
          scf::ForOp created = e.keptLoop(e.index(0), e.index(end), width, values);
          next = step(advanced(at, kLoop, created.getInductionVar()), {width, width},
                      llvm::to_vector_of<Value>(created.getRegionIterArgs()));
          scf::YieldOp::create(b, next);
          next = llvm::to_vector_of<Value>(created.getResults());
        }
        if (end < size)
          next = step(advanced(at, kLoop, e.index(end)), {width, size - end}, next);
        return next;
      });

  for (int64_t i = 0; i < rows; ++i) {
    SmallVector<Value> row(sums.begin() + i * columns, sums.begin() + (i + 1) * columns);
    row.resize(padded, zero);
    Value folded = foldAll(row);
    LaneShape shape{padded, columns};
    int64_t stride = views[Init]->isSplat() ? 0 : views[Init]->strides[vectorLoop];
    const Point &at = rowPoints[i];
    Value start = e.lanesToFloat32(
        e.loadLanes(*views[Init], at.offsets[Init], stride, shape, at.memory[Init]));
    if (padded == 1)
      folded = vector::ExtractOp::create(b, folded, 0);
    e.storeLanes(*views[C], at.offsets[C], 1, shape, addUp(e.broadcast(start, padded), folded),
                 at.memory[C]);
  }
}

//===----------------------------------------------------------------------===//
// Loops around the tiles
//===----------------------------------------------------------------------===//

void ContractionEmitter::emitContraction(ArrayRef<Value> offsets, const BorderPlaces &places) {
  Point point;
  point.places = places;
  llvm::copy(offsets, point.offsets);
  const RegisterTile &size = product.tile;
  SmallVector<int> otherM(product.m);
  llvm::erase(otherM, tileLoop);
  bool rowsAround = product.rowsAreM && tileLoop >= 0;
  ArrayRef<int> otherN = ArrayRef<int>(product.n).drop_back();
  int64_t n = nest.sizes[vectorLoop];

  /// All rows, with the columns that start at a point.
  auto forAllRows = [&](Point start, llvm::function_ref<void(Point, int64_t)> tile) {
    OpBuilder::InsertionGuard guard(b);
    if (rowsAround) {
      scf::ForOp rowLoop = e.keptLoop(e.index(0), e.rows, 1);
      for (int i = 0; i < numOperands; ++i)
        if (!views[i]->isSplat() && e.rowStride(views[i]->buffer))
          start.offsets[i] =
              e.addIndex(start.offsets[i], arith::MulIOp::create(b, rowLoop.getInductionVar(),
                                                            e.rowStride(views[i]->buffer)));
        else if (!views[i]->isSplat() && e.isListed(views[i]->buffer))
          start.memory[i] = e.flatOfRow(views[i]->buffer, rowLoop.getInductionVar());
    }
    emitOuterLoops(otherM, start, [&](Point at) { emitRowTiles(at, tile); });
  };
  /// Tiles of `step` columns, then the remainder.
  auto forAllColumns = [&](Point start, int64_t step,
                           llvm::function_ref<void(Point, int64_t)> body) {
    int64_t end = n / step * step;
    for (auto [from, to] : cutAtBorders(0, end, step, insideColumns)) {
      firstColumn = {from, to - step};
      if (to - from > step) {
        OpBuilder::InsertionGuard guard(b);
        scf::ForOp created = e.keptLoop(e.index(from), e.index(to), step);
        body(advanced(start, vectorLoop, created.getInductionVar()), step);
      } else {
        body(from ? advanced(start, vectorLoop, e.index(from)) : start, step);
      }
    }
    firstColumn = {end, end};
    if (end < n)
      body(advanced(start, vectorLoop, e.index(end)), n - end);
  };

  SmallVector<int> around(product.batch);
  llvm::append_range(around, otherN);
  emitOuterLoops(around, point, [&](Point start) {
    if (size.alongTerms) {
      forAllColumns(start, size.columns, [&](Point at, int64_t count) {
        forAllRows(at, [&](Point tile, int64_t rows) { emitFoldedTile(tile, rows, count); });
      });
      return;
    }
    if (size.panel > 1 && product.rowsAreM && tileLoop < 0)
      packs = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, e.rows, e.index(size.panel));
    emitBlocks(start, [&](Point block) {
      forAllColumns(block, size.columns, [&](Point at, int64_t count) {
        panelSteps.clear();
        Columns columns;
        for (int64_t left = count; left > 0; left -= width) {
          int64_t valid = std::min(left, width);
          columns.vectors.push_back({int64_t(llvm::PowerOf2Ceil(valid)), valid});
        }
        if (product.panel >= 0)
          packPanel(at, columns);
        forAllRows(at, [&](Point tile, int64_t rows) { emitRegisterTile(tile, rows, columns); });
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// One function for equal products
//===----------------------------------------------------------------------===//

/// All that the code of a product depends on.
static std::string productKey(const Nest &nest, ArrayRef<const View *> views, const Emitter &e,
                            ArrayRef<Value> strides, ArrayRef<Value> lists) {
  std::string key;
  llvm::raw_string_ostream os(key);
  const Contraction &product = *nest.contraction;
  const RegisterTile &tile = product.tile;
  llvm::interleave(nest.sizes, os, "x");
  for (ArrayRef<int> loops : {ArrayRef<int>(product.batch), ArrayRef<int>(product.m),
                              ArrayRef<int>(product.n), ArrayRef<int>(product.k)}) {
    os << ';';
    llvm::interleave(loops, os, ",");
  }
  os << (product.rowsAreM ? " rows" : "") << (tile.alongTerms ? " along-k" : "") << " tile " << product.tileLoop << ' ' << tile.rows << 'x'
     << tile.columns << 'x' << tile.vector << " rests ";
  llvm::interleave(tile.rests, os, ",");
  os << " join " << tile.join << " panel " << tile.panel << " block " << tile.block << " ahead " << tile.ahead << " line " << tile.line << " from "
     << tile.aheadRows << (tile.writtenOut ? " written-out" : "") << (product.lhsUnsigned ? " lhs-unsigned" : "") << (product.rhsUnsigned ? " rhs-unsigned" : "");
  for (auto [i, view] : llvm::enumerate(views)) {
    os << "; ";
    if (view->isSplat()) {
      os << view->splat;
      continue;
    }
    os << e.graph.buffers[view->buffer].elementType << ' ';
    llvm::interleave(view->strides, os, ",");
    for (const Border &border : view->borders) {
      os << " border " << border.offset << " of " << border.size << ' ' << view->outside << " by ";
      llvm::interleave(border.strides, os, ",");
      os << (border.columnStride ? " columns " + std::to_string(border.columnStride) : "");
    }
    os << (lists[i] ? " listed" : strides[i] ? " by row" : "");
    // Operands in one buffer share its memory in the code.
    for (auto [j, other] : llvm::enumerate(views.take_front(i)))
      if (other->buffer == view->buffer)
        os << " with " << j;
  }
  return key;
}

/// The function of a product, with an empty body, before the one that calls it.
static func::FuncOp declareProduct(ImplicitLocOpBuilder &b, func::FuncOp around, StringRef name, StringRef key, ValueRange operands) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(around);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(operands.getTypes(), {}));
  function.setPrivate();
  function->setAttr("ft.product", b.getStringAttr(key));
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", b.getArrayAttr({b.getStringAttr("noinline")}));
  function.addEntryBlock();
  return function;
}

/// Whether the first column of a call moves a read along a border.
static bool isMovedByColumns(const Emitter &e, const Border &border) { return e.column && border.columnStride != 0; }

/// What its function is given of the borders of a product's factors: indices along them, which are constants else, and where
/// memory begins.
static void addBorderOperands(Emitter &e, ArrayRef<const View *> views, const BorderPlaces &places, SmallVectorImpl<Value> &operands) {
  for (auto [view, ofOne] : llvm::zip(views, places)) {
    for (auto [border, place] : llvm::zip_equal(view->borders, ofOne))
      if (isMovedByColumns(e, border))
        operands.push_back(place);
    if (view->hasBorders())
      operands.push_back(e.addIndex(e.rowOffset(view->buffer), e.index(0)));
  }
}

/// The body of a product's function, whose arguments stand for the memory of its operands.
void Emitter::emitProductBody(Block *entry, const Nest &nest, ProductOperands of) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(entry);
  ContractionEmitter emitter(*this, nest);
  ArrayRef<const View *> views(emitter.views);
  auto outerMemories = memories;
  auto outerOffsets = std::move(rowOffsets);
  auto outerFlats = std::move(rowFlats);
  rowOffsets.clear();
  rowFlats.clear();
  Value outerRow = std::exchange(row, Value()), outerRows = std::exchange(rows, entry->getArgument(0));
  unsigned next = 1;
  for (auto [i, view] : llvm::enumerate(views)) {
    if (view->isSplat())
      continue;
    (of.lists[i] ? memories[view->buffer].list : memories[view->buffer].flat) = entry->getArgument(next++);
    if (!of.lists[i])
      memories[view->buffer].list = Value();
    of.offsets[i] = entry->getArgument(next++);
    memories[view->buffer].rowStride = of.strides[i] ? entry->getArgument(next++) : Value();
  }
  if (int panel = nest.contraction->panel; panel >= 0)
    memories[panel].flat = entry->getArgument(next++);
  BorderPlaces places;
  for (auto [view, ofOne] : llvm::zip(views, places)) {
    for (const Border &border : view->borders)
      ofOne.push_back(isMovedByColumns(*this, border) ? Value(entry->getArgument(next++)) : index(border.offset));
    if (view->hasBorders())
      memories[view->buffer].base = entry->getArgument(next++);
  }
  for (auto [view, offset] : llvm::zip_equal(views, of.offsets))
    if (view->isSplat())
      offset = index(0);
  emitter.emitContraction(of.offsets, places);
  func::ReturnOp::create(b);
  memories = std::move(outerMemories);
  rowOffsets = std::move(outerOffsets);
  rowFlats = std::move(outerFlats);
  row = outerRow;
  rows = outerRows;
}

void Emitter::emitContraction(const Nest &nest) {
  ContractionEmitter emitter(*this, nest);
  ArrayRef<const View *> views(emitter.views);
  ProductOperands of;
  for (const View *view : views) {
    of.offsets.push_back(beginOfView(*view));
    of.lists.push_back(view->isSplat() || !nest.contraction->rowsAreM ? Value() : memories[view->buffer].list);
    of.strides.push_back(view->isSplat() ? Value() : rowStride(view->buffer));
  }
  // A row loop around would be part of the function: only rows that are m are.
  if (!nest.contraction->rowsAreM)
    of.strides.assign(views.size(), Value());
  BorderPlaces places;
  for (auto operand : {ContractionEmitter::A, ContractionEmitter::B})
    places[operand] = beginOfBorders(*views[operand]);
  if (!nest.contraction->tile.outlined)
    return emitter.emitContraction(of.offsets, places);

  SmallVector<Value> operands{rows};
  for (auto [view, offset, stride, list] : llvm::zip_equal(views, of.offsets, of.strides, of.lists)) {
    if (view->isSplat())
      continue;
    operands.append({list ? list : flat(view->buffer), offset});
    if (stride)
      operands.push_back(stride);
  }
  if (int panel = nest.contraction->panel; panel >= 0)
    operands.push_back(flat(panel));
  addBorderOperands(*this, views, places, operands);
  std::string key = productKey(nest, views, *this, of.strides, of.lists);
  auto around = cast<func::FuncOp>(rows.getParentBlock()->getParentOp());
  SymbolTable symbols(around->getParentOp());
  std::string name = "ft_product_" + llvm::utohexstr(llvm::xxh3_64bits(key), /*LowerCase=*/true);
  auto function = symbols.lookup<func::FuncOp>(name);
  if (function && function->getAttrOfType<StringAttr>("ft.product").getValue() != key)
    return emitter.emitContraction(of.offsets, places);
  if (!function) {
    function = declareProduct(b, around, name, key, operands);
    emitProductBody(&function.front(), nest, std::move(of));
  }
  func::CallOp::create(b, function, operands);
}
