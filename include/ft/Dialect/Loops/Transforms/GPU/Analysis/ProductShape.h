//===- ProductShape.h - matrices of a product, as its nest walks them ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be told of a product in tiles from its leaf and its layout alone: rows and columns of its matrices as digits of loops, the places
// that its tiles come from and go to. `loops-choose-accesses` goes on from there, and decides which accesses threads make; emission computes.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_PRODUCTSHAPE_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_PRODUCTSHAPE_H

#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"

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

/// A view of a nest of products as one over its parallel loops, as the nests after have it.
leaf::ElementView withoutTerms(const leaf::Nest &nest, leaf::ElementView view);

/// Whether nest `next`, a product that is joined with nest `leader`, adds to the sums of the nest before it as they are in registers, where nothing
/// else looks at them before.
bool canCarrySums(const leaf::LeafGraph &graph, ArrayRef<schedule::Tiles> tiles, unsigned leader, unsigned next);

class ProductShape {
public:
  /// `maxRows` of the leaf's call.
  ProductShape(const leaf::LeafGraph &graph, unsigned number, const schedule::ProductTiles &product, int64_t maxRows);

  Axis axisOf(ArrayRef<int> loops, schedule::ProductTiles::Rows rows) const;
  /// The product's loops that are no terms, as its nest numbers them.
  ArrayRef<int> getParallelLoops() const { return parallelLoops; }
  /// The number of one of the product's loops among the parallel ones, -1 if it is none.
  int indexOfParallel(int loop) const {
    const int *found = llvm::find(parallelLoops, loop);
    return found == parallelLoops.end() ? -1 : int(found - parallelLoops.begin());
  }
  /// What tiles in registers come from and go to, over the product's parallel loops, in the order of `accesses` in `#tile.product`.
  SmallVector<leaf::ElementView> placesOfTiles() const;

  /// The tiles of the result, down and across, as many as a call has rows for at most.
  std::pair<int64_t, int64_t> countTiles() const;

  Axis m, n, k;

protected:
  const leaf::LeafGraph &graph;
  unsigned number;
  const leaf::Nest &nest;
  const schedule::ProductTiles &product;
  SmallVector<int> parallelLoops;

private:
  int64_t maxRows;
};

/// Chooses which accesses threads make for a product, by what is known of memory.
class AccessChooser : public ProductShape {
public:
  /// Columns of the leaf begin at multiples of `columnUnit`; `isAligned`: whether rows of a buffer of the graph begin where accesses as wide as its
  /// elements allow may; `accessBytes` of the machine's widest access.
  AccessChooser(const leaf::LeafGraph &graph, unsigned number, const schedule::ProductTiles &product, int64_t maxRows, int64_t columnUnit,
                std::function<bool(int buffer)> isAligned, int64_t accessBytes);

  /// Which elements of a tile of the result a thread has.
  tile::BlockedAttr chooseResult() const;
  /// How so many threads bring an operand: at its greatest width, and on its way meanwhile where its memory and that width allow it.
  tile::MoveAttr chooseMove(bool isLhs, int64_t threads, llvm::function_ref<bool(int buffer)> isGlobal) const;
  /// How a thread that has such elements of the result reads operands in shared memory; null where it reads fragments.
  tile::ReadsAttr chooseReads(tile::BlockedAttr result) const;
  /// Adjacent elements of an operand in shared memory that are one access, at most, where a thread takes so many terms at a time.
  int64_t widestRead(bool isLhs, tile::BlockedAttr result, int64_t terms) const;
  /// By place of tiles in registers, how many adjacent columns are one access, at most; 0 where it is no memory.
  SmallVector<int64_t> chooseAccesses(tile::BlockedAttr result) const;

private:
  /// How many adjacent columns are one aligned access, wherever it begins in the matrix.
  int64_t widthOf(const leaf::ElementView &view, const Axis &columns, LoopNumber loopOf) const;
  /// Whether something after the product is reduced along its rows.
  bool reducesRows() const;

  int64_t columnUnit;
  std::function<bool(int)> isAligned;
  int64_t accessBytes;
};

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_PRODUCTSHAPE_H
