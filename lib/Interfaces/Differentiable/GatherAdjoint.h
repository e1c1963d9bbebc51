//===- GatherAdjoint.h - the transpose of a gather --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERFACES_DIFFERENTIABLE_GATHERADJOINT_H
#define LIB_FT_INTERFACES_DIFFERENTIABLE_GATHERADJOINT_H

#include "Builders.h"

namespace mlir::ft::derivatives {

/// For each place of the list, the sum of the elements of `g` that were taken from it, in the order of the indices.
Value transposeGather(GatherOp op, Writer &w, Value indices, Value g);

} // namespace mlir::ft::derivatives

#endif // LIB_FT_INTERFACES_DIFFERENTIABLE_GATHERADJOINT_H
