//===- Passes.h - the validator's pass --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_VALIDATOR_PASSES_H
#define FT_VALIDATOR_PASSES_H

#include "ft/Validator/Validator.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::etdg {
#define GEN_PASS_DECL
#include "ft/Validator/Passes.h.inc"

/// What graphs were before a phase, by name; shared by the passes of one pipeline.
using Snapshots = llvm::DenseMap<StringAttr, GraphSnapshot>;

/// Fills `snapshots` with the graphs of a module.
std::unique_ptr<Pass> createSnapshotPass(std::shared_ptr<Snapshots> snapshots);
/// Validates each graph of a module after `phase`, against its snapshot where there is one.
std::unique_ptr<Pass> createValidatePhasePass(StringRef phase,
                                              std::shared_ptr<Snapshots> snapshots);
/// Says in a remark that nothing is validated.
std::unique_ptr<Pass> createValidationOffPass();

#define GEN_PASS_REGISTRATION
#include "ft/Validator/Passes.h.inc"
} // namespace mlir::etdg

#endif // FT_VALIDATOR_PASSES_H
