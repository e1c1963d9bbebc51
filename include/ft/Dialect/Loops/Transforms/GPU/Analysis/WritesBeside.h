//===- WritesBeside.h - writes between grid barriers ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_WRITESBESIDE_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_WRITESBESIDE_H

#include "ft/Dialect/Loops/IR/Loops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::togpu {

/// Whether what a leaf reads of an argument of its kernel may be written with no barrier of the grid in between. A loader that runs ahead of the computing
/// threads from one grid barrier to the next would not see it.
bool isWrittenBeside(BlockArgument memory, loops::LeafOp leaf, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_WRITESBESIDE_H
