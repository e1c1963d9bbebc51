//===- EmitContraction.cpp - Register-tiled products of matrices ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops around register tiles, and the tiles whose vectors run along columns: some
// rows by some vectors of columns stay in registers while the reduced loops run, each
// step one vector of b per column vector and one broadcast element of a per row. How
// rows are cut into tiles, and all other sizes, says the tile (RegisterTiles.cpp):
// nothing is decided here.
//
//===----------------------------------------------------------------------===//
#include "ContractionEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

ContractionEmitter::ContractionEmitter(Emitter &emitter, const Nest &nest)
    : e(emitter), b(emitter.b), nest(nest), product(*nest.contraction) {
  const NestMember &member = nest.members.front();
  views[A] = &member.reads[product.lhs];
  views[B] = &member.reads[product.rhs];
  views[C] = &member.writes.front();
  views[Init] = &member.inits.front();
  accumulated = accumulatedType(member, e.graph.buffers[views[C]->buffer].elementType);
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
  const ElementView &view = *views[operand];
  if (view.isSplat() || isListed(operand))
    return {};
  if (product.rowsAreM && tileLoop < 0)
    return e.rowStride(view.buffer);
  if (tileLoop < 0 || view.strides[tileLoop] == 0)
    return {};
  return e.index(view.strides[tileLoop]);
}

ContractionEmitter::Point ContractionEmitter::pointAtRow(const Point &point, Value row) const {
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
        tile(pointAtRow(point, created.getInductionVar()), rows);
      } else {
        tile(from ? pointAtRow(point, e.index(from)) : point, rows);
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
      tile(pointAtRow(point, created.getInductionVar()), rows);
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

Value ContractionEmitter::multiplyAddLanes(Value x, Value y, Value sum) {
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

/// Asks for columns of b that are read some terms later. (What lies after the last one is asked for in vain.)
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
    const ElementView &view = *views[operand];
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
            sum = multiplyAddLanes(e.broadcast(left, shape.width), right[j], sum);
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
  const ElementView &view = *views[B];
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
    ElementView panel;
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
