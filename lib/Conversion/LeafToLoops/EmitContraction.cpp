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

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

namespace {

class ContractionEmitter {
public:
  ContractionEmitter(Emitter &emitter, const Nest &nest);
  enum Operand { A, B, C, Init, numOperands };
  const View *views[numOperands];
  /// Emits the product; the operands begin at `offsets`.
  void run(ArrayRef<Value> offsets);

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

  /// Element offsets of the operands.
  struct Point {
    Value offsets[numOperands];
    Value memory[numOperands]; // of this row, where rows are listed
    Value row;
  };
  /// Columns of a tile.
  struct Columns {
    SmallVector<LaneShape> vectors;
  };

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
}

ContractionEmitter::Point ContractionEmitter::advanced(const Point &point, int loop,
                                                       Value by) const {
  Point result = point;
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
  bool alwaysPacks = product.panel >= 0 && !packs;
  if (product.tile.block == 0 || alwaysPacks)
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

void ContractionEmitter::emitKnownRows(Point point, int64_t size, llvm::function_ref<void(Point, int64_t)> tile) {
  int64_t begin = 0;
  for (int64_t rows : rowsOfTiles(product.tile)) {
    int64_t end = begin + (size - begin) / rows * rows;
    if (end - begin > rows) {
      OpBuilder::InsertionGuard guard(b);
      scf::ForOp created = e.keptLoop(e.index(begin), e.index(end), rows);
      tile(atRow(point, created.getInductionVar()), rows);
    } else if (end > begin) {
      tile(begin ? atRow(point, e.index(begin)) : point, rows);
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
  Value steps = blockSteps ? blockSteps : e.index(nest.sizes[loops.front()]);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp created = e.keptLoop(e.index(0), steps, 1, carried);
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
        for (auto [j, shape] : llvm::enumerate(columns.vectors))
          right.push_back(
              toAccumulator(e.loadLanes(*views[B], column(at.offsets[B], B, j), 1, shape, at.memory[B]),
                     product.rhsUnsigned));
        askAhead(at, rows, columns);
        for (int64_t i = 0; i < rows; ++i) {
          Value left = toAccumulator(e.loadLanes(*views[A], e.addIndex(aRows[i], at.offsets[A]), 0, {},
                                          rowPoints[i].memory[A]),
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
    for (int loop : product.k) {
      scf::ForOp created = e.keptLoop(e.index(0), e.index(nest.sizes[loop]), 1);
      from = e.addIndex(from, e.mulIndex(created.getInductionVar(), view.strides[loop]));
      at = e.addIndex(at, e.mulIndex(created.getInductionVar(), to[loop]));
    }
    View panel;
    panel.buffer = product.panel;
    for (auto [j, shape] : llvm::enumerate(columns.vectors))
      e.storeLanes(panel, e.addIndex(at, j * width), 1, shape, e.loadLanes(view, e.addIndex(from, j * width), 1, shape), memory);
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
    for (Value column : bColumns)
      right.push_back(
          toAccumulator(e.loadLanes(*views[B], e.addIndex(column, at.offsets[B]), 1, shape, at.memory[B]),
                 product.rhsUnsigned));
    for (int64_t i = 0; i < rows; ++i) {
      Value left = toAccumulator(e.loadLanes(*views[A], e.addIndex(rowPoints[i].offsets[A], at.offsets[A]), 1,
                                      shape, rowPoints[i].memory[A]),
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

void ContractionEmitter::run(ArrayRef<Value> offsets) {
  Point point;
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
    if (end > step) {
      OpBuilder::InsertionGuard guard(b);
      scf::ForOp created = e.keptLoop(e.index(0), e.index(end), step);
      body(advanced(start, vectorLoop, created.getInductionVar()), step);
    } else if (end == step) {
      body(start, step);
    }
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
static std::string describe(const Nest &nest, ArrayRef<const View *> views, const Emitter &e,
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
     << tile.aheadRows << (product.lhsUnsigned ? " lhs-unsigned" : "") << (product.rhsUnsigned ? " rhs-unsigned" : "");
  for (auto [i, view] : llvm::enumerate(views)) {
    os << "; ";
    if (view->isSplat()) {
      os << view->splat;
      continue;
    }
    os << e.graph.buffers[view->buffer].elementType << ' ';
    llvm::interleave(view->strides, os, ",");
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

void Emitter::emitContraction(const Nest &nest) {
  ContractionEmitter emitter(*this, nest);
  ArrayRef<const View *> views(emitter.views);
  SmallVector<Value> offsets, strides, lists;
  for (const View *view : views) {
    offsets.push_back(beginOfView(*view));
    lists.push_back(view->isSplat() || !nest.contraction->rowsAreM ? Value()
                                                                   : memories[view->buffer].list);
    strides.push_back(view->isSplat() ? Value() : rowStride(view->buffer));
  }
  // A row loop around would be part of the function: only rows that are m are.
  if (!nest.contraction->rowsAreM)
    strides.assign(views.size(), Value());
  if (!nest.contraction->tile.outlined)
    return emitter.run(offsets);

  SmallVector<Value> operands{rows};
  for (auto [view, offset, stride, list] : llvm::zip_equal(views, offsets, strides, lists)) {
    if (view->isSplat())
      continue;
    operands.append({list ? list : flat(view->buffer), offset});
    if (stride)
      operands.push_back(stride);
  }
  int panel = nest.contraction->panel;
  if (panel >= 0)
    operands.push_back(flat(panel));
  std::string key = describe(nest, views, *this, strides, lists);
  auto around = cast<func::FuncOp>(rows.getParentBlock()->getParentOp());
  SymbolTable symbols(around->getParentOp());
  std::string name = "ft_product_" + llvm::utohexstr(llvm::xxh3_64bits(key), /*LowerCase=*/true);
  auto function = symbols.lookup<func::FuncOp>(name);
  if (function && function->getAttrOfType<StringAttr>("ft.product").getValue() != key)
    return emitter.run(offsets);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    function = declareProduct(b, around, name, key, operands);
    Block *entry = &function.front();
    b.setInsertionPointToEnd(entry);

    // Inside, the arguments stand for the memory.
    auto outerMemories = memories;
    auto outerOffsets = std::move(rowOffsets);
    auto outerFlats = std::move(rowFlats);
    rowOffsets.clear();
    rowFlats.clear();
    Value outerRow = std::exchange(row, Value());
    rows = entry->getArgument(0);
    unsigned next = 1;
    for (auto [i, view] : llvm::enumerate(views)) {
      if (view->isSplat())
        continue;
      (lists[i] ? memories[view->buffer].list : memories[view->buffer].flat) =
          entry->getArgument(next++);
      if (!lists[i])
        memories[view->buffer].list = Value();
      offsets[i] = entry->getArgument(next++);
      memories[view->buffer].rowStride = strides[i] ? entry->getArgument(next++) : Value();
    }
    if (panel >= 0)
      memories[panel].flat = entry->getArgument(next);
    for (auto [view, offset] : llvm::zip_equal(views, offsets))
      if (view->isSplat())
        offset = index(0);
    emitter.run(offsets);
    func::ReturnOp::create(b);
    memories = std::move(outerMemories);
    rowOffsets = std::move(outerOffsets);
    rowFlats = std::move(outerFlats);
    row = outerRow;
    rows = operands.front();
  }
  func::CallOp::create(b, function, operands);
}
