//===- JoinRegions.h - regions of a nest that share their code --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_GPU_PLAN_JOINREGIONS_H
#define FT_SCHEDULE_GPU_PLAN_JOINREGIONS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL_ETDGJOINREGIONS
#include "ft/Schedule/Passes.h.inc"

/// Makes one region of those in each nest of the graph that differ in where they read alone.
void joinRegions(etdg::GraphOp graph);

} // namespace mlir::ft

#endif // FT_SCHEDULE_GPU_PLAN_JOINREGIONS_H
