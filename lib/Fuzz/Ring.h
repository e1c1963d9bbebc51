//===- Ring.h - polynomials over integers that wrap -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_FUZZ_RING_H
#define FT_LIB_FUZZ_RING_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::ft::fuzz {

/// Puts i64 in the place of f64: sums, differences and products become those of integers modulo 2^64, which are exact
/// however large they grow. Gives what stands in the way: an operation that is none of these, or a constant that is no
/// integer; the module is then of no use.
std::string toIntegers(ModuleOp module);

} // namespace mlir::ft::fuzz

#endif // FT_LIB_FUZZ_RING_H
