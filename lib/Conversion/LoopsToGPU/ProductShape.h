//===- ProductShape.h - matrices of a product, as its nest walks them ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be told of a product in tiles from its leaf and its layout alone: rows and columns of its matrices as digits of loops, how many
// adjacent elements are one access. `loops-choose-accesses` asks it to decide, emission to compute and to see whether what was decided fits.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_PRODUCTSHAPE_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_PRODUCTSHAPE_H

#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Schedule/GpuPlan.h"

#include <functional>

namespace mlir::ft::togpu {

/// Bytes that `cp.async` copies at least.
inline constexpr int64_t leastAsyncBytes = 4;

/// The rows or the columns of a matrix, as digits of loops.
struct Axis {
  struct Digit {
    enum Kind { ofRows, ofColumns, ofLoop, ofNone } kind = ofNone;
    int loop = -1; // of the product's nest
    int64_t size = 1;
  };
  SmallVector<Digit> digits;
  int64_t most = 1;    // extent, at most
  bool isOpen = false; // the call decides the first digit's size
};

/// The loops of another nest, as the product's are numbered.
using LoopNumber = llvm::function_ref<int(int)>;

class ProductShape {
public:
  /// `maxRows` of the leaf's call; columns of the leaf begin at multiples of `columnUnit`; `isAligned`: whether rows of a buffer of the graph
  /// begin where accesses as wide as its elements allow may.
  ProductShape(const leaf::LeafGraph &graph, unsigned number, const schedule::ProductTiles &product, int64_t maxRows, int64_t columnUnit,
               std::function<bool(int buffer)> isAligned);

  Axis axisOf(ArrayRef<int> loops, schedule::ProductTiles::Rows rows) const;
  /// How many adjacent columns are one aligned access, wherever it begins in the matrix.
  int64_t widthOf(const leaf::View &view, const Axis &columns, LoopNumber loopOf, int64_t most) const;
  /// Which elements of a tile of the result a thread has.
  tile::BlockedAttr chooseResult() const;
  /// How so many threads bring an operand: at its greatest width, and on its way meanwhile where its memory and that width allow it.
  tile::MoveAttr chooseMove(bool isLhs, int64_t threads, llvm::function_ref<bool(int buffer)> isGlobal) const;

  Axis m, n, k;

private:
  /// Whether something behind the product is reduced along its rows.
  bool reducesRows() const;

  const leaf::LeafGraph &graph;
  unsigned number;
  const leaf::Nest &nest;
  const schedule::ProductTiles &product;
  int64_t maxRows, columnUnit;
  std::function<bool(int)> isAligned;
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_PRODUCTSHAPE_H
