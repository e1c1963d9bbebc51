//===- MlirObjects.h - between MLIR's C structs and its C++ -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CAPI_MLIROBJECTS_H
#define FT_LIB_CAPI_MLIROBJECTS_H

#include "mlir/CAPI/AffineExpr.h"
#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/IntegerSet.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace mlir::ft::capi {

/// Attributes of one class, or nothing where one of them is null or of another class.
template <class T>
std::optional<SmallVector<T>> unwrapAll(intptr_t count, const MlirAttribute *attributes) {
  SmallVector<T> result;
  if (count < 0 || (count > 0 && !attributes))
    return std::nullopt;
  for (intptr_t i = 0; i < count; ++i) {
    auto one = dyn_cast_or_null<T>(unwrap(attributes[i]));
    if (!one)
      return std::nullopt;
    result.push_back(one);
  }
  return result;
}

template <class T>
bool isAnA(MlirAttribute attribute) {
  return isa_and_nonnull<T>(unwrap(attribute));
}

template <class T>
bool isAnA(MlirType type) {
  return isa_and_nonnull<T>(unwrap(type));
}

/// For a null object whose reason is not the class's own verifier's to say.
inline MlirAttribute refuseAttribute(MlirLocation location, const Twine &why) {
  emitError(unwrap(location)) << why;
  return wrap(Attribute());
}
inline MlirType refuseType(MlirLocation location, const Twine &why) {
  emitError(unwrap(location)) << why;
  return wrap(Type());
}

} // namespace mlir::ft::capi

#endif // FT_LIB_CAPI_MLIROBJECTS_H
