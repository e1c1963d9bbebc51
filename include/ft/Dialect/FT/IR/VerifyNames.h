//===- VerifyNames.h - names of lengths that arguments bind -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_FT_IR_VERIFYNAMES_H
#define FT_DIALECT_FT_IR_VERIFYNAMES_H

#include "ft/Dialect/FT/IR/FT.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ft::detail {

/// Every name of `length` must be in `bound`, the names that the arguments of `function` bind.
LogicalResult verifyNames(LengthAttr length, ArrayRef<StringAttr> bound,
                          FunctionOpInterface function,
                          function_ref<InFlightDiagnostic()> emitError);

/// The same for all lengths of a type.
LogicalResult verifyTypeNames(Type type, ArrayRef<StringAttr> bound, FunctionOpInterface function,
                              function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::ft::detail

#endif // FT_DIALECT_FT_IR_VERIFYNAMES_H
