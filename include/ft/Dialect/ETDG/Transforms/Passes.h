//===- Passes.h - passes over etdg ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_PASSES_H
#define FT_DIALECT_ETDG_TRANSFORMS_PASSES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/Pass/Pass.h"

namespace mlir::etdg {
#define GEN_PASS_DECL
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"

/// registerETDGPasses() and one function for each pass.
#define GEN_PASS_REGISTRATION
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_PASSES_H
