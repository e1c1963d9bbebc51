//===- TypicalRanges.h - ranges of loops at typical lengths -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the prices of schedules, of a CPU's and of a GPU's, ask of a nest: how long
// its loops are where others have certain values. For prices, never for legality.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_TYPICALRANGES_H
#define FT_SCHEDULE_TYPICALRANGES_H

#include "ft/Analysis/Extents.h"
#include "ft/Schedule/Plan.h"

#include <map>
#include <optional>

namespace mlir::ft::schedule {

class TypicalRanges {
public:
  /// At a graph's typical lengths, and `lengths` in the place of some.
  explicit TypicalRanges(etdg::GraphOp graph, ArrayRef<std::pair<StringAttr, int64_t>> lengths = {});

  struct Range {
    int64_t lower, upper;
    int64_t size() const { return std::max<int64_t>(upper - lower, 0); }
  };
  /// A few values of a range that stand for all.
  struct Sample {
    int64_t value;
    double weight;
  };
  /// Values of a block's dimensions, those that are known.
  using Values = ArrayRef<std::optional<int64_t>>;

  int64_t lengthOf(StringAttr name);
  double typically(LengthAttr length);
  double bytesTypically(etdg::BufferType buffer);
  /// The range of a dimension over all blocks of a nest that have a point at these values; empty where none says it.
  Range rangeOf(ArrayRef<BlockOp> nest, unsigned dim, Values dims);
  static SmallVector<Sample> sample(Range range, unsigned most);
  /// Whether a block may have a point at these values.
  bool holds(BlockOp block, Values dims);
  std::optional<int64_t> evaluate(AffineExpr expr, BlockOp block, Values dims);

private:
  const DimBounds &boundsAt(BlockOp block, unsigned dim, Values dims);

  llvm::DenseMap<StringAttr, int64_t> given; // lengths of the call at hand
  etdg::TypicalLengths typical;
  /// By dimension and the set of those that are known.
  llvm::DenseMap<Operation *, std::map<std::pair<unsigned, uint64_t>, DimBounds>> bounds;
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_TYPICALRANGES_H
