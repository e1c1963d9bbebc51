//===- FoldedTiles.cpp - Products with vectors along terms ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where b is contiguous along k and too few rows use it to pay for a transposition,
// vectors go along k and are folded at the end.
//
//===----------------------------------------------------------------------===//
#include "ContractionEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

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
        sums[i * columns + j] = multiplyAddLanes(left, right[j], sums[i * columns + j]);
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
