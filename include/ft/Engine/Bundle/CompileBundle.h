//===- CompileBundle.h - graphs to bundles and code as text -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ENGINE_BUNDLE_COMPILEBUNDLE_H
#define FT_ENGINE_BUNDLE_COMPILEBUNDLE_H

#include "ft/Conversion/ETDGToGPU/ETDGToGPU.h"
#include "ft/Runtime/Bundle.h"

namespace mlir::ft {

/// PTX of every graph of a module.
/// `skip` names phases that functions do not go through, as in `ft-run --skip`.
FailureOr<std::string> compileToPTX(ModuleOp module, const GpuOptions &options,
                                    ArrayRef<std::string> skip = {});

/// The kernels of one graph of a module in the LLVM and NVVM dialects, and the plan that runs them.
FailureOr<GpuModule> compileToGpuModule(ModuleOp module, StringRef entry, const GpuOptions &options,
                                        ArrayRef<std::string> skip = {});

/// LLVM IR of every graph of a module: for a GPU, or for a class of processors (`getCpuTargets`).
FailureOr<std::string> compileToLLVMIR(ModuleOp module, StringRef target, const GpuOptions &options = {},
                                      ArrayRef<std::string> skip = {});

struct BundleOptions {
  GpuOptions gpu; // `target`, `multiprocessors` and the shared memory follow from each target
  /// Beside the plan that chooses at the launch ("generic") one that runs in steps of the grid
  /// wherever it can ("steps") and one that never does ("blocks"), where these differ.
  bool variants = false;
  /// Phases that functions do not go through.
  std::vector<std::string> skip = {};
};

/// A bundle of every graph of a module, with the plans for each target (GPUs, and classes of processors). The data
/// section with the target "generators" says how to make arguments for a test:
/// one JSON list for each graph and argument.
FailureOr<::ft::rt::Bundle> compileToBundle(ModuleOp module, ArrayRef<std::string> targets,
                                                   const BundleOptions &options = {});

/// Registers `--mlir-to-ptx`, `--mlir-to-llvmir` and `--mlir-to-bundle`.
void registerCodeTranslations();

} // namespace mlir::ft

#endif // FT_ENGINE_BUNDLE_COMPILEBUNDLE_H
