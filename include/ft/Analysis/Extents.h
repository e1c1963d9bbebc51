//===- Extents.h - how long dimensions are ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of a nest's dimensions over the union of its domains, as expressions of
// lengths, and typical values of lengths: for counting steps and for ranking,
// never for legality.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_EXTENTS_H
#define FT_ANALYSIS_EXTENTS_H

#include "ft/Analysis/Accesses.h"

namespace mlir::etdg {

/// Typical values: the first of `etdg.assume`, else `ft.lengths`, else the geometric mean of `ft.typical`,
/// else 16, within what `ft.typical` and `etdg.assume` allow.
class TypicalLengths {
public:
  explicit TypicalLengths(GraphOp graph);
  int64_t get(StringAttr name) const;
  /// What stands for a length without an annotation: neither one nor many.
  static constexpr int64_t unknown = 16;
  /// At least 0; `unknown` where it can't be evaluated.
  int64_t evaluate(ft::LengthAttr length) const;

private:
  llvm::DenseMap<StringAttr, int64_t> values;
};

/// [lower, upper) of a dimension; null where no one expression bounds it.
struct DimRange {
  ft::LengthAttr lower, upper;
  /// upper − lower, or null.
  ft::LengthAttr getLength() const { return lower && upper ? upper - lower : ft::LengthAttr(); }
};

/// The ranges of the own dimensions of a nest, over all its blocks: the least
/// that bounds in symbols alone say. Where min or max would be needed, null.
SmallVector<DimRange> getOwnRanges(ArrayRef<BlockOp> nest, const SymbolSpace &space);

/// The typical length of each own dimension (1 at least; 16 where it is not known).
SmallVector<int64_t> getTypicalExtents(ArrayRef<DimRange> ranges, const TypicalLengths &lengths);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_EXTENTS_H
