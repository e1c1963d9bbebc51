//===- ApplyTiles.h - loops over tiles as dimensions ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_APPLY_APPLYTILES_H
#define FT_SCHEDULE_APPLY_APPLYTILES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL_ETDGAPPLYTILES
#include "ft/Schedule/Passes.h.inc"

/// What `etdg-apply-tiles` does: the loops that nests of a kernel share are over points of dimensions, also those over tiles.
LogicalResult applyTiles(etdg::GraphOp graph);

/// Where the loops that nests of a kernel share are parallel, of a level: a block with these loops in the kernel's place, whose body the nests are. An
/// error where one unit can't run an iteration of all of them.
LogicalResult shareParallel(etdg::KernelOp kernel);

/// Makes each loop over tiles among the first `count` of an item's schedule, a nest's or a lone block's, one over a dimension of its
/// own. An error where the item is more than leaves.
LogicalResult applyTiles(Operation *item, unsigned count);

/// Whether some loop among the first `count` is over tiles that are a number.
bool hasTiles(etdg::ScheduleAttr schedule, unsigned count);

} // namespace mlir::ft

#endif // FT_SCHEDULE_APPLY_APPLYTILES_H
