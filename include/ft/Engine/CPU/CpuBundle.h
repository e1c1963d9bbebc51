//===- CpuBundle.h - graphs to the CPU code of bundles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch plan for a processor: this one ("cpu"), whose code runs at once, or all
// of a class, whose code is stored. Both take the same way.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_CPU_CPUBUNDLE_H
#define FT_ENGINE_CPU_CPUBUNDLE_H

#include "ft/Engine/CPU/CpuModule.h"
#include "ft/Runtime/Bundle/Bundle.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft {

/// Figures of a compilation that are the same in every run, and what the plans were taken to cost.
struct CpuReport {
  int64_t instructions = 0; // of LLVM's representation, before its passes
  int64_t codeBytes = 0;
  std::vector<std::string> plans; // "KERNEL: how its loops share the threads"
  double estimatedSeconds = 0;
};

/// Adds code for `target` ("cpu", or one of `getCpuTargets`) to a bundle, all of it as one section, and a
/// plan to the entry of each graph. The graphs are ones that the phases for the CPU are done with.
LogicalResult addCpuPlans(ArrayRef<etdg::GraphOp> graphs, StringRef target, const CpuOptions &options,
                          ::ft::rt::Bundle &bundle, MutableArrayRef<::ft::rt::Entry> entries,
                          CpuReport *report = nullptr);

/// The functions of that code, in the LLVM dialect.
FailureOr<OwningOpRef<ModuleOp>> lowerToLibraryFunctions(ArrayRef<etdg::GraphOp> graphs, StringRef target,
                                                         const CpuOptions &options = {});

/// That code as assembly, which names the lines of the source.
FailureOr<std::string> lowerToAssembly(ArrayRef<etdg::GraphOp> graphs, StringRef target, const CpuOptions &options = {});

} // namespace mlir::ft

#endif // FT_ENGINE_CPU_CPUBUNDLE_H
