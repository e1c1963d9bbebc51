//===- ApplySchedule.h - one item in transformed coordinates ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_APPLYSCHEDULE_H
#define FT_DIALECT_ETDG_TRANSFORMS_APPLYSCHEDULE_H

#include "ft/Analysis/Sets.h"
#include "ft/Analysis/TransformedDomain.h"

#include <memory>

namespace mlir::etdg {

/// What `etdg-apply-schedule` does, for one nest or block of a graph and all inside.
class ScheduleApplier {
public:
  /// `domains`: those of the graph that this one is a copy of; null: its own.
  explicit ScheduleApplier(GraphOp graph, std::shared_ptr<TransformedDomains> domains = nullptr);
  /// Rewrites the item and returns it, or what has taken its place. Emits errors.
  FailureOr<Operation *> apply(Operation *item);

private:
  SymbolSpace space;
  std::shared_ptr<TransformedDomains> domains;
};

/// What `etdg-apply-schedule` does, for all of a graph: in kernels and variants, too. Emits errors.
LogicalResult applySchedules(GraphOp graph);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_APPLYSCHEDULE_H
