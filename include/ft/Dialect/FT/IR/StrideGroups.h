//===- StrideGroups.h - dimensions of callers that are one ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_FT_IR_STRIDEGROUPS_H
#define FT_DIALECT_FT_IR_STRIDEGROUPS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::ft {

/// Whether `[array<i64: 0>, array<i64: 1, 2>]` lists the caller's dimensions that each of `count` dimensions with strides
/// stands for, in order. Two of the same are one of the caller's that was cut.
bool areStrideGroups(ArrayAttr groups, int64_t count);

} // namespace mlir::ft

#endif // FT_DIALECT_FT_IR_STRIDEGROUPS_H
