//===- ScheduleForGpu.h - loops, levels and layouts for a GPU ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_GPU_PLAN_SCHEDULEFORGPU_H
#define FT_SCHEDULE_GPU_PLAN_SCHEDULEFORGPU_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
struct GpuScheduleOptions;

#define GEN_PASS_DECL_ETDGSCHEDULEFORGPU
#define GEN_PASS_DECL_ETDGCHOOSECUTSFORGPU
#define GEN_PASS_DECL_ETDGCHOOSEDIVISIONFORGPU
#define GEN_PASS_DECL_ETDGCHOOSEITERATIONSFORGPU
#define GEN_PASS_DECL_ETDGPRICEFORGPU
#include "ft/Schedule/Passes.h.inc"

/// Does what schedules demand of the graph (`etdg-apply-tiles`, `etdg-apply-placements`, `etdg-cut-reductions`), then completes the
/// schedules of all nests for a GPU, and the layouts of its leaves; what binds already stays as it is. For copies, on which
/// alternatives are compared: in the pipelines each of these is a pass. An error at a nest whose schedule no kernel of this machine can run.
LogicalResult scheduleForGpu(etdg::GraphOp graph, const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_SCHEDULE_GPU_PLAN_SCHEDULEFORGPU_H
