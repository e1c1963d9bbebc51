//===- StepLeaf.h - the step of a recurrence as one leaf --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_SCHEDULE_GPU_PLAN_STEPLEAF_H
#define LIB_SCHEDULE_GPU_PLAN_STEPLEAF_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::ft::schedule {

/// A copy after a nest, or a block that stands alone, in which each region is one leaf, and regions that compute the same of what they read are one
/// region: a first iteration, whose state is a constant, reads that in place of the state. Null, with nothing changed, where some region can't be one leaf.
Operation *makeStepLeaf(Operation *item);

} // namespace mlir::ft::schedule

#endif // LIB_SCHEDULE_GPU_PLAN_STEPLEAF_H
