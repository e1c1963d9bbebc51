//===- Passes.h - from graphs to a GPU's kernels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_LOOPSTOGPU_PASSES_H
#define FT_CONVERSION_LOOPSTOGPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ft/Conversion/LoopsToGPU/Passes.h.inc"

} // namespace mlir::ft

#endif // FT_CONVERSION_LOOPSTOGPU_PASSES_H
