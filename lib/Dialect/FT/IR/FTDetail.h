//===- FTDetail.h - shared by the files of the ft dialect -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that several operations and the function attributes have in common.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_FT_IR_FTDETAIL_H
#define FT_LIB_DIALECT_FT_IR_FTDETAIL_H

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/IR/VerifyNames.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ft::detail {

/// Calls `visit` with each length of a type, those of tuple members included.
void forEachLength(Type type, function_ref<void(LengthAttr)> visit);

/// Emits an error that says what bound is missing unless `nonNegative` ≥ 0 is
/// provable at `op`. `what` says what needs it, "(A1) index 4"; `otherwise` what
/// is wrong where it is a matter of constants, "is not below the length 3".
LogicalResult verifyNonNegative(Operation *op, LengthAttr nonNegative, const Twine &what,
                                const Twine &otherwise);

/// `LengthAttr` with the parser of lengths: an expression or `ragged(name)`.
ParseResult parseLength(AsmParser &parser, LengthAttr &length);
void printLength(AsmPrinter &printer, LengthAttr length);

/// The types of the carried states: the initial ones', or the elements'.
SmallVector<Type> getStateTypes(ComputeOp op);

/// Folds of constants in bodies, which upstream lacks.
void populateBodyFolds(RewritePatternSet &patterns);

/// The byte size of a value type's constant dimensions; none when it does not fit.
std::optional<int64_t> getConstantBytes(Type type);

} // namespace mlir::ft::detail

#endif // FT_LIB_DIALECT_FT_IR_FTDETAIL_H
