//===- TypicalRanges.h - ranges of loops at typical lengths -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the prices of schedules, of a CPU's and of a GPU's, ask of a nest: how long
// its loops are where others have certain values. For prices, never for legality.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_TYPICALRANGES_H
#define FT_SCHEDULE_ANALYSIS_TYPICALRANGES_H

#include "ft/Analysis/Extents.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Support/AffineProgram.h"

#include <memory>
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

  /// The same for other lengths. What is known of blocks stays: none of them may have changed.
  void setLengths(ArrayRef<std::pair<StringAttr, int64_t>> lengths);

  int64_t lengthOf(StringAttr name);
  double typically(LengthAttr length);
  double bytesTypically(etdg::BufferType buffer);
  /// The range of a dimension over all blocks of a nest that have a point at these values; empty where none says it.
  Range rangeOf(ArrayRef<BlockOp> nest, unsigned dim, Values dims);
  static SmallVector<Sample> sample(Range range, unsigned most);
  /// Whether a block may have a point at these values.
  bool holds(BlockOp block, Values dims);

private:
  /// A constraint of a domain, at the lengths at hand.
  struct Constraint {
    AffineProgram value;
    bool isEquality;
  };
  /// Bounds of a dimension where certain others are known, and what they are at the lengths at hand.
  struct Bounds {
    DimBounds bounds;
    SmallVector<AffineProgram, 1> lowers, uppers;
  };
  /// What is known of a block.
  struct OfBlock {
    SmallVector<StringAttr> symbols;
    std::optional<SmallVector<Constraint>> domain;
    /// By dimension and the set of those that are known.
    llvm::DenseMap<std::pair<unsigned, uint64_t>, Bounds> bounds;
  };
  OfBlock &of(BlockOp block);
  const Bounds &boundsAt(OfBlock &own, BlockOp block, unsigned dim, Values dims);
  bool mayHavePoint(OfBlock &own, BlockOp block, Values dims);
  AffineProgram compile(AffineExpr expr, const OfBlock &known);
  void compile(Bounds &bounds, const OfBlock &known);

  llvm::DenseMap<StringAttr, int64_t> given; // lengths of the call at hand
  etdg::TypicalLengths typical;
  llvm::DenseMap<Operation *, std::unique_ptr<OfBlock>> blocks;
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_TYPICALRANGES_H
