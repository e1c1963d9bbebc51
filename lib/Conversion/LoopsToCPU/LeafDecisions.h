//===- LeafDecisions.h - how a core computes a leaf, as attributes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOCPU_LEAFDECISIONS_H
#define FT_LIB_CONVERSION_LOOPSTOCPU_LEAFDECISIONS_H

#include "ft/Conversion/LeafToLoops/LeafCodegen.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::ft::tocpu {

/// What a leaf, or a function of one, says of how a core computes it; null: nothing.
struct LeafDecisions {
  ArrayAttr layouts;  // #loops.product, #loops.lanes, #loops.joined
  ArrayAttr scratch;  // #loops.scratch
  ArrayAttr rowLoops; // lists of numbers
  ArrayAttr guards;   // #loops.guard

  /// Whether layouts are a core's, not those of a GPU's threads.
  bool hasLayouts() const;
  /// Whether nothing is left to be chosen.
  bool isComplete() const { return hasLayouts() && scratch && rowLoops; }
  std::optional<RowLoops> getRowLoops() const;
  /// What the leaf generator is told by them.
  void fill(LeafOptions &options) const;
  /// These, with what was chosen where they say nothing. Of guards there are none where somebody has said the order and no guards.
  LeafDecisions completedBy(MLIRContext *context, const LeafTiles &chosen) const;
};

} // namespace mlir::ft::tocpu

#endif // FT_LIB_CONVERSION_LOOPSTOCPU_LEAFDECISIONS_H
