//===- Order.h - which of two iterations runs first -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the paths of two iterations, case by case. What another unit does comes before only where units wait in between.
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
  /// Their order is right, they are run by units of this level, and these do not wait in between.
  LoopLevel unwaited = LoopLevel::None;
  bool isSame() const { return !at; }
};

/// What two iterations lack that different units may run.
struct Unwaited {
  /// Units of which level; none: nothing is lacking.
  LoopLevel level = LoopLevel::None;
  /// Where not empty, they are run by one unit wherever these keys of both agree.
  SmallVector<unsigned> keys;
};

/// Of x and y, which differ first in step number `at`, x being the first to run: whether one unit runs both, or units wait in between.
Unwaited findUnwaited(const Leaf &x, const Leaf &y, size_t at);

/// Calls `visit` for each way in which x does not come before y and which is not
/// provably empty on `base`, until it returns false. Returns whether it went through.
bool forEachNotBefore(const Conjunction &base, const Iteration &x, const Iteration &y,
                      llvm::function_ref<bool(const NotBefore &)> visit);

} // namespace mlir::etdg::validator

#endif // LIB_FT_VALIDATOR_ORDER_H
