//===- HostValues.h - Values from and to arrays of the runtime ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nested lists of tensors as dense arrays.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_HOSTVALUES_H
#define LIB_FT_INTERPRETER_HOSTVALUES_H

#include "ft/Interpreter/RuntimeValue.h"
#include "ft/Runtime/Arrays/HostArray.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::ft::interp {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// The array element type that holds `type`, or an error.
FailureOr<::ft::rt::DType> dtypeOf(Type type, EmitError emitError);

/// "4x3": sizes for messages.
std::string sizesToString(ArrayRef<int64_t> sizes);

/// Checks dtype and shape of `array`: `lengths`, then the element's shape.
LogicalResult checkArray(const ::ft::rt::HostArray &array, ArrayRef<int64_t> lengths,
                         RankedTensorType element, EmitError emitError);

/// The `index`-th element tensor of an array.
Tensor elementAt(const ::ft::rt::HostArray &array, int64_t index, RankedTensorType element);

/// An array of the given shape, zero-filled.
FailureOr<::ft::rt::HostArray> makeArray(ArrayRef<int64_t> lengths, RankedTensorType element,
                                         EmitError emitError);
void storeElement(::ft::rt::HostArray &array, int64_t index, const Tensor &element);

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_HOSTVALUES_H
