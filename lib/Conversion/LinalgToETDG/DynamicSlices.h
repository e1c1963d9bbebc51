//===- DynamicSlices.h - slices whose offset is data -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_CONVERSION_LINALGTOETDG_DYNAMICSLICES_H
#define LIB_FT_CONVERSION_LINALGTOETDG_DYNAMICSLICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {

/// Writes `tensor.extract_slice` and `insert_slice` of static size at an offset that is no constant as
/// `linalg.generic`: a read becomes a gather, a write a choice between the new and the old element.
void expandDynamicSlices(func::FuncOp function);

} // namespace mlir::ft

#endif // LIB_FT_CONVERSION_LINALGTOETDG_DYNAMICSLICES_H
