//===- ETDGOrders.h - In which order the iterations of a graph run --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three orders of the etdg interpreter.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_ETDGORDERS_H
#define LIB_FT_INTERPRETER_ETDGORDERS_H

#include "ETDGMachine.h"
#include "ft/Interpreter/RunOptions.h"

namespace mlir::ft::interp {

/// Runs every iteration as soon as what it reads is written: first come, first
/// served, or drawn at random.
LogicalResult runByDependences(ETDGMachine &machine, bool random, uint64_t seed);

/// Runs the loops as they are declared.
LogicalResult runAsDeclared(ETDGMachine &machine, uint64_t seed);

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_ETDGORDERS_H
