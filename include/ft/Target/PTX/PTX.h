//===- PTX.h - LLVM dialect modules to PTX ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By LLVM's NVPTX target; `ptxas` is asked for machine code only where it is
// found on the path.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TARGET_PTX_PTX_H
#define FT_TARGET_PTX_PTX_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir::ft {

/// Whether this is a GPU that the compiler knows, by the files of machine/ ("sm_80", "sm_90a").
bool isGpuTarget(StringRef target);

/// PTX of a module in the LLVM and NVVM dialects.
FailureOr<std::string> translateToPTX(ModuleOp module, StringRef target);

/// LLVM IR of such a module, optimised, as text.
FailureOr<std::string> translateToNVPTXText(ModuleOp module, StringRef target);

/// `ptxas` at work on one text, in a process of its own, so that the compiler goes on meanwhile.
class PtxAssembly {
public:
  /// Nothing where there is no `ptxas` (or FT_NO_PTXAS is set).
  static std::optional<PtxAssembly> start(StringRef ptx, StringRef target);
  PtxAssembly(PtxAssembly &&);
  PtxAssembly &operator=(PtxAssembly &&) = delete;
  ~PtxAssembly();

  /// Returns when the process has ended.
  void wait();
  /// Waits; the machine code. Emits a warning when ptxas refuses.
  std::optional<std::string> finish(Location loc);

private:
  struct Process;
  explicit PtxAssembly(std::unique_ptr<Process> process);
  std::unique_ptr<Process> process;
};

} // namespace mlir::ft

#endif // FT_TARGET_PTX_PTX_H
