//===- DataIndices.h - what folding would forget of indices -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_DATAINDICES_H
#define FT_SUPPORT_DATAINDICES_H

#include "mlir/IR/Operation.h"

namespace mlir::ft {

/// Folding takes an element or a part of a tensor of one value for that value, wherever it is, and writing that value
/// into it for nothing: an index that is data and out of range would be no error. Such tensors below `root` become
/// `linalg.generic`, which nothing folds. What loops of `scf` index is left: their ranges bound it.
void keepDataIndices(Operation *root);

} // namespace mlir::ft

#endif // FT_SUPPORT_DATAINDICES_H
