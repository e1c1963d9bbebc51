//===- CheckGradients.h - derivatives of random programs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is differentiated in both modes, by options that its name draws. With f64 for a polynomial's numbers
// nothing can be compared exactly, so its numbers become integers modulo 2^64:
//
//   f(a + 2^32 v) - f(a) = 2^32 Jv,   since 2^64 is 0
//   <Jv, w> = <v, J'w>
//
// hold exactly then. Of programs with other operations the second holds but for rounding.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_FUZZ_CHECKGRADIENTS_H
#define FT_LIB_FUZZ_CHECKGRADIENTS_H

#include "ft/Fuzz/Check.h"

namespace mlir::ft::fuzz {

/// Checks the derivatives of a program on the interpreter. Adds its derived functions to `derived`, with the
/// arguments that they were called with: engines are compared on these.
Verdict checkGradients(Program &program, uint64_t seed, std::vector<Program> &derived);

} // namespace mlir::ft::fuzz

#endif // FT_LIB_FUZZ_CHECKGRADIENTS_H
