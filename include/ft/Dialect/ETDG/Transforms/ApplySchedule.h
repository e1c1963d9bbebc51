//===- ApplySchedule.h - one item in transformed coordinates ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_APPLYSCHEDULE_H
#define FT_DIALECT_ETDG_TRANSFORMS_APPLYSCHEDULE_H

#include "ft/Analysis/Sets.h"

namespace mlir::etdg {

/// What `etdg-apply-schedule` does, for one nest or block of a graph and all inside.
class ScheduleApplier {
public:
  explicit ScheduleApplier(GraphOp graph) : space(graph) {}
  /// Rewrites the item and returns it, or what has taken its place. Emits errors.
  FailureOr<Operation *> apply(Operation *item);

private:
  SymbolSpace space;
};

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_APPLYSCHEDULE_H
