//===- InlineCall.h - bodies in the place of calls --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_INLINECALL_H
#define FT_SUPPORT_INLINECALL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {

/// Puts the operations of a function of one block in the place of a call of it. `total` counts what was copied: an error at the call where that
/// is too much, as where functions each call the next one twice, which doubles the program at every step.
LogicalResult inlineOneBlock(func::CallOp call, func::FuncOp callee, size_t &total);

} // namespace mlir::ft

#endif // FT_SUPPORT_INLINECALL_H
