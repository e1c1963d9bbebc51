//===- ETDGToGPU.h - graphs to GPU kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one graph into a module of kernels in the LLVM and NVVM dialects, one
// for each top-level nest, and the entry of a launch plan that runs them. The
// generic path: it takes every graph that the CPU engine takes. Free dimensions
// become the grid, sequential ones loops of a thread block; a leaf is computed
// by all threads of a block together.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_ETDGTOGPU_ETDGTOGPU_H
#define FT_CONVERSION_ETDGTOGPU_ETDGTOGPU_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Machine/Machine.h"
#include "ft/Runtime/LaunchPlan.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft {

struct GpuOptions {
  std::string target = "sm_90a";
  /// What kernels are planned for; null: the built-in machine of the target.
  std::shared_ptr<const Machine> machine;
  /// How many multiprocessors to plan for; 0: as many as the machine has.
  int64_t multiprocessors = 0;
  /// Whether a nest runs in steps of the whole grid, with a barrier after each: where that pays,
  /// always where it can, never.
  enum class Steps { choose, always, never } steps = Steps::choose;
  int64_t stepThreads = 0; // of a block, in such kernels; 0: as the machine's planning says
  /// After so many looks at a barrier that does not open the kernel leaves an error record and
  /// traps; 0: it waits for ever. For tests.
  int64_t barrierLimit = 0;

  const Machine &getMachine() const { return machine ? *machine : *Machine::forTarget(target); }
};

struct GpuModule {
  /// LLVM functions whose bodies are arith, scf, llvm and nvvm.
  OwningOpRef<ModuleOp> module;
  /// With one plan, without code sections.
  ::ft::rt::Entry entry;
};

/// The graph itself stays as it is. Emits errors and fails on what the generic
/// path can't run.
FailureOr<GpuModule> lowerGraphToGpu(etdg::GraphOp graph, const GpuOptions &options = {});

/// From the bodies that `lowerGraphToGpu` makes to the LLVM dialect.
LogicalResult lowerGpuModuleToLLVM(ModuleOp module);

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOGPU_ETDGTOGPU_H
