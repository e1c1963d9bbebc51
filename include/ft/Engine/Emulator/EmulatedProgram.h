//===- EmulatedProgram.h - GPU kernels without a GPU ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles one entry of a module for a GPU, up to the LLVM and NVVM dialects, and
// runs its kernels on this machine thread by thread. Slow, and meant for tests:
// the threads' order is random, memory holds nonsense until it is written, and
// races, reads of what nothing wrote, accesses out of bounds, misalignment and
// barriers that not all threads reach are errors (docs/testing.md).
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_EMULATOR_EMULATEDPROGRAM_H
#define FT_ENGINE_EMULATOR_EMULATEDPROGRAM_H

#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Runtime/Arrays/HostArray.h"

#include <memory>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::ft {

struct EmulatorOptions {
  /// Few multiprocessors: what a device spreads over all of its own meets in few blocks here.
  GpuOptions gpu = [] {
    GpuOptions options;
    options.multiprocessors = 3;
    return options;
  }();
  /// Of the threads' order.
  uint64_t seed = 0;
  /// Phases that functions do not go through.
  std::vector<std::string> skip;
  std::vector<std::string> machines; // as in BundleOptions
  bool validate = true;              // as in BundleOptions
  std::string rounding = "excess";   // as in BundleOptions
  std::function<void(PassManager &)> configure = {}; // as in BundleOptions
  std::string dump = {};             // as in BundleOptions
  /// Operations on tiles are interpreted by their definitions, not lowered.
  bool interpretTiles = false;
  /// A module with the entry's kernels and launch plan, as `--ft-compile=to=threads` prints them, in the place of those that would
  /// be made; null: none is given.
  std::function<FailureOr<OwningOpRef<ModuleOp>>()> readKernels = {};
};

class EmulatedProgram {
public:
  /// `module` is changed. Errors are at the module, or where the lowering refuses.
  static FailureOr<std::unique_ptr<EmulatedProgram>> compile(ModuleOp module, StringRef entry,
                                                             const EmulatorOptions &options);
  ~EmulatedProgram();

  /// Takes copies of the arguments and makes room for results.
  LogicalResult prepare(ArrayRef<const ::ft::rt::HostArray *> arguments);
  /// One call. An error says which thread of which kernel did what.
  LogicalResult run();
  std::vector<::ft::rt::HostArray> results();

  /// Launches of kernels, and threads in them, since `prepare`; the same in every run with one seed.
  int64_t numLaunches() const;
  int64_t numThreads() const;
  /// Operations on tiles that were interpreted, each once for a thread block, since `prepare`.
  int64_t numTileOperations() const;

private:
  struct State;
  explicit EmulatedProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mlir::ft

#endif // FT_ENGINE_EMULATOR_EMULATEDPROGRAM_H
