//===- ScheduleForGpu.h - loops, levels and layouts for a GPU ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_SCHEDULEFORGPU_H
#define FT_SCHEDULE_SCHEDULEFORGPU_H

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

/// Completes the schedules of all nests of a graph for a GPU, and the layouts of its leaves; what binds already stays
/// as it is. An error at a nest whose schedule no kernel of this machine can run.
LogicalResult scheduleForGpu(etdg::GraphOp graph, const GpuScheduleOptions &options);

/// `etdg-schedule-for-gpu` with what the caller knows of machine and forms.
std::unique_ptr<Pass> createScheduleForGpu(const GpuScheduleOptions &options);

/// `etdg-choose-division-for-gpu`, which decides before orders are applied.
std::unique_ptr<Pass> createChooseDivisionForGpu(const GpuScheduleOptions &options);

/// `etdg-choose-cuts-for-gpu`, which decides before schedules are completed.
std::unique_ptr<Pass> createChooseCutsForGpu(const GpuScheduleOptions &options);

/// `etdg-choose-iterations-for-gpu`, which decides before schedules are completed.
std::unique_ptr<Pass> createChooseIterationsForGpu(const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_SCHEDULE_SCHEDULEFORGPU_H
