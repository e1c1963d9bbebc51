//===- LoopsToGPU.h - loops to GPU kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a program of structured loops into a module of kernels in the LLVM and NVVM dialects, one
// for each launch, and the entry of a launch plan that runs them. Which loops the grid shares, what a
// thread block runs in order and how its threads share a leaf stands in the loops
// (`etdg-schedule-for-gpu` decides it, `convert-etdg-to-loops` carries it over).
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_LOOPSTOGPU_LOOPSTOGPU_H
#define FT_CONVERSION_LOOPSTOGPU_LOOPSTOGPU_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Runtime/LaunchPlan.h"
#include "ft/Schedule/Options.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft {

/// How a graph is lowered; what its schedules leave open is planned by the same options.
struct GpuOptions : GpuScheduleOptions {
  /// After so many looks at a barrier that does not open the kernel leaves an error record and
  /// traps; 0: it waits for ever. For tests.
  int64_t barrierLimit = 0;
};

struct GpuModule {
  /// LLVM functions whose bodies are arith, scf, llvm and nvvm.
  OwningOpRef<ModuleOp> module;
  /// With one plan, without code sections.
  ::ft::rt::Entry entry;
};

/// Writes which divisions of leaves may be products with a reciprocal.
LogicalResult chooseKernelDivisions(loops::ProgramOp program, const GpuOptions &options);

/// Writes layouts of the leaves of a program's kernels that have none, and turns lifted loops that no leaf computes at once into
/// loops of a thread block. Emits errors and fails on what kernels can't do.
LogicalResult chooseLeafLayouts(loops::ProgramOp program, const GpuOptions &options);

/// Writes how long the chunks are that thread blocks take, and how many blocks there are where the host can't count tasks.
LogicalResult chooseKernelTasks(loops::ProgramOp program, const GpuOptions &options);

/// Writes at multiples of how many bytes rows of views of leaves begin.
LogicalResult findKernelAlignment(loops::ProgramOp program, const GpuOptions &options);

/// Writes where in shared memory, in the workspace or in an output a thread block has what, of leaves that have layouts.
LogicalResult placeKernelMemory(loops::ProgramOp program, const GpuOptions &options);

/// Writes which elements of products' tiles a thread has and how operands come into shared memory, of leaves that have places.
LogicalResult chooseKernelAccesses(loops::ProgramOp program, const GpuOptions &options);

/// Writes which sums of products threads keep in registers through a loop, of leaves whose products have accesses.
LogicalResult keepKernelSums(loops::ProgramOp program, const GpuOptions &options);

/// Writes what threads compute of loop nests point by point, of leaves that have places.
LogicalResult chooseKernelPoints(loops::ProgramOp program, const GpuOptions &options);

/// Writes which leaves copy to shared memory while their threads go on, and where threads wait for that.
LogicalResult chooseKernelCopies(loops::ProgramOp program, const GpuOptions &options);

/// Writes where the threads of a block wait for each other.
LogicalResult placeKernelSyncs(loops::ProgramOp program, const GpuOptions &options);

/// Kernels of a program of structured loops, of which nothing else is known: target and machine are the options'. Program and
/// loops stay as they are. Emits errors and fails on what kernels can't do, and where one of the decisions above is left out or does
/// not fit.
FailureOr<GpuModule> lowerProgramToGpu(loops::ProgramOp program, const GpuOptions &options);

/// Takes the kernels and the launch plan of one entry, as `convert-loops-to-gpu` leaves them (a module of its own below `module`), out
/// of the module. It is an error, at the module, if there are none, or for another target. Variables of the plan's expressions are numbered
/// as in an entry with the extents `numbered`, to which the plan may go.
FailureOr<GpuModule> takeGpuModule(ModuleOp module, StringRef entry, StringRef target,
                                   const std::vector<::ft::rt::Entry::Extent> &numbered = {});

/// An error at what the passes from kernels to LLVM had no form for.
LogicalResult checkIsLLVM(Operation *kernels);

} // namespace mlir::ft

#endif // FT_CONVERSION_LOOPSTOGPU_LOOPSTOGPU_H
