//===- Chains.h - leaves that are chains of products ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf all of whose loop nests have the same rows: products, what is computed of
// their sums element by element or row by row, reductions along rows. Warp groups
// keep 64 rows each of all of it in registers (`#tile.chain`): a product's left
// operand may be what they have made of another one's sums.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_LAYOUTS_CHAINS_H
#define FT_SCHEDULE_GPU_LAYOUTS_CHAINS_H

#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

namespace mlir::ft::schedule {

/// Rows and columns that the tiles of several loop nests have.
struct ChainSpace {
  SmallVector<int64_t> sizes;   // of their loops
  SmallVector<bool> alongRow;   // by loop: it walks columns
  int64_t columns = 1;          // of a row
  int64_t padded = 1;           // of a tile
};

/// Where elements of a view lie: over the loops of rows, and over those of columns of a space. What has one value for each row has no such strides, and no space.
struct ChainPlace {
  static constexpr int ofRows = -1;
  int space = ofRows;
  int buffer = -1;
  int64_t offset = 0;
  SmallVector<int64_t> rows, columns;
  bool operator==(const ChainPlace &o) const {
    return space == o.space && buffer == o.buffer && offset == o.offset && rows == o.rows && columns == o.columns;
  }
};

/// What one loop nest is.
struct ChainNest {
  enum class Kind { product, points, rows, reduction } kind = Kind::points;
  int space = 0; // `ChainPlace::ofRows`: a value for each row
  std::shared_ptr<const ProductTiles> product;
  /// The tile that is a product's left operand.
  std::optional<ChainPlace> left;
};

struct ChainPlan {
  tile::ChainAttr attribute;
  SmallVector<ChainSpace> spaces;
  SmallVector<ChainNest, 0> nests; // by nest of the leaf
  SmallVector<int64_t> rowSizes;   // of the loops over rows
  int64_t mostRows = 1;            // of the leaf's call, times these

  /// A view of a nest; nothing where it is no memory over rows and columns alone.
  std::optional<ChainPlace> placeOf(const leaf::LeafGraph &graph, unsigned nest, const leaf::ElementView &view) const;
  /// Words of sums and of what is made of them that a thread has, about.
  int64_t words() const;
};

/// How warp groups with so many `rows` in all compute a leaf; or `why` they can't. A leaf without products is one, too, whose outermost loops are over rows.
std::optional<ChainPlan> planChain(const LeafForm &form, const TileContext &context, int64_t rows, std::string &why);
/// Whether so many warp groups have registers for it, beside those that addresses and functions take.
bool fitsRegisters(const ChainPlan &plan, int64_t groups, const Machine &machine);
/// The layout of a leaf in blocks of so many threads, null where it is no such chain.
tile::ChainAttr chooseChain(const LeafForm &form, const TileContext &context, const Machine &machine);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_LAYOUTS_CHAINS_H
