//===- JoinSteps.h - steps whose columns the cores share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_JOINSTEPS_H
#define FT_SCHEDULE_JOINSTEPS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"

#include <memory>

namespace mlir::ft::schedule {

class LeafForms;

/// Makes the steps of an item's nests one leaf each (etdg-join-points), where they take less time on a CPU so; any of them
/// where the options have a seed. Returns the item that stands now. `says`: whether it is a remark.
/// `leaves`: those that are known already.
Operation *joinSteps(Operation *item, const CpuScheduleOptions &options, bool says, std::shared_ptr<LeafForms> leaves = nullptr);
/// Whether it may do so, at any lengths.
bool mayJoinSteps(Operation *item);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_JOINSTEPS_H
