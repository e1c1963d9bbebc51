//===- ChooseCopies.h - copies that threads do not wait for -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_CHOOSECOPIES_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_CHOOSECOPIES_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::togpu {

/// Why threads have to wait for what a leaf's only nest copies, where they move it as it is said; empty: they need not.
std::string describeWaiting(loops::LeafOp leaf, const leaf::Nest &nest, tile::NestAttr said, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches);

/// The memory that a view of a leaf is of.
Value memoryOf(Value view);

/// Whether a launch may give a kernel the memory of an argument as that of another one, too.
bool isGivenTwice(BlockArgument memory, ArrayRef<loops::LaunchOp> launches);
/// Whether a kernel may write memory that it is given as an argument.
bool isWritten(BlockArgument memory, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches);

/// Whether a leaf says that its threads go on.
bool isAsync(loops::LeafOp leaf);

/// An error where a user may read what is on its way.
LogicalResult checkCopies(func::FuncOp kernel);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_CHOOSECOPIES_H
