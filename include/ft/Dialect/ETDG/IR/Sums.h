//===- Sums.h - what sums of halves accumulate in ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph says of a sum of f16 or bf16 no more than its elements. It may be computed in f32, whatever is done with other roundings
// (`etdg-excess-precision`), and is rounded once, where it is stored: this is the one place that says so. Prices of leaves are for that, and
// `convert-etdg-to-loops` writes it on them (`sums`), from where on it is read.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_SUMS_H
#define FT_DIALECT_ETDG_IR_SUMS_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::etdg {

inline FloatType getSumsOfHalves(MLIRContext *context) { return Float32Type::get(context); }

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_SUMS_H
