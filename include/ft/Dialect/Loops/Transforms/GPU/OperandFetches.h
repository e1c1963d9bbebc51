//===- OperandFetches.h - operands of products that TMA brings --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_OPERANDFETCHES_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_OPERANDFETCHES_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/OperandMaps.h"

namespace mlir::ft::togpu {

/// The boxes that a tile in shared memory is made of; `alongTerms`: its rows have adjacent terms.
MapRequest requestOf(tile::SharedType type, bool alongTerms);

/// Reads how an operand of a product is a tensor of which its steps are boxes; why it is none, empty: it is.
std::string readFetch(OperandMap &map, const ProductShape &shape, const schedule::ProductTiles &product, const leaf::Nest &nest, bool isLhs);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_OPERANDFETCHES_H
