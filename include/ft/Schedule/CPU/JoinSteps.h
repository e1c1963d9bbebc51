//===- JoinSteps.h - steps whose columns the cores share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_CPU_JOINSTEPS_H
#define FT_SCHEDULE_CPU_JOINSTEPS_H

#include "ft/Schedule/CPU/CostModel.h"

#include <memory>

namespace mlir::ft::schedule {

/// Makes the steps of an item's nests one leaf each (etdg-join-points), where they take less time on a CPU so; any of them
/// where the options have a seed. Returns the item that stands now. `says`: whether it is a remark.
/// `leaves`: those that are known already.
Operation *joinSteps(Operation *item, const CpuScheduleOptions &options, bool says, std::shared_ptr<LeafForms> leaves = nullptr);

/// An item to price at one length after the other: as it is, and with its steps joined, where that can be. Both are made once.
class JoinableItem {
public:
  /// Of an item, beside which the other form is put; null where several of its nests may be joined.
  static std::unique_ptr<JoinableItem> make(Operation *item, const CpuScheduleOptions &options, std::shared_ptr<LeafForms> leaves);
  /// What `joinSteps` makes of it at these lengths, and the model that prices that.
  std::pair<ArrayRef<BlockOp>, CostModel &> at(ArrayRef<std::pair<StringAttr, int64_t>> lengths);

private:
  struct Form {
    Form(Operation *item, Operation *steps, const CpuScheduleOptions &options, std::shared_ptr<LeafForms> leaves);
    SmallVector<BlockOp> blocks, steps;
    CostModel costs, costsOfSteps; // of all, of the nest that may be joined
  };
  explicit JoinableItem(const CpuScheduleOptions &options) : options(options) {}

  const CpuScheduleOptions &options;
  std::unique_ptr<Form> apart, joined; // `joined` is null where there is one form
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_CPU_JOINSTEPS_H
