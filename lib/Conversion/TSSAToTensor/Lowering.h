//===- Lowering.h - steps of views as upstream operations -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_CONVERSION_TSSATOTENSOR_LOWERING_H
#define LIB_FT_CONVERSION_TSSATOTENSOR_LOWERING_H

#include "ft/Dialect/TSSA/IR/TSSA.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tssa {

/// `rank` loops around each other, the one over dimension d up to `endOf(d)`, which carry a value through all points: `body` makes
/// the next one of it.
Value carryOverPoints(OpBuilder &b, Location loc, int64_t rank, Value first, function_ref<Value(int64_t dim)> endOf,
                      function_ref<Value(ArrayRef<Value> point, Value carried)> body);

/// Emits upstream operations for one access or assign.
class StepLowering {
public:
  StepLowering(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// The part of `source` that the steps name.
  Value access(Value source, ArrayRef<Step> steps);
  /// `dest` with that part replaced.
  Value assign(Value value, Value dest, ArrayRef<Step> steps);
  /// `value` as a tensor of `type`, which says more or less of its sizes.
  Value castTo(Value value, Type type);

private:
  /// A box of a tensor, and the dimensions of it that go.
  struct Box {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    llvm::SmallBitVector dropped;
    unsigned taken = 0; // steps
  };
  Box leadingBox(Value source, ArrayRef<Step> steps);
  RankedTensorType typeOf(const Box &box, Type element);
  Value slice(Value source, const Box &box);
  Value insert(Value value, Value dest, const Box &box);

  Value accessOne(Value source, const Step &step);
  Value assignOne(Value value, Value dest, const Step &step);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// The same elements in row-major order under other sizes.
  Value reshape(Value value, ArrayRef<OpFoldResult> sizes);
  Value flatten(Value source);
  Value expand(Value source, const Step &step);
  Value diagonal(Value source, const Step &step);
  Value assignDiagonal(Value value, Value dest, const Step &step);
  Value unfold(Value source, const Step &step);
  Value strided(Value source, const Step &step);
  Value assignAt(Value value, Value dest,
                 function_ref<SmallVector<Value>(ValueRange point)> position);
  /// The square of a diagonal's first and second dimension.
  Value diagonalSquare(Value source, const Step &step, Box &box);

  OpFoldResult size(Value tensor, int64_t dim);
  Value value(OpFoldResult number);
  OpFoldResult constant(int64_t number) { return b.getIndexAttr(number); }
  OpFoldResult add(OpFoldResult x, OpFoldResult y);
  OpFoldResult subtract(OpFoldResult x, OpFoldResult y);
  OpFoldResult multiply(OpFoldResult x, OpFoldResult y);
  OpFoldResult divideUp(OpFoldResult x, int64_t y);
  OpFoldResult least(OpFoldResult x, OpFoldResult y);
  OpFoldResult greatest(OpFoldResult x, OpFoldResult y);
  /// An index that counts from the end where it is negative.
  OpFoldResult wrap(OpFoldResult index, OpFoldResult size);
  Value empty(ArrayRef<OpFoldResult> sizes, Type element);

  OpBuilder &b;
  Location loc;
};

/// LowerIndices.cpp: advanced indexing as gathers, and as loops that write.
Value lowerIndex(OpBuilder &b, IndexOp op);
Value lowerIndexPut(OpBuilder &b, IndexPutOp op);

} // namespace mlir::tssa

#endif // LIB_FT_CONVERSION_TSSATOTENSOR_LOWERING_H
