//===- WindowAdjoint.h - the transpose of windows ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERFACES_DIFFERENTIABLE_WINDOWADJOINT_H
#define LIB_FT_INTERFACES_DIFFERENTIABLE_WINDOWADJOINT_H

#include "Builders.h"

namespace mlir::ft::derivatives {

/// `list` with `step` - 1 zeros after each element.
Value spreadBy(Writer &w, Value list, int64_t step);

/// What a list of windows gives back to the list that they were taken of.
Value transposeWindow(WindowOp op, Writer &w, Value cotangent);

} // namespace mlir::ft::derivatives

#endif // LIB_FT_INTERFACES_DIFFERENTIABLE_WINDOWADJOINT_H
