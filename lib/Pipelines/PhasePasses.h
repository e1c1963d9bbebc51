//===- PhasePasses.h - the passes of one phase ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_PIPELINES_PHASEPASSES_H
#define FT_LIB_PIPELINES_PHASEPASSES_H

#include "ft/Pipelines/Phases.h"

namespace mlir::ft {

/// Adds the passes of a phase that all targets have, for a machine by its name or file (empty: `cpu`). `rounding` is that of
/// `etdg-excess-precision`.
void addPhasePasses(OpPassManager &pm, Phase phase, llvm::StringRef machine, llvm::StringRef rounding);

/// The phase `coarsen` in which prices may leave products apart (`etdg.apart`): of graphs, or of one that is no part of a module's pipeline.
void addCoarsenApart(OpPassManager &graphs, llvm::StringRef machine, llvm::StringRef rounding);

/// `loops-decide-for-cpu` and `loops-decide-for-gpu`: the decisions on loops alone.
void registerDecisionPipelines();

/// What is wrong with the options of `--ft-compile`, or nothing. Of a machine's file it says only that it is none.
std::string checkCompileOptions(const CompileOptions &options);

} // namespace mlir::ft

#endif // FT_LIB_PIPELINES_PHASEPASSES_H
