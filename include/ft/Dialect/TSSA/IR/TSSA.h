//===- TSSA.h - the tssa dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, attributes and operations of the tssa dialect.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_TSSA_IR_TSSA_H
#define FT_DIALECT_TSSA_IR_TSSA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ft/Dialect/TSSA/IR/TSSADialect.h.inc"
#include "ft/Dialect/TSSA/IR/TSSAEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/TSSA/IR/TSSAAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/TSSA/IR/TSSATypes.h.inc"

#define GET_OP_CLASSES
#include "ft/Dialect/TSSA/IR/TSSAOps.h.inc"

namespace mlir::tssa {

/// The end of a `slice` that goes to the end of its dimension; prints as `_`.
constexpr int64_t toTheEnd = std::numeric_limits<int64_t>::max();

/// A step with its numbers: constants or `index` values.
struct Step {
  StepKind kind;
  SmallVector<OpFoldResult, 4> numbers;
  bool operator==(const Step &other) const {
    return kind == other.kind && numbers == other.numbers;
  }
};
using Steps = SmallVector<Step, 2>;

/// Number `i` of a step, where it is a constant.
std::optional<int64_t> constantNumber(const Step &step, unsigned i);

/// Whether an index is surely not negative: constants, induction variables, their sums.
bool isNonNegative(OpFoldResult index, unsigned depth = 0);

/// Steps as an operation holds them, and back. Values that are constants become so.
Steps getSteps(ArrayAttr steps, ValueRange numbers);
ArrayAttr packSteps(MLIRContext *context, ArrayRef<Step> steps, SmallVectorImpl<Value> &numbers);
std::string stepsToString(ArrayRef<Step> steps);

/// The sizes of a view, kDynamic where they are not known; says what is wrong with a step.
FailureOr<SmallVector<int64_t>> inferShape(ArrayRef<int64_t> shape, const Step &step,
                                           function_ref<InFlightDiagnostic()> emitError);
FailureOr<SmallVector<int64_t>> inferShape(ArrayRef<int64_t> shape, ArrayRef<Step> steps,
                                           function_ref<InFlightDiagnostic()> emitError);

/// The shape that `tssa.index` gives, kDynamic where it is not known.
FailureOr<SmallVector<int64_t>> inferIndexShape(RankedTensorType source, ArrayRef<int64_t> dims,
                                                TypeRange indices,
                                                function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::tssa

#endif // FT_DIALECT_TSSA_IR_TSSA_H
