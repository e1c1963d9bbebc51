//===- KernelChecks.h - which loops thread blocks can run -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of programs, with what none of them can do refused where it stands; and for each decision that passes write into the loops
// whether it fits them. What is emitted is what they say.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_KERNELCHECKS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_KERNELCHECKS_H

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

namespace mlir::ft::togpu {

/// The kernel that a launch runs, if thread blocks of the machine can: a located error where its threads, memory or an
/// operation in it are beyond them.
FailureOr<func::FuncOp> kernelOf(loops::LaunchOp launch, const Machine &machine);

/// Calls `take` for each kernel of thread blocks that a program launches, once, with its launches. Others stay.
LogicalResult eachKernel(loops::ProgramOp program, const Machine &machine,
                         llvm::function_ref<LogicalResult(func::FuncOp, ArrayRef<loops::LaunchOp>)> take);

/// Lengths of chunks, numbers of thread blocks (ChooseTasks.cpp).
LogicalResult checkTasks(func::FuncOp kernel, loops::LaunchOp launch);
/// Where rows of views are said to begin (FindAlignment.cpp).
LogicalResult checkAlignment(func::FuncOp kernel, loops::LaunchOp launch);
/// Bytes of shared memory in all, and how many thread blocks have memory of their own (PlaceMemory.cpp; of each leaf readPlaces asks).
LogicalResult checkMemory(func::FuncOp kernel, const Machine &machine);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_KERNELCHECKS_H
