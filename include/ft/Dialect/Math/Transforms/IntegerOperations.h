//===- IntegerOperations.h - integers without exceptions --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Division, shifts and conversions from floats, defined for all operands by the table
// IntegerOperations.def: as numbers, which the interpreter and constant folding use, and as operations
// without undefined operands, which engines emit.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_MATH_TRANSFORMS_INTEGEROPERATIONS_H
#define FT_DIALECT_MATH_TRANSFORMS_INTEGEROPERATIONS_H

#include "mlir/IR/Builders.h"

namespace mlir {
class RewritePatternSet;

namespace ft {

enum class IntegerOperation : uint8_t {
#define FT_INTEGER_OP(Name, mnemonic, kind, sign) Name,
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
};

/// The operation of the table that `op` is, if it is one.
std::optional<IntegerOperation> getIntegerOperation(Operation *op);

/// The result for operands of `width` bits, in the low bits of what is returned; the bits above do not
/// matter. Operands have theirs in their low bits, too.
int64_t computeInteger(IntegerOperation operation, int64_t a, int64_t b, unsigned width);

/// The result of a conversion to `width` bits.
int64_t computeFromFloat(IntegerOperation operation, double value, unsigned width);

/// Emits `op`, which is one of the table, on `operands` (scalars, vectors or tensors of static shape) with a
/// result of the type `result`, and around it what makes it defined for all of them.
Value buildIntegerOperation(OpBuilder &b, Location loc, Operation *op, ValueRange operands, Type result);

/// Writes quotients of tensors that are rounded down as quotients and remainders towards 0. Upstream's folding of `arith.floordivsi`
/// (LLVM 22) asks of a constant's last element alone whether the result is defined, and takes the dividend for the others.
void expandFloorQuotients(Operation *root);

/// Folds what upstream leaves as it is: operations of the table on constants for which arith has no result.
void populateFoldIntegerPatterns(RewritePatternSet &patterns);

} // namespace ft
} // namespace mlir

#endif // FT_DIALECT_MATH_TRANSFORMS_INTEGEROPERATIONS_H
