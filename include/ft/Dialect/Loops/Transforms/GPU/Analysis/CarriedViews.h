//===- CarriedViews.h - what leaves hand to their next iteration -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read off addresses: in a sequential loop an input of a leaf may be, in each iteration but the first, the memory that an output of it was in the one
// before; and who else meets that memory, and when.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_CARRIEDVIEWS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_CARRIEDVIEWS_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/IndexForms.h"

namespace mlir::ft::togpu {

/// An input of a leaf that has what an output got in the iteration before.
struct CarriedView {
  unsigned input, output;
};

/// A leaf in the body of a sequential loop.
class CarriedViews {
public:
  CarriedViews(loops::LeafOp leaf, ArrayRef<loops::LaunchOp> launches);

  /// Whether the leaf stands in a loop whose iterations follow each other one by one.
  bool isInLoop() const { return bool(loop); }
  scf::ForOp getLoop() const { return loop; }
  bool isCarried(CarriedView view);
  SmallVector<CarriedView> find();
  /// Why a register can't stand for the input's memory; empty: it can.
  std::string describeMet(CarriedView view);
  /// Why memory must have what each iteration makes; empty: nothing reads it but after the last one.
  std::string describeSeen(CarriedView view);

private:
  loops::ViewOp inputOf(CarriedView view) { return leaf.getInputs()[view.input].getDefiningOp<loops::ViewOp>(); }
  loops::ViewOp outputOf(CarriedView view) { return leaf.getOutputs()[view.output].getDefiningOp<loops::ViewOp>(); }
  IndexPlace placeAt(const IndexForm &iteration);
  IndexPlace placeBehind();
  bool isLastAt(CarriedView view, OpOperand &use, IndexPlace there);
  bool isLastOfNext(CarriedView view, OpOperand &use, ArrayRef<OpOperand *> uses);
  bool isSeenBehind(CarriedView view, OpOperand &use, ArrayRef<OpOperand *> uses);
  bool moves(CarriedView view);

  loops::LeafOp leaf;
  SmallVector<loops::LaunchOp> launches;
  IndexForms forms;
  scf::ForOp loop; // null where the leaf stands in none
  std::optional<IndexForm> lower, upper;
};

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_CARRIEDVIEWS_H
