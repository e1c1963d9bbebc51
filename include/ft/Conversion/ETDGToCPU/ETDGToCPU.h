//===- ETDGToCPU.h - graphs to CPU kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one graph into a module of kernel functions, one for each top-level
// nest, and a description of how to run them: which buffers exist, what an
// environment holds, in which order kernels run. A kernel is
//
//   @NAME(%env: !llvm.ptr, %begin: i64, %end: i64)   tasks [begin, end)
//   @NAME_count(%env: !llvm.ptr) -> i64              the number of tasks
//
// and tasks of one kernel are independent; or, where `team` says so, a function
// that all threads of a parallel region run at once, as
//
//   @NAME(%env: !llvm.ptr, %tid: i64, %threads: i64)
//
// The environment is an array of 64-bit slots (see Environment).
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_ETDGTOCPU_ETDGTOCPU_H
#define FT_CONVERSION_ETDGTOCPU_ETDGTOCPU_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Machine/CpuTarget.h"
#include "ft/Schedule/Options.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::ft {

/// Slots of a kernel's environment.
struct Environment {
  static constexpr unsigned kThreads = 0; // number of threads that share the tasks
  static constexpr unsigned kError = 1;   // pointer to four i64: code, block, value, bound
  static constexpr unsigned kBarrier = 2; // void (*)(void *env, int64_t tid), of all threads of a team
  static constexpr unsigned kStatistics = 3; // pointer for the engine that made the environment
  static constexpr unsigned kFirstSymbol = 4;
};

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

struct CpuModule {
  OwningOpRef<ModuleOp> module;
  std::vector<CpuBuffer> buffers;
  std::vector<CpuKernel> kernels;
  SmallVector<StringAttr> symbols; // slot kFirstSymbol + i
  unsigned numSlots = 0;
  std::vector<std::string> blockNames;
  std::vector<Location> blockLocations;
};

struct CpuOptions : CpuScheduleOptions {
  CpuTarget target = CpuTarget::host();
};

/// The graph itself stays as it is. Emits errors and fails on what the CPU
/// engine can't run (reads of single elements of a tensor by map).
FailureOr<CpuModule> lowerGraphToCpu(etdg::GraphOp graph, const CpuOptions &options = {});

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOCPU_ETDGTOCPU_H
