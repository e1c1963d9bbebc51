//===- OuterExtents.h - ranges of which no one bound is known ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the blocks of a nest end at lengths that nothing can compare, the nest ends at the greatest
// of them: for counting steps and for printing them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_OUTEREXTENTS_H
#define FT_ANALYSIS_OUTEREXTENTS_H

#include "ft/Analysis/Extents.h"

namespace mlir::etdg {

struct OuterRange : DimRange {
  /// Where `lower` or `upper` is null, one bound of each block: the range is from the least
  /// to the greatest.
  SmallVector<ft::LengthAttr> lowers, uppers;

  /// An end for counting and printing: where there are several, a name `max(1, T)`, which
  /// stands for no length of the graph. Null where a block has no bound.
  ft::LengthAttr getBegin() const;
  ft::LengthAttr getEnd() const;
  /// end − begin, or null.
  ft::LengthAttr getLength() const;
};

SmallVector<OuterRange> getOuterRanges(ArrayRef<BlockOp> nest, const SymbolSpace &space);

/// As for ranges of one bound, the furthest of several counting.
SmallVector<int64_t> getTypicalExtents(ArrayRef<OuterRange> ranges, const TypicalLengths &lengths);

/// a ≥ b by what is known of the lengths.
bool isAtLeast(ft::LengthAttr a, ft::LengthAttr b, const SymbolSpace &space);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_OUTEREXTENTS_H
