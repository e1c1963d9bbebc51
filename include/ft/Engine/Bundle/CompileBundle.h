//===- CompileBundle.h - graphs to bundles and code as text -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ENGINE_BUNDLE_COMPILEBUNDLE_H
#define FT_ENGINE_BUNDLE_COMPILEBUNDLE_H

#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Engine/CPU/CpuBundle.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Runtime/Bundle/Bundle.h"

namespace mlir {
class PassManager;
namespace gpu {
class GPUModuleOp;
} // namespace gpu
} // namespace mlir

namespace mlir::ft {

/// How programs are compiled.
struct BundleOptions {
  GpuOptions gpu = {}; // `target` and `machine` follow from each target
  /// Beside the plan that chooses at the launch ("generic") one that runs in steps of the grid
  /// wherever it can ("steps") and one that never does ("blocks"), where these differ.
  bool variants = false;
  /// Phases that functions do not go through.
  std::vector<std::string> skip = {};
  CpuOptions cpu = {}; // `target` and `machine` follow from each target
  /// Machines by name or file, in place of the own ones of targets that they serve.
  std::vector<std::string> machines = {};
  CpuReport *report = nullptr;
  /// Prove what each phase from coarsen on made.
  bool validate = true;
  /// Of f16 and bf16: `excess` (what stands between the operations of a body is f32) or `exact`.
  std::string rounding = "excess";
  /// The phase that a module without functions has reached: who brings graphs has decided about schedules.
  Phase from = Phase::Storage;
  using KernelFn = std::function<LogicalResult(gpu::GPUModuleOp)>;
  /// Is called with the kernels of a GPU after the phase `threads`, and may change them.
  KernelFn withKernels = {};
  /// Is called with each pass manager before it runs: tools set what prints and times passes, the library reads no options.
  std::function<void(PassManager &)> configure = {};
  /// A directory for the module after each phase, as `--ft-compile="dump=DIR"` writes them, of a module with one entry; empty: none.
  std::string dump = {};
};

/// PTX of every graph of a module, for `options.gpu`, or of the kernels in it, which have reached the phase `threads`. The module is
/// changed.
FailureOr<std::string> compileToPTX(ModuleOp module, const BundleOptions &options = {});

/// The kernels of one graph of a module in the LLVM and NVVM dialects, and the plan that runs them.
FailureOr<GpuModule> compileToGpuModule(ModuleOp module, StringRef entry, const BundleOptions &options = {});

/// The same for kernels that are given: a module at the phase `threads`, which is changed.
FailureOr<GpuModule> lowerKernels(ModuleOp module, StringRef entry, const BundleOptions &options = {});

/// LLVM IR of every graph of a module: for a GPU, this processor ("cpu") or a class (`getCpuTargets`).
FailureOr<std::string> compileToLLVMIR(ModuleOp module, StringRef target, const BundleOptions &options = {});

/// Assembly of every graph of a module, PTX for a GPU; a processor's names the lines of the source.
FailureOr<std::string> compileToAssembly(ModuleOp module, StringRef target, const BundleOptions &options = {});

/// A copy of the module without the functions and graphs that the entry has no use for: what is wrong with
/// others is not its affair, and compiling them takes time.
OwningOpRef<ModuleOp> copyEntry(ModuleOp module, StringRef entry);

/// A bundle of every graph of a module, with the plans for each target (GPUs, classes of processors, and "cpu":
/// this processor). The module is changed. The data
/// section with the target "generators" says how to make arguments for a test:
/// one JSON list for each graph and argument.
FailureOr<::ft::rt::Bundle> compileToBundle(ModuleOp module, ArrayRef<std::string> targets,
                                                   const BundleOptions &options = {});

} // namespace mlir::ft

#endif // FT_ENGINE_BUNDLE_COMPILEBUNDLE_H
