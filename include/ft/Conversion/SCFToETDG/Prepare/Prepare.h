//===- Prepare.h - the form of programs that raising reads ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of the function is rewritten before anything is asked of it:
//   OpenSums.cpp     sums over open sizes become loops
//   Whiles.cpp       loops that end on data get a length and a flag
//   Inductions.cpp   counters beside the induction variables
//   Simplify.cpp     conditions that are data become selects
//   Batches.cpp      dimensions that all of a loop's statements share become loops around it
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_SCFTOETDG_PREPARE_PREPARE_H
#define FT_CONVERSION_SCFTOETDG_PREPARE_PREPARE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::raising {

/// Why a function is not raised: the first reason that is found.
struct Refusal {
  std::optional<Location> loc;
  std::string reason;

  LogicalResult refuse(Location at, const Twine &text) {
    if (!loc) {
      loc = at;
      reason = text.str();
    }
    return failure();
  }
};

/// Everything below, in its order; fails where the function has a form that no graph has.
LogicalResult prepare(func::FuncOp function, Refusal &refusal);

/// Whether an operation sums over a size that a call binds.
bool sumsOverOpenSizes(func::FuncOp function);
/// Operations on open sizes as loops over these (OpenSums.cpp).
LogicalResult loopOverOpenSizes(func::FuncOp function, Refusal &refusal);
LogicalResult boundWhiles(func::FuncOp function, Refusal &refusal);
/// Counters that are affine functions of the induction variable.
void replaceInductions(func::FuncOp function);
LogicalResult selectData(func::FuncOp function, Refusal &refusal);
/// How many loops were put around others. Which form the analysis takes is tried: it is an offer, not a need.
unsigned spreadBatches(func::FuncOp function);

/// What is added to `arg` in each iteration, where that is a constant.
std::optional<int64_t> inductionStep(Value yielded, BlockArgument arg);

/// `init + count * step` in the type of `init`.
Value advanceInduction(OpBuilder &b, Location loc, Value init, Value count, int64_t step);

} // namespace mlir::ft::raising

#endif // FT_CONVERSION_SCFTOETDG_PREPARE_PREPARE_H
