//===- Passes.h - decisions on structured loops -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_PASSES_H
#define FT_DIALECT_LOOPS_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ft/Dialect/Loops/Transforms/Passes.h.inc"

} // namespace mlir::ft

#endif // FT_DIALECT_LOOPS_TRANSFORMS_PASSES_H
