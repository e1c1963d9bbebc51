//===- MapCoordinates.h - tensors of operands, and places in them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_MAPCOORDINATES_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_MAPCOORDINATES_H

#include "KernelBuilder.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/OperandMaps.h"

namespace mlir::ft::togpu {

/// The tensor as an argument of the kernel that is being built.
Value emitTensorMap(KernelBuilder &e, const Interface &code, loops::LaunchOp launch, const OperandMap &map);

/// What coordinates are made of.
struct MapIndices {
  std::function<Value(OpFoldResult)> valueOf; // of the loops around the leaf
  SmallVector<Value> batch;                   // of the loops of products side by side
  Value row;                                  // of the leaf's call, where it is no digit of the matrix
  Value begin;                                // the first of the leaf's columns; null: it computes all
};
/// Computes what coordinates are made of here, for all that follows.
void evaluateIndices(const OperandMap &map, llvm::function_ref<Value(OpFoldResult)> valueOf);
/// Where the box begins that has this row and this column of the matrix first.
SmallVector<Value> emitCoordinates(Code &b, const OperandMap &map, const MapIndices &indices, Value row, Value column);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_MAPCOORDINATES_H
