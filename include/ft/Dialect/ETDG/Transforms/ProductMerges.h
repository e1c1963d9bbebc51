//===- ProductMerges.h - merges of products, one by one ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a product runs faster with what reads it, or apart, is a question of price. Coarsening has none: who has
// tries merges of products one by one, and says which to leave out.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_PRODUCTMERGES_H
#define FT_DIALECT_ETDG_TRANSFORMS_PRODUCTMERGES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Machine/Machine.h"

namespace mlir::etdg {

struct ProductMerges {
  /// Merges of two blocks with products that are left out: `first+second`, their names. `*`: nothing is merged.
  SmallVector<std::string> apart;
  /// Those that were made, in order.
  SmallVector<std::string> made;
};

/// What `etdg-merge` does to a graph, but for the merges that are left out.
void mergeBlocksBut(GraphOp graph, const ft::Machine &machine, ProductMerges &products);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_PRODUCTMERGES_H
