//===- Passes.h - passes over tssa ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_TSSA_TRANSFORMS_PASSES_H
#define FT_DIALECT_TSSA_TRANSFORMS_PASSES_H

#include "ft/Dialect/TSSA/IR/TSSA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tssa {
#define GEN_PASS_DECL
#include "ft/Dialect/TSSA/Transforms/Passes.h.inc"

/// registerTSSAPasses() and one function for each pass.
#define GEN_PASS_REGISTRATION
#include "ft/Dialect/TSSA/Transforms/Passes.h.inc"
} // namespace mlir::tssa

#endif // FT_DIALECT_TSSA_TRANSFORMS_PASSES_H
