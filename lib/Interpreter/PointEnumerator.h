//===- PointEnumerator.h - The integer points of a set --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation of affine expressions and sets at a point, and enumeration of the
// points of a set whose symbols have values.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_POINTENUMERATOR_H
#define LIB_FT_INTERPRETER_POINTENUMERATOR_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::ft::interp {

/// The value of `expr`; a division by what is not positive gives 0.
int64_t evaluateExpr(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols);

/// Whether `set` holds at a point.
bool containsPoint(IntegerSet set, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols);

/// Enumerates a set in lexicographic order, its first dimensions given.
class PointEnumerator {
public:
  PointEnumerator() = default;
  PointEnumerator(IntegerSet set, ArrayRef<int64_t> symbols);

  /// Calls `fn` for each point of the set that begins with `prefix`; stops at a
  /// failure. Returns failure with `unboundedDim` set if a dimension has no
  /// bounds.
  LogicalResult forEach(ArrayRef<int64_t> prefix,
                        llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> fn);

  std::optional<unsigned> unboundedDim;

private:
  /// A row a·x + c >= 0 over the dimensions up to the one it bounds.
  using Row = SmallVector<int64_t, 8>;

  LogicalResult walk(SmallVectorImpl<int64_t> &point,
                     llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> fn);

  IntegerSet set;
  SmallVector<int64_t> symbols;
  /// For each dimension, the constraints on it once the later ones are
  /// projected out (as rationals, so the set itself is asked at each point).
  SmallVector<SmallVector<Row>> bounds;
  /// A constraint without dimensions fails: there are no points.
  bool isEmpty = false;
};

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_POINTENUMERATOR_H
