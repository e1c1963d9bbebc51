//===- RowSpace.h - rows of operations on whole tensors ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which leading dimensions of an operation's results can be iterated from outside: at
// each of their points, a row of every result follows from rows of the operands.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_ROWSPACE_H
#define FT_DIALECT_ETDG_TRANSFORMS_ROWSPACE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::etdg {

/// The rows of one operation, and where its operands are read for one of them.
struct RowSpace {
  /// Lengths of the leading dimensions of all results that can be rows, outermost first.
  SmallVector<int64_t> lengths;
  /// For each operand: the indices of its leading dimensions over the rows (dimensions of
  /// the expressions), outermost first. What follows them is read whole.
  SmallVector<SmallVector<AffineExpr>> operands;
  /// The points of the operation's whole space, reductions included.
  int64_t points = 1;

  /// The points that are left inside with the first `rows` of `lengths` outside.
  int64_t getInnerPoints(unsigned rows) const;
  /// The leading indices of an operand that the first `rows` rows determine.
  ArrayRef<AffineExpr> getIndex(unsigned operand, unsigned rows) const;
};

/// No rows where the operation is none that goes apart, or has no points. With `open`, also of tensors of
/// open sizes, which are taken for 2 where points are counted; else these have no rows.
RowSpace getRowSpace(Operation *op, bool open = false);

/// The same for an operation that would read and write through other maps.
RowSpace getRowSpace(linalg::LinalgOp op, ArrayRef<AffineMap> maps);

/// What yields each of `types` as it is goes apart into rows, too: of a copy's values.
RowSpace getCopySpace(TypeRange types, MLIRContext *context);

/// The type that is left after `count` leading dimensions.
RankedTensorType dropLeading(RankedTensorType type, unsigned count);

/// The operation on one row: `operands` are rows as `space` says for the first `rows`,
/// and values that the operation's regions use have been mapped. Returns the rows of the
/// results: one operation's, or an operand where a row of it is what it was spread from.
SmallVector<Value> createRow(OpBuilder &builder, Operation *op, const RowSpace &space, unsigned rows,
                     ValueRange operands, IRMapping &mapping);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_ROWSPACE_H
