//===- CudaProgram.h - a graph, compiled and run on a GPU -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module to a bundle in memory and calls one entry of it on arrays of
// the host, through the runtime's C ABI.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_CUDA_CUDAPROGRAM_H
#define FT_ENGINE_CUDA_CUDAPROGRAM_H

#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Runtime/HostArray.h"

#include <memory>
#include <vector>

namespace mlir::ft {

class CudaProgram {
public:
  /// `target` may be empty: both are compiled, and the device takes the better one. Fails, with an
  /// error at the module, where there is no driver or no device.
  static FailureOr<std::unique_ptr<CudaProgram>> compile(ModuleOp module, StringRef entry,
                                                         StringRef target);
  ~CudaProgram();

  /// Moves the arguments to the device and makes room for results.
  LogicalResult prepare(ArrayRef<const ::ft::rt::HostArray *> arguments);
  /// One call, waited for.
  LogicalResult run();
  FailureOr<std::vector<::ft::rt::HostArray>> results();

private:
  struct State;
  explicit CudaProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mlir::ft

#endif // FT_ENGINE_CUDA_CUDAPROGRAM_H
