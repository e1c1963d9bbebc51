//===- MergedProducts.h - products of a block that may be merged -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_MERGEDPRODUCTS_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_MERGEDPRODUCTS_H

#include "ft/Dialect/ETDG/Transforms/MergeLegality.h"
#include "ft/Machine/TilesLeft.h"

namespace mlir::etdg {

/// A sum of products in a leaf: `outer` counts the iterations of the block's dimensions that a merge keeps outermost, `all` those of all parallel
/// loops, the leaf's own included.
struct MergedProduct {
  ft::ProductIterations outer, all;
};

/// What a merge has to know of one of its two blocks.
struct MergedProducts {
  SmallVector<MergedProduct> products;
  /// Some product reads what another one of the block computes: it needs all columns of a row.
  bool isChain = false;

  /// Tiles that the block can be cut into as it stands: those of the product that has fewest.
  double tilesApart(const ft::Machine &machine) const;
  /// The same where iterations of the outer dimensions stay whole, each of which hands on so many bytes inside.
  double tilesOfOuter(double bytesOfIteration, const ft::Machine &machine) const;
};

/// The products of a block in its coordinates, of which the first `k` are kept outermost.
MergedProducts findProducts(const Coordinates &block, unsigned k, MergeLegality &legality);

/// How a value that a block hands on comes from its products.
enum class HandedOn {
  Nothing,    // from none
  Product,    // without a maximum after the last one
  Maximum     // through a maximum over the product's results: as an online form computes it
};
HandedOn findHandedOn(BlockOp block, ArrayRef<Flow> flows);

/// Whether a product of a block has a factor that comes from what flows hand on. (What it adds its sums to it reads point by point.)
bool multiplies(BlockOp block, ArrayRef<Flow> flows);

/// Bytes of what a block's leaves compute for one iteration of the first `k` dimensions, and that fills more than a number.
double bytesOfIteration(const Coordinates &block, unsigned k, MergeLegality &legality);

/// Whether a block reduces over other dimensions than its own, by something else than a maximum; and whether by a maximum.
bool reducesInside(BlockOp block);
bool takesMaxima(BlockOp block);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_MERGEDPRODUCTS_H
