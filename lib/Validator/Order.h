//===- Order.h - which of two iterations runs first -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the paths of two iterations, case by case.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_VALIDATOR_ORDER_H
#define LIB_FT_VALIDATOR_ORDER_H

#include "Model.h"

namespace mlir::etdg::validator {

/// One of two iterations in a conjunction: its leaf, and its keys over the
/// conjunction's variables.
struct Iteration {
  const Leaf *leaf;
  ArrayRef<Row> keys;
};

/// A way in which x does not come before y.
struct NotBefore {
  /// The iterations of which it is true.
  Conjunction set;
  /// Where they differ; null at one and the same iteration of one leaf.
  const Step *at = nullptr;
  /// They have no order, rather than the wrong one.
  bool unordered = false;
  bool isSame() const { return !at; }
};

/// Calls `visit` for each way in which x does not come before y and which is not
/// provably empty on `base`, until it returns false. Returns whether it went through.
bool forEachNotBefore(const Conjunction &base, const Iteration &x, const Iteration &y,
                      llvm::function_ref<bool(const NotBefore &)> visit);

} // namespace mlir::etdg::validator

#endif // LIB_FT_VALIDATOR_ORDER_H
