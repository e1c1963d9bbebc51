//===- ScheduleForCpu.h - loops, levels and rows for a CPU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_CPU_SCHEDULEFORCPU_H
#define FT_SCHEDULE_CPU_SCHEDULEFORCPU_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
struct CpuScheduleOptions;

#define GEN_PASS_DECL_ETDGSCHEDULEFORCPU
#include "ft/Schedule/Passes.h.inc"

/// Does what schedules demand of the graph (`etdg-apply-tiles`, `etdg-apply-placements`, `etdg-cut-reductions`), then completes the
/// schedules of all nests for the CPU engine; binding ones stay as they are. An error at a nest whose schedule the engine can't run.
/// For copies, on which alternatives are compared: in the pipelines each of these is a pass.
LogicalResult scheduleForCpu(etdg::GraphOp graph, const CpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_SCHEDULE_CPU_SCHEDULEFORCPU_H
