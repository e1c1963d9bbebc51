//===- OpenSizes.h - tensors whose sizes a call binds ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_CONVERSION_LINALGTOETDG_OPENSIZES_H
#define LIB_FT_CONVERSION_LINALGTOETDG_OPENSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {

/// Whether an argument or result has a dimension of open size.
bool hasOpenSizes(func::FuncOp function);

/// Makes a graph of a function whose open sizes are rows of each operation: they become lengths, and
/// each operation a block over its rows. The graph stands in front of the function, which stays.
/// Fails with an error at the operation whose open sizes are no rows, or differ in name. With `asTheyLie`, what transposes an
/// open size that is no row, or cuts beside it, is a map of the reads after it.
LogicalResult convertOpenSizes(func::FuncOp function, bool asTheyLie);

/// Gives the values of a function's body another order of dimensions, those of open size first (OpenSizesFirst.cpp).
/// Arguments and results stay; where one of them has it otherwise, it is transposed.
void moveOpenSizesFirst(func::FuncOp function);

} // namespace mlir::ft

#endif // LIB_FT_CONVERSION_LINALGTOETDG_OPENSIZES_H
