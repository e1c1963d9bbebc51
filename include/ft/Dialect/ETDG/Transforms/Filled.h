//===- Filled.h - tensors of one number -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_FILLED_H
#define FT_DIALECT_ETDG_TRANSFORMS_FILLED_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// The one value of all elements of a tensor, null where they differ or are computed. Elements that nothing defines may have any: they are zeros.
/// (A fill is a statement of its own, which blocks of its readers take in when they merge.)
TypedAttr getFilled(Value tensor);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_FILLED_H
