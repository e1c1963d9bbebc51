//===- FunctionForm.h - the form that functions must have -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_FT_IR_FUNCTIONFORM_H
#define FT_DIALECT_FT_IR_FUNCTIONFORM_H

#include "mlir/Support/LLVM.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::ft {

/// (V5) The body of a function is one block that ends in `func.return`; else an error at the
/// function, with a note at the second block or at the terminator. The code that takes a function
/// apart asks for itself, for passes run in any order. A declaration passes.
LogicalResult verifyOneBlock(func::FuncOp function);

} // namespace mlir::ft

#endif // FT_DIALECT_FT_IR_FUNCTIONFORM_H
