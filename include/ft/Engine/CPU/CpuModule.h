//===- CpuModule.h - the kernels of a graph ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph as a module of functions, and what its program says of how to run them: which
// buffers exist, what an environment holds, in which order kernels run.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_CPU_CPUMODULE_H
#define FT_ENGINE_CPU_CPUMODULE_H

#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Machine/CpuTarget.h"
#include "ft/Schedule/Options.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::ft {
class TargetPipeline;

/// A buffer that lives as long as a call: argument, result, intermediate, constant.
struct CpuBuffer {
  enum Kind { Argument, Result, Intermediate, Constant, Splat } kind = Intermediate;
  unsigned index = 0; // of the argument or result
  SmallVector<LengthAttr> lengths;
  /// Planes kept for each length: 0 for all.
  SmallVector<int64_t> planes;
  RankedTensorType element;
  /// Contents: the whole for a constant, one scalar for a splat.
  Attribute value;
  /// Slot of the pointer in the environment.
  unsigned slot = 0;
  /// Slots of the strides of an argument's outermost dimensions, which the caller gives; the others are dense.
  SmallVector<unsigned> strideSlots;
  /// Intermediates with one number share memory (`etdg-storage`).
  std::optional<int64_t> shared;
};

struct CpuKernel {
  std::string name;
  Location location;
  bool team = false;
  /// What its environment holds from `kFirstSymbol` on, by slot of the call's environment.
  /// Kernels that differ in nothing else are one function.
  SmallVector<unsigned> slots;
  /// How its loops share the threads and what that was estimated to take, in words and numbers.
  std::string plan;
  double estimatedSeconds = 0;
};

/// What a call does in its order: a kernel, or by its lengths one of two ways.
struct CpuStep {
  unsigned kernel = 0;
  etdg::GuardAttr guard; // null: the kernel
  std::vector<CpuStep> body, otherwise;
};

struct CpuModule {
  OwningOpRef<ModuleOp> module;
  std::vector<CpuBuffer> buffers;
  std::vector<CpuKernel> kernels;
  std::vector<CpuStep> steps;
  SmallVector<StringAttr> symbols; // slot kFirstSymbol + i
  unsigned numSlots = 0;
  std::vector<Location> blockLocations; // of indices that are checked
};

struct CpuOptions : CpuScheduleOptions {
  CpuTarget target = CpuTarget::host();
  /// For tests: memory of iterations is all ones when they begin.
  bool poison = false;
  /// For tests: the schedules are for a GPU, and cores stand for its thread blocks.
  std::optional<GpuScheduleOptions> grid = {};
  /// Gives the loops of a graph that are to be run in the place of those that its schedule makes. What their program says of
  /// arguments and results has to be what the graph says.
  std::function<FailureOr<OwningOpRef<ModuleOp>>(etdg::GraphOp)> readLoops = {};
  /// For tests: is given the loops of each graph after the phase `tile`, and may change them.
  std::function<void(ModuleOp)> onLoops = {};
  /// Is called with each pass manager before it runs: tools set what prints and times passes.
  std::function<void(PassManager &)> configure = {};
  /// A directory for the module after each phase, of one graph; empty: none.
  std::string dump = {};
};

/// The passes that these options ask for.
std::unique_ptr<TargetPipeline> makeTargetPipeline(const CpuOptions &options);

/// Runs the phases after `storage` on a copy of the graph, which stays as it is. Emits errors and fails on what the CPU engine can't run.
FailureOr<CpuModule> lowerGraphToCpu(etdg::GraphOp graph, const CpuOptions &options = {});

} // namespace mlir::ft

#endif // FT_ENGINE_CPU_CPUMODULE_H
