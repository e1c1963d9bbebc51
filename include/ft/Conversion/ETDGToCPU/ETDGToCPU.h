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
// and tasks of one kernel are independent. The environment is an array of 64-bit
// slots (see Environment).
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_ETDGTOCPU_ETDGTOCPU_H
#define FT_CONVERSION_ETDGTOCPU_ETDGTOCPU_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Engine/LeafCodegen.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::ft {

/// Slots of a kernel's environment.
struct Environment {
  static constexpr unsigned kThreads = 0; // number of threads that share the tasks
  static constexpr unsigned kError = 1;   // pointer to four i64: code, block, value, bound
  static constexpr unsigned kFirstSymbol = 2;
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
  /// Intermediates with one number share memory (`etdg-storage`).
  std::optional<int64_t> shared;
};

struct CpuKernel {
  std::string name;
  Location location;
  /// What the error slots mean: block names by number.
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

struct CpuOptions {
  CpuTarget target = CpuTarget::host();
  /// Most rows that a leaf computes at once.
  int64_t maxRows = 64;
  /// Bytes that the rows of one leaf may touch: a share of the L2 cache.
  int64_t rowBytes = 256 << 10;
};

/// The graph itself stays as it is. Emits errors and fails on what the CPU
/// engine can't run (reads of single elements of a tensor by map).
FailureOr<CpuModule> lowerGraphToCpu(etdg::GraphOp graph, const CpuOptions &options = {});

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOCPU_ETDGTOCPU_H
