//===- ETDGToGPU.h - graphs to GPU kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one graph into a module of kernels in the LLVM and NVVM dialects, one
// for each top-level nest, and the entry of a launch plan that runs them. The
// generic path: it takes every graph that the CPU engine takes. Which loops the
// grid shares, what a block of threads runs in order and how its threads share a
// leaf is read off the schedules and layouts (`etdg-schedule-for-gpu`).
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_ETDGTOGPU_ETDGTOGPU_H
#define FT_CONVERSION_ETDGTOGPU_ETDGTOGPU_H

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
  /// Kernels come from structured loops (`convert-etdg-to-loops`), not from the graph. Products in tiles and lifted
  /// iterations are computed in plain tiles and one by one that way, and no access is known to be aligned.
  bool throughLoops = false;
};

struct GpuModule {
  /// LLVM functions whose bodies are arith, scf, llvm and nvvm.
  OwningOpRef<ModuleOp> module;
  /// With one plan, without code sections.
  ::ft::rt::Entry entry;
};

/// The graph itself stays as it is; nests without a binding schedule get one first. Emits errors and fails on what the generic
/// path can't run.
FailureOr<GpuModule> lowerGraphToGpu(etdg::GraphOp graph, const GpuOptions &options = {});

/// The same for a program of structured loops (`convert-etdg-to-loops` for a GPU), of which nothing else is known: target and
/// machine are the options'. Program and loops stay as they are.
FailureOr<GpuModule> lowerProgramToGpu(loops::ProgramOp program, const GpuOptions &options);

/// The kernels and the launch plan of one entry, as `convert-etdg-to-gpu` prints them (a module of its own below `module`). It is
/// an error, at the module, if there are none, or for another target.
FailureOr<GpuModule> readGpuModule(ModuleOp module, StringRef entry, StringRef target);

/// From the bodies that `lowerGraphToGpu` makes to the LLVM dialect.
LogicalResult lowerGpuModuleToLLVM(ModuleOp module);

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOGPU_ETDGTOGPU_H
