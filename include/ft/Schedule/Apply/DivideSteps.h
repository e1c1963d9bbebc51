//===- DivideSteps.h - a step as several leaves -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop in order whose step is one leaf with products that need each other whole:
// several leaves, one for each such product, whose columns cores or thread blocks
// can share; these wait for each other in between.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_APPLY_DIVIDESTEPS_H
#define FT_SCHEDULE_APPLY_DIVIDESTEPS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include <memory>

namespace mlir::ft::schedule {

using etdg::BlockOp;
class Stages;

/// The division of one item at the top of a graph. Each is made once, and then either undone or kept.
class StepDivision {
public:
  /// Null where the item is no loop over one leaf, or its products of `largeWork` multiplications and more are not several
  /// that need each other whole.
  static std::unique_ptr<StepDivision> find(Operation *item, int64_t largeWork);
  ~StepDivision();

  BlockOp getLeaf() const { return leaf; }
  /// Writes an `etdg.kernel` in front of the item, of one leaf for each stage, all under the item's loops.
  ArrayRef<BlockOp> make();
  etdg::KernelOp getKernel() const { return kernel; }
  /// The kernel goes again.
  void undo();
  /// The item goes.
  void keep();

private:
  class Divider;
  StepDivision(Operation *item, BlockOp leaf, Value planes, std::unique_ptr<Stages> stages);

  Operation *item;
  BlockOp leaf;
  std::unique_ptr<Stages> stages;
  std::unique_ptr<Divider> divider;
  etdg::KernelOp kernel;
  SmallVector<BlockOp> parts;
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_APPLY_DIVIDESTEPS_H
