//===- StridedView.h - where the elements of a view lie ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view of a storage with all numbers known: offset, sizes and strides, as PyTorch
// keeps them. Element (i0, ...) is number offset + Σ ij·strides[j] of the storage.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_TSSA_IR_STRIDEDVIEW_H
#define FT_DIALECT_TSSA_IR_STRIDEDVIEW_H

#include "ft/Dialect/TSSA/IR/TSSA.h"

namespace mlir::tssa {

struct StridedView {
  int64_t offset = 0;
  SmallVector<int64_t, 4> sizes, strides;

  /// All elements of a dense row-major storage.
  static StridedView dense(ArrayRef<int64_t> sizes);

  int64_t numElements() const;
  /// Takes one step; `storage` is the storage's number of elements. Returns what is wrong, or "".
  std::string apply(StepKind kind, ArrayRef<int64_t> numbers, int64_t storage);
  /// Calls `visit` with the number in the storage of each element, in row-major order.
  void forEach(function_ref<void(int64_t)> visit) const;
  /// Whether two elements surely are one and the same (PyTorch's has_internal_overlap).
  bool repeats() const;
  /// Whether no two elements are the same, by strides that enclose each other.
  bool isInjective() const;
};

/// The strides of the same elements under other sizes, or nothing where a copy is needed.
std::optional<SmallVector<int64_t, 4>> reshapeStrides(ArrayRef<int64_t> sizes,
                                                      ArrayRef<int64_t> strides,
                                                      ArrayRef<int64_t> newSizes);

/// A slice's first index and number of elements, by PyTorch's rules.
std::pair<int64_t, int64_t> clampSlice(int64_t size, int64_t from, int64_t to, int64_t by);

} // namespace mlir::tssa

#endif // FT_DIALECT_TSSA_IR_STRIDEDVIEW_H
