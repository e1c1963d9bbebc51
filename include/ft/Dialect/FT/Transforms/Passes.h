//===- Passes.h - passes over ft --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_FT_TRANSFORMS_PASSES_H
#define FT_DIALECT_FT_TRANSFORMS_PASSES_H

#include "ft/Dialect/FT/IR/FT.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DECL
#include "ft/Dialect/FT/Transforms/Passes.h.inc"

/// registerFTPasses() and one function for each pass.
#define GEN_PASS_REGISTRATION
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_DIALECT_FT_TRANSFORMS_PASSES_H
