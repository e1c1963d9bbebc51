//===- Plan.h - what is saved and what is computed again --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A backward function reads values of the forward one. Each is *saved*, or *computed again* by the backward function from
// others. Which, is a minimum cut for each body, from the innermost outwards: between what adjoints read and what is at
// hand. To save costs the time to move bytes, to compute again the time of its operations (Prices).
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PLAN_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PLAN_H

#include "Prices.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ft::differentiate {

/// What is saved: `All` that is not at hand, `States` of folds and scans alone, or what the prices say (`Auto`). The
/// attribute `ft.saved` of an operation overrules it.
enum class Save { All, States, Auto };

/// The values that vjps of a block's operations read. Each block that is reversed is a key.
using AdjointReads = llvm::MapVector<Block *, llvm::SetVector<Value>>;

/// Whether an operation moves data and computes none, so that it is done again wherever its result is read.
bool isDoneAgain(Operation *op);

/// The operations of a forward function that its backward function computes again.
class Plan {
public:
  Plan() = default;
  /// Remarks tell each choice and both prices.
  Plan(func::FuncOp forward, const AdjointReads &reads, Save save, const Prices &prices);
  bool isComputedAgain(Operation *op) const { return again.contains(op); }

private:
  friend class Planner;
  llvm::DenseSet<Operation *> again;
};

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PLAN_H
