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
#include "ft/Runtime/Bundle/LaunchPlan.h"
#include "ft/Schedule/Options.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft {

/// How a graph is lowered; what its schedules leave open is planned by the same options.
struct GpuOptions : GpuScheduleOptions {
  /// After so many looks at a barrier that does not open the kernel leaves an error record and
  /// traps; 0: it waits for ever. For tests.
  int64_t barrierLimit = 0;
  /// How `etdg-partition` cuts a graph into kernels: `boundary`, `souffle` or `cost`; empty: not at all, each nest is a kernel, and
  /// short ones are joined when schedules are written.
  std::string partition;
};

struct GpuModule {
  /// LLVM functions whose bodies are arith, scf, llvm and nvvm.
  OwningOpRef<ModuleOp> module;
  /// With one plan, without code sections.
  ::ft::rt::Entry entry;
};

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
