//===- ElementMaps.h - where elements of reshapes and slices lie -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LINALGTOETDG_ELEMENTMAPS_H
#define FT_LIB_CONVERSION_LINALGTOETDG_ELEMENTMAPS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::ft {

/// Of a reshape or a slice that computes nothing: the index of its source at an index of its result. Null for other
/// operations, for slices at data, and for reshapes of open sizes.
AffineMap getElementMap(Operation *op);

} // namespace mlir::ft

#endif // FT_LIB_CONVERSION_LINALGTOETDG_ELEMENTMAPS_H
