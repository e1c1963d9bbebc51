//===- RowCode.h - what one lane does for rows ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_TILETONVVM_ROWCODE_H
#define FT_LIB_CONVERSION_TILETONVVM_ROWCODE_H

#include "ThreadCode.h"

namespace mlir::tile {

/// One of the rows that a lane has at a time.
struct PointRow {
  Value row; // of the leaf
  SmallVector<Value> digits;
  Value valid;                 // null: always there
  SmallVector<Value> elements; // of each access the first one
  SmallVector<Value> holds;    // whether an access is inside of the row; null: it is
};

/// What `!tile.points` became.
struct Points {
  Points(PointsType type, Value thread, Value lane, Value group, std::vector<PointRow> rows)
      : type(type), thread(thread), lane(lane), group(group), rows(std::move(rows)) {}
  Points(PointsType type, ValueRange values);
  /// All of it as one list, of these types.
  SmallVector<Value> flatten() const;
  static void appendTypes(PointsType type, SmallVectorImpl<Type> &types);

  PointsType type;
  Value thread;      // of the block, i32
  Value lane, group; // of the group, of the block
  std::vector<PointRow> rows;
};

class RowCode : public ThreadCode {
public:
  using ThreadCode::ThreadCode;

  Value extend(Value value32) { return createOrFold<arith::ExtUIOp>(getI64Type(), value32); }
  /// Goes on where a condition holds; a null one always does.
  void under(Value condition);
  /// Where a row's accesses are, `shift` accesses after lane 0 (null: at it).
  void placeChunks(const Points &points, PointRow &row, Value shift);
  /// How far an access is after where memory begins.
  Value offsetOf(RowPlaceAttr place, Value begin, const PointRow &row, Value stride, Value element);
  Value atRow(Value pointer, Value offset, Type element);
  void storeAccess(StoreRowsOp op, const PointRow &row, Value element, ArrayRef<Value> values);
  /// Adjacent elements from an address on, as one access where `isOne`.
  SmallVector<Value> loadAdjacent(Value pointer, Type element, int64_t count, bool isOne);
  void storeAdjacent(ArrayRef<Value> values, Value pointer, Type element, bool isOne);
};

/// Computes operations on rows together, an access at a time.
class RowSweep {
public:
  explicit RowSweep(RowCode &b) : b(b) {}
  void bind(Value tile, ValueRange values);
  void run(ArrayRef<Operation *> ops);
  /// Loads alone: all of a row is on its way before the next one.
  void runByRow(LoadRowsOp op);
  SmallVector<SmallVector<Value>> valuesOf(ValueRange tiles) const;

private:
  /// Of a lane's rows one, and of its accesses.
  struct Access {
    size_t row;
    int64_t chunk;
  };
  void start(Operation *op);
  void emit(Operation *op, Access at);
  void load(LoadRowsOp op, Access at);
  SmallVector<Value> loadAccess(LoadRowsOp op, Access at);
  const PointRow &rowOf(Value tile, Access at) { return points.at(tile).rows[at.row]; }
  void map(MapRowsOp op, Access at);
  void accumulate(AccumulateOp op, Access at);
  void reduce(ReduceRowsOp op, Access at);
  /// What the body of an operation yields with these arguments; `element` is null where it works on a value for each row.
  SmallVector<Value> cloneBody(Block &body, ValueRange arguments, const PointRow &row, Value element = {}, int64_t lane = 0);
  /// A lane's elements of tiles there; sliced ones have one for all of the row.
  SmallVector<Value> elementsOf(ValueRange tiles, Access at, int64_t lane);
  void put(Value tile, Access at, int64_t lane, Value value);
  Value combineLanes(ReduceRowsOp op, const Points &points, ArrayRef<Value> own);
  Value exchange(ReduceRowsOp op, Value value, int64_t from);

  RowCode &b;
  /// Values of rows, row by row, then by access; and of points.
  llvm::DenseMap<Value, SmallVector<Value>> known;
  llvm::DenseMap<Value, Points> points;
};

} // namespace mlir::tile

#endif // FT_LIB_CONVERSION_TILETONVVM_ROWCODE_H
