//===- LeafDecisions.h - how a core computes a leaf, as attributes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LOOPSTOCPU_LEAFDECISIONS_H
#define FT_LIB_CONVERSION_LOOPSTOCPU_LEAFDECISIONS_H

#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Dialect/Loops/IR/Loops.h"

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
  bool isComplete() const { return hasLayouts() && scratch && rowLoops && guards; }
  std::optional<RowLoops> getRowLoops() const;
  /// What the leaf generator is told by them.
  void fill(LeafOptions &options) const;
  /// These, with what was chosen where they say nothing.
  LeafDecisions completedBy(MLIRContext *context, const LeafPlan &chosen) const;
};

/// Decisions as attributes; null where there is nothing to say: no loop nests, all values in registers, no flags.
ArrayAttr toLayouts(MLIRContext *context, const NestTiles &tiles);
ArrayAttr toScratch(MLIRContext *context, const ScratchPlaces &places);
ArrayAttr toGuards(MLIRContext *context, ArrayRef<NestGuard> guards);
/// Of no loop nests, too.
ArrayAttr toRowLoops(MLIRContext *context, const RowLoops &loops);

/// What a leaf says of how a core computes it.
LeafDecisions decisionsOf(loops::LeafOp leaf);
/// Distances inside of a row, by input; nothing where they are those of rows in order, as a list's are.
SmallVector<SmallVector<int64_t>> stridesOfInputs(loops::LeafOp leaf);
/// How a leaf is called, whose function `function` is, and what it says of how it is computed.
FailureOr<LeafOptions> optionsOf(loops::LeafOp leaf, func::FuncOp function);

} // namespace mlir::ft::tocpu

#endif // FT_LIB_CONVERSION_LOOPSTOCPU_LEAFDECISIONS_H
