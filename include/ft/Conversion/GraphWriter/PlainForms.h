//===- PlainForms.h - operations that are a few plainer ones ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_GRAPHWRITER_PLAINFORMS_H
#define FT_CONVERSION_GRAPHWRITER_PLAINFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::graphwriter {

/// Rewrites what graphs have no rule for and a few other operations say as well: `affine.for` as `scf.for`,
/// `linalg.pack` and `linalg.unpack` as reshapes and transpositions, `tensor.gather` as a `linalg.generic` that reads at
/// data, and `tensor.pad` with values that depend on their place as `tensor.generate` and an insertion; what of these has no
/// static shape stays as it is. Integers of other widths than memory has (`i2`) are computed in wider ones.
void rewritePlainForms(func::FuncOp function);

} // namespace mlir::ft::graphwriter

#endif // FT_CONVERSION_GRAPHWRITER_PLAINFORMS_H
