//===- TensorMaps.h - tensor maps of kernels and their plan -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_TENSORMAPS_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_TENSORMAPS_H

#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ft::togpu {

/// The launch plan's form of a tensor map whose boxes are of this type; extents and strides are the caller's to give.
::ft::rt::TensorMap planOf(tile::TensorMapType type);

/// Checks that launches pass tensor maps to those arguments of kernels that say so, and of their type, and takes `tile.tensor_map`
/// off them: LLVM has no form of it. An error at the kernel where they differ.
LogicalResult takeTensorMaps(ModuleOp kernels, const ::ft::rt::Plan &plan);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_TENSORMAPS_H
