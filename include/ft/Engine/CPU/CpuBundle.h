//===- CpuBundle.h - graphs to the CPU code of bundles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ENGINE_CPU_CPUBUNDLE_H
#define FT_ENGINE_CPU_CPUBUNDLE_H

#include "ft/Pipelines/Phases.h"
#include "ft/Runtime/Bundle.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft {

/// Adds a plan for the processor class `target` (`getCpuTargets`), its library and its constants to a
/// bundle. The graph is one that the phases for the CPU are done with; `entry` is its entry.
LogicalResult addCpuPlan(etdg::GraphOp graph, StringRef target, ::ft::rt::Bundle &bundle, ::ft::rt::Entry &entry);

/// The functions of that library, in the LLVM dialect.
FailureOr<OwningOpRef<ModuleOp>> lowerToLibraryFunctions(etdg::GraphOp graph, StringRef target);

} // namespace mlir::ft

#endif // FT_ENGINE_CPU_CPUBUNDLE_H
