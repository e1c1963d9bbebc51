//===- ExpandMath.h - Elementary functions as polynomials -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's own elementary functions, on scalars and on vectors: straight
// lines of arithmetic, so that generated code calls no library and a vector is
// computed at once. f16 and bf16 go through f32 and round once. What there is says
// ft/Dialect/Math/Transforms/MathFunctions.def.
//
// Largest errors, in units of the last place, as unittests/Conversion/LeafToLoops/MathTest.cpp
// asserts them for f32 and f64 (measured ones are smaller), with fused
// multiply-add:
//
//   exp, exp2          1.5   exp(x) is 0 and infinite where it should be, exp(0) = 1
//   expm1              2.5
//   log, log2, log10   2     also of denormals; log2 of powers of two is exact
//   log1p, tanh, erf   3
//   sin, cos           2     for |x| <= 1e6, plus 2^-24 (f32) or 2^-53 (f64) absolute;
//                            beyond 1e9 they lose all meaning
//   tan                4 (f32), 6 (f64) for |x| <= 1.5
//   atan               3
//   asin, acos         2.5
//   atan2              3
//   sinh, cosh         3
//   asinh, acosh       4
//   atanh              4
//   erfc               5
//   cbrt               1
//   powf, fpowi        1 (f32), 16 (f64)
//   rsqrt              2
//   round              exact
//
// NaN, infinities, zeros and denormals behave as in C99's annex F, but for the
// signs of some zeros and for floating-point exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_MATH_TRANSFORMS_EXPANDMATH_H
#define FT_DIALECT_MATH_TRANSFORMS_EXPANDMATH_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class Operation;
class RewritePatternSet;

namespace ft {

/// What is a few operations of arith and math on scalars, vectors and tensors alike (clampf, isnan,
/// sincos, …), in the type that the program wrote it in.
void populateRewriteMathPatterns(RewritePatternSet &patterns);

/// All of math but what processors have instructions for, on scalars and vectors.
void populateExpandMathPatterns(RewritePatternSet &patterns);

/// Whether an operation of math stays as it is: both targets have instructions for it.
bool hasMathInstruction(Operation *op);

/// Expands; leaves the rest, which LLVM knows on every target.
std::unique_ptr<Pass> createExpandMathPass();

} // namespace ft
} // namespace mlir

#endif // FT_DIALECT_MATH_TRANSFORMS_EXPANDMATH_H
