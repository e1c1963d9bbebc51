//===- ArrayType.h - which arrays hold elements of a type -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_ARRAYTYPE_H
#define FT_SUPPORT_ARRAYTYPE_H

#include "ft/Runtime/Arrays/HostArray.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace mlir::ft {

/// The array element type that holds elements of an MLIR type (signless integers, floats, index);
/// none for types that no array has.
std::optional<::ft::rt::DType> arrayTypeOf(Type elementType);

} // namespace mlir::ft

#endif // FT_SUPPORT_ARRAYTYPE_H
