//===- Decisions.h - what is decided of a GPU's loops -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes `loops-choose-*`, `loops-find-*`, `loops-keep-*` and `loops-place-*` as functions, in the order in which they run. Each writes one
// decision as attributes of loops, where nothing is given, and checks what is.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_DECISIONS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_DECISIONS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Schedule/Options.h"

namespace mlir::ft {

/// The GPU that a program is for: its `loops.device`, where the options `target` and `machine` of the pass are empty. Emits an error
/// and fails for a program without a device, and for an unknown target or machine.
FailureOr<GpuScheduleOptions> readDeviceOptions(loops::ProgramOp program, StringRef pass, StringRef target, StringRef machine);

/// Writes which divisions of leaves may be products with a reciprocal.
LogicalResult chooseKernelDivisions(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes layouts of the leaves of a program's kernels that have none, and turns lifted loops that no leaf computes at once into
/// loops of a thread block. Emits errors and fails on what kernels can't do.
LogicalResult chooseLeafLayouts(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes how long the chunks are that thread blocks take, and how many blocks there are where the host can't count tasks.
LogicalResult chooseKernelTasks(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes at multiples of how many bytes rows of views of leaves begin.
LogicalResult findKernelAlignment(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Decides which kernels have warp groups that fetch and warp groups that multiply (`tile.pipeline`); before memory is placed.
LogicalResult chooseKernelPipelines(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Makes lists of numbers values where chains of products take them; before memory is placed.
LogicalResult keepKernelNumbers(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes where in shared memory, in the workspace or in an output a thread block has what, of leaves that have layouts.
LogicalResult placeKernelMemory(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes which elements of products' tiles a thread has and how operands come into shared memory, of leaves that have places.
LogicalResult chooseKernelAccesses(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes which sums of products threads keep in registers through a loop, of leaves whose products have accesses.
LogicalResult keepKernelSums(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes what threads compute of loop nests point by point, of leaves that have places.
LogicalResult chooseKernelPoints(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes which leaves copy to shared memory while their threads go on, and where threads wait for that.
LogicalResult chooseKernelCopies(loops::ProgramOp program, const GpuScheduleOptions &options);

/// Writes where the threads of a block wait for each other.
LogicalResult placeKernelSyncs(loops::ProgramOp program, const GpuScheduleOptions &options);
/// Which launches overlap the one before them, and where their kernels wait (PlaceDependency.cpp).
LogicalResult placeDependencies(loops::ProgramOp program, const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_DECISIONS_H
