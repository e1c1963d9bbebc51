//===- ExpandMath.h - Elementary functions as polynomials -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's own elementary functions, on scalars and on vectors: straight
// lines of arithmetic, so that generated code calls no library and a vector is
// computed at once. f16 and bf16 go through f32 and round once.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_EXPANDMATH_H
#define FT_ENGINE_EXPANDMATH_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;

namespace ft {

void populateExpandMathPatterns(RewritePatternSet &patterns);

/// Expands the ops that have a polynomial; leaves the others.
std::unique_ptr<Pass> createExpandMathPass();

} // namespace ft
} // namespace mlir

#endif // FT_ENGINE_EXPANDMATH_H
