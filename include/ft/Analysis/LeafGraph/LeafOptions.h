//===- LeafOptions.h - how a leaf is called ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_LEAFGRAPH_LEAFOPTIONS_H
#define FT_ANALYSIS_LEAFGRAPH_LEAFOPTIONS_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace mlir::ft {

struct CpuTarget;


/// The part of a leaf's columns that a call of it computes.
struct ColumnCut {
  int64_t tile = 0; // how many; 0: all
  /// By nest of the leaf's graph as it is built: the loop over the columns; -1: each call computes all of the nest.
  SmallVector<int> loops;
};

/// How a core computes a product of matrices (`#loops.product`, which says what the fields mean).
struct RegisterTile {
  int64_t rows = 1, columns = 1, vector = 1;
  bool alongTerms = false;
  int64_t panel = 0, block = 0, ahead = 0;
  bool eachRow = false, packsLeft = false, packsRight = false;
  SmallVector<int64_t> rests;
  int64_t join = 0, line = 0, aheadRows = 0, rowLoop = -1;
  bool outlined = false, writtenOut = false;
};
/// By nest of the leaf's graph as it is built, then by copy of an operand that they pack; nothing for one that is no product.
using RegisterTiles = SmallVector<std::optional<RegisterTile>>;

/// How a core computes a loop nest that is no product (`#loops.lanes`, which says what the fields mean).
struct LaneTile {
  int64_t loop = -1, vector = 1, beside = 1, turned = -1;
  std::vector<LaneTile> rests;
};
/// By nest of the leaf's graph as it is built: of those that are computed together, the first one's is theirs.
using LaneTiles = SmallVector<std::optional<LaneTile>>;
/// By nest, too: the one that it is computed together with (`#loops.joined`), or -1.
using JoinedNests = SmallVector<int64_t>;

/// Where a value between loop nests is (`#loops.scratch`, which says what the fields mean).
struct ScratchPlace {
  enum class Kind { Once, Row, Rows } kind = Kind::Once;
  int64_t offset = 0, bytes = 0;
};
/// By value; nothing for those in registers. Those after the last one are in registers, too.
using ScratchPlaces = SmallVector<std::optional<ScratchPlace>>;

/// A loop nest that is left out where a flag says so (`#loops.guard`, which says what the fields mean).
struct NestGuard {
  int64_t nest = 0, input = 0;
  bool is = true;
};

struct LeafOptions {
  /// Per input: does it vary with the row? Inputs that do not are read at row 0
  /// for every row. Empty: all vary.
  SmallVector<bool> batched;
  /// Per input: elements between neighbours along each dimension; empty, of one or of all: row-major, without gaps.
  SmallVector<SmallVector<int64_t>> strides;
  /// The type in which reductions compute what they say in f16 or bf16, and round it where it is stored; null, or that type: each step rounds.
  Type sums;
  /// Per output: may its memory overlap the memory of an input? Such an output
  /// is written only after all inputs of the row tile were read. Empty: none.
  SmallVector<bool> aliasesOutput;
  /// The rows of inputs that vary and of outputs lie anywhere: such an argument is a list of
  /// addresses, one for each row.
  bool listed = false;
  /// Where calls share the columns, the leaf takes the first one's number, an index after its operands.
  ColumnCut columns;
  /// How products are computed, how other nests are, which are computed together, and where values between them are: `planLeaf`
  /// chooses what is not set, and code is made where all is.
  std::optional<RegisterTiles> tiles;
  LaneTiles lanes;
  JoinedNests joined;
  std::optional<ScratchPlaces> places;
  SmallVector<NestGuard> guards;
  /// Where set, indices that are data are checked: a leaf that has such gets one more argument, before
  /// the scratch, a pointer to four i64 into which an index out of range is written (code 1, the
  /// number that this gives for the operation's place, the index, its bound); 0 is used instead.
  std::function<int64_t(Location)> placeOf;

  ArrayRef<int64_t> stridesOf(unsigned input) const {
    return input < strides.size() ? ArrayRef<int64_t>(strides[input]) : ArrayRef<int64_t>();
  }
};

/// Bytes of scratch that a call needs: `fixedBytes + rows * bytesPerRow`.
struct LeafScratch {
  int64_t fixedBytes = 0;
  int64_t bytesPerRow = 0;
  int64_t forRows(int64_t rows) const { return fixedBytes + rows * bytesPerRow; }
};

} // namespace mlir::ft

#endif // FT_ANALYSIS_LEAFGRAPH_LEAFOPTIONS_H
