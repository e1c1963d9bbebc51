//===- RowRuns.h - leaves whose rows run in stretches -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where pieces of a read change along the rows of a leaf, rows between two
// changes can still be computed together: a window's border and its inside.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_LAYOUTS_ROWRUNS_H
#define FT_SCHEDULE_GPU_LAYOUTS_ROWRUNS_H

#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

namespace mlir::ft::schedule {

/// Constraints of a leaf's pieces along its rows: each changes its truth where an affine expression, which grows by
/// `step` with each row, passes zero.
struct RowChange {
  AffineExpr value;
  int64_t step = 0;
  bool isEquality = false;
};

/// Where pieces change along `dim`; nothing where rows do not step evenly between such changes, or are uniform.
std::optional<SmallVector<RowChange>> findRowRuns(BlockOp leaf, unsigned dim,
                                                  llvm::function_ref<int64_t(Value, unsigned)> planesOf);

/// Whether layouts of the leaf compute a nest as a product of matrices: then it pays to take rows in runs.
bool hasProductLayout(BlockOp leaf);

/// Whether an operand that is one value at some iterations can be read from memory that holds it everywhere.
inline bool fitsAsConstant(RankedTensorType type) {
  constexpr int64_t mostBytes = 65536; // what a module can hold beside its code
  return type.getNumElements() * elementBytes(type.getElementType()) <= mostBytes;
}

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_LAYOUTS_ROWRUNS_H
