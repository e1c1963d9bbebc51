//===- UnitInserts.h - parts that are one index thick -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LINALGTOETDG_UNITINSERTS_H
#define FT_LIB_CONVERSION_LINALGTOETDG_UNITINSERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft {

/// Says inserts of one index of a dimension into a tensor of static size element by element.
void rewriteUnitInserts(func::FuncOp function);

} // namespace mlir::ft

#endif // FT_LIB_CONVERSION_LINALGTOETDG_UNITINSERTS_H
