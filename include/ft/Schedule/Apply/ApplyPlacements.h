//===- ApplyPlacements.h - staged reads as copies in the graph --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_APPLY_APPLYPLACEMENTS_H
#define FT_SCHEDULE_APPLY_APPLYPLACEMENTS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
struct Machine;

#define GEN_PASS_DECL_ETDGAPPLYPLACEMENTS
#include "ft/Schedule/Passes.h.inc"

/// What `etdg-apply-placements` does: copies of what the placements of a graph's schedules stage, and memory for them. Those that
/// thread blocks of a GPU keep over all loops stay (StagedReads.h). A located error where the machine can't have one.
LogicalResult applyPlacements(etdg::GraphOp graph, const Machine &machine);

} // namespace mlir::ft

#endif // FT_SCHEDULE_APPLY_APPLYPLACEMENTS_H
