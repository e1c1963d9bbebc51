//===- NarrowIntegers.h - integers that no memory holds ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_CONVERSION_GRAPHWRITER_NARROWINTEGERS_H
#define LIB_FT_CONVERSION_GRAPHWRITER_NARROWINTEGERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::graphwriter {

/// Computes on integers of other widths than 1, 8, 16, 32 and 64 in the next wider of these: each value is kept with copies
/// of its sign above its own bits, to which results are cut. A function whose arguments or results have such elements stays
/// as it is, for arrays have none.
void widenNarrowIntegers(func::FuncOp function);

} // namespace mlir::ft::graphwriter

#endif // LIB_FT_CONVERSION_GRAPHWRITER_NARROWINTEGERS_H
