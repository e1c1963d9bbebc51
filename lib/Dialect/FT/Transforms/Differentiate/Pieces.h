//===- Pieces.h - sums of parts with disjoint supports ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PIECES_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PIECES_H

#include "Differentiate.h"

namespace mlir::ft::differentiate {

/// `sum + part`, where `part` is zero but for one piece and `sum` is zero there: lists as one concatenation, tensors as one
/// chain of insertions, without an addition. Null where that is not known. Bounds are those at `where`.
Value joinPieces(OpBuilder &b, Operation *where, Value sum, Value part);

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PIECES_H
