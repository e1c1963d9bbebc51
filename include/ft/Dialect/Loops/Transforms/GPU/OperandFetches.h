//===- OperandFetches.h - operands of products that TMA brings --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_OPERANDFETCHES_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_OPERANDFETCHES_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/OperandMaps.h"

namespace mlir::ft::togpu {

/// Where an operand of a product may be fetched from: the first place whose condition holds. The last one has none.
struct OperandFetch {
  struct Place {
    Value condition;
    std::shared_ptr<OperandMap> map; // null: zeros
  };
  SmallVector<Place> places;
};

/// A product of a leaf that launches run.
struct FetchedProduct {
  loops::LeafOp leaf;
  const leaf::LeafGraph &graph;
  ArrayRef<loops::LaunchOp> launches;
  unsigned number; // of its nest
  const schedule::ProductTiles &product;
};

/// Reads how an operand of one of a nest's products is tensors of which its steps are boxes; why it is none, empty: it is.
std::string readFetch(OperandFetch &fetch, const FetchedProduct &product, unsigned member, bool isLhs);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_OPERANDFETCHES_H
